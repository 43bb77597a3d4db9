/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partners: a random k-out graph, built while running. An agent draws k others, greets each with
 * its open half, signed, and the other answers with its own; both then share a secret. Whom an
 * honest agent chooses nobody else decides: that is all the guarantee needs (gopa.h,
 * tacit_gopa_split_risk). So who does not answer is asked again, and not replaced: by silence, or
 * by filling an agent's room so that it cannot answer, others could bend the choice.
 *
 * Both ends must use an edge in the same tries, or the pair's mask stays in the sum. The one who
 * chose says from which try on (USE): from the first, if that is still to come, and then waits for
 * half of its patience before it begins; or from the round after the next. Should a USE be later
 * than that, adders notice before anything is opened (totals_adder.c), and the try fails.
 *
 * The first key of an agent stays for the run.
 */
#include "protocol/totals_inside.h"

enum { HELLO, WELCOME, USE };

static const char domain[] = "tacit total key 1";
enum { TEXT = sizeof domain + 8 + 2 * TACIT_MASK_KEY };

static void text_of(const totals_at *a, tacit_agent agent, const uint8_t open[TACIT_MASK_KEY],
                    uint8_t text[TEXT])
{
    memcpy(text, domain, sizeof domain);
    for (int k = 0; k < 8; k++)
        text[sizeof domain + k] = (uint8_t)((uint64_t)agent >> 8 * k);
    memcpy(text + sizeof domain + 8, a->plan->terms, TACIT_MASK_KEY);
    memcpy(text + sizeof domain + 8 + TACIT_MASK_KEY, open, TACIT_MASK_KEY);
}

totals_partner *totals_find(const tacit_totals *s, tacit_agent agent)
{
    for (uint32_t k = 0; k < s->partners; k++)
        if (s->partner[k].agent == agent)
            return (totals_partner *)(uintptr_t)&s->partner[k];
    return NULL;
}

static totals_partner *add(totals_at *a, tacit_agent agent)
{
    tacit_totals *s = a->s;
    if (s->partners == a->plan->room)
        return NULL;
    totals_partner *p = &s->partner[s->partners++];
    memset(p, 0, sizeof *p);
    p->agent = (uint32_t)agent;
    return p;
}

static uint32_t agreed_of_chosen(const tacit_totals *s)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < s->partners; k++)
        count += s->partner[k].chosen && s->partner[k].agreed;
    return count;
}

/* ---- greeting ---- */

static tacit_status greet(totals_at *a, tacit_agent to, int64_t flag, uint64_t trial)
{
    tacit_status status;
    tacit_public *v = totals_new(a, TOTALS_HELLO, &status);
    if (status != TACIT_OK)
        return status;
    tacit_public_set_int(v, 0, 0, flag);
    tacit_public_set_int(v, 0, 1, (int64_t)trial);
    totals_put(v, 1, 0, a->s->keys.open, TACIT_MASK_KEY);
    totals_put(v, 2, 0, a->s->signature, TACIT_SIGNATURE);
    return totals_send(a, to, TOTALS_HELLO, v);
}

/* Draw k of draw number `draw` is one of the others, all equally likely (64 bits: the bias is below
 * 2^-32). */
static tacit_agent draw(totals_at *a)
{
    uint64_t word;
    const tacit_agent self = tacit_facts_of(&a->env)->self;
    tacit_draw(&a->env, TOTALS_DRAW_PARTNER(a->s->hello++), &word, sizeof word);
    const uint64_t other = word % (a->plan->agents - 1);
    return other < self ? other : other + 1;
}

/* All others, when there are no more than that. */
static tacit_status choose_all(totals_at *a)
{
    tacit_status status = TACIT_OK;
    const tacit_agent self = tacit_facts_of(&a->env)->self;
    for (uint64_t u = 0; u < a->plan->agents && status == TACIT_OK; u++) {
        if (u == self)
            continue;
        totals_partner *p = totals_find(a->s, u);
        if (!p)
            p = add(a, u);
        if (!p)
            return TACIT_OK;
        p->chosen = true;
        status = greet(a, u, HELLO, 0);
    }
    return status;
}

