/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums over all agents among some that lie. In the first part the speaker of the first try, who is
 * its only adder as well, is played by the test: it holds right keys, and tries to learn more than
 * one sum. The bench itself watches what honest agents say (totals_bench.h). Lies without a plan
 * are in totals_storm_test.c.
 */
#include "testing.h"
#include "totals_bench.h"

enum { SIZE = 7 };
#define TRIAL TOTALS_TRY(UINT64_C(1), 0)

static const tacit_totals_plan plan = {.quorum = 0.7,
                                       .colluders = 1,
                                       .absent = 0.3,
                                       .least = 4,
                                       .patience = 8,
                                       .tries = 4,
                                       .rounds = 1000,
                                       .child = 2};

static bench *fresh(const tacit_totals_plan *of)
{
    bench *b = malloc(sizeof *b);
    assert_non_null(b);
    bench_init(b, SIZE, of);
    return b;
}

static void done(bench *b)
{
    bench_clear(b);
    free(b);
}

/* ---- a speaker that the test plays ---- */

typedef struct scene {
    bench *b;
    uint32_t liar;
    uint32_t all; /* bits by agent */
} scene;

static void flow(const scene *s)
{
    assert_int_equal(bench_settle(s->b, s->liar), TACIT_OK);
}

/* Everybody has greeted everybody and says HERE for the first try. */
static scene open_scene(const tacit_totals_plan *of)
{
    scene s = {.b = fresh(of), .all = (1 << SIZE) - 1};
    tacit_status status = TACIT_OK;
    s.liar = bench_speaker(s.b, TRIAL);
    s.b->agent[s.liar].liar = true;
    for (uint32_t k = 0; k < SIZE; k++)
        assert_int_equal(bench_start(s.b, k), TACIT_OK);
    for (int turn = 0; turn < 200; turn++) {
        bool ready = true;
        flow(&s);
        for (uint32_t k = 0; k < SIZE; k++)
            ready &= k == s.liar || s.b->agent[k].totals->phase == TOTALS_ROLL;
        if (ready)
            return s;
        assert_true(bench_ring(s.b, &status));
        assert_int_equal(status, TACIT_OK);
    }
    fail();
    return s;
}

static tacit_public *set_of(const scene *s, uint32_t step, bool last, uint32_t members,
                            uint64_t beyond)
{
    tacit_public *v = bench_blank(s->b, TOTALS_SET);
    uint64_t bits = beyond;
    for (uint32_t k = 0; k < SIZE; k++)
        if (members >> k & 1)
            bits |= UINT64_C(1) << bench_position(s->b, TRIAL, k);
    tacit_public_set_int(v, 0, 0, (int64_t)TRIAL);
    tacit_public_set_int(v, 0, 1, step);
    tacit_public_set_int(v, 0, 2, last);
    tacit_public_set_int(v, 1, 0, (int64_t)bits);
    return v;
}

static void say_set(const scene *s, uint32_t to, uint32_t step, bool last, uint32_t members)
{
    assert_int_equal(bench_forge(s->b, s->liar, to, TOTALS_SET, set_of(s, step, last, members, 0)),
                     TACIT_OK);
}

/* To all honest agents. */
static void announce(const scene *s, uint32_t step, bool last, uint32_t members)
{
    for (uint32_t k = 0; k < SIZE; k++)
        if (k != s->liar)
            say_set(s, k, step, last, members);
    flow(s);
}

static void ask(const scene *s, uint32_t whom, uint64_t whose)
{
    tacit_public *v = bench_blank(s->b, TOTALS_ASK);
    tacit_public_set_int(v, 0, 0, (int64_t)TRIAL);
    tacit_public_set_int(v, 0, 1, (int64_t)whose);
    assert_int_equal(bench_forge(s->b, s->liar, whom, TOTALS_ASK, v), TACIT_OK);
}

