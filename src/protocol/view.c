/* SPDX-License-Identifier: Apache-2.0 */
#include "tacit/protocol.h"

void tacit_view_put(tacit_env *env, const tacit_public **view, uint32_t slot,
                    const tacit_public *vector)
{
    const tacit_public *old = view[slot];
    view[slot] = tacit_keep(vector);
    tacit_drop(env, old);
}

void tacit_view_end(tacit_env *env, const tacit_public **view, uint32_t neighbours)
{
    for (uint32_t k = 0; k < neighbours; k++) {
        tacit_drop(env, view[k]);
        view[k] = NULL;
    }
}

void tacit_view_save(const tacit_public *const *view, uint32_t neighbours, tacit_saver *saver)
{
    for (uint32_t k = 0; k < neighbours; k++)
        tacit_save_public(saver, view[k]);
}

void tacit_view_load(const tacit_public **view, uint32_t neighbours, tacit_loader *loader,
                     const tacit_shape *shape)
{
    for (uint32_t k = 0; k < neighbours; k++)
        view[k] = tacit_load_public(loader, shape);
}
