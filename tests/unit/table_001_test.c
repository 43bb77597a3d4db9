/* SPDX-License-Identifier: Apache-2.0 */
/* Table 4.1 of thesis 001 in small: the simulated adversary finds what is claimed and no more, and
 * every broken build is caught. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce/table_001.h"
#include "tacit/audit.h"
#include "testing.h"

static gossip small(void)
{
    return (gossip){.users = 60,
                    .partners = 14,
                    .colluders = 10,
                    .drops = 5,
                    .epsilon = 4,
                    .delta = 1e-5,
                    .trials = SLOW ? 800 : 3000,
                    .seed = 5};
}

static void test_plan(void **state)
{
    (void)state;
    tacit_error err = {0};
    gossip g = small();
    uint32_t honest = 0;
    check_ok(gossip_plan(&g, &err), &err);
    for (uint32_t u = 0; u < g.users; u++)
        honest += g.honest[u];
    assert_int_equal(honest, 45);
    assert_int_equal(g.survivors, 45);
    assert_true(g.honest[g.victim]);
    /* The sum alone takes 0.8 of mu, pair noise the rest. */
    assert_true(fabs(1 / (g.own * sqrt(45)) / g.mu - 0.8) < 1e-9);
    assert_true(g.pair > 0 && isfinite(g.pair));
    gossip_clear(&g);
}

/* Confidence 0.95, seeds fixed: the sound build could have been a false alarm once in twenty. */
static void test_audit(void **state)
{
    (void)state;
    tacit_error err = {0};
    gossip g = small();
    double shown[GOSSIP_BREAKS];
    check_ok(gossip_plan(&g, &err), &err);
    for (int b = 0; b < GOSSIP_BREAKS; b++)
        check_ok(gossip_audit(&shown[b], &g, (gossip_break)b, NULL, &err), &err);
    assert_true(shown[GOSSIP_SOUND] > 0.6 * g.epsilon && shown[GOSSIP_SOUND] <= g.epsilon);
    for (int b = GOSSIP_SOUND + 1; b < GOSSIP_BREAKS; b++)
        if (!(shown[b] > g.epsilon))
            fail_msg("\"%s\" was not caught: %g", gossip_breaks[b], shown[b]);
    gossip_clear(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plan), cmocka_unit_test(test_audit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
