/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nets against a slow reference that shares no code: loops in double precision written down from
 * the definitions, whose gradients are central differences. Every kind of layer is there, alone and
 * in company. Then clipped sums against those of one record at a time, norms, and what is refused.
 *
 * Seeds are fixed and nothing is statistical: an alarm is a change of the code (or of the rounding
 * by more than the tolerances, which are ten times what was seen).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "model/net.h"
#include "model/net_layer.h"
#include "testing.h"

/* ---- the reference ---- */

static double curve(tacit_layer_kind kind, double x)
{
    switch (kind) {
    case TACIT_LAYER_RELU:
        return x > 0 ? x : 0;
    case TACIT_LAYER_TANH:
        return tanh(x);
    default:
        return x * tanh(log1p(exp(x)));
    }
}

static double pixel(const double *x, tacit_volume in, size_t plane, long row, long column)
{
    if (row < 0 || column < 0 || row >= (long)in.height || column >= (long)in.width)
        return 0;
    return x[(plane * in.height + (size_t)row) * in.width + (size_t)column];
}

static void slow_conv(const tacit_layer *l, tacit_volume in, tacit_volume out, const double *w,
                      const double *x, double *y)
{
    const double *bias = w + out.planes * in.planes * l->high * l->wide;
    const size_t step = l->step ? l->step : 1;
    for (size_t o = 0; o < out.planes; o++)
        for (size_t r = 0; r < out.height; r++)
            for (size_t c = 0; c < out.width; c++) {
                double sum = bias[o];
                for (size_t i = 0; i < in.planes; i++)
                    for (size_t a = 0; a < l->high; a++)
                        for (size_t b = 0; b < l->wide; b++)
                            sum += w[((o * in.planes + i) * l->high + a) * l->wide + b] *
                                   pixel(x, in, i, (long)(r * step + a) - (long)l->pad,
                                         (long)(c * step + b) - (long)l->pad);
                y[(o * out.height + r) * out.width + c] = sum;
            }
}

static void slow_pool(size_t side, tacit_volume in, tacit_volume out, const double *x, double *y)
{
    for (size_t p = 0; p < out.planes; p++)
        for (size_t r = 0; r < out.height; r++)
            for (size_t c = 0; c < out.width; c++) {
                double most = -INFINITY;
                for (size_t k = 0; k < side * side; k++)
                    most = fmax(most, pixel(x, in, p, (long)(r * side + k / side),
                                            (long)(c * side + k % side)));
                *y++ = most;
            }
}

static void slow_norm(size_t groups, tacit_volume v, const double *theta, const double *x,
                      double *y)
{
    const size_t pixels = v.height * v.width, n = v.planes / groups * pixels;
    for (size_t g = 0; g < groups; g++) {
        double mean = 0, variance = 0;
        for (size_t k = g * n; k < (g + 1) * n; k++)
            mean += x[k] / (double)n;
        for (size_t k = g * n; k < (g + 1) * n; k++)
            variance += (x[k] - mean) * (x[k] - mean) / (double)n;
        for (size_t k = g * n; k < (g + 1) * n; k++)
            y[k] = theta[k / pixels] * (x[k] - mean) / sqrt(variance + 1e-5) +
                   theta[v.planes + k / pixels];
    }
}

enum { LARGEST = 8192 }; /* numbers between layers of these tests' nets */

/* The loss of one record, from the definitions. Shapes are the plan's; the tests of shapes are
 * elsewhere. */
