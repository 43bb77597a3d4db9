/* SPDX-License-Identifier: Apache-2.0 */
/* Greetings: the bytes as they are written down, back again, and nothing that is not one. */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "net/greeting.h"

static const uint32_t agents[] = {3, 0x01020304, 0xffffffff};
static const tacit_heard heard[] = {
    {7, 3, 0x1122334455667788, 9}, {7, 5, UINT64_MAX, UINT64_MAX}, {8, 0, 0, 0}};
static const tacit_marked marks[] = {{6, {0x0203, {0xA0, 0xA1}, {0xC0, 0xC1}}},
                                     {7, {UINT64_MAX, {0}, {0}}}};
static const tacit_greeting full = {.stamp = 0x0102030405060708,
                                    .quiet = 5,
                                    .flags = TACIT_GREETING_ENDED | TACIT_GREETING_MUTE,
                                    .agents = 3,
                                    .heard_count = 3,
                                    .mark_count = 2,
                                    .agent = agents,
                                    .heard = heard,
                                    .mark = marks};
enum { FULL = 32 + 3 * 4 + 3 * 24 + 2 * 92 };
enum { AT_AGENTS = 20, AT_HEARD = 24, AT_MARKS = 28, AT_LIST = 32, AT_TOLD = 44, AT_MARK = 116 };

/* From memory of just that size, so that a sanitizer sees any step beyond it. */
static tacit_status decode(tacit_greeting *g, const uint8_t *bytes, size_t len, tacit_error *err)
{
    uint8_t *copy = malloc(len + !len);
    assert_non_null(copy);
    if (len > 0)
        memcpy(copy, bytes, len);
    tacit_status status = tacit_greeting_decode(g, copy, len, err);
    free(copy);
    return status;
}

static void refused(const uint8_t *bytes, size_t len, const char *word)
{
    tacit_error err = {0};
    tacit_greeting g;
    memset(&g, 0xA5, sizeof g);
    check_fails(decode(&g, bytes, len, &err), TACIT_EINPUT, &err, word);
    assert_null(g.agent); /* nothing is left to free */
    assert_null(g.heard);
    assert_null(g.mark);
    assert_int_equal(g.agents + g.heard_count + g.mark_count, 0);
}

static void written(uint8_t bytes[FULL])
{
    assert_int_equal(tacit_greeting_bytes(&full), FULL);
    tacit_greeting_encode(bytes, &full);
}

/* Bytes put down by hand: another program in another year must read the same. */
static void test_the_bytes_are_as_documented(void **state)
{
    (void)state;
    static const uint8_t want[] = {8, 7, 6, 5, 4, 3, 2, 1, 5, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 3, 0,
                                   0, 0, 3, 0, 0, 0, 2, 0, 0, 0, /* agents */
                                   3, 0, 0, 0, 4, 3, 2, 1, 255, 255, 255, 255,
                                   /* the first heard */
                                   7, 0, 0, 0, 3, 0, 0, 0, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22,
                                   0x11, 9, 0, 0, 0, 0, 0, 0, 0};
    static const uint8_t mark[] = {6, 0, 0, 0, 3, 2, 0, 0, 0, 0, 0, 0, 0xA0, 0xA1};
    uint8_t bytes[FULL];
    written(bytes);
    assert_memory_equal(bytes, want, sizeof want);
    assert_int_equal(bytes[AT_TOLD + 2 * 24], 8); /* the third's sender */
    assert_memory_equal(bytes + AT_MARK, mark, sizeof mark);
    assert_int_equal(bytes[AT_MARK + 4 + 24], 0xC0); /* the signature of the first mark */
    assert_int_equal(bytes[AT_MARK + 92], 7);
}

static void test_there_and_back(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_greeting g;
    uint8_t bytes[FULL];
    written(bytes);
    check_ok(decode(&g, bytes, FULL, &err), &err);
    assert_true(g.stamp == full.stamp && g.quiet == 5 && g.flags == 3);
    assert_int_equal(g.agents, 3);
    assert_int_equal(g.heard_count, 3);
    assert_memory_equal(g.agent, agents, sizeof agents);
    uint32_t announced, pairs, marked;
    assert_true(tacit_greeting_peek(bytes, FULL, &announced, &pairs, &marked) && announced == 3);
    assert_true(pairs == 3 && marked == 2);
    assert_false(tacit_greeting_peek(bytes, AT_LIST - 1, &announced, &pairs, &marked));
    for (int i = 0; i < 3; i++) {
        const tacit_heard *a = &g.heard[i], *b = &heard[i];
        assert_true(a->from == b->from && a->to == b->to && a->incarnation == b->incarnation &&
                    a->sequence == b->sequence);
    }
    assert_int_equal(g.mark_count, 2);
    assert_true(g.mark[0].agent == 6 && g.mark[0].mark.releases == 0x0203);
    assert_memory_equal(g.mark[0].mark.signature, marks[0].mark.signature, TACIT_SIGNATURE);
    tacit_greeting_clear(&g);
    assert_null(g.agent);
    tacit_greeting_clear(&g);

    const tacit_greeting bare = {.stamp = UINT64_MAX};
    assert_int_equal(tacit_greeting_bytes(&bare), AT_LIST);
    tacit_greeting_encode(bytes, &bare);
    check_ok(decode(&g, bytes, AT_LIST, &err), &err);
    assert_true(g.stamp == UINT64_MAX && !g.agent && !g.heard && g.flags == 0);
    tacit_greeting_clear(&g);
}

