/* SPDX-License-Identifier: Apache-2.0 */
#include "tacit/protocol.h"

size_t tacit_view_size(uint32_t neighbours)
{
    return sizeof(tacit_view) + neighbours * sizeof(const tacit_public *);
}

void tacit_view_put(tacit_env *env, tacit_view *view, uint32_t slot, const tacit_public *vector)
{
    const tacit_public *old = view->latest[slot];
    view->latest[slot] = tacit_keep(vector);
    tacit_drop(env, old);
}

void tacit_view_end(tacit_env *env, tacit_view *view)
{
    for (uint32_t k = 0; k < view->count; k++) {
        tacit_drop(env, view->latest[k]);
        view->latest[k] = NULL;
    }
}

void tacit_view_save(const tacit_view *view, tacit_saver *saver)
{
    for (uint32_t k = 0; k < view->count; k++)
        tacit_save_public(saver, view->latest[k]);
}

void tacit_view_load(tacit_view *view, uint32_t neighbours, tacit_loader *loader,
                     const tacit_shape *shape)
{
    view->count = neighbours;
    for (uint32_t k = 0; k < neighbours; k++)
        view->latest[k] = tacit_load_public(loader, shape);
}
