/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_EXPERIMENT_FILES_H
#define TACIT_EXPERIMENT_FILES_H
/*
 * The run folder on disk. A file is first written completely under a temporary name, then
 * flushed to the disk, then renamed: whoever looks sees all of it or nothing.
 */
#include "base/file.h"
#include "report/writer.h"
#include "tacit/base.h"
#include "tacit/net_file.h"

typedef struct tacit_folder {
    char *path;
    int dir;      /* -1: no folder */
    bool resumed; /* it was there before, with a checkpoint */
    size_t made;  /* how many levels of `path` this run created */
    bool has_checkpoint;
} tacit_folder;

/* Of files with what no epsilon covers: seeds, scores, models, checkpoints; and of their folders.
 */
#define TACIT_SECRET_MODE 0600
#define TACIT_FOLDER_MODE 0700

/* A new folder for its owner alone, and its parents by the umask; an empty one that is there
 * already will do, with the mode it has. */
tacit_status tacit_folder_create(tacit_folder *folder, const char *path, tacit_error *err);
/* One that a run left behind with a checkpoint in it. */
tacit_status tacit_folder_open(tacit_folder *folder, const char *path, tacit_error *err);
/* Any folder, only to read from it: no lock, no checkpoint needed. */
tacit_status tacit_folder_look(tacit_folder *folder, const char *path, tacit_error *err);
void tacit_folder_close(tacit_folder *folder);
/* After a failure: take away what this run wrote, up to its last checkpoint. */
void tacit_folder_abandon(tacit_folder *folder);
tacit_status tacit_folder_read(const tacit_folder *folder, const char *name, char **text,
                               size_t *len, tacit_error *err);
/* folder->path "/" name, for messages. */
tacit_status tacit_folder_fail(const tacit_folder *folder, const char *name, int number,
                               tacit_error *err);

/* A file on its way: open, add to `text` and flush now and then, stage, and publish when all
 * others that belong to it are staged too. */
typedef struct tacit_outfile {
    const tacit_folder *folder;
    const char *name;
    int fd;
    bool hasty; /* need not outlive a power cut: it can be made again */
    tacit_writer text;
} tacit_outfile;

tacit_status tacit_outfile_open(tacit_outfile *file, const tacit_folder *folder, const char *name,
                                tacit_error *err);
/* Write out what has gathered, if it is much. */
tacit_status tacit_outfile_flush(tacit_outfile *file, tacit_error *err);
/* Write out the rest, make it durable and close; after a failure too. */
tacit_status tacit_outfile_stage(tacit_outfile *file, tacit_error *err);
/* Close and forget, after a failure. */
void tacit_outfile_drop(tacit_outfile *file);
tacit_status tacit_outfile_publish(const tacit_folder *folder, const char *name, tacit_error *err);
/* A net as model.tacit, staged; publish it when all others are (model_file.c). */
#define TACIT_MODEL_FILE "model.tacit"
tacit_status tacit_folder_stage_model(const tacit_folder *folder, const tacit_net_model *model,
                                      tacit_error *err);
/* Make renames and removals durable. */
tacit_status tacit_folder_sync(const tacit_folder *folder, tacit_error *err);

/* Write everything at `fd`, however many calls it takes; errno on failure. */
bool tacit_write_all(int fd, const void *bytes, size_t len);

#endif
