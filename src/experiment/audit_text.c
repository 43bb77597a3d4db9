/* SPDX-License-Identifier: Apache-2.0 */
/* An audit as JSON (schema tacit.audit/1) and as a page. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/writer.h"
#include "report/page.h"
#include "tacit/canary.h"

#define BINS 48

bool tacit_audit_refutes(const tacit_audit *audit, const tacit_audit_facts *facts)
{
    return tacit_audit_shown(audit) > facts->claimed;
}

/* ---- histogram ---- */

typedef struct histogram {
    double with[BINS], without[BINS]; /* shares of the trials */
    double low, width;
    int bins;
} histogram;

static void widen(const double *score, const tacit_audit *a, double *low, double *high)
{
    for (uint64_t k = a->pilot; k < a->pilot + a->trials; k++)
        if (isfinite(score[k])) {
            *low = fmin(*low, score[k]);
            *high = fmax(*high, score[k]);
        }
}

static void fill(const double *score, const tacit_audit *a, const histogram *h, double *share)
{
    for (uint64_t k = a->pilot; k < a->pilot + a->trials; k++)
        if (isfinite(score[k])) {
            int bin = h->width > 0 ? (int)((score[k] - h->low) / h->width) : 0;
            share[bin < h->bins ? bin : h->bins - 1] += 1 / (double)a->trials;
        }
}

static void count_scores(histogram *h, const tacit_audit *a)
{
    double low = INFINITY, high = -INFINITY;
    *h = (histogram){0};
    widen(a->with, a, &low, &high);
    widen(a->without, a, &low, &high);
    if (!(low <= high))
        return;
    const double fitting = sqrt((double)a->trials);
    h->bins = !(high > low) ? 1 : fitting < BINS ? 2 + (int)fitting : BINS;
    h->low = low;
    h->width = (high - low) / h->bins;
    fill(a->with, a, h, h->with);
    fill(a->without, a, h, h->without);
}

/* ---- JSON ---- */

static const char *curve_name(tacit_audit_curve curve)
{
    return curve == TACIT_CURVE_GAUSSIAN ? "gaussian" : "laplace";
}

static void bound_json(tacit_json *json, const char *key, const tacit_audit_bound *bound,
                       tacit_audit_curve curve)
{
    if (isnan(bound->epsilon)) {
        tacit_json_null(json, key);
        return;
    }
    tacit_json_begin(json, key, '{');
    if (curve != TACIT_CURVE_NONE)
        tacit_json_text(json, "curve", curve_name(curve));
    tacit_json_real(json, "epsilon", bound->epsilon);
    tacit_json_real(json, "together", bound->together);
    tacit_json_real(json, "threshold", bound->threshold);
    tacit_json_text(json, "canary_if", bound->above ? "above" : "below");
    tacit_json_text(json, "method", tacit_audit_methods[bound->method]);
    tacit_json_count(json, "false_positives", bound->guesses.fp);
    tacit_json_count(json, "false_negatives", bound->guesses.fn);
    tacit_json_end(json, '}');
}

static void claim_json(tacit_json *json, const tacit_audit_facts *f)
{
    tacit_json_begin(json, "claim", '{');
    tacit_json_real(json, "epsilon", f->claimed);
    tacit_json_bool(json, "unbounded", isinf(f->claimed));
    tacit_json_real(json, "delta", f->delta);
    tacit_json_text(json, "adversary", tacit_trust_name(f->trust));
    tacit_json_text(json, "adversary_sees", tacit_trust_words(f->trust));
    tacit_json_text(json, "unit", tacit_unit_name(f->unit));
    tacit_json_text(json, "adjacency", tacit_adjacency_name(f->adjacency));
    tacit_json_text(json, "mechanism", tacit_mechanism_name(f->mechanism));
    tacit_json_count(json, "releases", f->releases);
    tacit_json_begin(json, "leaks", '[');
    for (size_t k = 0; k < f->leaks; k++)
        tacit_json_text(json, NULL, f->leak[k]);
    tacit_json_end(json, ']');
    if (f->keep)
        tacit_json_text(json, "keep", f->keep);
    tacit_json_end(json, '}');
}

