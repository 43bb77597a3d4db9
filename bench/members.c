/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How random a random peer is: 10,000 peers in one process, each with the very view a node has
 * (src/net/members.c; only the signature is a stand-in), all of whom know one bootstrap peer at
 * first. For the links (a peer has one to each of its view) against a random graph in which each
 * peer has as many links: spread of in-degrees, clustering and path length, both measured by the
 * same lines below. Then samples against uniform ones, a crash of half of all peers against none
 * forgotten, and the cost of an exchange with real signatures against the signatures alone.
 *
 * The settings (H,S) other than the default are there to show why the default is what it is.
 *
 *     members [PEERS]
 */
#include <math.h>
#include <sodium.h>

#include "bench.h"
#include "net/members.h"

enum {
    CYCLES = 100,
    SAMPLE_CYCLES = 300,
    LONG_CYCLES = 5000,
    HEAL_CYCLES = 60,
    PROBES = 200,
    LAGS = 24,
    VIEW = 20
};

static uint32_t peers = 10000;

/* ---- the simulated overlay ---- */

typedef struct world {
    tacit_members **peer;
    bool *alive;
    uint32_t *order;
    tacit_stream stream;
} world;

static void *must_have(void *memory)
{
    if (!memory) {
        fprintf(stderr, "no memory\n");
        exit(TACIT_EINTERNAL);
    }
    return memory;
}

static bool sealed(const tacit_descriptor *d, void *context)
{
    (void)context;
    return d->signature[0] == 1;
}

static uint32_t number_of(const tacit_descriptor *d)
{
    uint32_t number;
    memcpy(&number, d->identity, sizeof number);
    return number;
}

static tacit_descriptor describe(uint32_t number, uint64_t stamp)
{
    tacit_descriptor d = {.stamp = stamp, .signature = {1}};
    memcpy(d.identity, &number, sizeof number);
    snprintf(d.endpoint, sizeof d.endpoint, "tcp://peer-%u:7000", number);
    return d;
}

static void world_open(world *w, const tacit_members_options *o, uint64_t seed)
{
    tacit_error err;
    tacit_random random;
    tacit_random_init(&random, seed);
    *w = (world){.peer = must_have(calloc(peers, sizeof(tacit_members *))),
                 .alive = must_have(calloc(peers, sizeof(bool))),
                 .order = must_have(calloc(peers, sizeof(uint32_t)))};
    tacit_stream_open(&w->stream, &random, 0, TACIT_FOR_TEST, 0);
    tacit_descriptor first = describe(0, 1);
    for (uint32_t i = 0; i < peers; i++) {
        tacit_members_options own = *o;
        own.verify = sealed;
        if (i == 0)
            own.answers = 0; /* everybody knocks at its door first */
        tacit_descriptor self = describe(i, 1);
        bench_must(tacit_members_create(&w->peer[i], &own, &self, &w->stream, &err), &err);
        bench_must(tacit_members_introduce(w->peer[i], &w->stream, &first, 1, &err), &err);
        w->alive[i] = true;
        w->order[i] = i;
    }
}

static void world_close(world *w)
{
    for (uint32_t i = 0; i < peers; i++)
        tacit_members_free(w->peer[i]);
    free(w->peer);
    free(w->alive);
    free(w->order);
}

static void world_cycle(world *w)
{
    static tacit_exchange request, reply;
    tacit_error err;
    for (uint32_t k = 0; k < peers; k++) { /* each once, in any order: timers with jitter */
        uint32_t other = k + (uint32_t)tacit_stream_below(&w->stream, peers - k),
                 i = w->order[other];
        w->order[other] = w->order[k], w->order[k] = i;
        if (!w->alive[i])
            continue;
        tacit_descriptor self = describe(i, tacit_members_self(w->peer[i])->stamp + 1), to;
        bench_must(tacit_members_renew(w->peer[i], &self, &err), &err);
        if (!tacit_members_begin(w->peer[i], &w->stream, &to, &request))
            continue;
        uint32_t j = number_of(&to);
        if (w->alive[j] &&
            !tacit_members_answer(w->peer[j], &w->stream, NULL, &request, &reply, &err))
            bench_must(tacit_members_finish(w->peer[i], &w->stream, NULL, &reply, &err), &err);
    }
}

/* ---- the graph of its links ---- */

