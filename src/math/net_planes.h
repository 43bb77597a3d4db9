/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions of few planes, and squares of two by two, for net_kernels_all.h.
 *
 * With few planes a product over unrolled windows (im2col) copies as much as it computes: 25 copies
 * of every pixel for 3 planes out. Instead vectors run along a row of pixels, up to PLANES x SIDE
 * of them in registers at once. Rows are seldom a multiple of a vector long: the last vector of a
 * row steps back to end with it, and where that would count pixels twice, they are masked.
 */
#define PLANES 3
#define SIDE 4 /* vectors of a row; 12 sums, 4 vectors of pixels: 16 registers */

/* `planes` x `side` vectors of one row of y. at: where the vectors begin. */
INLINE void convolve_block(size_t planes, size_t side, const tacit_planes *p, const float *w,
                           const float *bias, const float *x, const size_t at[SIDE], float *y)
{
    const size_t window = p->high * p->wide, plane = p->height * p->width;
    vec part[PLANES][SIDE];
    UNROLL
    for (size_t o = 0; o < planes; o++)
        UNROLL
    for (size_t v = 0; v < side; v++)
        part[o][v] = (vec){0} + bias[o];
    for (size_t i = 0; i < p->in; i++, w += window)
        for (size_t row = 0; row < p->high; row++) {
            const float *pixels = x + i * p->in_height * p->in_width + row * p->in_width;
            const float *tap = w + row * p->wide;
            for (size_t column = 0; column < p->wide; column++, pixels++, tap++) {
                vec here[SIDE];
                UNROLL
                for (size_t v = 0; v < side; v++)
                    here[v] = LOAD(pixels + at[v]);
                UNROLL
                for (size_t o = 0; o < planes; o++)
                    UNROLL
                for (size_t v = 0; v < side; v++)
                    part[o][v] += tap[o * p->in * window] * here[v];
            }
        }
    UNROLL
    for (size_t o = 0; o < planes; o++)
        UNROLL
    for (size_t v = 0; v < side; v++)
        STORE(y + o * plane + at[v], part[o][v]);
}

#define SIDES(planes)                                    \
    switch (side) {                                      \
    case 1:                                              \
        convolve_block(planes, 1, p, w, bias, x, at, y); \
        break;                                           \
    case 2:                                              \
        convolve_block(planes, 2, p, w, bias, x, at, y); \
        break;                                           \
    case 3:                                              \
        convolve_block(planes, 3, p, w, bias, x, at, y); \
        break;                                           \
    default:                                             \
        convolve_block(planes, 4, p, w, bias, x, at, y); \
    }

static void convolve_some(size_t planes, size_t side, const tacit_planes *p, const float *w,
                          const float *bias, const float *x, const size_t at[SIDE], float *y)
{
    if (planes == 1) {
        SIDES(1)
    } else if (planes == 2) {
        SIDES(2)
    } else {
        SIDES(3)
    }
}
#undef SIDES

static void convolve(const tacit_planes *p, const float *w, const float *bias, const float *x,
                     float *y)
{
    const size_t filter = p->in * p->high * p->wide, plane = p->height * p->width;
    for (size_t o = 0; o < p->out; o += PLANES) {
        const size_t planes = p->out - o < PLANES ? p->out - o : PLANES;
        for (size_t row = 0; row < p->height; row++)
            for (size_t from = 0; from < p->width; from += SIDE * LANES) {
                size_t side = 0, at[SIDE] = {0};
                for (; side < SIDE && from + side * LANES < p->width; side++) {
                    const size_t next = from + side * LANES;
                    at[side] = next + LANES <= p->width ? next : p->width - LANES;
                }
                convolve_some(planes, side, p, w + o * filter, bias + o, x + row * p->in_width, at,
                              y + o * plane + row * p->width);
            }
    }
}

/* For `planes` planes of d and `taps` neighbouring columns of a window's row: sums over all pixels.
 * x begins at the window's first such tap. */