static double slow_loss(const tacit_net *net, const double *theta, const float *row, uint32_t label)
{
    static double flow[24][LARGEST];
    for (size_t k = 0; k < tacit_net_inputs(net); k++)
        flow[0][k] = (double)row[k];
    for (size_t k = 0; k < net->count; k++) {
        const tacit_net_layer *l = &net->layer[k];
        const double *x = flow[k], *w = theta + l->theta;
        double *y = flow[k + 1];
        switch (l->is.kind) {
        case TACIT_LAYER_DENSE:
            for (size_t o = 0; o < l->outputs; o++) {
                y[o] = w[l->outputs * l->inputs + o];
                for (size_t i = 0; i < l->inputs; i++)
                    y[o] += w[o * l->inputs + i] * x[i];
            }
            break;
        case TACIT_LAYER_CONV:
            slow_conv(&l->is, l->in, l->out, w, x, y);
            break;
        case TACIT_LAYER_POOL:
            slow_pool(l->is.width, l->in, l->out, x, y);
            break;
        case TACIT_LAYER_NORM:
            slow_norm(l->is.width, l->in, w, x, y);
            break;
        case TACIT_LAYER_SPLIT:
            memcpy(y, x, l->inputs * sizeof *y);
            break;
        case TACIT_LAYER_JOIN:
            for (size_t i = 0; i < l->inputs; i++)
                y[i] = x[i] + flow[l->partner][i];
            break;
        default:
            for (size_t i = 0; i < l->inputs; i++)
                y[i] = curve(l->is.kind, x[i]);
        }
    }
    const double *z = flow[net->count];
    double sum = 0;
    for (size_t k = 0; k < tacit_net_classes(net); k++)
        sum += exp(z[k] - z[label]);
    return log(sum);
}

/* ---- nets under test ---- */

typedef struct scene {
    tacit_net *net;
    tacit_net_room *room;
    size_t n, records;
    float *theta, *rows;
    const float **row;
    uint32_t *label;
} scene;

static scene make(const char *text, tacit_volume in, size_t records, dice *d)
{
    scene s = {.records = records};
    tacit_layer layers[TACIT_LAYERS_MOST];
    size_t count;
    tacit_error err = {0};
    check_ok(tacit_layers_parse(text, layers, &count, &err), &err);
    check_ok(tacit_net_create(&s.net, in, layers, count, &err), &err);
    check_ok(tacit_net_room_create(&s.room, s.net, &err), &err);
    const size_t inputs = tacit_net_inputs(s.net);
    s.n = tacit_net_parameters(s.net);
    s.theta = calloc(s.n, sizeof *s.theta);
    s.rows = calloc(records * inputs + 1, sizeof *s.rows);
    s.row = calloc(records + 1, sizeof *s.row);
    s.label = calloc(records + 1, sizeof *s.label);
    tacit_random random;
    tacit_stream stream;
    tacit_random_init(&random, 1 + dice_below(d, 1000));
    tacit_stream_open(&stream, &random, 1, TACIT_FOR_TEST, 0);
    tacit_net_start(s.net, &stream, s.theta);
    for (size_t k = 0; k < s.n; k++) /* so that no scale is 1 and no shift 0 */
        s.theta[k] += (float)(0.1 * dice_normal(d));
    for (size_t k = 0; k < records * inputs; k++)
        s.rows[k] = (float)dice_normal(d);
    for (size_t r = 0; r < records; r++) {
        s.row[r] = s.rows + r * inputs;
        s.label[r] = (uint32_t)dice_below(d, tacit_net_classes(s.net));
    }
    return s;
}

static void clear(scene *s)
{
    tacit_net_free(s->net);
    tacit_net_room_free(s->room);
    free(s->theta);
    free(s->rows);
    free(s->row);
    free(s->label);
}

static tacit_net_lot lot(const scene *s)
{
    return (tacit_net_lot){s->records, s->row, s->label};
}

static tacit_net_report gradient(const scene *s, tacit_net_lot some, float clip, float *sum)
{
    tacit_net_report report;
    tacit_error err = {0};
    check_ok(tacit_net_gradient(s->net, s->room, s->theta, &some, clip, sum, &report, &err), &err);
    return report;
}