typedef struct links {
    uint32_t *out;   /* peers x VIEW, UINT32_MAX where a view has room */
    uint32_t *start; /* both directions: peers + 1 */
    uint32_t *to;
    uint32_t *in; /* degrees */
} links;

static void links_of_world(links *l, const world *w)
{
    l->out = must_have(malloc((size_t)peers * VIEW * sizeof *l->out));
    for (uint32_t i = 0; i < peers; i++)
        for (uint32_t k = 0; k < VIEW; k++) {
            const tacit_descriptor *d = tacit_members_at(w->peer[i], k);
            l->out[(size_t)i * VIEW + k] = d && w->alive[i] ? number_of(d) : UINT32_MAX;
        }
}

static void links_of_chance(links *l, tacit_stream *stream)
{
    l->out = must_have(malloc((size_t)peers * VIEW * sizeof *l->out));
    for (uint32_t i = 0; i < peers; i++) {
        uint32_t *out = l->out + (size_t)i * VIEW;
        for (uint32_t k = 0; k < VIEW; k++) {
            bool again = true;
            while (again) {
                out[k] = (uint32_t)tacit_stream_below(stream, peers);
                again = out[k] == i;
                for (uint32_t j = 0; j < k; j++)
                    again |= out[j] == out[k];
            }
        }
    }
}

static void links_turn(links *l)
{
    l->start = must_have(calloc(peers + 2, sizeof *l->start));
    l->in = must_have(calloc(peers, sizeof *l->in));
    l->to = must_have(malloc((size_t)peers * VIEW * 2 * sizeof *l->to));
    for (int pass = 0; pass < 2; pass++) {
        for (size_t e = 0; e < (size_t)peers * VIEW; e++) {
            uint32_t i = (uint32_t)(e / VIEW), j = l->out[e];
            if (j == UINT32_MAX)
                continue;
            if (pass == 0) {
                l->in[j]++, l->start[i + 2]++, l->start[j + 2]++;
            } else {
                l->to[l->start[i + 1]++] = j;
                l->to[l->start[j + 1]++] = i;
            }
        }
        for (uint32_t i = 0; pass == 0 && i < peers; i++)
            l->start[i + 2] += l->start[i + 1];
    }
}

static void links_close(links *l)
{
    free(l->out), free(l->start), free(l->to), free(l->in);
}

static void in_degrees(const links *l, double *mean, double *deviation, uint32_t *most)
{
    double sum = 0, squares = 0;
    *most = 0;
    for (uint32_t i = 0; i < peers; i++) {
        sum += l->in[i], squares += (double)l->in[i] * l->in[i];
        *most = l->in[i] > *most ? l->in[i] : *most;
    }
    *mean = sum / peers;
    *deviation = sqrt(squares / peers - *mean * *mean);
}

/* Of the pairs of neighbours of a peer, how many are linked: the mean over some peers. */
static double clustering(const links *l)
{
    uint32_t *mark = must_have(calloc(peers, sizeof *mark)); /* 1 + whose neighbour */
    uint32_t *seen = must_have(calloc(peers, sizeof *seen));
    double sum = 0;
    uint32_t stamp = 0;
    for (uint32_t p = 0; p < PROBES; p++) {
        uint32_t i = (uint32_t)((uint64_t)p * peers / PROBES), degree = 0;
        uint64_t linked = 0;
        for (uint32_t e = l->start[i]; e < l->start[i + 1]; e++)
            if (l->to[e] != i && mark[l->to[e]] != p + 1)
                mark[l->to[e]] = p + 1, degree++;
        for (uint32_t e = l->start[i]; e < l->start[i + 1]; e++) {
            uint32_t j = l->to[e];
            if (mark[j] != p + 1)
                continue;
            mark[j] = 0; /* each neighbour once, each pair once */
            stamp++;
            for (uint32_t f = l->start[j]; f < l->start[j + 1]; f++)
                if (mark[l->to[f]] == p + 1 && seen[l->to[f]] != stamp)
                    seen[l->to[f]] = stamp, linked++;
        }
        sum += degree > 1 ? 2.0 * (double)linked / ((double)degree * (degree - 1)) : 0;
    }
    free(mark), free(seen);
    return sum / PROBES;
}

