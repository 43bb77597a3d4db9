/* SPDX-License-Identifier: Apache-2.0 */
/* Models as files and back: what a node leaves behind, and how a simulator looks at it. */
#include <stdlib.h>
#include <string.h>

#include "experiment/consortium.h"
#include "experiment/files.h"
#include "experiment/session.h"

/* ---- out ---- */

static size_t parameters_of(const tacit_model *model)
{
    const tacit_shape *shape = tacit_model_shape(model);
    size_t count = 0;
    for (uint32_t k = 0; k < shape->segments; k++)
        count += shape->segment[k].count;
    return count;
}

static void write_model(tacit_writer *out, const tacit_shape *shape, const tacit_secret *model)
{
    for (uint32_t k = 0; k < shape->segments; k++)
        for (size_t i = 0; i < shape->segment[k].count; i++) {
            const double value = model ? tacit_vector_get(tacit_vector_of_secret(model), k, i) : 0;
            tacit_write_bytes(out, &value, sizeof value);
        }
}

tacit_status tacit_models_save(const char *path, const tacit_model *model,
                               const tacit_secret *const *models, uint32_t count, tacit_error *err)
{
    const tacit_shape *shape = tacit_model_shape(model);
    tacit_folder folder;
    tacit_outfile file;
    tacit_status status = tacit_folder_look(&folder, path, err);
    if (status)
        return status;
    status = tacit_outfile_open(&file, &folder, "models.npy", err);
    if (status)
        goto out;
    tacit_npy_header(&file.text, TACIT_F64, count, parameters_of(model));
    for (uint32_t i = 0; i < count && !status; i++) {
        write_model(&file.text, shape, models[i]);
        status = tacit_outfile_flush(&file, err);
    }
    if (status)
        tacit_outfile_drop(&file);
    else
        status = tacit_outfile_stage(&file, err);
    if (!status)
        status = tacit_outfile_publish(&folder, "models.npy", err);
    if (!status)
        status = tacit_folder_sync(&folder, err);
out:
    tacit_folder_close(&folder);
    return status;
}

/* ---- in ---- */

static void fill(tacit_vector *v, const tacit_shape *shape, const double *numbers)
{
    tacit_vector_init(v, shape, TACIT_VECTOR_SECRET);
    for (uint32_t k = 0; k < shape->segments; k++)
        for (size_t i = 0; i < shape->segment[k].count; i++)
            tacit_vector_set(v, k, i, *numbers++);
    v->flags |= TACIT_VECTOR_FROZEN;
}

tacit_status tacit_session_adopt(tacit_session *s, const double *models, tacit_error *err)
{
    const tacit_shape *shape = tacit_model_shape(s->model);
    const size_t parameters = parameters_of(s->model), line = TACIT_VECTOR_ALIGN;
    size_t step, bytes;
    free(s->given);
    s->given = NULL;
    if (!models)
        return TACIT_OK;
    if (!tacit_add_size(sizeof(tacit_vector) + line - 1, shape->bytes, &step) ||
        !tacit_mul_size(step -= step % line, s->graph.agents, &bytes) ||
        !(s->given = aligned_alloc(line, bytes ? bytes : line)))
        return tacit_out_of_memory(err);
    memset(s->given, 0, bytes);
    s->given_step = step;
    for (size_t i = 0; i < s->graph.agents; i++)
        fill((tacit_vector *)(void *)(s->given + i * step), shape, models + i * parameters);
    return TACIT_OK;
}
