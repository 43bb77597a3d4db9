/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a member tells, for all sequences of questions up to some length: never two words with the
 * same masks, never two seeds in a round, never a word after a seed. And how many colluders it
 * takes to take a word apart, found by linear algebra over all collusions of small parties.
 */
#include <stdlib.h>
#include <string.h>

#include "masking.h"

/* ---- turns ---- */
enum { ROUNDS = 3, ATTEMPTS = 2, SLOTS = ROUNDS * ATTEMPTS, QUESTIONS = 2 * SLOTS + 1 };
static const uint64_t rounds[ROUNDS] = {0, 1, UINT64_MAX};
static const uint32_t attempts[ATTEMPTS] = {0, UINT32_MAX};

/* What was told so far, by slots (round, attempt) in rising order. */
typedef struct told {
    bool worded[SLOTS], opened[SLOTS];
    int called, last; /* slots of the last call granted and of the last word; -1: none */
    bool fresh;       /* no word since that call */
} told;

static numbers held, word;
static size_t granted[3], asked;

static tacit_status make_word(tacit_mask_turn *turn)
{
    static const tacit_mask mask = {.key = {1}};
    static const uint8_t own[TACIT_MASK_KEY] = {2};
    return tacit_mask_word(turn, word.vector, 0, numbers_secret(&held), &mask, 1, own, NULL);
}

static bool round_opened(const told *t, int slot)
{
    bool opened = false;
    for (int a = 0; a < ATTEMPTS; a++)
        opened = opened || t->opened[slot / ATTEMPTS * ATTEMPTS + a];
    return opened;
}

static void ask_call(tacit_mask_turn *turn, told *t, int slot)
{
    const bool may = slot > t->called && !round_opened(t, slot);
    const tacit_status status =
        tacit_mask_turn_call(turn, rounds[slot / ATTEMPTS], attempts[slot % ATTEMPTS]);
    assert_int_equal(status, may ? TACIT_OK : TACIT_NO);
    if (!may)
        return;
    t->called = slot;
    t->fresh = true;
    granted[0]++;
}

static void ask_word(tacit_mask_turn *turn, told *t)
{
    const tacit_status status = make_word(turn);
    assert_int_equal(status, t->fresh ? TACIT_OK : TACIT_EUSAGE);
    if (status != TACIT_OK)
        return;
    assert_int_equal(turn->round, rounds[t->called / ATTEMPTS]);
    assert_int_equal(turn->attempt, attempts[t->called % ATTEMPTS]);
    assert_false(t->worded[t->called]);       /* never twice with the same masks */
    assert_false(round_opened(t, t->called)); /* never after a seed of the round */
    assert_true(t->last < t->called);         /* only forwards */
    t->worded[t->called] = true;
    t->last = t->called;
    t->fresh = false;
    granted[1]++;
}

static void ask_seed(tacit_mask_turn *turn, told *t, int slot)
{
    const bool may = slot == t->last && slot == t->called && !t->fresh;
    const tacit_status status =
        tacit_mask_turn_open(turn, rounds[slot / ATTEMPTS], attempts[slot % ATTEMPTS]);
    assert_int_equal(status, may ? TACIT_OK : TACIT_NO);
    if (!may)
        return;
    assert_true(t->worded[slot]);
    t->opened[slot] = true;
    int seeds = 0;
    for (int a = 0; a < ATTEMPTS; a++)
        seeds += t->opened[slot / ATTEMPTS * ATTEMPTS + a];
    assert_int_equal(seeds, 1);
    granted[2]++;
}

static void all_questions(tacit_mask_turn turn, told t, int more)
{
    for (int question = 0; more > 0 && question < QUESTIONS; question++) {
        tacit_mask_turn after = turn;
        told then = t;
        const size_t before = granted[0] + granted[1] + granted[2];
        asked++;
        if (question < SLOTS)
            ask_call(&after, &then, question);
        else if (question < 2 * SLOTS)
            ask_seed(&after, &then, question - SLOTS);
        else
            ask_word(&after, &then);
        if (granted[0] + granted[1] + granted[2] == before) { /* refused: nothing has changed */
            assert_memory_equal(&after.round, &turn.round, sizeof turn.round);
            assert_int_equal(after.attempt, turn.attempt);
            assert_int_equal(after.state, turn.state);
        } else {
            all_questions(after, then, more - 1);
        }
    }
}

/* A refused question changes nothing, so sequences go on from those that were granted: nine of
 * them, and any number of refused ones in between. */
static void test_all_sequences_of_questions(void **state)
{
    (void)state;
    numbers_make(&held, 1);
    numbers_make(&word, 1);
    all_questions((tacit_mask_turn){.state = TACIT_MASK_IDLE}, (told){.called = -1, .last = -1},
                  SLOW ? 7 : 9);
    for (int k = 0; k < 3; k++)
        assert_true(granted[k] > 100);
    assert_true(asked > 10000);
    numbers_free(&held);
    numbers_free(&word);
}

