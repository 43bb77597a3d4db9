/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact noise against Box-Muller: the same ChaCha20 words in the same run, one word a normal
 * deviate, both outputs used, log, sqrt and sincos of libm, doubles out. Ours gives integers of
 * the exact discrete laws. Seconds that the thread worked, in turns; the best turn counts, since
 * others on the machine only make it longer.
 *
 * Then what it costs to prepare a law, and a million coordinates on all cores, each piece with a
 * stream of its own, against the same on one core, by the clock.
 */
#include <math.h>
#include <unistd.h>

#include "base/threads.h"
#include "bench.h"
#include "tacit/noise.h"

enum { DRAWS = 1 << 20, PIECE = 1 << 12, BATCH = 512, TURNS = 15 };

static double best(double *took)
{
    bench_median(took, TURNS); /* sorts */
    return took[0];
}

static double normal[DRAWS];
static int64_t integer[DRAWS];
static uint64_t batch[BATCH];
static uint64_t check; /* so that nothing is optimised away */

static tacit_random keys;

static tacit_stream stream(uint64_t counter)
{
    tacit_stream s;
    tacit_stream_open(&s, &keys, 1, TACIT_FOR_TEST, counter);
    return s;
}

static void words_only(void)
{
    tacit_stream s = stream(0);
    for (size_t at = 0; at < DRAWS; at += BATCH) {
        tacit_stream_bytes(&s, batch, sizeof batch);
        check += batch[0];
    }
}

/* (0, 1], so that the logarithm is finite. */
static double unit(uint64_t word)
{
    return (double)((word >> 11) + 1) * 0x1p-53;
}

static void box_muller(void)
{
    tacit_stream s = stream(0);
    for (size_t at = 0; at < DRAWS; at += BATCH) {
        tacit_stream_bytes(&s, batch, sizeof batch);
        for (size_t k = 0; k < BATCH; k += 2) {
            double radius = sqrt(-2 * log(unit(batch[k]))), sine, cosine;
            sincos(6.283185307179586 * unit(batch[k + 1]), &sine, &cosine);
            normal[at + k] = radius * cosine;
            normal[at + k + 1] = radius * sine;
        }
    }
    check += normal[DRAWS - 1] > 0;
}

typedef enum law { LAPLACE, GAUSSIAN, SKELLAM } law;

static tacit_noise *make(law which, double parameter)
{
    static tacit_status (*const makers[])(tacit_noise **, tacit_ratio, tacit_error *) = {
        tacit_noise_laplace, tacit_noise_gaussian, tacit_noise_skellam};
    tacit_noise *noise = NULL;
    tacit_error err = {0};
    bench_must(makers[which](&noise, tacit_ratio_below(parameter), &err), &err);
    return noise;
}

static void draw(const tacit_noise *noise)
{
    tacit_stream s = stream(0);
    tacit_noise_draw(noise, &s, DRAWS, integer);
    check += (uint64_t)integer[DRAWS - 1];
}

typedef struct contest {
    const char *name;
    law which;
    double parameter;
    const char *note;
    tacit_noise *noise;
    double ours[TURNS];
} contest;

static contest contests[] = {
    {"gaussian_2e20", GAUSSIAN, 1.37 * 0x1p20 * 1.37 * 0x1p20, "sigma 1.37 2^20", NULL, {0}},
    {"gaussian_2e30", GAUSSIAN, 1.37 * 0x1p29 * 1.37 * 0x1p29, "sigma 1.37 2^29", NULL, {0}},
    {"gaussian_3", GAUSSIAN, 10, "variance 10", NULL, {0}},
    {"laplace_2e20", LAPLACE, 1.37 * 0x1p20, "scale 1.37 2^20", NULL, {0}},
    {"laplace_2e33", LAPLACE, 1.37 * 0x1p33, "scale 1.37 2^33", NULL, {0}},
    {"laplace_3", LAPLACE, 2.7, "scale 2.7", NULL, {0}},
    {"skellam_2e20", SKELLAM, 1.37 * 0x1p20 * 1.37 * 0x1p20, "sigma 1.37 2^20", NULL, {0}},
    {"skellam_3", SKELLAM, 10, "variance 10", NULL, {0}},
};
enum { CONTESTS = sizeof contests / sizeof *contests };

