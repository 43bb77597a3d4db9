/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_NODE_LOG_H
#define TACIT_NODE_LOG_H
/*
 * The `fields` of a tacit_node_log, made safely:
 *
 *     log_fields f;
 *     log_begin(&f);
 *     log_text(&f, "peer", name);
 *     log_number(&f, "silence_seconds", 4.2);
 *     plan->log(plan->log_ctx, TACIT_LOG_WARN, "peer_down", log_end(&f));
 *
 * Nothing is allocated and nothing can fail: a text that is too long ends in "...", a field that
 * does not fit any more is left out, and then the last one is "cut": true. Whatever a peer put
 * into a text, the result is the inside of one JSON object on one line. Keys are constants of the
 * caller, each once, with the unit at the end where there is one.
 */
#include "tacit/base.h"

enum { LOG_BYTES = 1024, LOG_TEXT = 240 }; /* of all fields; of one text, before escapes */

typedef struct log_fields {
    char text[LOG_BYTES];
    size_t len;
    bool cut;
} log_fields;

void log_begin(log_fields *f);
void log_text(log_fields *f, const char *key, const char *text); /* NULL: null */
void log_number(log_fields *f, const char *key, double value);   /* not finite: null */
void log_u64(log_fields *f, const char *key, uint64_t value);
void log_bool(log_fields *f, const char *key, bool value);
/* What to hand on; good as long as `f` is. */
const char *log_end(log_fields *f);

#endif
