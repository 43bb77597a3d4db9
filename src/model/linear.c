/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linear models: prediction theta . x, logistic loss log(1 + exp(-y z)) with y in {-1, +1},
 * squared loss (z - y)^2 as paper 000 section 5.2 writes it (no one half), or, with K vectors of
 * weights, the softmax loss of softmax.h.
 */
#include "model/linear.h"

#include <math.h>
#include <stdlib.h>

#include "base/vector_internal.h"
#include "math/net_kernels.h"
#include "model/softmax.h"

static const char *const losses[] = {"logistic", "squared", "softmax", NULL};
static const char *const scalars[] = {"f32", "f64", NULL};
#define FIELD(name) offsetof(tacit_model_options, name)

static const tacit_option options[] = {
    {.key = "loss",
     .type = TACIT_OPT_CHOICE,
     .fallback = "logistic",
     .choices = losses,
     .offset = FIELD(loss),
     .help = "logistic for labels -1 and +1, squared for numbers, softmax for labels 0, 1, 2, ..."},
    {.key = "classes",
     .type = TACIT_OPT_INT,
     .fallback = "0",
     .min = 0,
     .max = TACIT_CLASSES_MOST,
     .offset = FIELD(classes),
     .help = "softmax: labels are 0 to this less one; 0: as the largest label says, which peers "
             "cannot know of each other"},
    {.key = "lambda",
     .type = TACIT_OPT_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1e12,
     .offset = FIELD(lambda),
     .help = "weight of the squared norm; 0: lambda-records over the agent's number of records"},
    {.key = "lambda-records",
     .type = TACIT_OPT_REAL,
     .fallback = "1",
     .min = 1e-12,
     .max = 1e12,
     .offset = FIELD(lambda_records),
     .help = "with lambda 0: the weight is this over the agent's number of records"},
    {.key = "scalar",
     .type = TACIT_OPT_CHOICE,
     .fallback = "f64",
     .choices = scalars,
     .offset = FIELD(scalar),
     .help = "how records and models are stored and sent; f32 halves memory and traffic (nets are "
             "always f32)"},
    {.key = "layers",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .offset = FIELD(layers),
     .help =
         "a neural net: dense N, conv N HxW [pad P] [step S], pool N, norm G, relu, tanh, mish, "
         "split ... join, with commas between; its loss is softmax, whatever model.loss says, "
         "and model.lambda 0 is no regulariser; empty: a linear model"},
    {.key = "input",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .offset = FIELD(input),
     .help = "of a net: planes x height x width of a record, such as 1x28x28; empty: no picture"},
};

const tacit_section tacit_model_section = {.name = "model",
                                           .options = options,
                                           .count = sizeof options / sizeof *options,
                                           .size = sizeof(tacit_model_options)};

static tacit_status check_classes(const tacit_model_options *o, tacit_error *err)
{
    if (o->loss != TACIT_SOFTMAX)
        return o->classes == 0 ? TACIT_OK
                               : tacit_fail(err, TACIT_EINPUT,
                                            "\"model.classes\" is for \"model.loss: softmax\"");
    if (o->classes >= 2 && o->classes <= TACIT_CLASSES_MOST)
        return TACIT_OK;
    if (o->classes == 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "nobody knows how many classes others' records have; with \"model.loss: "
                          "softmax\" say so by \"model.classes\"");
    return tacit_fail(
        err, TACIT_EINPUT,
        "the softmax loss takes 2 to %d classes, not %lld; look at the labels, or set "
        "\"model.classes\"",
        TACIT_CLASSES_MOST, (long long)o->classes);
}

tacit_scalar tacit_model_options_scalar(const tacit_model_options *o)
{
    return o->layers[0] ? TACIT_F32 : (tacit_scalar)o->scalar;
}

/* What a model is, by its net or its loss: classes and parameters. */
static tacit_status size_up(tacit_model *model, const tacit_model_options *o, tacit_error *err)
{
    if (o->layers[0]) {
        tacit_status status = tacit_net_of_options(&model->net, o, model->features, err);
        if (status != TACIT_OK)
            return status;
        model->loss = TACIT_SOFTMAX;
        model->classes = tacit_net_classes(model->net);
        model->parameters = tacit_net_parameters(model->net);
        return TACIT_OK;
    }
    tacit_status status = check_classes(o, err);
    if (status != TACIT_OK)
        return status;
    model->loss = (tacit_row_loss)o->loss;
    model->classes = o->loss == TACIT_SOFTMAX ? (size_t)o->classes : 1;
    return tacit_mul_size(model->features, model->classes, &model->parameters)
               ? TACIT_OK
               : tacit_out_of_memory(err);
}

