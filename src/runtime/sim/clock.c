/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/sim/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/pages.h"

#define WANTED 4096  /* ticks a bucket holds on average: a window of the simulator */
#define RING_TIME 16 /* time the ring spans: nearly all gaps are shorter */
#define NONE UINT32_MAX
#define CHUNK 62 /* ticks a chunk holds: a kilobyte */

typedef struct agent_clock {
    double next;
    uint32_t drawn; /* gaps drawn so far */
} agent_clock;

/* A bucket is a list of chunks, not of agents: whoever walks it reads memory in order, where
 * a list of agents would wait for every single one. */
typedef struct chunk {
    uint32_t next, count;
    sim_tick tick[CHUNK];
} chunk;

struct sim_clock {
    const tacit_random *random;
    uint32_t agents;
    agent_clock *agent;
    double width; /* of a bucket: a power of two, so that bucket borders are exact */
    uint64_t buckets;
    uint32_t *head;
    uint64_t current; /* number of the bucket that holds the present */
    chunk *chunks;
    size_t chunk_count, chunk_capacity;
    uint32_t free_chunk;
    /* the ticks being handed out, and room to sort and draw */
    sim_tick *ticks, *sorted;
    uint32_t *bin;
    uint64_t *who, *counter, *word;
    size_t capacity;
};

static bool reserve(sim_clock *c, size_t count)
{
    if (count <= c->capacity)
        return true;
    size_t capacity = c->capacity ? c->capacity : 2048;
    while (capacity < count)
        capacity *= 2;
    sim_tick *ticks = realloc(c->ticks, capacity * sizeof *ticks);
    c->ticks = ticks ? ticks : c->ticks;
    sim_tick *sorted = realloc(c->sorted, capacity * sizeof *sorted);
    c->sorted = sorted ? sorted : c->sorted;
    uint32_t *bin = realloc(c->bin, (capacity + 1) * sizeof *bin);
    c->bin = bin ? bin : c->bin;
    uint64_t *who = realloc(c->who, 3 * capacity * sizeof *who);
    c->who = who ? who : c->who;
    if (!ticks || !sorted || !bin || !who)
        return false;
    c->counter = c->who + capacity;
    c->word = c->counter + capacity;
    c->capacity = capacity;
    return true;
}

static uint64_t bucket_number(const sim_clock *c, double time)
{
    return (uint64_t)(time / c->width);
}

/* An empty chunk; NONE when memory is out. */
static uint32_t new_chunk(sim_clock *c)
{
    uint32_t at = c->free_chunk;
    if (at != NONE) {
        c->free_chunk = c->chunks[at].next;
    } else {
        chunk *chunks =
            tacit_array_grow(c->chunks, &c->chunk_capacity, c->chunk_count + 1, sizeof *chunks);
        if (!chunks)
            return NONE;
        c->chunks = chunks;
        at = (uint32_t)c->chunk_count++;
    }
    c->chunks[at].count = 0;
    c->chunks[at].next = NONE;
    return at;
}

/* Ticks beyond the ring wait in the bucket they fall on modulo its length and are passed
 * over, lap by lap, until their time has come. False when memory is out. */
static bool insert(sim_clock *c, uint32_t agent)
{
    uint64_t at = bucket_number(c, c->agent[agent].next);
    if (at < c->current)
        at = c->current;
    uint32_t *head = &c->head[at % c->buckets];
    if (*head == NONE || c->chunks[*head].count == CHUNK) {
        uint32_t fresh = new_chunk(c);
        if (fresh == NONE)
            return false;
        c->chunks[fresh].next = *head;
        *head = fresh;
    }
    chunk *first = &c->chunks[*head];
    first->tick[first->count++] = (sim_tick){c->agent[agent].next, agent};
    return true;
}

static double gap(uint64_t word)
{
    return -log1p(-(double)(word >> 11) * 0x1p-53);
}

/* Draw the next gap of the agents who[0..n). */
static void draw(sim_clock *c, size_t n)
{
    for (size_t k = 0; k < n; k++)
        __builtin_prefetch(&c->agent[c->who[k]], 1);
    for (size_t k = 0; k < n; k++)
        c->counter[k] = c->agent[c->who[k]].drawn++;
    tacit_random_first_words(c->random, TACIT_FOR_CLOCK, n, c->who, c->counter, c->word);
    for (size_t k = 0; k < n; k++)
        c->agent[c->who[k]].next += gap(c->word[k]);
}

static bool first_ticks(sim_clock *c)
{
    for (uint32_t at = 0; at < c->agents;) {
        size_t n = 0;
        for (; n < c->capacity && at + n < c->agents; n++)
            c->who[n] = at + n;
        draw(c, n);
        for (size_t k = 0; k < n; k++)
            if (!insert(c, (uint32_t)c->who[k]))
                return false;
        at += (uint32_t)n;
    }
    return true;
}

sim_clock *sim_clock_create(uint32_t agents, const tacit_random *random)
{
    sim_clock *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->random = random;
    c->agents = agents;
    c->width = 1;
    while (c->width * agents > WANTED)
        c->width /= 2;
    c->buckets = (uint64_t)(RING_TIME / c->width);
    c->agent = tacit_pages_alloc(agents, sizeof *c->agent);
    c->head = malloc(c->buckets * sizeof *c->head);
    if (!c->agent || !c->head || !reserve(c, 2048)) {
        sim_clock_free(c);
        return NULL;
    }
    memset(c->head, 0xff, c->buckets * sizeof *c->head);
    c->free_chunk = NONE;
    if (!first_ticks(c)) {
        sim_clock_free(c);
        return NULL;
    }
    return c;
}

