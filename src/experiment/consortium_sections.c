/* SPDX-License-Identifier: Apache-2.0 */
/* The option tables of consortium.yaml and node.yaml. */
#include "tacit/consortium.h"

#define COUNT_OF(table) (sizeof(table) / sizeof *(table))
#define TEXT(where, name, fall, words)                                                        \
    {                                                                                         \
        .key = name, .type = TACIT_OPT_TEXT, .fallback = fall, .offset = where, .help = words \
    }
#define NUMBER(what, where, name, fall, least, most, words)                                 \
    {                                                                                       \
        .key = name, .type = TACIT_OPT_##what, .fallback = fall, .min = least, .max = most, \
        .offset = where, .help = words                                                      \
    }

/* ---- consortium ---- */

static const char *const ends[] = {"time", "ticks", "agreement", NULL};
#define AGREED(member) offsetof(tacit_consortium_options, member)

static const tacit_option consortium_options[] = {
    TEXT(AGREED(members), "members", "members.csv", "file: name,key,endpoint,agents of each peer"),
    TEXT(AGREED(edges), "edges", "graph.edges",
         "file: \"a b\" or \"a b weight\" a line, by numbers of agents"),
    NUMBER(REAL, AGREED(unit), "unit", "1", 1e-4, 1e6,
           "seconds that a unit of time lasts; an agent ticks once a unit on average"),
    {.key = "end",
     .type = TACIT_OPT_CHOICE,
     .fallback = "time",
     .choices = ends,
     .offset = AGREED(end),
     .help = "what ends the run: run.time, so many ticks of each agent, or that models have "
             "stopped changing"},
    NUMBER(REAL, AGREED(tolerance), "tolerance", "1e-6", 0, 1e6,
           "agreement: how much what an agent says may differ from what it said before"),
    NUMBER(INT, AGREED(hops), "hops", "8", 1, 1000, "agreement: so many hops around must be quiet"),
    NUMBER(REAL, AGREED(largest), "largest", "1e6", 1e-9, 1e300,
           "no number in a message may be larger in size"),
};

const tacit_section tacit_consortium_section = {.name = "consortium",
                                                .options = consortium_options,
                                                .count = COUNT_OF(consortium_options),
                                                .size = sizeof(tacit_consortium_options)};

/* ---- node ---- */

static const char *const levels[] = {"debug", "info", "warn", "error", NULL};
#define OWN(member) offsetof(tacit_node_options, member)

static const tacit_option node_options[] = {
    TEXT(OWN(name), "name", "", "which member it is; empty: found by its key"),
    TEXT(OWN(consortium), "consortium", "consortium.yaml", "file: what was agreed on"),
    TEXT(OWN(key), "key", "identity.key", "file: its identity, made by \"tacit keygen\""),
    TEXT(OWN(folder), "folder", "state", "folder for ledgers, checkpoints and models"),
    TEXT(OWN(listen), "listen", "",
         "where it listens, as in \"tcp://0.0.0.0:7400\"; empty: its endpoint in the list"),
    TEXT(OWN(advertise), "advertise", "",
         "where others reach it, if the list does not say; empty: its endpoint there"),
    TEXT(OWN(status), "status", "127.0.0.1:0",
         "address and port for /metrics, /health and /status; port 0: a free one; empty: none"),
    {.key = "open",
     .type = TACIT_OPT_BOOL,
     .fallback = "false",
     .offset = OWN(open),
     .help = "peers that are not on the list may connect, too"},
    {.key = "moved",
     .type = TACIT_OPT_BOOL,
     .fallback = "false",
     .offset = OWN(moved),
     .help = "members may move: connect to where a member says it is (signed, passed on by "
             "others), even if the list says something else"},
    NUMBER(INT, OWN(frame), "frame", "0", 0, 1e9,
           "largest message that is taken, in bytes; 0: what the protocol needs"),
    NUMBER(INT, OWN(queue), "queue", "64", 1, 1e6, "messages that wait for one peer"),
    NUMBER(REAL, OWN(rate), "rate", "1000", 1e-3, 1e9, "messages a second taken from one peer"),
    NUMBER(REAL, OWN(burst), "burst", "2000", 1, 1e9, "and at once"),
    NUMBER(INT, OWN(asked), "asked", "100", 0, 1e9,
           "releases of an agent made because one other asked for them, in all"),
    NUMBER(REAL, OWN(heartbeat), "heartbeat", "1", 1e-2, 3600, "seconds between signs of life"),
    NUMBER(REAL, OWN(patience), "patience", "10", 0, 1e6,
           "seconds to wait for neighbours at the start and at the end"),
    NUMBER(REAL, OWN(checkpoint), "checkpoint", "10", 1e-2, 1e6, "seconds between checkpoints"),
    {.key = "log",
     .type = TACIT_OPT_CHOICE,
     .fallback = "info",
     .choices = levels,
     .offset = OWN(log),
     .help = "the least important events that are logged"},
    TEXT(OWN(lifetime), "lifetime", "",
         "file: what all runs over its records have spent; empty: the owner's own, "
         "~/.local/state/tacit/lifetime.ledger; \"off\": other runs are not counted"),
    TEXT(OWN(data_set), "data-set", "",
         "the owner's name for its records in that file; empty: as they are known there, or "
         "called like their file"),
    TEXT(OWN(records), "records", "",
         "file of text: the records as they were before data.path was made of them, to know them "
         "again; empty: data.path"),
    NUMBER(REAL, OWN(lifetime_epsilon), "lifetime-epsilon", "0", 0, 1e30,
           "what all runs over its records may spend together, set once; 0: what the file says, or "
           "as much as this run"),
    NUMBER(REAL, OWN(lifetime_delta), "lifetime-delta", "0", 0, 1, "and its delta"),
};

const tacit_section tacit_node_section = {.name = "node",
                                          .options = node_options,
                                          .count = COUNT_OF(node_options),
                                          .size = sizeof(tacit_node_options)};
