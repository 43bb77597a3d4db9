/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel that agents learn, where nothing public tells who is alike. Before the first sum:
 *
 *     word     each agent releases, once, the sum of its records' clipped gradients at zero, with
 *              noise of its own (one record replaced: 2C), and says it to everybody
 *     print    who has all words, or waited for half of the time, says a print of those it has
 *     column   when more than half of all agents said one's own print: the k nearest of each agent
 *              by cosine of words make a graph, and its kernel the columns, as from any graph
 *
 * Everything after the release is arithmetic on public numbers. The release is charged before any
 * record is touched, at a cost that the sums are planned after (chorus_costs.c); everybody hears
 * it, so it has all of its noise in it, whoever adds up later.
 *
 * Invariants:
 *  1. At most one release an agent. Who may not speak (no records, no budget, left before round 1)
 *     says so with a word of zeros, which is near nobody: it has no column, nor has one whose word
 *     came to nobody.
 *  2. If all keep to the rules, all who sing have the same words (but for prints of 64 bits that
 *     agree by chance), so the same columns: an agent says one print, also when it crashed in
 *     between, and no two prints are said by more than half each. Who finds no such majority in
 *     time learns alone; nobody waits longer.
 *  3. A word or a print is believed of its sender only: nobody can speak for others. Who tells some
 *     this and others that can have all learn alone, or have two camps sing in columns that do not
 *     fit, which makes a sum worthless. It costs nobody privacy: columns are public and of length 1
 *     at most whatever words say, which is all that costs depend on.
 */
#include "protocol/chorus.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_AGENTS 2000 /* everyone keeps a word of everyone */

enum { ASKS = 7, WORDS_OVER, OVER }; /* timers: the first ones ask for what is missing */
enum { ASK_WORD, ASK_PRINT };

size_t chorus_kernel_size(const chorus_shared *s)
{
    return 7 + sizeof(chorus_learning) +
           (size_t)s->agents * (sizeof(const tacit_public *) + sizeof(uint64_t));
}

/* ---- plan ---- */

tacit_status chorus_kernel_check(const chorus_options *o, const tacit_setup *setup,
                                 tacit_error *err)
{
    if (setup->privacy->mechanism == TACIT_MECHANISM_NONE)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"protocol.kernel: learned\" has every agent tell all others about its "
                          "records, which is only for a mechanism with noise; set "
                          "\"privacy.mechanism: gaussian\", or take a kernel of a public graph");
    if (!(o->kernel_share > 0 && o->kernel_share < 1))
        return tacit_fail(err, TACIT_EINPUT,
                          "\"protocol.kernel-share: %g\" leaves nothing for %s; it must lie "
                          "between 0 and 1",
                          o->kernel_share, o->kernel_share > 0 ? "the sums" : "the kernel");
    if (setup->agents > MOST_AGENTS)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"protocol.kernel: learned\" has everybody hear everybody: at most %d "
                          "agents, not %llu; take a kernel of a public graph",
                          MOST_AGENTS, (unsigned long long)setup->agents);
    if ((uint64_t)o->kernel_neighbours >= setup->agents)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"protocol.kernel-neighbours: %lld\" of %llu agents: nobody has so many "
                          "others; lower it to %llu or less",
                          (long long)o->kernel_neighbours, (unsigned long long)setup->agents,
                          (unsigned long long)(setup->agents > 0 ? setup->agents - 1 : 0));
    return TACIT_OK;
}

tacit_status chorus_kernel_prepare(chorus_shared *s, tacit_error *err)
{
    const tacit_segment word = {"steps", TACIT_I64, s->features};
    const tacit_segment note = {"print", TACIT_I64, 1};
    tacit_status status = tacit_shape_init(&s->word, &word, 1, err);
    if (status == TACIT_OK)
        status = tacit_shape_init(&s->note, &note, 1, err);
    if (status != TACIT_OK)
        return status;
    s->word.any = s->note.any = 1; /* no number is too large: only angles matter */
    return chorus_book_open(s, err);
}

const tacit_shape *chorus_kernel_payload(const chorus_shared *s, tacit_address at)
{
    if (at.channel != 0)
        return NULL;
    return at.kind == CHORUS_WORD                             ? &s->word
           : at.kind == CHORUS_PRINT || at.kind == CHORUS_ASK ? &s->note
                                                              : NULL;
}

/* Words have half of it, prints the other half. */
static double time_for_all(const chorus_shared *s)
{
    return chorus_masked(s) ? 2 * s->options.totals.patience : s->options.period;
}

/* ---- the one word ---- */

static tacit_status release(tacit_env *env, const chorus_shared *s, const chorus_agent *self,
                            tacit_public **out)
{
    tacit_permit *permit;
    tacit_bounded *bounded;
    tacit_status status = tacit_reserve(env, &s->likeness, &permit);
    if (status == TACIT_OK)
        status = tacit_model_gradient(
            tacit_own_model(env), permit, tacit_own_data(env, TACIT_TRAIN), self->prior,
            tacit_cost_clip(&s->likeness), tacit_own_scratch(env), &bounded, tacit_own_error(env));
    return status == TACIT_OK ? tacit_release(env, permit, bounded, out) : status;
}