void sim_clock_free(sim_clock *c)
{
    if (!c)
        return;
    tacit_pages_free(c->agent, c->agents, sizeof *c->agent);
    free(c->head);
    free(c->chunks);
    free(c->ticks);
    free(c->sorted);
    free(c->bin);
    free(c->who);
    free(c);
}

/* Earliest tick of bucket `number`, infinity if it has none on this lap. */
static double bucket_first(const sim_clock *c, uint64_t number)
{
    double first = INFINITY;
    for (uint32_t at = c->head[number % c->buckets]; at != NONE; at = c->chunks[at].next)
        for (uint32_t k = 0; k < c->chunks[at].count; k++) {
            double time = c->chunks[at].tick[k].time;
            if (time < first && bucket_number(c, time) <= number)
                first = time;
        }
    return first;
}

double sim_clock_next(const sim_clock *c)
{
    for (uint64_t k = 0; k < c->buckets; k++) {
        double first = bucket_first(c, c->current + k);
        if (first < INFINITY)
            return first;
    }
    double first = INFINITY; /* all beyond the ring: rare, so look at everybody */
    for (uint32_t a = 0; a < c->agents; a++)
        first = fmin(first, c->agent[a].next);
    return first;
}

/* Move the ticks of the current bucket that come before `end` to ticks[] and who[]. Chunks
 * that become empty are free again. SIZE_MAX when memory is out. */
static size_t unlink_due(sim_clock *c, double end)
{
    size_t n = 0;
    for (uint32_t *link = &c->head[c->current % c->buckets]; *link != NONE;) {
        chunk *here = &c->chunks[*link];
        uint32_t kept = 0;
        if (!reserve(c, n + here->count))
            return SIZE_MAX;
        for (uint32_t k = 0; k < here->count; k++) {
            if (here->tick[k].time >= end) {
                here->tick[kept++] = here->tick[k];
                continue;
            }
            c->ticks[n] = here->tick[k];
            c->who[n++] = here->tick[k].agent;
        }
        here->count = kept;
        if (kept > 0) {
            link = &here->next;
            continue;
        }
        uint32_t emptied = *link;
        *link = here->next;
        here->next = c->free_chunk;
        c->free_chunk = emptied;
    }
    return n;
}

static int earlier(const sim_tick *a, const sim_tick *b)
{
    return a->time < b->time || (a->time == b->time && a->agent < b->agent);
}

/* Times are close to uniform over the window: bins first, then insertion. */
static void sort(sim_clock *c, size_t n, double begin, double end)
{
    double scale = (double)n / (end - begin);
    memset(c->bin, 0, (n + 1) * sizeof *c->bin);
    for (size_t k = 0; k < n; k++) {
        size_t at = (size_t)((c->ticks[k].time - begin) * scale);
        c->bin[(at < n ? at : n - 1) + 1]++;
    }
    for (size_t k = 0; k < n; k++)
        c->bin[k + 1] += c->bin[k];
    for (size_t k = 0; k < n; k++) {
        size_t at = (size_t)((c->ticks[k].time - begin) * scale);
        c->sorted[c->bin[at < n ? at : n - 1]++] = c->ticks[k];
    }
    for (size_t k = 1; k < n; k++) {
        sim_tick tick = c->sorted[k];
        size_t j = k;
        for (; j > 0 && earlier(&tick, &c->sorted[j - 1]); j--)
            c->sorted[j] = c->sorted[j - 1];
        c->sorted[j] = tick;
    }
}

const sim_tick *sim_clock_take(sim_clock *c, double *end, size_t *count)
{
    *count = 0;
    double border = (double)(c->current + 1) * c->width;
    if (*end > border)
        *end = border;
    double begin = (double)c->current * c->width;
    size_t due = unlink_due(c, *end), total = due;
    if (due == SIZE_MAX)
        return NULL;
    while (due > 0) { /* an agent may tick more than once before `end` */
        draw(c, due);
        size_t again = 0;
        if (!reserve(c, total + due))
            return NULL;
        for (size_t k = 0; k < due; k++) {
            uint32_t agent = (uint32_t)c->who[k];
            if (c->agent[agent].next < *end) {
                c->ticks[total++] = (sim_tick){c->agent[agent].next, agent};
                c->who[again++] = agent;
            } else if (!insert(c, agent)) {
                return NULL;
            }
        }
        due = again;
    }
    if (total > 0)
        sort(c, total, begin, *end);
    if (*end == border)
        c->current++;
    *count = total;
    return c->sorted;
}

void sim_clock_get(const sim_clock *c, uint32_t agent, double *next, uint64_t *drawn)
{
    *next = c->agent[agent].next;
    *drawn = c->agent[agent].drawn;
}

void sim_clock_put(sim_clock *c, uint32_t agent, double next, uint64_t drawn)
{
    c->agent[agent].next = next;
    c->agent[agent].drawn = (uint32_t)drawn;
}

bool sim_clock_seek(sim_clock *c, double now)
{
    c->current = bucket_number(c, now);
    memset(c->head, 0xff, c->buckets * sizeof *c->head);
    c->chunk_count = 0;
    c->free_chunk = NONE;
    for (uint32_t a = 0; a < c->agents; a++)
        if (!insert(c, a))
            return false;
    return true;
}