/* How many messages of a kind lie there for the liar. */
static uint32_t got(const scene *s, uint32_t kind)
{
    uint32_t count = 0;
    for (size_t k = 0; k < s->b->messages; k++)
        count += s->b->message[k].to == s->liar && s->b->message[k].kind == kind;
    return count;
}

static uint32_t other(const scene *s, uint32_t number)
{
    return (s->liar + 1 + number) % SIZE;
}

static uint32_t bit(uint32_t agent)
{
    return UINT32_C(1) << agent;
}

/* A try as it should be, to see that the others below fail for their own reasons. */
static void test_honest_speaker(void **state)
{
    (void)state;
    const scene s = open_scene(&plan);
    assert_int_equal(got(&s, TOTALS_HERE), SIZE - 1);
    announce(&s, 0, false, s.all);
    assert_int_equal(got(&s, TOTALS_WORD), SIZE - 1);
    ask(&s, other(&s, 0), other(&s, 1));
    assert_int_equal(got(&s, TOTALS_PAD), 0); /* it has not confirmed anything */
    for (uint32_t k = 0; k < SIZE; k++)
        bench_reload(s.b, k); /* which changes nothing */
    announce(&s, 1, true, s.all);
    assert_int_equal(got(&s, TOTALS_SEED), SIZE - 1);
    for (uint32_t k = 0; k < SIZE; k++)
        assert_int_equal(s.b->agent[k].holds, k != s.liar);
    ask(&s, other(&s, 0), other(&s, 1));
    assert_int_equal(got(&s, TOTALS_PAD), 1);
    done(s.b);
}

/* Somebody is missing: paid for, and then a sum without it. */
static void test_honest_roll_back(void **state)
{
    (void)state;
    const scene s = open_scene(&plan);
    const uint32_t rest = s.all & ~bit(other(&s, 2));
    announce(&s, 0, false, s.all);
    announce(&s, 1, false, rest);
    assert_int_equal(got(&s, TOTALS_PAID), SIZE - 2);
    announce(&s, 2, true, rest);
    assert_int_equal(got(&s, TOTALS_SEED),
                     0); /* with the liar silent it is one short of a quorum */
    for (uint32_t k = 0; k + 1 < SIZE; k++)
        ask(&s, other(&s, k), other(&s, 2));
    assert_int_equal(got(&s, TOTALS_PAD), 0); /* its pair keys were told */
    done(s.b);
}

/* With all who stay behind it a smaller sum comes out. Another last set is not answered. */
static void test_two_last_sets(void **state)
{
    (void)state;
    tacit_totals_plan patient = plan;
    patient.absent = 0.4;
    patient.quorum = 0.55;
    for (int early = 0; early < 2; early++) {
        const scene s = open_scene(&patient);
        const uint32_t rest = s.all & ~bit(other(&s, 2));
        announce(&s, 0, false, s.all);
        for (uint32_t k = 0; k + 1 < SIZE; k++)
            say_set(&s, other(&s, k), 1, true, rest);
        if (!early) /* after seeds, or before */
            flow(&s);
        announce(&s, 2, true, rest & ~bit(other(&s, 4)));
        assert_int_equal(got(&s, TOTALS_SEED), SIZE - 2);
        done(s.b);
    }
}

/* A quorum is there, but not as many as noise was made for. */
static void test_fewer_than_planned(void **state)
{
    (void)state;
    tacit_totals_plan strict = plan;
    strict.absent = 0;
    strict.quorum = 0.55;
    strict.colluders = 0;
    const scene s = open_scene(&strict);
    const uint32_t rest = s.all & ~bit(other(&s, 2));
    announce(&s, 0, false, s.all);
    announce(&s, 1, false, rest);
    assert_int_equal(got(&s, TOTALS_PAID), 0);
    announce(&s, 2, true, rest);
    assert_int_equal(got(&s, TOTALS_SEED), 0);
    done(s.b);
}

