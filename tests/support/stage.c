/* SPDX-License-Identifier: Apache-2.0 */
#include "stage.h"

#include <string.h>

#include "testing.h"

void stage_init(stage *s, const char *protocol, uint64_t seed, int loss)
{
    tacit_error err = {0};
    memset(s, 0, sizeof *s);
    problem_init(&s->q, seed, loss, TACIT_F64);
    const tacit_protocol *p = tacit_protocol_find(protocol);
    assert_non_null(p);
    assert_true(p->options.size <= sizeof s->options);
    check_ok(tacit_options_defaults(&p->options, s->options, &err), &err);
    s->world = world_defaults(&s->q.graph, p);
    s->world.data = s->q.data;
    s->world.model = s->q.model;
    s->world.protocol_options = s->options;
}

void stage_rebuild(stage *s)
{
    problem_clear(&s->q);
    problem_build(&s->q, TACIT_F64);
    s->world.graph = &s->q.graph;
    s->world.data = s->q.data;
    s->world.model = s->q.model;
}

void stage_set(stage *s, const char *key, const char *value)
{
    tacit_error err = {0};
    const tacit_option *option = tacit_section_find(&s->world.protocol->options, key, strlen(key));
    assert_non_null(option);
    check_ok(tacit_option_set(option, s->options, value, &err), &err);
}

void stage_noise(stage *s, double epsilon)
{
    s->world.privacy.mechanism = TACIT_MECHANISM_GAUSSIAN;
    s->world.privacy.epsilon = epsilon;
    s->world.privacy.delta = 1e-3;
    s->world.privacy.clip = 0.5;
}

void stage_run(stage *s, double time)
{
    if (!s->rt)
        s->rt = world_create(&tacit_simulator, &s->world);
    world_run(s->rt, time);
}

void stage_finish(stage *s)
{
    tacit_error err = {0};
    check_ok(s->rt->ops->finish(s->rt, &err), &err);
}

void stage_again(stage *s)
{
    if (s->rt)
        s->rt->ops->destroy(s->rt);
    s->rt = NULL;
}

void stage_clear(stage *s)
{
    stage_again(s);
    problem_clear(&s->q);
}
