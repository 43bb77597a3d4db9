/* SPDX-License-Identifier: Apache-2.0 */
/* tacit average verify: adds up what was published, and says what that proves and what not. */
#include "average.h"
#include "terminal.h"

#include "base/writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void say_hex(const uint8_t *bytes, size_t len)
{
    for (size_t k = 0; k < len; k++)
        printf("%02x", bytes[k]);
    putchar('\n');
}

static void say_about(const char *label, const char *text)
{
    printf("  %-22s", label);
    cli_wrap(text, 24, 24);
}

static void say_sums(const tacit_board *b)
{
    const size_t shown = b->numbers < 8 ? b->numbers : 8;
    printf("  %-22s", "they add up to");
    for (size_t k = 0; k < shown; k++)
        printf("%s%.8g", k ? ", " : "", (double)b->total[k] * b->step);
    printf("%s", shown < b->numbers ? ", ...\n" : "\n");
    if (b->beside > 0) {
        printf("  %-22s", "and openly to");
        for (size_t k = 0; k < b->beside && k < 8; k++)
            printf("%s%" PRId64, k ? ", " : "", b->beside_total[k]);
        putchar('\n');
    }
}

static void say(const char *path, const tacit_board_file *f, const char *list)
{
    const tacit_board *b = &f->board;
    char text[300];
    printf("%s%s%s: holds\n", cli_bold(), path, cli_plain());
    printf("  %-22s", "run");
    say_hex(b->run, sizeof b->run);
    snprintf(text, sizeof text,
             "of round %" PRIu64 ", %zu words of %zu number%s, %zu key%s of "
             "pairs that one left",
             b->round, b->words, b->numbers, b->numbers == 1 ? "" : "s", b->keys,
             b->keys == 1 ? "" : "s");
    say_about("published", text);
    say_sums(b);
    say_about(
        "proves",
        "every word, every key of who got lost and every open number was signed by its agent's "
        "peer for this round of this run; the total is the sum of the words, less what hid "
        "them, and nothing was left out, added or changed since");
    say_about(
        "does not prove",
        "that members told the truth about what they hold, or added their share of noise; that "
        "nobody else wanted to take part");
    if (list)
        snprintf(text, sizeof text, "those of %.200s", list);
    else
        snprintf(text, sizeof text,
                 "as the board says itself: give --members to compare them with a list from "
                 "somebody you trust");
    say_about("keys", text);
}

static char *json_text(const char *path, const tacit_board_file *f, const char *list)
{
    const tacit_board *b = &f->board;
    tacit_writer out = {0};
    tacit_json json = {.out = &out};
    tacit_json_begin(&json, NULL, '{');
    tacit_json_text(&json, "schema", "tacit.average.verify/1");
    tacit_json_text(&json, "board", path);
    tacit_json_bool(&json, "holds", true);
    tacit_json_bool(&json, "members_known", list != NULL);
    tacit_json_count(&json, "round", b->round);
    tacit_json_count(&json, "words", b->words);
    tacit_json_count(&json, "keys", b->keys);
    tacit_json_begin(&json, "total", '[');
    for (size_t k = 0; k < b->numbers; k++)
        tacit_json_real(&json, NULL, (double)b->total[k] * b->step);
    tacit_json_end(&json, ']');
    tacit_json_begin(&json, "beside", '[');
    for (size_t k = 0; k < b->beside; k++)
        tacit_json_real(&json, NULL, (double)b->beside_total[k]);
    tacit_json_end(&json, ']');
    tacit_json_end(&json, '}');
    return tacit_writer_take(&out);
}

tacit_status average_verify(const char *path, const average_flags *flags, tacit_error *err)
{
    tacit_board_file f;
    tacit_roster known = {0};
    const char *list = *flags->members ? flags->members : NULL;
    tacit_status status = list ? tacit_roster_read(&known, list, err) : TACIT_OK;
    if (status)
        return status;
    status = tacit_board_file_read(&f, path, err);
    if (!status) {
        status = tacit_board_file_check(&f, list ? &known : NULL, err);
        if (!status && flags->json)
            status = cli_print_text(json_text(path, &f, list), err);
        else if (!status)
            say(path, &f, list);
        tacit_board_file_clear(&f);
    }
    tacit_roster_clear(&known);
    return status;
}