/* Each half is told that the last set is another one, whatever the two sets are. */
static void test_two_faces(void **state)
{
    (void)state;
    for (uint32_t half = 1; half < 1 << (SIZE - 1); half += 3) {
        const scene s = open_scene(&plan);
        announce(&s, 0, false, s.all);
        for (uint32_t k = 0; k + 1 < SIZE; k++)
            say_set(&s, other(&s, k), 1, true,
                    s.all & ~bit(other(&s, half >> k & 1 ? half % 5 : (half + 2) % 6)));
        flow(&s);
        for (uint32_t k = 0; k + 1 < SIZE; k++) /* and then the other way round */
            say_set(&s, other(&s, k), 2, true, s.all);
        flow(&s);
        for (uint32_t k = 0; k + 1 < SIZE; k++)
            for (uint32_t j = 0; j < SIZE; j++)
                ask(&s, other(&s, k), j);
        done(s.b);
    }
}

/* Half of them: nobody answers about so few. */
static void test_few(void **state)
{
    (void)state;
    const scene s = open_scene(&plan);
    announce(&s, 0, false, s.all);
    const uint32_t three = bit(other(&s, 0)) | bit(other(&s, 1)) | bit(other(&s, 2));
    announce(&s, 1, false, three);
    assert_int_equal(got(&s, TOTALS_PAID), 0);
    announce(&s, 2, true, three);
    assert_int_equal(got(&s, TOTALS_SEED), 0);
    done(s.b);
}

/* First its pair keys, then it is said to have come back, and its pads are asked for. */
static void test_key_and_pad(void **state)
{
    (void)state;
    const scene s = open_scene(&plan);
    const uint32_t victim = other(&s, 3);
    announce(&s, 0, false, s.all);
    for (uint32_t k = 0; k + 1 < SIZE; k++)
        say_set(&s, other(&s, k), 1, false, other(&s, k) == victim ? s.all : s.all & ~bit(victim));
    flow(&s);
    assert_true(got(&s, TOTALS_PAID) >= SIZE - 2);
    announce(&s, 2, true, s.all);
    for (uint32_t k = 0; k + 1 < SIZE; k++)
        ask(&s, other(&s, k), victim);
    assert_int_equal(got(&s, TOTALS_SEED), 0);
    for (size_t k = 0; k < s.b->messages; k++)
        if (s.b->message[k].kind == TOTALS_PAD)
            assert_int_not_equal(totals_head(s.b->message[k].payload, 1), victim);
    done(s.b);
}

/* The victim pays for some, and does not hear of the last set; the others, who are told that it is
 * still there, are asked for its seed. */
static void test_paid_and_opened(void **state)
{
    (void)state;
    for (uint32_t gone = 1; gone < 1 << (SIZE - 1); gone++) {
        const scene s = open_scene(&plan);
        const uint32_t victim = other(&s, 3);
        uint32_t out = 0;
        for (uint32_t k = 0; k + 1 < SIZE; k++)
            out |= gone >> k & 1 ? bit(other(&s, k)) : 0;
        announce(&s, 0, false, s.all);
        say_set(&s, victim, 1, false, s.all & ~(out & ~bit(victim)));
        for (uint32_t k = 0; k + 1 < SIZE; k++)
            if (other(&s, k) != victim)
                say_set(&s, other(&s, k), 1, true, s.all);
        flow(&s);
        for (uint32_t k = 0; k + 1 < SIZE; k++)
            ask(&s, other(&s, k), victim);
        done(s.b);
    }
}

/* More of those it chose are said to be gone than was planned: it tells no keys at all. */
static void test_too_many_lost(void **state)
{
    (void)state;
    tacit_totals_plan patient = plan;
    patient.quorum = 0.55;
    for (uint32_t gone = 1; gone <= 2; gone++) {
        const scene s = open_scene(&patient);
        s.b->plan.losses = 1;
        announce(&s, 0, false, s.all);
        say_set(&s, other(&s, 0), 1, false,
                s.all & ~bit(other(&s, 1)) & ~(gone == 2 ? bit(other(&s, 2)) : 0));
        assert_int_equal(got(&s, TOTALS_PAID), gone == 1);
        done(s.b);
    }
}

