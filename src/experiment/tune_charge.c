/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a search on private records costs.
 *
 * One try releases its messages, which its ledgers charge, and one number an agent: the score of
 * its model on its validation records, moved into [0, B], with noise for a sensitivity of B. Given
 * all messages, a record touches nothing but its owner's models, so nothing but its owner's score:
 * the two together cover all that the choice is made of, whatever an agent does with its raw
 * records at home. The noise is the agent's own, so this holds against an adversary who sees every
 * message, and so under every trust that there is. The whole search is the composition of its
 * tries: of K settings x seeds fixed before the first, with noise drawn anew in each.
 *
 * Who spent most is not the same agent in every try, where records are dealt anew by seed. So a
 * try is charged as if one agent had released everything as often as any did: for agents that
 * release alike that is exact, otherwise too much, never too little.
 */
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "experiment/ledger_groups.h"
#include "experiment/session.h"
#include "experiment/tune.h"
#include "privacy/release.h"

#define MOST_KINDS 1000 /* of losses, where each is compared with all */

uint64_t tacit_tune_seed(const tacit_sweep *sweep, size_t run, tacit_tune_stream stream)
{
    static const char label[] = "tacit try 1";
    const uint64_t words[] = {(uint64_t)run, (uint64_t)sweep->seeds[run % sweep->seed_count],
                              (uint64_t)stream};
    uint64_t seed = 0;
    crypto_generichash_state state;
    unsigned char hash[16];
    crypto_generichash_init(&state, NULL, 0, sizeof hash);
    crypto_generichash_update(&state, (const unsigned char *)label, sizeof label);
    crypto_generichash_update(&state, (const unsigned char *)words, sizeof words);
    crypto_generichash_final(&state, hash, sizeof hash);
    memcpy(&seed, hash, sizeof seed);
    return seed | 1; /* 0 stands for none */
}

/* ---- losses ---- */

static void write_loss(tacit_writer *out, const tacit_loss *loss)
{
    const double numbers[] = {loss->noise, loss->shift, loss->sampling, loss->epsilon, loss->delta};
    tacit_write_format(out, "%s%d %d", out->len ? ";" : "", (int)loss->kind, (int)loss->adjacency);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        tacit_write_text(out, " ");
        tacit_write_real(out, numbers[k]);
    }
    tacit_write_format(out, " %u %llu", loss->categories, (unsigned long long)loss->count);
}

char *tacit_tune_spent(const tacit_session *session)
{
    const tacit_runtime *rt = session->runtime;
    tacit_groups groups = {0};
    tacit_writer out = {0};
    bool good = true;
    for (uint32_t i = 0; i < session->graph.agents && good; i++) {
        const tacit_ledger *ledger = rt->ops->agent_ledger(rt, i);
        good = !ledger || tacit_groups_add(&groups, i, ledger);
    }
    uint64_t *most = calloc(groups.kinds.count + 1, sizeof *most);
    good = good && most;
    for (size_t p = 0; p < groups.parts && good; p++) {
        const tacit_group_part *part = &groups.part[p];
        most[part->kind] = part->releases > most[part->kind] ? part->releases : most[part->kind];
    }
    for (size_t k = 0; k < groups.kinds.count && good; k++) {
        tacit_loss loss;
        tacit_cost_loss(groups.kinds.all[k].cost, most[k], &loss);
        write_loss(&out, &loss);
    }
    /* The chance that something else than the noise fails adds to delta, try by try. */
    const double more = tacit_session_delta(session) - session->experiment->privacy.delta;
    if (good && more > 0)
        write_loss(&out,
                   &(tacit_loss){
                       .kind = TACIT_LOSS_APPROXIMATE, .sampling = 1, .delta = more, .count = 1});
    /* An oracle's model comes out bare though nobody released it. */
    if (tacit_experiment_flags(session->experiment) & TACIT_ORACLE)
        write_loss(&out, &(tacit_loss){.kind = TACIT_LOSS_BARE, .sampling = 1, .count = 1});
    free(most);
    tacit_groups_clear(&groups);
    if (!good) {
        tacit_writer_clear(&out);
        return NULL;
    }
    tacit_write_text(&out, ""); /* nothing was released: a text all the same */
    return tacit_writer_take(&out);
}

