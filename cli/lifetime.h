/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_LIFETIME_H
#define CLI_LIFETIME_H
/*
 * Where the lifetime ledger of whoever runs this program is, and a node's run in it. The library
 * reads no environment, so the default is found here:
 *
 *     $XDG_STATE_HOME/tacit/lifetime.ledger, or ~/.local/state/tacit/lifetime.ledger
 */
#include "tacit/consortium.h"
#include "verbs.h"

/* `named` (an option's value), or the default if that is "". Folders of the default are made
 * (0700) with `make`. */
tacit_status cli_lifetime_path(char out[CLI_PATH_MAX], const char *named, bool make,
                               tacit_error *err);

/* Before the node runs: reserves, or says in the log why not. */
tacit_status cli_lifetime_begin(tacit_peer_lifetime *lifetime, const tacit_peer *peer,
                                const tacit_node *node, const tacit_node_plan *plan,
                                tacit_error *err);
/* After it ended well. */
tacit_status cli_lifetime_end(tacit_peer_lifetime *lifetime, const tacit_peer *peer,
                              const tacit_node *node, const tacit_node_plan *plan,
                              tacit_error *err);

/* What all runs over the records have spent, or why nobody knows. */
void cli_lifetime_words(const tacit_node_lifetime *lifetime, char *out, size_t size);

#endif
