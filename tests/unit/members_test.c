/* SPDX-License-Identifier: Apache-2.0 */
/* Views of signed descriptors: what is refused, what enters, what stays. See also overlay_test. */
#include <sodium.h>
#include <string.h>

#include "net/members.h"
#include "testing.h"

static void open_stream(tacit_stream *s, uint64_t seed)
{
    tacit_random random;
    tacit_random_init(&random, seed);
    tacit_stream_open(s, &random, 0, TACIT_FOR_TEST, 0);
}

/* ---- a crowd with real keys ---- */

enum { CROWD = 40 };
static uint8_t secret[CROWD][TACIT_IDENTITY_SECRET], curve[CROWD][TACIT_CURVE_BYTES];
static tacit_descriptor card[CROWD];

static tacit_descriptor card_of(uint32_t i, uint64_t stamp, const char *endpoint)
{
    tacit_descriptor d;
    tacit_error err;
    check_ok(tacit_descriptor_make(&d, secret[i], curve[i], endpoint, stamp, &err), &err);
    return d;
}

static int setup(void **state)
{
    (void)state;
    if (sodium_init() < 0)
        return -1;
    for (uint32_t i = 0; i < CROWD; i++) {
        uint8_t seed[crypto_sign_SEEDBYTES] = {(uint8_t)i, 7}, key[TACIT_IDENTITY_BYTES];
        crypto_sign_seed_keypair(key, secret[i], seed);
        memset(curve[i], (int)i + 1, sizeof curve[i]);
        card[i] = card_of(i, 100, "tcp://peer:7000");
    }
    return 0;
}

static tacit_members *member(uint32_t i, const tacit_members_options *options)
{
    tacit_error err;
    tacit_stream stream;
    tacit_members *m;
    tacit_members_options o;
    tacit_members_defaults(&o);
    open_stream(&stream, i);
    check_ok(tacit_members_create(&m, options ? options : &o, &card[i], &stream, &err), &err);
    return m;
}

static const tacit_descriptor *known(const tacit_members *m, uint32_t i)
{
    for (size_t k = 0; k < tacit_members_count(m); k++) {
        const tacit_descriptor *d = tacit_members_at(m, k);
        if (memcmp(d->identity, card[i].identity, sizeof d->identity) == 0)
            return d;
    }
    return NULL;
}

static void introduce(tacit_members *m, uint32_t from, uint32_t to)
{
    tacit_stream stream;
    tacit_error err;
    open_stream(&stream, 77);
    check_ok(tacit_members_introduce(m, &stream, card + from, to - from, &err), &err);
}

/* A request of peer `from` with the given others. */
static tacit_exchange request_of(uint32_t from, const tacit_descriptor *others, uint32_t count)
{
    tacit_exchange x = {.count = 1 + count};
    x.item[0] = card[from];
    for (uint32_t k = 0; k < count; k++)
        x.item[1 + k] = others[k];
    return x;
}

static tacit_status send_to(tacit_members *m, uint32_t from, const tacit_exchange *x,
                            tacit_error *err)
{
    static tacit_exchange reply;
    tacit_stream stream;
    open_stream(&stream, 5);
    return tacit_members_answer(m, &stream, curve[from], x, &reply, err);
}

/* ---- descriptors ---- */

static void test_signature_covers_all_but_age(void **state)
{
    (void)state;
    tacit_descriptor d = card[1];
    assert_true(tacit_descriptor_verify(&d));
    d.age = 7;
    assert_true(tacit_descriptor_verify(&d));
    d.age = TACIT_AGE_MAX + 1;
    assert_false(tacit_descriptor_verify(&d));
    for (size_t k = 0; k < sizeof d.identity; k++) {
        d = card[1], d.identity[k] ^= 1;
        assert_false(tacit_descriptor_verify(&d));
        d = card[1], d.curve[k] ^= 1;
        assert_false(tacit_descriptor_verify(&d));
    }
    d = card[1], d.stamp++;
    assert_false(tacit_descriptor_verify(&d));
    d = card[1], d.endpoint[6] = 'q';
    assert_false(tacit_descriptor_verify(&d));
    d = card[1], d.signature[40] ^= 4;
    assert_false(tacit_descriptor_verify(&d));
}

