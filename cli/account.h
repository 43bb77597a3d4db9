/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_ACCOUNT_H
#define CLI_ACCOUNT_H
/*
 * Inside of tacit account. What was typed becomes a request (account_request.c), a request
 * becomes losses (account_forms.c), losses become answers (account_answer.c), and those are
 * shown as words, JSON or a curve.
 */
#include "tacit/account.h"
#include "tacit/config.h"

/*
 * The numbers one can give, once: flag, type, field of the request, range, how its value is
 * called, help. They are read as text first, because "not given" is an answer of its own.
 */
#define CLI_ACCOUNT_NUMBERS(X)                                                                    \
    X(MULTIPLIER, "noise-multiplier", REAL, multiplier, 0, 1e30, "X",                             \
      "gaussian: sigma divided by the norm that one record is clipped to")                        \
    X(SIGMA, "sigma", REAL, sigma, 0, 1e30, "X",                                                  \
      "gaussian, discrete-gaussian: standard deviation of the noise")                             \
    X(SCALE, "scale", REAL, scale, 0, 1e30, "X", "laplace, discrete-laplace: scale of the noise") \
    X(SENSITIVITY, "sensitivity", REAL, sensitivity, 0, 1e30, "X",                                \
      "how far apart neighbouring data can be: with replace, twice what one record adds at most") \
    X(CATEGORIES, "categories", INT, categories, 2, 1e9, "K",                                     \
      "randomized-response: how many answers there are")                                          \
    X(TRUTH, "truth", REAL, truth, 0, 1, "P",                                                     \
      "randomized-response: probability of the true answer, in place of --epsilon")               \
    X(EPSILON, "epsilon", REAL, epsilon, 0, 1e30, "E",                                            \
      "randomized-response, pure, approximate: of one release; shuffle: of one report")           \
    X(RELEASE_DELTA, "release-delta", REAL, release_delta, 0, 1, "D",                             \
      "approximate: delta of one release")                                                        \
    X(RHO, "rho", REAL, rho, 0, 1e30, "X", "zcdp: of one release")                                \
    X(AGENTS, "agents", INT, agents, 1, 1e15, "N", "shuffle: how many reports are shuffled")      \
    X(STEPS, "steps", INT, steps, 1, 1e9, "N", "how many releases (default 1)")                   \
    X(SAMPLING, "sampling", REAL, sampling, 0, 1, "Q",                                            \
      "each record takes part in a release with this probability (default 1)")                    \
    X(GROUP, "group", INT, group, 1, 1e6, "K",                                                    \
      "protect K records of one user together (default 1)")                                       \
    X(DELTA, "delta", REAL, delta, 0, 1, "D",                                                     \
      "probability with which the guarantee may fail (default 1e-5)")                             \
    X(TARGET, "target-epsilon", REAL, target, 0, 1e30, "E",                                       \
      "find the noise that keeps within this epsilon at --delta")

typedef enum cli_account_flag {
#define AS_ENUM(name, ...) CLI_ACCOUNT_##name,
    CLI_ACCOUNT_NUMBERS(AS_ENUM) CLI_ACCOUNT_ADJACENCY,
    CLI_ACCOUNT_BY,
    CLI_ACCOUNT_AGENT,
    CLI_ACCOUNT_KEY,
    CLI_ACCOUNT_FLAGS
#undef AS_ENUM
} cli_account_flag;

#define CLI_GIVEN(request, NAME) ((request)->given >> CLI_ACCOUNT_##NAME & 1)

/* What the parser fills: all as text, "" if not given. */
typedef struct cli_account_flags {
    char text[CLI_ACCOUNT_FLAGS][TACIT_TEXT_MAX];
    char plot[TACIT_TEXT_MAX];
    bool json, force;
} cli_account_flags;

typedef struct cli_account_form cli_account_form;

