/* SPDX-License-Identifier: Apache-2.0 */
/* Every protocol, one line each. The line is all a new one needs beside its own file. */
#include <stdio.h>
#include <string.h>

#include "tacit/protocol.h"

#define EVERY_PROTOCOL(X) \
    X(alone)              \
    X(global)             \
    X(cd)                 \
    X(model_propagation)  \
    X(admm)               \
    X(perturbed)          \
    X(chorus)             \
    X(one_shot)           \
    X(learner)            \
    X(diffusion)          \
    X(gopa)               \
    X(dsgd)               \
    X(dsgt)               \
    X(dinno)              \
    X(dp_sgd)

#define DECLARE(name) extern const tacit_protocol tacit_protocol_##name;
EVERY_PROTOCOL(DECLARE)

#define LIST(name) &tacit_protocol_##name,
const tacit_protocol *const tacit_protocols[] = {EVERY_PROTOCOL(LIST) NULL};

const tacit_protocol *tacit_protocol_find(const char *name)
{
    for (size_t k = 0; tacit_protocols[k]; k++)
        if (strcmp(tacit_protocols[k]->name, name) == 0)
            return tacit_protocols[k];
    return NULL;
}

const char *tacit_protocol_sees(const tacit_protocol *protocol, const void *options,
                                char out[TACIT_SEES])
{
    if (protocol->sees)
        protocol->sees(out, TACIT_SEES, options);
    else
        snprintf(out, TACIT_SEES, "%s", tacit_trust_words(tacit_protocol_trust(protocol, options)));
    return out;
}

tacit_status tacit_protocol_set_up(const tacit_protocol *protocol, void *shared,
                                   const void *options, const tacit_setup *setup, tacit_error *err)
{
    if (tacit_model_net(setup->model) && !(tacit_protocol_flags(protocol, options) & TACIT_NETS))
        return tacit_fail(err, TACIT_EINPUT,
                          "protocol \"%s\" learns linear models; for \"model.layers\" use dsgd, "
                          "dsgt, dinno or dp-sgd",
                          protocol->name);
    return protocol->setup ? protocol->setup(shared, options, setup, err) : TACIT_OK;
}
