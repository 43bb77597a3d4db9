/* SPDX-License-Identifier: Apache-2.0 */
#include "observer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/vector_internal.h"
#include "problem.h"

/* ---- a world ---- */

static bool has_classes(const observed_setting *s)
{
    return s->model == OBSERVED_SOFTMAX || s->model == OBSERVED_NET;
}

static void deal(observed *o, const observed_setting *s, const observed_records *records)
{
    tacit_error err = {0};
    const uint32_t *counts[TACIT_SPLITS] = {records->count, NULL, NULL};
    const tacit_scalar scalar = s->model == OBSERVED_NET ? TACIT_F32 : TACIT_F64;
    check_ok(
        tacit_dataset_create(&o->data, OBSERVED_AGENTS, OBSERVED_FEATURES, scalar, counts, &err),
        &err);
    for (uint32_t i = 0; i < OBSERVED_AGENTS; i++)
        for (uint32_t r = 0; r < records->count[i]; r++) {
            const double y = records->y[i][r];
            check_ok(tacit_dataset_put(o->data, i, TACIT_TRAIN, r, records->x[i][r],
                                       has_classes(s) ? (y > 0) : y, &err),
                     &err);
        }
    tacit_model_options options = {.loss = s->model == OBSERVED_NET ? 2 : (int)s->model,
                                   .classes = has_classes(s) ? 2 : 0,
                                   .lambda = s->lambda,
                                   .scalar = (int)scalar};
    if (s->model == OBSERVED_NET)
        strcpy(options.layers, "dense 2");
    check_ok(tacit_model_create(&o->model, &options, OBSERVED_FEATURES, &err), &err);
    check_ok(tacit_model_check(o->model, o->data, &err), &err);
}

static void join(observed *o, bool star)
{
    tacit_error err = {0};
    tacit_edge edges[OBSERVED_AGENTS - 1];
    if (!star) {
        graph_ring(&o->graph, OBSERVED_AGENTS, 4, 1);
        return;
    }
    for (uint32_t k = 1; k < OBSERVED_AGENTS; k++)
        edges[k - 1] = (tacit_edge){0, k, 1};
    check_ok(tacit_graph_from_edges(&o->graph, OBSERVED_AGENTS, edges, OBSERVED_AGENTS - 1, &err),
             &err);
}

static void set_all(const tacit_section *section, void *values, const char *text)
{
    tacit_error err = {0};
    while (text && *text) {
        char word[200];
        const size_t len = strcspn(text, " ");
        snprintf(word, sizeof word, "%.*s", (int)len, text);
        char *equals = strchr(word, '=');
        assert_non_null(equals);
        const tacit_option *row = tacit_section_find(section, word, (size_t)(equals - word));
        if (!row)
            fail_msg("there is no option \"%s\"", word);
        check_ok(tacit_option_set(row, values, equals + 1, &err), &err);
        text += len + strspn(text + len, " ");
    }
}

static void note_metric(void *ctx, double time, tacit_agent agent, const char *name, double value,
                        bool is_private)
{
    observed *o = ctx;
    if (is_private)
        return;
    assert_true(o->metrics < OBSERVED_METRICS);
    o->metric[o->metrics++] = (observed_metric){time, value, agent, name};
}

static void note_release(void *ctx, tacit_agent agent, const tacit_cost *cost,
                         const tacit_public *released)
{
    observed_release *first = ctx;
    if (agent != first->agent || first->there)
        return;
    first->there = true;
    first->cost = *cost;
    first->count = tacit_public_count(released, 0);
    assert_true(first->count <= sizeof first->value / sizeof *first->value);
    for (size_t k = 0; k < first->count; k++)
        first->value[k] = tacit_public_get(released, 0, k);
}