static const struct {
    const char *layers;
    tacit_volume in;
} nets[] = {
    {"dense 3", {7, 1, 1}},
    {"dense 10", {33, 1, 1}},
    {"dense 17, relu, dense 4", {5, 1, 1}},
    {"dense 9, tanh, dense 3", {16, 1, 1}},
    {"dense 20, mish, dense 16, mish, dense 5", {12, 1, 1}},
    {"conv 3 5x5, mish, pool 2, dense 4", {1, 21, 22}},             /* direct kernels */
    {"conv 2 3x4, tanh, conv 5 2x2, pool 2, dense 3", {2, 20, 19}}, /* direct above direct */
    {"conv 3 5x5 pad 2, mish, pool 2, dense 3", {2, 9, 17}},        /* direct with a border */
    {"conv 4 3x3, relu, pool 3, dense 3", {2, 9, 8}},               /* unrolled */
    {"conv 4 3x3 pad 1, mish, conv 3 3x3 pad 1 step 2, dense 3", {2, 7, 6}},
    {"conv 5 3x2 pad 2 step 3, tanh, dense 3", {1, 8, 7}},
    {"conv 6 3x3 pad 1, norm 3, relu, pool 2, dense 3", {2, 6, 6}},
    {"norm 2, dense 3", {4, 3, 3}},
    {"norm 1, conv 4 1x1, norm 4, tanh, dense 3", {2, 4, 5}},
    {"conv 4 3x3 pad 1, norm 2, relu, split, conv 4 3x3 pad 1, norm 2, relu, join, pool 2, dense 3",
     {2, 6, 6}},
    {"dense 8, split, mish, dense 8, split, tanh, join, join, mish, dense 3", {6, 1, 1}},
    {"split, relu, join, dense 3", {6, 1, 1}},
    {"conv 64 3x3 pad 1, relu, pool 2, conv 64 3x3, mish, dense 3", {8, 8, 8}}, /* gram */
    {"conv 24 5x5, relu, dense 2", {8, 9, 9}},                                  /* twice */
    {"pool 2, conv 3 2x2, mish, pool 2, dense 3", {1, 13, 12}},
};
#define NETS (sizeof nets / sizeof *nets)

static double largest_of(size_t n, const float *x)
{
    double most = 0;
    for (size_t k = 0; k < n; k++)
        most = fmax(most, fabs((double)x[k]));
    return most;
}

/* Central differences of the reference, h = 1e-5: off by h^2 times a third derivative, and 1e-11
 * for rounding. Kinks of relu and pool within h of a number would show; none is, with these
 * seeds. */
static void test_gradients(void **state)
{
    (void)state;
    dice d = {11};
    for (size_t q = 0; q < NETS; q++) {
        scene s = make(nets[q].layers, nets[q].in, 3, &d);
        float *sum = calloc(s.n, sizeof *sum);
        double *theta = calloc(s.n, sizeof *theta), loss = 0;
        tacit_net_report report = gradient(&s, lot(&s), INFINITY, sum);
        for (size_t k = 0; k < s.n; k++)
            theta[k] = (double)s.theta[k];
        for (size_t r = 0; r < s.records; r++)
            loss += slow_loss(s.net, theta, s.row[r], s.label[r]);
        assert_true(fabs(loss - report.loss) < 1e-5 * (1 + loss));
        const double scale = largest_of(s.n, sum);
        const size_t skip = 1 + s.n / (SLOW ? 60 : 400); /* of large nets some parameters */
        for (size_t k = 0; k < s.n; k += 1 + dice_below(&d, 2 * skip - 1)) {
            const double h = 1e-5, at = theta[k];
            double slope = 0;
            for (size_t r = 0; r < s.records; r++) {
                theta[k] = at + h;
                slope += slow_loss(s.net, theta, s.row[r], s.label[r]) / (2 * h);
                theta[k] = at - h;
                slope -= slow_loss(s.net, theta, s.row[r], s.label[r]) / (2 * h);
            }
            theta[k] = at;
            if (fabs(slope - (double)sum[k]) > 2e-5 * scale)
                fail_msg("\"%s\", parameter %zu: %.9g, by differences %.9g", nets[q].layers, k,
                         (double)sum[k], slope);
        }
        free(sum);
        free(theta);
        clear(&s);
    }
}

