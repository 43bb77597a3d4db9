/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Masked sums to and from a checkpoint, in the middle of whatever. All of it: an agent that forgot
 * for which (round, attempt) it has made a word could be asked for another one.
 */
#include "protocol/sums_inside.h"

/* One list of fields for both ways: `save` or `load` is NULL. */
typedef struct both {
    tacit_saver *save;
    tacit_loader *load;
} both;

static void one_u64(both *b, uint64_t *value)
{
    if (b->save)
        tacit_save_u64(b->save, *value);
    else
        *value = tacit_load_u64(b->load);
}

static void one_u32(both *b, uint32_t *value)
{
    uint64_t wide = *value;
    one_u64(b, &wide);
    if (wide > UINT32_MAX)
        tacit_loader_refuse(b->load, "a number of a masked sum is too large");
    *value = (uint32_t)wide;
}

static void one_byte(both *b, uint8_t *value)
{
    uint64_t wide = *value;
    one_u64(b, &wide);
    if (wide > UINT8_MAX)
        tacit_loader_refuse(b->load, "a number of a masked sum is too large");
    *value = (uint8_t)wide;
}

static void one_f64(both *b, double *value)
{
    if (b->save)
        tacit_save_f64(b->save, *value);
    else
        *value = tacit_load_f64(b->load);
}

static void some_bytes(both *b, void *bytes, size_t len)
{
    if (b->save)
        tacit_save_bytes(b->save, bytes, len);
    else
        tacit_load_bytes(b->load, bytes, len);
}

static void some_flags(both *b, bool *const *flag, size_t count)
{
    uint64_t bits = 0;
    for (size_t k = 0; k < count; k++)
        bits |= (uint64_t)*flag[k] << k;
    one_u64(b, &bits);
    for (size_t k = 0; k < count; k++)
        *flag[k] = bits >> k & 1;
}

static void one_public(both *b, const tacit_public **v, const tacit_shape *shape)
{
    if (b->save)
        tacit_save_public(b->save, *v);
    else
        *v = tacit_load_public(b->load, shape);
}

static void one_secret(both *b, tacit_secret **v, const tacit_shape *shape)
{
    if (b->save)
        tacit_save_secret(b->save, *v);
    else
        *v = tacit_load_secret(b->load, shape);
}

static void one_call(both *b, sums_call *call)
{
    one_u64(b, &call->round);
    one_u32(b, &call->attempt);
    for (uint32_t k = 0; k < SUMS_BITS; k++)
        one_u64(b, &call->bits[k]);
}

static void one_turn(both *b, tacit_mask_turn *turn)
{
    one_u64(b, &turn->round);
    one_u32(b, &turn->attempt);
    one_byte(b, &turn->state);
}

static void as_member(both *b, const tacit_sums_plan *plan, sums_slot *n)
{
    bool *const flags[] = {&n->up,  &n->in,    &n->out,  &n->worded, &n->seeded, &n->helped,
                           &n->met, &n->paged, &n->gone, &n->ready,  &n->cached, &n->differs};
    some_flags(b, flags, sizeof flags / sizeof *flags);
    one_public(b, &n->key, &plan->key);
    one_u64(b, &n->key_epoch);
    one_f64(b, &n->weight);
    one_u64(b, &n->shunned);
}

static void as_receiver(both *b, const tacit_sums_plan *plan, sums_slot *n)
{
    one_byte(b, &n->age);
    one_byte(b, &n->resets);
    one_byte(b, &n->bad);
    one_u64(b, &n->passed);
    one_call(b, &n->call);
    one_turn(b, &n->turn);
    one_secret(b, &n->held, &plan->number);
    one_u64(b, &n->held_round);
    some_bytes(b, n->own, sizeof n->own);
    one_u64(b, &n->worded_epoch);
    some_bytes(b, n->set, sizeof n->set);
    one_u64(b, &n->set_epoch);
    for (uint32_t k = 0; k < SUMS_BITS; k++)
        one_u64(b, &n->set_bits[k]);
    one_u32(b, &n->masks);
    one_u32(b, &n->partners);
    if (n->masks > plan->neighbours || n->partners > plan->neighbours) {
        tacit_loader_refuse(b->load, "a masked sum has more members than were planned for");
        n->masks = n->partners = 0;
    }
}

