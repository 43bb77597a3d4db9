/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where to draw the agents of a network, for a few hundred of them.
 *
 * Distances on the paper shall be like distances in the graph: shortest paths, where an edge has
 * length 1 if it is the strongest and up to 3 if it is weak. Each component starts from classical
 * scaling (the two leading eigenvectors of the doubly centred squared distances, by power
 * iteration) and is improved by stress majorisation (Gansner, Koren and North 2004), in which an
 * agent moves to the weighted mean of the places its distances call for. So a ring becomes a
 * circle and a grid a lattice without being told, and nothing is random.
 *
 * Each component is turned so that its lines are upright if it is a lattice, lengthwise if not;
 * components are then set in rows like words, the largest first, and all is fitted to the box.
 */
#include "report/layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POWER_STEPS 60
#define STRESS_STEPS 200
#define STILL 3e-3      /* a step that nobody would see: an edge is 1 to 3 long */
#define WEAK_LENGTH 2.0 /* how much longer the weakest edge is */
#define LATTICE 0.6     /* share of lines in two upright directions that makes a lattice */

typedef struct piece {
    uint32_t first, count; /* in `member` */
    double width, height;
} piece;

typedef struct layout {
    const tacit_network *net;
    tacit_point *at;
    double *length;   /* agents x agents; INFINITY: no edge */
    uint32_t *member; /* agents by component, components by size */
    piece *pieces;
    uint32_t piece_count;
    double *distance; /* of one component, count x count */
    double *vector;   /* scratch, 2 an agent */
    bool *done;
} layout;

/* ---- lengths and components ---- */

static void measure_lengths(layout *l)
{
    const tacit_network *net = l->net;
    size_t n = net->agents;
    double strongest = 0;
    for (size_t k = 0; k < n * n; k++)
        l->length[k] = INFINITY;
    for (size_t e = 0; e < net->edges && net->weight; e++) {
        if (isfinite(net->weight[e]))
            strongest = fmax(strongest, net->weight[e]);
    }
    for (size_t e = 0; e < net->edges; e++) {
        uint32_t a = net->a[e], b = net->b[e];
        if (a >= n || b >= n || a == b)
            continue;
        double share = net->weight && strongest > 0 ? net->weight[e] / strongest : 1;
        double length = 1 + WEAK_LENGTH * (1 - fmax(0, fmin(1, share)));
        l->length[a * n + b] = l->length[b * n + a] = length;
    }
}

/* Everybody who is reached from `start`, appended to `member`. */
static uint32_t gather(layout *l, uint32_t start, uint32_t first)
{
    uint32_t n = l->net->agents, end = first;
    l->member[end++] = start;
    l->done[start] = true;
    for (uint32_t k = first; k < end; k++) {
        for (uint32_t j = 0; j < n; j++) {
            if (!l->done[j] && isfinite(l->length[(size_t)l->member[k] * n + j])) {
                l->done[j] = true;
                l->member[end++] = j;
            }
        }
    }
    return end - first;
}

static int by_size(const void *left, const void *right)
{
    const piece *x = left, *y = right;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static void find_pieces(layout *l)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < l->net->agents; i++) {
        if (l->done[i])
            continue;
        piece *p = &l->pieces[l->piece_count++];
        *p = (piece){.first = first, .count = gather(l, i, first)};
        first += p->count;
    }
    qsort(l->pieces, l->piece_count, sizeof *l->pieces, by_size);
}

/* Shortest paths from member `s` of a piece (Dijkstra; pieces are small). */
static void find_paths(layout *l, const piece *p, uint32_t s)
{
    const uint32_t *member = l->member + p->first;
    size_t n = l->net->agents;
    double *row = l->distance + (size_t)s * p->count;
    for (uint32_t k = 0; k < p->count; k++) {
        row[k] = k == s ? 0 : INFINITY;
        l->done[k] = false;
    }
    for (uint32_t step = 0; step < p->count; step++) {
        uint32_t next = UINT32_MAX;
        for (uint32_t k = 0; k < p->count; k++) {
            if (!l->done[k] && (next == UINT32_MAX || row[k] < row[next]))
                next = k;
        }
        l->done[next] = true;
        const double *length = l->length + member[next] * n;
        for (uint32_t k = 0; k < p->count; k++) {
            double path = row[next] + length[member[k]];
            if (path < row[k])
                row[k] = path;
        }
    }
}

/* ---- classical scaling ---- */

