/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An environment around an environment: hands every call on and writes down what crossed.
 * It knows nothing of the runtime inside, so it serves tests, audits and replay alike.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/pool.h"
#include "privacy/release.h"
#include "tacit/runtime.h"

struct tacit_trace {
    tacit_trace_row *rows;
    size_t count, capacity;
    tacit_pool *pool;             /* where the last reference of a kept payload goes */
    tacit_release_watcher *watch; /* then no rows are kept */
    void *watch_ctx;
};

tacit_trace *tacit_trace_create(void)
{
    tacit_trace *t = calloc(1, sizeof *t);
    if (t && !(t->pool = tacit_pool_create(false))) {
        free(t);
        return NULL;
    }
    return t;
}

/* Must come before the runtime's end: payloads live in its memory. */
void tacit_trace_free(tacit_trace *t)
{
    if (!t)
        return;
    for (size_t k = 0; k < t->count; k++)
        if (t->rows[k].payload)
            tacit_vector_drop(t->pool, tacit_vector_of_public(t->rows[k].payload));
    tacit_pool_free(t->pool);
    free(t->rows);
    free(t);
}

size_t tacit_trace_rows(const tacit_trace *t, const tacit_trace_row **rows)
{
    *rows = t->rows;
    return t->count;
}

void tacit_trace_watch(tacit_trace *t, tacit_release_watcher *watch, void *ctx)
{
    t->watch = watch;
    t->watch_ctx = ctx;
}

static void add(tacit_trace *t, const tacit_env *inner, tacit_trace_row row)
{
    if (t->watch)
        return;
    tacit_trace_row *rows = tacit_array_grow(t->rows, &t->capacity, t->count + 1, sizeof *rows);
    if (!rows)
        return;
    t->rows = rows;
    const tacit_facts *facts = tacit_facts_of(inner);
    row.time = facts->now;
    row.agent = facts->self;
    if (row.payload && tacit_vector_of_public(row.payload)->flags & TACIT_VECTOR_SCRATCH)
        row.payload = NULL; /* gone when the handler returns */
    if (row.payload)
        tacit_keep(row.payload);
    t->rows[t->count++] = row;
}

void tacit_trace_event(tacit_trace *t, const tacit_env *env, const tacit_event *event)
{
    add(t, env,
        (tacit_trace_row){.kind = TACIT_TRACE_EVENT,
                          .event = event->type,
                          .peer = event->from,
                          .at = event->at,
                          .id = event->id,
                          .payload = event->payload});
}

#define INNER(ctx) (&((tacit_traced *)(ctx))->inner)
#define TRACE(ctx, ...) \
    add(((tacit_traced *)(ctx))->trace, INNER(ctx), (tacit_trace_row){__VA_ARGS__})
#define PASS(ctx, op, ...) INNER(ctx)->ops->op(INNER(ctx)->ctx, __VA_ARGS__)

static const tacit_facts *trace_facts(void *ctx)
{
    return tacit_facts_of(INNER(ctx));
}

/* The row is written before the call: inside it, receivers may already handle the message. */
static tacit_status trace_send(void *ctx, tacit_agent to, tacit_address at,
                               const tacit_public *payload)
{
    tacit_trace *t = ((tacit_traced *)ctx)->trace;
    size_t row = t->count;
    TRACE(ctx, .kind = TACIT_TRACE_SEND, .peer = to, .at = at, .payload = payload);
    tacit_status status = PASS(ctx, send, to, at, payload);
    if (row < t->count)
        t->rows[row].status = status;
    return status;
}

static tacit_status trace_request(void *ctx, tacit_agent to, tacit_address at,
                                  const tacit_public *payload, double deadline, uint64_t *id)
{
    tacit_status status = PASS(ctx, request, to, at, payload, deadline, id);
    TRACE(ctx, .kind = TACIT_TRACE_REQUEST, .peer = to, .at = at, .payload = payload,
          .status = status, .id = *id, .value = deadline);
    return status;
}

static tacit_status trace_reply(void *ctx, const tacit_event *request, uint32_t kind,
                                const tacit_public *payload)
{
    tacit_status status = PASS(ctx, reply, request, kind, payload);
    TRACE(ctx, .kind = TACIT_TRACE_REPLY, .peer = request->from, .id = request->id,
          .at = {request->at.channel, kind}, .payload = payload, .status = status);
    return status;
}

static tacit_status trace_timer(void *ctx, uint32_t channel, double delay, uint64_t id)
{
    tacit_status status = PASS(ctx, timer, channel, delay, id);
    TRACE(ctx, .kind = TACIT_TRACE_TIMER, .peer = TACIT_NOBODY, .at = {channel, 0}, .id = id,
          .value = delay, .status = status);
    return status;
}

static tacit_status trace_reserve(void *ctx, const tacit_cost *cost, tacit_permit **permit)
{
    tacit_status status = PASS(ctx, reserve, cost, permit);
    TRACE(ctx, .kind = TACIT_TRACE_RESERVE, .peer = TACIT_NOBODY, .name = cost->what,
          .status = status);
    return status;
}

