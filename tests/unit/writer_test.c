/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in words: what is printed of a delta is never less than it is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/writer.h"
#include "testing.h"

static void test_rounded_up(void **state)
{
    (void)state;
    dice coin = {.state = 5};
    assert_true(tacit_rounded_up(1e-6) == 1e-6 && tacit_rounded_up(0) == 0);
    assert_true(tacit_rounded_up(1e-6 + 0x1p-40) == 1.00001e-6);
    assert_true(isnan(tacit_rounded_up(NAN)) && isinf(tacit_rounded_up(INFINITY)));
    for (int k = 0; k < 10000; k++) {
        char text[40];
        const double value = ldexp(1 + dice_unit(&coin), -(int)dice_below(&coin, 60));
        snprintf(text, sizeof text, "%g", tacit_rounded_up(value));
        const double said = strtod(text, NULL);
        assert_true(said >= value && said <= value * (1 + 1.001e-5));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounded_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