/* Somebody who never came is said to be there all the time: no share of the noise is left to it. */
static void test_shares_of_nobody(void **state)
{
    (void)state;
    tacit_totals_plan strict = plan;
    strict.absent = 0;
    const scene s = open_scene(&strict);
    const uint32_t nobody = other(&s, 2);
    for (uint32_t k = 0; k < SIZE; k++)
        if (k != s.liar && k != nobody)
            say_set(&s, k, 0, false, s.all);
    flow(&s);
    assert_int_equal(got(&s, TOTALS_WORD), SIZE - 2);
    for (uint32_t k = 0; k < SIZE; k++)
        if (k != s.liar && k != nobody)
            say_set(&s, k, 1, true, s.all);
    for (uint32_t k = 0; k + 1 < SIZE; k++) { /* and the liar agrees with all of them */
        tacit_public *v = bench_blank(s.b, TOTALS_CONFIRM);
        tacit_public_set_int(v, 0, 0, (int64_t)TRIAL);
        totals_put(v, 1, 0, s.b->agent[other(&s, 0)].totals->member.hash, TACIT_MASK_KEY);
        assert_int_equal(bench_forge(s.b, s.liar, other(&s, k), TOTALS_CONFIRM, v), TACIT_OK);
    }
    flow(&s);
    assert_int_equal(got(&s, TOTALS_SEED), SIZE - 2);
    assert_int_equal(s.b->agent[other(&s, 0)].parts, SIZE - 2);
    done(s.b);
}

/* One after the other leaves and comes back: each set is large enough, all together are not. */
static void test_taking_turns(void **state)
{
    (void)state;
    tacit_totals_plan patient = plan;
    patient.absent = 0.4;
    patient.quorum = 0.55;
    const scene s = open_scene(&patient);
    announce(&s, 0, false, s.all);
    for (uint32_t step = 1; step < 6; step++)
        announce(&s, step, false, s.all & ~bit(other(&s, step)));
    announce(&s, 6, true, s.all);
    for (uint32_t k = 0; k + 1 < SIZE; k++) {
        const totals_member *m = &s.b->agent[other(&s, k)].totals->member;
        assert_true(m->count < SIZE); /* nobody came back */
        for (uint32_t j = 0; j < SIZE; j++)
            ask(&s, other(&s, k), j);
    }
    assert_int_equal(got(&s, TOTALS_SEED), 0);
    done(s.b);
}

/* Agents that do not exist make a set look larger: noise would be shared among them too. */
static void test_bits_beyond(void **state)
{
    (void)state;
    scene s = open_scene(&plan);
    for (uint32_t k = 0; k + 1 < SIZE; k++)
        assert_int_equal(bench_forge(s.b, s.liar, other(&s, k), TOTALS_SET,
                                     set_of(&s, 0, false, s.all, UINT64_MAX << SIZE)),
                         TACIT_OK);
    flow(&s);
    assert_int_equal(got(&s, TOTALS_WORD), 0);
    for (uint32_t k = 0; k < SIZE; k++)
        assert_int_equal(s.b->agent[k].holds, 0);
    done(s.b);
    s = open_scene(&plan);
    announce(&s, 0, false, s.all);
    for (uint32_t k = 0; k + 1 < SIZE; k++)
        bench_forge(s.b, s.liar, other(&s, k), TOTALS_SET,
                    set_of(&s, 1, true, s.all, UINT64_C(7) << SIZE));
    flow(&s);
    assert_int_equal(got(&s, TOTALS_SEED), 0);
    done(s.b);
}

