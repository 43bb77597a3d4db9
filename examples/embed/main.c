/* SPDX-License-Identifier: Apache-2.0 */
/* A whole experiment inside another program: parse, build, run, measure. */
#include <stdio.h>
#include <tacit/tacit.h>

static const char yaml[] = "data: {agents: 50, dimension: 20, bound: l2}\n"
                           "protocol: {name: cd, mu: 5}\n";

int main(void)
{
    tacit_error err = {0};
    tacit_config config;
    tacit_experiment experiment = {0};
    tacit_session *session = NULL;
    tacit_snapshot end;
    tacit_config_init(&config);
    tacit_status status = tacit_config_parse(&config, "built in", yaml, sizeof yaml - 1, &err);
    if (!status)
        status = tacit_experiment_init(&experiment, &config, &err);
    if (!status)
        status = tacit_session_create(&session, &experiment, 1, &err);
    if (!status) /* no folder: nothing is written */
        status = tacit_session_run(session, &(tacit_run_request){0}, &err);
    if (!status)
        status = tacit_session_measure(session, &end, &err);
    if (status)
        fprintf(stderr, "%s\n", err.text);
    else
        printf("test accuracy %.3f\n", end.test);
    tacit_session_free(session);
    tacit_experiment_clear(&experiment);
    tacit_config_clear(&config);
    return (int)status;
}
