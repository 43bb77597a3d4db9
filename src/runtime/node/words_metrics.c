/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text format of Prometheus: for each metric its help, its type and its series. Tables say
 * which member of which row is which metric, and one loop writes them; names end in their unit,
 * counters in _total. Two series with the same labels would make a scraper drop everything, so
 * peers are labelled with their keys too: somebody may choose another's name.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "runtime/node/words.h"

enum { LABEL = 64 }; /* bytes of a text in a label, before escapes */

typedef enum kind { COUNT, REAL, FLAG, HEALTH } kind;

typedef struct metric {
    const char *name, *help;
    bool counter;
    kind kind;
    size_t offset;
} metric;

#define OF(struct_name, member) .offset = offsetof(struct_name, member)
#define ROWS(table) sizeof table / sizeof *table

static const metric of_node[] = {
    {"tacit_node_incarnation", "Which life of the node this is.", false, COUNT,
     OF(tacit_node_status, incarnation)},
    {"tacit_node_time_units", "The protocol's time, in units of an agent's mean wait.", false, REAL,
     OF(tacit_node_status, time)},
    {"tacit_node_until_units", "When the run ends at the latest, in the same units.", false, REAL,
     OF(tacit_node_status, until)},
    {"tacit_node_quiet_hops", "Everybody within so many hops has stopped changing.", false, COUNT,
     OF(tacit_node_status, quiet)},
    {"tacit_ticks_total", "Times that agents of this node woke up.", true, COUNT,
     OF(tacit_node_status, traffic.ticks)},
    {"tacit_ticks_shed_total", "Ticks skipped, at no cost, because the node was late.", true, COUNT,
     OF(tacit_node_status, ticks_shed)},
    {"tacit_broadcasts_total", "Messages to all neighbours of an agent.", true, COUNT,
     OF(tacit_node_status, traffic.broadcasts)},
    {"tacit_messages_total", "Messages sent, one for each receiver.", true, COUNT,
     OF(tacit_node_status, traffic.messages)},
    {"tacit_messages_delivered_total", "Messages handed to agents of this node.", true, COUNT,
     OF(tacit_node_status, traffic.delivered)},
    {"tacit_messages_lost_total", "Messages that could not be sent or handed on.", true, COUNT,
     OF(tacit_node_status, traffic.lost)},
    {"tacit_payload_bytes_total", "Payload of the messages sent, in bytes.", true, COUNT,
     OF(tacit_node_status, traffic.bytes)},
    {"tacit_releases_total", "Releases charged to ledgers.", true, COUNT,
     OF(tacit_node_status, traffic.releases)},
    {"tacit_releases_refused_total", "Releases that a ledger refused.", true, COUNT,
     OF(tacit_node_status, traffic.refused)},
    {"tacit_handshakes_total", "Links that were authenticated.", true, COUNT,
     OF(tacit_node_status, handshakes)},
    {"tacit_handshakes_refused_total", "Links refused: a key that is wrong or not on the list.",
     true, COUNT, OF(tacit_node_status, handshakes_refused)},
    {"tacit_input_waiting_bytes", "What peers have sent and was not taken yet.", false, COUNT,
     OF(tacit_node_status, input_waiting)},
    {"tacit_checkpoints_total", "Checkpoints written.", true, COUNT,
     OF(tacit_node_status, checkpoints)},
};

static const metric of_peers[] = {
    {"tacit_peer_health", "0: up, 1: slow, 2: down.", false, HEALTH,
     OF(tacit_node_peer_row, health)},
    {"tacit_peer_met", "Whether it was heard in this life of the node.", false, FLAG,
     OF(tacit_node_peer_row, met)},
    {"tacit_peer_ended", "Whether it says that its agents are done.", false, FLAG,
     OF(tacit_node_peer_row, ended)},
    {"tacit_peer_silence_seconds", "Time since it was heard.", false, REAL,
     OF(tacit_node_peer_row, silence)},
    {"tacit_peer_round_trip_seconds", "Of the last ping.", false, REAL,
     OF(tacit_node_peer_row, round_trip)},
    {"tacit_peer_frames_received_total", "Frames from it.", true, COUNT,
     OF(tacit_node_peer_row, frames_in)},
    {"tacit_peer_received_bytes_total", "Bytes of those frames.", true, COUNT,
     OF(tacit_node_peer_row, bytes_in)},
    {"tacit_peer_frames_sent_total", "Frames to it.", true, COUNT,
     OF(tacit_node_peer_row, frames_out)},
    {"tacit_peer_sent_bytes_total", "Bytes of those frames.", true, COUNT,
     OF(tacit_node_peer_row, bytes_out)},
    {"tacit_peer_frames_over_rate_total", "Frames dropped because it sent too many.", true, COUNT,
     OF(tacit_node_peer_row, over_rate)},
    {"tacit_peer_frames_queue_full_total", "Frames not sent because its queue was full.", true,
     COUNT, OF(tacit_node_peer_row, queue_full)},
    {"tacit_peer_frames_resent_total", "Frames sent again because it had missed them.", true, COUNT,
     OF(tacit_node_peer_row, resent)},
    {"tacit_peer_frames_refused_total", "Frames of it that were not what they should be.", true,
     COUNT, OF(tacit_node_peer_row, refused)},
};

