/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tacit up --measure: what the nodes of a folder came to that somebody else started, by hand, in
 * other networks or on other machines. The folder says all: the experiment, the members, and what
 * each of them left in its state/.
 */
#include "up.h"
#include "verbs.h"

#include <string.h>

static tacit_status open_session(const char *folder, unsigned threads, tacit_experiment *experiment,
                                 tacit_session **session, tacit_error *err)
{
    char path[CLI_PATH_MAX];
    tacit_config config;
    tacit_config_init(&config);
    const int n = snprintf(path, sizeof path, "%s/experiment.yaml", folder);
    tacit_status status =
        n > 0 && (size_t)n < sizeof path
            ? cli_load_config(&config, path, NULL, 0, err)
            : tacit_fail(err, TACIT_EINPUT, "the path \"%.200s...\" is too long", folder);
    if (!status)
        status = tacit_experiment_init(experiment, &config, err);
    if (!status)
        status = tacit_session_create(session, experiment, threads, err);
    tacit_config_clear(&config);
    return status;
}

static tacit_status count_members(const char *folder, uint32_t *count, tacit_error *err)
{
    char path[CLI_PATH_MAX];
    tacit_roster roster;
    snprintf(path, sizeof path, "%s/members.csv", folder);
    tacit_status status = tacit_roster_read(&roster, path, err);
    if (status)
        return status;
    *count = roster.count;
    tacit_roster_clear(&roster);
    return TACIT_OK;
}

/* Whoever left a summary that says so has ended; the others have not, or not yet. */
static void look_back(up_fleet *fleet)
{
    up_fleet_read(fleet);
    for (uint32_t k = 0; k < fleet->count; k++) {
        up_node *node = &fleet->nodes[k];
        const bool ended = node->words.heard && strcmp(node->words.phase, "ended") == 0;
        node->phase = ended ? UP_ENDED : UP_DEAD;
    }
}

static const char *first_missing(const up_fleet *fleet)
{
    for (uint32_t k = 0; k < fleet->count; k++) {
        if (fleet->nodes[k].phase == UP_DEAD)
            return fleet->nodes[k].name;
    }
    return "";
}

tacit_status up_measure_folder(const char *folder, bool json, unsigned threads, tacit_error *err)
{
    tacit_experiment experiment = {0};
    tacit_session *session = NULL;
    up_fleet fleet = {0};
    uint32_t count = 0;
    tacit_status status = open_session(folder, threads, &experiment, &session, err);
    if (!status)
        status = count_members(folder, &count, err);
    if (!status)
        status = up_fleet_create(&fleet, folder, count, false, err);
    if (status)
        goto out;
    look_back(&fleet);
    const uint32_t dead = up_fleet_in(&fleet, UP_DEAD);
    const up_outcome outcome = {.session = session,
                                .experiment = &experiment,
                                .fleet = &fleet,
                                .folder = folder,
                                .complete = dead == 0,
                                .seconds = NAN};
    if (dead < count)
        status = up_tell(&outcome, json, err);
    if (!status && dead > 0)
        status = tacit_fail(err, TACIT_EPEER,
                            "%u of %u nodes have not ended, the first is %s; start them again "
                            "with \"tacit node -c %.200s/NODE/node.yaml\"",
                            dead, count, first_missing(&fleet), folder);
out:
    up_fleet_free(&fleet);
    tacit_session_free(session);
    tacit_experiment_clear(&experiment);
    return status;
}
