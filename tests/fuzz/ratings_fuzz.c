/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a file of ratings: an error with words, or agents whose records hold only finite
 * numbers. The first byte chooses among the options; one bit takes everything up to an empty
 * line as a list of known users. If the last byte is odd, some users are public.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "data/ratings.h"
#include "data/shard.h"
#include "data/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void demand(bool holds)
{
    if (!holds)
        abort();
}

static void check_ratings(const tacit_ratings *r, const tacit_names *known)
{
    demand(r->count > 0 && r->items.count > 0 && r->users.count > 0);
    demand(known->count == 0 || r->users.count == known->count);
    for (size_t k = 0; k < r->count; k++) {
        const tacit_rating *a = &r->rating[k];
        demand(a->user < r->users.count && a->item < r->items.count && a->line > 0);
        demand(isfinite(a->value) && tacit_names_get(&r->users, r->user_name[a->user])[0]);
        demand(tacit_names_get(&r->items, r->item_name[a->item])[0]);
        demand(k == 0 || a[-1].user < a->user || (a[-1].user == a->user && a[-1].item < a->item));
    }
}

/* A list, an empty line, ratings. */
static void read_with_list(const char *text, size_t len)
{
    const char *gap = len ? memmem(text, len, "\n\n", 2) : NULL;
    size_t list = gap ? (size_t)(gap - text) : 0;
    tacit_names known;
    tacit_ratings r;
    tacit_error err = {0};
    if (tacit_ratings_known(&known, "list", text, list, &err)) {
        demand(err.text[0] && known.count == 0);
        return;
    }
    if (tacit_ratings_read(&r, &known, "fuzz", text + list, len - list, &err))
        demand(err.text[0] && !r.rating);
    else
        check_ratings(&r, &known);
    tacit_ratings_clear(&r);
    tacit_names_clear(&known);
}

static void check_source(const tacit_source *s)
{
    size_t features = tacit_dataset_features(s->data), rows = 0;
    uint32_t agents = tacit_dataset_agents(s->data);
    bool with = s->targets.dimension > 0;
    for (uint32_t i = 0; i < agents; i++) {
        demand(tacit_dataset_rows(s->data, i, TACIT_TRAIN) > 0);
        rows += tacit_dataset_rows(s->data, i, TACIT_TRAIN);
        for (uint64_t e = with ? s->targets.row[i] : 0; with && e < s->targets.row[i + 1]; e++)
            demand(s->targets.column[e] < s->targets.dimension && isfinite(s->targets.value[e]) &&
                   (e == s->targets.row[i] || s->targets.column[e - 1] < s->targets.column[e]));
        for (int split = 0; split < TACIT_SPLITS; split++) {
            tacit_batch b;
            const tacit_shard *shard = tacit_dataset_shard(s->data, i, (tacit_split)split);
            for (size_t cursor = 0; tacit_shard_next(shard, &cursor, &b);) {
                for (size_t k = 0; k < b.rows * features; k++)
                    demand(isfinite(((const float *)b.x)[k]));
                for (size_t k = 0; k < b.rows; k++)
                    demand(isfinite(((const float *)b.y)[k]));
            }
        }
    }
    demand(with ? s->targets.row[agents] == rows && s->targets_leak : s->leaks == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len == 0)
        return 0;
    uint8_t how = bytes[0];
    if (how & 128) {
        read_with_list((const char *)bytes + 1, len - 1);
        return 0;
    }
    tacit_data_options o = {.factors = 1 + how % 3, .als_sweeps = 2};
    o.als_lambda = how & 4 ? 0.1 : 1e-9;
    o.bias = how & 8;
    o.bound = (how & 16) != 0 ? TACIT_BOUND_L2 : TACIT_BOUND_NONE;
    o.profile = (how & 32) != 0;
    o.test_fraction = how & 64 ? 0.4 : 0;
    o.validation_fraction = how & 64 ? 0.3 : 0;
    if (bytes[len - 1] & 1) {
        o.features = 2; /* als-public */
        o.offset = bytes[len - 1] & 2 ? 3 : 4;
        o.profile = 3; /* none */
        o.public_users = 0.4;
        o.shrinkage = 1;
        o.whiten = bytes[len - 1] & 4;
        o.bias_scale = 1;
    }
    tacit_source s;
    tacit_error err = {0};
    tacit_status status =
        tacit_data_ratings(&s, &o, "fuzz", (const char *)bytes + 1, len - 1, TACIT_F32, 1, &err);
    demand(status ? !s.data && err.text[0] : s.data != NULL);
    if (!status)
        check_source(&s);
    tacit_source_clear(&s);
    return 0;
}
