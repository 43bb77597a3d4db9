/* SPDX-License-Identifier: Apache-2.0 */
#include "terminal.h"
#include "config/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define WIDTH 80

bool cli_is_screen(FILE *stream)
{
    const char *term = getenv("TERM");
    return isatty(fileno(stream)) && term && *term && strcmp(term, "dumb") != 0;
}

bool cli_has_style(FILE *stream)
{
    const char *no_color = getenv("NO_COLOR");
    return cli_is_screen(stream) && !(no_color && *no_color);
}

bool cli_has_unicode(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

const char *cli_bold(void)
{
    return cli_has_style(stdout) ? "\033[1m" : "";
}

const char *cli_faint(void)
{
    return cli_has_style(stdout) ? "\033[2m" : "";
}

const char *cli_plain(void)
{
    return cli_has_style(stdout) ? "\033[0m" : "";
}

void cli_bar(double share, int width, bool last)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    bool unicode = cli_has_unicode();
    if (!(share > 0))
        share = 0; /* NaN too */
    if (share > 1)
        share = 1;
    int steps = (int)lround(share * width * (unicode ? 8 : 1));
    int full = unicode ? steps / 8 : steps;
    int used = full;
    for (int i = 0; i < full; i++)
        fputs(unicode ? "█" : "#", stdout);
    if (unicode && steps % 8 > 0) {
        fputs(eighths[steps % 8], stdout);
        used++;
    }
    for (; used < width && !(last && unicode); used++)
        fputs(unicode ? " " : ".", stdout);
}

void cli_wrap(const char *text, int column, int indent)
{
    bool first = true;
    while (*text) {
        size_t len = strcspn(text, " ");
        if (!first && column + 1 + (int)len > WIDTH) {
            printf("\n%*s", indent, "");
            column = indent;
            first = true;
        }
        printf("%s%.*s", first ? "" : " ", (int)len, text);
        column += (int)len + (first ? 0 : 1);
        first = false;
        text += len;
        text += strspn(text, " ");
    }
    putchar('\n');
}

void cli_complain(const char *text)
{
    fflush(stdout); /* what was said before comes before */
    bool style = cli_has_style(stderr);
    char shown[sizeof((tacit_error *)0)->text + 1];
    tacit_show(text, strlen(text), shown, sizeof shown); /* words may hold escape codes */
    fprintf(stderr, "%stacit:%s %s\n", style ? "\033[1;31m" : "", style ? "\033[0m" : "", shown);
}

void cli_remark(const char *text)
{
    bool style = cli_has_style(stderr);
    fprintf(stderr, "%snote:%s %s\n", style ? "\033[1m" : "", style ? "\033[0m" : "", text);
}