/* "Too few were there", when it is too late to say so: words are spent, or the round is over. */
static void test_late_refusal(void **state)
{
    (void)state;
    const scene s = open_scene(&plan);
    const uint32_t one = other(&s, 0);
    announce(&s, 0, false, s.all);
    tacit_public *v = set_of(&s, 0, false, s.all, 0);
    tacit_public_set_int(v, 0, 3, TOTALS_TOO_FEW);
    assert_int_equal(bench_forge(s.b, s.liar, one, TOTALS_SET, v), TACIT_OK);
    assert_int_equal(s.b->agent[one].totals->phase, TOTALS_WORDED);
    announce(&s, 1, true, s.all);
    s.b->agent[one].rounds = 1;
    v = bench_blank(s.b, TOTALS_RESULT);
    tacit_public_set_int(v, 0, 0, (int64_t)TRIAL);
    tacit_public_set_int(v, 0, 1, TOTALS_DONE);
    tacit_public_set_int(v, 0, 2, SIZE);
    assert_int_equal(bench_forge(s.b, s.liar, one, TOTALS_RESULT, v), TACIT_OK);
    assert_int_equal(s.b->agent[one].totals->phase, TOTALS_IDLE);
    v = set_of(&s, 0, false, s.all, 0);
    tacit_public_set_int(v, 0, 3, TOTALS_TOO_FEW);
    assert_int_equal(bench_forge(s.b, s.liar, one, TOTALS_SET, v), TACIT_OK);
    assert_int_equal(s.b->agent[one].totals->phase, TOTALS_IDLE); /* it has done its rounds */
    done(s.b);
}

/* A set with somebody in it who never spoke, for an honest adder of another block. */
static void test_phantom(void **state)
{
    (void)state;
    tacit_totals_plan blocks = plan;
    blocks.span = 4;
    const scene s = open_scene(&blocks);
    assert_int_equal(s.b->plan.blocks, 2);
    const totals_roles roles = bench_roles(s.b, TRIAL);
    const uint32_t adder = (uint32_t)totals_agent_at(&roles, 1);
    const uint32_t quiet = (uint32_t)totals_agent_at(&roles, 3); /* of its block */
    tacit_status status = TACIT_OK;
    say_set(&s, adder, 0, false, s.all & ~bit(quiet));
    flow(&s);
    say_set(&s, adder, 1, false, s.all & ~bit(quiet));
    flow(&s);
    say_set(&s, adder, 2, false, s.all);
    say_set(&s, adder, 2, true, s.all);
    for (int turn = 0; turn < 40; turn++) {
        flow(&s);
        say_set(&s, adder, 1 + (uint32_t)turn % 4, turn % 2, s.all);
        if (!bench_ring(s.b, &status))
            break;
        assert_int_equal(status, TACIT_OK);
    }
    done(s.b);
}

/* Nobody but adder and speaker says what the set is, nor what came out. */
static void test_not_its_turn(void **state)
{
    (void)state;
    const scene s = open_scene(&plan);
    const uint32_t one = other(&s, 0), two = other(&s, 1);
    assert_int_equal(bench_forge(s.b, two, one, TOTALS_SET, set_of(&s, 0, false, s.all, 0)),
                     TACIT_OK);
    assert_int_equal(s.b->agent[one].totals->phase, TOTALS_ROLL);
    tacit_public *v = bench_blank(s.b, TOTALS_RESULT);
    tacit_public_set_int(v, 0, 0, (int64_t)TRIAL);
    tacit_public_set_int(v, 0, 1, TOTALS_DONE);
    tacit_public_set_int(v, 0, 2, SIZE);
    assert_int_equal(bench_forge(s.b, two, one, TOTALS_RESULT, v), TACIT_OK);
    assert_int_equal(s.b->agent[one].over, 0);
    done(s.b);
}

/* ---- a speaker with a false result ---- */

static tacit_public *false_result(const scene *s, uint64_t trial, totals_what what)
{
    tacit_public *v = bench_blank(s->b, TOTALS_RESULT);
    tacit_public_set_int(v, 0, 0, (int64_t)trial);
    tacit_public_set_int(v, 0, 1, what);
    tacit_public_set_int(v, 0, 2, SIZE);
    tacit_public_set_int(v, 0, 3, (int64_t)TRIAL - 1); /* "you have missed some" */
    return v;
}