/* y = B x, B = -1/2 the doubly centred squares of the distances; x has mean zero. */
static void apply_centred(const layout *l, uint32_t n, const double *x, double *y)
{
    double mean = 0;
    for (uint32_t i = 0; i < n; i++) {
        double sum = 0;
        for (uint32_t j = 0; j < n; j++)
            sum -= 0.5 * l->distance[(size_t)i * n + j] * l->distance[(size_t)i * n + j] * x[j];
        y[i] = sum;
        mean += sum / n;
    }
    for (uint32_t i = 0; i < n; i++)
        y[i] -= mean;
}

static double norm_of(const double *x, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* Take `other` (of norm 1, or NULL) out of x, and bring x to mean zero and norm 1. */
static void tidy(double *x, const double *other, uint32_t n)
{
    double mean = 0, along = 0;
    for (uint32_t i = 0; i < n; i++)
        mean += x[i] / n;
    for (uint32_t i = 0; i < n; i++) {
        x[i] -= mean;
        along += other ? x[i] * other[i] : 0;
    }
    for (uint32_t i = 0; i < n && other; i++)
        x[i] -= along * other[i];
    double norm = norm_of(x, n);
    for (uint32_t i = 0; i < n; i++)
        x[i] /= norm > 0 ? norm : 1;
}

/* One leading eigenvector beside `other`, scaled to its share of the distances. */
static double lead(const layout *l, uint32_t n, double *x, const double *other, double *scratch)
{
    double norm = 0;
    for (uint32_t i = 0; i < n; i++) /* fixed, and near to no symmetry */
        x[i] = sin(1.7 * i + (other ? 2.1 : 0.4)) + 0.3 * cos(0.37 * i * i);
    tidy(x, other, n);
    for (int step = 0; step < POWER_STEPS; step++) {
        apply_centred(l, n, x, scratch);
        norm = norm_of(scratch, n);
        memcpy(x, scratch, n * sizeof *x);
        tidy(x, other, n);
    }
    return sqrt(norm);
}

static void scale_piece(layout *l, const piece *p)
{
    uint32_t n = p->count;
    const uint32_t *member = l->member + p->first;
    double *x = l->vector, *y = x + n, *scratch = y + n;
    double along = lead(l, n, x, NULL, scratch), across = lead(l, n, y, x, scratch);
    for (uint32_t k = 0; k < n; k++)
        l->at[member[k]] = (tacit_point){along * x[k], across * y[k]};
}

/* ---- stress ---- */

static double improve(layout *l, const piece *p)
{
    const uint32_t *member = l->member + p->first;
    double moved = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        tacit_point here = l->at[member[i]], sum = {0, 0};
        double weights = 0;
        for (uint32_t j = 0; j < p->count; j++) {
            if (i == j)
                continue;
            tacit_point there = l->at[member[j]];
            double near = 1 / l->distance[(size_t)i * p->count + j], weight = near * near;
            double dx = here.x - there.x, dy = here.y - there.y, apart = sqrt(dx * dx + dy * dy);
            if (apart < 1e-9) { /* two in one place: part them, each in a direction of its own */
                dx = cos(2.4 * i);
                dy = sin(2.4 * i);
                apart = 1;
            }
            double pull = near / apart;
            sum.x += weight * there.x + pull * dx;
            sum.y += weight * there.y + pull * dy;
            weights += weight;
        }
        tacit_point next = {sum.x / weights, sum.y / weights};
        moved = fmax(moved, hypot(next.x - here.x, next.y - here.y));
        l->at[member[i]] = next;
    }
    return moved;
}

/* ---- turning and packing ---- */

/* The angle that puts most lines upright; `share` says how well (1: all of them). */
static double upright_angle(const layout *l, const piece *p, double *share)
{
    const uint32_t *member = l->member + p->first;
    double c = 0, s = 0, lines = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        for (uint32_t j = i + 1; j < p->count; j++) {
            if (!isfinite(l->length[(size_t)member[i] * l->net->agents + member[j]]))
                continue;
            double angle = atan2(l->at[member[j]].y - l->at[member[i]].y,
                                 l->at[member[j]].x - l->at[member[i]].x);
            c += cos(4 * angle);
            s += sin(4 * angle);
            lines++;
        }
    }
    *share = lines > 0 ? hypot(c, s) / lines : 0;
    return atan2(s, c) / 4;
}

