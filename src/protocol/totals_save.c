/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums over all agents to and from a checkpoint, in the middle of whatever. All of it: an agent
 * that forgot for which try it has made a word, or which set it confirmed, could be asked again.
 * But not its number: who comes back says it in no further try.
 */
#include "protocol/totals_inside.h"

/* One list of fields for both ways: `save` or `load` is NULL. */
typedef struct both {
    tacit_saver *save;
    tacit_loader *load;
} both;

static void some_bytes(both *b, void *bytes, size_t len)
{
    if (b->save)
        tacit_save_bytes(b->save, bytes, len);
    else
        tacit_load_bytes(b->load, bytes, len);
}

static void one_u64(both *b, uint64_t *value)
{
    if (b->save)
        tacit_save_u64(b->save, *value);
    else
        *value = tacit_load_u64(b->load);
}

static void one_u32(both *b, uint32_t *value, uint64_t most)
{
    uint64_t wide = *value;
    one_u64(b, &wide);
    if (b->load && wide > most) {
        tacit_loader_refuse(b->load, "a number of a sum is too large");
        wide = 0;
    }
    *value = (uint32_t)wide;
}

static void one_byte(both *b, uint8_t *value, uint64_t most)
{
    uint32_t wide = *value;
    one_u32(b, &wide, most);
    *value = (uint8_t)wide;
}

static void one_flag(both *b, bool *value)
{
    uint32_t wide = *value;
    one_u32(b, &wide, 1);
    *value = wide != 0;
}

static void one_public(both *b, const tacit_public **v, const tacit_shape *shape)
{
    if (b->save)
        tacit_save_public(b->save, *v);
    else
        *v = tacit_load_public(b->load, shape);
}

static void own_public(both *b, tacit_public **v, const tacit_shape *shape)
{
    if (b->save)
        tacit_save_public(b->save, *v);
    else
        *v = tacit_load_public(b->load, shape);
}

static void partners(both *b, const tacit_totals_plan *plan, tacit_totals *s)
{
    one_u32(b, &s->partners, plan->room);
    for (uint32_t k = 0; k < s->partners; k++) {
        totals_partner *p = &s->partner[k];
        one_u32(b, &p->agent, plan->agents - 1);
        one_byte(b, &p->chosen, 1);
        one_byte(b, &p->chose, 1);
        one_byte(b, &p->agreed, 1);
        one_byte(b, &p->in, 1);
        one_byte(b, &p->masked, 1);
        one_u32(b, &p->position, plan->agents - 1);
        one_u64(b, &p->told);
        one_u64(b, &p->settled);
        one_u64(b, &p->about);
        some_bytes(b, p->hash, sizeof p->hash);
        some_bytes(b, p->shared, sizeof p->shared);
    }
}

static void search(both *b, totals_search *s)
{
    one_u64(b, &s->path);
    one_u64(b, &s->included);
    one_u32(b, &s->depth, 60);
    one_u32(b, &s->turn, 7);
    one_u32(b, &s->salt, UINT32_MAX);
    one_flag(b, &s->active);
    one_flag(b, &s->hearsay);
    one_u64(b, &s->blamed[0]);
    one_u64(b, &s->blamed[1]);
    one_u32(b, &s->expelled, TOTALS_EXPELLED);
    for (uint32_t k = 0; k < s->expelled; k++) {
        one_u64(b, &s->prefix[k]);
        one_u32(b, &s->length[k], 60);
        one_u32(b, &s->salted[k], UINT32_MAX);
        if (s->length[k] == 0)
            s->length[k] = 1;
    }
}

static void member(both *b, const tacit_totals_plan *plan, totals_member *m)
{
    uint32_t state = m->turn.state;
    one_u64(b, &m->trial);
    one_u32(b, &m->step, TOTALS_STEPS);
    one_u32(b, &m->mark, UINT32_MAX);
    one_u32(b, &m->present, UINT32_MAX);
    one_u32(b, &m->count, UINT32_MAX);
    one_u32(b, &m->threshold, TACIT_TOTALS_PARTNERS);
    some_bytes(b, m->hash, sizeof m->hash);
    one_public(b, &m->set, &plan->kind[TOTALS_SET]);
    one_u64(b, &m->turn.round);
    one_u32(b, &m->turn.attempt, UINT32_MAX);
    one_u32(b, &state, TACIT_MASK_OPENED);
    m->turn.state = (uint8_t)state;
}