/* Whatever it says of the search: quorums stay, nobody is expelled, and states can be saved. */
static void test_false_search(void **state)
{
    (void)state;
    static const int64_t lies[][6] = {{0, 0, 60, 0, 0, 1},  {0, -1, 2, 7, 9, 1},
                                      {-1, 0, 3, 3, 0, 1},  {0, 0, 63, 7, -1, 1},
                                      {0, 0, -1, -1, 0, 1}, {1, 2, 1, 8, 0, 1}};
    for (size_t n = 0; n < sizeof lies / sizeof *lies; n++)
        for (int missed = 0; missed < 2; missed++) {
            const scene s = open_scene(&plan);
            for (uint32_t k = 0; k + 1 < SIZE; k++) {
                tacit_totals *t = s.b->agent[other(&s, k)].totals;
                s.b->agent[other(&s, k)].rounds = 3;
                t->missed = missed;
                tacit_public *v = false_result(&s, TRIAL, TOTALS_DONE);
                for (size_t j = 0; j < 6; j++)
                    tacit_public_set_int(v, 3, j, lies[n][j]);
                assert_int_equal(bench_forge(s.b, s.liar, other(&s, k), TOTALS_RESULT, v),
                                 TACIT_OK);
                bench_reload(s.b, other(&s, k));
            }
            tacit_status status = TACIT_OK;
            for (int turn = 0; turn < 200 && status == TACIT_OK; turn++) {
                flow(&s);
                if (!bench_ring(s.b, &status))
                    break;
            }
            assert_int_equal(status, TACIT_OK);
            for (uint32_t k = 0; k + 1 < SIZE; k++) {
                tacit_totals *t = s.b->agent[other(&s, k)].totals;
                assert_int_equal(t->search.expelled, 0);
                assert_true(t->member.threshold == 0 || t->member.threshold == s.b->plan.threshold);
            }
            done(s.b);
        }
}

/* A result of the last round of all, in the first: one alone is not believed. */
static void test_end_of_the_world(void **state)
{
    (void)state;
    const scene s = open_scene(&plan);
    for (uint32_t k = 0; k + 1 < SIZE; k++)
        assert_int_equal(
            bench_forge(s.b, s.liar, other(&s, k), TOTALS_RESULT,
                        false_result(&s, TOTALS_TRY(UINT64_C(1000), UINT64_C(0)), TOTALS_DONE)),
            TACIT_OK);
    for (uint32_t k = 0; k + 1 < SIZE; k++)
        assert_int_equal(s.b->agent[other(&s, k)].totals->round, 1);
    done(s.b);
}

/* An adder that has done its duty is told of another set, and given a word. */
static void test_adder_at_rest(void **state)
{
    (void)state;
    tacit_totals_plan blocks = plan;
    blocks.span = 4;
    const scene s = open_scene(&blocks);
    const totals_roles roles = bench_roles(s.b, TRIAL);
    const uint32_t adder = (uint32_t)totals_agent_at(&roles, 1);
    assert_int_equal(
        bench_forge(s.b, s.liar, adder, TOTALS_RESULT, false_result(&s, TRIAL, TOTALS_FAILED)),
        TACIT_OK);
    say_set(&s, adder, 0, false, s.all);
    tacit_public *v = bench_blank(s.b, TOTALS_WORD);
    const int64_t head[4] = {(int64_t)TRIAL, 1, 1, 1};
    for (size_t k = 0; k < 4; k++)
        tacit_public_set_int(v, 0, k, head[k]);
    tacit_public_set_int(v, 4, 0, (int64_t)adder << 1 | 1);
    assert_int_equal(bench_forge(s.b, s.liar, adder, TOTALS_WORD, v), TACIT_OK);
    assert_true(s.b->agent[adder].totals->adder.pending <= SIZE);
    bench_reload(s.b, adder);
    done(s.b);
}

/* ---- keys ---- */

static uint32_t agreed(const bench *b, uint32_t one, uint32_t two)
{
    const totals_partner *p = totals_find(b->agent[one].totals, two);
    return p && p->agreed;
}