tacit_status tacit_model_create(tacit_model **out, const tacit_model_options *o, size_t features,
                                tacit_error *err)
{
    if (features == 0)
        return tacit_fail(err, TACIT_EINPUT, "the data has no features; a model needs one");
    tacit_model *model = calloc(1, sizeof *model);
    if (!model)
        return tacit_out_of_memory(err);
    model->lambda = o->lambda;
    model->lambda_records = o->lambda_records > 0 ? o->lambda_records : 1;
    model->features = features;
    tacit_status status = size_up(model, o, err);
    const tacit_segment weights = {"weights", tacit_model_options_scalar(o), model->parameters};
    const tacit_segment value = {"value", TACIT_F64, 1};
    if (status == TACIT_OK)
        status = tacit_shape_init(&model->shape, &weights, 1, err);
    if (status == TACIT_OK)
        status = tacit_shape_init(&model->scalar_shape, &value, 1, err);
    if (status != TACIT_OK) {
        tacit_model_free(model);
        return status;
    }
    if (!model->net)
        tacit_statistics_shape_init(model);
    *out = model;
    return TACIT_OK;
}

void tacit_model_free(tacit_model *model)
{
    if (!model)
        return;
    tacit_net_free(model->net);
    free(model);
}

const struct tacit_net *tacit_model_net(const tacit_model *model)
{
    return model ? model->net : NULL;
}

size_t tacit_model_classes(const tacit_model *model)
{
    return model->loss == TACIT_SOFTMAX ? model->classes : 0;
}

size_t tacit_model_parameters(const tacit_model *model)
{
    return model->parameters;
}

tacit_status tacit_refuse_net(const tacit_model *model, const char *what, tacit_error *err)
{
    if (!model->net)
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT,
                      "%s is for linear models: leave out \"model.layers\", or use a protocol for "
                      "neural nets (\"dsgd\", \"dsgt\", \"dinno\")",
                      what);
}

tacit_status tacit_refuse_softmax(const tacit_model *model, const char *what, tacit_error *err)
{
    if (model->net)
        return tacit_refuse_net(model, what, err);
    if (model->loss != TACIT_SOFTMAX)
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT,
                      "%s cannot be had with \"model.loss: softmax\"; use \"logistic\" or "
                      "\"squared\", or another protocol",
                      what);
}

const tacit_shape *tacit_model_shape(const tacit_model *model)
{
    return &model->shape;
}

const tacit_shape *tacit_model_scalar_shape(const tacit_model *model)
{
    return &model->scalar_shape;
}

const char *tacit_model_score_name(const tacit_model *model)
{
    return model->loss == TACIT_SQUARED ? "rmse" : "accuracy";
}

bool tacit_model_score_up(const tacit_model *model)
{
    return model->loss != TACIT_SQUARED;
}

double tacit_model_lambda(const tacit_model *model, size_t records)
{
    if (model->lambda > 0 || model->net)
        return model->lambda;
    return records ? model->lambda_records / (double)records : 0;
}

double tacit_model_smoothness_bound(const tacit_model *model, double radius)
{
    return model->net ? INFINITY : tacit_loss_steepest(model->loss) * radius * radius;
}

double tacit_loss_steepest(tacit_row_loss loss)
{
    static const double most[] = {
        [TACIT_LOGISTIC] = 0.25, [TACIT_SQUARED] = 2, [TACIT_SOFTMAX] = 0.5};
    return most[loss];
}

double tacit_loss_value(tacit_row_loss loss, double z, double y)
{
    if (loss == TACIT_SQUARED)
        return (z - y) * (z - y);
    double t = y * z; /* log(1 + exp(-t)) without overflow */
    return t > 0 ? log1p(exp(-t)) : log1p(exp(t)) - t;
}

