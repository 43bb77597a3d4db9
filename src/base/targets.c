/* SPDX-License-Identifier: Apache-2.0 */
#include "tacit/targets.h"

#include <stdlib.h>

void tacit_targets_clear(tacit_targets *targets)
{
    free(targets->dense);
    free(targets->row);
    free(targets->column);
    free(targets->value);
    *targets = (tacit_targets){0};
}