static tacit_public *hello_of(bench *b, uint32_t whose, int64_t flag)
{
    const tacit_totals *s = b->agent[whose].totals;
    tacit_public *v = bench_blank(b, TOTALS_HELLO);
    tacit_public_set_int(v, 0, 0, flag);
    totals_put(v, 1, 0, s->keys.open, TACIT_MASK_KEY);
    totals_put(v, 2, 0, s->signature, TACIT_SIGNATURE);
    return v;
}

static void test_forged_greetings(void **state)
{
    (void)state;
    bench *b = fresh(&plan);
    for (uint32_t k = 0; k < SIZE; k++)
        assert_int_equal(bench_start(b, k), TACIT_OK);
    assert_int_equal(bench_forge(b, 1, 0, TOTALS_HELLO, hello_of(b, 2, 0)), TACIT_OK);
    assert_false(agreed(b, 0, 1)); /* another's key */
    tacit_public *v = hello_of(b, 1, 0);
    tacit_public_set_int(v, 2, 3, tacit_public_get_int(v, 2, 3) ^ 1);
    assert_int_equal(bench_forge(b, 1, 0, TOTALS_HELLO, v), TACIT_OK);
    assert_false(agreed(b, 0, 1));
    v = hello_of(b, 1, 0);
    tacit_public_set_int(v, 1, 0, tacit_public_get_int(v, 1, 0) ^ 1);
    assert_int_equal(bench_forge(b, 1, 0, TOTALS_HELLO, v), TACIT_OK);
    assert_false(agreed(b, 0, 1));
    assert_int_equal(bench_forge(b, 1, 0, TOTALS_HELLO, hello_of(b, 1, 0)), TACIT_OK);
    assert_true(agreed(b, 0, 1));
    uint8_t before[TACIT_MASK_KEY]; /* the first key stays */
    memcpy(before, totals_find(b->agent[0].totals, 1)->shared, sizeof before);
    const uint8_t seed[TACIT_MASK_KEY] = {7};
    tacit_mask_keys_make(&b->agent[1].totals->keys, seed);
    assert_int_equal(bench_forge(b, 1, 0, TOTALS_HELLO, hello_of(b, 1, 0)), TACIT_OK);
    assert_memory_equal(before, totals_find(b->agent[0].totals, 1)->shared, sizeof before);
    done(b);
}

/* One end of an edge does not use it: nothing is opened. */
static void test_one_end(void **state)
{
    (void)state;
    bench *b = fresh(&plan);
    tacit_status status = TACIT_OK;
    b->honest = true;
    for (uint32_t k = 0; k < SIZE; k++) {
        b->agent[k].rounds = 1;
        assert_int_equal(bench_start(b, k), TACIT_OK);
    }
    for (int turn = 0; turn < 500 && status == TACIT_OK; turn++) {
        status = bench_settle(b, UINT32_MAX);
        totals_partner *p = totals_find(b->agent[2].totals, 5);
        assert_non_null(p);
        p->told = p->settled = UINT64_MAX;
        if (status == TACIT_OK && !bench_ring(b, &status))
            break;
    }
    assert_int_equal(status, TACIT_OK);
    uint64_t words = 0;
    for (uint32_t k = 0; k < SIZE; k++) {
        uint64_t tries, opened;
        tacit_totals_counts(b->agent[k].totals, &tries, &opened);
        words += b->agent[k].holds;
        assert_int_equal(opened, 0);
        assert_int_equal(b->agent[k].last, 1);
        assert_int_equal(b->agent[k].heard, 0);
    }
    assert_true(words > 0);
    done(b);
}

static tacit_totals_plan lenient(void)
{
    tacit_totals_plan p = plan;
    p.quorum = 0.55;
    return p;
}

/* Everybody who is honest hears one sum, of `members`, after one try that failed. */
static void check_second_try(const bench *b, uint32_t liar, uint32_t members)
{
    for (uint32_t k = 0; k < SIZE; k++) {
        if (k == liar)
            continue;
        assert_int_equal(b->agent[k].heard, 1);
        assert_int_equal(b->agent[k].members, members);
        assert_true(b->agent[k].holds <= 2);
    }
}