/* Each record's gradient on its own, clipped in double precision and added. */
static double naive_sum(const scene *s, double clip, double *sum, double *norm)
{
    float *one = calloc(s->n, sizeof *one);
    double total = 0;
    memset(sum, 0, s->n * sizeof *sum);
    for (size_t r = 0; r < s->records; r++) {
        gradient(s, (tacit_net_lot){1, s->row + r, s->label + r}, INFINITY, one);
        double square = 0;
        for (size_t k = 0; k < s->n; k++)
            square += (double)one[k] * (double)one[k];
        norm[r] = sqrt(square);
        for (size_t k = 0; k < s->n; k++)
            sum[k] += (double)one[k] * fmin(1, clip / norm[r]);
    }
    for (size_t k = 0; k < s->n; k++)
        total += sum[k] * sum[k];
    free(one);
    return sqrt(total);
}

/* The sum for releases, over 40 times the lot: as much, to within what is promised of it. */
static void check_total(const char *name, const scene *s, float clip, const double *want)
{
    enum { TIMES = 40 };
    const size_t records = TIMES * s->records;
    const float **row = calloc(records, sizeof *row);
    uint32_t *label = calloc(records, sizeof *label);
    float *part = calloc(s->n, sizeof *part);
    double *total = calloc(s->n, sizeof *total), away = 0;
    for (size_t r = 0; r < records; r++) {
        row[r] = s->row[r % s->records];
        label[r] = s->label[r % s->records];
    }
    tacit_net_report report;
    tacit_error err = {0};
    check_ok(tacit_net_total(s->net, s->room, s->theta, &(tacit_net_lot){records, row, label}, clip,
                             part, total, &report, &err),
             &err);
    for (size_t k = 0; k < s->n; k++) {
        away += pow(TIMES * want[k] - total[k], 2);
        assert_true(part[k] == 0);
    }
    /* 1e-5 a record is how well single precision knows its gradient at all. */
    const double room = (tacit_net_total_error(records) + 1e-5 * (double)records);
    if (sqrt(away) > room * (double)clip)
        fail_msg("\"%s\": the total of %zu records is %.3g clips away, not %.3g", name, records,
                 sqrt(away) / (double)clip, room);
    free((void *)(uintptr_t)row);
    free(label);
    free(part);
    free(total);
}

static void check_clipped(const char *name, const scene *s)
{
    double *want = calloc(s->n, sizeof *want), *norm = calloc(s->records, sizeof *norm);
    double *ghost = calloc(s->records, sizeof *ghost), away = 0;
    float *sum = calloc(s->n, sizeof *sum);
    tacit_net_lot all = lot(s);
    tacit_error err = {0};
    naive_sum(s, INFINITY, want, norm);
    check_ok(tacit_net_norms(s->net, s->room, s->theta, &all, ghost, &err), &err);
    double clip = 0;
    for (size_t r = 0; r < s->records; r++) {
        if (fabs(ghost[r] - norm[r]) > 1e-5 * norm[r])
            fail_msg("\"%s\", record %zu: norm %.9g, ghost norm %.9g", name, r, norm[r], ghost[r]);
        clip += norm[r] / (double)s->records;
    }
    clip = (float)clip; /* the mean: some are clipped, some not */
    const double length = naive_sum(s, clip, want, norm);
    size_t longer = 0;
    for (size_t r = 0; r < s->records; r++)
        longer += norm[r] > clip;
    tacit_net_report report = gradient(s, all, (float)clip, sum);
    assert_int_equal(report.clipped, longer);
    assert_true(longer > 0 && longer < s->records);
    assert_int_equal(report.broken, 0);
    for (size_t k = 0; k < s->n; k++)
        away += pow(want[k] - (double)sum[k], 2);
    if (sqrt(away) > 1e-5 * length)
        fail_msg("\"%s\": clipped sum is %.3g of %.3g away", name, sqrt(away), length);
    check_total(name, s, (float)clip, want);
    free(want);
    free(norm);
    free(ghost);
    free(sum);
}

static void test_clipped_sums(void **state)
{
    (void)state;
    dice d = {12};
    for (size_t q = 0; q < NETS; q++) {
        scene s = make(nets[q].layers, nets[q].in, 2 + dice_below(&d, 9), &d);
        check_clipped(nets[q].layers, &s);
        clear(&s);
    }
}