tacit_status observed_run(observed *o, const observed_setting *s, const observed_records *records,
                          uint64_t noise_seed, observed_release *first, tacit_error *err)
{
    const tacit_protocol *protocol = tacit_protocol_find(s->protocol);
    const double time = s->time > 0 ? s->time : 4;
    memset(o, 0, sizeof *o);
    assert_non_null(protocol);
    assert_true(protocol->options.size <= sizeof o->options);
    check_ok(tacit_options_defaults(&protocol->options, o->options, err), err);
    set_all(&protocol->options, o->options, s->options);
    deal(o, s, records);
    join(o, s->star);
    o->world = world_defaults(&o->graph, protocol);
    set_all(&tacit_privacy_section, &o->world.privacy, s->privacy);
    o->world.privacy.adjacency = s->adjacency;
    o->world.privacy.unit = s->unit;
    o->world.data = o->data;
    o->world.model = o->model;
    o->world.protocol_options = o->options;
    o->world.noise_seed = noise_seed;
    o->world.network.latency = TACIT_LATENCY_EXPONENTIAL;
    o->world.network.latency_floor = 0.001;
    o->world.network.latency_mean = 0.01;
    tacit_status status = tacit_simulator.create(&o->rt, &o->world, err);
    if (status != TACIT_OK) {
        o->rt = NULL;
        return status;
    }
    o->rt->metric = note_metric;
    o->rt->metric_ctx = o;
    o->rt->trace = tacit_trace_create();
    assert_non_null(o->rt->trace);
    if (first)
        tacit_trace_watch(o->rt->trace, note_release, first);
    status = o->rt->ops->run(o->rt, time, NULL, err);
    return status == TACIT_OK ? o->rt->ops->finish(o->rt, err) : status;
}

void observed_clear(observed *o)
{
    if (o->rt) {
        tacit_trace_free(o->rt->trace);
        o->rt->ops->destroy(o->rt);
    }
    tacit_dataset_free(o->data);
    tacit_model_free(o->model);
    tacit_graph_clear(&o->graph);
}

/* ---- comparing ---- */

typedef struct verdict {
    const char *noisy;
    char *room;
    size_t size;
} verdict;

#define SEES(v, ...) (snprintf((v)->room, (v)->size, __VA_ARGS__), (v)->room)

