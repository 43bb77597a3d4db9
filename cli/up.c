/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tacit up: an experiment by N real peers on this machine. Each is a process with a key, records,
 * ledgers and a port of its own, as it would be on N machines; only the measuring at the end is
 * done with the eyes of a simulator, which sees everybody's models and records.
 */
#include "up.h"
#include "terminal.h"
#include "verbs.h"

#include "base/writer.h"
#include "tacit/consortium.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define PINGS_A_SECOND 2000.0 /* of all nodes together, at most */
#define SLOWEST_HEARTBEAT 5.0 /* seconds, but not slower than this */

typedef struct up_flags {
    int64_t port, threads;
    double unit;
    bool json, quiet, keep, restart, prepare;
    char out[TACIT_TEXT_MAX], measure[TACIT_TEXT_MAX];
} up_flags;

#define AT(member) .offset = offsetof(up_flags, member)
static const tacit_option options[] = {
    CLI_FLAG_SWITCH("json", 'j', "print the result as JSON (schema tacit.up/1)", AT(json)),
    {.key = "out",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .letter = 'o',
     .value_name = "DIR",
     .help = "the folder for all nodes, which stays; otherwise runs/NAME-K, which goes away "
             "when all went well",
     AT(out)},
    CLI_FLAG_SWITCH("keep", 'k', "leave the folder runs/NAME-K where it is", AT(keep)),
    {.key = "unit",
     .type = TACIT_OPT_REAL,
     .fallback = "0",
     .min = 0,
     .max = 86400,
     .letter = 'u',
     .value_name = "SECONDS",
     .help = "how long a unit of time lasts, an agent's mean wait between ticks; 0: what "
             "consortium.unit says, a second by default",
     AT(unit)},
    {.key = "port",
     .type = TACIT_OPT_INT,
     .fallback = "0",
     .min = 0,
     .max = 65535,
     .letter = 'p',
     .value_name = "BASE",
     .help = "the first node's port, the others' follow; 0: free ones are found",
     AT(port)},
    CLI_FLAG_SWITCH("prepare", 'P', "write the folder and start nobody: that is up to you",
                    AT(prepare)),
    {.key = "measure",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .letter = 'm',
     .value_name = "DIR",
     .help = "start nobody, but say what the nodes of such a folder came to, however they were "
             "started",
     AT(measure)},
    CLI_FLAG_SWITCH("restart", 'r', "start nodes that die again", AT(restart)),
    CLI_FLAG_THREADS(AT(threads)),
    CLI_FLAG_SWITCH("quiet", 'q', "no table of nodes and no remarks", AT(quiet)),
};

static const tacit_section section = {
    .options = options, .count = sizeof options / sizeof *options, .size = sizeof(up_flags)};

static const tacit_section *const peer_sections[] = {&tacit_consortium_section, &tacit_node_section,
                                                     NULL};

static const cli_example examples[] = {
    {"tacit up 5 examples/separators.yaml --unit 0.1", "five real peers, ten ticks a second each"},
    {"tacit up 20 examples/separators.yaml --out peers --restart",
     "look at them from elsewhere with \"tacit status peers\"; kill some"},
    {"tacit up 3 examples/csv.yaml --set consortium.end=agreement --json",
     "until they agree; for programs"},
    {"tacit up 3 examples/csv.yaml --set node.log=debug --keep", "and read what they logged"},
    {"tacit up 3 examples/csv.yaml --prepare --out peers",
     "start them yourself, elsewhere if you like: tacit node -c peers/node-000/node.yaml"},
    {"tacit up --measure peers", "and when they have ended"},
};

/* ---- what is asked for ---- */

static tacit_status read_count(const char *text, uint32_t *count, tacit_error *err)
{
    char *end;
    errno = 0;
    const unsigned long long n = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || n < 1 || n > TACIT_UP_NODES)
        return tacit_fail(err, TACIT_EUSAGE,
                          "the number of nodes is \"%.40s\"; expected an integer from 1 to %d, as "
                          "in \"tacit up 5 examples/separators.yaml\"",
                          text, TACIT_UP_NODES);
    *count = (uint32_t)n;
    return TACIT_OK;
}

