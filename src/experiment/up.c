/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An experiment as a folder of real peers: what a simulation keeps in one process is dealt to N
 * nodes, each with a key, a port and its agents' records.
 *
 * A simulator looks at everybody where a peer cannot: the largest number of records, whether all
 * weights are the same. Such options of the protocol are written out as a simulation of the same
 * experiment would have them, so that both minimise the same objective. Under "replace" numbers of
 * records are public, and weights are the public graph's.
 */
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "experiment/consortium.h"
#include "experiment/files.h"
#include "experiment/session.h"
#include "net/keys.h"
#include "protocol/one_shot.h"

#define PATH_ROOM (TACIT_TEXT_MAX + 64)

typedef struct up {
    tacit_session *session;
    const tacit_up_request *request;
    tacit_folder folder;
    tacit_agreement agreement; /* borrows from the experiment, but for the protocol's options */
    tacit_node_options node;
    tacit_node_member *members;
    uint32_t *agents; /* 0, 1, 2, ...: members point into it */
} up;

/* ---- what to agree on ---- */

static size_t most_records(const tacit_dataset *data)
{
    size_t most = 0;
    for (uint32_t i = 0; i < tacit_dataset_agents(data); i++) {
        const size_t rows = tacit_dataset_rows(data, i, TACIT_TRAIN);
        most = rows > most ? rows : most;
    }
    return most;
}

/* Fill in an option that is `unset` by default. */
static void settle(const tacit_section *section, void *values, const char *key, bool below_zero,
                   double value)
{
    const tacit_option *option = tacit_section_find(section, key, strlen(key));
    void *field = option ? (char *)values + option->offset : NULL;
    if (option && option->type == TACIT_OPT_REAL) {
        double now;
        memcpy(&now, field, sizeof now);
        if (below_zero ? now < 0 : now == 0)
            memcpy(field, &value, sizeof value);
    } else if (option && option->type == TACIT_OPT_INT) {
        int64_t now, whole = (int64_t)value;
        memcpy(&now, field, sizeof now);
        if (below_zero ? now < 0 : now == 0)
            memcpy(field, &whole, sizeof whole);
    }
}

/* Would a node take it? Says so before hundreds of processes do. */
static tacit_status try_protocol(const up *u, tacit_error *err)
{
    const tacit_experiment *x = &u->agreement.experiment;
    const tacit_setup setup = {.agents = u->session->graph.agents,
                               .model = u->session->model,
                               .privacy = &x->privacy,
                               .epsilon = u->session->epsilon,
                               .graph = tacit_experiment_flags(x) & TACIT_WHOLE ? &u->session->graph
                                                                                : NULL,
                               .until = x->run.time};
    void *shared = calloc(1, x->protocol->shared_size ? x->protocol->shared_size : 1);
    if (!shared)
        return tacit_out_of_memory(err);
    tacit_status status =
        tacit_protocol_set_up(x->protocol, shared, x->protocol_options, &setup, err);
    if (x->protocol->teardown) /* after a refusal, too */
        x->protocol->teardown(shared);
    free(shared);
    return status;
}

static tacit_status agree(up *u, tacit_error *err)
{
    const tacit_session *s = u->session;
    tacit_experiment *x = &u->agreement.experiment;
    const tacit_section *own = &s->experiment->protocol->options;
    *x = *s->experiment;
    x->protocol_options = calloc(1, own->size ? own->size : 1);
    if (!x->protocol_options)
        return tacit_out_of_memory(err);
    if (own->size)
        memcpy(x->protocol_options, s->experiment->protocol_options, own->size);
    tacit_status status = tacit_agreement_check(x, err);
    if (!status)
        status = tacit_options_defaults(&tacit_consortium_section, &u->agreement.consortium, err);
    if (status)
        return status;
    const double most = (double)most_records(s->source.data);
    settle(own, x->protocol_options, "full-confidence", false, most);
    settle(own, x->protocol_options, "most-records", false, most);
    settle(own, x->protocol_options, "likeness", true, one_shot_likeness(&s->graph));
    snprintf(x->privacy.budgets, sizeof x->privacy.budgets, "%s", s->epsilon ? "budgets.csv" : "");
    if (u->request->consortium) {
        u->agreement.consortium = *u->request->consortium;
        snprintf(u->agreement.consortium.members, TACIT_TEXT_MAX, "members.csv");
        snprintf(u->agreement.consortium.edges, TACIT_TEXT_MAX, "graph.edges");
    }
    return try_protocol(u, err);
}

