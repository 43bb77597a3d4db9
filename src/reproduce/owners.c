/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of the protocol learner for the figures of paper 002.
 *
 * Nothing is tuned on what is shown: three rules, tried on drawn records. Features are
 * standardised, reduced to components and whitened by public records, labels standardised by them.
 * So, as far as public records are like the private ones,
 *
 *   range  every weight of the best model is a correlation: |theta|_inf <= 1.
 *   clip   a gradient 2 (theta x - y) x at zero has, were records normal, the mean l1 norm
 *          2 (2/pi) p: C = 1.27 p. One clip for all sets and budgets.
 *   step   the Hessian of the loss is 2 I. An iteration gives one of N + 1 models the step eta
 *          (alpha = eta sigma), so what is left of the start after T of them is about
 *          exp(-2 eta T / (N + 1)): eta = 7 (N + 1) / (2 T) leaves a thousandth. Clipping slows it
 *          down: half of that step was too short on drawn records.
 *
 * A run is looked at after given iterations: time goes on in small steps until the releases there
 * were (one an iteration: no answer is lost in mode request) have reached them.
 */
#include "reproduce/owners.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiment/fitness.h"

#define LEFT 7.0          /* logarithm of what is left of the start at the end */
#define FARTHEST 0.5      /* eta at most: half of what would turn 2 I around */
#define MOST_TIME 3.0     /* times the expected time: then owners' budgets are spent */
#define ASKED 20          /* owners who also learn alone, at most */
#define STEPS_A_LOOK 0.25 /* of an iteration's expected time */

const char *const owners_splits[OWNERS_SPLITS] = {"cap T_i", "the paper's split over T"};

#define DRUGS                                                                               \
    "metformin,repaglinide,nateglinide,chlorpropamide,glimepiride,acetohexamide,glipizide," \
    "glyburide,tolbutamide,pioglitazone,rosiglitazone,acarbose,miglitol,troglitazone,"      \
    "tolazamide,examide,citoglipton,insulin,glyburide-metformin,glipizide-metformin,"       \
    "glimepiride-pioglitazone,metformin-rosiglitazone,metformin-pioglitazone"

