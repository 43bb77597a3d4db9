/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was published of the last sum over all agents, as a file that anybody can add up again: of
 * a node, and of a simulation, where each agent signs by a key of its own that follows from the
 * seed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/report.h"
#include "tacit/board_file.h"

#define LOOKED_AT 16 /* agents with a board, for the latest: all who heard a sum have the same */

/* ---- a node ---- */

/* Puts the later of both into `latest`, and clears the other. */
static void keep_later(tacit_board *latest, bool *found, tacit_board *other)
{
    if (*found && other->round <= latest->round) {
        tacit_board_clear(other);
        return;
    }
    if (*found)
        tacit_board_clear(latest);
    *latest = *other;
    *found = true;
}

tacit_status tacit_node_board_save(const tacit_node *node, const tacit_node_plan *plan,
                                   tacit_error *err)
{
    tacit_board latest = {0};
    bool found = false;
    char path[TACIT_TEXT_MAX + 16];
    uint32_t looked = 0;
    for (uint32_t k = 0; k < plan->hosted_count && looked < LOOKED_AT; k++) {
        tacit_board board = {0};
        if (tacit_node_board(node, k, &board) != TACIT_OK)
            continue;
        keep_later(&latest, &found, &board);
        looked++;
    }
    if (!found)
        return TACIT_NO;
    snprintf(path, sizeof path, "%s/%s", plan->options->folder, TACIT_BOARD);
    tacit_status status =
        tacit_board_file_write(path, &latest, plan->members, plan->member_count, err);
    tacit_board_clear(&latest);
    return status;
}

/* ---- a simulation ---- */

static bool simulated_board(const tacit_session *s, tacit_board *latest)
{
    const tacit_runtime *rt = s->runtime;
    const tacit_protocol *p = s->experiment->protocol;
    bool found = false;
    uint32_t looked = 0;
    for (uint32_t k = 0; p->board && k < s->graph.agents && looked < LOOKED_AT; k++) {
        tacit_board board = {0};
        if (p->board(rt->ops->shared(rt), rt->ops->agent_state(rt, k), &board) != TACIT_OK)
            continue;
        keep_later(latest, &found, &board);
        looked++;
    }
    return found;
}

/* Every agent with a word is a member. */
static tacit_status simulated_text(const tacit_session *s, const tacit_board *board, char **text,
                                   tacit_error *err)
{
    const tacit_runtime *rt = s->runtime;
    size_t len;
    tacit_status status = TACIT_OK;
    tacit_node_member *members = calloc(board->words + 1, sizeof *members);
    uint32_t *agents = calloc(board->words + 1, sizeof *agents);
    if (!members || !agents)
        status = tacit_out_of_memory(err);
    for (size_t k = 0; k < board->words && !status; k++) {
        agents[k] = (uint32_t)board->word[k].agent;
        members[k].agents = &agents[k];
        members[k].count = 1;
        tacit_simulated_name(members[k].name, agents[k]);
        rt->ops->agent_key(rt, agents[k], members[k].key);
    }
    if (!status)
        status = tacit_board_file_text(text, &len, board, members, (uint32_t)board->words, err);
    free(members);
    free(agents);
    return status;
}

tacit_status tacit_run_stage_board(tacit_run *r, bool *staged, tacit_error *err)
{
    tacit_board board = {0};
    char *text = NULL;
    *staged = false;
    if (!simulated_board(r->session, &board))
        return TACIT_OK;
    tacit_status status = simulated_text(r->session, &board, &text, err);
    tacit_board_clear(&board);
    if (status == TACIT_EINPUT)
        return TACIT_OK; /* it would be too large to be read again: the run is good without */
    if (!status)
        status = tacit_run_stage_text(r, TACIT_BOARD, text, err);
    *staged = !status;
    return status;
}
