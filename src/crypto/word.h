/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_WORD_H
#define TACIT_WORD_H
/* What words with masks (masks.c) and with noise (gossip.c) have in common. */
#include "base/vector_internal.h"
#include "tacit/masks.h"

/* The numbers of a segment, or NULL if they are no whole numbers. */
uint64_t *tacit_word_numbers(tacit_vector *v, uint32_t segment);
/* A word may be made of `in` for this turn: once, behind something, where nobody looks yet. */
tacit_status tacit_word_check(const tacit_mask_turn *turn, tacit_vector *out, uint32_t out_segment,
                              tacit_vector *in, size_t count, tacit_error *err);

#endif
