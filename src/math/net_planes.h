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
    vec sum[PLANES][SIDE];
    UNROLL
    for (size_t o = 0; o < planes; o++)
        UNROLL
    for (size_t v = 0; v < side; v++)
        sum[o][v] = (vec){0} + bias[o];
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
                    sum[o][v] += tap[o * p->in * window] * here[v];
            }
        }
    UNROLL
    for (size_t o = 0; o < planes; o++)
        UNROLL
    for (size_t v = 0; v < side; v++)
        STORE(y + o * plane + at[v], sum[o][v]);
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
    vec sum[PLANES][SIDE] = {{{0}}};
    for (size_t row = 0; row < p->height; row++, x += p->in_width, d += p->width) {
        for (size_t at = 0; at < whole; at += LANES)
            UNROLL
        for (size_t t = 0; t < taps; t++) {
            const vec pixels = LOAD(x + at + t);
            UNROLL
            for (size_t o = 0; o < planes; o++)
                sum[o][t] += LOAD(d + o * plane + at) * pixels;
        }
        if (whole == p->width)
            continue;
        const size_t at = p->width - LANES;
        UNROLL
        for (size_t o = 0; o < planes; o++) {
            const vec slope = (vec)((ivec)LOAD(d + o * plane + at) & fresh);
            UNROLL
            for (size_t t = 0; t < taps; t++)
                sum[o][t] += slope * LOAD(x + at + t);
        }
    }
    UNROLL
    for (size_t o = 0; o < planes; o++)
        UNROLL
    for (size_t t = 0; t < taps; t++)
        dw[o * filter + t] = total(sum[o][t]);
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

static void pool2(size_t height, size_t width, const float *x, float *y, uint8_t *which)
{
    const size_t columns = width / 2;
    for (size_t row = 0; row < height / 2; row++, x += 2 * width, y += columns, which += columns)
        for (size_t k = 0; k < columns; k++) {
            const float a = x[2 * k], b = x[2 * k + 1];
            const float c = x[width + 2 * k], d = x[width + 2 * k + 1];
            const float up = b > a ? b : a, down = d > c ? d : c;
            const uint8_t low = (uint8_t)(d > c) | 2, high = b > a;
            y[k] = down > up ? down : up;
            which[k] = down > up ? low : high;
        }
}

static void unpool2(size_t height, size_t width, const float *dy, const uint8_t *which, float *dx)
{
    const size_t columns = width / 2;
    if (height % 2 || width % 2)
        memset(dx, 0, height * width * sizeof *dx);
    for (size_t row = 0; row < height / 2; row++, dx += 2 * width, dy += columns, which += columns)
        for (size_t k = 0; k < columns; k++) {
            dx[2 * k] = which[k] == 0 ? dy[k] : 0;
            dx[2 * k + 1] = which[k] == 1 ? dy[k] : 0;
            dx[width + 2 * k] = which[k] == 2 ? dy[k] : 0;
            dx[width + 2 * k + 1] = which[k] == 3 ? dy[k] : 0;
        }
}