/* Nine numbers; `*text` moves behind them. */
static bool read_loss(const char **text, tacit_loss *loss)
{
    double number[9];
    for (size_t k = 0; k < 9; k++) {
        char *end;
        number[k] = strtod(*text, &end);
        if (end == *text || !(number[k] >= 0))
            return false;
        *text = end;
    }
    if (!(number[0] < TACIT_LOSS_KINDS) || !(number[1] <= TACIT_ADD_REMOVE) ||
        !(number[7] <= UINT32_MAX) || !(number[8] <= 0x1p53))
        return false;
    *loss = (tacit_loss){.kind = (tacit_loss_kind)number[0],
                         .adjacency = (tacit_adjacency)number[1],
                         .noise = number[2],
                         .shift = number[3],
                         .sampling = number[4],
                         .epsilon = number[5],
                         .delta = number[6],
                         .categories = (uint32_t)number[7],
                         .count = (uint64_t)number[8]};
    return tacit_loss_check(loss, NULL) == TACIT_OK;
}

static bool add_loss(tacit_losses *list, const tacit_loss *loss)
{
    tacit_loss *all =
        tacit_array_grow(list->all, &list->capacity, list->count + 1, sizeof *list->all);
    if (!all)
        return false;
    list->all = all;
    list->all[list->count++] = *loss;
    return true;
}

bool tacit_losses_read(tacit_losses *list, const char *text)
{
    while (*text) {
        tacit_loss loss;
        if (!read_loss(&text, &loss) || !add_loss(list, &loss))
            return false;
        if (*text != ';' && *text != '\0')
            return false;
        text += *text == ';';
    }
    return true;
}

/* ---- scores ---- */

tacit_status tacit_tune_price(tacit_tuner *tuner, tacit_mechanism mechanism, size_t tries,
                              tacit_error *err)
{
    const bool gaussian =
        mechanism == TACIT_MECHANISM_GAUSSIAN ||
        (mechanism != TACIT_MECHANISM_LAPLACE && tuner->budget.accountant == TACIT_BY_GDP);
    const double bound = tuner->options.score_bound;
    const tacit_loss loss = {.kind = gaussian ? TACIT_LOSS_GAUSSIAN : TACIT_LOSS_LAPLACE,
                             .adjacency = tuner->adjacency,
                             .shift = bound,
                             .sampling = 1,
                             .count = tries};
    double noise;
    tacit_status status =
        tacit_account_calibrate(tuner->budget.accountant, &loss, NULL, 0,
                                tuner->options.choice_epsilon, tuner->budget.delta, &noise, err);
    /* A whole value, planned for `replace`: it may move from end to end under any adjacency. */
    tuner->score =
        (tacit_cost){.mechanism = gaussian ? TACIT_MECHANISM_GAUSSIAN : TACIT_MECHANISM_LAPLACE,
                     .unit = tuner->unit,
                     .adjacency = TACIT_REPLACE,
                     .coordinates = 1,
                     .what = "validation score"};
    if (!status) /* a little more: what is charged is the noise on the grid */
        status = tacit_cost_on_grid(&tuner->score, bound / 2, noise * 1.00001, err);
    return status;
}

typedef struct telling {
    const tacit_tuner *tuner;
    tacit_costs *costs;
    tacit_scratch *scratch;
    tacit_random random;
} telling;

