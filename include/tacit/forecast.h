/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_FORECAST_H
#define TACIT_FORECAST_H
/*
 * Is it worth joining? From sizes and budgets of data owners to the relative fitness
 * psi = f(theta)/f(theta*) - 1 of the model that a learner would make with them under differential
 * privacy (paper 002, eq. 5-6), and to that of a model of an owner's records alone, without noise:
 *
 *     together   psi = c0 + c1 s + c2 s^2,   s = N^crowd sqrt(sum of 1/epsilon_i^2) / n
 *     alone      psi = c1 s,                 s = 1/n_i - 1/n
 *
 * The constants are fitted on pilot runs, on data that nobody has to protect. docs/forecast.md says
 * why the law has this shape, and how far it may be believed.
 */
#include "tacit/experiment.h"

/* One pilot run of a learner, or a place to predict at (psi is not looked at then). */
typedef struct tacit_pilot {
    double owners;  /* N, at least 1 */
    double records; /* n, of all owners together */
    double noise;   /* sum of 1/epsilon_i^2 (tacit_epsilon_rate_noise); 0 without noise */
    double psi;     /* measured, above 0 */
} tacit_pilot;

/* The same for the model of one owner's records. */
typedef struct tacit_lone_pilot {
    double own, pooled; /* n_i < n */
    double psi;         /* of the owner's model, on the pooled records */
} tacit_lone_pilot;

enum { TACIT_LAW_TERMS = 3, TACIT_EXCHANGE_MOST = 40 };

/* What an epsilon is worth. The paper's budgets are of pure differential privacy and add up: the
 * noise is in proportion to 1/epsilon. Better accountants need less noise, and not in proportion;
 * then epsilon stands for the pure budget with as much noise. Logarithms, rising; between and
 * beyond them straight lines; none: epsilon is worth itself. */
typedef struct tacit_epsilon_rate {
    size_t count;
    double epsilon[TACIT_EXCHANGE_MOST], worth[TACIT_EXCHANGE_MOST];
} tacit_epsilon_rate;
double tacit_epsilon_rate_noise(const tacit_epsilon_rate *exchange, double epsilon); /* 1/worth^2 */
double tacit_epsilon_rate_epsilon(const tacit_epsilon_rate *exchange, double noise); /* and back */

typedef struct tacit_fitness_law {
    double c[TACIT_LAW_TERMS]; /* at least 0 each: floor, linear, square */
    double crowd;              /* exponent of N: the constants of the paper hold for one N */
    bool crowd_fitted;
    tacit_epsilon_rate exchange; /* of epsilons; empty unless the caller puts one in */

    /* How far runs are from the law, in logarithms: 0.1 is about ten percent. All zero in a law of
     * given constants, which makes no intervals. */
    double within;    /* standard deviation of equal runs around their mean */
    double between;   /* of the means of equal runs around the law: misfit, and what `within`
                         leaves of itself in a mean */
    double repeats;   /* runs of equal settings, on (harmonic) average */
    uint64_t freedom; /* settings less fitted constants */
    double worst;     /* the largest factor by which the mean of equal runs misses the law */
    size_t worst_at;  /* the first pilot of those */
    size_t points, settings;
    double least, most;     /* s of the pilots: beyond them it is a guess that the law goes on */
    double fewest, largest; /* owners of the pilots; 0: any */
    double cover[TACIT_LAW_TERMS + 1][TACIT_LAW_TERMS + 1]; /* of the constants, crowd last, over
                                                               between^2 */
} tacit_fitness_law;

typedef struct tacit_fitness_law_options {
    bool floor; /* a constant for what is not noise: too few iterations, a step that is too long */
    bool crowd; /* fit the exponent of N; needs pilots of several N */
} tacit_fitness_law_options;

/* Least squares of log psi under the law with constants of at least 0: psi spreads over decades and
 * by factors, so that a factor is what a miss is. Settings are equal when owners, records and noise
 * are. TACIT_EINPUT if a pilot makes no sense or there are fewer settings than constants + 1. */
tacit_status tacit_fitness_law_fit(tacit_fitness_law *law, const tacit_pilot *pilots, size_t count,
                                   const tacit_fitness_law_options *options, tacit_error *err);
tacit_status tacit_fitness_law_fit_alone(tacit_fitness_law *law, const tacit_lone_pilot *pilots,
                                         size_t count, tacit_error *err);
