/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder in which peers meet for one private average (average.h). What was asked, and of how
 * many, is in question.yaml and, as a hash, in the name of the run: peers who were asked something
 * else are in another run, and hear nothing of each other. A peer whose question.yaml does not fit
 * that name does not begin.
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
#include "net/keys.h"
#include "tacit/average.h"
#include "tacit/masks.h"

#define PATH_ROOM (TACIT_TEXT_MAX + 64)
#define LONGEST 86400.0 /* units of time, seconds: a run ends long before, when it is done */

/* ---- what to agree on ---- */

/* The same question is the same text. */
static char *question_text(const tacit_average_options *o)
{
    tacit_writer out = {0};
    tacit_write_format(&out, "%s:\n", tacit_average_section.name);
    tacit_section_write(&out, &tacit_average_section, o);
    return tacit_writer_take(&out);
}

static tacit_status set(tacit_config *config, tacit_error *err, const char *fmt, ...)
    TACIT_PRINTF(3, 4);
static tacit_status set(tacit_config *config, tacit_error *err, const char *fmt, ...)
{
    char text[TACIT_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    const int len = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (len < 0 || (size_t)len >= sizeof text)
        return tacit_fail(err, TACIT_EINTERNAL, "a setting is too long");
    return tacit_config_set(config, text, err);
}

#define NAME "average-"
enum { DIGITS = 16, NAME_ROOM = sizeof NAME + DIGITS };

/* "average-" and a hash of the question. */
static tacit_status question_name(char name[NAME_ROOM], const tacit_average_options *o,
                                  tacit_error *err)
{
    uint8_t hash[TACIT_MASK_KEY];
    char digits[DIGITS + 1], *text = question_text(o);
    if (!text)
        return tacit_out_of_memory(err);
    tacit_mask_hash(hash, "tacit question 2", text, strlen(text));
    sodium_bin2hex(digits, sizeof digits, hash, DIGITS / 2);
    snprintf(name, NAME_ROOM, NAME "%s", digits);
    free(text);
    return TACIT_OK;
}

static tacit_status set_name(tacit_config *config, const tacit_average_options *o, tacit_error *err)
{
    char name[NAME_ROOM];
    tacit_status status = question_name(name, o, err);
    return status ? status : set(config, err, "run.name=%s", name);
}

/* The same question, asked of the same peers another time, is another run: what was signed in one
 * means nothing in the other. */
static tacit_status set_time(tacit_config *config, const tacit_average_options *o, tacit_error *err)
{
    char name[NAME_ROOM];
    uint64_t once;
    tacit_status status = question_name(name, o, err);
    randombytes_buf(&once, sizeof once);
    return status ? status : set(config, err, "run.name=%s-%016" PRIx64, name, once);
}

/* Of a histogram one number is 1 and the others 0, or a mean of such rows. They are all on a ball
 * around (1/p, ..., 1/p) that is smaller than that around the box [0, 1]^p: noise for it is less.
 */
static tacit_status set_range(tacit_config *config, const tacit_question *q, tacit_error *err)
{
    const double bins = q->numbers;
    tacit_status status = set(config, err, "protocol.low=%.17g", q->edge ? 2 / bins - 1 : q->least);
    if (!status)
        status = set(config, err, "protocol.high=%.17g", q->edge ? 1 : q->most);
    if (!status && q->edge)
        status = set(config, err, "privacy.clip=%.17g", sqrt(1 - 1 / bins));
    return status;
}

static tacit_status set_protocol(tacit_config *config, const tacit_average_plan *plan,
                                 const tacit_question *q, tacit_error *err)
{
    tacit_status status = set(config, err, "protocol.name=gopa");
    if (!status)
        status = set(config, err, "protocol.what=%s", q->sum ? "sum" : "mean");
    if (!status)
        status = set_range(config, q, err);
    if (!status)
        status =
            set(config, err, "protocol.masks=%s", plan->gaussian_masks ? "gaussian" : "uniform");
    if (!status)
        status = set(config, err, "protocol.adders=%s", plan->curious ? "curious" : "lying");
    if (!status)
        status = set(config, err, "protocol.colluders=%" PRId64, plan->colluders);
    if (!status)
        status = set(config, err, "protocol.absent=%.17g", plan->absent);
    if (!status) /* who may get lost cannot be needed to confirm */
        status =
            set(config, err, "protocol.quorum=%g", fmax(fmin(0.75, 0.95 - plan->absent), 0.55));
    if (!status)
        status = set(config, err, "protocol.patience=%.17g", plan->patience);
    return status ? status
                  : set(config, err, "protocol.board=%s",
                        plan->peers <= TACIT_AVERAGE_PEERS ? "true" : "false");
}

tacit_status tacit_average_config(tacit_config *config, const tacit_average_plan *plan,
                                  tacit_error *err)
{
    tacit_question q;
    tacit_status status = tacit_question_make(&q, &plan->question, err);
    if (status)
        return status;
    status = set_name(config, &plan->question, err);
    if (!status)
        status = set(config, err, "run.time=%g", LONGEST);
    if (!status)
        status = set(config, err, "run.every=0");
    if (!status)
        status = set(config, err, "model.loss=squared");
    if (!status)
        status = set(config, err, "model.scalar=f64");
    if (!status)
        status = set_protocol(config, plan, &q, err);
    if (!status)
        status = set(config, err, "privacy.mechanism=gaussian");
    if (!status)
        status = set(config, err, "privacy.epsilon=%.17g", plan->epsilon);
    if (!status)
        status = set(config, err, "privacy.delta=%.17g", plan->delta);
    if (!status)
        status = set(config, err, "privacy.unit=%s", tacit_unit_name((tacit_unit)plan->unit));
    tacit_question_clear(&q);
    return status;
}

/* ---- the folder ---- */

typedef struct place {
    const tacit_average_plan *plan;
    tacit_average_options question; /* the plan's, with the number of peers */
    tacit_folder folder;
    tacit_agreement agreement;
    uint32_t peers;
    tacit_roster roster; /* of peers with keys of their own */
    tacit_node_member *members;
    uint32_t *agents;
} place;

/* Would the protocol take it? Better now than when the last peer has come. */
static tacit_status try_protocol(const place *p, uint32_t numbers, tacit_error *err)
{
    const tacit_experiment *x = &p->agreement.experiment;
    tacit_model *model;
    tacit_status status = tacit_model_create(&model, &x->model, numbers, err);
    if (status)
        return status;
    const tacit_setup setup = {
        .agents = p->peers, .model = model, .privacy = &x->privacy, .until = x->run.time};
    void *shared = calloc(1, x->protocol->shared_size + 1);
    if (!shared)
        status = tacit_out_of_memory(err);
    if (!status)
        status = x->protocol->setup(shared, x->protocol_options, &setup, err);
    if (shared && x->protocol->teardown) /* after a refusal, too */
        x->protocol->teardown(shared);
    free(shared);
    tacit_model_free(model);
    return status;
}

static tacit_status agree(place *p, tacit_error *err)
{
    tacit_config config;
    tacit_question q = {.edge = NULL};
    tacit_config_init(&config);
    tacit_status status = tacit_average_config(&config, p->plan, err);
    if (!status)
        status = set_time(&config, &p->question, err);
    if (!status)
        status = tacit_experiment_init(&p->agreement.experiment, &config, err);
    if (!status)
        status = tacit_options_defaults(&tacit_consortium_section, &p->agreement.consortium, err);
    if (!status)
        status = tacit_agreement_check(&p->agreement.experiment, err);
    if (!status)
        status = tacit_question_make(&q, &p->plan->question, err);
    if (!status)
        status = try_protocol(p, q.numbers, err);
    tacit_question_clear(&q);
    tacit_config_clear(&config);
    return status;
}

/* Each for itself: agents 0 .. N-1, one a member. */
static tacit_status check_roster(const place *p, tacit_error *err)
{
    for (uint32_t k = 0; k < p->roster.count; k++)
        if (p->roster.members[k].count != 1 || p->roster.agents != p->roster.count)
            return tacit_fail(err, TACIT_EINPUT,
                              "\"%.300s\" must give one agent to each of its %" PRIu32
                              " members, 0 to %" PRIu32 "; \"%s\" has %" PRIu32,
                              p->plan->members, p->roster.count, p->roster.count - 1,
                              p->roster.members[k].name, p->roster.members[k].count);
    return TACIT_OK;
}

static tacit_status make_members(place *p, tacit_error *err)
{
    p->members = calloc(p->peers, sizeof *p->members);
    p->agents = calloc(p->peers, sizeof *p->agents);
    if (!p->members || !p->agents)
        return tacit_out_of_memory(err);
    for (uint32_t k = 0; k < p->peers; k++) {
        p->agents[k] = k;
        p->members[k].agents = p->agents + k;
        p->members[k].count = 1;
        snprintf(p->members[k].name, sizeof p->members[k].name, "node-%03" PRIu32, k);
    }
    return tacit_ports_choose(p->members, p->peers, p->plan->port, err);
}

static tacit_status name_members(place *p, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    if (p->plan->members)
        status = tacit_roster_read(&p->roster, p->plan->members, err);
    if (status)
        return status;
    p->peers = p->plan->members ? p->roster.count : p->plan->peers;
    p->question = p->plan->question;
    p->question.peers = p->peers;
    if (p->peers < 3 || p->peers > TACIT_AVERAGE_PEERS)
        return tacit_fail(err, TACIT_EINPUT,
                          "%" PRIu32 " peers; expected 3 to %d: of two, each would know what the "
                          "other holds",
                          p->peers, TACIT_AVERAGE_PEERS);
    return p->plan->members ? check_roster(p, err) : make_members(p, err);
}

static tacit_status write_text(const place *p, const char *name, char *text, tacit_error *err)
{
    tacit_outfile file;
    tacit_status status =
        text ? tacit_outfile_open(&file, &p->folder, name, err) : tacit_out_of_memory(err);
    if (!status) {
        tacit_write_text(&file.text, text);
        status = tacit_outfile_stage(&file, err);
    }
    if (!status)
        status = tacit_outfile_publish(&p->folder, name, err);
    free(text);
    return status;
}

static char *node_text(const char *name, const char *key, double wait)
{
    tacit_writer out = {0};
    tacit_node_options o;
    if (tacit_options_defaults(&tacit_node_section, &o, NULL) != TACIT_OK)
        return NULL;
    snprintf(o.name, sizeof o.name, "%s", name);
    snprintf(o.key, sizeof o.key, "%s", key);
    snprintf(o.consortium, sizeof o.consortium, "../consortium.yaml");
    o.patience = wait;
    tacit_write_text(&out, "node:\n");
    tacit_section_write(&out, &tacit_node_section, &o);
    tacit_write_text(
        &out, "data:\n  source: csv\n  path: values.csv\n  partition: iid\n  test-fraction: 0\n");
    return tacit_writer_take(&out);
}

static tacit_status make_node(place *p, uint32_t k, tacit_error *err)
{
    tacit_node_member *m = &p->members[k];
    char path[PATH_ROOM], name[80];
    tacit_identity identity;
    const int len = snprintf(path, sizeof path, "%s/%s", p->folder.path, m->name);
    if (len < 0 || (size_t)len >= TACIT_TEXT_MAX - 32)
        return tacit_fail(err, TACIT_EINPUT, "the path \"%.300s\" is too long", p->folder.path);
    if (mkdir(path, 0700) != 0)
        return tacit_fail(err, TACIT_EINPUT, "cannot make \"%.300s\": %s", path, strerror(errno));
    snprintf(path + len, sizeof path - (size_t)len, "/identity.key");
    tacit_status status = tacit_identity_create(&identity, path, err);
    if (status)
        return status;
    memcpy(m->key, identity.public_key, sizeof m->key);
    tacit_identity_wipe(&identity);
    snprintf(name, sizeof name, "%s/node.yaml", m->name);
    return write_text(p, name, node_text(m->name, "identity.key", p->plan->wait), err);
}

static tacit_status write_all(place *p, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (uint32_t k = 0; k < p->peers && p->members && !status; k++)
        status = make_node(p, k, err);
    if (!status)
        status = write_text(
            p, "members.csv",
            tacit_roster_text(p->members ? p->members : p->roster.members, p->peers), err);
    if (!status)
        status = write_text(p, "graph.edges", strdup("# everybody hears everybody\n"), err);
    if (!status)
        status = write_text(p, "question.yaml", question_text(&p->question), err);
    /* Last: with it the folder is complete. */
    return status ? status
                  : write_text(p, "consortium.yaml", tacit_agreement_yaml(&p->agreement), err);
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)kind;
    if (where->level > 0)
        remove(path);
    return 0;
}