static const metric of_agents[] = {
    {"tacit_agent_ticks_total", "Times the agent woke up.", true, COUNT,
     OF(tacit_node_agent_row, ticks)},
    {"tacit_agent_releases_total", "Releases charged to its ledger.", true, COUNT,
     OF(tacit_node_agent_row, releases)},
    {"tacit_agent_messages_received_total", "Messages it was handed.", true, COUNT,
     OF(tacit_node_agent_row, messages_in)},
    {"tacit_agent_messages_sent_total", "Messages it sent.", true, COUNT,
     OF(tacit_node_agent_row, messages_out)},
    {"tacit_agent_out_of_budget", "Whether its ledger has refused.", false, FLAG,
     OF(tacit_node_agent_row, spent)},
};

static const metric epsilons_of_agents[] = {
    {"tacit_agent_epsilon_spent", "Privacy loss of its releases so far, at delta.", false, REAL,
     OF(tacit_node_agent_row, epsilon)},
    {"tacit_agent_epsilon_budget", "What its owner allows.", false, REAL,
     OF(tacit_node_agent_row, budget)},
};

/* ---- words ---- */

static void label(tacit_writer *out, const char *name, const char *text)
{
    size_t left = 0;
    tacit_write_format(out, "%s=\"", name);
    while (left < LABEL && text && text[left])
        left++;
    while (left > 0) {
        size_t n = tacit_character_length(text, left);
        if (*text == '\\' || *text == '"')
            tacit_write_format(out, "\\%c", *text);
        else if (*text == '\n')
            tacit_write_text(out, "\\n");
        else if (n == 0)
            tacit_write_text(out, "\xef\xbf\xbd"); /* broken, or cut in its middle */
        else
            tacit_write_bytes(out, text, n);
        n = n > 0 ? n : 1;
        text += n;
        left -= n;
    }
    tacit_write_text(out, "\"");
}

static void head(tacit_writer *out, const char *name, const char *help, bool counter)
{
    tacit_write_format(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name,
                       counter ? "counter" : "gauge");
}

static void real(tacit_writer *out, double value)
{
    if (isinf(value))
        tacit_write_text(out, value > 0 ? " +Inf\n" : " -Inf\n");
    else {
        tacit_write_text(out, " ");
        tacit_write_real(out, value);
        tacit_write_text(out, "\n");
    }
}

static void count(tacit_writer *out, uint64_t value)
{
    tacit_write_format(out, " %llu\n", (unsigned long long)value);
}

static void value_of(tacit_writer *out, const metric *m, const void *row)
{
    const void *at = (const char *)row + m->offset;
    switch (m->kind) {
    case COUNT:
        count(out, *(const uint64_t *)at);
        break;
    case REAL:
        real(out, *(const double *)at);
        break;
    case FLAG:
        count(out, *(const bool *)at);
        break;
    case HEALTH:
        count(out, node_words_health_of(row));
        break;
    }
}

/* A value that is not there yet has no series. */
static bool is_there(const metric *m, const void *row)
{
    double value = 0;
    if (m->kind == REAL)
        memcpy(&value, (const char *)row + m->offset, sizeof value);
    return !isnan(value);
}

/* ---- series ---- */

static void write_info(tacit_writer *out, const tacit_node_status *s)
{
    static const char *const phases[] = {"meeting", "running", "waiting", "ended"};
    char run[33];
    node_words_hex(run, s->run);
    head(out, "tacit_node_info", "Which node this is, of which run.", false);
    tacit_write_text(out, "tacit_node_info{");
    label(out, "node", s->name);
    tacit_write_text(out, ",");
    label(out, "run", run);
    tacit_write_text(out, ",");
    label(out, "protocol", s->protocol);
    tacit_write_text(out, ",version=\"" TACIT_VERSION "\"} 1\n");
    head(out, "tacit_node_phase", "1 for the phase it is in.", false);
    for (size_t i = 0; i < ROWS(phases); i++)
        tacit_write_format(out, "tacit_node_phase{phase=\"%s\"} %d\n", phases[i],
                           s->phase && strcmp(s->phase, phases[i]) == 0);
    head(out, "tacit_node_mute", "1 if it only listens; /health says why.", false);
    tacit_write_format(out, "tacit_node_mute %d\n", s->mute != NULL);
    for (size_t k = 0; k < ROWS(of_node); k++) {
        if (!is_there(&of_node[k], s))
            continue;
        head(out, of_node[k].name, of_node[k].help, of_node[k].counter);
        tacit_write_text(out, of_node[k].name);
        value_of(out, &of_node[k], s);
    }
    head(out, "tacit_frames_refused_total", "Frames that were refused, by why.", true);
    for (int i = 0; i < TACIT_REFUSALS; i++)
        tacit_write_format(out, "tacit_frames_refused_total{reason=\"%s\"} %llu\n",
                           tacit_node_refusal_names[i], (unsigned long long)s->refused[i]);
}

