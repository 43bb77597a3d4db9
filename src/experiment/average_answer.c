/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What came out of an average, and how exact it is.
 *
 * Each member adds a share of noise such that those who surely are in the sum make up the whole: of
 * variance s^2 / parts. With m members the sum has m s^2 / parts. How many were there at first is
 * not published, so `parts` is taken as if only the members had been: the error is not larger than
 * what is said. (But for a number that was said again, with peers in the sum who came later than it
 * was made: its share is that of fewer peers, and the error up to an eighth larger.)
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiment/session.h"
#include "protocol/gopa_inside.h"
#include "tacit/average.h"

enum { MEMBERS, RECORDS, BESIDE }; /* what is open: gopa.c */

static double noise_of(const gopa_shared *s, uint64_t members, uint64_t records)
{
    const uint32_t honest = tacit_totals_parts(&s->plan, (uint32_t)members);
    const double parts = fmax(1, floor(honest / (1 + s->slack)));
    const double sum = s->cost.mechanism == TACIT_MECHANISM_NONE
                           ? 0
                           : s->cost.noise * sqrt((double)members / parts);
    return s->options.what == GOPA_SUM ? sum : sum / (double)records;
}

/* With all that follows from the options, as every node has it. */
static tacit_status set_up(gopa_shared **out, const tacit_question *q, const tacit_experiment *x,
                           uint32_t peers, tacit_error *err)
{
    tacit_model *model;
    *out = NULL;
    tacit_status status = tacit_model_create(&model, &x->model, q->numbers, err);
    if (status)
        return status;
    const tacit_setup setup = {
        .agents = peers, .model = model, .privacy = &x->privacy, .until = x->run.time};
    gopa_shared *s = calloc(1, sizeof *s);
    status = s ? x->protocol->setup(s, x->protocol_options, &setup, err) : tacit_out_of_memory(err);
    if (status)
        free(s);
    else
        *out = s;
    tacit_model_free(model);
    return status;
}

static tacit_status begin(tacit_answer *answer, const tacit_question *q, tacit_error *err)
{
    *answer = (tacit_answer){.value = calloc(q->numbers, sizeof *answer->value)};
    return answer->value ? TACIT_OK : tacit_out_of_memory(err);
}

tacit_status tacit_answer_of_board(tacit_answer *answer, const tacit_question *q,
                                   const tacit_experiment *x, uint32_t peers,
                                   const tacit_board *board, tacit_error *err)
{
    gopa_shared *s;
    tacit_status status = begin(answer, q, err);
    if (status)
        return status;
    if (board->numbers != q->numbers || board->beside != BESIDE ||
        board->beside_total[MEMBERS] != (int64_t)board->words || board->beside_total[RECORDS] < 1) {
        tacit_answer_clear(answer);
        return tacit_fail(err, TACIT_EVERIFY,
                          "the board adds up, but to nothing that answers this question: it is "
                          "another's, or members lied about what they counted");
    }
    status = set_up(&s, q, x, peers, err);
    if (status) {
        tacit_answer_clear(answer);
        return status;
    }
    answer->members = board->words;
    answer->records = (uint64_t)board->beside_total[RECORDS];
    const double count = (double)answer->records;
    for (uint32_t k = 0; k < q->numbers; k++) {
        const double mean = s->centre[k] + (double)board->total[k] * board->step / count;
        answer->value[k] = q->sum ? mean * count : mean;
    }
    answer->noise = noise_of(s, answer->members, answer->records);
    answer->more_delta = tacit_protocol_more_delta(x->protocol, s);
    x->protocol->teardown(s);
    free(s);
    return TACIT_OK;
}

tacit_status tacit_answer_of_session(tacit_answer *answer, const tacit_question *q,
                                     tacit_session *session, tacit_error *err)
{
    const tacit_runtime *rt = session->runtime;
    const gopa_shared *s = rt->ops->shared(rt);
    tacit_status status = begin(answer, q, err);
    if (status)
        return status;
    for (uint32_t i = 0; i < session->graph.agents; i++) {
        const gopa_agent *agent = rt->ops->agent_state(rt, i);
        if (!agent->mean)
            continue;
        for (uint32_t k = 0; k < q->numbers; k++)
            answer->value[k] = tacit_public_get(agent->mean, 0, k);
        answer->members = agent->members;
        answer->records = agent->records;
        answer->noise = noise_of(s, agent->members, agent->records);
        answer->more_delta = tacit_protocol_more_delta(session->experiment->protocol, s);
        return TACIT_OK;
    }
    tacit_answer_clear(answer);
    return TACIT_NO;
}

tacit_status tacit_average_paid(const tacit_board *board, tacit_agent self, uint64_t releases,
                                tacit_error *err)
{
    bool there = false;
    for (size_t k = 0; k < board->words; k++)
        there |= board->word[k].agent == self;
    if (!there || releases > 0)
        return TACIT_OK;
    return tacit_fail(
        err, TACIT_EVERIFY,
        "agent %" PRIu64 " of this peer is on the board, signed by its key, but its "
        "ledger knows of no release: the state folder is older than what this peer has "
        "said, such as a copy that was put back; its budget is spent all the same",
        (uint64_t)self);
}

void tacit_answer_clear(tacit_answer *answer)
{
    free(answer->value);
    *answer = (tacit_answer){.value = NULL};
}

void tacit_average_sees(char *out, size_t size, const tacit_experiment *experiment)
{
    const gopa_options *o = experiment->protocol_options;
    char known[60] = ", as long as no two peers collude";
    if (o->totals.colluders > 0)
        snprintf(known, sizeof known, ", and all that %" PRId64 " peer%s know%s",
                 o->totals.colluders, o->totals.colluders == 1 ? "" : "s",
                 o->totals.colluders == 1 ? "s" : "");
    snprintf(out, size, "%s%s; who adds up %s",
             o->masks == GOPA_GAUSSIAN
                 ? "all words, hidden by noise between pairs as far as the budget needs"
                 : "only the sum over those who took part",
             known, o->totals.adders == TOTALS_CURIOUS ? "keeps to the rules" : "may lie");
}
