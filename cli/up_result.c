/* SPDX-License-Identifier: Apache-2.0 */
/* What the nodes of tacit up came to: measured with everybody's models, told in words or JSON. */
#include "terminal.h"
#include "up.h"
#include "verbs.h"

#include "base/writer.h"

#include <stdlib.h>
#include <string.h>

/* What all nodes did together. */
typedef struct sum {
    uint64_t ticks, messages, bytes, releases, refused;
    double time, until; /* the least of them */
    double epsilon;     /* the largest */
    uint32_t silent;    /* nodes that left no word */
    uint32_t counted;   /* nodes whose run a lifetime ledger counts */
} sum;

static sum add_up(const up_fleet *fleet)
{
    sum s = {.time = NAN, .epsilon = 0};
    for (uint32_t k = 0; k < fleet->count; k++) {
        const up_words *w = &fleet->nodes[k].words;
        if (!w->heard) {
            s.silent++;
            continue;
        }
        s.ticks += w->ticks;
        s.messages += w->messages_out;
        s.bytes += w->bytes_out;
        s.releases += w->releases;
        s.refused += w->refused;
        s.until = w->until;
        s.counted += w->counted;
        s.time = isnan(s.time) || w->time < s.time ? w->time : s.time;
        if (w->epsilon > s.epsilon)
            s.epsilon = w->epsilon;
    }
    return s;
}

static double gap_of(const tacit_up_result *r)
{
    return r->optimum != 0 ? (r->now.objective - r->optimum) / fabs(r->optimum) : NAN;
}

/* ---- JSON ---- */

static void put_metrics(tacit_json *json, const tacit_session *session, const tacit_up_result *r)
{
    const char *score = tacit_model_score_name(tacit_session_model(session));
    char name[80];
    tacit_json_begin(json, "metrics", '{');
    snprintf(name, sizeof name, "test_%s", score);
    tacit_json_real(json, name, r->now.test);
    snprintf(name, sizeof name, "test_%s_deviation", score);
    tacit_json_real(json, name, r->now.test_deviation);
    snprintf(name, sizeof name, "validation_%s", score);
    tacit_json_real(json, name, r->now.validation);
    tacit_json_real(json, "train_loss", r->now.train_loss);
    tacit_json_real(json, "objective", r->now.objective);
    tacit_json_real(json, "objective_optimum", r->optimum);
    tacit_json_real(json, "objective_gap", gap_of(r));
    tacit_json_real(json, "largest_distance", r->distance);
    tacit_json_end(json, '}');
}

static void put_privacy(tacit_json *json, const up_outcome *o, const sum *s)
{
    const tacit_experiment *x = o->experiment;
    const char *leak[TACIT_LEAKS];
    const size_t leaks = tacit_session_leaks(o->session, leak);
    char sees[TACIT_SEES];
    tacit_json_begin(json, "privacy", '{');
    tacit_json_text(json, "adversary",
                    tacit_trust_name(tacit_protocol_trust(x->protocol, x->protocol_options)));
    tacit_json_text(json, "adversary_sees",
                    tacit_protocol_sees(x->protocol, x->protocol_options, sees));
    tacit_json_text(json, "unit", tacit_unit_name((tacit_unit)x->privacy.unit));
    tacit_json_text(json, "adjacency", tacit_adjacency_name((tacit_adjacency)x->privacy.adjacency));
    tacit_json_text(json, "mechanism", tacit_mechanism_name((tacit_mechanism)x->privacy.mechanism));
    tacit_json_real(json, "epsilon", s->epsilon);
    tacit_json_bool(json, "unbounded", isinf(s->epsilon));
    tacit_json_real(json, "delta", tacit_session_delta(o->session));
    tacit_json_count(json, "releases", s->releases);
    tacit_json_begin(json, "leaks", '[');
    for (size_t k = 0; k < leaks; k++)
        tacit_json_text(json, NULL, leak[k]);
    tacit_json_end(json, ']');
    tacit_json_count(json, "nodes_in_lifetime_ledger", s->counted);
    tacit_json_end(json, '}');
}

static tacit_status tell_json(const up_outcome *o, const tacit_up_result *r, tacit_error *err)
{
    const sum s = add_up(o->fleet);
    tacit_writer out = {0};
    tacit_json json = {.out = &out};
    tacit_json_begin(&json, NULL, '{');
    tacit_json_text(&json, "schema", "tacit.up/1");
    tacit_json_text(&json, "name", o->experiment->run.name);
    tacit_json_text(&json, "protocol", o->experiment->protocol->name);
    tacit_json_bool(&json, "complete", o->complete);
    tacit_json_count(&json, "nodes", o->fleet->count);
    tacit_json_count(&json, "nodes_dead", up_fleet_in(o->fleet, UP_DEAD));
    tacit_json_count(&json, "deaths", o->fleet->deaths);
    tacit_json_count(&json, "restarts", o->fleet->restarts);
    tacit_json_count(&json, "agents", tacit_session_graph(o->session)->agents);
    tacit_json_count(&json, "agents_without_model", r->missing);
    tacit_json_real(&json, "time", s.time);
    tacit_json_real(&json, "seconds", o->seconds);
    if (tacit_dataset_scores_on_all(tacit_session_data(o->session)))
        tacit_json_text(&json, "scored_on", "all");
    put_metrics(&json, o->session, r);
    put_privacy(&json, o, &s);
    tacit_json_count(&json, "messages", s.messages);
    tacit_json_count(&json, "bytes", s.bytes);
    tacit_json_count(&json, "ticks", s.ticks);
    tacit_json_count(&json, "frames_refused", s.refused);
    if (o->folder)
        tacit_json_text(&json, "folder", o->folder);
    else
        tacit_json_null(&json, "folder");
    tacit_json_end(&json, '}');
    return cli_print_text(tacit_writer_take(&out), err);
}