static tacit_status check_words(const cli_args *args, const up_flags *flags, uint32_t *count,
                                tacit_error *err)
{
    if (args->word_count < 2)
        return tacit_fail(err, TACIT_EUSAGE,
                          "%s; expected how many nodes and a file, as in \"tacit up 5 "
                          "examples/separators.yaml\"",
                          args->word_count == 0 ? "no experiment" : "one word alone");
    if (args->word_count > 2)
        return tacit_fail(err, TACIT_EUSAGE, "unexpected word \"%.100s\"; one experiment at a time",
                          args->words[2]);
    tacit_status status = read_count(args->words[0], count, err);
    if (!status && flags->port > 0 && flags->port + *count - 1 > 65535)
        status = tacit_fail(err, TACIT_EUSAGE,
                            "\"--port\" is %lld, and %u nodes need ports up to %lld; the last is "
                            "65535",
                            (long long)flags->port, *count, (long long)flags->port + *count - 1);
    return status;
}

/* --set of what experiments do not have, but real peers do. */
static bool is_of_peers(const char *assignment)
{
    return strncmp(assignment, "consortium.", 11) == 0 || strncmp(assignment, "node.", 5) == 0;
}

typedef struct settings {
    tacit_consortium_options consortium;
    tacit_node_options node;
    bool own_heartbeat; /* not said, so that it may be chosen here */
} settings;

/* These are written by tacit up itself, for each node another. */
static const char *const own_keys[] = {
    "consortium.members", "consortium.edges",      "node.name",          "node.consortium",
    "node.key",           "node.folder",           "node.listen",        "node.advertise",
    "node.data-set",      "node.lifetime-epsilon", "node.lifetime-delta"};

/* A path as the caller sees it: nodes have folders of their own. */
static tacit_status place_lifetime(tacit_node_options *o, tacit_error *err)
{
    char here[CLI_PATH_MAX], path[CLI_PATH_MAX + TACIT_TEXT_MAX];
    if (!o->lifetime[0] || o->lifetime[0] == '/' || strcmp(o->lifetime, "off") == 0)
        return TACIT_OK;
    const int len =
        getcwd(here, sizeof here) ? snprintf(path, sizeof path, "%s/%s", here, o->lifetime) : -1;
    if (len < 0 || (size_t)len >= sizeof o->lifetime)
        return tacit_fail(err, TACIT_EINPUT,
                          "the path of \"node.lifetime\" is too long from here; say it from / on");
    memcpy(o->lifetime, path, (size_t)len + 1);
    return TACIT_OK;
}

static tacit_status read_settings(settings *s, const cli_args *args, const up_flags *flags,
                                  uint32_t count, tacit_error *err)
{
    tacit_config config;
    tacit_config_init(&config);
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k < args->repeated_count && !status; k++) {
        if (is_of_peers(args->repeated[k]))
            status = tacit_config_set(&config, args->repeated[k], err);
    }
    for (size_t k = 0; k < sizeof own_keys / sizeof *own_keys && !status; k++) {
        if (tacit_config_get(&config, own_keys[k]))
            status = tacit_fail(err, TACIT_EUSAGE, "\"%s\" is tacit up's to set; leave it out",
                                own_keys[k]);
    }
    if (!status)
        status = tacit_config_apply(&config, &tacit_consortium_section, &s->consortium, err);
    if (!status)
        status = tacit_config_apply(&config, &tacit_node_section, &s->node, err);
    if (!status)
        status = tacit_config_unused(&config, peer_sections, 2, err);
    if (!status)
        status = place_lifetime(&s->node, err);
    if (flags->unit > 0)
        s->consortium.unit = flags->unit;
    if (!tacit_config_get(&config, "node.patience"))
        s->node.patience += 0.2 * count; /* the first must wait for the last to start */
    s->own_heartbeat = !tacit_config_get(&config, "node.heartbeat");
    tacit_config_clear(&config);
    return status;
}

static tacit_status read_experiment(tacit_config *config, const cli_args *args, tacit_error *err)
{
    const char **sets = calloc(args->repeated_count + 1, sizeof *sets);
    if (!sets)
        return tacit_out_of_memory(err);
    size_t count = 0;
    for (size_t k = 0; k < args->repeated_count; k++) {
        if (!is_of_peers(args->repeated[k]))
            sets[count++] = args->repeated[k];
    }
    tacit_status status = cli_load_config(config, args->words[1], sets, count, err);
    free(sets);
    return status;
}

/* Every node pings every neighbour, or everybody, and here all of them share the cores. */
static void choose_heartbeat(settings *s, const tacit_graph *graph, uint32_t nodes, uint32_t flags)
{
    const double pairs = flags & TACIT_EVERYBODY ? (double)nodes * nodes : 0;
    const double pings = fmax((double)graph->row[graph->agents], pairs) / PINGS_A_SECOND;
    if (s->own_heartbeat && pings > s->node.heartbeat)
        s->node.heartbeat = pings < SLOWEST_HEARTBEAT ? pings : SLOWEST_HEARTBEAT;
}