/* A law whose constants somebody knows already. */
tacit_fitness_law tacit_fitness_law_given(double floor, double linear, double square);

/* Misses of the law (`between` and `worst`, not chance among equal runs) that make its numbers
 * worth little: the means of equal runs are off by a factor of 1.5 typically or 3 at worst. */
bool tacit_fitness_law_is_bad(const tacit_fitness_law *law);

/* What a single run would give: the typical psi (median), and an interval that holds it with
 * probability `coverage` if the law holds, from Student's t for the logarithm: misfit, spread of
 * equal runs and uncertainty of the constants are in it. */
typedef struct tacit_outlook {
    double psi, low, high; /* low = high = psi for a law of given constants */
    double deviation;      /* of log psi */
    uint64_t freedom;
    bool outside; /* s, or the number of owners, is beyond those of the pilots */
} tacit_outlook;
tacit_outlook tacit_fitness_law_at(const tacit_fitness_law *law, const tacit_pilot *place,
                                   double coverage);
tacit_outlook tacit_fitness_law_alone_at(const tacit_fitness_law *law, double own, double pooled,
                                         double coverage);
/* Probability that `a` turns out below `b`, as far as both laws know. */
double tacit_outlook_below(const tacit_outlook *a, const tacit_outlook *b);

/* The largest s at which the law is at most `psi`: INFINITY if it always is, NAN if it never is. */
double tacit_fitness_law_reach(const tacit_fitness_law *law, double psi);
/* Did pilots get to where the floor is at least half of psi? Otherwise it is what a fit makes up of
 * pilots with more noise. Always so in a law of given constants. */
bool tacit_fitness_law_floor_seen(const tacit_fitness_law *law);

/* ---- owners ---- */

#define TACIT_JOINERS 100000          /* owners at most */
#define TACIT_JOIN_RECORDS 1e15       /* of one owner at most */
#define TACIT_JOIN_EPSILON_LEAST 1e-6 /* budgets from here */
#define TACIT_JOIN_EPSILON_MOST 1e6   /* to here */
#define TACIT_JOIN_PARTNERS 1e9       /* nobody looks for more */

typedef struct tacit_joiner {
    char name[64];
    double records, epsilon;
} tacit_joiner;

typedef struct tacit_stake {
    tacit_outlook alone, together;
    double chance;   /* that together is better */
    double own;      /* least epsilon of this owner at which joining pays, the others' as they are;
                        INFINITY: none is enough */
    double everyone; /* the same if all owners had the same epsilon */
    double partners; /* least number of partners, each as the others are on average, at the
                        epsilons as they are; INFINITY: none is enough */
    /* Each of these rests on a noise or a number of owners that no pilot had. */
    bool own_outside, everyone_outside, partners_outside;
} tacit_stake;

/* At least two owners; `stakes` has one for each. */
tacit_status tacit_forecast(tacit_stake *stakes, const tacit_joiner *owners, size_t count,
                            const tacit_fitness_law *together, const tacit_fitness_law *alone,
                            double coverage, tacit_error *err);
/* The same, and TACIT_EINTERRUPTED between two owners once *stop is set; NULL: never. */
tacit_status tacit_forecast_until(tacit_stake *stakes, const tacit_joiner *owners, size_t count,
                                  const tacit_fitness_law *together, const tacit_fitness_law *alone,
                                  double coverage, const tacit_stop *stop, tacit_error *err);
/* The least epsilon, the same for everyone, at which joining pays for an owner of `own` records
 * among `owners` who have `pooled` together; INFINITY: none is enough. */
double tacit_forecast_border(const tacit_fitness_law *together, const tacit_fitness_law *alone,
                             double owners, double own, double pooled);
/* Does it lie at a noise or a number of owners that no pilot had? */
bool tacit_forecast_border_outside(const tacit_fitness_law *together,
                                   const tacit_fitness_law *alone, double owners, double own,
                                   double pooled);
/* The epsilon of everyone at which joining is better with probability `chance`, above 0 and below
 * 1; INFINITY: none is enough. At 0.5 it is the border. */
double tacit_forecast_epsilon(const tacit_fitness_law *together, const tacit_fitness_law *alone,
                              double owners, double own, double pooled, double chance);

