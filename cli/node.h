/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_NODE_H
#define CLI_NODE_H
/* What verbs share that are a node: tacit node, and tacit average join. */
#include "tacit/consortium.h"

/* Limits of the process and signals; before anything else. */
void cli_node_process(void);
/* What came of it, when its files are written and the node is still there. */
typedef tacit_status cli_node_tell(void *ctx, const tacit_node *node, const char *summary,
                                   tacit_error *err);
/* To the end, or until interrupted; models.npy, board.jsonl and summary.json in its folder. Its
 * budget is reserved in the lifetime ledger of its records first, and settled at a good end. */
tacit_status cli_node_run(const tacit_peer *peer, const tacit_node_plan *plan, cli_node_tell *tell,
                          void *ctx, tacit_error *err);
/* A file in that folder, complete or not at all. The text is freed. */
tacit_status cli_node_put(const char *folder, const char *name, char *text, tacit_error *err);

#endif
