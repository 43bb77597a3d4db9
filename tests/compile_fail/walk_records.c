/* SPDX-License-Identifier: Apache-2.0 */
/* With public headers alone nobody walks records: who could, could write them into a message. */
#include "tacit/tacit.h"

size_t peek(tacit_env *env);
size_t peek(tacit_env *env)
{
    const tacit_shard *shard = tacit_own_data(env, TACIT_TRAIN);
    const tacit_batch *batch = NULL; /* refused */
    return shard && batch;
}
