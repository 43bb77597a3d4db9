/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an agent makes of the words it heard and of its own records, at the end.
 *
 * Logistic loss: kriging predicts the agent's own E[y x] with a variance for each feature; that is
 * a Gaussian prior for its weights (tacit_model_krige), and the most probable model under it and
 * the raw records is the result (tacit_model_map). There is nothing to choose.
 *
 * Squared loss: E[y x] = E[x x^T] theta, and E[x x^T] is not the same for all features. It is the
 * mean of all that was heard, shrunk towards a multiple of the identity as far as its noise, which
 * is public, asks for, and of own records (tacit_model_krige_squared).
 *
 * Only own records, released values and public numbers are used.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/one_shot.h"

/* ---- who was heard ---- */

typedef struct ranked {
    double rank;
    kriging_source source;
} ranked;

static int by_rank(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    return (x->source.agent > y->source.agent) - (x->source.agent < y->source.agent);
}

/* Small distances and large weights come first. */
static double rank_of(const one_shot_shared *s, tacit_agent self, const kriging_source *source)
{
    return s->distance ? -s->distance[self * s->agents + source->agent] : source->weight;
}

static kriging_source source_of(const tacit_public *word, double weight)
{
    return (kriging_source){.agent = (tacit_agent)tacit_public_get_int(word, WORD_AGENT, 0),
                            .weight = weight,
                            .records = tacit_public_get(word, WORD_ABOUT, ABOUT_RECORDS),
                            .noise = tacit_public_get(word, WORD_ABOUT, ABOUT_NOISE),
                            .sums = word};
}

/* Neighbours are sorted, and so are those who were heard. */
static double weight_of(const one_shot_shared *s, const tacit_facts *facts, size_t at,
                        uint32_t *next)
{
    if (s->options.reach == REACH_NEIGHBOURS)
        return facts->weight[at];
    while (*next < facts->neighbours && facts->neighbour[*next] < at)
        ++*next;
    return *next < facts->neighbours && facts->neighbour[*next] == at ? facts->weight[*next] : 0;
}

static tacit_status list_sources(tacit_env *env, const one_shot_shared *s,
                                 const one_shot_agent *self, kriging_source **out, size_t *count)
{
    const tacit_facts *facts = tacit_facts_of(env);
    const size_t room = one_shot_room(s, facts->neighbours);
    ranked *list = tacit_temporary(env, (room + 1) * sizeof *list);
    kriging_source *source = tacit_temporary(env, (room + 1) * sizeof *source);
    if (!list || !source)
        return tacit_out_of_memory(tacit_own_error(env));
    size_t n = 0;
    uint32_t next = 0;
    for (size_t k = 0; k < room; k++) {
        const double weight = weight_of(s, facts, k, &next);
        if (!self->heard[k])
            continue;
        list[n].source = source_of(self->heard[k], weight);
        list[n].rank = rank_of(s, facts->self, &list[n].source);
        n++;
    }
    if (n > (size_t)s->options.sources) {
        qsort(list, n, sizeof *list, by_rank);
        n = (size_t)s->options.sources;
    }
    for (size_t k = 0; k < n; k++)
        source[k] = list[k].source;
    *out = source;
    *count = n;
    return TACIT_OK;
}

static tacit_status gather(tacit_env *env, const one_shot_shared *s, const kriging_source *source,
                           size_t count, tacit_evidence *out)
{
    const one_shot_options *o = &s->options;
    const double label = s->squared ? o->most / 2 : 1;
    const kriging_target target = {.rules = &o->rules,
                                   .graph = s->graph,
                                   .distance = s->distance,
                                   .self = tacit_facts_of(env)->self,
                                   .features = s->features,
                                   .variance =
                                       label * label * o->radius * o->radius / (double)s->features};
    double *k = tacit_temporary(env, (count + 1) * (count + 1) * sizeof *k);
    if (!k)
        return tacit_out_of_memory(tacit_own_error(env));
    *out = (tacit_evidence){
        .radius = o->radius, .share = o->size, .dense = o->prior == PRIOR_SPARSE ? o->dense : 1};
    if (count == 0)
        return TACIT_OK;
    tacit_status status = kriging_kernel(env, &target, source, count, k);
    return status == TACIT_OK ? kriging_evidence(env, &target, source, count, k, out) : status;
}

/* ---- logistic ---- */

