/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_TEST_GOLDEN_H
#define TACIT_TEST_GOLDEN_H
/* Reference values from tests/golden/epsilon*.csv, and what they say as losses. */
#include "tacit/account.h"

typedef struct golden_row {
    char name[96], mechanism[48], params[400], source[160], kind[24];
    double delta, epsilon;
} golden_row;

typedef struct golden {
    golden_row *row;
    size_t count;
} golden;

golden golden_read(const char *file); /* fails the test if it cannot */
void golden_free(golden *g);
/* The number behind "key" in the row's parameters; NAN if there is none. */
double golden_number(const golden_row *row, const char *key);
bool golden_says(const golden_row *row, const char *word); /* in source or parameters */
/* The losses of a row, of which there are *count (at most 4); false for what has none. */
bool golden_losses(const golden_row *row, tacit_loss *loss, size_t *count);

#endif
