/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Envelopes: docs/wire.md, "The header". Every field has its place, every byte is looked at,
 * and there is one way to write a header, so that read and write are each other's inverse.
 */
#include "net/wire.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "net/bits.h"

static const uint8_t magic[4] = {'T', 'A', 'C', 'W'};

/* Where the fields are. Magic, version, kind and the two zero bytes keep their places for ever. */
enum {
    AT_VERSION = 4,
    AT_KIND = 5,
    AT_ZERO = 6,
    AT_RUN = 8,
    AT_PROTOCOL = 24,
    AT_PAYLOAD = 28,
    AT_FROM = 32,
    AT_TO = 40,
    AT_INCARNATION = 48,
    AT_SEQUENCE = 56,
    AT_RELEASES = 64,
    AT_REQUEST = 72,
    AT_CHANNEL = 80,
    AT_ADDRESS = 84,
    AT_MARK = 88
};

/* What is wrong with a header, or NULL; the same for our own and for others'. */
static const char *wrong(const tacit_wire_header *h)
{
    if (h->kind < TACIT_WIRE_MESSAGE || h->kind > TACIT_WIRE_BATCH)
        return "its kind is unknown";
    if (h->kind > TACIT_WIRE_REPLY)
        return h->mark.releases ? "it is from node to node and has the mark of an agent" : NULL;
    if (h->from == TACIT_NOBODY || h->to == TACIT_NOBODY)
        return "it names no agent as sender or receiver";
    if (h->sequence == 0)
        return "its sequence number is 0, and they start at 1";
    if (h->kind == TACIT_WIRE_MESSAGE && h->request != 0)
        return "it is a message and has the number of a request";
    return NULL;
}

void tacit_wire_write(uint8_t out[TACIT_WIRE_HEADER], const tacit_wire_header *h)
{
    assert(!wrong(h));
    memcpy(out, magic, sizeof magic);
    out[AT_VERSION] = TACIT_WIRE_VERSION;
    out[AT_KIND] = (uint8_t)h->kind;
    out[AT_ZERO] = out[AT_ZERO + 1] = 0;
    memcpy(out + AT_RUN, h->run, TACIT_WIRE_RUN);
    tacit_put_u32(out + AT_PROTOCOL, h->protocol);
    tacit_put_u32(out + AT_PAYLOAD, h->payload);
    tacit_put_u64(out + AT_FROM, h->from);
    tacit_put_u64(out + AT_TO, h->to);
    tacit_put_u64(out + AT_INCARNATION, h->incarnation);
    tacit_put_u64(out + AT_SEQUENCE, h->sequence);
    tacit_put_u64(out + AT_RELEASES, h->releases);
    tacit_put_u64(out + AT_REQUEST, h->request);
    tacit_put_u32(out + AT_CHANNEL, h->at.channel);
    tacit_put_u32(out + AT_ADDRESS, h->at.kind);
    tacit_mark_write(out + AT_MARK, &h->mark);
}

bool tacit_wire_peek(const uint8_t *bytes, size_t len, uint8_t *version, uint8_t *kind)
{
    if (len < TACIT_WIRE_PREFIX || memcmp(bytes, magic, sizeof magic) != 0 ||
        bytes[AT_VERSION] == 0 || bytes[AT_ZERO] != 0 || bytes[AT_ZERO + 1] != 0)
        return false;
    *version = bytes[AT_VERSION];
    *kind = bytes[AT_KIND];
    return true;
}

static tacit_wire_header fields(const uint8_t *bytes)
{
    tacit_wire_header h = {
        .kind = (tacit_wire_kind)bytes[AT_KIND],
        .protocol = tacit_get_u32(bytes + AT_PROTOCOL),
        .from = tacit_get_u64(bytes + AT_FROM),
        .to = tacit_get_u64(bytes + AT_TO),
        .incarnation = tacit_get_u64(bytes + AT_INCARNATION),
        .sequence = tacit_get_u64(bytes + AT_SEQUENCE),
        .releases = tacit_get_u64(bytes + AT_RELEASES),
        .request = tacit_get_u64(bytes + AT_REQUEST),
        .at = {tacit_get_u32(bytes + AT_CHANNEL), tacit_get_u32(bytes + AT_ADDRESS)},
        .payload = tacit_get_u32(bytes + AT_PAYLOAD),
    };
    memcpy(h.run, bytes + AT_RUN, TACIT_WIRE_RUN);
    return h;
}