static bool is_listed(const char *names, const char *name)
{
    const size_t len = strlen(name);
    for (const char *at = names; at && (at = strstr(at, name)); at += len)
        if ((at == names || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
            return true;
    return false;
}

static const char *compare_payloads(const tacit_public *a, const tacit_public *b, const verdict *v)
{
    if (!a || !b)
        return a == b ? NULL : SEES(v, "a payload or none");
    tacit_vector *x = tacit_vector_of_public(a), *y = tacit_vector_of_public(b);
    if (x->shape->segments != y->shape->segments || x->shape->bytes != y->shape->bytes)
        return SEES(v, "payloads of %zu and %zu bytes", x->shape->bytes, y->shape->bytes);
    for (uint32_t k = 0; k < x->shape->segments; k++) {
        const tacit_segment *p = &x->shape->segment[k], *q = &y->shape->segment[k];
        if (p->scalar != q->scalar || p->count != q->count || strcmp(p->name, q->name) != 0)
            return SEES(v, "segments %s and %s of other sizes", p->name, q->name);
        if (!is_listed(v->noisy, p->name) &&
            memcmp(tacit_vector_segment(x, k), tacit_vector_segment(y, k),
                   p->count * tacit_scalar_size(p->scalar)) != 0)
            return SEES(v, "other numbers in \"%s\", which is not covered by noise", p->name);
    }
    return NULL;
}

static bool same_name(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Which of the rows' figures differs; NULL: none. Metrics' values are compared by compare_metrics,
 * which knows public ones. */
static const char *other_figure(const tacit_trace_row *a, const tacit_trace_row *b)
{
    if (a->kind != b->kind || (a->kind == TACIT_TRACE_EVENT && a->event != b->event))
        return "what happened";
    if (a->time != b->time)
        return "when";
    if (a->agent != b->agent || a->peer != b->peer)
        return "who, or with whom";
    if (a->at.channel != b->at.channel || a->at.kind != b->at.kind || a->id != b->id)
        return "about what";
    if (a->status != b->status)
        return "with what success";
    if (!same_name(a->name, b->name))
        return "by which name";
    if (a->kind != TACIT_TRACE_METRIC && a->value != b->value)
        return "how long";
    return NULL;
}

static const char *compare_rows(const observed *a, const observed *b, const verdict *v)
{
    const tacit_trace_row *x, *y;
    const size_t rows = tacit_trace_rows(a->rt->trace, &x);
    const size_t others = tacit_trace_rows(b->rt->trace, &y);
    for (size_t k = 0; k < rows && k < others; k++) {
        const char *what = other_figure(&x[k], &y[k]);
        if (!what)
            what = compare_payloads(x[k].payload, y[k].payload, v);
        if (!what)
            continue;
        char words[200];
        snprintf(words, sizeof words, "%s", what);
        return SEES(v, "row %zu, time %g, agent %" PRIu64 ", kind %d: %s", k, x[k].time,
                    (uint64_t)x[k].agent, (int)x[k].kind, words);
    }
    return rows == others ? NULL : SEES(v, "%zu and %zu rows of the trace", rows, others);
}

static const char *compare_traffic(const observed *a, const observed *b, const verdict *v)
{
    const tacit_traffic x = a->rt->ops->traffic(a->rt), y = b->rt->ops->traffic(b->rt);
    const struct {
        const char *name;
        uint64_t x, y;
    } all[] = {{"ticks", x.ticks, y.ticks},
               {"broadcasts", x.broadcasts, y.broadcasts},
               {"messages", x.messages, y.messages},
               {"delivered", x.delivered, y.delivered},
               {"lost", x.lost, y.lost},
               {"bytes", x.bytes, y.bytes},
               {"releases", x.releases, y.releases},
               {"refused", x.refused, y.refused}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (all[k].x != all[k].y)
            return SEES(v, "%s: %" PRIu64 " and %" PRIu64, all[k].name, all[k].x, all[k].y);
    return NULL;
}

static bool same_cost(const tacit_cost *a, const tacit_cost *b)
{
    return a->mechanism == b->mechanism && a->norm == b->norm && a->unit == b->unit &&
           a->adjacency == b->adjacency && a->grid == b->grid && a->categories == b->categories &&
           a->coordinates == b->coordinates && a->sensitivity == b->sensitivity &&
           a->noise == b->noise && a->sampling == b->sampling && a->claimed == b->claimed &&
           same_name(a->what, b->what);
}

static const char *compare_ledgers(const observed *a, const observed *b, const verdict *v)
{
    for (uint32_t i = 0; i < OBSERVED_AGENTS; i++) {
        const tacit_ledger *x = a->rt->ops->agent_ledger(a->rt, i);
        const tacit_ledger *y = b->rt->ops->agent_ledger(b->rt, i);
        if (x->count != y->count)
            return SEES(v, "ledger of agent %u: %u and %u entries", i, x->count, y->count);
        for (uint32_t k = 0; k < x->count; k++) {
            const tacit_ledger_entry *p = &x->entries[k], *q = &y->entries[k];
            if (p->releases != q->releases || p->first != q->first || p->last != q->last ||
                !same_cost(p->cost, q->cost))
                return SEES(v,
                            "ledger of agent %u, entry %u: %" PRIu64 " and %" PRIu64
                            " releases, sensitivity %.17g and %.17g, noise %.17g and %.17g",
                            i, k, p->releases, q->releases, p->cost->sensitivity,
                            q->cost->sensitivity, p->cost->noise, q->cost->noise);
        }
    }
    return NULL;
}

static const char *compare_metrics(const observed *a, const observed *b, const verdict *v)
{
    if (a->metrics != b->metrics)
        return SEES(v, "%zu and %zu public metrics", a->metrics, b->metrics);
    for (size_t k = 0; k < a->metrics; k++) {
        const observed_metric *x = &a->metric[k], *y = &b->metric[k];
        if (x->time != y->time || x->value != y->value || x->agent != y->agent ||
            strcmp(x->name, y->name) != 0)
            return SEES(v, "public metric \"%s\": %g and %g", x->name, x->value, y->value);
    }
    return NULL;
}

const char *observed_difference(const observed *a, const observed *b, const char *noisy, char *room,
                                size_t size)
{
    const verdict v = {noisy, room, size};
    const char *what = compare_rows(a, b, &v);
    if (!what)
        what = compare_traffic(a, b, &v);
    if (!what)
        what = compare_ledgers(a, b, &v);
    return what ? what : compare_metrics(a, b, &v);
}
