/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_BASE_CHACHA_H
#define TACIT_BASE_CHACHA_H
/* ChaCha20's quarter round (RFC 8439, section 2.1) on words or on vectors of words, for those who
 * compute many blocks side by side. */

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

#endif
