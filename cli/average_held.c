/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a peer holds, as its owner says it: from a file, from standard input, or typed without being
 * shown. Never from the command line, which everybody on the machine can list.
 */
#include "average.h"
#include "terminal.h"

#include "base/array.h"
#include "tacit/masks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define INPUT "standard input"
#define MOST ((size_t)256 << 20)
#define TYPED 65536

static tacit_status parse(tacit_held *values, const tacit_question *question, const char *text,
                          size_t len, tacit_error *err)
{
    return tacit_held_parse(values, question, INPUT, text, len, err);
}

static tacit_status read_line(char *line, size_t *len, tacit_error *err)
{
    ssize_t n = 0;
    *len = 0;
    while (*len < TYPED && (*len == 0 || line[*len - 1] != '\n')) {
        n = read(STDIN_FILENO, line + *len, TYPED - *len);
        if (n <= 0)
            break;
        *len += (size_t)n;
    }
    if (n < 0 && errno == EINTR && *cli_stop())
        return tacit_fail(err, TACIT_EINTERRUPTED, "interrupted; nothing was begun");
    return n < 0 ? tacit_fail(err, TACIT_EINPUT, "cannot read " INPUT ": %s", strerror(errno))
                 : TACIT_OK;
}

/* One line; what is typed does not show, and the terminal is as it was afterwards. */
static tacit_status ask(tacit_held *values, const tacit_question *question, tacit_error *err)
{
    struct termios before, quiet;
    size_t len;
    char *line = malloc(TYPED);
    if (!line)
        return tacit_out_of_memory(err);
    if (tcgetattr(STDIN_FILENO, &before) != 0) {
        free(line);
        return tacit_fail(err, TACIT_EINPUT, "cannot ask without showing what is typed: %s",
                          strerror(errno));
    }
    quiet = before;
    quiet.c_lflag &= ~(tcflag_t)ECHO;
    fputs("what this peer holds (it will not show): ", stderr);
    fflush(stderr);
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
    tacit_status status = read_line(line, &len, err);
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    fputc('\n', stderr);
    if (!status)
        status = parse(values, question, line, len, err);
    tacit_mask_wipe(line, TYPED);
    free(line);
    return status;
}

/* A pipe, a file or nothing, to its end. */
static tacit_status read_all(char **text, size_t *len, tacit_error *err)
{
    size_t room = 0;
    ssize_t n;
    *len = 0;
    do {
        char *more = tacit_array_grow(*text, &room, *len + TYPED + 1, 1);
        if (!more)
            return tacit_out_of_memory(err);
        *text = more;
        n = read(STDIN_FILENO, *text + *len, TYPED);
        *len += n > 0 ? (size_t)n : 0;
        (*text)[*len] = '\0';
        if (n < 0 && errno == EINTR && *cli_stop())
            return tacit_fail(err, TACIT_EINTERRUPTED, "interrupted; nothing was begun");
        if (n < 0 && errno != EINTR)
            return tacit_fail(err, TACIT_EINPUT, "cannot read " INPUT ": %s", strerror(errno));
        if (*len > MOST)
            return tacit_fail(err, TACIT_EINPUT, INPUT " has more than %zu bytes", MOST);
    } while (n != 0);
    return TACIT_OK;
}

static tacit_status read_input(tacit_held *values, const tacit_question *question,
                               const char *folder, tacit_error *err)
{
    char *text = NULL;
    size_t len;
    tacit_status status = read_all(&text, &len, err);
    if (status)
        ;
    else if (strspn(text, " \t\r\n") == len)
        status = tacit_fail(err, TACIT_EUSAGE,
                            "what does this peer hold? Give it on standard input or in a file, as "
                            "in \"tacit average join %.200s --values FILE\"",
                            folder);
    else
        status = parse(values, question, text, len, err);
    if (text)
        tacit_mask_wipe(text, len);
    free(text);
    return status;
}

tacit_status average_read_held(tacit_held *values, const tacit_question *question, const char *file,
                               const char *folder, tacit_error *err)
{
    *values = (tacit_held){.number = NULL};
    if (*file && strcmp(file, "-") != 0)
        return tacit_held_read(values, question, file, err);
    return isatty(STDIN_FILENO) ? ask(values, question, err)
                                : read_input(values, question, folder, err);
}