uint32_t tacit_wire_payload(const uint8_t header[TACIT_WIRE_HEADER])
{
    return tacit_get_u32(header + AT_PAYLOAD);
}

/* Is it ours, and our version? */
static tacit_status check_prefix(const uint8_t *bytes, size_t len, tacit_error *err)
{
    uint8_t version, kind;
    if (!tacit_wire_peek(bytes, len, &version, &kind))
        return tacit_fail(err, TACIT_EINPUT, "what came is no frame of tacit's");
    if (version != TACIT_WIRE_VERSION)
        return tacit_fail(err, TACIT_EPEER,
                          "the peer speaks version %u of the wire format and this node version %u; "
                          "install the same release on both",
                          version, TACIT_WIRE_VERSION);
    return TACIT_OK;
}

tacit_status tacit_wire_read(tacit_wire_header *out, const uint8_t *bytes, size_t len,
                             size_t payload, tacit_error *err)
{
    tacit_status status = check_prefix(bytes, len, err);
    if (status)
        return status;
    if (len != TACIT_WIRE_HEADER)
        return tacit_fail(err, TACIT_EINPUT, "a header has %zu bytes instead of %d", len,
                          TACIT_WIRE_HEADER);
    tacit_wire_header h = fields(bytes);
    if (!tacit_mark_read(&h.mark, bytes + AT_MARK))
        return tacit_fail(err, TACIT_EINPUT, "a frame is refused: its mark tells of no release");
    if (h.payload != payload)
        return tacit_fail(err, TACIT_EINPUT,
                          "a header announces %" PRIu32 " bytes of payload, and %zu came",
                          h.payload, payload);
    const char *why = wrong(&h);
    if (why)
        return tacit_fail(err, TACIT_EINPUT, "a frame is refused: %s", why);
    *out = h;
    return TACIT_OK;
}

tacit_status tacit_wire_open(tacit_wire_header *out, const uint8_t **payload, const uint8_t *bytes,
                             size_t len, tacit_error *err)
{
    size_t head = len < TACIT_WIRE_HEADER ? len : TACIT_WIRE_HEADER;
    tacit_status status = tacit_wire_read(out, bytes, head, len - head, err);
    if (!status)
        *payload = bytes + head;
    return status;
}

/* ---- batches ---- */

bool tacit_wire_next(const tacit_wire_header *batch, const uint8_t *payload, size_t *at,
                     const uint8_t **frame, size_t *len)
{
    if (batch->payload - *at < TACIT_WIRE_HEADER)
        return false;
    const size_t rest = batch->payload - *at - TACIT_WIRE_HEADER;
    const uint32_t inside = tacit_wire_payload(payload + *at);
    if (inside > rest)
        return false;
    *frame = payload + *at;
    *len = TACIT_WIRE_HEADER + inside;
    *at += *len;
    return true;
}

tacit_status tacit_wire_check_batch(const tacit_wire_header *batch, const uint8_t *payload,
                                    uint32_t *count, tacit_error *err)
{
    size_t at = 0, len;
    const uint8_t *frame, *inside;
    uint32_t frames = 0;
    while (frames < TACIT_WIRE_TOGETHER && tacit_wire_next(batch, payload, &at, &frame, &len)) {
        tacit_wire_header h;
        tacit_error why = {0};
        if (tacit_wire_open(&h, &inside, frame, len, &why) != TACIT_OK)
            return tacit_fail(err, TACIT_EINPUT, "frame %" PRIu32 " of a batch: %.200s", frames + 1,
                              why.text);
        if (h.kind > TACIT_WIRE_REPLY)
            return tacit_fail(err, TACIT_EINPUT,
                              "frame %" PRIu32 " of a batch is not between agents", frames + 1);
        if (memcmp(h.run, batch->run, sizeof h.run) != 0 || h.protocol != batch->protocol)
            return tacit_fail(err, TACIT_EINPUT,
                              "frame %" PRIu32 " of a batch is of another run than the batch",
                              frames + 1);
        frames++;
    }
    if (at != batch->payload)
        return tacit_fail(err, TACIT_EINPUT,
                          "a batch has %zu bytes behind its last frame, or more than %d frames",
                          batch->payload - at, TACIT_WIRE_TOGETHER);
    if (frames < 2)
        return tacit_fail(err, TACIT_EINPUT, "a batch of %" PRIu32 " frames; 2 are the least",
                          frames);
    if (count)
        *count = frames;
    return TACIT_OK;
}
