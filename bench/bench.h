/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_BENCH_H
#define TACIT_BENCH_H
/*
 * What benchmarks share. Each writes bench/results/NAME.csv with the columns
 * name,ours,baseline,ratio,unit,note: a ratio against a baseline of the same run.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tacit/base.h"

static inline void bench_must(tacit_status status, const tacit_error *err)
{
    if (status == TACIT_OK)
        return;
    fprintf(stderr, "bench: %s\n", err->text);
    exit(status);
}

/* The most memory this process ever had (VmHWM), in bytes. */
static inline double bench_peak(void)
{
    char line[256];
    double kilobytes = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, "VmHWM:", 6) == 0)
            kilobytes = strtod(line + 6, NULL);
    if (status)
        fclose(status);
    return kilobytes * 1024;
}

static inline int bench_compare(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

/* Sorts `values`. */
static inline double bench_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, bench_compare);
    return values[count / 2];
}

static inline double bench_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds that this thread has worked, whatever else the machine does. */
static inline double bench_worked(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline FILE *bench_open(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "bench/results/%s.csv", name);
    FILE *file = fopen(path, "w");
    if (!file) {
        fprintf(stderr, "cannot write %s; run from the top of the checkout\n", path);
        exit(3);
    }
    fprintf(file, "name,ours,baseline,ratio,unit,note\n");
    return file;
}

static inline void bench_row(FILE *file, const char *name, double ours, double baseline,
                             const char *unit, const char *note)
{
    fprintf(file, "%s,%.4g,%.4g,%.3f,%s,%s\n", name, ours, baseline, ours / baseline, unit, note);
    printf("%-34s %10.4g  baseline %10.4g  ratio %.3f  %s  (%s)\n", name, ours, baseline,
           ours / baseline, unit, note);
    fflush(stdout);
}

#endif