/* The angle of the longest axis. */
static double long_angle(const layout *l, const piece *p)
{
    const uint32_t *member = l->member + p->first;
    double mx = 0, my = 0, xx = 0, xy = 0, yy = 0;
    for (uint32_t k = 0; k < p->count; k++) {
        mx += l->at[member[k]].x / p->count;
        my += l->at[member[k]].y / p->count;
    }
    for (uint32_t k = 0; k < p->count; k++) {
        double x = l->at[member[k]].x - mx, y = l->at[member[k]].y - my;
        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    return 0.5 * atan2(2 * xy, xx - yy);
}

/* Turn a piece by -angle and move its corner to the origin. */
static void settle(layout *l, piece *p, double angle)
{
    const uint32_t *member = l->member + p->first;
    double c = cos(angle), s = sin(angle), left = INFINITY, top = INFINITY;
    double right = -INFINITY, bottom = -INFINITY;
    for (uint32_t k = 0; k < p->count; k++) {
        tacit_point *q = &l->at[member[k]];
        *q = (tacit_point){c * q->x + s * q->y, c * q->y - s * q->x};
        left = fmin(left, q->x);
        right = fmax(right, q->x);
        top = fmin(top, q->y);
        bottom = fmax(bottom, q->y);
    }
    for (uint32_t k = 0; k < p->count; k++) {
        l->at[member[k]].x -= left;
        l->at[member[k]].y -= top;
    }
    p->width = right - left;
    p->height = bottom - top;
}

static void place_piece(layout *l, piece *p)
{
    if (p->count == 1) {
        l->at[l->member[p->first]] = (tacit_point){0, 0};
        return;
    }
    for (uint32_t s = 0; s < p->count; s++)
        find_paths(l, p, s);
    scale_piece(l, p);
    for (int step = 0; step < STRESS_STEPS; step++) {
        if (improve(l, p) < STILL)
            break;
    }
    double share, angle = upright_angle(l, p, &share);
    settle(l, p, share > LATTICE && p->count > 2 ? angle : long_angle(l, p));
    if (p->height > p->width)
        settle(l, p, acos(0));
}

/* Rows of pieces, as wide as makes the whole about as wide as the box. Returns the size. */
static tacit_point pack(layout *l, double aspect)
{
    const double gap = 1;
    double area = 0, widest = 0, x = 0, y = 0, row = 0;
    tacit_point size = {0, 0};
    for (uint32_t k = 0; k < l->piece_count; k++) {
        area += (l->pieces[k].width + gap) * (l->pieces[k].height + gap);
        widest = fmax(widest, l->pieces[k].width + gap);
    }
    double limit = fmax(widest, 1.1 * sqrt(area * aspect));
    for (uint32_t k = 0; k < l->piece_count; k++) {
        piece *p = &l->pieces[k];
        if (x > 0 && x + p->width + gap > limit * (1 + 1e-9)) {
            x = 0;
            y += row + gap;
            row = 0;
        }
        for (uint32_t m = p->first; m < p->first + p->count; m++) {
            l->at[l->member[m]].x += x;
            l->at[l->member[m]].y += y;
        }
        size.x = fmax(size.x, x + p->width);
        size.y = fmax(size.y, y + p->height);
        x += p->width + gap;
        row = fmax(row, p->height);
    }
    return size;
}

static void fit(layout *l, tacit_point size, tacit_box box)
{
    double scale = fmin(box.width / fmax(size.x, 1e-9), box.height / fmax(size.y, 1e-9));
    if (l->net->agents < 5) /* so few need no whole page */
        scale = fmin(scale, 0.4 * fmin(box.width, box.height));
    double left = box.x + (box.width - scale * size.x) / 2;
    double top = box.y + (box.height - scale * size.y) / 2;
    for (uint32_t i = 0; i < l->net->agents; i++)
        l->at[i] = (tacit_point){left + scale * l->at[i].x, top + scale * l->at[i].y};
}

bool tacit_network_layout(const tacit_network *network, tacit_box box, tacit_point *at)
{
    size_t n = network->agents;
    layout l = {.net = network, .at = at};
    l.length = calloc(n * n, sizeof *l.length);
    l.distance = calloc(n * n, sizeof *l.distance);
    l.member = calloc(n, sizeof *l.member);
    l.pieces = calloc(n, sizeof *l.pieces);
    l.vector = calloc(3 * n, sizeof *l.vector);
    l.done = calloc(n, sizeof *l.done);
    bool enough = l.length && l.distance && l.member && l.pieces && l.vector && l.done;
    if (enough) {
        measure_lengths(&l);
        find_pieces(&l);
        for (uint32_t k = 0; k < l.piece_count; k++)
            place_piece(&l, &l.pieces[k]);
        fit(&l, pack(&l, box.width / box.height), box);
    }
    free(l.length);
    free(l.distance);
    free(l.member);
    free(l.pieces);
    free(l.vector);
    free(l.done);
    return enough;
}