tacit_status totals_choose(totals_at *a)
{
    tacit_totals *s = a->s;
    tacit_status status = TACIT_OK;
    if (a->plan->partners + 1 == a->plan->agents)
        return choose_all(a);
    while (status == TACIT_OK && s->partners < a->plan->partners) { /* nobody else is there yet */
        const tacit_agent other = draw(a);
        if (totals_find(s, other))
            continue;
        totals_partner *p = add(a, other);
        p->chosen = true;
        status = greet(a, other, HELLO, 0);
    }
    return status;
}

/* Whoever did not answer may have come later. */
tacit_status totals_on_hello_late(totals_at *a)
{
    tacit_totals *s = a->s;
    tacit_status status = TACIT_OK;
    for (uint32_t k = 0; k < s->partners && status == TACIT_OK; k++)
        if (s->partner[k].chosen && !s->partner[k].agreed)
            status = greet(a, s->partner[k].agent, HELLO, 0);
    return status;
}

/* What binds secrets to this run and these terms. */
static tacit_mask_place place_of(const totals_at *a, tacit_agent receiver)
{
    tacit_mask_place place = {.receiver = receiver};
    memcpy(place.run, tacit_facts_of(&a->env)->run, TACIT_MASK_RUN);
    memcpy(place.set, a->plan->terms, TACIT_MASK_KEY);
    return place;
}

/* A pair's secret knows both names: whoever passes off another's open half as its own shares
 * nothing with anybody. Keys of tries come from it alone (totals_key_source). */
static tacit_status agree(totals_at *a, totals_partner *p, tacit_agent from, const tacit_public *v)
{
    uint8_t open[TACIT_MASK_KEY], signature[TACIT_SIGNATURE], text[TEXT], shared[TACIT_MASK_KEY];
    totals_get(v, 1, 0, open, sizeof open);
    totals_get(v, 2, 0, signature, sizeof signature);
    text_of(a, from, open, text);
    if (tacit_verify(&a->env, from, text, sizeof text, signature) != TACIT_OK ||
        tacit_mask_agree(shared, &a->s->keys, open, NULL) != TACIT_OK)
        return TACIT_NO;
    const tacit_mask_place place = place_of(a, TACIT_NOBODY);
    tacit_mask_derive(p->shared, shared, &place, tacit_facts_of(&a->env)->self, from);
    tacit_mask_wipe(shared, sizeof shared);
    p->agreed = true;
    return TACIT_OK;
}

/* The edge is there: from which try on? */
static tacit_status use(totals_at *a, totals_partner *p)
{
    tacit_totals *s = a->s;
    const bool early = s->round == 0 || (s->phase == TOTALS_EDGES && s->tries == 0);
    p->told = TOTALS_TRY(early ? UINT64_C(1) : s->round + 2, 0);
    tacit_status status = greet(a, p->agent, USE, p->told);
    if (status == TACIT_OK && early && s->round > 0 && totals_edges_ready(a))
        status = totals_timer(a, TOTALS_CLOCK_AGAIN, TOTALS_TRY(s->round, s->attempt), 0,
                              a->plan->patience / 2);
    return status;
}

/* Greetings may have got lost: they are said again, and the other end takes the first that comes.
 */
tacit_status totals_greet_again(totals_at *a)
{
    const tacit_totals *s = a->s;
    tacit_status status = TACIT_OK;
    for (uint32_t k = 0; k < s->partners && status == TACIT_OK; k++)
        if (s->partner[k].chosen)
            status = greet(a, s->partner[k].agent, s->partner[k].told > 0 ? USE : HELLO,
                           s->partner[k].told);
    return status;
}

tacit_status totals_on_hello(totals_at *a, tacit_agent from, const tacit_public *v)
{
    const uint64_t flag = totals_head(v, 0);
    totals_partner *p = totals_find(a->s, from);
    if (!a->s->keyed || flag > USE || from >= a->plan->agents)
        return TACIT_OK;
    if (flag == USE) {
        if (p && p->agreed && p->chose && p->settled == 0)
            p->settled = totals_head(v, 1);
        return TACIT_OK;
    }
    if (!p && flag == HELLO)
        p = add(a, from);
    if (!p || (!p->agreed && agree(a, p, from, v) != TACIT_OK)) {
        if (p && !p->chosen && !p->agreed)
            *p = a->s->partner[--a->s->partners]; /* a forgery leaves no trace */
        return TACIT_OK;
    }
    if (flag == WELCOME)
        return p->chosen && p->told == 0 ? use(a, p) : TACIT_OK;
    p->chose = true;
    return greet(a, from, WELCOME, 0);
}