static tacit_status finish_logistic(tacit_env *env, const one_shot_shared *s,
                                    const tacit_evidence *evidence, const tacit_secret **out)
{
    const tacit_model *model = tacit_own_model(env);
    const tacit_shard *shard = tacit_own_data(env, TACIT_TRAIN);
    tacit_secret *mean = tacit_new_secret(env, s->model), *theta = tacit_new_secret(env, s->model);
    tacit_secret *precision = tacit_new_secret(env, s->model);
    tacit_status status = TACIT_OK;
    if (!mean || !precision || !theta)
        status = tacit_out_of_memory(tacit_own_error(env));
    if (status == TACIT_OK)
        status = tacit_model_krige(model, shard, evidence, mean, precision, tacit_own_error(env));
    if (status == TACIT_OK)
        status = tacit_model_map(model, shard, mean, precision, theta, tacit_own_error(env));
    tacit_drop(env, mean);
    tacit_drop(env, precision);
    *out = theta;
    return status;
}

/* ---- squared ---- */

/* E[x x^T] as heard, p x p, and the standard deviation of the noise in it. */
static double mean_products(const one_shot_shared *s, const kriging_source *source, size_t count,
                            double *c)
{
    const size_t p = s->features;
    const double unit = tacit_model_statistics_unit(s->options.radius, s->options.most);
    double records = 0, noise = 0;
    memset(c, 0, p * p * sizeof *c);
    for (size_t j = 0; j < count; j++) {
        records += source[j].records;
        noise += source[j].noise * source[j].noise;
        for (size_t a = 0, at = p; a < p; a++)
            for (size_t b = a; b < p; b++, at++)
                c[a * p + b] += unit * tacit_public_get(source[j].sums, WORD_SUMS, at);
    }
    for (size_t a = 0; a < p; a++)
        for (size_t b = a; b < p; b++)
            c[a * p + b] = c[b * p + a] = c[a * p + b] / records;
    return unit * sqrt(noise) / records;
}

/* Towards a multiple of the identity, by what is noise of the distance to it. */
static void shrink(const one_shot_shared *s, double noise, double *c)
{
    const size_t p = s->features;
    double mean = 0, square = 0;
    for (size_t a = 0; a < p; a++)
        mean += c[a * p + a] / (double)p;
    mean = fmax(mean, 1e-3 * s->options.radius * s->options.radius / (double)p);
    for (size_t e = 0; e < p * p; e++) {
        const double off = c[e] - (e % (p + 1) == 0 ? mean : 0);
        square += off * off;
    }
    const double keep =
        square > 0 ? fmax(0, 1 - noise * noise * (double)p * (double)p / square) : 0;
    for (size_t e = 0; e < p * p; e++)
        c[e] = keep * c[e] + (e % (p + 1) == 0 ? (1 - keep) * mean : 0);
}

/* Set what the graph does not say, then learn. */
static tacit_status finish_squared(tacit_env *env, const one_shot_shared *s,
                                   const kriging_source *source, size_t count,
                                   tacit_evidence *evidence, const tacit_secret **out)
{
    const size_t p = s->features, records = tacit_facts_of(env)->records;
    const size_t some = records > 0 ? records : 1;
    const double label = s->options.most / 2;
    double *c = tacit_temporary(env, p * p * sizeof *c);
    tacit_secret *theta = tacit_new_secret(env, s->model);
    *out = theta;
    if (!c || !theta)
        return tacit_out_of_memory(tacit_own_error(env));
    if (count > 0) {
        shrink(s, mean_products(s, source, count, c), c);
        evidence->products = c;
    }
    evidence->variance = s->options.size * label * label /
                         ((double)some * tacit_model_lambda(tacit_own_model(env), some));
    return tacit_model_krige_squared(tacit_own_model(env), tacit_own_data(env, TACIT_TRAIN),
                                     evidence, theta, tacit_own_error(env));
}

tacit_status one_shot_finish(tacit_env *env, const one_shot_shared *s, one_shot_agent *self)
{
    kriging_source *source = NULL;
    size_t count = 0;
    tacit_evidence evidence = {0};
    tacit_status status = list_sources(env, s, self, &source, &count);
    if (status == TACIT_OK)
        status = gather(env, s, source, count, &evidence);
    if (status != TACIT_OK)
        return status;
    status = s->squared ? finish_squared(env, s, source, count, &evidence, &self->kept)
                        : finish_logistic(env, s, &evidence, &self->kept);
    /* Whether records can be fitted is their owner's secret: zeros are kept, and nobody is told. */
    return status == TACIT_EINPUT && self->kept ? TACIT_OK : status;
}
