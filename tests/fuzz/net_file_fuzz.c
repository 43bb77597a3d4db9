/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a model file: an error with words and nothing left behind, or a model whose file
 * they are, which predicts and has an ONNX form. The first byte decides whether the checksum is
 * made to fit, so that what comes after it is met, too.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "model/net.h"
#include "tacit/net_file.h"

enum { SEAL = 32, LARGE = 1 << 22 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

/* One record of zeros: scores, or an error because they are too large. */
static void predict(const tacit_net_model *m)
{
    float *x = calloc(tacit_net_inputs(m->net), sizeof *x);
    float *scores = calloc(tacit_net_classes(m->net), sizeof *scores);
    uint32_t best = 0;
    tacit_error err = {0};
    demand(x && scores);
    const tacit_status status = tacit_net_predict(m, 1, x, scores, &best, &err);
    demand(status == TACIT_OK ? best < tacit_net_classes(m->net)
                              : status == TACIT_EINPUT && err.text[0]);
    free(x);
    free(scores);
}

static void use(const tacit_net_file *f, const uint8_t *bytes, size_t len)
{
    uint8_t *again, *onnx;
    size_t again_len, onnx_len;
    tacit_error err = {0};
    demand(tacit_net_file_bytes(&again, &again_len, &f->model, &err) == TACIT_OK);
    demand(again_len == len && memcmp(again, bytes, len) == 0);
    free(again);
    demand(tacit_net_onnx(&onnx, &onnx_len, &f->model, &err) == TACIT_OK && onnx_len > 0);
    free(onnx);
    if (tacit_net_room_bytes(f->model.net) < LARGE)
        predict(&f->model);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    tacit_net_file f;
    tacit_error err = {0};
    if (len < 1)
        return 0;
    const size_t size = len - 1;
    uint8_t *copy = malloc(size + 1);
    demand(copy);
    memcpy(copy, bytes + 1, size);
    if (bytes[0] & 1 && size > SEAL)
        crypto_generichash(copy + size - SEAL, SEAL, copy, size - SEAL, NULL, 0);
    const tacit_status status = tacit_net_file_parse(&f, "fuzz", copy, size, &err);
    if (status == TACIT_OK)
        use(&f, copy, size);
    else
        demand((status == TACIT_EINPUT || status == TACIT_EVERIFY) && err.text[0] && !f.net &&
               !f.numbers && !f.text && !f.names);
    tacit_net_file_clear(&f);
    free(copy);
    return 0;
}
