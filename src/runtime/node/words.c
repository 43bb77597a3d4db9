/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/node/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Rows stop here, so that with what follows an answer is smaller than HTTP_ANSWER. */
enum { PEERS_END = 500000, AGENTS_END = 900000 };

const char *const node_words_health_names[3] = {"up", "slow", "down"};

static const char *text_or(const char *text, const char *otherwise)
{
    return text ? text : otherwise;
}

uint32_t node_words_health_of(const tacit_node_peer_row *row)
{
    return row->health == 0 || row->health == 1 ? (uint32_t)row->health : 2;
}

void node_words_hex(char text[33], const uint8_t bytes[16])
{
    for (size_t i = 0; i < 16; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

void node_words_sums(node_sums *out, const tacit_node_status *s)
{
    *out = (node_sums){.budget = NAN, .delta = NAN};
    for (uint32_t i = 0; i < s->agent_count; i++) {
        const tacit_node_agent_row *a = &s->agents[i];
        out->messages_in += a->messages_in;
        out->messages_out += a->messages_out;
        out->exhausted += a->spent;
        if (i == 0 || a->epsilon > out->epsilon) {
            out->epsilon = a->epsilon;
            out->budget = a->budget;
            out->delta = a->delta;
        }
    }
    for (uint32_t i = 0; i < s->peer_count; i++)
        out->health[node_words_health_of(&s->peers[i])]++;
    for (int i = 0; i < TACIT_REFUSALS; i++)
        out->refused += s->refused[i];
}

/* ---- JSON ---- */

static void write_epsilon(tacit_json *json, double epsilon, double budget, double delta)
{
    tacit_json_real(json, "epsilon_spent", epsilon);
    tacit_json_bool(json, "unbounded", isinf(epsilon));
    tacit_json_real(json, "epsilon_budget", budget); /* null: no limit */
    tacit_json_real(json, "delta", delta);
}

static void write_privacy(tacit_json *json, const tacit_node_status *s, const node_sums *sums)
{
    tacit_json_begin(json, "privacy", '{');
    tacit_json_text(json, "adversary", text_or(s->adversary, "unknown"));
    tacit_json_text(json, "unit", text_or(s->unit, "unknown"));
    tacit_json_text(json, "adjacency", text_or(s->adjacency, "unknown"));
    write_epsilon(json, sums->epsilon, sums->budget, sums->delta);
    tacit_json_count(json, "agents_out_of_budget", sums->exhausted);
    tacit_json_end(json, '}');
}

/* What other runs over the same records have spent, and whether anybody counts. */
static void write_lifetime(tacit_json *json, const tacit_node_lifetime *l)
{
    if (!l) {
        tacit_json_null(json, "lifetime");
        return;
    }
    tacit_json_begin(json, "lifetime", '{');
    tacit_json_bool(json, "counted", l->counted);
    if (l->counted) {
        tacit_json_text(json, "data_set", l->data_set);
        tacit_json_real(json, "epsilon_of_other_runs", l->before);
        tacit_json_real(json, "epsilon_with_this_run", l->spent);
        tacit_json_real(json, "epsilon_budget", l->epsilon);
        tacit_json_real(json, "delta", l->delta);
    } else {
        tacit_json_text(json, "why", l->why_not);
    }
    tacit_json_end(json, '}');
}

static void write_traffic(tacit_json *json, const tacit_node_status *s, const node_sums *sums)
{
    const tacit_traffic *t = &s->traffic;
    tacit_json_begin(json, "traffic", '{');
    tacit_json_count(json, "ticks", t->ticks);
    tacit_json_count(json, "ticks_shed", s->ticks_shed);
    tacit_json_count(json, "broadcasts", t->broadcasts);
    tacit_json_count(json, "messages", t->messages);
    tacit_json_count(json, "messages_delivered", t->delivered);
    tacit_json_count(json, "messages_lost", t->lost);
    tacit_json_count(json, "payload_bytes", t->bytes);
    tacit_json_count(json, "releases", t->releases);
    tacit_json_count(json, "releases_refused", t->refused);
    tacit_json_count(json, "messages_in", sums->messages_in);
    tacit_json_count(json, "messages_out", sums->messages_out);
    tacit_json_end(json, '}');
    tacit_json_begin(json, "frames_refused", '{');
    tacit_json_count(json, "all", sums->refused);
    for (int i = 0; i < TACIT_REFUSALS; i++)
        tacit_json_count(json, tacit_node_refusal_names[i], s->refused[i]);
    tacit_json_end(json, '}');
}

static void write_peer(tacit_json *json, const tacit_node_peer_row *p)
{
    char key[33];
    node_words_hex(key, p->key);
    tacit_json_begin(json, NULL, '{');
    tacit_json_text(json, "name", text_or(p->name, ""));
    tacit_json_text(json, "key", key);
    tacit_json_text(json, "endpoint", p->endpoint);
    tacit_json_text(json, "health", node_words_health_names[node_words_health_of(p)]);
    tacit_json_bool(json, "met", p->met);
    tacit_json_bool(json, "ended", p->ended);
    tacit_json_real(json, "silence_seconds", p->silence);
    tacit_json_real(json, "round_trip_seconds", p->round_trip);
    tacit_json_count(json, "frames_in", p->frames_in);
    tacit_json_count(json, "bytes_in", p->bytes_in);
    tacit_json_count(json, "frames_out", p->frames_out);
    tacit_json_count(json, "bytes_out", p->bytes_out);
    tacit_json_count(json, "frames_over_rate", p->over_rate);
    tacit_json_count(json, "frames_queue_full", p->queue_full);
    tacit_json_count(json, "frames_resent", p->resent);
    tacit_json_count(json, "frames_refused", p->refused);
    tacit_json_end(json, '}');
}

static void write_peers(tacit_json *json, const tacit_node_status *s, const node_sums *sums)
{
    tacit_json_begin(json, "peer_counts", '{');
    tacit_json_count(json, "all", s->peer_count);
    for (int i = 0; i < 3; i++)
        tacit_json_count(json, node_words_health_names[i], sums->health[i]);
    tacit_json_end(json, '}');
    tacit_json_begin(json, "peers", '[');
    for (uint32_t i = 0; i < s->peer_count && i < NODE_WORDS_ROWS && json->out->len < PEERS_END;
         i++)
        write_peer(json, &s->peers[i]);
    tacit_json_end(json, ']');
}

static void write_agent(tacit_json *json, const tacit_node_agent_row *a)
{
    tacit_json_begin(json, NULL, '{');
    tacit_json_count(json, "agent", a->agent);
    tacit_json_text(json, "name", text_or(a->name, ""));
    tacit_json_count(json, "ticks", a->ticks);
    tacit_json_count(json, "releases", a->releases);
    tacit_json_count(json, "messages_in", a->messages_in);
    tacit_json_count(json, "messages_out", a->messages_out);
    write_epsilon(json, a->epsilon, a->budget, a->delta);
    tacit_json_bool(json, "out_of_budget", a->spent);
    tacit_json_end(json, '}');
}

static void write_agents(tacit_json *json, const tacit_node_status *s)
{
    tacit_json_count(json, "agent_count", s->agent_count);
    tacit_json_begin(json, "agents", '[');
    for (uint32_t i = 0; i < s->agent_count && i < NODE_WORDS_ROWS && json->out->len < AGENTS_END;
         i++)
        write_agent(json, &s->agents[i]);
    tacit_json_end(json, ']');
}

void node_words_json(tacit_writer *out, const tacit_node_status *s)
{
    char run[33];
    node_sums sums;
    node_words_sums(&sums, s);
    node_words_hex(run, s->run);
    tacit_json json = {.out = out};
    tacit_json_begin(&json, NULL, '{');
    tacit_json_text(&json, "schema", "tacit.node/1");
    tacit_json_text(&json, "version", TACIT_VERSION);
    tacit_json_text(&json, "node", text_or(s->name, ""));
    tacit_json_text(&json, "run", run);
    tacit_json_text(&json, "protocol", text_or(s->protocol, ""));
    tacit_json_text(&json, "phase", text_or(s->phase, ""));
    if (s->mute)
        tacit_json_text(&json, "mute", s->mute);
    else
        tacit_json_null(&json, "mute");
    tacit_json_count(&json, "incarnation", s->incarnation);
    tacit_json_real(&json, "time_units", s->time);
    tacit_json_real(&json, "until_units", s->until);
    tacit_json_count(&json, "quiet_hops", s->quiet);
    write_privacy(&json, s, &sums);
    write_lifetime(&json, s->lifetime);
    write_traffic(&json, s, &sums);
    tacit_json_count(&json, "handshakes", s->handshakes);
    tacit_json_count(&json, "handshakes_refused", s->handshakes_refused);
    tacit_json_count(&json, "input_waiting_bytes", s->input_waiting);
    tacit_json_count(&json, "checkpoints", s->checkpoints);
    write_peers(&json, s, &sums);
    write_agents(&json, s);
    tacit_json_end(&json, '}');
}

/* ---- pages ---- */

int node_words_health(tacit_writer *out, const tacit_node_status *s)
{
    tacit_json json = {.out = out, .compact = true};
    tacit_json_begin(&json, NULL, '{');
    tacit_json_text(&json, "status", s->mute ? "mute" : "ok");
    if (s->mute)
        tacit_json_text(&json, "why", s->mute);
    tacit_json_end(&json, '}');
    return s->mute ? 503 : 200;
}

int node_words_page(const tacit_node_status *s, const char *path, tacit_writer *body,
                    const char **type)
{
    if (strcmp(path, "/metrics") == 0) {
        *type = "text/plain; version=0.0.4; charset=utf-8";
        node_words_metrics(body, s);
        return 200;
    }
    if (strcmp(path, "/status") == 0) {
        *type = "application/json";
        node_words_json(body, s);
        return 200;
    }
    if (strcmp(path, "/health") == 0) {
        *type = "application/json";
        return node_words_health(body, s);
    }
    if (strcmp(path, "/") == 0) {
        tacit_write_text(body, "a node of tacit: /status, /metrics, /health\n");
        return 200;
    }
    return 404;
}