/* Lines "owner,records,epsilon" under a header of that name; names differ. The caller frees. */
tacit_status tacit_joiners_read(tacit_joiner **out, size_t *count, const char *path,
                                tacit_error *err);
tacit_status tacit_joiners_parse(tacit_joiner **out, size_t *count, const char *shown,
                                 const char *text, size_t len, tacit_error *err);

/* ---- pilots ---- */

/* Runs of an experiment with protocol "learner" at small sizes, on data that nobody has to protect:
 * what comes out is charged to no ledger. `experiment` is copied before anything is changed. */
typedef struct tacit_pilots_request {
    const tacit_config *experiment;
    double owners, records; /* what will be predicted: N, n of all together, and */
    double epsilon;         /* an epsilon of everyone that matters */
    uint32_t repeats;       /* runs of equal settings, at least 1 */
    uint32_t threads;       /* the result does not depend on it */
    const tacit_stop *stop;
    tacit_progress *progress;
    void *progress_ctx;
} tacit_pilots_request;

typedef struct tacit_pilots {
    tacit_pilot *run; /* those that tell something */
    size_t count;
    size_t hopeless; /* further runs, whose settings ended worse than a model of zeros */
    tacit_lone_pilot *lone;
    size_t lone_count;
    tacit_epsilon_rate exchange;
    bool from_file;         /* whose records must be public or made up: nobody is charged */
    double owners, records; /* of the pilots that are like what was asked about */
    char name[TACIT_TEXT_MAX];
} tacit_pilots;

/* YAML of an experiment on made-up records, for who has no stand-in of their own. */
extern const char tacit_forecast_stand_in[];

tacit_status tacit_pilots_run(tacit_pilots *out, const tacit_pilots_request *request,
                              tacit_error *err);
tacit_status tacit_pilots_fit(const tacit_pilots *pilots, tacit_fitness_law *together,
                              tacit_fitness_law *alone, tacit_error *err);
void tacit_pilots_clear(tacit_pilots *pilots);

/* The thing itself, where the data allow it: `runs` runs of request->owners owners with so many
 * records and that epsilon, of seeds that no pilot had. psi of the model learned together, and of
 * an owner's alone. */
typedef struct tacit_checked {
    double together, alone;
} tacit_checked;
tacit_status tacit_pilots_check(tacit_checked *out, uint32_t runs,
                                const tacit_pilots_request *request, tacit_error *err);

/* ---- all of it, for people and programs ---- */

typedef struct tacit_forecast_view {
    const tacit_joiner *owners;
    const tacit_stake *stakes;
    size_t count;
    const tacit_fitness_law *together, *alone;
    double coverage;
    const tacit_pilots *pilots;   /* NULL: constants were given */
    const tacit_checked *checked; /* runs of what is predicted, or NULL */
    size_t checks;
} tacit_forecast_view;

enum { TACIT_MAP_COLUMNS = 12 };

/* How the border runs, for an owner with the mean number of records among others like it. */
typedef struct tacit_forecast_map {
    double own;                                 /* records of each */
    double owners[TACIT_MAP_COLUMNS];           /* N */
    double border[TACIT_MAP_COLUMNS];           /* least epsilon at which joining pays, typically */
    double sure[TACIT_MAP_COLUMNS];             /* with a chance of 95 % */
    double hopeless[TACIT_MAP_COLUMNS];         /* with one of 5 % */
    bool outside[TACIT_MAP_COLUMNS];            /* the border is at no noise or N of the pilots */
    double records[TACIT_MAP_COLUMNS];          /* the same by records of each, */
    double by_records[TACIT_MAP_COLUMNS];       /* for as many owners as there are: border, */
    double records_sure[TACIT_MAP_COLUMNS];     /* 95 %, */
    double records_hopeless[TACIT_MAP_COLUMNS]; /* 5 %, */
    bool records_outside[TACIT_MAP_COLUMNS];    /* as above */
} tacit_forecast_map;
tacit_forecast_map tacit_forecast_draw(const tacit_forecast_view *view);

/* Schema tacit.forecast/1 (caller frees). */
char *tacit_forecast_json(const tacit_forecast_view *view);
/* forecast.html, forecast.csv (one line an owner), map.svg and summary.json into `folder`, which
 * must not exist or be empty; all of them or none. */
tacit_status tacit_forecast_write(const tacit_forecast_view *view, const char *folder,
                                  tacit_error *err);

#endif
