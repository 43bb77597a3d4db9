/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_KERNELS_H
#define TACIT_KERNELS_H
/*
 * The hot loops, compiled once for each kind of CPU (kernels_base.c, kernels_avx2.c,
 * kernels_avx512.c, all from kernels_impl.h) and chosen when the library is first used.
 * Each result depends on the CPU type and on nothing else.
 */
#include "tacit/base.h"

/* How far ahead rows are asked for, in bytes. Measured on 25 GB/s a core with random agents of
 * 22 kB: 6 kB 20 GB/s, 3 kB 15, 13 kB 17; a mere sum over the same random agents reaches 20. */
#define TACIT_ROWS_AHEAD ((size_t)6400)

/* Records whose gradients are to be added up on the grid, at most TACIT_GRID_ROWS. */
#define TACIT_GRID_ROWS 128 /* so many numbers below 2^24 fit 32 bits */
typedef struct tacit_grid_rows {
    size_t rows, p;
    const void *x, *y, *next; /* next: what will be read afterwards, only a hint */
    bool l1, squared;         /* the norm; the loss, logistic if not */
    double radius, per_step;  /* as for clip() */
} tacit_grid_rows;

/* One scalar's kernels; `void *` are arrays of that scalar. */
typedef struct tacit_real_kernels {
    /* y += a x */
    void (*axpy)(size_t n, double a, const void *x, void *y);
    void (*scale)(size_t n, double a, void *x);
    /* out = sum_k coef[k] x[k] */
    void (*combine)(size_t n, size_t k, const double *coef, const void *const *x, void *out);
    double (*distance2)(size_t n, const void *x, const void *y);
    /* z[r] = x[r] . theta for row-major x */
    void (*dots)(size_t rows, size_t p, const void *x, const void *theta, void *z);
    /* g += sum_r coef[r] x[r] */
    void (*accumulate)(size_t rows, size_t p, const void *x, const void *coef, void *g);
    /* coef[r] = d/dz log(1 + exp(-y z)) = -y / (1 + exp(y z)) */
    void (*logistic)(size_t rows, const void *z, const void *y, void *coef);
    /* coef[r] = d/dz (z - y)^2 = 2 (z - y) */
    void (*squared)(size_t rows, const void *z, const void *y, void *coef);
    /* g += sum of gradients of all rows: dots, slopes and accumulate in one pass over memory.
     * `next` is what will be read afterwards (any address: it is only a hint). */
    void (*gradient_logistic)(size_t rows, size_t p, const void *x, const void *y,
                              const void *theta, const void *next, void *g);
    void (*gradient_squared)(size_t rows, size_t p, const void *x, const void *y, const void *theta,
                             const void *next, void *g);
    /* length[r] = about the norm of row r, l1 or l2 */
    void (*lengths)(size_t rows, size_t p, bool l1, const void *x, double *length);
    /* dots and sizes of rows (sums of |x|, or of squares) in one pass over memory. Rows go
     * on until `end`; `next` is what will be read afterwards (any address: only a hint). */
    void (*margins)(size_t rows, size_t p, bool l1, const void *x, const void *theta,
                    const void *end, const void *next, void *z, double *size);
    /* a[r] = coef[r] * per_step, made smaller where a[r] x[r] would be longer than `radius`. True
     * if for each of these rows add_to_grid keeps to radius / (1 - 2^-16): kernels_grid.h. */
    bool (*clip)(size_t rows, size_t p, bool l1, double radius, double per_step, const void *coef,
                 const double *size, double *a);
    /* sum += sum_r a[r] x[r], each in whole numbers rounded towards zero, for rows and factors that
     * clip() found good with a radius below 2^24; at most 64 rows from zero on. */
    void (*add_to_grid)(size_t rows, size_t p, const double *a, const void *x, int32_t *sum);
    /* margins, slopes, clip and add_to_grid in one pass, for rows of moderate length: sum += what
     * they would give. False if any row is not good, or there is no such loop: then sum is as it
     * was. */
    bool (*gradient_on_grid)(const tacit_grid_rows *rows, const void *theta, int64_t *sum);
    /* row = a x in whole numbers of at most `limit` < 2^24, rounded towards zero; returns no less
     * than the sum of their sizes (l1) or squares, and little more */
    double (*to_grid)(size_t p, double a, int32_t limit, bool l1, const void *x, int32_t *row);
    /* out = steps * scale, rounded once to a double and then to the scalar: alike on every CPU */
    void (*from_grid)(size_t n, double scale, const int64_t *steps, void *out);
} tacit_real_kernels;

/* Numbers below 2^63 shared out among boxes of integers: random/layers.c has the method. */
enum { TACIT_CELLS_LOG2 = 8, TACIT_CELLS = 1 << TACIT_CELLS_LOG2, TACIT_SLOTS = TACIT_CELLS + 2 };
typedef struct tacit_slot {
    uint64_t start, sure, left, mask; /* below `sure`: accepted without a look at f */
} tacit_slot;
typedef struct tacit_boxes {
    /* A word belongs to the slot of its leading bits, or beyond `last` to the next one. */
    uint64_t last[TACIT_CELLS];
    uint16_t first[TACIT_CELLS];
    tacit_slot slot[TACIT_SLOTS];
} tacit_boxes;

static inline const tacit_slot *tacit_slot_of(const tacit_boxes *boxes, uint64_t word)
{
    const uint64_t cell = word >> (64 - TACIT_CELLS_LOG2);
    return &boxes->slot[boxes->first[cell] + (word > boxes->last[cell])];
}

typedef struct tacit_kernels {
    const char *name;
    tacit_real_kernels f32, f64;
    /* First 64-bit word of the ChaCha20 block (key, nonce[k], block[k]) for k < n. */
    void (*chacha_words)(const uint32_t key[8], size_t n, const uint64_t *nonce,
                         const uint64_t *block, uint64_t *word);
    /* The bytes of the ChaCha20 blocks (key, nonce, block + k), k < count, on little-endian
     * machines; elsewhere those of each eight are turned round. */
    void (*chacha_blocks)(const uint32_t key[8], uint64_t nonce, uint64_t block, size_t count,
                          uint8_t *out);
    /* Signed candidates of n <= 64 words, and a bit for each that is not sure. */
    uint64_t (*box_candidates)(const tacit_boxes *boxes, size_t n, const uint64_t *word,
                               int64_t *out);
} tacit_kernels;

const tacit_kernels *tacit_kernels_get(void);
/* NULL if this CPU or build has no such kernels: "base", "avx2", "avx512". For tests. */
const tacit_kernels *tacit_kernels_named(const char *name);

static inline const tacit_real_kernels *tacit_kernels_for(tacit_scalar scalar)
{
    const tacit_kernels *k = tacit_kernels_get();
    return scalar == TACIT_F32 ? &k->f32 : &k->f64;
}

#endif
