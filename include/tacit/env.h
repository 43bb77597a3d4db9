/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_ENV_H
#define TACIT_ENV_H
/*
 * All a protocol can see of the world. Each runtime provides one table of operations;
 * a trace wraps another environment and records what crosses it.
 *
 * Rules for protocols: no sockets, no wall clock, no globals, no allocation of own
 * state. Pointers an event hands out, permits, bounded and released values are good
 * until the handler returns; a vector kept longer needs tacit_keep.
 */
#include "tacit/base.h"
#include "tacit/data.h"
#include "tacit/model.h"
#include "tacit/privacy.h"
#include "tacit/vector.h"

typedef struct tacit_env tacit_env;

#define TACIT_RUN_ID 16
#define TACIT_SIGNATURE 64

/* What an agent knows of itself; the arrays are parallel and sorted by id. */
typedef struct tacit_facts {
    tacit_agent self;
    double now;
    size_t records; /* m_i: public under `replace` and unit record, else a secret */
    uint32_t neighbours;
    const uint32_t *neighbour; /* ids; in a simulation they are 0..n-1 */
    const double *weight;      /* W_ij */
    double degree;             /* D_i */
    double epsilon;            /* what it may spend in all: public, as its noise is */
    uint64_t version;          /* changes when neighbours or weights do */
    uint8_t run[TACIT_RUN_ID]; /* names the run, the same at all its agents */
} tacit_facts;

/* Where a message belongs: `channel` names a nested protocol (0 is the outermost), `kind`
 * is the protocol's own. */
typedef struct tacit_address {
    uint32_t channel;
    uint32_t kind;
} tacit_address;

typedef enum tacit_event_type {
    TACIT_START,        /* once, before anything else */
    TACIT_WAKE,         /* the agent's own Poisson clock ticked */
    TACIT_TIMER,        /* a timer of tacit_timer rang: `id` */
    TACIT_ROUND,        /* the round helper completed a round: `id` */
    TACIT_MESSAGE,      /* payload from `from` */
    TACIT_REQUEST,      /* payload from `from`; answer with tacit_reply while handling it */
    TACIT_REPLY,        /* to request `id` */
    TACIT_NO_REPLY,     /* request `id` met its deadline */
    TACIT_PEER_UP,      /* neighbour `from` is back */
    TACIT_PEER_DOWN,    /* neighbour `from` is gone */
    TACIT_GROUP_RESULT, /* the sum of round `id` over all who gave to it: see tacit_give */
    TACIT_FINISH        /* once, after everything else; nothing can be sent any more */
} tacit_event_type;

typedef struct tacit_event {
    tacit_event_type type;
    tacit_address at;
    tacit_agent from;
    uint32_t slot; /* index of `from` among the neighbours, TACIT_NO_SLOT if it is none */
    uint64_t id;
    const tacit_public *payload;
    const tacit_public *beside; /* TACIT_GROUP_RESULT: sum of what was given openly, or NULL */
} tacit_event;
#define TACIT_NO_SLOT UINT32_MAX

typedef struct tacit_env_ops {
    const tacit_facts *(*facts)(void *ctx);
    /* sending; `to` = TACIT_NOBODY broadcasts to all neighbours */
    tacit_status (*send)(void *ctx, tacit_agent to, tacit_address at, const tacit_public *payload);
    tacit_status (*request)(void *ctx, tacit_agent to, tacit_address at,
                            const tacit_public *payload, double deadline, uint64_t *id);
    tacit_status (*reply)(void *ctx, const tacit_event *request, uint32_t kind,
                          const tacit_public *payload);
    tacit_status (*timer)(void *ctx, uint32_t channel, double delay, uint64_t id);
    tacit_agent (*sample_peer)(void *ctx);
    void (*random)(void *ctx, uint32_t channel, uint64_t counter, void *out, size_t len);
    /* vectors */
    tacit_public *(*new_public)(void *ctx, const tacit_shape *shape);
    tacit_secret *(*new_secret)(void *ctx, const tacit_shape *shape);
    void (*drop)(void *ctx, const void *vector);
    void (*gist)(void *ctx, tacit_gist *out, const tacit_public *v, uint32_t segment); /* or NULL */
    /* privacy */
    tacit_status (*reserve)(void *ctx, const tacit_cost *cost, tacit_permit **permit);
    tacit_status (*give_back)(void *ctx, tacit_permit *permit);
    tacit_status (*release)(void *ctx, tacit_permit *permit, tacit_bounded *bounded,
                            tacit_public **out);
    tacit_status (*give)(void *ctx, tacit_address at, uint64_t round, double closes,
                         tacit_permit *permit, tacit_bounded *bounded, const tacit_public *beside);
    tacit_status (*conceal)(void *ctx, tacit_permit *permit, tacit_bounded *bounded, uint32_t parts,
                            tacit_secret **out);
    /* who said what */
    tacit_status (*sign)(void *ctx, const void *text, size_t len,
                         uint8_t signature[TACIT_SIGNATURE]);
    tacit_status (*verify)(void *ctx, tacit_agent agent, const void *text, size_t len,
                           const uint8_t signature[TACIT_SIGNATURE]);
    /* own data and metrics */
    const tacit_shard *(*shard)(void *ctx, tacit_split split);
    const tacit_model *(*model)(void *ctx);
    const tacit_privacy_options *(*privacy)(void *ctx);
    tacit_scratch *(*scratch)(void *ctx);
    void *(*temporary)(void *ctx, size_t bytes);
    void (*metric)(void *ctx, const char *name, double value, bool is_private);
    tacit_error *(*error)(void *ctx); /* where a handler explains a failure */
} tacit_env_ops;

