/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node with everything around it: the clock of the machine, real links, the status port. One
 * loop, one thread: take in what came, let time pass, answer who asks how it is, wait.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "net/link.h"
#include "runtime/node/http.h"
#include "runtime/node/node.h"
#include "runtime/node/words.h"

#define FRAMES_A_TURN 256      /* taken in before anything else gets its turn, */
#define LISTEN_FOR 0.1         /* or those of so many seconds: some make agents release */
#define LONGEST_WAIT 0.25      /* seconds, so that a stop is noticed */
#define LEAST_FRAME NODE_BATCH /* bytes: greetings, membership and batches must fit */
#define RATE_SLACK 4.0         /* times what is expected of honest peers */
#define TELL_EVERY 10.0        /* seconds between lines about frames above a peer's rate */
#define MOST_AT_ONCE 8192      /* frames to a peer */
#define PROBED 64              /* kinds and channels that are asked for their shapes */

typedef struct drive {
    tacit_link *link; /* NULL: closed */
    http_server *http;
    tacit_link_counts totals; /* of a link that was closed, */
    tacit_link_peer_counts *counts;
    size_t count;       /* and of so many peers */
    uint64_t over_rate; /* frames that were dropped so far, as far as it was told */
    double next_told;
} drive;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- what the core needs ---- */

static tacit_status io_send(void *ctx, const uint8_t key[TACIT_NODE_KEY], const void *head,
                            size_t head_len, const void *body, size_t body_len)
{
    drive *d = ctx;
    return d->link ? tacit_link_send(d->link, key, head, head_len, body, body_len, NULL) : TACIT_NO;
}

static void io_connect(void *ctx, const uint8_t key[TACIT_NODE_KEY], const char *endpoint)
{
    if (((drive *)ctx)->link)
        tacit_link_connect(((drive *)ctx)->link, key, endpoint, NULL);
}

static void io_meet(void *ctx, const uint8_t key[TACIT_NODE_KEY])
{
    if (((drive *)ctx)->link)
        tacit_link_meet(((drive *)ctx)->link, key, NULL);
}

/* For the summary. Where there is no memory for them they are told as nothing. */
static void copy_counts(drive *d)
{
    tacit_link_peer_counts c;
    size_t count = 0;
    while (tacit_link_peer(d->link, count, &c))
        count++;
    d->counts = calloc(count + 1, sizeof *d->counts);
    for (d->count = 0; d->counts && d->count < count; d->count++)
        tacit_link_peer(d->link, d->count, &d->counts[d->count]);
    d->totals = tacit_link_totals(d->link);
}

static void io_close(void *ctx)
{
    drive *d = ctx;
    copy_counts(d);
    tacit_link_free(d->link);
    d->link = NULL;
}

static bool counts_of(const drive *d, size_t k, tacit_link_peer_counts *c)
{
    if (d->link)
        return tacit_link_peer(d->link, k, c);
    if (k < d->count)
        *c = d->counts[k];
    return k < d->count;
}

/* ---- creating ---- */

/* The largest frame the protocol can send, as far as its first addresses tell. */
static size_t largest_frame(const tacit_node *n)
{
    const tacit_protocol *p = n->plan.protocol;
    const size_t greeting = node_greeting_room(n);
    size_t most = greeting > LEAST_FRAME ? greeting : LEAST_FRAME;
    for (uint32_t channel = 0; p->payload && channel < PROBED; channel++)
        for (uint32_t kind = 0; kind < PROBED; kind++) {
            const tacit_shape *shape = p->payload(n->shared, (tacit_address){channel, kind});
            size_t bytes;
            if (shape && tacit_wire_bound(&bytes, shape, NULL) == TACIT_OK &&
                bytes + TACIT_WIRE_HEADER > most)
                most = bytes + TACIT_WIRE_HEADER;
        }
    return most;
}

/* Whoever adds up for all tells each agent of a peer at once, maybe twice. */
static int least_queue(const tacit_node *n)
{
    uint32_t most = 0;
    for (uint32_t m = 0; n->flags & TACIT_EVERYBODY && m < n->plan.member_count; m++)
        most = n->plan.members[m].count > most ? n->plan.members[m].count : most;
    return (int)(2 * (most < MOST_AT_ONCE ? most : MOST_AT_ONCE));
}

