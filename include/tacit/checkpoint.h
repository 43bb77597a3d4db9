/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_CHECKPOINT_H
#define TACIT_CHECKPOINT_H
/*
 * Checkpoints: numbers and vectors in, the same out. A vector that many hold is written
 * once and shared again when loaded. The bytes carry a checksum; a loader fails rather than
 * trust a length, and once it failed it only hands out zeros and NULL.
 */
#include "tacit/vector.h"

typedef struct tacit_saver tacit_saver;
typedef struct tacit_loader tacit_loader;

tacit_saver *tacit_saver_create(void);
/* One that hands its bytes on as it goes, piece by piece; false from the sink ends it. */
typedef bool tacit_save_sink(void *ctx, const void *bytes, size_t len);
tacit_saver *tacit_saver_create_to(tacit_save_sink *sink, void *ctx);
void tacit_save_u64(tacit_saver *saver, uint64_t value);
void tacit_save_f64(tacit_saver *saver, double value);
void tacit_save_bytes(tacit_saver *saver, const void *bytes, size_t len);
void tacit_save_public(tacit_saver *saver, const tacit_public *vector); /* NULL allowed */
void tacit_save_secret(tacit_saver *saver, const tacit_secret *vector); /* NULL allowed */
/* The finished bytes (magic and BLAKE2b checksum included); owned by the saver. With a sink
 * the rest goes there, and both pointers may be NULL. */
tacit_status tacit_saver_finish(tacit_saver *saver, const uint8_t **bytes, size_t *len,
                                tacit_error *err);
void tacit_saver_free(tacit_saver *saver);

/* `bytes` must outlive the loader. Refuses (TACIT_EVERIFY) what was cut or edited. */
tacit_status tacit_loader_create(tacit_loader **out, const uint8_t *bytes, size_t len,
                                 tacit_error *err);
uint64_t tacit_load_u64(tacit_loader *loader);
double tacit_load_f64(tacit_loader *loader);
void tacit_load_bytes(tacit_loader *loader, void *out, size_t len);
/* NULL where NULL was saved, or on failure. */
tacit_public *tacit_load_public(tacit_loader *loader, const tacit_shape *shape);
tacit_secret *tacit_load_secret(tacit_loader *loader, const tacit_shape *shape);
/* Make the loader fail: something it handed out makes no sense. */
void tacit_loader_refuse(tacit_loader *loader, const char *why);
tacit_status tacit_loader_status(const tacit_loader *loader, tacit_error *err);
void tacit_loader_free(tacit_loader *loader);

#endif
