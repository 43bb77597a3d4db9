/* SPDX-License-Identifier: Apache-2.0 */
#include "masking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector_internal.h"

void numbers_make(numbers *x, size_t count)
{
    tacit_error err;
    check_ok(tacit_shape_init(&x->shape, &(tacit_segment){"numbers", TACIT_I64, count}, 1, &err),
             &err);
    tacit_vector *v = aligned_alloc(16, (sizeof *v + x->shape.bytes + 15) / 16 * 16);
    assert_non_null(v);
    tacit_vector_init(v, &x->shape, 0);
    memset(v->data, 0, x->shape.bytes);
    x->vector = tacit_vector_public(v);
}

void numbers_free(numbers *x)
{
    free(x->vector);
    x->vector = NULL;
}

int64_t *numbers_at(numbers *x)
{
    return tacit_vector_segment(tacit_vector_of_public(x->vector), 0);
}

const tacit_secret *numbers_secret(const numbers *x)
{
    return tacit_public_as_secret(x->vector);
}

int64_t any_number(dice *d)
{
    static const int64_t extreme[] = {INT64_MIN, INT64_MAX, -1, 0, 1, INT64_MIN + 1};
    if (dice_below(d, 4) == 0)
        return extreme[dice_below(d, sizeof extreme / sizeof *extreme)];
    return (int64_t)(dice_below(d, UINT64_C(1) << 32) << 32 | dice_below(d, UINT64_C(1) << 32));
}

tacit_agent circle_name(size_t k)
{
    return 10 + 3 * k;
}

void circle_make(circle *c, size_t agents)
{
    tacit_error err;
    for (size_t k = 0; k < agents; k++) {
        uint8_t seed[TACIT_MASK_KEY] = {(uint8_t)k, 1};
        tacit_mask_keys_make(&c->keys[k], seed);
        memset(c->secret[k], (int)(k + 100), TACIT_MASK_KEY);
    }
    for (size_t k = 0; k < agents; k++)
        for (size_t l = 0; l < agents; l++)
            if (k != l)
                check_ok(tacit_mask_agree(c->shared[k][l], &c->keys[k], c->keys[l].open, &err),
                         &err);
}

void masked_sum_make(masked_sum *s, const circle *all, uint64_t of, uint64_t count, bool split)
{
    tacit_error err;
    *s = (masked_sum){.all = all, .round = 1};
    for (size_t k = 0; k < MASKERS; k++)
        if (of >> k & 1) {
            s->who[s->count] = k;
            s->name[s->count++] = circle_name(k);
        }
    s->party = (tacit_mask_party){
        .member = s->name, .count = s->count, .numbers = count, .fraction = 20, .split = split};
    s->place = (tacit_mask_place){.run = {1, 2, 3}, .epoch = 5, .receiver = 1000};
    check_ok(tacit_mask_set(s->place.set, &s->party, &err), &err);
}

size_t masked_sum_masks(const masked_sum *s, size_t member, tacit_mask masks[MASKERS])
{
    size_t count = 0;
    for (size_t k = 0; k < s->count; k++) {
        bool adds;
        if (!tacit_mask_pair(&s->party, member, k, &adds))
            continue;
        tacit_mask_derive(masks[count].key, s->all->shared[s->who[member]][s->who[k]], &s->place,
                          s->name[member], s->name[k]);
        masks[count++].minus = !adds;
    }
    return count;
}

void masked_sum_seed(const masked_sum *s, size_t member, uint8_t seed[TACIT_MASK_KEY])
{
    tacit_mask_own(seed, s->all->secret[s->who[member]], &s->place, s->round, s->attempt);
}

void masked_sum_word(const masked_sum *s, size_t member, tacit_mask_turn *turn, const numbers *held,
                     numbers *word)
{
    tacit_error err;
    tacit_mask masks[MASKERS];
    uint8_t seed[TACIT_MASK_KEY];
    const size_t count = masked_sum_masks(s, member, masks);
    masked_sum_seed(s, member, seed);
    assert_int_equal(tacit_mask_turn_call(turn, s->round, s->attempt), TACIT_OK);
    check_ok(tacit_mask_word(turn, word->vector, 0, numbers_secret(held), masks, count, seed, &err),
             &err);
}

double not_uniform(const void *data, size_t len)
{
    const uint8_t *bytes = data;
    double count[256] = {0}, chi = 0, bits = 0, serial = 0;
    for (size_t k = 0; k < len; k++) {
        count[bytes[k]]++;
        bits += __builtin_popcount(bytes[k]) - 4;
        serial += (bytes[k] - 127.5) * (bytes[(k + 1) % len] - 127.5);
    }
    const double n = (double)len, expected = n / 256, variance = 65535.0 / 12;
    for (int b = 0; b < 256; b++)
        chi += (count[b] - expected) * (count[b] - expected) / expected;
    const double z[] = {fabs(chi - 255) / sqrt(2 * 255.0), fabs(bits) / sqrt(2 * n),
                        fabs(serial) / (variance * sqrt(n))};
    return fmax(z[0], fmax(z[1], z[2]));
}