static void test_endpoints(void **state)
{
    (void)state;
    static const char *bad[] = {"", "tcp://a b", "tcp://\x1b[31m", "tcp://h\xc3\xa9",
                                "1234567890123456789012345678901234567890123456789012345678901234"};
    tacit_error err;
    tacit_descriptor d;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        check_fails(tacit_descriptor_make(&d, secret[0], curve[0], bad[k], 1, &err), TACIT_EINPUT,
                    &err, "endpoint");
    d = card_of(0, 1, bad[4] + 1); /* 63 */
    assert_true(tacit_descriptor_verify(&d));
}

/* ---- bytes ---- */

static void test_bytes_there_and_back(void **state)
{
    (void)state;
    static tacit_exchange x, y;
    static uint8_t bytes[TACIT_EXCHANGE_BYTES + 1], again[TACIT_EXCHANGE_BYTES];
    tacit_error err;
    x = request_of(3, card + 10, TACIT_EXCHANGE_MAX - 1 - 10);
    x.item[2].age = 5, x.item[3].age = TACIT_AGE_MAX;
    x.item[4] = card_of(39, UINT64_MAX, "ipc:///a");
    x.reply = true;
    size_t len = tacit_exchange_encode(bytes, &x);
    check_ok(tacit_exchange_decode(&y, bytes, len, &err), &err);
    assert_int_equal(y.count, x.count);
    assert_true(y.reply);
    assert_memory_equal(y.item, x.item, x.count * sizeof *x.item);
    assert_int_equal(tacit_exchange_encode(again, &y), len);
    assert_memory_equal(again, bytes, len);
    for (size_t cut = 0; cut < len; cut++)
        assert_int_not_equal(tacit_exchange_decode(&y, bytes, cut, &err), TACIT_OK);
    check_fails(tacit_exchange_decode(&y, bytes, len + 1, &err), TACIT_EVERIFY, &err, "too many");
    assert_int_equal(y.count, 0);
}

static void test_bytes_malformed(void **state)
{
    (void)state;
    static tacit_exchange x, y;
    static uint8_t bytes[TACIT_EXCHANGE_BYTES], bad[TACIT_EXCHANGE_BYTES];
    tacit_error err;
    x = request_of(3, card + 10, 2);
    size_t len = tacit_exchange_encode(bytes, &x);
    static const struct {
        size_t at;
        uint8_t value;
        tacit_status want;
        const char *word;
    } wrong[] = {
        {0, 2, TACIT_EPEER, "version"},
        {1, 2, TACIT_EVERIFY, "malformed"},
        {2, 0, TACIT_EVERIFY, "malformed"},
        {2, 33, TACIT_EVERIFY, "malformed"},
        {3, 255, TACIT_EVERIFY, "malformed"},
        {2, 2, TACIT_EVERIFY, "too many"},
        {4 + 72, 1, TACIT_EVERIFY, "old"},
        {4 + 73, 0xff, TACIT_EVERIFY, "descriptor 0"},
        {4 + 74, 0, TACIT_EVERIFY, "descriptor 0"},
        {4 + 74, 64, TACIT_EVERIFY, "descriptor 0"},
        {4 + 75, 0, TACIT_EVERIFY, "descriptor 0"},
        {4 + 75, 0x7f, TACIT_EVERIFY, "descriptor 0"},
        {4 + 75, ' ', TACIT_EVERIFY, "descriptor 0"},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        memcpy(bad, bytes, len);
        bad[wrong[k].at] = wrong[k].value;
        check_fails(tacit_exchange_decode(&y, bad, len, &err), wrong[k].want, &err, wrong[k].word);
    }
    x.item[2] = x.item[1]; /* the same peer twice */
    len = tacit_exchange_encode(bytes, &x);
    check_fails(tacit_exchange_decode(&y, bytes, len, &err), TACIT_EVERIFY, &err, "descriptor 2");
}