/* What is released is a mean; in whole steps of its sum it can be hashed, and is never NaN. */
static void fill_word(const tacit_env *env, const chorus_shared *s, const tacit_public *released,
                      tacit_public *word)
{
    const double scale = (double)tacit_facts_of(env)->records / ldexp(1, s->likeness.grid);
    for (size_t k = 0; k < s->features; k++)
        tacit_public_set_int(word, 0, k, llrint(tacit_public_get(released, 0, k) * scale));
}

static tacit_status make_word(tacit_env *env, const chorus_shared *s, const chorus_agent *self,
                              tacit_public *word)
{
    const tacit_facts *facts = tacit_facts_of(env);
    tacit_public *released;
    if (facts->records == 0 || chorus_has_left(s, facts->self, 1))
        return TACIT_OK;
    tacit_status status = release(env, s, self, &released);
    if (status == TACIT_EBUDGET && s->budgets)
        return TACIT_OK;
    if (status == TACIT_OK)
        fill_word(env, s, released, word);
    return status;
}

static tacit_status say_to_all(tacit_env *env, const chorus_shared *s, uint32_t kind,
                               const tacit_public *payload)
{
    const tacit_agent self = tacit_facts_of(env)->self;
    tacit_status status = TACIT_OK;
    for (tacit_agent to = 0; to < s->agents && status == TACIT_OK; to++)
        if (to != self)
            status = tacit_send(env, to, kind, payload);
    return status;
}

/* ---- prints ---- */

/* Tells sets of words apart; who wants two sets of one print can find them, and win nothing by
 * that. Never 0. */
static uint64_t print_of(tacit_env *env, const chorus_shared *s, const chorus_learning *l)
{
    uint64_t print = 0;
    for (size_t k = 0; k < s->agents; k++) {
        uint64_t bits = 1;
        if (l->word[k]) {
            tacit_gist gist;
            tacit_gist_of(env, &gist, l->word[k], 0);
            memcpy(&bits, gist.hash, sizeof bits);
        }
        print = (print ^ bits) * UINT64_C(0x9e3779b97f4a7c15) + k;
        print ^= print >> 32;
    }
    return print ? print : 1;
}

static tacit_status say_note(tacit_env *env, const chorus_shared *s, tacit_agent to, uint32_t kind,
                             uint64_t number)
{
    tacit_public *note = tacit_new_public(env, &s->note);
    if (!note)
        return tacit_out_of_memory(tacit_own_error(env));
    tacit_public_set_int(note, 0, 0, (int64_t)number);
    const tacit_status status =
        to == TACIT_NOBODY ? say_to_all(env, s, kind, note) : tacit_send(env, to, kind, note);
    tacit_drop(env, note);
    return status;
}

static tacit_status compare(tacit_env *env, const chorus_shared *s, chorus_agent *self)
{
    if (self->phase != CHORUS_COMPARING || 2 * chorus_learning_of(s, self)->same <= s->agents)
        return TACIT_OK;
    self->phase = CHORUS_SETTLED;
    return chorus_begin(env, s, self);
}

/* From here on no more words are taken. */
static tacit_status tell_print(tacit_env *env, const chorus_shared *s, chorus_agent *self)
{
    chorus_learning *l = chorus_learning_of(s, self);
    uint64_t *prints = chorus_prints(s, l);
    const uint64_t own = print_of(env, s, l);
    self->phase = CHORUS_COMPARING;
    prints[tacit_facts_of(env)->self] = own;
    l->same = 0;
    for (size_t k = 0; k < s->agents; k++)
        l->same += prints[k] == own;
    const tacit_status status = say_note(env, s, TACIT_NOBODY, CHORUS_PRINT, own);
    return status == TACIT_OK ? compare(env, s, self) : status;
}

/* ---- events ---- */

tacit_status chorus_kernel_start(tacit_env *env, const chorus_shared *s, chorus_agent *self)
{
    chorus_learning *l = chorus_learning_of(s, self);
    tacit_public *word = tacit_new_public(env, &s->word);
    if (!word)
        return tacit_out_of_memory(tacit_own_error(env));
    l->word[tacit_facts_of(env)->self] = word;
    l->words = 1;
    tacit_status status = make_word(env, s, self, word);
    if (status == TACIT_OK)
        status = say_to_all(env, s, CHORUS_WORD, word);
    const double time = time_for_all(s);
    for (int k = 1; k <= ASKS && status == TACIT_OK; k++)
        status = tacit_timer(env, time * k / (ASKS + 1), (uint64_t)k);
    if (status == TACIT_OK)
        status = tacit_timer(env, time / 2, WORDS_OVER);
    return status == TACIT_OK ? tacit_timer(env, time, OVER) : status;
}