/* Mean number of hops from a few peers to all they reach; *reached is the least share reached. */
static double path_length(const links *l, double *reached)
{
    uint32_t *hops = must_have(malloc(peers * sizeof *hops));
    uint32_t *queue = must_have(malloc(peers * sizeof *queue));
    double sum = 0, count = 0;
    *reached = 1;
    for (uint32_t p = 0; p < 20; p++) {
        memset(hops, 0xff, peers * sizeof *hops);
        uint32_t head = 0, tail = 0;
        queue[tail++] = p * (peers / 20);
        hops[queue[0]] = 0;
        while (head < tail) {
            uint32_t i = queue[head++];
            sum += hops[i];
            for (uint32_t e = l->start[i]; e < l->start[i + 1]; e++)
                if (hops[l->to[e]] == UINT32_MAX)
                    hops[l->to[e]] = hops[i] + 1, queue[tail++] = l->to[e];
        }
        count += tail - 1;
        *reached = fmin(*reached, (double)tail / peers);
    }
    free(hops), free(queue);
    return sum / count;
}

/* ---- what is measured ---- */

typedef struct shape {
    double mean, deviation, clustering, path, reached;
    uint32_t most;
} shape;

static shape measure(links *l)
{
    shape s;
    links_turn(l);
    in_degrees(l, &s.mean, &s.deviation, &s.most);
    s.clustering = clustering(l);
    s.path = path_length(l, &s.reached);
    links_close(l);
    return s;
}

/* Links to dead peers, a view, among those alive. */
static double dead_links(const world *w)
{
    double dead = 0, alive = 0;
    for (uint32_t i = 0; i < peers; i++) {
        alive += w->alive[i];
        for (size_t k = 0; w->alive[i] && k < tacit_members_count(w->peer[i]); k++)
            dead += !w->alive[number_of(tacit_members_at(w->peer[i], k))];
    }
    return dead / alive;
}

/* Whether those sampled often in the first half are sampled often in the second. */
static double correlation(const uint32_t *half, const uint32_t *all, uint32_t cycles)
{
    double xx = 0, yy = 0, xy = 0, mean = cycles / 2.0;
    for (uint32_t i = 0; i < peers; i++) {
        double x = half[i] - mean, y = all[i] - half[i] - mean;
        xx += x * x, yy += y * y, xy += x * y;
    }
    return xy / sqrt(xx * yy);
}

/* One sample a peer and cycle: chi-square over its freedom of how often each was sampled, and
 * how often a peer's sample is that of `lag` cycles before. */
static double samples(world *w, uint32_t cycles, double repeat[LAGS], double *lasting)
{
    uint32_t *count = must_have(calloc(peers, sizeof *count));
    uint32_t *half = must_have(calloc(peers, sizeof *half));
    uint32_t *past = must_have(calloc((size_t)peers * LAGS, sizeof *past));
    double tried[LAGS] = {0};
    memset(repeat, 0, LAGS * sizeof *repeat);
    for (uint32_t t = 0; t < cycles; t++) {
        world_cycle(w);
        for (uint32_t i = 0; i < peers; i++) {
            tacit_descriptor d;
            if (!tacit_members_sample(w->peer[i], &w->stream, &d))
                continue;
            uint32_t *own = past + (size_t)i * LAGS, j = number_of(&d);
            for (uint32_t lag = 1; lag < LAGS && lag <= t; lag++)
                tried[lag]++, repeat[lag] += own[(t - lag) % LAGS] == j;
            own[t % LAGS] = j;
            count[j]++;
            half[j] += t < cycles / 2;
        }
    }
    *lasting = correlation(half, count, cycles);
    double expected = cycles, chi = 0;
    for (uint32_t i = 0; i < peers; i++)
        chi += (count[i] - expected) * (count[i] - expected) / expected;
    for (uint32_t lag = 1; lag < LAGS; lag++)
        repeat[lag] /= tried[lag];
    free(count), free(half), free(past);
    return chi / (peers - 1);
}

/* Cycles until fewer than `few` links a view lead to the dead; `by_cycle` has all of them. */
static int crash(world *w, double few, double by_cycle[HEAL_CYCLES + 1])
{
    for (uint32_t k = 0, left = peers / 2; left > 0; k++) {
        uint32_t i = (uint32_t)tacit_stream_below(&w->stream, peers);
        if (w->alive[i])
            w->alive[i] = false, left--;
    }
    by_cycle[0] = dead_links(w);
    int healed = -1;
    for (int t = 1; t <= HEAL_CYCLES; t++) {
        world_cycle(w);
        by_cycle[t] = dead_links(w);
        if (healed < 0 && by_cycle[t] < few)
            healed = t;
    }
    return healed;
}