/* Better to know before two hundred processes are started. */
static tacit_status check_ports(const up_flags *flags, uint32_t count, tacit_error *err)
{
    for (uint32_t k = 0; flags->port > 0 && k < count; k++) {
        const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const int yes = 1;
        struct sockaddr_in at = {.sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)(flags->port + k)),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        const int problem =
            fd < 0 || bind(fd, (const struct sockaddr *)&at, sizeof at) != 0 ? errno : 0;
        if (fd >= 0)
            close(fd);
        if (problem)
            return tacit_fail(err, TACIT_EPEER,
                              "port %lld cannot be used: %s; choose another --port, or 0 for free "
                              "ones",
                              (long long)flags->port + k, strerror(problem));
    }
    return TACIT_OK;
}

/* ---- the folder ---- */

static tacit_status claim(const char *name, const char *out, char *folder, size_t size,
                          tacit_error *err)
{
    struct stat info;
    if (*out && lstat(out, &info) == 0)
        return tacit_fail(err, TACIT_EINPUT, "\"%.300s\" exists; remove it or use another --out",
                          out);
    return cli_folder_claim(name, out, false, folder, size, err);
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info;
    (void)kind;
    (void)where;
    return remove(path);
}

/* The folder is one that this process made a moment ago. */
static void remove_folder(const char *folder)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    rmdir("runs"); /* if it is empty it was ours */
}

/* ---- while they run ---- */

static tacit_status tend(up_fleet *fleet, up_table *table, tacit_error *err)
{
    up_phase *before = calloc(fleet->count, sizeof *before);
    tacit_status status = before ? TACIT_OK : tacit_out_of_memory(err);
    while (!status && up_fleet_in(fleet, UP_ALIVE) + up_fleet_in(fleet, UP_WAITING) > 0) {
        for (uint32_t k = 0; k < fleet->count; k++)
            before[k] = fleet->nodes[k].phase;
        if (*cli_stop())
            up_fleet_end(fleet);
        status = up_fleet_tend(fleet, err);
        for (uint32_t k = 0; k < fleet->count; k++) {
            const up_phase now = fleet->nodes[k].phase;
            if (before[k] == UP_ALIVE && (now == UP_DEAD || now == UP_WAITING))
                up_table_mourn(table, &fleet->nodes[k]);
        }
        up_fleet_ask(fleet);
        up_table_draw(table, fleet);
        poll(NULL, 0, 50);
    }
    free(before);
    return status;
}

static tacit_status keep_experiment(const char *folder, const tacit_experiment *experiment,
                                    tacit_error *err)
{
    char path[CLI_PATH_MAX];
    const int n = snprintf(path, sizeof path, "%s/experiment.yaml", folder);
    if (n < 0 || (size_t)n >= sizeof path)
        return tacit_fail(err, TACIT_EINPUT, "the path \"%.200s...\" is too long", folder);
    return cli_write_secret(path, tacit_experiment_yaml(experiment), false, err);
}

/* What the whole run ends with, once all processes have. */
static tacit_status verdict(const up_fleet *fleet, const char *folder, tacit_error *err)
{
    if (fleet->ending > 0)
        return tacit_fail(err, TACIT_EINTERRUPTED,
                          "interrupted; what the nodes have is in \"%.300s\"", folder);
    const uint32_t dead = up_fleet_in(fleet, UP_DEAD);
    if (dead == 0)
        return TACIT_OK;
    const up_node *first = NULL;
    for (uint32_t k = 0; k < fleet->count && !first; k++)
        first = fleet->nodes[k].phase == UP_DEAD ? &fleet->nodes[k] : NULL;
    /* Where nobody got anywhere, one's reason is everybody's. */
    const bool all = dead == fleet->count && first->code > 0;
    return tacit_fail(err, all ? (tacit_status)first->code : TACIT_EPEER,
                      "%u of %u nodes died; %s: %.240s; see \"%.200s/%s/log.jsonl\"", dead,
                      fleet->count, first->name, first->reason, folder, first->name);
}

static tacit_status run_fleet(tacit_session *session, const tacit_experiment *experiment,
                              const up_flags *flags, const char *folder, uint32_t count,
                              tacit_error *err)
{
    up_fleet fleet;
    up_table table;
    tacit_status status = up_fleet_create(&fleet, folder, count, flags->restart, err);
    if (status)
        return status;
    cli_catch_signals();
    up_table_begin(&table, flags->quiet);
    status = tend(&fleet, &table, err);
    up_table_end(&table);
    if (status)
        goto out;
    tacit_status end = verdict(&fleet, folder, err);
    up_fleet_read(&fleet);
    if (up_fleet_in(&fleet, UP_ENDED) > 0) {
        const up_outcome outcome = {.session = session,
                                    .experiment = experiment,
                                    .fleet = &fleet,
                                    .folder = flags->keep || *flags->out || end ? folder : NULL,
                                    .complete = end == TACIT_OK,
                                    .seconds = up_seconds() - table.begun};
        tacit_error late = {0};
        status = up_tell(&outcome, flags->json, &late);
        if (status && !end)
            tacit_fail(err, status, "%s", late.text);
    }
    if (end)
        status = end;
out:
    up_fleet_free(&fleet);
    return status;
}