/* ---- words ---- */

static void say_scores(const up_outcome *o, const tacit_up_result *r)
{
    const char *score = tacit_model_score_name(tacit_session_model(o->session));
    char label[60];
    if (!isnan(r->now.test)) {
        snprintf(label, sizeof label, "test %s", score);
        printf("  %-22s%.4f", label, r->now.test);
        if (!isnan(r->now.test_deviation))
            printf(" %s %.4f over agents", cli_has_unicode() ? "±" : "+-", r->now.test_deviation);
        putchar('\n');
    }
    if (!isnan(r->now.validation)) {
        snprintf(label, sizeof label, "validation %s", score);
        printf("  %-22s%.4f\n", label, r->now.validation);
    }
    cli_say_scored(o->session);
    if (!isnan(r->now.train_loss))
        printf("  %-22s%.6g\n", "training loss", r->now.train_loss);
    if (!isnan(r->now.objective))
        printf("  %-22s%.10g\n", "objective", r->now.objective);
    if (!isnan(r->optimum))
        printf("  %-22s%.3g of the optimum, %.10g\n", "gap", gap_of(r), r->optimum);
    if (!isnan(r->distance))
        printf("  %-22s%.3g of its own length at most, to a model of the optimum\n", "distance",
               r->distance);
    if (r->missing > 0)
        printf("  %-22s%u agent%s; counted as zero\n", "without a model", r->missing,
               r->missing == 1 ? "" : "s");
}

static void say_privacy(const up_outcome *o, const sum *s)
{
    const tacit_experiment *x = o->experiment;
    char epsilon[40], releases[40], sees[TACIT_SEES], text[TACIT_SEES + 300];
    cli_epsilon(s->epsilon, epsilon, sizeof epsilon);
    cli_count(s->releases, releases, sizeof releases);
    snprintf(text, sizeof text,
             "epsilon %s at delta %g for one %s (adjacency %s), against an adversary \"%s\" that "
             "sees %s; %s releases, mechanism %s",
             epsilon, tacit_rounded_up(tacit_session_delta(o->session)),
             tacit_unit_name((tacit_unit)x->privacy.unit),
             tacit_adjacency_name((tacit_adjacency)x->privacy.adjacency),
             tacit_trust_name(tacit_protocol_trust(x->protocol, x->protocol_options)),
             tacit_protocol_sees(x->protocol, x->protocol_options, sees), releases,
             tacit_mechanism_name((tacit_mechanism)x->privacy.mechanism));
    printf("  %-22s", "privacy");
    cli_wrap(text, 24, 24);
    printf("  %-22s", "all runs");
    if (tacit_source_is_drawn(x->data.source))
        cli_wrap("not counted: the records are made up and belong to nobody", 24, 24);
    else if (s->counted < o->fleet->count)
        cli_wrap("not counted: budgets of other runs over these records come on top", 24, 24);
    else
        cli_wrap("over these records are counted: see \"tacit ledger show\"", 24, 24);
}

static void say_nodes(const up_outcome *o, const sum *s)
{
    const up_fleet *fleet = o->fleet;
    char text[300], refused[40];
    cli_count(s->refused, refused, sizeof refused);
    snprintf(text, sizeof text, "%u done, %u dead; %u deaths, %u restarts; %s frames refused",
             up_fleet_in(fleet, UP_ENDED), up_fleet_in(fleet, UP_DEAD), fleet->deaths,
             fleet->restarts, refused);
    printf("  %-22s", "nodes");
    cli_wrap(text, 24, 24);
    if (s->silent > 0)
        printf("  %-22s%u node%s left no summary: their messages and epsilon are not counted\n",
               "note", s->silent, s->silent == 1 ? "" : "s");
}

static void tell_words(const up_outcome *o, const tacit_up_result *r)
{
    const sum s = add_up(o->fleet);
    char agents[40], messages[40], bytes[40];
    cli_count(tacit_session_graph(o->session)->agents, agents, sizeof agents);
    cli_count(s.messages, messages, sizeof messages);
    cli_bytes(s.bytes, bytes, sizeof bytes);
    printf("%s%s%s: %s by %u real node%s, %s agents, time %.4g%s%g", cli_bold(),
           o->experiment->run.name, cli_plain(), o->experiment->protocol->name, o->fleet->count,
           o->fleet->count == 1 ? "" : "s", agents, s.time,
           o->complete ? " of " : " (not complete) of ", o->experiment->run.time);
    if (!isnan(o->seconds))
        printf(", %.1f seconds", o->seconds);
    putchar('\n');
    say_scores(o, r);
    printf("  %-22s%s (%s)\n", "messages", messages, bytes);
    say_privacy(o, &s);
    cli_say_leaks(o->session);
    say_nodes(o, &s);
    if (o->folder)
        printf("  %-22s%s/\n", "folder", o->folder);
}

tacit_status up_tell(const up_outcome *outcome, bool json, tacit_error *err)
{
    tacit_up_result result;
    tacit_status status = tacit_up_measure(outcome->session, outcome->fleet->folder, &result, err);
    if (status)
        return status;
    if (json)
        return tell_json(outcome, &result, err);
    tell_words(outcome, &result);
    return TACIT_OK;
}