static double timed(void (*job)(void))
{
    double start = bench_worked();
    job();
    return (bench_worked() - start) * 1e9 / DRAWS;
}

static void against_box_muller(FILE *file)
{
    double words[TURNS], normals[TURNS];
    for (int k = 0; k < CONTESTS; k++)
        contests[k].noise = make(contests[k].which, contests[k].parameter);
    for (int turn = -1; turn < TURNS; turn++) { /* turn -1 warms up */
        int at = turn < 0 ? 0 : turn;
        words[at] = timed(words_only);
        normals[at] = timed(box_muller);
        for (int k = 0; k < CONTESTS; k++) {
            double start = bench_worked();
            draw(contests[k].noise);
            contests[k].ours[at] = (bench_worked() - start) * 1e9 / DRAWS;
        }
    }
    double baseline = best(normals);
    bench_row(file, "words_only", best(words), baseline, "ns/draw",
              "ChaCha20 words and nothing else against Box-Muller");
    for (int k = 0; k < CONTESTS; k++) {
        char note[128];
        snprintf(note, sizeof note, "%s against Box-Muller", contests[k].note);
        bench_row(file, contests[k].name, best(contests[k].ours), baseline, "ns/draw", note);
        tacit_noise_free(contests[k].noise);
    }
}

/* How long it takes to prepare a law, in draws of Box-Muller it would pay for. */
static void making(FILE *file)
{
    static const char *const names[] = {"make_laplace", "make_gaussian", "make_skellam"};
    for (law which = LAPLACE; which <= SKELLAM; which++) {
        double took[TURNS], normals[TURNS];
        for (int turn = 0; turn < TURNS; turn++) {
            double start = bench_worked();
            for (int k = 0; k < 100; k++)
                tacit_noise_free(make(which, 1.37 * 0x1p20 * (1 + k)));
            took[turn] = (bench_worked() - start) * 1e9 / 100;
            normals[turn] = timed(box_muller);
        }
        bench_row(file, names[which], best(took), best(normals), "ns",
                  "to prepare one law; ratio: Box-Muller deviates in that time");
    }
}

static void pieces(void *ctx, uint32_t worker, size_t begin, size_t end)
{
    (void)worker;
    for (size_t at = begin; at < end; at += PIECE) { /* one thread is given all at once */
        tacit_stream s = stream(1 + at / PIECE);
        tacit_noise_draw(ctx, &s, end - at < PIECE ? end - at : PIECE, integer + at);
    }
}

static void million(FILE *file)
{
    uint32_t cores = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    tacit_threads *many = tacit_threads_create(cores), *one = tacit_threads_create(1);
    tacit_noise *noise = make(GAUSSIAN, 1.37 * 0x1p20 * 1.37 * 0x1p20);
    double took[2][TURNS];
    for (int turn = -1; turn < TURNS; turn++)
        for (int k = 0; many && one && k < 2; k++) {
            double start = bench_seconds();
            tacit_threads_run(k ? many : one, 1000000, PIECE, pieces, noise);
            took[k][turn < 0 ? 0 : turn] = (bench_seconds() - start) * 1e3;
        }
    char note[128];
    snprintf(note, sizeof note, "a million coordinates on %u cores against one core", cores);
    bench_row(file, "million_gaussian", best(took[1]), best(took[0]), "ms", note);
    tacit_noise_free(noise);
    tacit_threads_free(many);
    tacit_threads_free(one);
}

int main(void)
{
    FILE *file = bench_open("noise");
    tacit_random_init(&keys, 1);
    against_box_muller(file);
    making(file);
    million(file);
    fclose(file);
    return check == 42; /* it never is */
}