/* Of what a release counts of one record. */
static double total_length(const scene *s, size_t r, float clip, float *part)
{
    double *total = calloc(s->n, sizeof *total), square = 0;
    tacit_net_report report;
    tacit_error err = {0};
    const tacit_net_lot one = {1, s->row + r, s->label + r};
    check_ok(tacit_net_total(s->net, s->room, s->theta, &one, clip, part, total, &report, &err),
             &err);
    for (size_t k = 0; k < s->n; k++)
        square += total[k] * total[k];
    free(total);
    return sqrt(square);
}

/* What counts of a record is never longer than the clip, and hardly shorter. Norms by Gram matrices
 * are rounded like any product in single precision, so there it is a tolerance. */
static void test_never_longer(void **state)
{
    (void)state;
    dice d = {27};
    for (size_t q = 0; q < NETS; q++) {
        scene s = make(nets[q].layers, nets[q].in, 12, &d);
        float *sum = calloc(s.n, sizeof *sum);
        const float clip = (float)dice_between(&d, 1e-6, 1e-2);
        const double slack = strstr(nets[q].layers, "conv 64 3x3,") ? 1e-5 : 0;
        for (size_t r = 0; r < s.records; r++) {
            double square = 0;
            gradient(&s, (tacit_net_lot){1, s.row + r, s.label + r}, clip, sum);
            for (size_t k = 0; k < s.n; k++)
                square += (double)sum[k] * (double)sum[k];
            assert_true(sqrt(square) <= (double)clip * (1 + slack));
            assert_true(sqrt(square) >= (double)clip * (1 - 1e-6 - slack));
            assert_true(total_length(&s, r, clip, sum) <= (double)clip); /* no tolerance here */
        }
        free(sum);
        clear(&s);
    }
}

#define PAPER "conv 3 5x5, mish, pool 2, dense 64, mish, dense 10"

static void test_paper_net(void **state)
{
    (void)state;
    dice d = {13};
    scene s = make(PAPER, (tacit_volume){1, 32, 32}, SLOW ? 13 : 150, &d);
    assert_int_equal(s.n, 38424);
    assert_int_equal(s.net->layer[3].inputs, 588);
    assert_int_equal(tacit_net_classes(s.net), 10);
    if (!SLOW)
        assert_true(s.records > s.net->tile); /* more than one tile, the last not full */
    check_clipped(PAPER, &s);
    clear(&s);
}

#define BLOCK(n) "conv " n " 3x3 pad 1, norm 8, relu"
#define RESNET9(classes)                                                                           \
    BLOCK("64")                                                                                    \
    ", " BLOCK("128") ", pool 2, split, " BLOCK("128") ", " BLOCK("128") ", join, " BLOCK(         \
        "256") ", pool 2, " BLOCK("512") ", pool 2, split, " BLOCK("512") ", " BLOCK("512") ", "   \
                                                                                            "join" \
                                                                                            ", "   \
                                                                                            "pool" \
                                                                                            " 4, " \
                                                                                            "dens" \
                                                                                            "e"    \
                                                                                            " " classes

static void test_resnet(void **state)
{
    (void)state;
    dice d = {14};
    tacit_layer layers[TACIT_LAYERS_MOST];
    size_t count;
    tacit_net *net;
    tacit_error err = {0};
    check_ok(tacit_layers_parse(RESNET9("100"), layers, &count, &err), &err);
    check_ok(tacit_net_create(&net, (tacit_volume){3, 32, 32}, layers, count, &err), &err);
    const size_t conv[8][2] = {{3, 64},    {64, 128},  {128, 128}, {128, 128},
                               {128, 256}, {256, 512}, {512, 512}, {512, 512}};
    size_t want = 512 * 100 + 100;
    for (size_t k = 0; k < 8; k++)
        want += conv[k][1] * (conv[k][0] * 9 + 1) + 2 * conv[k][1];
    assert_int_equal(tacit_net_parameters(net), want);
    tacit_net_free(net);
    if (SLOW)
        return;
    /* The same on small pictures: all ways of a convolution are in it. */
    const char *small = BLOCK("16") ", " BLOCK("64") ", pool 2, split, " BLOCK("64") ", " BLOCK(
        "64") ", join, " BLOCK("128") ", pool 2, dense 10";
    scene s = make(small, (tacit_volume){3, 8, 8}, 5, &d);
    check_clipped("small resnet", &s);
    clear(&s);
}