double tacit_loss_slope(tacit_row_loss loss, double z, double y)
{
    return loss == TACIT_SQUARED ? 2 * (z - y) : -y / (1 + exp(y * z));
}

double tacit_loss_curve(tacit_row_loss loss, double z, double y)
{
    if (loss == TACIT_SQUARED)
        return 2;
    double s = 1 / (1 + exp(-y * z));
    return s * (1 - s);
}

void tacit_row_doubles(const tacit_batch *batch, tacit_scalar scalar, size_t features, size_t row,
                       double *out, double *y)
{
    if (scalar == TACIT_F64) {
        const double *x = (const double *)batch->x + row * features;
        for (size_t k = 0; k < features; k++)
            out[k] = x[k];
        *y = ((const double *)batch->y)[row];
        return;
    }
    const float *x = (const float *)batch->x + row * features;
    for (size_t k = 0; k < features; k++)
        out[k] = x[k];
    *y = ((const float *)batch->y)[row];
}

static double label(const tacit_batch *batch, tacit_scalar scalar, size_t row)
{
    return scalar == TACIT_F64 ? ((const double *)batch->y)[row]
                               : (double)((const float *)batch->y)[row];
}

static double margin(const tacit_batch *batch, tacit_scalar scalar, size_t features, size_t row,
                     const double *theta)
{
    double z = 0;
    if (!theta)
        return 0;
    if (scalar == TACIT_F64) {
        const double *x = (const double *)batch->x + row * features;
        for (size_t k = 0; k < features; k++)
            z += x[k] * theta[k];
        return z;
    }
    const float *x = (const float *)batch->x + row * features;
    for (size_t k = 0; k < features; k++)
        z += (double)x[k] * theta[k];
    return z;
}

static bool is_label(const tacit_model *model, double y)
{
    if (model->loss == TACIT_LOGISTIC)
        return fabs(y) == 1;
    return y >= 0 && y < (double)model->classes && y == floor(y);
}

static tacit_status bad_label(const tacit_model *model, double y, tacit_error *err)
{
    if (model->net)
        return tacit_fail(err, TACIT_EINPUT,
                          "label %g: a net whose last layer has %zu outputs needs labels 0 to %zu; "
                          "list the labels in \"data.classes\", or give it more outputs",
                          y, model->classes, model->classes - 1);
    if (model->loss == TACIT_LOGISTIC)
        return tacit_fail(err, TACIT_EINPUT,
                          "label %g: the logistic loss needs labels -1 and +1; set "
                          "\"data.positive\" or \"model.loss: squared\"",
                          y);
    return tacit_fail(err, TACIT_EINPUT,
                      "label %g: the softmax loss with %zu classes needs labels 0 to %zu; list the "
                      "labels in \"data.classes\", or raise \"model.classes\"",
                      y, model->classes, model->classes - 1);
}

tacit_status tacit_model_create_for(tacit_model **out, const tacit_model_options *o,
                                    const tacit_dataset *data, tacit_error *err)
{
    tacit_model_options known = *o;
    double most = 0;
    const bool unknown = o->loss == TACIT_SOFTMAX && o->classes == 0 && !o->layers[0];
    for (int split = 0; split < TACIT_SPLITS && unknown; split++) {
        const tacit_shard *all = tacit_dataset_pooled(data, (tacit_split)split);
        tacit_batch batch;
        for (size_t cursor = 0; tacit_shard_next(all, &cursor, &batch);)
            for (size_t r = 0; r < batch.rows; r++)
                most = fmax(most, label(&batch, tacit_shard_scalar(all), r));
    }
    if (unknown) /* one too many is one too many to take */
        known.classes = 1 + (int64_t)fmin(most, TACIT_CLASSES_MOST);
    return tacit_model_create(out, &known, tacit_dataset_features(data), err);
}