tacit_status tacit_average_prepare(const char *folder, const tacit_average_plan *plan,
                                   tacit_error *err)
{
    place p = {.plan = plan, .folder = {.dir = -1}};
    if (sodium_init() < 0)
        return tacit_fail(err, TACIT_EINTERNAL, "cannot start the cryptographic library");
    tacit_status status = name_members(&p, err);
    if (!status)
        status = agree(&p, err);
    if (!status && !(status = tacit_folder_create(&p.folder, folder, err))) {
        status = write_all(&p, err);
        if (status) { /* all that is in it is ours: it was empty */
            nftw(p.folder.path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
            tacit_folder_abandon(&p.folder);
        }
    }
    tacit_folder_close(&p.folder);
    tacit_experiment_clear(&p.agreement.experiment);
    tacit_roster_clear(&p.roster);
    free(p.members);
    free(p.agents);
    return status;
}

/* ---- is it what was agreed on? ---- */

static tacit_status check_question(const char *folder, const tacit_average_options *o,
                                   const char *run, tacit_error *err)
{
    char name[NAME_ROOM];
    tacit_status status = question_name(name, o, err);
    if (status || strncmp(run, name, strlen(name)) == 0)
        return status;
    return tacit_fail(err, TACIT_EINPUT,
                      "\"%.200s/question.yaml\" is not the question that the run \"%.60s\" in "
                      "\"consortium.yaml\" is named by: one of the files was changed; ask whoever "
                      "prepared the folder for both",
                      folder, run);
}

static tacit_status check_members(const char *list, int64_t peers, tacit_error *err)
{
    tacit_roster roster;
    tacit_status status = tacit_roster_read(&roster, list, err);
    if (status)
        return status;
    for (uint32_t k = 0; k < peers && !status; k++)
        if (k >= roster.agents || roster.host[k] >= roster.count)
            status = tacit_fail(err, TACIT_EINPUT,
                                "\"%.300s\" lacks a member: nobody in it has agent %" PRIu32
                                ", and %" PRId64 " peers are asked, agents 0 to %" PRId64
                                "; everybody needs the whole list",
                                list, k, peers, peers - 1);
    if (!status && roster.agents > peers)
        status = tacit_fail(err, TACIT_EINPUT,
                            "\"%.300s\" has agent %" PRIu32 ", but %" PRId64
                            " peers are asked, agents 0 to %" PRId64,
                            list, roster.agents - 1, peers, peers - 1);
    tacit_roster_clear(&roster);
    return status;
}

tacit_status tacit_average_agrees(const char *folder, const tacit_agreement *agreement,
                                  tacit_error *err)
{
    tacit_average_options o;
    tacit_status status = tacit_question_options(&o, folder, err);
    if (!status)
        status = check_question(folder, &o, agreement->experiment.run.name, err);
    return status ? status : check_members(agreement->consortium.members, o.peers, err);
}

/* ---- a peer's folder ---- */

static const tacit_node_member *member_of(const tacit_roster *roster,
                                          const tacit_identity *identity)
{
    for (uint32_t k = 0; k < roster->count; k++)
        if (memcmp(roster->members[k].key, identity->public_key, TACIT_NODE_KEY) == 0)
            return &roster->members[k];
    return NULL;
}

/* Who it is, by its key. */
static tacit_status find_member(char name[64], const char *folder, const char *key,
                                tacit_error *err)
{
    tacit_identity identity;
    tacit_roster roster;
    char *list = tacit_path_with(folder, "/members.csv");
    tacit_status status = list ? tacit_roster_read(&roster, list, err) : tacit_out_of_memory(err);
    free(list);
    if (status)
        return status;
    status = tacit_identity_read(&identity, key, err);
    if (!status) {
        const tacit_node_member *self = member_of(&roster, &identity);
        if (self)
            memcpy(name, self->name, sizeof self->name);
        else
            status =
                tacit_fail(err, TACIT_EINPUT,
                           "the key \"%.200s\" is not in \"%.200s/members.csv\": this peer was "
                           "not asked, or has made another key since",
                           key, folder);
        tacit_identity_wipe(&identity);
    }
    tacit_roster_clear(&roster);
    return status;
}

static tacit_status write_node(const char *node, const char *name, const char *key, double wait,
                               tacit_error *err)
{
    char *path = tacit_path_with(node, "/node.yaml"), *whole = realpath(key, NULL), *text = NULL;
    tacit_status status = TACIT_OK;
    if (path && access(path, F_OK) == 0)
        goto out; /* it joins again */
    if (whole && strlen(whole) < TACIT_TEXT_MAX)
        text = node_text(name, whole, wait);
    if (!path || !text)
        status = tacit_fail(err, TACIT_EINPUT, "the path of \"%.300s\" is too long", key);
    else if (mkdir(node, 0700) != 0 && errno != EEXIST)
        status = tacit_fail(err, TACIT_EINPUT, "cannot make \"%.300s\": %s", node, strerror(errno));
    else
        status = tacit_file_create(path, 0600, text, strlen(text), "file of this peer", err);
out:
    free(path);
    free(whole);
    free(text);
    return status;
}

tacit_status tacit_average_enter(char **node, const char *folder, const char *key, double wait,
                                 tacit_error *err)
{
    char name[65] = "/";
    *node = NULL;
    tacit_status status = find_member(name + 1, folder, key, err);
    if (status)
        return status;
    *node = tacit_path_with(folder, name);
    status = *node ? write_node(*node, name + 1, key, wait, err) : tacit_out_of_memory(err);
    if (status) {
        free(*node);
        *node = NULL;
    }
    return status;
}

/* The folder of all where that of one peer is asked for. */
static bool is_common(const char *folder)
{
    char *question = tacit_path_with(folder, "/question.yaml");
    char *node = tacit_path_with(folder, "/node.yaml");
    const bool is = question && node && access(question, F_OK) == 0 && access(node, F_OK) != 0;
    free(question);
    free(node);
    return is;
}

tacit_status tacit_average_place(char **folder, const char *node_folder, tacit_error *err)
{
    char *path = tacit_path_with(node_folder, "/node.yaml");
    tacit_config config;
    tacit_node_options o;
    *folder = NULL;
    if (is_common(node_folder)) {
        free(path);
        return tacit_fail(err, TACIT_EINPUT,
                          "\"%.300s\" is the folder of all peers: name that of one, as in "
                          "\"%.300s/node-000\", or the peer's own key by --key",
                          node_folder, node_folder);
    }
    tacit_config_init(&config);
    tacit_status status = path ? tacit_config_read(&config, path, err) : tacit_out_of_memory(err);
    if (!status)
        status = tacit_config_apply(&config, &tacit_node_section, &o, err);
    if (!status)
        status = tacit_path_beside(o.consortium, path, "node.consortium", err);
    if (!status) {
        char *slash = strrchr(o.consortium, '/');
        *(slash ? slash : o.consortium) = '\0';
        *folder = strdup(slash ? o.consortium : ".");
        status = *folder ? TACIT_OK : tacit_out_of_memory(err);
    }
    tacit_config_clear(&config);
    free(path);
    return status;
}