INLINE void correlate_block(size_t planes, size_t taps, const tacit_planes *p, const float *x,
                            const float *d, float *dw)
{
    const size_t plane = p->height * p->width, filter = p->in * p->high * p->wide;
    const size_t whole = p->width / LANES * LANES;
    const ivec fresh = last_lanes(p->width - whole);
    vec part[PLANES][SIDE] = {{{0}}};
    for (size_t row = 0; row < p->height; row++, x += p->in_width, d += p->width) {
        for (size_t at = 0; at < whole; at += LANES)
            UNROLL
        for (size_t t = 0; t < taps; t++) {
            const vec pixels = LOAD(x + at + t);
            UNROLL
            for (size_t o = 0; o < planes; o++)
                part[o][t] += LOAD(d + o * plane + at) * pixels;
        }
        if (whole == p->width)
            continue;
        const size_t at = p->width - LANES;
        UNROLL
        for (size_t o = 0; o < planes; o++) {
            const vec slope = (vec)((ivec)LOAD(d + o * plane + at) & fresh);
            UNROLL
            for (size_t t = 0; t < taps; t++)
                part[o][t] += slope * LOAD(x + at + t);
        }
    }
    UNROLL
    for (size_t o = 0; o < planes; o++)
        UNROLL
    for (size_t t = 0; t < taps; t++)
        dw[o * filter + t] = total(part[o][t]);
}

#define TAPS(planes)                             \
    switch (taps) {                              \
    case 1:                                      \
        correlate_block(planes, 1, p, x, d, dw); \
        break;                                   \
    case 2:                                      \
        correlate_block(planes, 2, p, x, d, dw); \
        break;                                   \
    default:                                     \
        correlate_block(planes, 3, p, x, d, dw); \
    }

static void correlate_some(size_t planes, size_t taps, const tacit_planes *p, const float *x,
                           const float *d, float *dw)
{
    if (planes == 1) {
        TAPS(1)
    } else if (planes == 2) {
        TAPS(2)
    } else {
        TAPS(3)
    }
}
#undef TAPS

static void correlate(const tacit_planes *p, const float *x, const float *d, float *dw)
{
    const size_t filter = p->in * p->high * p->wide, plane = p->height * p->width;
    for (size_t o = 0; o < p->out; o += PLANES) {
        const size_t planes = p->out - o < PLANES ? p->out - o : PLANES;
        for (size_t i = 0; i < p->in; i++)
            for (size_t row = 0; row < p->high; row++)
                for (size_t column = 0; column < p->wide; column += 3) {
                    const size_t taps = p->wide - column < 3 ? p->wide - column : 3;
                    correlate_some(
                        planes, taps, p, x + (i * p->in_height + row) * p->in_width + column,
                        d + o * plane, dw + o * filter + (i * p->high + row) * p->wide + column);
                }
    }
}
#undef PLANES
#undef SIDE

/* Squares go side by side in vectors of eight, also where sixteen would fit: planes after a
 * convolution of 28 or 32 pixels have 14 or 16 squares a row, and 14 in sixteens would go one by
 * one, at a branch a pixel that nobody can foresee. */
#if LANES == 4
#define SQUARES 4
#else
#define SQUARES 8
#endif
typedef float pool_vec __attribute__((vector_size(4 * SQUARES)));
typedef float pool_load __attribute__((vector_size(4 * SQUARES), aligned(4), may_alias));
typedef int32_t pool_ivec __attribute__((vector_size(4 * SQUARES)));
#define POOL_LOAD(from) (*(const pool_load *)(from))
#define POOL_STORE(to, v) (*(pool_load *)(to) = (v))

/* Every second number of two vectors, from the first or from the second on; and two vectors turn by
 * turn: their first halves, or their second. */
#if SQUARES == 4
#define EVEN(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6)
#define ODD(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7)
#define FIRST(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define SECOND(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#else
#define EVEN(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14)
#define ODD(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15)
#define FIRST(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define SECOND(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#endif

