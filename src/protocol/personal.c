/* SPDX-License-Identifier: Apache-2.0 */
#include "protocol/personal.h"

#include <math.h>

/* m_i shows in confidences, regularisers and steps. */
static tacit_status check_privacy(const tacit_privacy_options *privacy, tacit_error *err)
{
    if (privacy->mechanism == TACIT_MECHANISM_NONE || privacy->adjacency == TACIT_REPLACE)
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT,
                      "under \"privacy.adjacency: add-remove\" the number of an agent's records is "
                      "a secret, but this protocol weighs agents by it; use \"replace\"");
}

tacit_status personal_setup(personal_shared *shared, double mu, double full,
                            const tacit_setup *setup, tacit_error *err)
{
    const tacit_privacy_options *o = setup->privacy;
    if (o->mechanism != TACIT_MECHANISM_NONE &&
        (o->policy != TACIT_POLICY_UNIFORM || (setup->epsilon && o->noise == 0)))
        return tacit_fail(err, TACIT_EINPUT,
                          "this protocol plans one noise for all releases of all agents: it takes "
                          "\"privacy.policy: uniform\", and with \"privacy.budgets\" also a "
                          "\"privacy.noise\"");
    tacit_status status = personal_setup_silent(shared, mu, full, setup, err);
    if (status == TACIT_OK)
        status = tacit_cost_plan(&shared->gradient, setup->privacy, shared->shape->segment[0].count,
                                 "gradient", err);
    return status;
}

tacit_status personal_setup_silent(personal_shared *shared, double mu, double full,
                                   const tacit_setup *setup, tacit_error *err)
{
    shared->mu = mu;
    shared->privacy = *setup->privacy;
    shared->shape = tacit_model_shape(setup->model);
    shared->full_confidence = full > 0 ? full : (double)setup->max_records;
    tacit_status status = check_privacy(setup->privacy, err);
    if (status != TACIT_OK || shared->full_confidence > 0)
        return status;
    return tacit_fail(err, TACIT_EINPUT,
                      "nobody knows the largest number of records here; set "
                      "\"protocol.full-confidence\"");
}

double personal_confidence(const personal_shared *shared, size_t records)
{
    double c = (double)records / shared->full_confidence;
    return c < 1 ? c : 1;
}

const tacit_shape *personal_payload(const void *shared, tacit_address at)
{
    const personal_shared *s = shared;
    return at.channel == 0 && at.kind == PERSONAL_MODEL ? s->shape : NULL;
}

/* ---- state ---- */

size_t personal_agent_size(const void *shared, uint32_t neighbours)
{
    (void)shared;
    return sizeof(personal_agent) + neighbours * sizeof(const tacit_public *);
}

void personal_save(const void *shared, const void *state, uint32_t neighbours, tacit_saver *saver)
{
    (void)shared;
    const personal_agent *self = state;
    tacit_save_f64(saver, self->alpha);
    tacit_save_u64(saver, self->spoken);
    tacit_save_u64(saver, self->warmed);
    tacit_save_u64(saver, self->spent);
    tacit_save_public(saver, self->anchor);
    tacit_save_public(saver, self->theta);
    tacit_save_secret(saver, self->kept);
    tacit_view_save(self->view, neighbours, saver);
}

void personal_load(const void *shared, void *state, uint32_t neighbours, tacit_loader *loader)
{
    const tacit_shape *shape = ((const personal_shared *)shared)->shape;
    personal_agent *self = state;
    self->alpha = tacit_load_f64(loader);
    self->spoken = tacit_load_u64(loader);
    self->warmed = tacit_load_u64(loader);
    self->spent = tacit_load_u64(loader) != 0;
    self->anchor = tacit_load_public(loader, shape);
    self->theta = tacit_load_public(loader, shape);
    self->kept = tacit_load_secret(loader, shape);
    tacit_view_load(self->view, neighbours, loader, shape);
}

void personal_end(tacit_env *env, const void *shared, void *state)
{
    (void)shared;
    personal_agent *self = state;
    tacit_drop(env, self->anchor);
    tacit_drop(env, self->theta);
    tacit_drop(env, self->kept);
    tacit_view_end(env, self->view, tacit_facts_of(env)->neighbours);
}

const tacit_secret *personal_model(const void *shared, const void *state)
{
    (void)shared;
    const personal_agent *self = state;
    return self->kept ? self->kept : tacit_public_as_secret(self->theta);
}

void personal_expect(const void *shared, const void *state, uint32_t neighbours)
{
    (void)shared;
    const personal_agent *self = state;
    tacit_public_expect(self->theta);
    for (uint32_t j = 0; j < neighbours; j++)
        tacit_public_expect(self->view[j]);
}

/* ---- events ---- */

/* Own records near sum_j W_ij/D_i theta_j as last heard. The own public model is no part of it: it
 * was made from the same records, which would then be judged by what has seen them. */
static tacit_status finish(tacit_env *env, const personal_shared *shared, personal_agent *self)
{
    if (!shared->finish.wanted || self->kept)
        return TACIT_OK;
    const tacit_facts *facts = tacit_facts_of(env);
    double *coef = tacit_temporary(env, (facts->neighbours + 1) * sizeof *coef);
    tacit_public *prior = tacit_new_public(env, shared->shape);
    tacit_status status = TACIT_OK;
    if (!coef || !prior) {
        status = tacit_out_of_memory(tacit_own_error(env));
        goto out;
    }
    for (uint32_t j = 0; j < facts->neighbours; j++)
        coef[j] = facts->weight[j] / facts->degree;
    tacit_public_combine(prior, facts->neighbours, coef, self->view);
    status = finish_privately(env, &shared->finish, prior, &self->kept);
out:
    tacit_drop(env, prior);
    return status;
}

