/* SPDX-License-Identifier: Apache-2.0 */
#include "log_lines.h"

#include "runtime/node/log.h"

#include <time.h>

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

void cli_log_line(void *ctx, tacit_log_level level, const char *event, const char *fields)
{
    cli_log_lines *lines = ctx;
    if (level < lines->least || level > TACIT_LOG_ERROR)
        return;
    char time_text[40];
    log_fields head;
    now_text(time_text);
    log_begin(&head);
    log_text(&head, "time", time_text);
    log_text(&head, "level", cli_log_level_names[level]);
    log_text(&head, "event", event);
    log_text(&head, "node", lines->node);
    if (lines->lost > 0)
        log_u64(&head, "lost_lines", lines->lost);
    const bool any = fields && *fields;
    /* A line before that broke in its middle must not swallow this one. */
    const char *fresh = lines->lost > 0 ? "\n" : "";
    const int wrote = fprintf(lines->file, "%s{%s%s%s}\n", fresh, log_end(&head), any ? "," : "",
                              any ? fields : "");
    if (wrote < 0 || fflush(lines->file) != 0) {
        clearerr(lines->file);
        lines->lost++;
    } else
        lines->lost = 0;
}