/* Messages get lost, and an agent that is back may have forgotten what it heard last. Who said it
 * says it again. */
static tacit_status ask(tacit_env *env, const chorus_shared *s, const chorus_agent *self)
{
    chorus_learning *l = chorus_learning_of(s, self);
    const uint64_t *prints = chorus_prints(s, l);
    tacit_status status = TACIT_OK;
    for (tacit_agent k = 0; k < s->agents && status == TACIT_OK; k++) {
        if (self->phase == CHORUS_GATHERING && !l->word[k])
            status = say_note(env, s, k, CHORUS_ASK, ASK_WORD);
        if (self->phase == CHORUS_COMPARING && prints[k] == 0)
            status = say_note(env, s, k, CHORUS_ASK, ASK_PRINT);
    }
    return status;
}

static tacit_status on_ask(tacit_env *env, const chorus_shared *s, const chorus_agent *self,
                           const tacit_event *event)
{
    chorus_learning *l = chorus_learning_of(s, self);
    const tacit_agent own = tacit_facts_of(env)->self;
    if (tacit_public_get_int(event->payload, 0, 0) == ASK_WORD)
        return l->word[own] ? tacit_send(env, event->from, CHORUS_WORD, l->word[own]) : TACIT_OK;
    const uint64_t print = chorus_prints(s, l)[own];
    return print ? say_note(env, s, event->from, CHORUS_PRINT, print) : TACIT_OK;
}

static tacit_status on_timer(tacit_env *env, const chorus_shared *s, chorus_agent *self,
                             uint64_t id)
{
    if (id <= ASKS)
        return ask(env, s, self);
    if (id == WORDS_OVER)
        return self->phase == CHORUS_GATHERING ? tell_print(env, s, self) : TACIT_OK;
    if (self->phase >= CHORUS_SETTLED)
        return TACIT_OK;
    self->phase = CHORUS_APART;
    return chorus_begin(env, s, self);
}

static tacit_status on_word(tacit_env *env, const chorus_shared *s, chorus_agent *self,
                            const tacit_event *event)
{
    chorus_learning *l = chorus_learning_of(s, self);
    if (self->phase != CHORUS_GATHERING || l->word[event->from])
        return TACIT_OK;
    l->word[event->from] = tacit_keep(event->payload);
    return ++l->words == s->agents ? tell_print(env, s, self) : TACIT_OK;
}

static tacit_status on_print(tacit_env *env, const chorus_shared *s, chorus_agent *self,
                             const tacit_event *event)
{
    chorus_learning *l = chorus_learning_of(s, self);
    uint64_t *prints = chorus_prints(s, l);
    if (prints[event->from] != 0) /* the first one counts: so nobody is in two majorities */
        return TACIT_OK;
    prints[event->from] = (uint64_t)tacit_public_get_int(event->payload, 0, 0);
    if (self->phase == CHORUS_COMPARING)
        l->same += prints[event->from] == prints[tacit_facts_of(env)->self];
    return compare(env, s, self);
}

tacit_status chorus_kernel_feed(tacit_env *env, const chorus_shared *s, chorus_agent *self,
                                const tacit_event *event)
{
    if (event->type == TACIT_TIMER)
        return on_timer(env, s, self, event->id);
    if (!event->payload || event->from >= s->agents)
        return TACIT_OK;
    switch (event->at.kind) {
    case CHORUS_WORD:
        return on_word(env, s, self, event);
    case CHORUS_PRINT:
        return on_print(env, s, self, event);
    case CHORUS_ASK:
        return on_ask(env, s, self, event);
    default:
        return TACIT_OK;
    }
}

/* ---- state ---- */

void chorus_kernel_save(const chorus_shared *s, const chorus_agent *self, tacit_saver *saver)
{
    chorus_learning *l = chorus_learning_of(s, self);
    const uint64_t *prints = chorus_prints(s, l);
    tacit_save_u64(saver, self->phase);
    tacit_save_u64(saver, l->words);
    tacit_save_u64(saver, l->same);
    for (size_t k = 0; k < s->agents; k++)
        tacit_save_u64(saver, prints[k]);
    tacit_view_save(l->word, (uint32_t)s->agents, saver);
}

void chorus_kernel_load(const chorus_shared *s, chorus_agent *self, tacit_loader *loader)
{
    chorus_learning *l = chorus_learning_of(s, self);
    uint64_t *prints = chorus_prints(s, l);
    self->phase = tacit_load_u64(loader);
    l->words = tacit_load_u64(loader);
    l->same = tacit_load_u64(loader);
    for (size_t k = 0; k < s->agents; k++)
        prints[k] = tacit_load_u64(loader);
    tacit_view_load(l->word, (uint32_t)s->agents, loader, &s->word);
}

void chorus_kernel_end(tacit_env *env, const chorus_shared *s, chorus_agent *self)
{
    tacit_view_end(env, chorus_learning_of(s, self)->word, (uint32_t)s->agents);
}