struct tacit_env {
    const tacit_env_ops *ops;
    void *ctx;
    uint32_t channel;
};

/* ---- knowledge ---- */
static inline const tacit_facts *tacit_facts_of(const tacit_env *env)
{
    return env->ops->facts(env->ctx);
}

/* ---- speaking: only public values have a voice ---- */
static inline tacit_status tacit_send_public_(tacit_env *env, tacit_agent to, uint32_t kind,
                                              const tacit_public *payload)
{
    return env->ops->send(env->ctx, to, (tacit_address){env->channel, kind}, payload);
}
static inline tacit_status tacit_request_public_(tacit_env *env, tacit_agent to, uint32_t kind,
                                                 const tacit_public *payload, double deadline,
                                                 uint64_t *id)
{
    return env->ops->request(env->ctx, to, (tacit_address){env->channel, kind}, payload, deadline,
                             id);
}
static inline tacit_status tacit_reply_public_(tacit_env *env, const tacit_event *request,
                                               uint32_t kind, const tacit_public *payload)
{
    return env->ops->reply(env->ctx, request, kind, payload);
}

/* A payload is frozen by sending it. The caller keeps its own reference. */
#define TACIT_ONLY_PUBLIC(payload, verb) \
    _Generic((payload), tacit_public * : verb, const tacit_public * : verb)
#define tacit_send(env, to, kind, payload) \
    (TACIT_ONLY_PUBLIC(payload, tacit_send_public_)((env), (to), (kind), (payload)))
#define tacit_broadcast(env, kind, payload) tacit_send((env), TACIT_NOBODY, (kind), (payload))
#define tacit_request(env, to, kind, payload, deadline, id)                                        \
    (TACIT_ONLY_PUBLIC(payload, tacit_request_public_)((env), (to), (kind), (payload), (deadline), \
                                                       (id)))
#define tacit_reply(env, request, kind, payload) \
    (TACIT_ONLY_PUBLIC(payload, tacit_reply_public_)((env), (request), (kind), (payload)))

/* ---- time, chance, peers ---- */
static inline tacit_status tacit_timer(tacit_env *env, double delay, uint64_t id)
{
    return env->ops->timer(env->ctx, env->channel, delay, id);
}
static inline tacit_agent tacit_sample_peer(tacit_env *env)
{
    return env->ops->sample_peer(env->ctx);
}
/* Bytes of the agent's own stream for (channel, counter). */
static inline void tacit_draw(tacit_env *env, uint64_t counter, void *out, size_t len)
{
    env->ops->random(env->ctx, env->channel, counter, out, len);
}

/* ---- vectors: zeroed when new; NULL when memory is out ---- */
static inline tacit_public *tacit_new_public(tacit_env *env, const tacit_shape *shape)
{
    return env->ops->new_public(env->ctx, shape);
}
static inline tacit_secret *tacit_new_secret(tacit_env *env, const tacit_shape *shape)
{
    return env->ops->new_secret(env->ctx, shape);
}
static inline void tacit_drop_(tacit_env *env, const void *vector)
{
    if (vector)
        env->ops->drop(env->ctx, vector);
}
#ifdef __cppcheck__ /* 2.10 crashes over _Generic in some places */
#define tacit_drop(env, vector) (tacit_drop_((env), (vector)))
#else
#define tacit_drop(env, vector) \
    (tacit_drop_((env), _Generic((vector), tacit_public *: (vector),   \
                                 const tacit_public *: (vector),       \
                                 tacit_secret *: (vector),             \
                                 const tacit_secret *: (vector))))
#endif

/* ---- privacy ---- */
static inline tacit_status tacit_reserve(tacit_env *env, const tacit_cost *cost,
                                         tacit_permit **permit)
{
    return env->ops->reserve(env->ctx, cost, permit);
}
static inline tacit_status tacit_give_back(tacit_env *env, tacit_permit *permit)
{
    return env->ops->give_back(env->ctx, permit);
}
static inline tacit_status tacit_release_bounded_(tacit_env *env, tacit_permit *permit,
                                                  tacit_bounded *bounded, tacit_public **out)
{
    return env->ops->release(env->ctx, permit, bounded, out);
}
#define tacit_release(env, permit, bounded, out) \
    (_Generic((bounded), tacit_bounded *         \
              : tacit_release_bounded_)((env), (permit), (bounded), (out)))