/* What a record gives does not depend on the others of its lot, not in a bit. */
static void test_records_alone(void **state)
{
    (void)state;
    dice d = {15};
    for (size_t q = 0; q < NETS; q++) {
        scene s = make(nets[q].layers, nets[q].in, 9, &d);
        const size_t classes = tacit_net_classes(s.net);
        float *together = calloc(s.records * classes, sizeof *together), alone[64];
        double norm[9], one;
        tacit_net_lot all = lot(&s);
        tacit_error err = {0};
        tacit_net_scores(s.net, s.room, s.theta, s.records, s.row, together);
        check_ok(tacit_net_norms(s.net, s.room, s.theta, &all, norm, &err), &err);
        for (size_t r = 0; r < s.records; r++) {
            tacit_net_lot single = {1, s.row + r, s.label + r};
            tacit_net_scores(s.net, s.room, s.theta, 1, s.row + r, alone);
            assert_memory_equal(alone, together + r * classes, classes * sizeof *alone);
            check_ok(tacit_net_norms(s.net, s.room, s.theta, &single, &one, &err), &err);
            assert_true(one == norm[r]);
        }
        free(together);
        clear(&s);
    }
}

/* Agents work side by side, each with a room of its own: the same bits as one after the other. */
typedef struct together {
    const scene *s;
    tacit_net_room *room[4];
    float *sum[4];
} together;

static void some_agents(void *ctx, uint32_t worker, size_t begin, size_t end)
{
    (void)worker;
    const together *all = ctx;
    for (size_t k = begin; k < end; k++) {
        tacit_net_report report;
        const tacit_net_lot some = lot(all->s);
        tacit_error err = {0};
        for (int again = 0; again < 5; again++)
            if (tacit_net_gradient(all->s->net, all->room[k], all->s->theta, &some, 0.5f,
                                   all->sum[k], &report, &err))
                all->sum[k][0] = NAN; /* shows below */
    }
}

static void test_threads(void **state)
{
    (void)state;
    dice d = {20};
    scene s = make(nets[13].layers, nets[13].in, 20, &d);
    together all = {.s = &s};
    float *want = calloc(s.n, sizeof *want);
    tacit_error err = {0};
    gradient(&s, lot(&s), 0.5f, want);
    for (size_t k = 0; k < 4; k++) {
        check_ok(tacit_net_room_create(&all.room[k], s.net, &err), &err);
        all.sum[k] = calloc(s.n, sizeof *want);
    }
    tacit_threads *threads = tacit_threads_create(4);
    assert_non_null(threads);
    tacit_threads_run(threads, 4, 1, some_agents, &all);
    tacit_threads_free(threads);
    for (size_t k = 0; k < 4; k++) {
        assert_memory_equal(all.sum[k], want, s.n * sizeof *want);
        tacit_net_room_free(all.room[k]);
        free(all.sum[k]);
    }
    free(want);
    clear(&s);
}

static void test_empty_lot(void **state)
{
    (void)state;
    dice d = {16};
    scene s = make("dense 5, relu, dense 3", (tacit_volume){4, 1, 1}, 2, &d);
    float *sum = malloc(s.n * sizeof *sum);
    for (size_t k = 0; k < s.n; k++)
        sum[k] = 7;
    tacit_net_report report = gradient(&s, (tacit_net_lot){0, NULL, NULL}, 1, sum);
    for (size_t k = 0; k < s.n; k++)
        assert_true(sum[k] == 0);
    assert_true(report.loss == 0 && report.right == 0 && report.clipped == 0 && report.broken == 0);
    gradient(&s, (tacit_net_lot){0, NULL, NULL}, INFINITY, sum);
    free(sum);
    clear(&s);
}