const owners_set owners_sets[OWNERS_SETS] = {
    [OWNERS_LENDING] =
        {"lending", "Lending Club: interest rate", "lending-club/loans_full_schema.csv.xz",
         "  source: csv\n"
         "  path: lending-club/loans_full_schema.csv.xz\n"
         "  label-column: interest_rate\n"
         "  ignore: emp_title, annual_income_joint, verification_income_joint, "
         "debt_to_income_joint, installment, issue_month, loan_status, balance, paid_total, "
         "paid_principal, paid_interest, paid_late_fees\n"
         "  ordinal: \"state=AK|AL|AR|AZ|CA|CO|CT|DC|DE|FL|GA|HI|ID|IL|IN|KS|KY|LA|MA|MD|ME|MI|MN|"
         "MO|MS|MT|NC|ND|NE|NH|NJ|NM|NV|NY|OH|OK|OR|PA|RI|SC|SD|TN|TX|UT|VA|VT|WA|WI|WV|WY; "
         "homeownership=RENT|MORTGAGE|OWN; "
         "verified_income=Not Verified|Source Verified|Verified; "
         "loan_purpose=car|credit_card|debt_consolidation|home_improvement|house|major_purchase|"
         "medical|moving|other|renewable_energy|small_business|vacation; "
         "application_type=individual|joint; grade=A|B|C|D|E|F|G; "
         "sub_grade=A1|A2|A3|A4|A5|B1|B2|B3|B4|B5|C1|C2|C3|C4|C5|D1|D2|D3|D4|D5|E1|E2|E3|E4|E5|F1|"
         "F2|F3|F4|F5|G1|G2|G3|G4|G5; initial_listing_status=whole|fractional; "
         "disbursement_method=Cash|DirectPay\"\n"
         "  missing: NA\n"
         "  missing-rule: public\n"
         "  components: 10\n",
         9000, 11, 1, 1},
    [OWNERS_DIABETES] =
        {"diabetes", "Diabetes 130: days in hospital", "diabetes130/diabetic_data.csv.xz",
         "  source: csv\n"
         "  path: diabetes130/diabetic_data.csv.xz\n"
         "  label-column: time_in_hospital\n"
         "  ignore: encounter_id, patient_nbr, weight, payer_code, medical_specialty, diag_1, "
         "diag_2, diag_3, discharge_disposition_id, readmitted\n"
         "  ordinal: \"race=Caucasian|AfricanAmerican|Hispanic|Asian|Other; "
         "gender=Female|Male|Unknown/Invalid; age=[0-10)|[10-20)|[20-30)|[30-40)|[40-50)|[50-60)|"
         "[60-70)|[70-80)|[80-90)|[90-100); max_glu_serum=None|Norm|>200|>300; "
         "A1Cresult=None|Norm|>7|>8; " DRUGS "=No|Down|Steady|Up; change=No|Ch; "
         "diabetesMed=No|Yes\"\n"
         "  missing-rule: public\n"
         "  components: 10\n"
         "  shuffle: true\n",
         100766, 11, 1, 1},
    [OWNERS_HOUSING] = {"housing", "California housing: value of a house",
                        "california-housing/cal_housing.data",
                        "  source: csv\n"
                        "  path: california-housing/cal_housing.data\n"
                        "  header: false\n"
                        "  label-column: \"9\"\n"
                        "  components: 8\n"
                        "  shuffle: true\n",
                        19640, 9, 1, 1},
    [OWNERS_DRAWN] = {"drawn", "drawn records: one target, normal features", NULL,
                      "  source: regression\n"
                      "  dimension: 6\n"
                      "  variance: 1\n"
                      "  noise-variance: 0.5\n"
                      "  noise-spread: 0\n"
                      "  test-records: 0\n"
                      "  validation-records: 0\n",
                      1000000, 6, 2.55, 4},
};

double owners_step(uint32_t owners, uint32_t iterations)
{
    return 2 * OWNERS_LAMBDA * fmin(LEFT * (owners + 1.0) / (2.0 * iterations), FARTHEST);
}

double owners_clip(const owners_set *set)
{
    return 4 / acos(-1) * set->parameters * set->deviation;
}

bool owners_has(const tacit_reproduce_request *request, int set)
{
    char path[2 * TACIT_TEXT_MAX];
    if (!owners_sets[set].file)
        return true;
    if (!request->data || !*request->data)
        return false;
    snprintf(path, sizeof path, "%s/%s", request->data, owners_sets[set].file);
    return access(path, R_OK) == 0;
}