tacit_status tacit_model_check(const tacit_model *model, const tacit_dataset *data,
                               tacit_error *err)
{
    if (tacit_dataset_features(data) != model->features)
        return tacit_fail(err, TACIT_EINPUT, "the data has %zu features, the model %zu",
                          tacit_dataset_features(data), model->features);
    if (tacit_dataset_scalar(data) != model->shape.segment[0].scalar)
        return tacit_fail(err, TACIT_EINPUT, "the data and the model differ in \"scalar\"");
    if (model->loss == TACIT_SQUARED)
        return TACIT_OK;
    for (int split = 0; split < TACIT_SPLITS; split++) {
        const tacit_shard *all = tacit_dataset_pooled(data, (tacit_split)split);
        tacit_batch batch;
        for (size_t cursor = 0; tacit_shard_next(all, &cursor, &batch);)
            for (size_t r = 0; r < batch.rows; r++)
                if (!is_label(model, label(&batch, tacit_shard_scalar(all), r)))
                    return bad_label(model, label(&batch, tacit_shard_scalar(all), r), err);
    }
    return TACIT_OK;
}

/* theta as doubles in `out` (parameters of them); NULL stays NULL. */
static const double *as_doubles(const tacit_model *model, const tacit_secret *at, double *out)
{
    if (!at)
        return NULL;
    const tacit_vector *v = tacit_vector_of_secret(at);
    for (size_t k = 0; k < model->parameters; k++)
        out[k] = tacit_vector_get(v, 0, k);
    return out;
}

static double norm2(size_t n, const double *x)
{
    double sum = 0;
    for (size_t k = 0; x && k < n; k++)
        sum += x[k] * x[k];
    return sum;
}

/* Over records: what they lose, or whether they are told right (rmse: squares of errors). */
static double sum_rows(const tacit_model *model, const tacit_shard *shard, const double *theta,
                       bool score)
{
    const tacit_scalar scalar = tacit_shard_scalar(shard);
    double sum = 0;
    if (model->loss == TACIT_SOFTMAX)
        return tacit_softmax_sum(model, shard, theta, score);
    tacit_batch batch;
    for (size_t cursor = 0; tacit_shard_next(shard, &cursor, &batch);)
        for (size_t r = 0; r < batch.rows; r++) {
            double z = margin(&batch, scalar, model->features, r, theta);
            double y = label(&batch, scalar, r);
            if (score && model->loss == TACIT_LOGISTIC)
                sum += (z >= 0) == (y > 0);
            else
                sum += tacit_loss_value(model->loss, z, y);
        }
    return sum;
}

double tacit_linear_loss(const tacit_model *model, const tacit_shard *shard, const double *theta)
{
    size_t rows = tacit_shard_rows(shard);
    double mean = rows ? sum_rows(model, shard, theta, false) / (double)rows : 0;
    return mean + tacit_model_lambda(model, rows) * norm2(model->parameters, theta);
}

/* The regularised loss of a net. */
static double net_loss(const tacit_model *model, const tacit_shard *shard, const tacit_secret *at)
{
    const size_t rows = tacit_shard_rows(shard);
    const double mean = rows ? tacit_net_sum(model, shard, at, false) / (double)rows : 0;
    if (!at || model->lambda == 0)
        return mean;
    tacit_vector *v = tacit_vector_of_secret(at);
    return mean + model->lambda * tacit_net_kernels_get()->square(model->parameters,
                                                                  tacit_vector_segment(v, 0));
}

tacit_private_metric tacit_model_loss(const tacit_model *model, const tacit_shard *shard,
                                      const tacit_secret *at)
{
    if (model->net)
        return (tacit_private_metric){net_loss(model, shard, at)};
    double *copy = malloc(model->parameters * sizeof *copy);
    if (!copy)
        return (tacit_private_metric){NAN};
    double loss = tacit_linear_loss(model, shard, as_doubles(model, at, copy));
    free(copy);
    return (tacit_private_metric){loss};
}

tacit_private_metric tacit_model_score(const tacit_model *model, const tacit_shard *shard,
                                       const tacit_secret *at)
{
    size_t rows = tacit_shard_rows(shard);
    if (model->net)
        return (tacit_private_metric){rows ? tacit_net_sum(model, shard, at, true) / (double)rows
                                           : NAN};
    double *copy = malloc(model->parameters * sizeof *copy);
    if (!copy || rows == 0) {
        free(copy);
        return (tacit_private_metric){NAN};
    }
    double mean = sum_rows(model, shard, as_doubles(model, at, copy), true) / (double)rows;
    free(copy);
    return (tacit_private_metric){model->loss == TACIT_SQUARED ? sqrt(mean) : mean};
}
