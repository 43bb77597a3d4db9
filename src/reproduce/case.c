/* SPDX-License-Identifier: Apache-2.0 */
/* A book of cells, and what its runs say together. */
#include "reproduce/case.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void case_open(case_book *book, const tacit_reproduce_request *request, const case_task *task,
               uint32_t tuning_seeds)
{
    *book = (case_book){.request = request,
                        .task = task,
                        .tuning_seeds = tuning_seeds ? tuning_seeds : 1,
                        .work = {.request = request}};
}

size_t case_add(case_book *book, const case_method *method, const char *fmt, ...)
{
    case_cell *grown =
        tacit_array_grow(book->cells, &book->capacity, book->count + 1, sizeof *grown);
    if (!grown) {
        book->failed = true;
        return SIZE_MAX;
    }
    book->cells = grown;
    case_cell *cell = &book->cells[book->count];
    *cell = (case_cell){.method = method, .choices = case_choice_count(method->choices)};
    va_list args;
    va_start(args, fmt);
    vsnprintf(cell->settings, sizeof cell->settings, fmt, args);
    va_end(args);
    return book->count++;
}

void case_close(case_book *book)
{
    for (size_t k = 0; k < book->count; k++) {
        case_cell *cell = &book->cells[k];
        for (size_t s = 0; cell->shown && s < book->request->seeds; s++) {
            free(cell->shown[s].by_agent);
            free(cell->shown[s].records);
            free(cell->shown[s].ticks); /* with the others behind it */
        }
        free(cell->tried);
        free(cell->chosen);
        free(cell->shown);
    }
    free(book->cells);
    *book = (case_book){0};
}

/* ---- choices ---- */

size_t case_choice_count(const char *choices)
{
    size_t count = 1, values = 1;
    for (const char *at = choices; at && *at; at++) {
        values += *at == '|';
        if (*at == ';' || at[1] == '\0') {
            count *= values;
            values = 1;
        }
    }
    return count;
}

void case_choice_words(const char *choices, size_t k, char *out, size_t size)
{
    size_t used = 0;
    *out = '\0';
    for (const char *at = choices; at && *at;) {
        size_t len = strcspn(at, ";"), key = strcspn(at, "="), values = 1;
        for (size_t i = 0; i < len; i++)
            values += at[i] == '|';
        const char *value = at + key + 1;
        for (size_t skip = k % values; skip > 0; skip--)
            value += strcspn(value, "|") + 1;
        k /= values;
        size_t section = strcspn(at, ".=") + 1 < key ? strcspn(at, ".=") + 1 : 0;
        if (used < size)
            used += (size_t)snprintf(out + used, size - used, "%s%.*s %.*s", used ? ", " : "",
                                     (int)(key - section), at + section, (int)strcspn(value, "|;"),
                                     value);
        at += len + (at[len] == ';');
    }
}

void case_chosen_words(const case_book *book, size_t k, char *out, size_t size)
{
    const case_cell *cell = &book->cells[k];
    *out = '\0';
    if (cell->choices < 2)
        return;
    for (size_t s = 1; s < book->request->seeds; s++)
        if (cell->chosen[s] != cell->chosen[0]) {
            snprintf(out, size, "by seed");
            return;
        }
    case_choice_words(cell->method->choices, cell->chosen[0], out, size);
}

/* ---- numbers over seeds ---- */

/* Mean score of agents with records in [from, to]; NaN if there are none. */
static double group_score(const case_result *r, uint32_t from, uint32_t to)
{
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t k = 0; k < r->agents; k++)
        if (r->records[k] >= from && r->records[k] <= to && !isnan(r->by_agent[k])) {
            sum += r->by_agent[k];
            count++;
        }
    return count ? sum / count : NAN;
}

/* `base` of SIZE_MAX: none. Seeds without such agents are left out. */
static tacit_interval over_seeds(const case_book *book, size_t cell, size_t base, uint32_t from,
                                 uint32_t to)
{
    const size_t seeds = book->request->seeds;
    double *value = malloc((seeds + 1) * sizeof *value);
    size_t n = 0;
    if (!value)
        return (tacit_interval){0, NAN, NAN, NAN};
    for (size_t s = 0; s < seeds; s++) {
        double one = group_score(&book->cells[cell].shown[s], from, to);
        if (base != SIZE_MAX)
            one -= group_score(&book->cells[base].shown[s], from, to);
        if (!isnan(one))
            value[n++] = one;
    }
    tacit_interval interval = tacit_interval_of(value, n);
    free(value);
    return interval;
}

tacit_interval case_score(const case_book *book, size_t cell)
{
    return over_seeds(book, cell, SIZE_MAX, 0, UINT32_MAX);
}

tacit_interval case_group(const case_book *book, size_t cell, uint32_t from, uint32_t to)
{
    return over_seeds(book, cell, SIZE_MAX, from, to);
}

tacit_interval case_gain(const case_book *book, size_t cell, size_t base)
{
    return over_seeds(book, cell, base, 0, UINT32_MAX);
}

tacit_interval case_group_gain(const case_book *book, size_t cell, size_t base, uint32_t from,
                               uint32_t to)
{
    return over_seeds(book, cell, base, from, to);
}

double case_epsilon(const case_book *book, size_t cell)
{
    double most = 0;
    for (size_t s = 0; s < book->request->seeds; s++)
        most = fmax(most, book->cells[cell].shown[s].epsilon);
    return most;
}

void case_line(tacit_reproduced *f, const case_book *book, size_t panel, const char *name,
               size_t count, const double *x, const size_t *cells)
{
    enum { MOST = 32 };
    double y[MOST], low[MOST], high[MOST];
    if (count > MOST)
        count = MOST;
    for (size_t k = 0; k < count; k++) {
        const tacit_interval i = case_score(book, cells[k]);
        y[k] = i.mean;
        low[k] = isnan(i.low) ? i.mean : i.low;
        high[k] = isnan(i.high) ? i.mean : i.high;
    }
    figure_add_series(f, panel, name, count, x, y, low, high);
    const case_method *method = book->cells[cells[0]].method;
    figure_draw(f, method->colour, method->unsound);
}