/* The same with a quorum without the two: the round is done again, and they sit out. */
static void test_ends_sit_out(void **state)
{
    (void)state;
    const tacit_totals_plan p = lenient();
    bench *b = fresh(&p);
    tacit_status status = TACIT_OK;
    b->honest = true;
    for (uint32_t k = 0; k < SIZE; k++) {
        b->agent[k].rounds = 1;
        assert_int_equal(bench_start(b, k), TACIT_OK);
    }
    for (int turn = 0; turn < 500 && status == TACIT_OK; turn++) {
        status = bench_settle(b, UINT32_MAX);
        totals_partner *edge = totals_find(b->agent[2].totals, 5);
        assert_non_null(edge);
        edge->told = edge->settled = UINT64_MAX;
        if (status == TACIT_OK && !bench_ring(b, &status))
            break;
    }
    assert_int_equal(status, TACIT_OK);
    check_second_try(b, UINT32_MAX, SIZE - 2);
    done(b);
}

/* One says a word with shares of nothing, and then does not tell its seed. */
static tacit_status deliver_bad_shares(bench *b, uint32_t liar)
{
    tacit_status status = TACIT_OK;
    while (b->messages && status == TACIT_OK) {
        const bench_message m = bench_take(b, 0);
        tacit_public *bad = NULL;
        if (m.from == liar && m.kind == TOTALS_WORD) {
            bad = bench_blank(b, TOTALS_WORD);
            for (uint32_t k = 0; k < 6; k++)
                tacit_public_copy_segment(bad, k, m.payload, k);
            for (size_t k = 4; k < tacit_public_count(bad, 3); k++)
                tacit_public_set_int(bad, 3, k, 7);
            status = bench_forge(b, liar, m.to, TOTALS_WORD, bad);
        } else if (m.from != liar || m.kind != TOTALS_SEED) {
            status = bench_deliver(b, &m);
        }
        bench_lose(b, &m);
    }
    return status;
}

static void test_bad_shares(void **state)
{
    (void)state;
    const tacit_totals_plan p = lenient();
    bench *b = fresh(&p);
    const uint32_t liar = (bench_speaker(b, TRIAL) + 3) % SIZE;
    tacit_status status = TACIT_OK;
    for (uint32_t k = 0; k < SIZE; k++) {
        b->agent[k].rounds = 1;
        b->agent[k].liar = k == liar;
        assert_int_equal(bench_start(b, k), TACIT_OK);
    }
    for (int turn = 0; turn < 500 && status == TACIT_OK; turn++) {
        status = deliver_bad_shares(b, liar);
        if (status == TACIT_OK && !bench_ring(b, &status))
            break;
    }
    assert_int_equal(status, TACIT_OK);
    check_second_try(b, liar, SIZE - 1);
    done(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_honest_speaker),
        cmocka_unit_test(test_honest_roll_back),
        cmocka_unit_test(test_two_last_sets),
        cmocka_unit_test(test_fewer_than_planned),
        cmocka_unit_test(test_one_end),
        cmocka_unit_test(test_ends_sit_out),
        cmocka_unit_test(test_bad_shares),
        cmocka_unit_test(test_two_faces),
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_key_and_pad),
        cmocka_unit_test(test_paid_and_opened),
        cmocka_unit_test(test_too_many_lost),
        cmocka_unit_test(test_shares_of_nobody),
        cmocka_unit_test(test_taking_turns),
        cmocka_unit_test(test_bits_beyond),
        cmocka_unit_test(test_late_refusal),
        cmocka_unit_test(test_phantom),
        cmocka_unit_test(test_not_its_turn),
        cmocka_unit_test(test_false_search),
        cmocka_unit_test(test_end_of_the_world),
        cmocka_unit_test(test_adder_at_rest),
        cmocka_unit_test(test_forged_greetings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