static void one_directory(both *b, const tacit_sums_plan *plan, tacit_sums *s, uint32_t slot)
{
    sums_partner *partner = sums_directory(plan, s, slot);
    tacit_mask *mask = sums_masks(plan, s, slot);
    for (uint32_t k = 0; k < s->slot[slot].partners; k++) {
        one_u64(b, &partner[k].tag);
        one_u32(b, &partner[k].agent);
        one_u32(b, &partner[k].epoch);
        one_byte(b, &partner[k].knows);
        some_bytes(b, partner[k].key, sizeof partner[k].key);
    }
    for (uint32_t k = 0; s->slot[slot].cached && k < s->slot[slot].masks; k++) {
        some_flags(b, (bool *const[]){&mask[k].minus}, 1);
        some_bytes(b, mask[k].key, sizeof mask[k].key);
    }
}

static void everything(both *b, const tacit_sums_plan *plan, tacit_sums *s, uint32_t neighbours)
{
    one_u32(b, &s->neighbours);
    if ((s->neighbours != neighbours || neighbours > plan->neighbours) && s->neighbours != 0) {
        /* 0: it has not started */
        tacit_loader_refuse(b->load, "a masked sum is over other neighbours");
        s->neighbours = 0;
    }
    one_u64(b, &s->round);
    one_u64(b, &s->next);
    one_u64(b, &s->epoch);
    one_u32(b, &s->attempt);
    one_byte(b, &s->phase);
    some_flags(b, (bool *const[]){&s->keyed}, 1);
    some_bytes(b, &s->keys, sizeof s->keys);
    some_bytes(b, s->secret, sizeof s->secret);
    some_bytes(b, s->signature, sizeof s->signature);
    one_u64(b, &s->again);
    one_u64(b, &s->without);
    one_u64(b, &s->refused);
    const tacit_public *sum = s->sum;
    one_public(b, &sum, &plan->number);
    s->sum = (tacit_public *)(uintptr_t)sum;
    for (uint32_t k = 0; k < s->neighbours; k++) {
        as_member(b, plan, &s->slot[k]);
        as_receiver(b, plan, &s->slot[k]);
        one_directory(b, plan, s, k);
    }
}

void tacit_sums_save(const tacit_sums_plan *plan, const tacit_sums *sums, uint32_t neighbours,
                     tacit_saver *saver)
{
    both b = {.save = saver};
    everything(&b, plan, (tacit_sums *)(uintptr_t)sums, neighbours); /* nothing is written to it */
}

void tacit_sums_load(const tacit_sums_plan *plan, tacit_sums *sums, uint32_t neighbours,
                     tacit_loader *loader)
{
    both b = {.load = loader};
    everything(&b, plan, sums, neighbours);
    bool sane = sums->phase < SUMS_MEMBER &&
                (sums->sum || (sums->phase != SUMS_WORDS && sums->phase != SUMS_SEEDS &&
                               sums->phase != SUMS_HAVE));
    for (uint32_t k = 0; k < sums->neighbours; k++)
        sane = sane && (sums->slot[k].key || !sums->slot[k].in);
    if (!sane)
        tacit_loader_refuse(loader, "the state of a masked sum makes no sense");
}

void tacit_sums_forget(tacit_env *env, const tacit_sums_plan *plan, tacit_sums *sums)
{
    for (uint32_t k = 0; k < sums->neighbours; k++)
        sums_drop_held(env, &sums->slot[k]);
    sums_forget_keys(plan, sums);
    sums->keyed = false;
}

void tacit_sums_end(tacit_env *env, const tacit_sums_plan *plan, tacit_sums *sums)
{
    tacit_drop(env, sums->sum);
    sums->sum = NULL;
    for (uint32_t k = 0; k < sums->neighbours; k++) {
        sums_slot *n = &sums->slot[k];
        tacit_drop(env, n->key);
        n->key = NULL;
        sums_drop_held(env, n);
        tacit_mask_wipe(sums_directory(plan, sums, k), plan->neighbours * sizeof(sums_partner));
    }
    sums_forget_keys(plan, sums);
}