static void subject_json(tacit_json *json, const tacit_audit_facts *f)
{
    tacit_json_text(json, "name", f->title);
    if (!f->protocol) {
        tacit_json_text(json, "broken", tacit_audit_breaks[f->broken]);
        return;
    }
    tacit_json_text(json, "protocol", f->protocol);
    tacit_json_count(json, "agent", f->agent);
    tacit_json_text(json, "agent_name", f->agent_name);
    tacit_json_count(json, "records", f->records);
    tacit_json_text(json, "canary", tacit_canary_kinds[f->canary]);
}

static void histogram_json(tacit_json *json, const tacit_audit *a)
{
    histogram h;
    count_scores(&h, a);
    tacit_json_begin(json, "histogram", '{');
    tacit_json_real(json, "low", h.low);
    tacit_json_real(json, "width", h.width);
    const struct {
        const char *key;
        const double *share;
    } both[] = {{"with", h.with}, {"without", h.without}};
    for (int s = 0; s < 2; s++) {
        tacit_json_begin(json, both[s].key, '[');
        for (int k = 0; k < h.bins; k++)
            tacit_json_count(json, NULL, (uint64_t)llround(both[s].share[k] * (double)a->trials));
        tacit_json_end(json, ']');
    }
    tacit_json_end(json, '}');
}

char *tacit_audit_json(const tacit_audit *a, const tacit_audit_facts *f)
{
    tacit_writer out = {0};
    tacit_json json = {.out = &out};
    tacit_json_begin(&json, NULL, '{');
    tacit_json_text(&json, "schema", "tacit.audit/1");
    tacit_json_text(&json, "of", f->protocol ? "experiment" : "mechanism");
    subject_json(&json, f);
    claim_json(&json, f);
    tacit_json_count(&json, "trials", a->trials);
    tacit_json_count(&json, "pilot", a->pilot);
    tacit_json_count(&json, "seed", f->seed);
    tacit_json_real(&json, "confidence", a->confidence);
    bound_json(&json, "clopper_pearson", &a->clopper_pearson, TACIT_CURVE_NONE);
    bound_json(&json, "trade_off", &a->trade_off, f->curve);
    tacit_json_real(&json, "shown", tacit_audit_shown(a));
    tacit_json_bool(&json, "refuted", tacit_audit_refutes(a, f));
    histogram_json(&json, a);
    tacit_json_end(&json, '}');
    return tacit_writer_take(&out);
}

/* ---- page ---- */

static void epsilon_words(char *out, size_t size, double epsilon)
{
    if (isinf(epsilon))
        snprintf(out, size, "unbounded");
    else
        snprintf(out, size, "%.4g", epsilon);
}

static void verdict(tacit_writer *out, const tacit_audit *a, const tacit_audit_facts *f)
{
    char text[300];
    if (tacit_audit_refutes(a, f))
        snprintf(text, sizeof text,
                 "The claim does not hold: epsilon is at least %.4g, with confidence %g %%, and "
                 "only %.4g was claimed.",
                 tacit_audit_shown(a), 100 * a->confidence, f->claimed);
    else
        snprintf(text, sizeof text,
                 "Nothing here contradicts the claim. That is no proof of it: an audit gives lower "
                 "bounds, and a better attack might give higher ones.");
    tacit_page_words(out, text, tacit_audit_refutes(a, f));
}

static void bound_row(tacit_writer *out, const char *label, const tacit_audit *a,
                      const tacit_audit_bound *b)
{
    char together[60] = "";
    if (isnan(b->epsilon))
        return;
    if (!isnan(a->trade_off.epsilon))
        snprintf(together, sizeof together, " (%.4g together with the other bound)", b->together);
    tacit_page_figure(out, label,
                      "epsilon at least %.4g%s: of %llu trials each, %llu false alarms and %llu "
                      "misses",
                      b->epsilon, together, (unsigned long long)a->trials,
                      (unsigned long long)b->guesses.fp, (unsigned long long)b->guesses.fn);
}