/* Every byte of an exchange flipped: refused, but for the two of an age, which nobody signs. */
static void test_flipped_bytes(void **state)
{
    (void)state;
    static tacit_exchange x, y;
    static uint8_t bytes[TACIT_EXCHANGE_BYTES];
    tacit_error err;
    x = request_of(3, card + 10, 1);
    x.item[1].age = 4;
    size_t len = tacit_exchange_encode(bytes, &x), entered = 0;
    const size_t age = 4 + (len - 4) / 2 + 72; /* of the second: both are of one length */
    for (size_t at = 0; at < len; at++) {
        tacit_members *m = member(0, NULL);
        bytes[at] ^= 1;
        bool bad = tacit_exchange_decode(&y, bytes, len, &err) || send_to(m, 3, &y, &err);
        bytes[at] ^= 1;
        assert_true(bad ? tacit_members_count(m) == 0 : at == age || at == age + 1);
        entered += !bad;
        tacit_members_free(m);
    }
    assert_int_equal(entered, 2);
}

/* ---- what enters a view ---- */

static void test_forged_descriptor_refused_whole(void **state)
{
    (void)state;
    tacit_error err;
    tacit_members *m = member(0, NULL);
    introduce(m, 1, 5);
    tacit_descriptor others[3] = {card[10], card[11], card[12]};
    others[1].endpoint[7] = 'X';
    tacit_exchange x = request_of(9, others, 3);
    check_fails(send_to(m, 9, &x, &err), TACIT_EVERIFY, &err, "bad signature");
    assert_int_equal(tacit_members_count(m), 4);
    assert_null(known(m, 9));
    assert_null(known(m, 10));
    assert_int_equal(tacit_members_counts(m).refused, 1);
    check_fails(tacit_members_introduce(m, &(tacit_stream){0}, others, 2, &err), TACIT_EVERIFY,
                &err, "bad signature");
    assert_null(known(m, 10));
    tacit_members_free(m);
}

static void test_stolen_descriptor(void **state)
{
    (void)state;
    tacit_error err;
    tacit_members *m = member(0, NULL);
    tacit_exchange x = request_of(9, NULL, 0);
    check_fails(send_to(m, 8, &x, &err), TACIT_EVERIFY, &err, "stolen");
    check_ok(send_to(m, 9, &x, &err), &err);
    x = request_of(0, NULL, 0);
    check_fails(send_to(m, 0, &x, &err), TACIT_EVERIFY, &err, "our own");
    tacit_members_free(m);
}

static void test_own_never_enters(void **state)
{
    (void)state;
    tacit_error err;
    tacit_members *m = member(0, NULL);
    tacit_descriptor newer = card_of(0, 1000, "tcp://elsewhere:1");
    tacit_exchange x = request_of(9, &newer, 1);
    check_ok(send_to(m, 9, &x, &err), &err);
    introduce(m, 0, 3);
    assert_null(known(m, 0));
    assert_int_equal(tacit_members_count(m), 3);
    assert_int_equal(tacit_members_self(m)->stamp, 100);
    tacit_members_free(m);
}

static void test_newest_stamp_then_least_age(void **state)
{
    (void)state;
    tacit_error err;
    tacit_members *m = member(0, NULL);
    tacit_descriptor d = card_of(5, 200, "tcp://new:1");
    d.age = 9;
    tacit_exchange x = request_of(9, &d, 1);
    introduce(m, 5, 6);
    check_ok(send_to(m, 9, &x, &err), &err); /* newer though older in cycles */
    assert_string_equal(known(m, 5)->endpoint, "tcp://new:1");
    assert_int_equal(known(m, 5)->age, 9);
    x = request_of(9, &card[5], 1);
    check_ok(send_to(m, 9, &x, &err), &err); /* an older stamp, age 0 */
    assert_int_equal(known(m, 5)->stamp, 200);
    d.age = 3;
    x = request_of(9, &d, 1);
    uint64_t before = tacit_members_counts(m).verified;
    check_ok(send_to(m, 9, &x, &err), &err);
    assert_int_equal(known(m, 5)->age, 3);
    assert_int_equal(tacit_members_counts(m).verified, before); /* it is the same one */
    d.age = 8;
    x = request_of(9, &d, 1);
    check_ok(send_to(m, 9, &x, &err), &err);
    assert_int_equal(known(m, 5)->age, 3);
    /* The same stamp and signature, but another text: neither verified nor believed. */
    d.age = 0, d.endpoint[6] = 'N';
    x = request_of(9, &d, 1);
    check_ok(send_to(m, 9, &x, &err), &err);
    assert_int_equal(known(m, 5)->age, 3);
    assert_string_equal(known(m, 5)->endpoint, "tcp://new:1");
    tacit_members_free(m);
}