size_t owners_times(double *at, size_t points, uint32_t most)
{
    size_t count = 0;
    for (size_t k = 0; k < points; k++) {
        double next = round(pow(most, (double)k / (double)(points - 1)));
        if (count == 0 || next > at[count - 1])
            at[count++] = next;
    }
    return count;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double owners_percentile(double *value, size_t n, double share)
{
    qsort(value, n, sizeof *value, by_size);
    double at = share * (double)(n - 1);
    size_t k = (size_t)at;
    return k + 1 < n ? value[k] + (at - (double)k) * (value[k + 1] - value[k]) : value[n - 1];
}

/* ---- one run ---- */

static tacit_status configure(tacit_config *config, const owners_run *r, const char *folder,
                              tacit_error *err)
{
    const owners_set *set = &owners_sets[r->set];
    const bool table = set->file != NULL;
    char sizes[400], yaml[4000];
    if (table)
        snprintf(
            sizes, sizeof sizes,
            "  folder: \"%s\"\n  public: %d\n  records: %llu\n  standardise: public\n"
            "  cut: 3\n  standardise-labels: true\n  whiten: true\n  bias: true\n  partition: iid\n"
            "  test-fraction: 0\n",
            folder, OWNERS_PUBLIC, (unsigned long long)r->owners * r->records);
    else
        snprintf(sizes, sizeof sizes, "  min-records: %u\n  max-records: %u\n", r->records,
                 r->records);
    int len = snprintf(yaml, sizeof yaml,
                       "run: {seed: %lld, time: %.17g, every: 0}\n"
                       "model: {loss: squared, lambda: %.17g, scalar: f64}\n"
                       "graph: {kind: star}\n"
                       "privacy: {mechanism: laplace, epsilon: %.17g, delta: 0, clip: %.17g, "
                       "accountant: sum}\n"
                       "protocol: {name: learner, iterations: %u, step: %.17g, range: %.17g, "
                       "split: %s}\n"
                       "data:\n%s%s  without: 1\n  agents: %u\n",
                       (long long)r->seed, MOST_TIME * r->iterations / r->owners, OWNERS_LAMBDA,
                       r->epsilon, owners_clip(set), r->iterations,
                       owners_step(r->owners, r->iterations), set->range,
                       r->split == OWNERS_CAP ? "cap" : "horizon", set->data, sizes, r->owners + 1);
    if (len < 0 || (size_t)len >= sizeof yaml)
        return tacit_fail(err, TACIT_EINTERNAL, "the settings of a figure are too long");
    return tacit_config_parse(config, "paper 002", yaml, (size_t)len, err);
}

/* On in small steps, until `iterations` are made or time is over. */
static tacit_status go_to(owners_run *r, tacit_runtime *rt, double iterations,
                          const tacit_stop *stop, tacit_error *err)
{
    const double each = STEPS_A_LOOK / r->owners, end = MOST_TIME * r->iterations / r->owners;
    while ((double)rt->ops->traffic(rt).releases < iterations && rt->ops->now(rt) < end) {
        tacit_status status = rt->ops->run(rt, fmin(rt->ops->now(rt) + each, end), stop, err);
        if (status)
            return status;
    }
    return TACIT_OK;
}

/* What the ledgers say: the noise that was paid for, and how often. */
static void read_ledgers(owners_run *r, tacit_session *session)
{
    tacit_runtime *rt = tacit_session_runtime(session);
    for (uint32_t k = 1; k <= r->owners; k++) {
        const tacit_ledger *ledger = rt->ops->agent_ledger(rt, k);
        r->answers = fmax(r->answers, (double)tacit_ledger_releases(ledger));
        if (ledger->count > 0)
            r->scale = ledger->entries[0].cost->noise / r->records; /* of a sum there */
    }
    r->made = (double)rt->ops->traffic(rt).releases;
    r->spent = tacit_session_epsilon(session);
}

/* The median over owners: one with a wild record among its few is worse off than most. */
static tacit_status learn_alone(owners_run *r, const tacit_fitness *fitness, tacit_error *err)
{
    double psi[ASKED] = {0};
    size_t count = 0;
    tacit_status status = TACIT_OK;
    for (uint32_t k = 1; k <= r->owners && count < ASKED && !status; k++)
        status = tacit_fitness_alone(fitness, k, &psi[count++], err);
    r->alone = owners_percentile(psi, count, 0.5);
    return status;
}

static tacit_status follow(owners_run *r, tacit_session *session, const tacit_stop *stop,
                           tacit_error *err)
{
    tacit_runtime *rt = tacit_session_runtime(session);
    tacit_fitness fitness;
    tacit_status status = tacit_fitness_open(&fitness, session, err);
    if (status)
        return status;
    r->least = fitness.least;
    r->zero = tacit_fitness_now(&fitness, 0);
    status = learn_alone(r, &fitness, err);
    for (size_t k = 0; k < r->points && !status; k++) {
        status = go_to(r, rt, r->at[k], stop, err);
        r->psi[k] = tacit_fitness_now(&fitness, 0);
    }
    if (!status)
        status = go_to(r, rt, r->iterations, stop, err);
    r->last = tacit_fitness_now(&fitness, 0);
    tacit_fitness_close(&fitness);
    if (!status)
        read_ledgers(r, session);
    return status;
}

static tacit_status perform(owners_run *r, const tacit_reproduce_request *request, tacit_error *err)
{
    tacit_config config;
    tacit_experiment experiment = {0};
    tacit_session *session = NULL;
    tacit_config_init(&config);
    tacit_status status = configure(&config, r, request->data ? request->data : "", err);
    if (!status)
        status = tacit_experiment_init(&experiment, &config, err);
    if (!status)
        status = tacit_session_create(&session, &experiment, 1, err);
    if (!status)
        status = follow(r, session, request->stop, err);
    tacit_session_free(session);
    tacit_experiment_clear(&experiment);
    tacit_config_clear(&config);
    return status;
}

/* ---- all of them ---- */

typedef struct batch {
    owners_run *runs;
    const tacit_reproduce_request *request;
} batch;

/* What a run costs, about: reading its set, and gradients of an owner's records. */
static double effort(const owners_run *r)
{
    const owners_set *set = &owners_sets[r->set];
    return 10.0 * set->records * (set->file != NULL) + (double)r->iterations * r->records;
}

static tacit_status run_piece(void *ctx, size_t k, const figure_worker *worker, tacit_error *err)
{
    const batch *b = ctx;
    tacit_status status = perform(&b->runs[k], b->request, err);
    return status ? status : figure_done(worker, effort(&b->runs[k]));
}

tacit_status owners_perform(owners_run *runs, size_t count, const tacit_reproduce_request *request,
                            tacit_error *err)
{
    batch b = {.runs = runs, .request = request};
    figure_work work = {.request = request};
    for (size_t k = 0; k < count; k++)
        work.total += effort(&runs[k]);
    return figure_run(&work, count, run_piece, &b, err);
}

/* ---- numbers over runs ---- */

tacit_interval owners_mean(const owners_run *runs, size_t count)
{
    double *value = calloc(count + 1, sizeof *value);
    if (!value)
        return (tacit_interval){.mean = NAN, .low = NAN, .high = NAN};
    for (size_t k = 0; k < count; k++)
        value[k] = runs[k].last;
    const tacit_interval of = tacit_interval_of(value, count);
    free(value);
    return of;
}

double owners_low(tacit_interval of)
{
    return fmax(of.low, of.mean / 100);
}

void owners_settings(tacit_reproduced *out, const tacit_reproduce_request *request)
{
    const bool data = owners_has(request, OWNERS_LENDING);
    figure_set(out, "task",
               "linear regression with a bias, squared loss, g = 1e-5 |theta|^2 as in the paper; "
               "psi(theta) = f(theta)/f(theta*) - 1 over the owners' records");
    figure_set(out, "features",
               data ? "principal components (ten; housing: all eight) of the last 1,000 records of "
                      "a set (diabetes, housing: of 1,000 drawn ones), which are public and "
                      "nobody's; means, deviations and stand-ins for missing values are theirs, "
                      "too; cut at three deviations, whitened; words are numbered, as in the paper"
                    : "drawn: no folder of data was given");
    figure_set(out, "protocol",
               "learner, mode request, inertia of the paper's proof (slip S17); T = %d (quick: "
               "fewer)",
               OWNERS_HORIZON);
    figure_set(out, "clip, range, step",
               "by rule, tried on drawn records only: gradients to 1.27 p in l1 (their mean norm "
               "at zero, were "
               "records standard normal), weights to 1 (they are correlations), step alpha = "
               "sigma eta with eta = 7 (N + 1) / (2 T) at most 0.5, which leaves exp(-7) of the "
               "start");
    figure_set(out, "privacy",
               "Laplace noise, pure epsilon for each owner, unit: one record; adjacency: replace; "
               "adversary: the learner and all other owners, who see every answer");
    figure_set(out, "cap",
               "an owner's budget is for T_i answers, the smallest k with P(Bin(T, 1/N) > k) <= "
               "0.001 (380 for N = 3, T = 1000); the paper splits it over T. Both are sound");
}
