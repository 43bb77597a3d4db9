/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast text becomes a table, on one core, against `wc -l` on the same file in the same run:
 * wc does nothing but look for line breaks, so it is a bound for any reader. Each text has about
 * 200 MB of numbers such as -0.1234567; each figure is the median of several turns.
 *
 * Both are timed in seconds of processor time, user and system, so that others who want the
 * same processor do not count; the note also says what a clock on the wall saw.
 */
#include "bench.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "data/table.h"

#define BYTES ((size_t)200 << 20)
#define ROOM (BYTES + 4096) /* for the last line, too */
#define COLUMNS 20
#define AGENTS 1000
#define TURNS 5

static uint64_t word = 88172645463325252u;

static uint64_t draw(void)
{
    word ^= word << 13;
    word ^= word >> 7;
    word ^= word << 17;
    return word;
}

static double seconds_of(int who)
{
    struct rusage use;
    getrusage(who, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

typedef struct text {
    const char *name;
    char separator;    /* ':' for libsvm */
    const char *shape; /* of a number */
    char *bytes;
    size_t len;
} text;

/* A number between -1 and 1 with the digits that `shape` asks for. */
static int put_number(char *to, size_t size, const char *shape)
{
    double value = (double)(int64_t)draw() * 0x1p-63;
    if (strcmp(shape, "7 digits") == 0)
        return snprintf(to, size, "%.7f", value);
    return snprintf(to, size, "%.17g", value);
}

static void generate(text *t)
{
    t->bytes = malloc(ROOM);
    if (!t->bytes)
        exit(70);
    size_t len = 0;
    if (t->separator == ',') {
        len += (size_t)snprintf(t->bytes, ROOM, "agent,label");
        for (int k = 0; k < COLUMNS; k++)
            len += (size_t)snprintf(t->bytes + len, ROOM - len, ",x%d", k);
        t->bytes[len++] = '\n';
    }
    while (len < BYTES) {
        char *to = t->bytes + len, *end = t->bytes + ROOM;
        const char *label = draw() & 1 ? "1" : "-1";
        if (t->separator == ',')
            to += snprintf(to, (size_t)(end - to), "a%u,%s", (unsigned)(draw() % AGENTS), label);
        else
            to += snprintf(to, (size_t)(end - to), "%s", label);
        for (int k = 0; k < COLUMNS; k++) {
            if (t->separator == ':')
                to += snprintf(to, (size_t)(end - to), " %d:", k + 1);
            else
                *to++ = t->separator;
            to += put_number(to, (size_t)(end - to), t->shape);
        }
        *to++ = '\n';
        len = (size_t)(to - t->bytes);
    }
    t->len = len;
}

/* MB a second of processor time; *wall: of the time that passed. */
static double read_text(const text *t, double *wall)
{
    tacit_data_options o;
    tacit_error err = {0};
    tacit_table table;
    bench_must(tacit_options_defaults(&tacit_data_section, &o, &err), &err);
    if (t->separator == ' ') {
        o.header = false;
        o.separator = 3;
        o.partition = TACIT_PARTITION_IID;
        snprintf(o.label_column, sizeof o.label_column, "1");
    }
    tacit_reader *read = t->separator == ':' ? tacit_read_libsvm : tacit_read_csv;
    double start = seconds_of(RUSAGE_SELF), passed = bench_seconds();
    bench_must(read(&table, &o, t->name, t->bytes, t->len, TACIT_F64, &err), &err);
    double seconds = seconds_of(RUSAGE_SELF) - start;
    *wall = (double)t->len / (bench_seconds() - passed) / 1e6;
    tacit_table_clear(&table);
    return (double)t->len / seconds / 1e6;
}

/* The same text in a file, for wc; it is in the page cache, for it was just written. */
static double run_wc(const char *path, size_t len)
{
    char command[300], answer[64];
    snprintf(command, sizeof command, "wc -l <%s", path);
    double start = seconds_of(RUSAGE_CHILDREN);
    FILE *pipe = popen(command, "r");
    if (!pipe || !fgets(answer, sizeof answer, pipe) || pclose(pipe) != 0)
        exit(3);
    return (double)len / (seconds_of(RUSAGE_CHILDREN) - start) / 1e6;
}

static size_t sink;

static double count_lines(const text *t)
{
    double start = seconds_of(RUSAGE_SELF);
    for (const char *at = t->bytes, *end = at + t->len;
         (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++)
        sink++;
    return (double)t->len / (seconds_of(RUSAGE_SELF) - start) / 1e6;
}

static void measure(FILE *out, text *t)
{
    char path[] = "/tmp/tacit-bench-XXXXXX", note[200];
    double ours[TURNS], wall[TURNS], wc[TURNS], lines[TURNS];
    generate(t);
    int fd = mkstemp(path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file || fwrite(t->bytes, 1, t->len, file) != t->len || fclose(file) != 0)
        exit(3);
    for (int turn = 0; turn < TURNS; turn++) {
        ours[turn] = read_text(t, &wall[turn]);
        wc[turn] = run_wc(path, t->len);
        lines[turn] = count_lines(t);
    }
    unlink(path);
    double middle = bench_median(ours, TURNS); /* sorts them */
    snprintf(
        note, sizeof note,
        "baseline wc -l; %.0f to %.0f in %d turns; by the wall %.0f; memchr alone %.0f; %zu MB",
        ours[0], ours[TURNS - 1], TURNS, bench_median(wall, TURNS), bench_median(lines, TURNS),
        t->len / 1000000);
    bench_row(out, t->name, middle, bench_median(wc, TURNS), "MB/s", note);
    free(t->bytes);
}

int main(void)
{
    text texts[] = {
        {.name = "csv", .separator = ',', .shape = "7 digits"},
        {.name = "libsvm", .separator = ':', .shape = "7 digits"},
        {.name = "blanks", .separator = ' ', .shape = "7 digits"},
        {.name = "csv 17 digits", .separator = ',', .shape = "17 digits"},
    };
    FILE *out = bench_open("readers");
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        measure(out, &texts[k]);
    fclose(out);
    return sink == 42;
}