static void adder(both *b, const tacit_totals_plan *plan, tacit_totals *s)
{
    totals_adder *d = &s->adder;
    one_u64(b, &d->trial);
    one_u64(b, &d->later);
    some_bytes(b, totals_later(plan, s), 8 * totals_later_words(plan));
    one_u32(b, &d->block, plan->blocks - 1);
    one_u32(b, &d->members, plan->span);
    one_u32(b, &d->step, TOTALS_STEPS + 1);
    one_u32(b, &d->waits, UINT32_MAX);
    one_u32(b, &d->pending, plan->span);
    one_flag(b, &d->listed);
    one_flag(b, &d->parted);
    one_flag(b, &d->deputy);
    one_public(b, &d->set[0], &plan->kind[TOTALS_SET]);
    one_public(b, &d->set[1], &plan->kind[TOTALS_SET]);
    own_public(b, &d->sum, &plan->number);
    own_public(b, &d->pads, &plan->kind[TOTALS_PADS]);
    own_public(b, &d->draft, &plan->kind[TOTALS_BOARD]);
    for (uint32_t k = 0; k < d->members; k++) {
        totals_row *row = &totals_rows(plan, s)[k];
        one_public(b, &row->word, &plan->kind[TOTALS_WORD]);
        one_public(b, &row->paid, &plan->kind[TOTALS_PAID]);
        one_byte(b, &row->flags, 15);
        if (b->load && ((row->word && !totals_word_is_sound(plan, row->word)) ||
                        (row->paid && (!row->word || totals_head(row->paid, 2) > plan->room))))
            tacit_loader_refuse(b->load, "a word that no member says makes no sense");
        if (b->load && !row->word && row->flags & (ROW_SEEDED | ROW_ASKED))
            tacit_loader_refuse(b->load, "a seed without a word makes no sense");
    }
    const bool asked = d->step >= 1 && d->trial && !d->parted;
    if (b->load && ((asked && !d->set[1]) || (d->step >= 2 && asked && !d->set[0])))
        tacit_loader_refuse(b->load, "an adder without a set makes no sense");
    if (b->load && d->step > TOTALS_STEPS && !d->parted && d->trial && !d->sum && !d->deputy)
        tacit_loader_refuse(b->load, "an adder without a sum makes no sense");
}

static void speaker(both *b, const tacit_totals_plan *plan, tacit_totals *s)
{
    totals_speaker *p = &s->speaker;
    one_u64(b, &p->trial);
    one_u32(b, &p->step, TOTALS_STEPS + 1);
    one_u32(b, &p->heard, plan->blocks);
    one_flag(b, &p->ended);
    one_u64(b, &p->edges);
    own_public(b, &p->set, &plan->kind[TOTALS_SET]);
    one_public(b, &p->last, &plan->kind[TOTALS_SET]);
    own_public(b, &p->result, &plan->kind[TOTALS_RESULT]);
    if (p->trial)
        some_bytes(b, totals_heard(plan, s), plan->blocks);
    if (b->load && p->trial && !p->ended && (!p->set || (p->step >= 1 && !p->last)))
        tacit_loader_refuse(b->load, "a speaker without a set makes no sense");
}

static void all(both *b, const tacit_totals_plan *plan, tacit_totals *s)
{
    some_bytes(b, &s->keys, sizeof s->keys);
    some_bytes(b, s->secret, sizeof s->secret);
    some_bytes(b, s->signature, sizeof s->signature);
    some_bytes(b, s->history, sizeof s->history);
    one_u64(b, &s->round);
    one_u64(b, &s->next);
    one_u64(b, &s->hello);
    one_u32(b, &s->attempt, 255);
    one_byte(b, &s->phase, TOTALS_ASIDE);
    one_flag(b, &s->keyed);
    one_flag(b, &s->over);
    one_flag(b, &s->ready);
    one_flag(b, &s->spent);
    one_flag(b, &s->missed);
    one_u64(b, &s->rumour);
    one_u64(b, &s->source);
    one_byte(b, &s->outcome, TOTALS_FAILED);
    one_u64(b, &s->judged);
    one_u32(b, &s->members, UINT32_MAX);
    one_u64(b, &s->tries);
    one_u64(b, &s->opened);
    partners(b, plan, s);
    search(b, &s->search);
    member(b, plan, &s->member);
    adder(b, plan, s);
    speaker(b, plan, s);
    one_public(b, &s->result, &plan->kind[TOTALS_RESULT]);
    one_public(b, &s->early, &plan->kind[TOTALS_RESULT]);
    one_u64(b, &s->early_from);
    one_public(b, &s->board, &plan->kind[TOTALS_BOARD]);
    if (b->load && s->board && !totals_board_fits(plan, s->board))
        tacit_loader_refuse(b->load, "a board with more words than members makes no sense");
    if (b->load && s->ready && !s->result)
        tacit_loader_refuse(b->load, "a round that is over without a result makes no sense");
    if (b->load && s->phase >= TOTALS_JITTER && s->phase <= TOTALS_OPENED && !s->member.threshold)
        tacit_loader_refuse(b->load, "a member without a quorum makes no sense");
}

void tacit_totals_save(const tacit_totals_plan *plan, const tacit_totals *totals,
                       tacit_saver *saver)
{
    all(&(both){.save = saver}, plan, (tacit_totals *)(uintptr_t)totals);
}

void tacit_totals_load(const tacit_totals_plan *plan, tacit_totals *totals, tacit_loader *loader)
{
    all(&(both){.load = loader}, plan, totals);
}