typedef struct cli_account_request {
    const cli_account_form *form;
    const char *path; /* compose */
    const char *agent, *key;
    unsigned given; /* bits of cli_account_flag */
    double multiplier, sigma, scale, sensitivity, truth, epsilon, release_delta, rho;
    double sampling, delta, target;
    int64_t categories, agents, steps, group;
    int adjacency, by;
} cli_account_request;

struct cli_account_form {
    const char *name;
    tacit_loss_kind kind;
    const char *words; /* what it is */
    unsigned takes;    /* bits of cli_account_flag, beside those all forms take */
    unsigned noise;    /* the flags that --target-epsilon finds; 0: it finds nothing */
    bool ledger, shuffle;
};
extern const cli_account_form cli_account_forms[];
extern const size_t cli_account_form_count;

/* ---- account_request.c ---- */
extern const tacit_section cli_account_section;
tacit_status cli_account_read(cli_account_request *request, const cli_account_flags *flags,
                              const char *const *words, size_t word_count, tacit_error *err);

/* ---- account_forms.c ---- */
/* One kind of release as accountants see it, noise and group included. For shuffle it is that
 * of one report. */
tacit_status cli_account_loss(tacit_loss *loss, const cli_account_request *request,
                              tacit_error *err);
/* K records of one user at a time; refused where nothing sound is known. */
tacit_status cli_account_group(tacit_loss *loss, uint64_t records, tacit_error *err);

/* ---- account_answer.c ---- */
typedef struct cli_account_answer {
    double delta;
    double epsilon[TACIT_ACCOUNTANTS]; /* NAN: says nothing */
    double optimistic;
    int best; /* the accountant with the smallest; -1: none has a finite one */
} cli_account_answer;

/* All but the optimistic twin. */
tacit_status cli_account_answer_losses(cli_account_answer *answer, const tacit_loss *loss,
                                       size_t count, double delta, tacit_error *err);

/* The optimistic twin; refuses to go on if an upper bound is below it, for then one of the two is
 * wrong, and a wrong epsilon is worse than none. */
tacit_status cli_account_answer_below(cli_account_answer *answer, const tacit_loss *loss,
                                      size_t count, tacit_error *err);

struct cli_account_ledger; /* account_ledger.h */

/* What is asked about: losses met one after the other, or shuffled reports. */
typedef struct cli_account_facts {
    const cli_account_request *request;
    const struct cli_account_ledger *ledger; /* compose: the losses are those of its worst agent */
    const tacit_loss *loss;
    size_t count;
    uint64_t releases;
    tacit_adjacency adjacency;
    tacit_unit unit;
    const char *adversary; /* what it sees, in words */
    cli_account_answer answer;
    tacit_accountant by; /* with --target-epsilon: who solved it */
} cli_account_facts;

tacit_status cli_account_answer_at(cli_account_answer *answer, const cli_account_facts *facts,
                                   double delta, tacit_error *err);
/* Find the noise of request->target and write it into the request. */
tacit_status cli_account_solve(cli_account_request *request, tacit_accountant *by,
                               tacit_error *err);
const char *cli_account_method(tacit_accountant by);
/* Why an accountant has nothing to say about these losses. */
const char *cli_account_silence(tacit_accountant by, const tacit_loss *loss, size_t count);

/* ---- account_words.c ---- */
/* ", sigma 3, sensitivity 1, 10 releases": what follows the name of the mechanism. */
struct tacit_writer;
void cli_account_question(struct tacit_writer *out, const cli_account_request *request);
void cli_account_words(const cli_account_facts *facts);
/* An epsilon with six digits, not rounded to a better one; "unbounded", "-". */
void cli_account_number(double epsilon, bool up, char *out, size_t size);

/* ---- account_json.c: a text that the caller frees; NULL when memory ran out ---- */
char *cli_account_json(const cli_account_facts *facts);

/* ---- account_plot.c ---- */
tacit_status cli_account_svg(char **text, const cli_account_facts *facts, tacit_error *err);

#endif