static tacit_status trace_release(void *ctx, tacit_permit *permit, tacit_bounded *bounded,
                                  tacit_public **out)
{
    tacit_status status = PASS(ctx, release, permit, bounded, out);
    const tacit_trace *t = ((tacit_traced *)ctx)->trace;
    if (t->watch && status == TACIT_OK)
        t->watch(t->watch_ctx, tacit_facts_of(INNER(ctx))->self, &permit->cost, *out);
    TRACE(ctx, .kind = TACIT_TRACE_RELEASE, .peer = TACIT_NOBODY, .name = permit->cost.what,
          .status = status);
    return status;
}

/* What one agent gives is nobody's to see: the row says that it gave, the watcher sees the sum. */
static tacit_status trace_give(void *ctx, tacit_address at, uint64_t round, double closes,
                               tacit_permit *permit, tacit_bounded *bounded,
                               const tacit_public *beside)
{
    tacit_status status = PASS(ctx, give, at, round, closes, permit, bounded, beside);
    TRACE(ctx, .kind = TACIT_TRACE_GIVE, .peer = TACIT_NOBODY, .at = at, .id = round,
          .payload = beside, .name = permit->cost.what, .value = closes, .status = status);
    return status;
}

void tacit_trace_sum(tacit_trace *t, const tacit_cost *cost, const tacit_public *sum)
{
    if (t->watch)
        t->watch(t->watch_ctx, TACIT_NOBODY, cost, sum);
}

static void trace_metric(void *ctx, const char *name, double value, bool is_private)
{
    PASS(ctx, metric, name, value, is_private);
    TRACE(ctx, .kind = TACIT_TRACE_METRIC, .peer = TACIT_NOBODY, .name = name, .value = value);
}

/* The rest crosses without leaving a mark. */
static tacit_agent trace_sample_peer(void *ctx)
{
    return INNER(ctx)->ops->sample_peer(INNER(ctx)->ctx);
}

static void trace_random(void *ctx, uint32_t channel, uint64_t counter, void *out, size_t len)
{
    PASS(ctx, random, channel, counter, out, len);
}

static tacit_public *trace_new_public(void *ctx, const tacit_shape *shape)
{
    return PASS(ctx, new_public, shape);
}

static tacit_secret *trace_new_secret(void *ctx, const tacit_shape *shape)
{
    return PASS(ctx, new_secret, shape);
}

static void trace_drop(void *ctx, const void *vector)
{
    PASS(ctx, drop, vector);
}

static tacit_status trace_give_back(void *ctx, tacit_permit *permit)
{
    return PASS(ctx, give_back, permit);
}

static tacit_status trace_conceal(void *ctx, tacit_permit *permit, tacit_bounded *bounded,
                                  uint32_t parts, tacit_secret **out)
{
    return PASS(ctx, conceal, permit, bounded, parts, out);
}

static tacit_status trace_sign(void *ctx, const void *text, size_t len,
                               uint8_t signature[TACIT_SIGNATURE])
{
    return PASS(ctx, sign, text, len, signature);
}

static tacit_status trace_verify(void *ctx, tacit_agent agent, const void *text, size_t len,
                                 const uint8_t signature[TACIT_SIGNATURE])
{
    return PASS(ctx, verify, agent, text, len, signature);
}

static const tacit_shard *trace_shard(void *ctx, tacit_split split)
{
    return PASS(ctx, shard, split);
}

static const tacit_model *trace_model(void *ctx)
{
    return INNER(ctx)->ops->model(INNER(ctx)->ctx);
}

static const tacit_privacy_options *trace_privacy(void *ctx)
{
    return INNER(ctx)->ops->privacy(INNER(ctx)->ctx);
}

static tacit_scratch *trace_scratch(void *ctx)
{
    return INNER(ctx)->ops->scratch(INNER(ctx)->ctx);
}

static void trace_gist(void *ctx, tacit_gist *out, const tacit_public *v, uint32_t segment)
{
    tacit_env inner = ((tacit_traced *)ctx)->inner;
    tacit_gist_of(&inner, out, v, segment);
}

static void *trace_temporary(void *ctx, size_t bytes)
{
    return PASS(ctx, temporary, bytes);
}

static tacit_error *trace_error(void *ctx)
{
    return INNER(ctx)->ops->error(INNER(ctx)->ctx);
}

static const tacit_env_ops trace_ops = {
    .facts = trace_facts,
    .send = trace_send,
    .request = trace_request,
    .reply = trace_reply,
    .timer = trace_timer,
    .sample_peer = trace_sample_peer,
    .random = trace_random,
    .new_public = trace_new_public,
    .new_secret = trace_new_secret,
    .drop = trace_drop,
    .reserve = trace_reserve,
    .give_back = trace_give_back,
    .release = trace_release,
    .give = trace_give,
    .conceal = trace_conceal,
    .sign = trace_sign,
    .verify = trace_verify,
    .shard = trace_shard,
    .model = trace_model,
    .privacy = trace_privacy,
    .scratch = trace_scratch,
    .gist = trace_gist,
    .temporary = trace_temporary,
    .metric = trace_metric,
    .error = trace_error,
};

tacit_env tacit_trace_wrap(tacit_traced *wrapper, tacit_trace *trace, tacit_env inner)
{
    *wrapper = (tacit_traced){trace, inner};
    return (tacit_env){&trace_ops, wrapper, inner.channel};
}