tacit_status personal_on(tacit_env *env, const void *shared, void *state, const tacit_event *event,
                         personal_step *start, personal_step *tick)
{
    personal_agent *self = state;
    switch (event->type) {
    case TACIT_START:
        return tacit_facts_of(env)->neighbours > 0 ? start(env, shared, self)
                                                   : personal_learn_alone(env, &self->kept);
    case TACIT_WAKE:
        return self->theta ? tick(env, shared, self) : TACIT_OK;
    case TACIT_MESSAGE:
        if (event->slot != TACIT_NO_SLOT)
            tacit_view_put(env, self->view, event->slot, event->payload);
        return TACIT_OK;
    case TACIT_PEER_UP: /* it may have missed our last words */
        return self->theta ? tacit_send(env, event->from, PERSONAL_MODEL, self->theta) : TACIT_OK;
    case TACIT_FINISH:
        return finish(env, shared, self);
    default:
        return TACIT_OK;
    }
}

tacit_status personal_say(tacit_env *env, const void *shared, personal_agent *self, size_t terms,
                          const double *coef, const tacit_public *const *term)
{
    tacit_public *next = tacit_new_public(env, ((const personal_shared *)shared)->shape);
    if (!next)
        return tacit_out_of_memory(tacit_own_error(env));
    tacit_public_combine(next, terms, coef, term);
    tacit_drop(env, self->theta);
    self->theta = next;
    return tacit_broadcast(env, PERSONAL_MODEL, next);
}

/* ---- own data ---- */

tacit_cost personal_cost(const personal_shared *shared, const char *what)
{
    return (tacit_cost){.mechanism = (tacit_mechanism)shared->privacy.mechanism,
                        .norm = TACIT_L2,
                        .unit = (tacit_unit)shared->privacy.unit,
                        .adjacency = (tacit_adjacency)shared->privacy.adjacency,
                        .what = what};
}

tacit_status personal_release(tacit_env *env, const personal_shared *shared, const char *what,
                              personal_kernel *kernel, tacit_public **out)
{
    if (shared->privacy.mechanism != TACIT_MECHANISM_NONE)
        return tacit_fail(tacit_own_error(env), TACIT_EINPUT,
                          "nothing bounds how far one record moves the \"%s\", so no noise covers "
                          "it; do without (for cd: \"start: zero\" and \"smoothness: bound\"), or "
                          "release it bare with \"privacy.mechanism: none\"",
                          what);
    tacit_cost cost = personal_cost(shared, what);
    tacit_permit *permit;
    tacit_bounded *bounded;
    tacit_status status = tacit_reserve(env, &cost, &permit);
    if (status == TACIT_OK)
        status = kernel(tacit_own_model(env), permit, tacit_own_data(env, TACIT_TRAIN),
                        tacit_own_scratch(env), &bounded, tacit_own_error(env));
    if (status == TACIT_OK)
        status = tacit_release(env, permit, bounded, out);
    return status;
}

tacit_status personal_gradient(tacit_env *env, const personal_shared *shared,
                               const tacit_cost *cost, const tacit_public *theta,
                               tacit_public **out)
{
    const bool noisy = cost->mechanism != TACIT_MECHANISM_NONE;
    const double radius = shared->privacy.clip > 0 ? shared->privacy.clip : INFINITY;
    const tacit_clip clip = noisy ? tacit_cost_clip(cost) : (tacit_clip){TACIT_L2, radius};
    tacit_permit *permit;
    tacit_bounded *bounded;
    tacit_status status = tacit_reserve(env, cost, &permit);
    if (status == TACIT_OK)
        status = tacit_model_gradient(tacit_own_model(env), permit,
                                      tacit_own_data(env, TACIT_TRAIN), theta, clip,
                                      tacit_own_scratch(env), &bounded, tacit_own_error(env));
    if (status == TACIT_OK)
        status = tacit_release(env, permit, bounded, out);
    return status;
}

const char *const personal_smoothnesses[] = {"auto", "exact", "bound", NULL};

tacit_status personal_smoothness(tacit_env *env, const personal_shared *shared, int how,
                                 double radius, double *out)
{
    tacit_public *released;
    const bool noisy = shared->privacy.mechanism != TACIT_MECHANISM_NONE;
    if (how == PERSONAL_SMOOTHNESS_BOUND || (how == PERSONAL_SMOOTHNESS_AUTO && noisy)) {
        *out = tacit_model_smoothness_bound(tacit_own_model(env), radius);
        return TACIT_OK;
    }
    tacit_status status =
        personal_release(env, shared, "smoothness", tacit_model_smoothness, &released);
    if (status == TACIT_OK)
        *out = tacit_public_get(released, 0, 0);
    return status;
}

tacit_status personal_publish_local(tacit_env *env, const personal_shared *shared,
                                    tacit_public **out)
{
    tacit_public *released;
    tacit_status status =
        personal_release(env, shared, "local model", tacit_model_local, &released);
    if (status != TACIT_OK)
        return status;
    if (!(*out = tacit_new_public(env, shared->shape)))
        return tacit_out_of_memory(tacit_own_error(env));
    tacit_public_copy(*out, released);
    return TACIT_OK;
}

tacit_status personal_learn_alone(tacit_env *env, const tacit_secret **out)
{
    const tacit_model *model = tacit_own_model(env);
    tacit_secret *theta = tacit_new_secret(env, tacit_model_shape(model));
    if (!theta)
        return tacit_out_of_memory(tacit_own_error(env));
    *out = theta;
    return tacit_model_solve(model, tacit_own_data(env, TACIT_TRAIN), theta, tacit_own_error(env));
}