/* ---- files ---- */

static tacit_status write_bytes(const up *u, const char *name, const char *bytes, size_t len,
                                tacit_error *err)
{
    tacit_outfile file;
    tacit_status status = tacit_outfile_open(&file, &u->folder, name, err);
    if (!status) {
        file.hasty = true;
        tacit_write_bytes(&file.text, bytes, len);
        status = tacit_outfile_stage(&file, err);
    }
    return status ? status : tacit_outfile_publish(&u->folder, name, err);
}

static tacit_status write_text(const up *u, const char *name, char *text, tacit_error *err)
{
    tacit_status status =
        text ? write_bytes(u, name, text, strlen(text), err) : tacit_out_of_memory(err);
    free(text);
    return status;
}

/* Files that options of the protocol name, copied and called like the options. */
static tacit_status copy_files(up *u, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (const char *const *key = tacit_protocol_files; *key && !status; key++) {
        char *path = tacit_protocol_file(&u->agreement.experiment, *key), *bytes;
        size_t len;
        if (!path || !path[0])
            continue;
        if ((status = tacit_file_read(&bytes, &len, path, TACIT_PROTOCOL_FILE_MOST, err)))
            return status;
        status = write_bytes(u, *key, bytes, len, err);
        snprintf(path, TACIT_TEXT_MAX, "%s", *key);
        free(bytes);
    }
    return status;
}

static char *edges_text(const tacit_graph *g)
{
    tacit_writer out = {0};
    tacit_write_text(&out, "# agent agent weight\n");
    for (uint32_t i = 0; i < g->agents; i++)
        for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++) {
            if (g->neighbour[e] < i)
                continue;
            tacit_write_format(&out, "%" PRIu32 " %" PRIu32 " ", i, g->neighbour[e]);
            tacit_write_real(&out, g->weight[e]);
            tacit_write_text(&out, "\n");
        }
    return tacit_writer_take(&out);
}

static char *budgets_text(const tacit_session *s)
{
    tacit_writer out = {0};
    tacit_write_text(&out, "agent,epsilon\n");
    for (uint32_t i = 0; i < s->graph.agents; i++)
        if (isfinite(s->epsilon[i])) { /* who has no limit has no line */
            tacit_write_format(&out, "%" PRIu32 ",", i);
            tacit_write_real(&out, s->epsilon[i]);
            tacit_write_text(&out, "\n");
        }
    return tacit_writer_take(&out);
}

static char *node_text(const up *u, uint32_t k)
{
    tacit_writer out = {0};
    tacit_node_options o = u->node;
    snprintf(o.name, sizeof o.name, "%s", u->members[k].name);
    tacit_write_text(&out, "node:\n");
    if (tacit_source_is_drawn(u->session->experiment->data.source)) {
        tacit_write_text(&out, "  # lifetime: the records are made up and belong to nobody\n");
        snprintf(o.lifetime, sizeof o.lifetime, "off");
    }
    tacit_section_write(&out, &tacit_node_section, &o);
    tacit_write_text(&out, "data:\n  source: shards\n  path: \"data\"\n");
    return tacit_writer_take(&out);
}

static tacit_status make_node(up *u, uint32_t k, tacit_error *err)
{
    tacit_node_member *m = &u->members[k];
    char path[PATH_ROOM], name[80];
    tacit_identity identity;
    int len = snprintf(path, sizeof path, "%s/%s/identity.key", u->folder.path, m->name);
    if (len < 0 || (size_t)len >= TACIT_TEXT_MAX)
        return tacit_fail(err, TACIT_EINPUT, "the path \"%.300s\" is too long", u->folder.path);
    path[(size_t)len - strlen("/identity.key")] = '\0';
    if (mkdir(path, 0700) != 0)
        return tacit_fail(err, TACIT_EINPUT, "cannot make \"%.300s\": %s", path, strerror(errno));
    snprintf(path, sizeof path, "%s/%s/identity.key", u->folder.path, m->name);
    tacit_status status = tacit_identity_create(&identity, path, err);
    if (status)
        return status;
    memcpy(m->key, identity.public_key, sizeof m->key);
    tacit_identity_wipe(&identity);
    snprintf(name, sizeof name, "%s/node.yaml", m->name);
    snprintf(path, sizeof path, "%s/%s/data", u->folder.path, m->name);
    status = write_text(u, name, node_text(u, k), err);
    return status ? status
                  : tacit_shards_write(path, u->session->source.data, m->agents, m->count, err);
}

