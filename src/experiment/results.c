/* SPDX-License-Identifier: Apache-2.0 */
/* What a run leaves in its folder, apart from metrics.csv. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/run.h"

tacit_status tacit_run_stage_text(tacit_run *r, const char *name, char *text, tacit_error *err)
{
    if (!text)
        return tacit_out_of_memory(err);
    tacit_outfile file;
    tacit_status status = tacit_outfile_open(&file, &r->folder, name, err);
    if (!status) {
        tacit_write_text(&file.text, text);
        status = tacit_outfile_stage(&file, err);
    }
    free(text);
    return status;
}

tacit_status tacit_run_stage_models(tacit_run *r, tacit_error *err)
{
    const tacit_session *s = r->session;
    const tacit_shape *shape = tacit_model_shape(s->model);
    const tacit_scalar scalar = shape->segment[0].scalar;
    tacit_outfile file;
    tacit_status status = tacit_outfile_open(&file, &r->folder, "models.npy", err);
    if (status)
        return status;
    uint64_t columns = 0;
    for (uint32_t k = 0; k < shape->segments; k++)
        columns += shape->segment[k].count;
    tacit_npy_header(&file.text, scalar, s->graph.agents, columns);
    for (uint32_t i = 0; i < s->graph.agents && !status; i++) {
        const tacit_secret *model = s->runtime->ops->agent_model(s->runtime, i);
        tacit_vector *v = model ? tacit_vector_of_secret(model) : s->zero;
        for (uint32_t k = 0; k < shape->segments; k++)
            tacit_write_bytes(&file.text, tacit_vector_segment(v, k),
                              shape->segment[k].count * tacit_scalar_size(scalar));
        status = tacit_outfile_flush(&file, err);
    }
    if (!status)
        return tacit_outfile_stage(&file, err);
    tacit_outfile_drop(&file);
    return status;
}

static bool is_finite(size_t count, const float *x)
{
    for (size_t k = 0; k < count; k++)
        if (!isfinite(x[k]))
            return false;
    return true;
}

/* Features of a table were divided before the net saw them: whoever uses the file must, too. */
tacit_status tacit_run_stage_model(tacit_run *r, bool *staged, tacit_error *err)
{
    const tacit_session *s = r->session;
    const tacit_net *net = tacit_model_net(s->model);
    const tacit_secret *model = net ? s->runtime->ops->agent_model(s->runtime, 0) : NULL;
    *staged = false;
    const float *theta = model ? tacit_vector_segment(tacit_vector_of_secret(model), 0) : NULL;
    if (!theta || !is_finite(tacit_net_parameters(net), theta))
        return TACIT_OK;
    const tacit_data_options *data = &s->experiment->data;
    const double divide = data->divide != 0 ? data->divide : 1;
    const float scale = (float)(1 / divide), shift = (float)(-data->subtract / divide);
    const bool scaled =
        !tacit_source_is_drawn(data->source) && (divide != 1 || data->subtract != 0);
    const tacit_net_model file = {
        .net = net, .theta = theta, .pairs = scaled ? 1 : 0, .scale = &scale, .shift = &shift};
    tacit_status status = tacit_folder_stage_model(&r->folder, &file, err);
    *staged = !status;
    return status;
}

tacit_status tacit_run_publish(tacit_run *r, const char *const *names, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (; *names && !status; names++) {
        status = tacit_outfile_publish(&r->folder, *names, err);
        if (!status && !strcmp(*names, TACIT_CHECKPOINT))
            r->folder.has_checkpoint = true;
    }
    return status ? status : tacit_folder_sync(&r->folder, err);
}