/* One agent: charge, bound, noise. */
static tacit_status tell(telling *t, tacit_agent agent, double score, double *out, tacit_error *err)
{
    tacit_ledger ledger = {0};
    tacit_permit permit;
    tacit_bounded *bounded;
    tacit_public *told;
    const tacit_scratch_mark mark = tacit_scratch_now(t->scratch);
    const tacit_noise_source source = {.random = &t->random, .agent = agent};
    tacit_status status = tacit_ledger_reserve(&ledger, t->costs, &t->tuner->budget,
                                               &t->tuner->score, 0, &permit, err);
    if (!status)
        status = tacit_bound_number(&permit, (tacit_private_metric){score}, 0,
                                    t->tuner->options.score_bound, t->scratch, &bounded, err);
    if (!status)
        status = tacit_mechanism_apply(&permit, bounded, &source, &told, err);
    if (!status)
        *out = tacit_vector_get(tacit_vector_of_public(told), 0, 0);
    tacit_scratch_rewind(t->scratch, mark);
    tacit_ledger_clear(&ledger);
    return status;
}

/* All agents speak, also those without validation records: that one has none is told nobody. */
tacit_status tacit_tune_release(const tacit_sweep *sweep, tacit_session *session, size_t run,
                                double *mean, tacit_error *err)
{
    const uint32_t agents = session->graph.agents;
    telling t = {
        .tuner = sweep->tuner, .costs = tacit_costs_create(), .scratch = tacit_scratch_create()};
    double *scores = calloc((size_t)agents + 1, sizeof *scores);
    tacit_status status = TACIT_OK;
    tacit_random_init(&t.random, tacit_tune_seed(sweep, run, TACIT_TUNE_SCORES));
    if (!t.costs || !t.scratch || !scores) {
        status = tacit_out_of_memory(err);
        goto out;
    }
    tacit_session_scores(session, TACIT_VALIDATION, scores);
    for (uint32_t i = 0; i < agents && !status; i++)
        status = tell(&t, i, isnan(scores[i]) ? 0 : scores[i], &scores[i], err);
    if (!status)
        *mean = tacit_pairwise_sum(scores, agents) / (double)agents;
out:
    free(scores);
    if (t.scratch)
        tacit_scratch_free(t.scratch);
    tacit_costs_free(t.costs);
    tacit_random_clear(&t.random);
    return status;
}

/* ---- all of it ---- */

/* What cannot be added up is not claimed to be small: neither what this accountant has nothing to
 * say about, nor what there is no memory for. */
static double add_up(const tacit_tuner *tuner, const tacit_losses *list)
{
    double epsilon = INFINITY;
    const tacit_status status = tacit_account_epsilon(
        tuner->budget.accountant, list->all, list->count, tuner->budget.delta, &epsilon, NULL);
    return status || isnan(epsilon) ? INFINITY : epsilon;
}

/* All but how often; what came from equal texts is equal. */
static bool same_loss(const tacit_loss *a, const tacit_loss *b)
{
    const double x[] = {a->noise, a->shift, a->sampling, a->epsilon, a->delta, a->categories};
    const double y[] = {b->noise, b->shift, b->sampling, b->epsilon, b->delta, b->categories};
    bool same = a->kind == b->kind && a->adjacency == b->adjacency;
    for (size_t k = 0; k < sizeof x / sizeof *x && same; k++)
        same = !(x[k] < y[k] || x[k] > y[k]);
    return same;
}

/* One more run of any of the settings, to what all of them cost: which one it is depends on what
 * was heard, so it is charged with each kind of loss as often as any try had it. False if there
 * are too many kinds, or no memory. */
static bool add_largest(tacit_losses *all, size_t tries)
{
    tacit_losses most = {0};
    bool good = true;
    for (size_t k = 0; k < tries && good; k++) {
        size_t at = 0;
        while (at < most.count && !same_loss(&most.all[at], &all->all[k]))
            at++;
        if (at == most.count)
            good = at < MOST_KINDS && add_loss(&most, &all->all[k]);
        else if (all->all[k].count > most.all[at].count)
            most.all[at].count = all->all[k].count;
    }
    for (size_t k = 0; k < most.count && good; k++)
        good = add_loss(all, &most.all[k]);
    free(most.all);
    return good;
}