static tacit_status open_link(tacit_node *n, drive *d, tacit_error *err)
{
    const tacit_node_options *o = n->plan.options;
    const tacit_node_member *self = &n->plan.members[n->plan.self];
    tacit_link_options link;
    tacit_link_defaults(&link);
    link.listen = o->listen[0] ? o->listen : self->endpoint;
    link.frame_max = o->frame > 0 ? (size_t)o->frame : largest_frame(n);
    link.queue = o->queue > least_queue(n) ? (int)o->queue : least_queue(n);
    /* Every tick of an agent is a frame for each pair of agents: what all of a peer's can honestly
     * send, a few times over, is no flood. */
    const double pairs = (double)node_pairs(n);
    link.rate = fmax(o->rate, RATE_SLACK * pairs / n->plan.consortium->unit);
    link.burst = fmax(fmax(o->burst, RATE_SLACK * pairs), link.rate);
    link.open = o->open;
    const size_t least = node_greeting_room(n) > LEAST_FRAME ? node_greeting_room(n) : LEAST_FRAME;
    if (link.frame_max < least)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"node.frame\" is %zu, but greetings and batches of messages may need "
                          "%zu bytes; leave it at 0",
                          link.frame_max, least);
    if (!link.listen[0])
        return tacit_fail(err, TACIT_EINPUT,
                          "\"%s\" has no endpoint in the list of members: say where to listen by "
                          "\"node.listen\"",
                          self->name);
    tacit_status status = tacit_link_create(&d->link, n->plan.identity, &link, err);
    for (uint32_t k = 0; k < n->plan.member_count && status == TACIT_OK; k++)
        if (k != n->plan.self)
            status = tacit_link_allow(d->link, n->plan.members[k].key, err);
    return status;
}

/* Where others reach us: as told, else as listed, else where we listen. */
static void settle_endpoint(tacit_node *n, const drive *d)
{
    node_peer *self = node_peer_by_key(n, n->plan.identity->public_key);
    const char *told = n->plan.options->advertise;
    const char *endpoint = told[0]             ? told
                           : self->endpoint[0] ? self->endpoint
                                               : tacit_link_endpoint(d->link);
    if (endpoint != self->endpoint && strlen(endpoint) < sizeof self->endpoint)
        memcpy(self->endpoint, endpoint, strlen(endpoint) + 1);
}

tacit_status tacit_node_create(tacit_node **out, const tacit_node_plan *plan, tacit_error *err)
{
    drive *d = calloc(1, sizeof *d);
    *out = NULL;
    if (!d)
        return tacit_out_of_memory(err);
    const node_io io = {
        .ctx = d, .send = io_send, .connect = io_connect, .meet = io_meet, .close = io_close};
    tacit_node *n = NULL;
    tacit_status status = node_create(&n, plan, &io, seconds(), err);
    if (status != TACIT_OK) {
        free(d);
        return status;
    }
    n->drive = d;
    status = open_link(n, d, err);
    if (status == TACIT_OK) {
        settle_endpoint(n, d);
        status = node_gossip_init(n, err);
    }
    if (status == TACIT_OK && plan->options->status[0])
        status = http_create(&d->http, plan->options->status, err);
    if (status != TACIT_OK) {
        tacit_node_destroy(n);
        return status;
    }
    *out = n;
    return TACIT_OK;
}

void tacit_node_destroy(tacit_node *n)
{
    if (!n)
        return;
    drive *d = n->drive;
    node_destroy(n);
    if (d) {
        tacit_link_free(d->link);
        http_free(d->http);
        free(d->counts);
    }
    free(d);
}

uint16_t tacit_node_status_port(const tacit_node *n)
{
    const drive *d = n->drive;
    return d->http ? http_port(d->http) : 0;
}

/* ---- how it is ---- */