static void table(tacit_writer *out, const tacit_audit *a, const tacit_audit_facts *f)
{
    char epsilon[40];
    epsilon_words(epsilon, sizeof epsilon, f->claimed);
    tacit_page_table(out);
    tacit_page_figure(out, "Claimed", "epsilon %s at delta %g for one %s (adjacency %s)", epsilon,
                      tacit_rounded_up(f->delta), tacit_unit_name(f->unit),
                      tacit_adjacency_name(f->adjacency));
    tacit_page_figure(out, "Adversary", "\"%s\": sees %s", tacit_trust_name(f->trust),
                      tacit_trust_words(f->trust));
    tacit_page_figure(out, "Mechanism", "%s, %llu release%s in each trial",
                      tacit_mechanism_name(f->mechanism), (unsigned long long)f->releases,
                      f->releases == 1 ? "" : "s");
    if (f->protocol)
        tacit_page_figure(out, "Canary", "%s, among the %u records of agent %s (protocol %s)",
                          tacit_canary_kinds[f->canary], f->records, f->agent_name, f->protocol);
    else if (f->broken != TACIT_UNBROKEN)
        tacit_page_figure(out, "Broken on purpose", "%s", tacit_audit_breaks[f->broken]);
    tacit_page_figure(out, "Trials",
                      "%llu with the canary and as many without, after %llu + %llu "
                      "to choose thresholds on; confidence %g %%, seed %llu",
                      (unsigned long long)a->trials, (unsigned long long)a->pilot,
                      (unsigned long long)a->pilot, 100 * a->confidence,
                      (unsigned long long)f->seed);
    bound_row(out, "Clopper-Pearson", a, &a->clopper_pearson);
    bound_row(out, f->curve == TACIT_CURVE_LAPLACE ? "Laplace trade-off" : "Gaussian trade-off", a,
              &a->trade_off);
    for (size_t k = 0; k < f->leaks; k++)
        tacit_page_figure(out, k ? "" : "Leaks, uncharged", "%s", f->leak[k]);
    if (f->keep)
        tacit_page_figure(out, "Keep secret", "%s", f->keep);
    tacit_page_table_end(out);
}

/* The outline of a histogram, from the axis and back to it. */
typedef struct outline {
    double x[2 * BINS + 2], y[2 * BINS + 2], zero[2 * BINS + 2];
    size_t count;
} outline;

static void trace_outline(outline *out, const histogram *h, const double *share)
{
    const double width = h->width > 0 ? h->width : 1;
    *out = (outline){.count = 2 * (size_t)h->bins + 2};
    for (int k = 0; k < h->bins; k++) {
        out->x[2 * k + 1] = h->low + k * width;
        out->x[2 * k + 2] = h->low + (k + 1) * width;
        out->y[2 * k + 1] = out->y[2 * k + 2] = share[k];
    }
    out->x[0] = h->low;
    out->x[out->count - 1] = h->low + h->bins * width;
}

static void picture(tacit_writer *out, const tacit_audit *a)
{
    histogram h;
    outline with, without;
    char note[200];
    count_scores(&h, a);
    trace_outline(&with, &h, h.with);
    trace_outline(&without, &h, h.without);
    const tacit_audit_bound *b = isnan(a->trade_off.epsilon) ? &a->clopper_pearson : &a->trade_off;
    snprintf(note, sizeof note, "Share of the trials. The canary is said to be there %s %.4g.",
             b->above ? "above" : "below", b->threshold);
    const tacit_chart chart = {.title = "What the adversary sees",
                               .x_label = "score",
                               .y_label = "share of trials",
                               .note = note,
                               .series = 2,
                               .of = {{.name = "with the canary",
                                       .count = with.count,
                                       .x = with.x,
                                       .y = with.y,
                                       .low = with.zero,
                                       .high = with.y},
                                      {.name = "without",
                                       .count = without.count,
                                       .x = without.x,
                                       .y = without.y,
                                       .low = without.zero,
                                       .high = without.y}}};
    if (h.bins > 0)
        tacit_page_chart(out, &chart);
}

char *tacit_audit_page(const tacit_audit *a, const tacit_audit_facts *f)
{
    tacit_writer out = {0};
    char title[260];
    snprintf(title, sizeof title, "Audit of %s", f->title);
    tacit_page_open(&out, title, "what was claimed, and what trials with a canary show");
    if (tacit_audit_refutes(a, f))
        verdict(&out, a, f);
    table(&out, a, f);
    if (!tacit_audit_refutes(a, f))
        verdict(&out, a, f);
    picture(&out, a);
    tacit_page_words(&out,
                     "Each bound holds with the stated confidence; numbers in brackets hold "
                     "together with it. Scores are log-likelihood ratios: how much likelier "
                     "what was released is with the canary than without.",
                     false);
    tacit_page_close(&out);
    return tacit_writer_take(&out);
}