static void test_allow_list(void **state)
{
    (void)state;
    tacit_error err;
    tacit_members_options o;
    tacit_members_defaults(&o);
    o.samplers = 8;
    tacit_members *m = member(0, &o);
    introduce(m, 1, 9);
    uint8_t list[3][TACIT_IDENTITY_BYTES];
    for (uint32_t k = 0; k < 3; k++)
        memcpy(list[k], card[7 + 2 * k].identity, sizeof list[k]); /* 7, 9, 11 */
    check_ok(tacit_members_allow(m, list[0], 3, &err), &err);
    assert_int_equal(tacit_members_count(m), 1);
    assert_non_null(known(m, 7));
    tacit_stream stream;
    tacit_descriptor d;
    open_stream(&stream, 3);
    for (int k = 0; k < 20 && tacit_members_steady(m, &stream, &d); k++)
        assert_memory_equal(d.identity, card[7].identity, sizeof d.identity);
    tacit_exchange x = request_of(9, card + 10, 3);
    check_ok(send_to(m, 9, &x, &err), &err);
    assert_int_equal(tacit_members_count(m), 3);
    assert_non_null(known(m, 11));
    x = request_of(12, card + 11, 1);
    check_fails(send_to(m, 12, &x, &err), TACIT_EPEER, &err, "not on the list");
    check_ok(tacit_members_allow(m, NULL, 0, &err), &err); /* closed to all */
    assert_int_equal(tacit_members_count(m), 0);
    introduce(m, 1, 9);
    assert_int_equal(tacit_members_count(m), 0);
    tacit_members_free(m);
}

static void test_flood_costs_little(void **state)
{
    (void)state;
    tacit_error err;
    tacit_members *m = member(0, NULL);
    tacit_exchange x = request_of(1, card + 2, TACIT_EXCHANGE_MAX - 1);
    uint64_t before = tacit_members_counts(m).verified;
    check_ok(send_to(m, 1, &x, &err), &err);
    assert_int_equal(tacit_members_counts(m).verified - before, 10); /* c/2, of 32 */
    before += 10;
    for (uint32_t k = 0; k < 31; k++)
        x.item[k] = card_of(1 + k, 300, "tcp://a:1"), x.item[k].signature[0] ^= 1;
    for (int k = 0; k < 1000; k++)
        assert_int_not_equal(send_to(m, 1, &x, &err), TACIT_OK);
    assert_int_equal(tacit_members_counts(m).verified - before, 9); /* one each, ten a cycle */
    assert_string_equal(err.text, "more than 10 requests in one cycle");
    tacit_members_free(m);
}

/* ---- exchanges ---- */

static void test_replies_nobody_asked_for(void **state)
{
    (void)state;
    static tacit_exchange request, reply;
    tacit_error err;
    tacit_stream stream;
    tacit_descriptor to;
    open_stream(&stream, 1);
    tacit_members *m = member(0, NULL), *other = member(1, NULL);
    assert_false(tacit_members_begin(m, &stream, &to, &request));
    introduce(m, 1, 2);
    assert_true(tacit_members_begin(m, &stream, &to, &request));
    assert_memory_equal(to.identity, card[1].identity, sizeof to.identity);
    check_ok(tacit_members_answer(other, &stream, curve[0], &request, &reply, &err), &err);
    assert_true(reply.reply && reply.count == 1);
    tacit_exchange stranger = reply;
    stranger.item[0] = card[2];
    check_fails(tacit_members_finish(m, &stream, curve[2], &stranger, &err), TACIT_EPEER, &err,
                "nobody waits");
    check_fails(tacit_members_finish(m, &stream, curve[2], &reply, &err), TACIT_EVERIFY, &err,
                "stolen");
    check_fails(tacit_members_finish(m, &stream, curve[0], &request, &err), TACIT_EVERIFY, &err,
                "malformed");
    check_ok(tacit_members_finish(m, &stream, curve[1], &reply, &err), &err);
    check_fails(tacit_members_finish(m, &stream, curve[1], &reply, &err), TACIT_EPEER, &err,
                "nobody waits");
    assert_non_null(known(other, 0));
    tacit_members_free(m);
    tacit_members_free(other);
}