static void add_counts(const drive *d, tacit_node_status *out)
{
    const tacit_link_counts totals = d->link ? tacit_link_totals(d->link) : d->totals;
    tacit_link_peer_counts c;
    out->handshakes = totals.accepted;
    out->handshakes_refused = totals.refused;
    out->input_waiting = totals.waiting;
    for (size_t k = 0; counts_of(d, k, &c); k++)
        for (uint32_t j = 0; j < out->peer_count; j++) {
            tacit_node_peer_row *row = &out->peers[j];
            if (!c.known || memcmp(row->key, c.key, sizeof c.key) != 0)
                continue;
            row->frames_in = c.frames_in;
            row->bytes_in = c.bytes_in;
            row->frames_out = c.frames_out;
            row->bytes_out = c.bytes_out;
            row->over_rate = c.over_rate;
            row->queue_full = c.queue_full;
        }
}

tacit_status tacit_node_look(const tacit_node *n, tacit_node_status *out, tacit_error *err)
{
    tacit_status status = node_look(n, out, err);
    if (status == TACIT_OK)
        add_counts(n->drive, out);
    return status;
}

static int answer(void *ctx, const char *path, tacit_writer *body, const char **type)
{
    tacit_node_status status;
    if (tacit_node_look(ctx, &status, NULL) != TACIT_OK)
        return 500;
    const int code = node_words_page(&status, path, body, type);
    tacit_node_status_clear(&status);
    return code;
}

/* ---- the loop ---- */

/* Messages count towards a peer's rate, however many travel in one frame. */
static void charge_batch(drive *d, const tacit_frame *frame)
{
    tacit_wire_header h;
    const uint8_t *payload;
    uint32_t count;
    if (frame->known && tacit_wire_open(&h, &payload, frame->bytes, frame->len, NULL) == TACIT_OK &&
        h.kind == TACIT_WIRE_BATCH && tacit_wire_check_batch(&h, payload, &count, NULL) == TACIT_OK)
        tacit_link_charge(d->link, frame->from, count - 1.0);
}

static void take_in(tacit_node *n, drive *d)
{
    const double begin = seconds();
    double now = begin;
    for (int k = 0; k < FRAMES_A_TURN && now - begin < LISTEN_FOR; k++, now = seconds()) {
        tacit_frame frame;
        if (tacit_link_receive(d->link, now, &frame, NULL) != TACIT_OK)
            return;
        node_receive(n, frame.from, frame.known, frame.bytes, frame.len, now);
        charge_batch(d, &frame);
        tacit_frame_free(&frame);
    }
}

/* Frames above a peer's rate were dropped: somebody floods us, or the rate is too low. */
static void tell_drops(const tacit_node *n, drive *d, double now)
{
    tacit_link_peer_counts c;
    uint64_t sum = 0;
    if (now < d->next_told)
        return;
    d->next_told = now + TELL_EVERY;
    for (size_t k = 0; counts_of(d, k, &c); k++)
        sum += c.over_rate;
    if (sum == d->over_rate)
        return;
    log_fields f;
    log_begin(&f);
    log_u64(&f, "frames", sum - d->over_rate);
    node_note(n, TACIT_LOG_WARN, "over_rate", &f);
    d->over_rate = sum;
}

static void wait(const tacit_node *n, drive *d)
{
    int fds[HTTP_FDS];
    bool readable[HTTP_FDS];
    const size_t count = d->http ? http_fds(d->http, fds, HTTP_FDS) : 0;
    const double rest = fmin(node_next(n) - seconds(), LONGEST_WAIT);
    tacit_link_wait(d->link, fmax(rest, 0), fds, count, readable);
}

tacit_status tacit_node_run(tacit_node *n, const tacit_stop *stop, tacit_error *err)
{
    drive *d = n->drive;
    while (n->phase != NODE_ENDED && n->status == TACIT_OK && !(stop && *stop)) {
        take_in(n, d);
        node_advance(n, seconds());
        tell_drops(n, d, n->now);
        if (d->http)
            http_serve(d->http, seconds(), answer, n);
        if (n->phase != NODE_ENDED && n->status == TACIT_OK)
            wait(n, d);
    }
    if (n->status != TACIT_OK) {
        if (err)
            *err = n->failure;
        return n->status;
    }
    if (n->phase == NODE_ENDED)
        return TACIT_OK;
    node_leave(n);
    if (node_store_mute(n->store))
        return tacit_fail(err, TACIT_EINPUT,
                          "stopped while the disk took no more: what was computed last is neither "
                          "paid for nor kept; make room and start the node again");
    return tacit_fail(err, TACIT_EINTERRUPTED, "stopped; what was done is saved");
}