static void write_sums(tacit_writer *out, const tacit_node_status *s, const node_sums *sums)
{
    head(out, "tacit_peers", "Peers, by health.", false);
    for (int i = 0; i < 3; i++)
        tacit_write_format(out, "tacit_peers{health=\"%s\"} %u\n", node_words_health_names[i],
                           sums->health[i]);
    head(out, "tacit_agents", "Agents that live here.", false);
    tacit_write_format(out, "tacit_agents %u\n", s->agent_count);
    head(out, "tacit_agents_out_of_budget", "Agents whose ledger has refused.", false);
    tacit_write_format(out, "tacit_agents_out_of_budget %u\n", sums->exhausted);
}

static void epsilon_labels(tacit_writer *out, const tacit_node_status *s, double delta)
{
    label(out, "adversary", s->adversary ? s->adversary : "unknown");
    tacit_write_text(out, ",");
    label(out, "unit", s->unit ? s->unit : "unknown");
    tacit_write_text(out, ",");
    label(out, "adjacency", s->adjacency ? s->adjacency : "unknown");
    tacit_write_text(out, ",delta=\"");
    tacit_write_real(out, delta);
    tacit_write_text(out, "\"");
}

static void write_most(tacit_writer *out, const tacit_node_status *s, const node_sums *sums)
{
    static const char name[] = "tacit_epsilon_spent_max";
    if (s->agent_count == 0)
        return;
    head(out, name, "Privacy loss of the agent here that has spent most, at delta.", false);
    tacit_write_format(out, "%s{", name);
    epsilon_labels(out, s, sums->delta);
    tacit_write_text(out, "}");
    real(out, sums->epsilon);
}

static void write_peers(tacit_writer *out, const tacit_node_status *s)
{
    char key[33];
    const uint32_t rows = s->peer_count < NODE_WORDS_SERIES ? s->peer_count : NODE_WORDS_SERIES;
    for (size_t k = 0; k < ROWS(of_peers) && rows > 0; k++) {
        const metric *m = &of_peers[k];
        head(out, m->name, m->help, m->counter);
        for (uint32_t i = 0; i < rows; i++) {
            if (!is_there(m, &s->peers[i]))
                continue;
            node_words_hex(key, s->peers[i].key);
            tacit_write_format(out, "%s{", m->name);
            label(out, "peer", s->peers[i].name);
            tacit_write_format(out, ",key=\"%s\"}", key);
            value_of(out, m, &s->peers[i]);
        }
    }
}

static void write_agents(tacit_writer *out, const tacit_node_status *s, const metric *table,
                         size_t count_of_table, bool epsilon)
{
    const uint32_t rows = s->agent_count < NODE_WORDS_SERIES ? s->agent_count : NODE_WORDS_SERIES;
    for (size_t k = 0; k < count_of_table && rows > 0; k++) {
        const metric *m = &table[k];
        head(out, m->name, m->help, m->counter);
        for (uint32_t i = 0; i < rows; i++) {
            const tacit_node_agent_row *a = &s->agents[i];
            if (!is_there(m, a))
                continue;
            tacit_write_format(out, "%s{agent=\"%u\",", m->name, a->agent);
            label(out, "name", a->name);
            if (epsilon) {
                tacit_write_text(out, ",");
                epsilon_labels(out, s, a->delta);
            }
            tacit_write_text(out, "}");
            value_of(out, m, a);
        }
    }
}

void node_words_metrics(tacit_writer *out, const tacit_node_status *s)
{
    node_sums sums;
    node_words_sums(&sums, s);
    write_info(out, s);
    write_sums(out, s, &sums);
    write_most(out, s, &sums);
    write_peers(out, s);
    write_agents(out, s, of_agents, ROWS(of_agents), false);
    write_agents(out, s, epsilons_of_agents, ROWS(epsilons_of_agents), true);
}