/* Takes out what is a chance of failure and nothing else; they add up, with one more run's. */
static double take_failures(tacit_losses *list)
{
    double delta = 0, most = 0;
    size_t kept = 0;
    for (size_t k = 0; k < list->count; k++) {
        const tacit_loss *loss = &list->all[k];
        if (loss->kind == TACIT_LOSS_APPROXIMATE && loss->epsilon == 0) {
            delta += loss->delta * (double)loss->count;
            most = fmax(most, loss->delta);
        } else {
            list->all[kept++] = *loss;
        }
    }
    list->count = kept;
    return delta + most;
}

static double score_noise(const tacit_cost *cost)
{
    return cost->mechanism == TACIT_MECHANISM_LAPLACE ? sqrt(2) * cost->noise : cost->noise;
}

static void charge(const tacit_sweep *sweep, tacit_tuned *out)
{
    const tacit_tuner *tuner = sweep->tuner;
    tacit_losses all = {0}, scores = {0};
    tacit_loss score;
    bool good = true;
    for (size_t r = 0; r < tacit_sweep_runs(sweep) && good; r++)
        if (sweep->results[r].state == TACIT_SWEEP_DONE)
            good = sweep->results[r].spent && tacit_losses_read(&all, sweep->results[r].spent);
    out->more_delta = take_failures(&all);
    const size_t tries = all.count;
    out->tries_epsilon = good ? add_up(tuner, &all) : INFINITY;
    /* As planned: a search that is not over has told no less when it is. */
    tacit_cost_loss(&tuner->score, tuner->spread_count * sweep->seed_count, &score);
    score.adjacency = tuner->adjacency;
    good = add_loss(&scores, &score) && good;
    good = add_loss(&all, &score) && good;
    out->choice_epsilon = good ? add_up(tuner, &scores) : INFINITY;
    out->search_epsilon = good ? add_up(tuner, &all) : INFINITY;
    if (good && add_largest(&all, tries))
        out->after_epsilon = add_up(tuner, &all);
    out->noise = score_noise(&tuner->score);
    out->rehearsal = !tuner->on_file;
    out->trust = tuner->budget.trust;
    free(all.all);
    free(scores.all);
}

void tacit_sweep_tuned(const tacit_sweep *sweep, tacit_tuned *out)
{
    const tacit_tuner *tuner = sweep->tuner;
    *out = (tacit_tuned){.winner = tuner->winner,
                         .validation = {0, NAN, NAN, NAN},
                         .test = {0, NAN, NAN, NAN},
                         .released = NAN,
                         .noise = NAN,
                         .run_epsilon = NAN,
                         .tries_epsilon = NAN,
                         .choice_epsilon = NAN,
                         .search_epsilon = NAN,
                         .after_epsilon = NAN};
    out->tried = tuner->tried;
    for (size_t i = 0; i < tuner->tried; i++) {
        const char *guarantee = tacit_sweep_guarantee(sweep, tuner->order[i]);
        out->leaks = out->leaks || strstr(guarantee, TACIT_NOT_COUNTED);
        out->unsound = out->unsound || tacit_sweep_unsound(sweep, tuner->order[i]);
    }
    out->runs =
        tacit_sweep_count(sweep, TACIT_SWEEP_DONE) + tacit_sweep_count(sweep, TACIT_SWEEP_FAILED);
    if (out->winner != SIZE_MAX) {
        const tacit_sweep_result *first = &sweep->results[out->winner * sweep->seed_count];
        out->validation = tacit_sweep_interval(sweep, out->winner, TACIT_SWEEP_VALIDATION);
        out->test = tacit_sweep_interval(sweep, out->winner, TACIT_SWEEP_TEST);
        for (size_t k = 0; k < sweep->seed_count; k++)
            out->run_epsilon = fmax(out->run_epsilon, first[k].value[TACIT_SWEEP_EPSILON]);
        if (tacit_tuner_charges(tuner))
            out->released = tacit_tune_mean(sweep, out->winner, sweep->seed_count);
    }
    if (tacit_tuner_charges(tuner))
        charge(sweep, out);
}
