/* SPDX-License-Identifier: Apache-2.0 */
#include "log_lines.h"

#include "runtime/node/log.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char *const cli_log_level_names[] = {"debug", "info", "warn", "error"};

/* "2026-11-16T12:00:00.123Z" */
static void now_text(char out[40])
{
    struct timespec now;
    struct tm utc;
    char date[30] = "1970-01-01T00:00:00";
    clock_gettime(CLOCK_REALTIME, &now);
    if (gmtime_r(&now.tv_sec, &utc))
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(out, 40, "%s.%03dZ", date, (int)(now.tv_nsec / 1000000));
}

/* One call of the system a line, past the stream's buffer: lines of several processes do not mix,
 * and what could not be written does not come back later. */
static bool put(FILE *file, const char *text, size_t len)
{
    ssize_t wrote;
    do
        wrote = write(fileno(file), text, len);
    while (wrote < 0 && errno == EINTR);
    return wrote == (ssize_t)len;
}

void cli_log_line(void *ctx, tacit_log_level level, const char *event, const char *fields)
{
    cli_log_lines *lines = ctx;
    if (level < lines->least || level > TACIT_LOG_ERROR)
        return;
    char time_text[40], line[2 * LOG_BYTES + 8];
    log_fields head;
    now_text(time_text);
    log_begin(&head);
    log_text(&head, "time", time_text);
    log_text(&head, "level", cli_log_level_names[level]);
    log_text(&head, "event", event);
    log_text(&head, "node", lines->node);
    if (lines->lost > 0)
        log_u64(&head, "lost_lines", lines->lost);
    const char *more = fields ? fields : "";
    if (strlen(more) >= LOG_BYTES) /* not made by log_end */
        more = "\"cut\":true";
    /* A line before that broke in its middle must not swallow this one. */
    const int len = snprintf(line, sizeof line, "%s{%s%s%s}\n", lines->lost > 0 ? "\n" : "",
                             log_end(&head), *more ? "," : "", more);
    if (len > 0 && (size_t)len < sizeof line && put(lines->file, line, (size_t)len))
        lines->lost = 0;
    else
        lines->lost++;
}