static tacit_status write_all(up *u, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (uint32_t k = 0; k < u->request->nodes && !status; k++)
        status = make_node(u, k, err);
    if (!status)
        status =
            write_text(u, "members.csv", tacit_roster_text(u->members, u->request->nodes), err);
    if (!status)
        status = write_text(u, "graph.edges", edges_text(&u->session->graph), err);
    if (!status && u->session->epsilon)
        status = write_text(u, "budgets.csv", budgets_text(u->session), err);
    if (!status)
        status = copy_files(u, err);
    /* Last: with it the folder is complete. */
    return status ? status
                  : write_text(u, "consortium.yaml", tacit_agreement_yaml(&u->agreement), err);
}

/* ---- all of it ---- */

static tacit_status check_request(const tacit_session *s, const tacit_up_request *r,
                                  tacit_error *err)
{
    const uint32_t agents = s->graph.agents;
    if (r->nodes == 0 || r->nodes > TACIT_UP_NODES)
        return tacit_fail(err, TACIT_EINPUT, "%" PRIu32 " nodes; expected 1 to %d", r->nodes,
                          TACIT_UP_NODES);
    if (r->nodes > agents || agents > TACIT_ROSTER_AGENTS)
        return tacit_fail(err, TACIT_EINPUT,
                          "%" PRIu32 " nodes for %" PRIu32 " agents: each node hosts at least one, "
                          "and at most %" PRIu32 " agents have numbers",
                          r->nodes, agents, TACIT_ROSTER_AGENTS);
    if (sodium_init() < 0)
        return tacit_fail(err, TACIT_EINTERNAL, "cannot start the cryptographic library");
    return TACIT_OK;
}

/* Agents in blocks, whose sizes differ by one at most. */
static tacit_status deal_agents(up *u, tacit_error *err)
{
    const uint32_t agents = u->session->graph.agents, nodes = u->request->nodes;
    u->members = calloc(nodes, sizeof *u->members);
    u->agents = calloc(agents, sizeof *u->agents);
    if (!u->members || !u->agents)
        return tacit_out_of_memory(err);
    for (uint32_t i = 0; i < agents; i++)
        u->agents[i] = i;
    for (uint32_t k = 0; k < nodes; k++) {
        const uint32_t first = (uint32_t)((uint64_t)k * agents / nodes);
        u->members[k].agents = u->agents + first;
        u->members[k].count = (uint32_t)(((uint64_t)k + 1) * agents / nodes) - first;
        snprintf(u->members[k].name, sizeof u->members[k].name, "node-%03" PRIu32, k);
    }
    return TACIT_OK;
}

static tacit_status fill_node(up *u, tacit_error *err)
{
    tacit_status status = tacit_options_defaults(&tacit_node_section, &u->node, err);
    if (u->request->node)
        u->node = *u->request->node;
    snprintf(u->node.consortium, TACIT_TEXT_MAX, "../consortium.yaml");
    snprintf(u->node.key, TACIT_TEXT_MAX, "identity.key");
    snprintf(u->node.folder, TACIT_TEXT_MAX, "state");
    return status;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)kind;
    if (where->level > 0)
        remove(path);
    return 0;
}

tacit_status tacit_up_prepare(tacit_session *session, const tacit_up_request *request,
                              tacit_error *err)
{
    up u = {.session = session, .request = request, .folder = {.dir = -1}};
    tacit_status status = check_request(session, request, err);
    if (!status)
        status = agree(&u, err);
    if (!status)
        status = fill_node(&u, err);
    if (!status)
        status = deal_agents(&u, err);
    if (!status)
        status = tacit_ports_choose(u.members, request->nodes, request->port, err);
    if (!status && !(status = tacit_folder_create(&u.folder, request->folder, err))) {
        status = write_all(&u, err);
        if (status) { /* all that is in it is ours: it was empty */
            nftw(u.folder.path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
            tacit_folder_abandon(&u.folder);
        }
    }
    tacit_folder_close(&u.folder);
    tacit_experiment_clear(&u.agreement.experiment);
    free(u.members);
    free(u.agents);
    return status;
}