/* A damaged record of a turn tells nothing. */
static void test_unknown_states_tell_nothing(void **state)
{
    (void)state;
    numbers_make(&held, 1);
    numbers_make(&word, 1);
    for (int value = TACIT_MASK_OPENED + 1; value < 256; value++) {
        tacit_mask_turn turn = {.round = 3, .attempt = 1, .state = (uint8_t)value};
        assert_int_equal(make_word(&turn), TACIT_EUSAGE);
        assert_int_equal(tacit_mask_turn_open(&turn, 3, 1), TACIT_NO);
        assert_int_equal(tacit_mask_turn_call(&turn, 3, 1), TACIT_NO);
        assert_int_equal(tacit_mask_turn_call(&turn, 3, 2), TACIT_NO);
    }
    numbers_free(&held);
    numbers_free(&word);
}

/* ---- who masks whom ---- */
static void test_pairs(void **state)
{
    (void)state;
    for (size_t members = 2; members <= MASKERS; members++)
        for (int split = 0; split < 2; split++) {
            const tacit_mask_party party = {.count = members, .split = split};
            for (size_t k = 0; k < members; k++) {
                size_t partners = 0;
                bool first = false, second = false;
                assert_false(tacit_mask_pair(&party, k, k, &first));
                for (size_t l = 0; l < members; l++) {
                    const bool pair = tacit_mask_pair(&party, k, l, &first);
                    assert_int_equal(pair, tacit_mask_pair(&party, l, k, &second));
                    if (pair)
                        assert_int_not_equal(first, second);
                    partners += pair;
                    if (pair && split) /* a member's masks all have one sign */
                        assert_int_equal(first, k < members / 2);
                }
                const size_t half = k < members / 2 ? members - members / 2 : members / 2;
                assert_int_equal(partners, split ? half : members - 1);
            }
        }
}

/* ---- collusion ---- */
enum { SMALL = 9, COLUMNS = SMALL + SMALL * (SMALL - 1) / 2 };
#define PRIME INT64_C(1000003)

static int64_t power(int64_t base, int64_t to)
{
    int64_t out = 1;
    for (; to > 0; to /= 2, base = base * base % PRIME)
        out = to % 2 ? out * base % PRIME : out;
    return out;
}

/* Rank modulo a prime; the matrix is lost. */
static size_t rank(size_t rows, int64_t a[][COLUMNS])
{
    size_t found = 0;
    for (size_t c = 0; c < COLUMNS && found < rows; c++) {
        size_t pivot = found;
        while (pivot < rows && a[pivot][c] == 0)
            pivot++;
        if (pivot == rows)
            continue;
        for (size_t k = 0; k < COLUMNS; k++) {
            const int64_t keep = a[pivot][k];
            a[pivot][k] = a[found][k];
            a[found][k] = keep;
        }
        const int64_t inverse = power(a[found][c], PRIME - 2);
        for (size_t r = found + 1; r < rows; r++) {
            const int64_t factor = a[r][c] * inverse % PRIME;
            for (size_t k = 0; k < COLUMNS; k++)
                a[r][k] = ((a[r][k] - factor * a[found][k]) % PRIME + PRIME) % PRIME;
        }
        found++;
    }
    return found;
}

/* Words of the honest, as the receiver knows them with the help of colluders: numbers held, and
 * masks of two honest ones, are the unknowns. Held number k is known if its unit vector lies in
 * the space of the rows. */
static bool is_known(const tacit_mask_party *party, uint64_t colluders, size_t target)
{
    int64_t a[SMALL + 1][COLUMNS] = {{0}}, with[SMALL + 1][COLUMNS];
    size_t rows = 0, column = SMALL, row_of[SMALL] = {0};
    for (size_t k = 0; k < party->count; k++)
        if (!(colluders >> k & 1)) {
            row_of[k] = rows;
            a[rows++][k] = 1;
        }
    for (size_t k = 0; k < party->count; k++)
        for (size_t l = k + 1; l < party->count; l++) {
            bool adds;
            if ((colluders >> k & 1) || (colluders >> l & 1) ||
                !tacit_mask_pair(party, k, l, &adds))
                continue;
            a[row_of[k]][column] = adds ? 1 : PRIME - 1;
            a[row_of[l]][column++] = adds ? PRIME - 1 : 1;
        }
    a[rows][target] = 1;
    memcpy(with, a, sizeof a);
    return rank(rows + 1, with) == rank(rows, a);
}

static size_t fewest_who_break(const tacit_mask_party *party)
{
    size_t fewest = SIZE_MAX;
    for (uint64_t colluders = 0; colluders < UINT64_C(1) << party->count; colluders++) {
        const size_t size = (size_t)__builtin_popcountll(colluders);
        for (size_t k = 0; size < fewest && k < party->count; k++)
            if (!(colluders >> k & 1) && is_known(party, colluders, k))
                fewest = size;
    }
    return fewest;
}

static void test_collusions(void **state)
{
    (void)state;
    for (size_t members = 2; members <= (SLOW ? 7 : SMALL); members++)
        for (int split = 0; split < 2; split++) {
            const tacit_mask_party party = {.count = members, .split = split};
            assert_int_equal(tacit_mask_breaks_at(members, split), fewest_who_break(&party));
        }
    assert_int_equal(tacit_mask_breaks_at(20, false), 19);
    assert_int_equal(tacit_mask_breaks_at(21, true), 10);
    assert_int_equal(tacit_mask_breaks_at(1, false), 0); /* no mask at all */
    assert_int_equal(tacit_mask_breaks_at(0, true), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_sequences_of_questions),
                                       cmocka_unit_test(test_unknown_states_tell_nothing),
                                       cmocka_unit_test(test_pairs),
                                       cmocka_unit_test(test_collusions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
