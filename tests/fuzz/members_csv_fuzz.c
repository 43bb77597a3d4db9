/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a list of members: an error with words, or a list in which every agent has one host
 * and which reads back from what is written of it. "%0" to "%9" become keys, which a fuzzer would
 * not find.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/writer.h"
#include "net/keys.h"
#include "tacit/consortium.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum { KEYS = 10 };
static char keys[KEYS][TACIT_IDENTITY_TEXT];

static void make_keys(void)
{
    for (int k = 0; k < KEYS; k++) {
        tacit_identity identity;
        if (tacit_identity_fresh(&identity, NULL))
            abort();
        tacit_identity_format(keys[k], identity.public_key);
    }
}

static void check(const tacit_roster *r)
{
    uint64_t hosted = 0;
    for (uint32_t k = 0; k < r->count; k++) {
        const tacit_node_member *m = &r->members[k];
        if (m->count == 0 || !m->name[0])
            abort();
        for (uint32_t i = 0; i < m->count; i++)
            if (m->agents[i] >= r->agents || r->host[m->agents[i]] != k ||
                (i > 0 && m->agents[i] <= m->agents[i - 1]))
                abort();
        hosted += m->count;
    }
    for (uint32_t i = 0; i < r->agents; i++)
        hosted -= r->host[i] != TACIT_ROSTER_MEMBERS;
    if (hosted != 0)
        abort();
}

static void again(const tacit_roster *r)
{
    tacit_roster back;
    tacit_error err = {0};
    char *text = tacit_roster_text(r->members, r->count);
    if (!text || tacit_roster_parse(&back, "again", text, strlen(text), &err))
        abort();
    char *same = tacit_roster_text(back.members, back.count);
    if (!same || strcmp(text, same) != 0 || back.agents != r->agents)
        abort();
    free(text);
    free(same);
    tacit_roster_clear(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    tacit_writer text = {0};
    tacit_roster r;
    tacit_error err = {0};
    if (!keys[0][0])
        make_keys();
    tacit_write_text(&text, "");
    for (size_t k = 0; k < len; k++) {
        if (bytes[k] == '%' && k + 1 < len && bytes[k + 1] >= '0' && bytes[k + 1] <= '9')
            tacit_write_text(&text, keys[bytes[++k] - '0']);
        else
            tacit_write_bytes(&text, &bytes[k], 1);
    }
    tacit_status status = tacit_roster_parse(&r, "fuzz.csv", text.text, text.len, &err);
    if (status ? status != TACIT_EINPUT || !err.text[0] || r.members : r.count == 0)
        abort();
    if (!status) {
        check(&r);
        again(&r);
    }
    tacit_roster_clear(&r);
    tacit_writer_clear(&text);
    return 0;
}
