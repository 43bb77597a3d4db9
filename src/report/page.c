/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "report/chart.h"

static const char *entity(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void tacit_page_escape(tacit_writer *out, const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        size_t n = tacit_character_length(text, left);
        const char *instead = n == 0 ? "\xef\xbf\xbd" : entity(*text);
        if (n == 1 && ((unsigned char)*text < 0x20 || *text == 0x7f))
            instead = " "; /* XML knows no control characters */
        n = n ? n : 1;
        if (instead)
            tacit_write_text(out, instead);
        else
            tacit_write_bytes(out, text, n);
        text += n;
        left -= n;
    }
}

void tacit_page_open(tacit_writer *out, const char *title, const char *subtitle)
{
    tacit_write_text(out,
                     "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                     "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
                     "<meta name=\"generator\" content=\"tacit\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                     "<title>");
    tacit_page_escape(out, title);
    tacit_write_format(out, "</title>\n<style>%s%s%s</style>\n<header><div><h1>",
                       tacit_page_colours, tacit_page_style, tacit_page_details);
    tacit_page_escape(out, title);
    tacit_write_text(out, "</h1>\n<p class=\"sub\">");
    tacit_page_escape(out, subtitle);
    tacit_write_text(out, "</p></div></header>\n<main>\n");
}

void tacit_page_heading(tacit_writer *out, const char *text)
{
    tacit_write_text(out, "<h2>");
    tacit_page_escape(out, text);
    tacit_write_text(out, "</h2>\n");
}

void tacit_page_grid(tacit_writer *out)
{
    tacit_write_text(out, "<div class=\"grid\">\n");
}

void tacit_page_grid_end(tacit_writer *out)
{
    tacit_write_text(out, "</div>\n");
}

void tacit_page_words(tacit_writer *out, const char *text, bool warning)
{
    tacit_write_text(out, warning ? "<p class=\"warn\">" : "<p class=\"note\">");
    tacit_page_escape(out, text);
    tacit_write_text(out, "</p>\n");
}

void tacit_page_table(tacit_writer *out)
{
    tacit_write_text(out, "<div class=\"wide\"><table>\n");
}

void tacit_page_figure(tacit_writer *out, const char *label, const char *fmt, ...)
{
    char value[600];
    va_list args;
    va_start(args, fmt);
    vsnprintf(value, sizeof value, fmt, args);
    va_end(args);
    tacit_write_text(out, "<tr><th>");
    tacit_page_escape(out, label);
    tacit_write_text(out, "</th><td>");
    tacit_page_escape(out, value);
    tacit_write_text(out, "</td></tr>\n");
}

void tacit_page_table_end(tacit_writer *out)
{
    tacit_write_text(out, "</table></div>\n");
}

void tacit_page_close(tacit_writer *out)
{
    tacit_write_format(out, "</main>\n<script>%s</script>\n</html>\n", tacit_page_script);
}