/* SQUARES squares whose upper rows begin at x, the lower ones `width` further on. */
INLINE void pool_squares(size_t width, const float *x, float *y, int32_t *which)
{
    const pool_vec a = POOL_LOAD(x), b = POOL_LOAD(x + SQUARES), c = POOL_LOAD(x + width),
                   d = POOL_LOAD(x + width + SQUARES);
    const pool_vec corner[4] = {EVEN(a, b), ODD(a, b), EVEN(c, d), ODD(c, d)};
    pool_vec most = corner[0];
    pool_ivec at = {0};
    UNROLL
    for (int32_t k = 1; k < 4; k++) {
        const pool_ivec more = corner[k] > most;
        most = (pool_vec)(((pool_ivec)corner[k] & more) | ((pool_ivec)most & ~more));
        at = (at & ~more) | (((pool_ivec){0} + k) & more);
    }
    POOL_STORE(y, most);
    memcpy(which, &at, sizeof at);
}

INLINE void unpool_squares(size_t width, const float *dy, const int32_t *which, float *dx)
{
    pool_ivec at;
    memcpy(&at, which, sizeof at);
    pool_vec corner[4];
    UNROLL
    for (int32_t k = 0; k < 4; k++)
        corner[k] = (pool_vec)((pool_ivec)POOL_LOAD(dy) & (at == k));
    POOL_STORE(dx, FIRST(corner[0], corner[1]));
    POOL_STORE(dx + SQUARES, SECOND(corner[0], corner[1]));
    POOL_STORE(dx + width, FIRST(corner[2], corner[3]));
    POOL_STORE(dx + width + SQUARES, SECOND(corner[2], corner[3]));
}
#undef EVEN
#undef ODD
#undef FIRST
#undef SECOND

/* Fewer squares than a vector holds. */
static void pool_few(size_t squares, size_t width, const float *x, float *y, int32_t *which)
{
    for (size_t k = 0; k < squares; k++) {
        const float corner[4] = {x[2 * k], x[2 * k + 1], x[width + 2 * k], x[width + 2 * k + 1]};
        which[k] = 0;
        for (int32_t q = 1; q < 4; q++)
            which[k] = corner[q] > corner[which[k]] ? q : which[k];
        y[k] = corner[which[k]];
    }
}

static void unpool_few(size_t squares, size_t width, const float *dy, const int32_t *which,
                       float *dx)
{
    for (size_t k = 0; k < squares; k++)
        for (int32_t q = 0; q < 4; q++)
            dx[(q / 2 ? width : 0) + 2 * k + (size_t)(q % 2)] = which[k] == q ? dy[k] : 0;
}

static void pool2(size_t height, size_t width, const float *x, float *y, int32_t *which)
{
    const size_t squares = width / 2;
    for (size_t row = 0; row < height / 2; row++, x += 2 * width, y += squares, which += squares) {
        if (squares < SQUARES)
            pool_few(squares, width, x, y, which);
        else
            for (size_t k = 0; k < squares; k += SQUARES) {
                const size_t at = k + SQUARES <= squares ? k : squares - SQUARES;
                pool_squares(width, x + 2 * at, y + at, which + at);
            }
    }
}

static void unpool2(size_t height, size_t width, const float *dy, const int32_t *which, float *dx)
{
    const size_t squares = width / 2;
    if (height % 2 || width % 2)
        memset(dx, 0, height * width * sizeof *dx);
    for (size_t row = 0; row < height / 2;
         row++, dx += 2 * width, dy += squares, which += squares) {
        if (squares < SQUARES)
            unpool_few(squares, width, dy, which, dx);
        else
            for (size_t k = 0; k < squares; k += SQUARES) {
                const size_t at = k + SQUARES <= squares ? k : squares - SQUARES;
                unpool_squares(width, dy + at, which + at, dx + 2 * at);
            }
    }
}