/* What is sent is any half of the view: each of 20 in 9 of 20 requests, 900 +- 22 of 2000. The
 * bound is six deviations: a false alarm once in 2.5e7 for all of them. */
static void test_any_half_is_sent(void **state)
{
    (void)state;
    static tacit_exchange request;
    tacit_stream stream;
    tacit_descriptor to;
    tacit_members_options o;
    tacit_members_defaults(&o);
    o.healer = 0;
    open_stream(&stream, 6);
    tacit_members *m = member(0, &o);
    introduce(m, 1, 21);
    int count[CROWD] = {0};
    for (int t = 0; t < 2000; t++) {
        assert_true(tacit_members_begin(m, &stream, &to, &request));
        assert_int_equal(request.count, 10);
        assert_memory_equal(&request.item[0], &card[0], sizeof card[0]);
        for (uint32_t k = 1; k < request.count; k++)
            count[request.item[k].curve[0] - 1]++;
    }
    for (uint32_t i = 1; i < 21; i++)
        assert_in_range(count[i], 900 - 133, 900 + 133);
    tacit_members_free(m);
}

/* Two full views without healing, all of which differ: the swapper loses no descriptor. */
static void test_swapper_swaps(void **state)
{
    (void)state;
    static tacit_exchange request, reply;
    tacit_error err;
    tacit_stream stream;
    tacit_descriptor to;
    tacit_members_options o;
    tacit_members_defaults(&o);
    o.view = 10, o.healer = 0, o.swapper = 5;
    open_stream(&stream, 1);
    tacit_members *m = member(0, &o), *other = member(1, &o);
    introduce(m, 1, 11);
    introduce(other, 11, 21);
    do /* until it asks the other */
        assert_true(tacit_members_begin(m, &stream, &to, &request));
    while (memcmp(to.identity, card[1].identity, sizeof to.identity));
    check_ok(tacit_members_answer(other, &stream, curve[0], &request, &reply, &err), &err);
    check_ok(tacit_members_finish(m, &stream, curve[1], &reply, &err), &err);
    assert_int_equal(tacit_members_count(m), 10);
    assert_int_equal(tacit_members_count(other), 10);
    int lost = 0;
    for (uint32_t i = 2; i < 21; i++)
        lost += !known(m, i) && !known(other, i);
    /* Each sent four and itself. 21 descriptors meet 20 places: of what was there, only the
     * places of the two senders themselves can cost one each. */
    assert_in_range(lost, 0, 2);
    tacit_members_free(m);
    tacit_members_free(other);
}

/* With H = c/2 all that is newer stays and the oldest make room. */
static void test_healer_drops_the_oldest(void **state)
{
    (void)state;
    tacit_error err;
    tacit_members_options o;
    tacit_members_defaults(&o);
    o.view = 10, o.healer = 5, o.swapper = 0;
    tacit_members *m = member(0, &o);
    tacit_descriptor old[10];
    for (uint32_t k = 0; k < 10; k++)
        old[k] = card[1 + k], old[k].age = 10 + k;
    tacit_stream stream;
    open_stream(&stream, 9);
    check_ok(tacit_members_introduce(m, &stream, old, 10, &err), &err);
    tacit_exchange x = request_of(20, card + 21, 4);
    check_ok(send_to(m, 20, &x, &err), &err);
    assert_int_equal(tacit_members_count(m), 10);
    for (uint32_t i = 1; i < 6; i++)
        assert_non_null(known(m, i));
    for (uint32_t i = 6; i < 11; i++)
        assert_null(known(m, i)); /* ages 15 to 19 */
    for (uint32_t i = 20; i < 25; i++)
        assert_non_null(known(m, i));
    tacit_members_free(m);
}