/* Every length but its own is refused, and every byte of the counts changed too. */
static void test_lengths_must_fit(void **state)
{
    (void)state;
    uint8_t bytes[FULL + 40] = {0};
    written(bytes);
    for (size_t len = 0; len < sizeof bytes; len++)
        if (len != FULL)
            refused(bytes, len, len < AT_LIST ? "cut" : "instead of");
    for (int at = AT_AGENTS; at < AT_LIST; at++)
        for (int bit = 0; bit < 8; bit++) {
            bytes[at] ^= (uint8_t)(1 << bit);
            refused(bytes, FULL, "greeting");
            bytes[at] ^= (uint8_t)(1 << bit);
        }
}

/* Whatever the length: 65536 of each at most. */
static void test_counts_beyond_the_limit(void **state)
{
    (void)state;
    uint8_t bytes[AT_LIST] = {0};
    bytes[AT_AGENTS + 3] = 0x80;
    refused(bytes, sizeof bytes, "above 65536");
    bytes[AT_AGENTS + 3] = 0;
    bytes[AT_HEARD + 2] = 1;
    refused(bytes, sizeof bytes, "instead of 1572896"); /* just the limit: only too short */
    bytes[AT_HEARD] = 1;
    refused(bytes, sizeof bytes, "above 65536");
}

static void test_unknown_flags(void **state)
{
    (void)state;
    uint8_t bytes[FULL];
    for (int bit = 2; bit < 32; bit++) {
        written(bytes);
        bytes[16 + bit / 8] |= (uint8_t)(1 << bit % 8);
        refused(bytes, FULL, "flags");
    }
}

static void test_lists_are_sorted_without_doubles(void **state)
{
    (void)state;
    uint8_t bytes[FULL];
    written(bytes);
    memcpy(bytes + AT_LIST + 4, bytes + AT_LIST, 4);
    refused(bytes, FULL, "agent 1 of a greeting");
    written(bytes);
    memset(bytes + AT_LIST + 8, 0, 4);
    refused(bytes, FULL, "agent 2 of a greeting");
    written(bytes);
    bytes[AT_TOLD + 24 + 4] = 3; /* twice 3 of 7 */
    refused(bytes, FULL, "number 1 of a greeting");
    written(bytes);
    bytes[AT_TOLD + 4] = 6; /* 7 to 6, then 7 to 5 */
    refused(bytes, FULL, "number 1 of a greeting");
    written(bytes);
    bytes[AT_TOLD + 48] = 6; /* then 6 */
    refused(bytes, FULL, "number 2 of a greeting");
    written(bytes);
    bytes[AT_MARK + 92] = 5; /* 6, then 5 */
    refused(bytes, FULL, "mark 1 of a greeting is not in order");
    memcpy(bytes + AT_MARK + 92, bytes + AT_MARK, 92); /* twice the same */
    refused(bytes, FULL, "mark 1 of a greeting is not in order");
    bytes[AT_MARK + 92 + 4]--; /* two of an agent: the lower first */
    refused(bytes, FULL, "mark 1 of a greeting is not in order");
    written(bytes);
    memset(bytes + AT_MARK + 4, 0, TACIT_MARK_BYTES);
    refused(bytes, FULL, "mark 0 of a greeting tells of no release");
}

/* Two marks of an agent, also with the same number; not three. */
static void test_marks_of_an_agent(void **state)
{
    (void)state;
    const tacit_marked three[] = {
        {6, {.releases = 5, .head = {1}}}, {6, {.releases = 5, .head = {2}}}, {6, {.releases = 6}}};
    uint8_t bytes[32 + 3 * 92];
    tacit_error err = {0};
    tacit_greeting g = {.mark_count = 2, .mark = three}, got;
    tacit_greeting_encode(bytes, &g);
    check_ok(decode(&got, bytes, tacit_greeting_bytes(&g), &err), &err);
    assert_memory_equal(got.mark[1].mark.head, three[1].mark.head, TACIT_MARK_HEAD);
    tacit_greeting_clear(&got);
    g.mark_count = 3;
    tacit_greeting_encode(bytes, &g);
    refused(bytes, sizeof bytes, "mark 2 of a greeting is the third of its agent");
}

/* As large as it may be; what comes back is what went in. */
static void test_the_largest(void **state)
{
    (void)state;
    enum { N = TACIT_GREETING_AGENTS };
    uint32_t *agent = calloc(N, sizeof *agent);
    tacit_heard *told = calloc(N, sizeof *told);
    tacit_marked *mark = calloc(N, sizeof *mark);
    assert_true(agent && told && mark);
    for (uint32_t i = 0; i < N; i++) {
        agent[i] = 65537 * i; /* no more than 32 bits take */
        told[i] = (tacit_heard){i / 7, i % 7, i, 3 * (uint64_t)i};
        mark[i] = (tacit_marked){i, {.releases = i + 1}};
    }
    const tacit_greeting g = {.agents = N,
                              .heard_count = N,
                              .mark_count = N,
                              .agent = agent,
                              .heard = told,
                              .mark = mark};
    const size_t len = tacit_greeting_bytes(&g);
    uint8_t *bytes = malloc(len), *again = malloc(len);
    assert_true(bytes && again);
    tacit_greeting_encode(bytes, &g);
    tacit_error err = {0};
    tacit_greeting back;
    check_ok(tacit_greeting_decode(&back, bytes, len, &err), &err);
    assert_memory_equal(back.agent, agent, N * sizeof *agent);
    tacit_greeting_encode(again, &back);
    assert_memory_equal(again, bytes, len);
    tacit_greeting_clear(&back);
    free(agent);
    free(told);
    free(mark);
    free(bytes);
    free(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_bytes_are_as_documented),
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_lengths_must_fit),
        cmocka_unit_test(test_counts_beyond_the_limit),
        cmocka_unit_test(test_unknown_flags),
        cmocka_unit_test(test_lists_are_sorted_without_doubles),
        cmocka_unit_test(test_marks_of_an_agent),
        cmocka_unit_test(test_the_largest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