/* A record that is not finite, or explodes, counts as zero and is counted; the others are as if it
 * were not there. Without a clip it is an error unless its loss already shows it. */
static void test_broken_records(void **state)
{
    (void)state;
    dice d = {17};
    const float bad[] = {NAN, INFINITY, -INFINITY, 3e38f};
    for (size_t q = 0; q < NETS; q++)
        for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
            scene s = make(nets[q].layers, nets[q].in, 5, &d);
            float *with = calloc(s.n, sizeof *with), *without = calloc(s.n, sizeof *without);
            const size_t inputs = tacit_net_inputs(s.net);
            tacit_error err = {0};
            tacit_net_report report;
            tacit_net_lot all = lot(&s);
            for (size_t k = 0; k < inputs; k += b == 3 ? 1 : inputs / 2 + 1)
                s.rows[2 * inputs + k] = bad[b] * (k % 2 ? 1 : -1);
            report = gradient(&s, all, 0.5f, with);
            /* Numbers near the largest may come through a norm or a tanh; then there is nothing to
             * count. */
            if (b == 3 && report.broken == 0) {
                assert_true(isfinite(report.loss));
            } else {
                assert_int_equal(report.broken, 1);
                const tacit_status bare =
                    tacit_net_gradient(s.net, s.room, s.theta, &all, INFINITY, with, &report, &err);
                assert_true(bare == TACIT_EINPUT || report.broken == 1 || b == 3);
                for (size_t k = 0; k < s.n && bare == TACIT_OK; k++)
                    assert_true(isfinite(with[k]));
                gradient(&s, all, 0.5f, with);
                s.row[2] = s.row[3], s.row[3] = s.row[4];
                s.label[2] = s.label[3], s.label[3] = s.label[4];
                s.records = 4;
                report = gradient(&s, lot(&s), 0.5f, without);
                assert_int_equal(report.broken, 0);
                for (size_t k = 0; k < s.n; k++)
                    assert_true(fabs((double)with[k] - (double)without[k]) < 1e-6);
            }
            free(with);
            free(without);
            clear(&s);
        }
}

static void test_model_run_away(void **state)
{
    (void)state;
    dice d = {18};
    scene s = make(PAPER, (tacit_volume){1, 32, 32}, 3, &d);
    float *sum = calloc(s.n, sizeof *sum);
    s.theta[100] = NAN;
    assert_int_equal(gradient(&s, lot(&s), 1, sum).broken, 3);
    for (size_t k = 0; k < s.n; k++)
        assert_true(sum[k] == 0);
    free(sum);
    clear(&s);
}

static void test_labels(void **state)
{
    (void)state;
    dice d = {19};
    scene s = make("dense 3", (tacit_volume){4, 1, 1}, 3, &d);
    float sum[15];
    tacit_net_report report;
    tacit_error err = {0};
    tacit_net_lot all = lot(&s);
    s.label[1] = 3;
    check_fails(tacit_net_gradient(s.net, s.room, s.theta, &all, 1, sum, &report, &err),
                TACIT_EINPUT, &err, "record 1 of the lot has label 3");
    check_fails(tacit_net_norms(s.net, s.room, s.theta, &all, (double[3]){0}, &err), TACIT_EINPUT,
                &err, "classes 0 to 2");
    clear(&s);
}