static void test_ages_and_silent_peers(void **state)
{
    (void)state;
    static tacit_exchange request;
    tacit_stream stream;
    tacit_descriptor to;
    open_stream(&stream, 4);
    tacit_members_options o;
    tacit_members_defaults(&o);
    o.pick = TACIT_PICK_OLDEST;
    tacit_members *m = member(0, &o);
    introduce(m, 1, 6);
    bool asked[CROWD] = {false};
    for (int t = 1; t <= 5; t++) { /* nobody answers: each is asked once before any is again */
        assert_true(tacit_members_begin(m, &stream, &to, &request));
        for (uint32_t i = 1; i < 6; i++) {
            assert_int_equal(known(m, i)->age, t);
            if (memcmp(to.identity, card[i].identity, sizeof to.identity) == 0) {
                assert_false(asked[i]);
                asked[i] = true;
            }
        }
    }
    assert_int_equal(tacit_members_counts(m).unanswered, 4);
    for (int t = 0; t < TACIT_AGE_MAX + 10; t++)
        assert_true(tacit_members_begin(m, &stream, &to, &request));
    assert_int_equal(known(m, 1)->age, TACIT_AGE_MAX);
    tacit_members_free(m);
}

/* Whom nobody could reach is asked again once it speaks, though it has nothing new to say. */
static void test_silent_peer_speaks(void **state)
{
    (void)state;
    static tacit_exchange request, reply;
    tacit_error err;
    tacit_stream stream;
    tacit_descriptor to;
    for (int how = 0; how < 3; how++) {
        open_stream(&stream, 4);
        tacit_members *m = member(0, NULL);
        introduce(m, 1, 2);
        assert_true(tacit_members_begin(m, &stream, &to, &request));
        assert_true(tacit_members_begin(m, &stream, &to, &request)); /* asked twice, silent */
        introduce(m, 2, 6);
        tacit_exchange x = request_of(1, NULL, 0);
        if (how == 1) { /* it asks, while we wait for another */
            assert_true(tacit_members_begin(m, &stream, &to, &request));
            assert_int_not_equal(to.curve[0] - 1, 1);
            check_ok(send_to(m, 1, &x, &err), &err);
        } else if (how == 2) { /* it answers late, yet in time */
            x.reply = true;
            check_ok(tacit_members_finish(m, &stream, curve[1], &x, &err), &err);
        }
        int asked = 0;
        for (uint32_t t = 0; t < 60; t++) { /* all others answer each time */
            assert_true(tacit_members_begin(m, &stream, &to, &request));
            reply = request_of(to.curve[0] - 1, NULL, 0);
            reply.reply = true;
            asked += to.curve[0] - 1 == 1;
            check_ok(tacit_members_finish(m, &stream, to.curve, &reply, &err), &err);
        }
        assert_true(how ? asked > 0 : asked == 0); /* never by chance: 0.8^60 = 1.5e-6 */
        tacit_members_free(m);
    }
}

static void test_forgotten_until_news(void **state)
{
    (void)state;
    static tacit_exchange request;
    tacit_error err;
    tacit_stream stream;
    tacit_descriptor to;
    open_stream(&stream, 4);
    tacit_members *m = member(0, NULL);
    introduce(m, 1, 4);
    tacit_members_forget(m, card[2].identity);
    tacit_members_forget(m, card[30].identity); /* not there: nothing happens */
    assert_null(known(m, 2));
    tacit_exchange x = request_of(9, card + 2, 1);
    check_ok(send_to(m, 9, &x, &err), &err);
    assert_null(known(m, 2));
    tacit_descriptor newer = card_of(2, 101, "tcp://back:1");
    x = request_of(9, &newer, 1);
    check_ok(send_to(m, 9, &x, &err), &err);
    assert_non_null(known(m, 2));
    tacit_members_forget(m, card[3].identity);
    for (int t = 0; t < 61; t++)
        tacit_members_begin(m, &stream, &to, &request);
    introduce(m, 3, 4);
    assert_non_null(known(m, 3));
    tacit_members_free(m);
}