static tacit_status up_session(tacit_session *session, const tacit_experiment *experiment,
                               settings *s, const up_flags *flags, uint32_t count, tacit_error *err)
{
    char folder[CLI_PATH_MAX];
    const uint32_t agents = tacit_session_graph(session)->agents;
    if (count > agents)
        return tacit_fail(err, TACIT_EINPUT,
                          "%u nodes for %u agent%s: every node hosts at least one; use at most %u",
                          count, agents, agents == 1 ? "" : "s", agents);
    tacit_status status = check_ports(flags, count, err);
    if (!status)
        status = claim(experiment->run.name, flags->out, folder, sizeof folder, err);
    if (status)
        return status;
    choose_heartbeat(s, tacit_session_graph(session), count, tacit_experiment_flags(experiment));
    const tacit_up_request request = {.folder = folder,
                                      .nodes = count,
                                      .port = (uint16_t)flags->port,
                                      .consortium = &s->consortium,
                                      .node = &s->node};
    status = tacit_up_prepare(session, &request, err);
    if (!status)
        status = keep_experiment(folder, experiment, err);
    if (status) {
        if (!*flags->out)
            remove_folder(folder);
        return status;
    }
    if (flags->prepare) {
        printf("%s\n", folder);
        return TACIT_OK;
    }
    status = run_fleet(session, experiment, flags, folder, count, err);
    if (!status && !*flags->out && !flags->keep)
        remove_folder(folder);
    return status;
}

static tacit_status measure(const cli_args *args, const up_flags *flags, tacit_error *err)
{
    if (args->word_count > 0 || args->repeated_count > 0 || flags->prepare)
        return tacit_fail(err, TACIT_EUSAGE,
                          "\"--measure\" takes a folder and nothing else, as in \"tacit up "
                          "--measure %.200s\"",
                          flags->measure);
    return up_measure_folder(flags->measure, flags->json, cli_threads(flags->threads), err);
}

static tacit_status run(const cli_args *args, tacit_error *err)
{
    const up_flags *flags = args->flags;
    uint32_t count = 0;
    settings s = {0};
    tacit_config config;
    tacit_experiment experiment = {0};
    tacit_session *session = NULL;
    if (*flags->measure)
        return measure(args, flags, err);
    tacit_config_init(&config);
    tacit_status status = check_words(args, flags, &count, err);
    if (status)
        goto out;
    status = read_settings(&s, args, flags, count, err);
    if (status)
        goto out;
    status = read_experiment(&config, args, err);
    if (status)
        goto out;
    status = tacit_experiment_init(&experiment, &config, err);
    if (status)
        goto out;
    status = tacit_session_create(&session, &experiment, cli_threads(flags->threads), err);
    if (status)
        goto out;
    cli_warn_delta(session, &experiment);
    if (!flags->quiet)
        cli_remark_lonely(session, &experiment);
    status = up_session(session, &experiment, &s, flags, count, err);
out:
    tacit_session_free(session);
    tacit_experiment_clear(&experiment);
    tacit_config_clear(&config);
    return status;
}

const cli_verb cli_up = {
    .name = "up",
    .argument = "N EXPERIMENT.yaml",
    .summary = "run an experiment by N real peers on this machine",
    .prose = "Deals the agents of an experiment to N nodes and starts each as a process of its "
             "own (tacit node), with its key, its agents' records and ledgers and its port, as if "
             "they were N machines: links are encrypted, the clock is real, and what is lost is "
             "lost. Shows how they are while they run. Ctrl-C ends all of them cleanly, a second "
             "Ctrl-C at once. In the end their models are measured with the eyes of a simulator: "
             "scores, the objective and its gap to the optimum. --set takes keys of the "
             "experiment and of the sections consortium and node. The network section has no "
             "effect: the network is the real one. --prepare and --measure are its two ends alone, "
             "for nodes that run on other machines or in a network of your making.",
    .flags = &section,
    .repeated = &cli_set_option,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .takes_keys = true,
    .sections = peer_sections,
    .run = run,
};