bool totals_edges_ready(const totals_at *a)
{
    return agreed_of_chosen(a->s) >= a->plan->partners;
}

tacit_status tacit_totals_start(tacit_env *env, const tacit_totals_plan *plan, tacit_totals *s)
{
    totals_at a = {.outer = env, .env = tacit_nest(env, plan->child), .plan = plan, .s = s};
    uint8_t seed[2 * TACIT_MASK_KEY], text[TEXT];
    tacit_draw(&a.env, TOTALS_DRAW_KEYS, seed, sizeof seed);
    tacit_mask_keys_make(&s->keys, seed);
    const tacit_mask_place place = place_of(&a, tacit_facts_of(env)->self);
    tacit_mask_own(s->secret, seed + TACIT_MASK_KEY, &place, 0, 0);
    tacit_mask_wipe(seed, sizeof seed);
    s->keyed = true;
    text_of(&a, tacit_facts_of(env)->self, s->keys.open, text);
    tacit_status status = tacit_sign(&a.env, text, sizeof text, s->signature);
    if (status == TACIT_OK)
        status = totals_choose(&a);
    return status == TACIT_OK ? totals_timer(&a, TOTALS_CLOCK_HELLO, 0, 0, plan->patience) : status;
}

/* ---- keys of one try: ChaCha20 blocks of a secret of the run, numbered by the try ---- */

enum { PAIR_KEY, PAD_OF_LOWER, PAD_OF_HIGHER };

tacit_mask_source totals_key_source(const totals_partner *p)
{
    return (tacit_mask_source){p->shared, PAIR_KEY};
}

tacit_mask_source totals_pad_source(const totals_at *a, const totals_partner *p, bool own)
{
    const bool lower = tacit_facts_of(&a->env)->self < p->agent;
    return (tacit_mask_source){p->shared, lower == own ? PAD_OF_LOWER : PAD_OF_HIGHER};
}

static void one_key(uint8_t key[TACIT_MASK_KEY], tacit_mask_source from, uint64_t trial)
{
    tacit_mask_expand(key, TACIT_MASK_KEY, &from, 1, trial);
}

void totals_pair_key(const totals_partner *p, uint64_t trial, uint8_t key[TACIT_MASK_KEY])
{
    one_key(key, totals_key_source(p), trial);
}

void totals_pad_key(const totals_at *a, const totals_partner *p, uint64_t trial,
                    uint8_t key[TACIT_MASK_KEY])
{
    one_key(key, totals_pad_source(a, p, false), trial);
}

void totals_renew_secret(totals_at *a, uint64_t trial)
{
    uint8_t fresh[TACIT_MASK_KEY];
    tacit_draw(&a->env, TOTALS_DRAW_SECRET(trial), fresh, sizeof fresh);
    for (size_t b = 0; b < sizeof fresh; b++)
        a->s->secret[b] ^= fresh[b];
    tacit_mask_wipe(fresh, sizeof fresh);
}

/* Own secrets of a try: label 0 is the seed, the others are coins for its shares. */
void totals_seed(const totals_at *a, uint64_t trial, uint8_t seed[TACIT_MASK_KEY])
{
    one_key(seed, (tacit_mask_source){a->s->secret, 0}, trial);
}

void totals_coins(const totals_at *a, uint64_t trial, uint8_t (*coins)[TACIT_MASK_KEY],
                  size_t count)
{
    enum { SOME = 16 };
    for (size_t at = 0; at < count; at += SOME) {
        const size_t now = count - at < SOME ? count - at : SOME;
        tacit_mask_source from[SOME];
        for (size_t k = 0; k < now; k++)
            from[k] = (tacit_mask_source){a->s->secret, (uint32_t)(at + k) + 1};
        tacit_mask_expand(coins[at], TACIT_MASK_KEY, from, now, trial);
    }
}