static void study(FILE *out, const char *name, const tacit_members_options *o, const shape *chance)
{
    world w;
    double repeat[LAGS], dead[HEAL_CYCLES + 1];
    char row[80], note[200];
    world_open(&w, o, 1);
    double start = bench_seconds();
    for (int t = 0; t < CYCLES; t++)
        world_cycle(&w);
    double seconds = (bench_seconds() - start) / CYCLES;
    links l;
    links_of_world(&l, &w);
    shape s = measure(&l);
    snprintf(row, sizeof row, "%s in-degree deviation", name);
    snprintf(note, sizeof note, "mean %.2f most %u; random graph most %u", s.mean, s.most,
             chance->most);
    bench_row(out, row, s.deviation, chance->deviation, "links", note);
    snprintf(row, sizeof row, "%s clustering", name);
    bench_row(out, row, s.clustering, chance->clustering, "share", "against a random graph");
    snprintf(row, sizeof row, "%s path length", name);
    snprintf(note, sizeof note, "against a random graph; %.4g %% reached", 100 * s.reached);
    bench_row(out, row, s.path, chance->path, "hops", note);
    double lasting, chi = samples(&w, SAMPLE_CYCLES, repeat, &lasting);
    snprintf(row, sizeof row, "%s samples chi-square a degree", name);
    snprintf(note, sizeof note, "1 if uniform; %d samples a peer", (int)SAMPLE_CYCLES);
    bench_row(out, row, chi, 1, "ratio", note);
    snprintf(row, sizeof row, "%s samples of two halves", name);
    bench_row(out, row, lasting, 1 / sqrt(peers), "correlation",
              "of how often each was sampled; the baseline is one deviation of none");
    static const int lags[] = {1, 2, 5, 10, 20};
    for (size_t k = 0; k < sizeof lags / sizeof *lags; k++) {
        snprintf(row, sizeof row, "%s sample repeated after %d", name, lags[k]);
        bench_row(out, row, 100 * repeat[lags[k]], 100.0 / (peers - 1), "%",
                  "against independent samples");
    }
    int healed = crash(&w, 0.01, dead);
    snprintf(row, sizeof row, "%s cycles to forget half", name);
    snprintf(note, sizeof note,
             "%s 0.01 dead links a view; %.2f at first then %.2f %.2f %.3f %.4f after 1 5 10 20",
             healed < 0 ? "never reached" : "until", dead[0], dead[1], dead[5], dead[10], dead[20]);
    bench_row(out, row, healed < 0 ? HEAL_CYCLES : healed, HEAL_CYCLES, "cycles", note);
    snprintf(row, sizeof row, "%s cycle of all peers", name);
    bench_row(out, row, seconds, 1, "s", "one thread; signatures left out; against a cycle of 1 s");
    world_close(&w);
}

/* Few peers for long: a lasting preference would make chi-square grow with the cycles. */
static void lasting_preference(FILE *out, const tacit_members_options *o)
{
    world w;
    double repeat[LAGS], lasting;
    uint32_t all = peers;
    peers = 1000;
    world_open(&w, o, 3);
    for (int t = 0; t < CYCLES; t++)
        world_cycle(&w);
    double chi = samples(&w, LONG_CYCLES, repeat, &lasting);
    bench_row(out, "default for long chi-square a degree", chi, 1, "ratio",
              "1000 peers; 5000 samples a peer");
    bench_row(out, "default for long two halves", lasting, 1 / sqrt(peers), "correlation",
              "1000 peers; the baseline is one deviation of none");
    world_close(&w);
    peers = all;
}