static void test_renew(void **state)
{
    (void)state;
    tacit_error err;
    tacit_members *m = member(0, NULL);
    tacit_descriptor d = card_of(0, 100, "tcp://b:1");
    check_fails(tacit_members_renew(m, &d, &err), TACIT_EINPUT, &err, "not newer");
    check_fails(tacit_members_renew(m, &card[1], &err), TACIT_EINPUT, &err, "another identity");
    d = card_of(0, 101, "tcp://b:1");
    d.stamp++;
    check_fails(tacit_members_renew(m, &d, &err), TACIT_EVERIFY, &err, "bad signature");
    d.stamp--;
    check_ok(tacit_members_renew(m, &d, &err), &err);
    assert_string_equal(tacit_members_self(m)->endpoint, "tcp://b:1");
    tacit_members_free(m);
}

static void test_options(void **state)
{
    (void)state;
    static const struct {
        uint32_t view, healer, swapper, samplers;
        const char *word;
    } bad[] = {{3, 0, 0, 0, "view"},     {2, 0, 0, 0, "view"},  {66, 0, 0, 0, "view"},
               {20, 11, 0, 0, "healer"}, {20, 5, 6, 0, "half"}, {20, 1, UINT32_MAX, 0, "half"},
               {20, 0, 0, 257, "257"}};
    tacit_error err;
    tacit_stream stream;
    tacit_members *m;
    open_stream(&stream, 1);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        tacit_members_options o = {.view = bad[k].view,
                                   .healer = bad[k].healer,
                                   .swapper = bad[k].swapper,
                                   .samplers = bad[k].samplers};
        check_fails(tacit_members_create(&m, &o, &card[0], &stream, &err), TACIT_EINPUT, &err,
                    bad[k].word);
        assert_null(m);
    }
    tacit_members_options o;
    tacit_members_defaults(&o);
    tacit_descriptor forged = card[0];
    forged.stamp++;
    check_fails(tacit_members_create(&m, &o, &forged, &stream, &err), TACIT_EVERIFY, &err, "own");
    assert_null(m);
}

static void test_sample_not_twice(void **state)
{
    (void)state;
    tacit_stream stream;
    tacit_descriptor d, last = {0};
    open_stream(&stream, 8);
    tacit_members *m = member(0, NULL);
    assert_false(tacit_members_sample(m, &stream, &d));
    introduce(m, 1, 2);
    assert_true(tacit_members_sample(m, &stream, &d));
    assert_true(tacit_members_sample(m, &stream, &d)); /* there is nobody else */
    introduce(m, 2, 6);
    int count[6] = {0};
    for (int t = 0; t < 10000; t++) {
        assert_true(tacit_members_sample(m, &stream, &d));
        assert_memory_not_equal(d.identity, last.identity, sizeof d.identity);
        last = d;
        for (uint32_t i = 1; i < 6; i++)
            count[i] += memcmp(d.identity, card[i].identity, sizeof d.identity) == 0;
    }
    /* 2000 each; never twice in a row makes the deviation smaller than the binomial's 40. */
    for (uint32_t i = 1; i < 6; i++)
        assert_in_range(count[i], 1800, 2200);
    tacit_members_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signature_covers_all_but_age),
        cmocka_unit_test(test_endpoints),
        cmocka_unit_test(test_bytes_there_and_back),
        cmocka_unit_test(test_bytes_malformed),
        cmocka_unit_test(test_flipped_bytes),
        cmocka_unit_test(test_forged_descriptor_refused_whole),
        cmocka_unit_test(test_stolen_descriptor),
        cmocka_unit_test(test_own_never_enters),
        cmocka_unit_test(test_newest_stamp_then_least_age),
        cmocka_unit_test(test_allow_list),
        cmocka_unit_test(test_flood_costs_little),
        cmocka_unit_test(test_replies_nobody_asked_for),
        cmocka_unit_test(test_any_half_is_sent),
        cmocka_unit_test(test_swapper_swaps),
        cmocka_unit_test(test_healer_drops_the_oldest),
        cmocka_unit_test(test_ages_and_silent_peers),
        cmocka_unit_test(test_silent_peer_speaks),
        cmocka_unit_test(test_forgotten_until_news),
        cmocka_unit_test(test_renew),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_sample_not_twice),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
