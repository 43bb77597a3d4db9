/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint.bin: which run it belongs to, how far metrics.csv goes, rows that wait, and the
 * runtime's own state. The saver around it adds a magic word, a length and a checksum, so a
 * cut or edited file is refused before anything here is believed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/shard.h"
#include "experiment/run.h"

#define FORMAT 2

static void hash_shards(crypto_generichash_state *hash, const tacit_dataset *data)
{
    const size_t size = tacit_scalar_size(tacit_dataset_scalar(data));
    const size_t features = tacit_dataset_features(data);
    for (uint32_t i = 0; i < tacit_dataset_agents(data); i++)
        for (int split = 0; split < TACIT_SPLITS; split++) {
            const uint32_t rows = tacit_dataset_rows(data, i, (tacit_split)split);
            crypto_generichash_update(hash, (const unsigned char *)&rows, sizeof rows);
            if (rows == 0)
                continue;
            const tacit_shard *shard = tacit_dataset_shard(data, i, (tacit_split)split);
            size_t cursor = 0;
            tacit_batch batch;
            while (tacit_shard_next(shard, &cursor, &batch)) {
                crypto_generichash_update(hash, batch.x, batch.rows * features * size);
                crypto_generichash_update(hash, batch.y, batch.rows * size);
            }
        }
}

static void hash_graph(crypto_generichash_state *hash, const tacit_graph *graph)
{
    const uint64_t ends = graph->row[graph->agents];
    crypto_generichash_update(hash, (const unsigned char *)graph->row,
                              ((size_t)graph->agents + 1) * sizeof *graph->row);
    if (ends == 0)
        return;
    crypto_generichash_update(hash, (const unsigned char *)graph->neighbour,
                              ends * sizeof *graph->neighbour);
    crypto_generichash_update(hash, (const unsigned char *)graph->weight,
                              ends * sizeof *graph->weight);
}

/* The configuration, the program's version, and what was read from files that the
 * configuration only names. */
tacit_status tacit_run_identify(tacit_run *r, tacit_error *err)
{
    char *yaml = tacit_experiment_yaml(r->session->experiment);
    if (!yaml)
        return tacit_out_of_memory(err);
    crypto_generichash_state hash;
    crypto_generichash_init(&hash, NULL, 0, sizeof r->identity);
    crypto_generichash_update(&hash, (const unsigned char *)TACIT_VERSION, sizeof TACIT_VERSION);
    crypto_generichash_update(&hash, (const unsigned char *)yaml, strlen(yaml));
    if (r->session->experiment->data.path[0])
        hash_shards(&hash, r->session->source.data);
    if (r->session->experiment->graph.path[0])
        hash_graph(&hash, &r->session->graph);
    if (r->session->epsilon) /* other budgets would be another run, and hide what was spent */
        crypto_generichash_update(&hash, (const unsigned char *)r->session->epsilon,
                                  tacit_dataset_agents(r->session->source.data) *
                                      sizeof *r->session->epsilon);
    crypto_generichash_final(&hash, (unsigned char *)r->identity, sizeof r->identity);
    free(yaml);
    return TACIT_OK;
}

static void save_run(const tacit_run *r, tacit_saver *saver)
{
    uint64_t hash[4];
    tacit_rows_hash(&r->rows, hash);
    tacit_save_u64(saver, FORMAT);
    for (size_t i = 0; i < 4; i++)
        tacit_save_u64(saver, r->identity[i]);
    tacit_save_u64(saver, r->next_row);
    tacit_save_u64(saver, r->rows.len);
    for (size_t i = 0; i < 4; i++)
        tacit_save_u64(saver, hash[i]);
    tacit_rows_save(&r->rows, saver);
}

static bool write_piece(void *ctx, const void *bytes, size_t len)
{
    return tacit_write_all(*(const int *)ctx, bytes, len);
}

/* Piece by piece: a million agents' state need not be in memory twice. */
tacit_status tacit_run_stage_checkpoint(tacit_run *r, tacit_error *err)
{
    tacit_outfile file;
    tacit_status status = tacit_rows_sync(&r->rows, err);
    if (status || (status = tacit_outfile_open(&file, &r->folder, TACIT_CHECKPOINT, err)))
        return status;
    tacit_saver *saver = tacit_saver_create_to(write_piece, &file.fd);
    if (!saver) {
        status = tacit_out_of_memory(err);
        goto out;
    }
    save_run(r, saver);
    errno = 0;
    if ((status = r->session->runtime->ops->save(r->session->runtime, saver)))
        tacit_fail(err, status, "the state of the run could not be saved");
    else if ((status = tacit_saver_finish(saver, NULL, NULL, err)) && errno)
        status = tacit_folder_fail(&r->folder, TACIT_CHECKPOINT, errno, err);
out:
    tacit_saver_free(saver);
    if (!status)
        return tacit_outfile_stage(&file, err);
    tacit_outfile_drop(&file);
    return status;
}

tacit_status tacit_run_checkpoint(tacit_run *r, tacit_error *err)
{
    tacit_status status = tacit_run_stage_checkpoint(r, err);
    return status ? status
                  : tacit_run_publish(r, (const char *const[]){TACIT_CHECKPOINT, NULL}, err);
}

static tacit_status read_checkpoint(tacit_run *r, tacit_loader *loader, tacit_error *err)
{
    tacit_runtime *rt = r->session->runtime;
    if (tacit_load_u64(loader) != FORMAT)
        return tacit_fail(err, TACIT_EVERIFY,
                          "\"%.300s/" TACIT_CHECKPOINT "\" has a format this version cannot read",
                          r->folder.path);
    bool same = true;
    for (size_t i = 0; i < 4; i++)
        same &= tacit_load_u64(loader) == r->identity[i];
    if (!same)
        return tacit_fail(err, TACIT_EVERIFY,
                          "\"%.300s/" TACIT_CHECKPOINT
                          "\" belongs to another configuration, other data "
                          "or another version; resume with the configuration in the folder, "
                          "unchanged",
                          r->folder.path);
    r->next_row = tacit_load_u64(loader);
    uint64_t len = tacit_load_u64(loader), hash[4];
    for (size_t i = 0; i < 4; i++)
        hash[i] = tacit_load_u64(loader);
    tacit_status status = tacit_loader_status(loader, err);
    if (!status)
        status = tacit_rows_continue(&r->rows, &r->folder, r->session, len, hash, err);
    if (!status)
        status = tacit_rows_load(&r->rows, loader, err);
    if (status)
        return status;
    status = rt->ops->load(rt, loader);
    tacit_status read = tacit_loader_status(loader, err);
    if (read)
        return read;
    return status ? tacit_fail(err, status, "\"%.300s/" TACIT_CHECKPOINT "\" cannot be resumed",
                               r->folder.path)
                  : TACIT_OK;
}

tacit_status tacit_run_resume(tacit_run *r, tacit_error *err)
{
    char *bytes = NULL;
    size_t len = 0;
    tacit_loader *loader = NULL;
    tacit_status status = tacit_folder_open(&r->folder, r->request->folder, err);
    if (status)
        return status;
    if ((status = tacit_folder_read(&r->folder, TACIT_CHECKPOINT, &bytes, &len, err)))
        goto out;
    if ((status = tacit_loader_create(&loader, (const uint8_t *)bytes, len, err)))
        goto out;
    status = read_checkpoint(r, loader, err);
out:
    if (loader)
        tacit_loader_free(loader);
    free(bytes);
    return status;
}
