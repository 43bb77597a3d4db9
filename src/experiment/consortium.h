/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_EXPERIMENT_CONSORTIUM_H
#define TACIT_EXPERIMENT_CONSORTIUM_H
/* What the files about real peers share, and what they need of an experiment. */
#include "base/writer.h"
#include "tacit/consortium.h"

/* ---- experiment.c ---- */
/* Like tacit_experiment_init with these sections; one that is no part of an experiment was applied
 * by the caller. Keys of others are errors. */
tacit_status tacit_experiment_read(tacit_experiment *experiment, tacit_config *config,
                                   const tacit_section *const *sections, size_t section_count,
                                   tacit_error *err);
/* These sections of an experiment as YAML. */
void tacit_experiment_write(tacit_writer *out, const tacit_experiment *experiment,
                            const tacit_section *const *sections, size_t count);
/* The lines of one section, without its name. */
void tacit_section_write(tacit_writer *out, const tacit_section *section, const void *values);

/* ---- paths.c ---- */
/* Make a relative path one that is relative to the folder of `file`. `key` is for messages. */
tacit_status tacit_path_beside(char path[TACIT_TEXT_MAX], const char *file, const char *key,
                               tacit_error *err);
/* The same for every path among the options of `data`, lists of files and data.folder included,
 * but for those that the settings of `config` gave by --set. */
tacit_status tacit_data_paths_beside(tacit_data_options *data, const tacit_config *config,
                                     const char *file, tacit_error *err);
/* Did --set say it? Then it is a path as the caller sees it. */
bool tacit_config_was_set(const tacit_config *config, const char *key);

/* ---- agreement.c ---- */
/* Can real peers follow this? Oracles, sums over all agents and mere claims are for simulators. */
tacit_status tacit_agreement_check(const tacit_experiment *experiment, tacit_error *err);

/* Keys of protocols' options that name files, NULL behind the last. */
extern const char *const tacit_protocol_files[];
#define TACIT_PROTOCOL_FILE_MOST ((size_t)1 << 32) /* bytes in one */
/* Such a path among the protocol's options (TACIT_TEXT_MAX bytes); NULL: it has no such option. */
char *tacit_protocol_file(const tacit_experiment *experiment, const char *key);

/* ---- ports.c ---- */
/* Endpoints on this machine, from port `first` on; 0: free ones are found. */
tacit_status tacit_ports_choose(tacit_node_member *members, uint32_t count, uint16_t first,
                                tacit_error *err);

/* ---- shards_write.c ---- */
/* What data.source "shards" reads, in a new folder (0600): the records of these agents of `data`,
 * called by their numbers there. */
tacit_status tacit_shards_write(const char *folder, const tacit_dataset *data,
                                const uint32_t *agents, uint32_t count, tacit_error *err);

#endif
