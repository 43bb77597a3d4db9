/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_RANDOM_WORDS_H
#define TACIT_RANDOM_WORDS_H
/*
 * The words of a stream, one after the other, in its order. A batch may be fetched ahead, but
 * never more words than are certain to be used: so what comes out depends on the stream alone
 * and not on how the draws were divided into calls.
 */
#include "tacit/random.h"

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

typedef struct tacit_words {
    const uint64_t *at, *end; /* fetched, not yet used */
    tacit_stream *stream;
} tacit_words;

static inline uint64_t tacit_words_next(tacit_words *words)
{
    return words->at < words->end ? *words->at++ : tacit_stream_u64(words->stream);
}

#endif
