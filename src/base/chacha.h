/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_BASE_CHACHA_H
#define TACIT_BASE_CHACHA_H
/* ChaCha20's rounds (RFC 8439, section 2) on words or on vectors of words, for those who compute
 * many blocks side by side. */
#include <stdint.h>

static const uint32_t tacit_chacha_constant[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};

#define ROTATE(v, n) ((v) << (n) | (v) >> (32 - (n)))
#define QUARTER(a, b, c, d)    \
    do {                       \
        a += b;                \
        d = ROTATE(d ^ a, 16); \
        c += d;                \
        b = ROTATE(b ^ c, 12); \
        a += b;                \
        d = ROTATE(d ^ a, 8);  \
        c += d;                \
        b = ROTATE(b ^ c, 7);  \
    } while (0)

/* Twenty rounds of x[0] to x[15]. */
#define ROUNDS(x)                                      \
    do {                                               \
        for (int round = 0; round < 10; round++) {     \
            QUARTER((x)[0], (x)[4], (x)[8], (x)[12]);  \
            QUARTER((x)[1], (x)[5], (x)[9], (x)[13]);  \
            QUARTER((x)[2], (x)[6], (x)[10], (x)[14]); \
            QUARTER((x)[3], (x)[7], (x)[11], (x)[15]); \
            QUARTER((x)[0], (x)[5], (x)[10], (x)[15]); \
            QUARTER((x)[1], (x)[6], (x)[11], (x)[12]); \
            QUARTER((x)[2], (x)[7], (x)[8], (x)[13]);  \
            QUARTER((x)[3], (x)[4], (x)[9], (x)[14]);  \
        }                                              \
    } while (0)

#endif
