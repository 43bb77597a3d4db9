/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PROTOCOL_H
#define TACIT_PROTOCOL_H
/*
 * A protocol is one const struct in one file of src/protocol/, and one line in
 * src/protocol/registry.c. See docs/adding-a-protocol.md.
 */
#include "tacit/env.h"

/* Checkpoints: numbers and vectors in, the same out. Shared vectors are written once and
 * shared again when loaded. Readers fail rather than trust a length. */
typedef struct tacit_saver tacit_saver;
typedef struct tacit_loader tacit_loader;
void tacit_save_u64(tacit_saver *saver, uint64_t value);
void tacit_save_f64(tacit_saver *saver, double value);
void tacit_save_public(tacit_saver *saver, const tacit_public *vector); /* NULL allowed */
void tacit_save_secret(tacit_saver *saver, const tacit_secret *vector); /* NULL allowed */
uint64_t tacit_load_u64(tacit_loader *loader);
double tacit_load_f64(tacit_loader *loader);
/* NULL where NULL was saved, or on failure: the runtime checks the loader at the end. */
tacit_public *tacit_load_public(tacit_loader *loader, const tacit_shape *shape);
tacit_secret *tacit_load_secret(tacit_loader *loader, const tacit_shape *shape);

/* What a protocol may know before agents exist. */
typedef struct tacit_setup {
    uint64_t agents;
    const tacit_model *model;
    size_t max_records;        /* largest m_i: simulator only, 0 on a node */
    const tacit_shard *pooled; /* all training data: trust `central` in the simulator only */
    const tacit_privacy_options *privacy;
} tacit_setup;

enum {                   /* tacit_protocol.flags */
       TACIT_WAKES = 1,  /* wants a Poisson clock */
       TACIT_CHATTY = 2, /* sends while handling messages, or uses timers or requests */
       TACIT_ORACLE = 4  /* needs pooled data: simulator only */
};

typedef struct tacit_protocol {
    const char *name;
    const char *summary; /* one lower-case line for --help */
    uint32_t wire_id;    /* never reused */
    tacit_trust trust;
    uint32_t flags;
    tacit_section options; /* section name "protocol"; struct size in .size */

    /* Once a run: check options against the setup; may fill `shared` (shared_size bytes,
     * zeroed, read-only afterwards). */
    size_t shared_size;
    tacit_status (*setup)(void *shared, const void *options, const tacit_setup *setup,
                          tacit_error *err);
    void (*teardown)(void *shared);

    /* Bytes of one agent's state; zeroed before TACIT_START. */
    size_t (*agent_size)(const void *shared, uint32_t neighbours);
    tacit_status (*on)(tacit_env *env, const void *shared, void *self, const tacit_event *event);
    void (*save)(const void *shared, const void *self, uint32_t neighbours, tacit_saver *saver);
    void (*load)(const void *shared, void *self, uint32_t neighbours, tacit_loader *loader);
    /* Drop every vector `self` holds. */
    void (*end)(tacit_env *env, const void *shared, void *self);
    /* The agent's current model, NULL if it has none yet (a zero model). */
    const tacit_secret *(*model)(const void *shared, const void *self);
    /* Optional: true if the protocol minimises Q (MATH section 1), and with which mu and
     * confidence c_i for an agent of `records` records. */
    bool (*coupling)(const void *shared, size_t records, double *mu, double *confidence);
} tacit_protocol;

/* All protocols, NULL-terminated; by name. */
extern const tacit_protocol *const tacit_protocols[];
const tacit_protocol *tacit_protocol_find(const char *name);

/* ---- a view: the latest message of each neighbour, by reference ---- */
typedef struct tacit_view {
    uint32_t count;
    const tacit_public *latest[]; /* NULL: nothing heard yet */
} tacit_view;
size_t tacit_view_size(uint32_t neighbours);
void tacit_view_put(tacit_env *env, tacit_view *view, uint32_t slot, const tacit_public *vector);
void tacit_view_end(tacit_env *env, tacit_view *view);
void tacit_view_save(const tacit_view *view, tacit_saver *saver);
void tacit_view_load(tacit_view *view, uint32_t neighbours, tacit_loader *loader,
                     const tacit_shape *shape);

#endif
