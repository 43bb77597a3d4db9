/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tacit ledger plan: what one more run would cost a data set, before anybody starts it. A run of a
 * file reserves its whole budget, and that decides; one that is described by its noise counts as
 * what it would have released.
 */
#include "ledger.h"
#include "lifetime.h"
#include "terminal.h"

#include "base/writer.h"
#include "experiment/consortium.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct planned {
    tacit_cost cost;
    tacit_ledger_entry item;
    tacit_lifetime_plan plan;
    char name[TACIT_TEXT_MAX]; /* of the data set; "": the only one */
    char file[TACIT_TEXT_MAX]; /* the lifetime ledger that node.yaml names */
} planned;

/* ---- what is planned ---- */

static tacit_status read_privacy(tacit_privacy_options *out, const char *path, tacit_error *err)
{
    tacit_config config;
    tacit_config_init(&config);
    tacit_status status = tacit_config_read(&config, path, err);
    if (!status)
        status = tacit_config_apply(&config, &tacit_privacy_section, out, err);
    tacit_config_clear(&config);
    return status;
}

/* A node.yaml says where the agreement is, and how its owner calls the records. */
static tacit_status follow_node(planned *p, char agreement[TACIT_TEXT_MAX], const char *path,
                                tacit_error *err)
{
    tacit_node_options node;
    tacit_config config;
    tacit_config_init(&config);
    tacit_status status = tacit_config_read(&config, path, err);
    if (!status)
        status = tacit_config_apply(&config, &tacit_node_section, &node, err);
    if (!status && tacit_config_get(&config, "data.source") &&
        !tacit_config_get(&config, "privacy.mechanism")) {
        status = tacit_path_beside(node.consortium, path, "node.consortium", err);
        if (access(node.consortium, F_OK) == 0 || tacit_config_get(&config, "node.consortium"))
            snprintf(agreement, TACIT_TEXT_MAX, "%s", node.consortium);
        snprintf(p->name, sizeof p->name, "%s", node.data_set);
        if (!status && node.lifetime[0] && strcmp(node.lifetime, "off") != 0) {
            status = tacit_path_beside(node.lifetime, path, "node.lifetime", err);
            snprintf(p->file, sizeof p->file, "%s", node.lifetime);
        }
    }
    tacit_config_clear(&config);
    return status;
}

static tacit_status plan_file(planned *p, const char *path, tacit_error *err)
{
    tacit_privacy_options o;
    char agreement[TACIT_TEXT_MAX];
    snprintf(agreement, sizeof agreement, "%s", path);
    tacit_status status = follow_node(p, agreement, path, err);
    if (!status)
        status = read_privacy(&o, agreement, err);
    if (!status && o.budgets[0])
        status = tacit_fail(err, TACIT_EINPUT,
                            "%.300s: agents have budgets of their own (\"privacy.budgets\"); say "
                            "the largest of yours with --epsilon and --delta instead of the file",
                            agreement);
    if (status)
        return status;
    p->plan = (tacit_lifetime_plan){.block = true,
                                    .epsilon = o.epsilon,
                                    .delta = o.delta,
                                    .unit = (tacit_unit)o.unit,
                                    .adjacency = (tacit_adjacency)o.adjacency};
    return TACIT_OK;
}

static tacit_status plan_flags(planned *p, const ledger_flags *f, tacit_error *err)
{
    const tacit_unit unit =
        f->unit == LEDGER_AS_KNOWN ? TACIT_UNIT_RECORD : (tacit_unit)(f->unit - 1);
    const tacit_adjacency adjacency =
        f->adjacency == LEDGER_AS_KNOWN ? TACIT_REPLACE : (tacit_adjacency)(f->adjacency - 1);
    p->plan = (tacit_lifetime_plan){
        .epsilon = f->epsilon, .delta = f->delta, .unit = unit, .adjacency = adjacency};
    if (f->mechanism == TACIT_MECHANISM_NONE && !(f->noise > 0)) {
        p->plan.block = true;
        if (f->epsilon > 0)
            return TACIT_OK;
        return tacit_fail(err, TACIT_EUSAGE,
                          "what would run? Expected a file, as in \"tacit ledger plan "
                          "consortium.yaml\", or --epsilon and --delta, or --mechanism, --noise "
                          "and --releases");
    }
    if (f->mechanism == TACIT_MECHANISM_NONE || (!(f->noise > 0) && !(f->epsilon > 0)))
        return tacit_fail(
            err, TACIT_EUSAGE,
            "--mechanism laplace or gaussian goes with --noise, or with --epsilon and "
            "--delta");
    const tacit_privacy_options o = {.mechanism = f->mechanism,
                                     .epsilon = f->epsilon > 0 ? f->epsilon : INFINITY,
                                     .delta = f->delta,
                                     .unit = (int)unit,
                                     .adjacency = (int)adjacency,
                                     .clip = 1,
                                     .noise = f->noise,
                                     .releases = f->releases,
                                     .sampling = f->sampling,
                                     .accountant = TACIT_BY_PLD};
    tacit_status status = tacit_cost_plan(&p->cost, &o, 1, "plan", err);
    p->item = (tacit_ledger_entry){.cost = &p->cost, .releases = (uint64_t)f->releases};
    p->plan.items = &p->item;
    p->plan.count = 1;
    return status;
}

/* ---- what it would cost ---- */

typedef struct answer {
    const life_set *set;        /* NULL: it would be the first on its data set */
    tacit_lifetime_terms terms; /* that hold, or would */
    double alone, before, after;
    bool fits;
} answer;