static void test_shapes(void **state)
{
    (void)state;
    static const struct {
        const char *layers;
        tacit_volume in;
        const char *words;
    } wrong[] = {
        {"conv 3 5x5, dense 2", {1, 4, 9}, "layer 1: a window of 5x5 does not fit planes of 4 x 9"},
        {"conv 0 5x5", {1, 9, 9}, "needs planes"},
        {"conv 2 3x3, pool 3, dense 2", {1, 4, 4}, "layer 2: \"pool 3\" does not fit"},
        {"pool 0, dense 2", {1, 4, 4}, "squares of 1 to 15"},
        {"conv 4 3x3, norm 3, dense 2", {1, 5, 5}, "cannot share 4 planes"},
        {"norm 0", {1, 5, 5}, "cannot share"},
        {"dense 0", {1, 5, 5}, "at least one output"},
        {"split, dense 4, join", {5, 1, 1}, "layer 3: \"join\" cannot add 4 x 1 x 1"},
        {"dense 4, join", {5, 1, 1}, "without a \"split\""},
        {"split, dense 5", {5, 1, 1}, "without a \"join\""},
        {"relu", {5, 1, 1}, "0 parameters"},
        {"dense 2", {0, 1, 1}, "too many or none"},
        {"dense 2", {65536, 65536, 65536}, "too many or none"},
        {"dense 65536", {65536, 64, 1}, "too large"},
        {"dense 65537", {2, 1, 1}, "size above"},
        {"conv 4 3x3 pad 60000", {1, 5, 5}, "too large"},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        tacit_layer layers[TACIT_LAYERS_MOST];
        size_t count;
        tacit_net *net;
        tacit_error err = {0};
        check_ok(tacit_layers_parse(wrong[k].layers, layers, &count, &err), &err);
        check_fails(tacit_net_create(&net, wrong[k].in, layers, count, &err), TACIT_EINPUT, &err,
                    wrong[k].words);
        assert_null(net);
    }
    tacit_net *net;
    tacit_error err = {0};
    check_fails(tacit_net_create(&net, (tacit_volume){1, 1, 1}, NULL, 0, &err), TACIT_EINPUT, &err,
                "0 layers");
    const tacit_layer strange = {.kind = (tacit_layer_kind)99};
    check_fails(tacit_net_create(&net, (tacit_volume){1, 1, 1}, &strange, 1, &err), TACIT_EINPUT,
                &err, "unknown");
}

static void test_words(void **state)
{
    (void)state;
    tacit_layer l[TACIT_LAYERS_MOST];
    size_t count;
    tacit_error err = {0};
    check_ok(tacit_layers_parse(" conv 3 5x4 pad 2 step 3 ,mish,pool 2,dense 64", l, &count, &err),
             &err);
    assert_int_equal(count, 4);
    assert_true(l[0].kind == TACIT_LAYER_CONV && l[0].width == 3 && l[0].high == 5 &&
                l[0].wide == 4 && l[0].pad == 2 && l[0].step == 3);
    assert_true(l[1].kind == TACIT_LAYER_MISH && l[2].kind == TACIT_LAYER_POOL && l[2].width == 2 &&
                l[3].kind == TACIT_LAYER_DENSE && l[3].width == 64);
    static const char *const wrong[] = {"",          "dense",
                                        "dense x",   "dense 3,",
                                        ",dense 3",  "dense 3 relu",
                                        "conv 3",    "conv 3 5",
                                        "conv 3 5x", "conv 3 5x5 pad",
                                        "densed 3",  "dense 10000000",
                                        "relu 3",    "conv 3 3x3 step 0",
                                        "dense -3",  "Dense 3"};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        check_fails(tacit_layers_parse(wrong[k], l, &count, &err), TACIT_EINPUT, &err, "layer");
    char many[8 * (TACIT_LAYERS_MOST + 1)] = "";
    for (size_t k = 0; k <= TACIT_LAYERS_MOST; k++)
        strcat(many, k ? ",relu" : "relu");
    check_fails(tacit_layers_parse(many, l, &count, &err), TACIT_EINPUT, &err, "more than 200");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients),      cmocka_unit_test(test_clipped_sums),
        cmocka_unit_test(test_never_longer),   cmocka_unit_test(test_paper_net),
        cmocka_unit_test(test_resnet),         cmocka_unit_test(test_records_alone),
        cmocka_unit_test(test_threads),        cmocka_unit_test(test_empty_lot),
        cmocka_unit_test(test_broken_records), cmocka_unit_test(test_model_run_away),
        cmocka_unit_test(test_labels),         cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
