/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nodes say of themselves (schema tacit.node/1): at /status while they run, in summary.json
 * when they have ended. Nothing in it is needed for the run, so what cannot be read is left out.
 */
#include "up.h"
#include "verbs.h"

#include "base/file.h"
#include "report/json_read.h"

#include <stdlib.h>
#include <string.h>

#define EVERY 0.5     /* seconds between two questions to the same node */
#define A_TURN 16     /* nodes asked at a time */
#define A_PAUSE 0.25  /* seconds between two turns */
#define PATIENCE 0.25 /* seconds that an answer may take */

static uint64_t count_at(const tacit_json_tree *tree, const tacit_json_value *of, const char *key)
{
    return tacit_json_to_count(tacit_json_member(tree, of, key), 0);
}

static double real_at(const tacit_json_tree *tree, const tacit_json_value *of, const char *key)
{
    return tacit_json_to_real(tacit_json_member(tree, of, key), NAN);
}

static void copy_text(char *out, size_t size, const tacit_json_tree *tree, const char *key)
{
    const tacit_json_value *value = tacit_json_member(tree, tree->values, key);
    snprintf(out, size, "%.*s", (int)size - 1, tacit_json_to_text(value, ""));
    for (; *out; out++) {
        if ((unsigned char)*out < 32 || *out == 127)
            *out = '?';
    }
}

static void take_words(up_words *w, const tacit_json_tree *tree)
{
    const tacit_json_value *top = tree->values;
    const tacit_json_value *peers = tacit_json_member(tree, top, "peer_counts");
    const tacit_json_value *traffic = tacit_json_member(tree, top, "traffic");
    const tacit_json_value *privacy = tacit_json_member(tree, top, "privacy");
    const tacit_json_value *agents = tacit_json_member(tree, top, "agents");
    *w = (up_words){
        .heard = true,
        .time = real_at(tree, top, "time_units"),
        .until = real_at(tree, top, "until_units"),
        .peers = count_at(tree, peers, "all"),
        .up = count_at(tree, peers, "up"),
        .slow = count_at(tree, peers, "slow"),
        .down = count_at(tree, peers, "down"),
        .ticks = count_at(tree, traffic, "ticks"),
        .messages_in = count_at(tree, traffic, "messages_in"),
        .messages_out = count_at(tree, traffic, "messages_out"),
        .bytes_out = count_at(tree, traffic, "payload_bytes"),
        .refused = count_at(tree, tacit_json_member(tree, top, "frames_refused"), "all"),
        .epsilon = real_at(tree, privacy, "epsilon_spent"),
        .counted = tacit_json_to_bool(
            tacit_json_member(tree, tacit_json_member(tree, top, "lifetime"), "counted"), false)};
    if (tacit_json_to_bool(tacit_json_member(tree, privacy, "unbounded"), false))
        w->epsilon = INFINITY;
    for (const tacit_json_value *a = tacit_json_first(tree, agents); a;
         a = tacit_json_next(tree, a))
        w->releases += count_at(tree, a, "releases");
    copy_text(w->phase, sizeof w->phase, tree, "phase");
    copy_text(w->mute, sizeof w->mute, tree, "mute");
}

static void read_words(up_words *out, const char *text, size_t len)
{
    tacit_json_tree tree;
    if (tacit_json_read(&tree, "status", text, len, NULL) != TACIT_OK)
        return;
    const tacit_json_value *schema = tacit_json_member(&tree, tree.values, "schema");
    if (strcmp(tacit_json_to_text(schema, ""), "tacit.node/1") == 0)
        take_words(out, &tree);
    tacit_json_clear(&tree);
}

/* Where it shows its status; false: not yet. */
static bool find_port(const up_fleet *fleet, up_node *node)
{
    char folder[CLI_PATH_MAX];
    const int n = snprintf(folder, sizeof folder, "%s/%s/state", fleet->folder, node->name);
    return n > 0 && (size_t)n < sizeof folder &&
           cli_ask_folder(&node->ask, folder, NULL) == TACIT_OK;
}

void up_fleet_ask(up_fleet *fleet)
{
    cli_ask asks[A_TURN];
    uint32_t of[A_TURN], count = 0;
    const double now = up_seconds();
    if (now < fleet->next_turn)
        return;
    for (uint32_t k = 0; k < fleet->count && count < A_TURN; k++) {
        const uint32_t index = fleet->next_asked;
        up_node *node = &fleet->nodes[index];
        if (node->phase == UP_ALIVE && now - node->heard >= EVERY && find_port(fleet, node)) {
            node->heard = now;
            of[count] = index;
            asks[count++] = node->ask;
        }
        fleet->next_asked = (index + 1) % fleet->count;
    }
    if (count == 0)
        return;
    cli_ask_all(asks, count, PATIENCE);
    /* Who is slow to answer has better things to do. */
    const double after = up_seconds();
    fleet->next_turn = after + A_PAUSE + 4 * (after - now);
    for (uint32_t k = 0; k < count; k++) {
        if (asks[k].code == 200)
            read_words(&fleet->nodes[of[k]].words, asks[k].body, asks[k].len);
        cli_ask_clear(&asks[k]);
    }
}

void up_fleet_read(up_fleet *fleet)
{
    for (uint32_t k = 0; k < fleet->count; k++) {
        up_node *node = &fleet->nodes[k];
        char path[CLI_PATH_MAX], *text = NULL;
        size_t len;
        node->words = (up_words){.epsilon = NAN};
        const int n =
            snprintf(path, sizeof path, "%s/%s/state/summary.json", fleet->folder, node->name);
        if (n < 0 || (size_t)n >= sizeof path ||
            tacit_file_read(&text, &len, path, TACIT_JSON_BYTES, NULL) != TACIT_OK)
            continue;
        read_words(&node->words, text, len);
        free(text);
    }
}
