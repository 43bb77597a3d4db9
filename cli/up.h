/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_UP_H
#define CLI_UP_H
/* Inside of tacit up: the processes, what they last said of themselves, and how that is shown. */
#include "ask.h"
#include "tacit/consortium.h"

#include <math.h>
#include <sys/types.h>

#define UP_NAME 24    /* "node-000" */
#define UP_REASON 240 /* why a node died */

typedef enum up_phase {
    UP_WAITING, /* to be started, or started again */
    UP_ALIVE,
    UP_ENDED, /* by itself, with a result */
    UP_DEAD
} up_phase;

/* What a node says of itself at /status and, at its end, in summary.json. */
typedef struct up_words {
    bool heard;
    char phase[16];
    char mute[80];
    double time, until;
    uint64_t peers, up, slow, down;
    uint64_t ticks, messages_in, messages_out, bytes_out, releases, refused;
    double epsilon; /* the largest of its agents; infinity: unbounded */
    bool counted;   /* in a lifetime ledger */
} up_words;

typedef struct up_node {
    char name[UP_NAME];
    up_phase phase;
    pid_t pid;
    uint32_t lives;     /* how often it was started */
    uint32_t hasty;     /* how often in a row it died young */
    double begun, next; /* this life began; the next begins: seconds */
    double heard;       /* when it was last asked how it is */
    bool asked;         /* to end */
    int code;           /* of its last exit; -1: by a signal */
    char reason[UP_REASON];
    cli_ask ask;
    up_words words;
} up_node;

typedef struct up_fleet {
    const char *folder; /* with node-000, node-001, ... in it */
    up_node *nodes;
    uint32_t count;
    bool restart;
    uint32_t deaths, restarts;
    uint32_t next_asked; /* who is asked next how it is, */
    double next_turn;    /* and when */
    double ending;       /* since when all are asked to end; 0: they are not */
} up_fleet;

double up_seconds(void);

/* ---- up_nodes.c: the processes ---- */
tacit_status up_fleet_create(up_fleet *fleet, const char *folder, uint32_t count, bool restart,
                             tacit_error *err);
/* Ends whoever is still there, at once. */
void up_fleet_free(up_fleet *fleet);
/* Start those whose time has come, bury those that died. */
tacit_status up_fleet_tend(up_fleet *fleet, tacit_error *err);
/* Ask all to end; those that are slow about it are made to. */
void up_fleet_end(up_fleet *fleet);
uint32_t up_fleet_in(const up_fleet *fleet, up_phase phase);

/* ---- up_words.c: what they say ---- */
/* Ask the next few of those that run, so that all have their turn. */
void up_fleet_ask(up_fleet *fleet);
/* What they left behind: node-K/state/summary.json. */
void up_fleet_read(up_fleet *fleet);

/* ---- up_table.c: on the screen while they run ---- */
typedef struct up_table {
    bool screen, quiet;
    uint32_t lines; /* drawn last */
    double drawn, begun;
    uint32_t deaths; /* told so far */
} up_table;
void up_table_begin(up_table *table, bool quiet);
void up_table_draw(up_table *table, const up_fleet *fleet);
void up_table_end(up_table *table);
/* Somebody died. */
void up_table_mourn(up_table *table, const up_node *node);

/* ---- up_result.c: what came of it ---- */
typedef struct up_outcome {
    tacit_session *session;
    const tacit_experiment *experiment;
    const up_fleet *fleet;
    const char *folder;
    bool complete;
    double seconds; /* from the first start to the last end; NaN: not known */
} up_outcome;
/* Measure and tell, in words or as JSON, on standard output. */
tacit_status up_tell(const up_outcome *outcome, bool json, tacit_error *err);

/* ---- up_folder.c: nodes that somebody else started ---- */
tacit_status up_measure_folder(const char *folder, bool json, unsigned threads, tacit_error *err);

#endif