/* An exchange with real signatures, both sides and encoding, against its verifications alone. */
static void cost(FILE *out)
{
    enum { CROWD = 64, TURNS = 200 };
    tacit_error err;
    tacit_random random;
    tacit_stream stream;
    tacit_members_options o;
    tacit_members *m[CROWD];
    static uint8_t secret[CROWD][TACIT_IDENTITY_SECRET], bytes[TACIT_EXCHANGE_BYTES];
    static tacit_descriptor self[CROWD];
    static tacit_exchange request, reply;
    uint8_t curve[TACIT_CURVE_BYTES] = {0}, key[TACIT_IDENTITY_BYTES];
    tacit_random_init(&random, 1);
    tacit_stream_open(&stream, &random, 0, TACIT_FOR_TEST, 1);
    tacit_members_defaults(&o);
    for (uint32_t i = 0; i < CROWD; i++) {
        crypto_sign_keypair(key, secret[i]);
        bench_must(tacit_descriptor_make(&self[i], secret[i], curve, "tcp://a:1", 1, &err), &err);
        bench_must(tacit_members_create(&m[i], &o, &self[i], &stream, &err), &err);
        bench_must(tacit_members_introduce(m[i], &stream, self, i, &err), &err);
    }
    bench_must(tacit_members_introduce(m[0], &stream, self + 1, 8, &err), &err);
    uint64_t before = 0, after = 0;
    for (uint32_t i = 0; i < CROWD; i++)
        before += tacit_members_counts(m[i]).verified;
    double start = bench_seconds();
    for (uint32_t t = 0; t < TURNS; t++) {
        uint32_t i = t % CROWD, j = 0;
        tacit_descriptor to, own;
        bench_must(tacit_descriptor_make(&own, secret[i], curve, "tcp://a:1", t + 2, &err), &err);
        bench_must(tacit_members_renew(m[i], &own, &err), &err);
        tacit_members_begin(m[i], &stream, &to, &request);
        bench_must(
            tacit_exchange_decode(&request, bytes, tacit_exchange_encode(bytes, &request), &err),
            &err);
        while (memcmp(self[j].identity, to.identity, sizeof to.identity))
            j++;
        if (tacit_members_answer(m[j], &stream, curve, &request, &reply, &err))
            continue;
        bench_must(tacit_exchange_decode(&reply, bytes, tacit_exchange_encode(bytes, &reply), &err),
                   &err);
        bench_must(tacit_members_finish(m[i], &stream, curve, &reply, &err), &err);
    }
    double ours = (bench_seconds() - start) / TURNS;
    for (uint32_t i = 0; i < CROWD; i++) {
        after += tacit_members_counts(m[i]).verified;
        tacit_members_free(m[i]);
    }
    start = bench_seconds();
    int good = 0;
    for (int t = 0; t < 2000; t++)
        good += tacit_descriptor_verify(&self[t % CROWD]);
    double one = (bench_seconds() - start) / good, each = (double)(after - before) / TURNS;
    char note[100];
    snprintf(note, sizeof note, "both sides; %.1f signatures verified at %.0f us", each, 1e6 * one);
    bench_row(out, "exchange with signatures", 1e6 * ours, 1e6 * one * each, "us", note);
}

int main(int argc, char **argv)
{
    static const struct {
        uint32_t healer, swapper;
        tacit_members_pick pick;
        const char *name;
    } others[] = {{0, 0, TACIT_PICK_ANY, "H0 S0"},          {10, 0, TACIT_PICK_ANY, "H10 S0"},
                  {0, 10, TACIT_PICK_ANY, "H0 S10"},        {3, 7, TACIT_PICK_ANY, "H3 S7"},
                  {2, 8, TACIT_PICK_ANY, "H2 S8"},          {5, 5, TACIT_PICK_ANY, "H5 S5"},
                  {1, 9, TACIT_PICK_OLDEST, "H1 S9 oldest"}};
    if (argc > 1)
        peers = (uint32_t)strtoul(argv[1], NULL, 10);
    if (peers < PROBES || sodium_init() < 0) {
        fprintf(stderr, "members [PEERS], at least %d\n", (int)PROBES);
        return TACIT_EUSAGE;
    }
    FILE *out = bench_open("members");
    tacit_random random;
    tacit_stream stream;
    tacit_members_options o;
    links l;
    tacit_random_init(&random, 2);
    tacit_stream_open(&stream, &random, 0, TACIT_FOR_TEST, 0);
    links_of_chance(&l, &stream);
    shape chance = measure(&l);
    tacit_members_defaults(&o);
    study(out, "default H1 S9", &o, &chance);
    lasting_preference(out, &o);
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        o.healer = others[k].healer, o.swapper = others[k].swapper, o.pick = others[k].pick;
        study(out, others[k].name, &o, &chance);
    }
    cost(out);
    bench_row(out, "memory a peer", bench_peak() / peers / 1e3,
              VIEW * sizeof(tacit_descriptor) / 1e3, "kB",
              "peak of the process against the descriptors alone");
    fclose(out);
    return 0;
}