static tacit_status find_set(answer *a, const life *l, const char *name, tacit_error *err)
{
    a->set = NULL;
    if (!*name && l->view && l->view->count > 1)
        return tacit_fail(err, TACIT_EUSAGE,
                          "\"%.300s\" has %zu data sets; say which with --data-set NAME", l->path,
                          l->view->count);
    const tacit_lifetime_dataset *found = NULL;
    if (l->view)
        found = *name                ? tacit_lifetime_find(l->view, name)
                : l->view->count > 0 ? l->view->sets
                                     : NULL;
    for (size_t k = 0; found && k < l->view->count; k++)
        if (&l->view->sets[k] == found)
            a->set = &l->sets[k];
    return TACIT_OK;
}

static tacit_status work_out(answer *a, const tacit_lifetime_plan *plan, tacit_error *err)
{
    const bool known = a->set && a->set->set->has_terms;
    tacit_lifetime_dataset fresh = {.name = "", .has_terms = true};
    tacit_status status = TACIT_OK;
    if (known)
        a->terms = a->set->set->terms;
    else
        status = tacit_lifetime_first_terms(plan, &a->terms, err);
    fresh.terms = a->terms;
    if (status)
        return status;
    a->before = known ? a->set->spent : 0;
    status = tacit_lifetime_spent(known ? a->set->set : &fresh, plan, &a->after, err);
    if (!status)
        status = tacit_lifetime_spent(&fresh, plan, &a->alone, err);
    a->fits = a->after <= a->terms.epsilon; /* NaN: nobody can tell, so no */
    return status;
}

/* ---- telling ---- */

static void say(const char *label, const char *text)
{
    printf("  %-22s", label);
    cli_wrap(text, 24, 24);
}

static void tell_words(const answer *a)
{
    char before[40], after[40], alone[40], budget[40], about[100], text[400];
    cli_epsilon(a->before, before, sizeof before);
    cli_epsilon(a->after, after, sizeof after);
    cli_epsilon(a->alone, alone, sizeof alone);
    cli_epsilon(a->terms.epsilon, budget, sizeof budget);
    ledger_life_about(&a->terms, about, sizeof about);
    printf("%s%s%s: one more run would be %s\n", cli_bold(),
           a->set ? a->set->set->name : "a new data set", cli_plain(),
           a->fits ? "allowed" : "refused");
    snprintf(text, sizeof text, "epsilon %s", before);
    say("spent before", text);
    snprintf(text, sizeof text, "epsilon %s (the run alone: %s)", after, alone);
    say("spent after", text);
    snprintf(text, sizeof text, "epsilon %s at delta %g %s%s", budget, a->terms.delta, about,
             a->set && a->set->set->has_terms ? ""
                                              : "; this run would set it, until its owner does");
    say("budget", text);
    if (a->fits && isfinite(a->terms.epsilon)) {
        snprintf(text, sizeof text, "epsilon %.4g", fmax(0, a->terms.epsilon - a->after));
        say("left then", text);
    }
}

static char *answer_json(const answer *a)
{
    tacit_writer out = {0};
    tacit_json json = {.out = &out};
    tacit_json_begin(&json, NULL, '{');
    tacit_json_text(&json, "schema", "tacit.lifetime-plan/1");
    if (a->set)
        tacit_json_text(&json, "data_set", a->set->set->name);
    else
        tacit_json_null(&json, "data_set");
    tacit_json_bool(&json, "allowed", a->fits);
    tacit_json_real(&json, "epsilon_alone", a->alone);
    tacit_json_real(&json, "epsilon_before", a->before);
    tacit_json_real(&json, "epsilon_after", a->after);
    tacit_json_real(&json, "epsilon_budget", a->terms.epsilon);
    tacit_json_real(&json, "epsilon_left", fmax(0, a->terms.epsilon - a->after));
    tacit_json_real(&json, "delta", a->terms.delta);
    tacit_json_text(&json, "unit", tacit_unit_name(a->terms.unit));
    tacit_json_text(&json, "adjacency", tacit_adjacency_name(a->terms.adjacency));
    tacit_json_end(&json, '}');
    return tacit_writer_take(&out);
}

static tacit_status tell(const answer *a, const ledger_flags *f, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    if (f->json)
        status = cli_print_text(answer_json(a), err);
    else
        tell_words(a);
    if (status || a->fits)
        return status;
    return tacit_fail(err, TACIT_EBUDGET,
                      "such a run would be refused: with it epsilon %.4g of %.4g would be spent on "
                      "\"%.200s\"; see \"tacit ledger show\"",
                      a->after, a->terms.epsilon, a->set ? a->set->set->name : "a new data set");
}

/* Neither the ledger nor its key: nobody has spent anything. A key alone means that it was lost. */
static bool is_unused(const char *path)
{
    char key[CLI_PATH_MAX + 8];
    snprintf(key, sizeof key, "%s.key", path);
    return access(path, F_OK) != 0 && access(key, F_OK) != 0;
}

tacit_status ledger_life_plan(const cli_args *args, tacit_error *err)
{
    const ledger_flags *f = args->flags;
    static planned p;
    life l = {.ledger = NULL};
    answer a = {.set = NULL};
    if (args->word_count > 2)
        return tacit_fail(err, TACIT_EUSAGE, "unexpected word \"%.100s\"; one file at a time",
                          args->words[2]);
    tacit_status status =
        args->word_count == 2 ? plan_file(&p, args->words[1], err) : plan_flags(&p, f, err);
    char path[CLI_PATH_MAX];
    if (!status)
        status = cli_lifetime_path(path, *f->lifetime ? f->lifetime : p.file, false, err);
    if (!status && !is_unused(path))
        status = ledger_life_open(&l, path, false, err);
    if (!status)
        status = find_set(&a, &l, *f->data_set ? f->data_set : p.name, err);
    if (!status)
        status = work_out(&a, &p.plan, err);
    if (!status)
        status = tell(&a, f, err);
    ledger_life_close(&l);
    return status;
}
