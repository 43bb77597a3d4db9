/* SPDX-License-Identifier: Apache-2.0 */
/* What an agent of a chorus is made of, and what its messages hold. */
#include "protocol/chorus.h"

const tacit_shape *chorus_payload(const void *shared, tacit_address at)
{
    const chorus_shared *s = shared;
    tacit_address inner;
    if (chorus_learned(s) && chorus_kernel_payload(s, at))
        return chorus_kernel_payload(s, at);
    if (chorus_masked(s))
        return tacit_address_child(at, &inner) == s->totals.child
                   ? tacit_totals_payload(&s->totals, inner)
                   : NULL;
    if (at.channel != 0)
        return NULL;
    return at.kind == CHORUS_SUM                    ? &s->sum
           : at.kind == (CHORUS_SUM | TACIT_BESIDE) ? &s->beside
                                                    : NULL;
}

size_t chorus_agent_size(const void *shared, uint32_t neighbours)
{
    const chorus_shared *s = shared;
    (void)neighbours;
    return sizeof(chorus_agent) + (chorus_masked(s) ? tacit_totals_size(&s->totals) : 0) +
           (chorus_learned(s) ? chorus_kernel_size(s) : 0);
}

void chorus_save(const void *shared, const void *state, uint32_t neighbours, tacit_saver *saver)
{
    const chorus_shared *s = shared;
    (void)neighbours;
    const chorus_agent *self = state;
    tacit_save_u64(saver, self->heard);
    tacit_save_u64(saver, self->over);
    tacit_save_u64(saver, self->sung);
    tacit_save_f64(saver, self->spread);
    tacit_save_f64(saver, self->doubt);
    tacit_save_public(saver, self->prior);
    tacit_save_secret(saver, self->finished);
    if (chorus_masked(s))
        tacit_totals_save(&s->totals, chorus_totals(self), saver);
    if (chorus_learned(s))
        chorus_kernel_save(s, self, saver);
}

void chorus_load(const void *shared, void *state, uint32_t neighbours, tacit_loader *loader)
{
    (void)neighbours;
    const chorus_shared *s = shared;
    chorus_agent *self = state;
    self->heard = tacit_load_u64(loader);
    self->over = tacit_load_u64(loader);
    self->sung = tacit_load_u64(loader);
    self->spread = tacit_load_f64(loader);
    self->doubt = tacit_load_f64(loader);
    self->prior = tacit_load_public(loader, s->model);
    self->finished = tacit_load_secret(loader, s->model);
    if (chorus_masked(s))
        tacit_totals_load(&s->totals, chorus_totals(self), loader);
    if (chorus_learned(s))
        chorus_kernel_load(s, self, loader);
}

void chorus_end(tacit_env *env, const void *shared, void *state)
{
    const chorus_shared *s = shared;
    chorus_agent *self = state;
    tacit_drop(env, self->prior);
    tacit_drop(env, self->finished);
    if (chorus_masked(s))
        tacit_totals_end(env, &s->totals, chorus_totals(self));
    if (chorus_learned(s))
        chorus_kernel_end(env, s, self);
}

const tacit_secret *chorus_model(const void *shared, const void *state)
{
    (void)shared;
    const chorus_agent *self = state;
    return self->finished ? self->finished : tacit_public_as_secret(self->prior);
}