/* ---- sums over all agents: trust `secure` ----
 *
 * Instead of releasing a value, an agent gives it to the sum of round `round` (any number both
 * sides of the protocol agree on; never used twice in a run), which closes at time `closes`. At
 * that time everyone, givers or not, gets TACIT_GROUP_RESULT: the sum of what was given, with the
 * noise of ONE release on it, drawn by nobody in particular; nothing else is ever seen. All who
 * give to a round do so at one cost and one time of closing. Giving consumes permit and value and
 * is charged like a release. `beside` are whole numbers (TACIT_I64) that are added up openly, or
 * NULL; a protocol declares the shape of the sum by `payload` for its address, and that of what is
 * beside it for kind | TACIT_BESIDE. TACIT_NO: the gift came too late, and nothing was given (but
 * what was computed under a permit stays charged). A round takes gifts made before `closes`,
 * earlier by the time a message takes at least, and closes before anything else happens then.
 *
 * The simulator computes the sum as an ideal function. Only protocols with TACIT_GROUPS may give.
 */
#define TACIT_BESIDE UINT32_C(0x80000000)
static inline tacit_status tacit_give_bounded_(tacit_env *env, uint32_t kind, uint64_t round,
                                               double closes, tacit_permit *permit,
                                               tacit_bounded *bounded, const tacit_public *beside)
{
    return env->ops->give(env->ctx, (tacit_address){env->channel, kind}, round, closes, permit,
                          bounded, beside);
}
#define tacit_give(env, kind, round, closes, permit, bounded, beside)                       \
    (_Generic((bounded), tacit_bounded *                                                    \
              : tacit_give_bounded_)((env), (kind), (round), (closes), (permit), (bounded), \
                                     (beside)))

/* ---- sums over neighbours: trust `secure` ----
 *
 * Turns a bounded value into whole numbers that stay secret until masks hide them in a sum
 * (masks.h, sums.h); `bounded` is of a shape of one TACIT_I64 segment. Consumes both, charged like
 * a release. The cost's noise is that of the sum: each of `parts` members brings an equal share,
 * so that any `parts` honest ones make up the whole. A new vector, the caller's to drop. */
static inline tacit_status tacit_conceal(tacit_env *env, tacit_permit *permit,
                                         tacit_bounded *bounded, uint32_t parts, tacit_secret **out)
{
    return env->ops->conceal(env->ctx, permit, bounded, parts, out);
}

/* ---- who said what ----
 * A signature of the agent for this run, that any other agent of the run can check, whoever
 * handed it on. TACIT_NO: it is not that agent's, or the agent is not known. */
static inline tacit_status tacit_sign(tacit_env *env, const void *text, size_t len,
                                      uint8_t signature[TACIT_SIGNATURE])
{
    return env->ops->sign(env->ctx, text, len, signature);
}
static inline tacit_status tacit_verify(tacit_env *env, tacit_agent agent, const void *text,
                                        size_t len, const uint8_t signature[TACIT_SIGNATURE])
{
    return env->ops->verify(env->ctx, agent, text, len, signature);
}

/* Memory until the handler returns; NULL when it is out. */
/* tacit_public_gist; a runtime of many agents remembers it of what they all hear. */
static inline void tacit_gist_of(tacit_env *env, tacit_gist *out, const tacit_public *v,
                                 uint32_t segment)
{
    if (env->ops->gist)
        env->ops->gist(env->ctx, out, v, segment);
    else
        tacit_public_gist(out, v, segment);
}
static inline void *tacit_temporary(tacit_env *env, size_t bytes)
{
    return env->ops->temporary(env->ctx, bytes);
}

/* ---- own data, model, metrics ---- */
static inline const tacit_shard *tacit_own_data(tacit_env *env, tacit_split split)
{
    return env->ops->shard(env->ctx, split);
}
static inline const tacit_model *tacit_own_model(tacit_env *env)
{
    return env->ops->model(env->ctx);
}
static inline tacit_scratch *tacit_own_scratch(tacit_env *env)
{
    return env->ops->scratch(env->ctx);
}
static inline tacit_error *tacit_own_error(tacit_env *env)
{
    return env->ops->error(env->ctx);
}
static inline void tacit_metric_public_(tacit_env *env, const char *name, double value)
{
    env->ops->metric(env->ctx, name, value, false);
}
static inline void tacit_metric_private_(tacit_env *env, const char *name,
                                         tacit_private_metric value)
{
    env->ops->metric(env->ctx, name, value.owner_only, true);
}
#define tacit_metric(env, name, value)                     \
    (_Generic((value), double                              \
              : tacit_metric_public_, tacit_private_metric \
              : tacit_metric_private_)((env), (name), (value)))

/* ---- nesting ---- */
#define TACIT_CHILDREN 15 /* a channel holds 4 bits a level, so seven levels deep */
/* The environment of nested protocol `child` (1..TACIT_CHILDREN). */
static inline tacit_env tacit_nest(const tacit_env *env, uint32_t child)
{
    return (tacit_env){env->ops, env->ctx, env->channel << 4 | child};
}
/* Which child of `env` an event is for: 0 = for this protocol itself. */
uint32_t tacit_event_child(const tacit_env *env, const tacit_event *event);
/* The outermost child an address names (0: none) and the address as that child sees it. */
uint32_t tacit_address_child(tacit_address at, tacit_address *inner);

#endif
