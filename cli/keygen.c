/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tacit keygen: the identity of a peer. Makes one, or shows the public half of one that is there.
 * The secret half is never shown.
 */
#include "base/file.h"
#include "net/keys.h"
#include "report/writer.h"
#include "terminal.h"
#include "verbs.h"

#include <stdlib.h>
#include <string.h>

typedef struct keygen_flags {
    bool show, json, quiet;
} keygen_flags;

#define AT(member) .offset = offsetof(keygen_flags, member)
static const tacit_option options[] = {
    CLI_FLAG_SWITCH("show", 's', "show the identity in PATH (or PATH.pub) and make nothing",
                    AT(show)),
    CLI_FLAG_SWITCH("json", 'j', "print JSON (schema tacit.key/1) instead of words", AT(json)),
    CLI_FLAG_SWITCH("quiet", 'q', "no remarks", AT(quiet)),
};

static const tacit_section section = {
    .options = options, .count = sizeof options / sizeof *options, .size = sizeof(keygen_flags)};

static const cli_example examples[] = {
    {"tacit keygen", "a new identity in identity.key, and identity.key.pub for others"},
    {"tacit keygen --show identity.key", "its public key and its fingerprint"},
    {"tacit keygen --show ward-b.pub", "the fingerprint of somebody else's, to compare by phone"},
};

/* A public key as it stands in a .pub file. */
static tacit_status parse_public(uint8_t key[TACIT_IDENTITY_BYTES], const char *path, char *text,
                                 size_t len, tacit_error *err)
{
    uint8_t link[TACIT_CURVE_BYTES];
    tacit_error why = {0};
    if (len > 0 && text[len - 1] == '\n')
        text[--len] = '\0';
    if (strlen(text) == len && tacit_identity_parse(key, text, &why) == TACIT_OK &&
        tacit_identity_curve(link, key, &why) == TACIT_OK)
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT,
                      "\"%.300s\" is neither an identity of \"tacit keygen\" nor its public key",
                      path);
}

static tacit_status read_public(uint8_t key[TACIT_IDENTITY_BYTES], const char *path,
                                tacit_error *err)
{
    static const char tag[] = "tacit-identity-";
    char *text = NULL;
    size_t len = 0;
    tacit_status status = tacit_file_read(&text, &len, path, 4096, err);
    if (status)
        return status;
    if (len > sizeof tag && memcmp(text, tag, sizeof tag - 1) == 0) {
        tacit_identity identity;
        status = tacit_identity_read(&identity, path, err);
        memcpy(key, identity.public_key, sizeof identity.public_key);
        tacit_identity_wipe(&identity);
    } else
        status = parse_public(key, path, text, len, err);
    memset(text, 0, len);
    free(text);
    return status;
}

static tacit_status print_json(const char *path, const char *key, const char *fingerprint,
                               tacit_error *err)
{
    tacit_writer out = {0};
    tacit_json json = {.out = &out};
    tacit_json_begin(&json, NULL, '{');
    tacit_json_text(&json, "schema", "tacit.key/1");
    tacit_json_text(&json, "path", path);
    tacit_json_text(&json, "key", key);
    tacit_json_text(&json, "fingerprint", fingerprint);
    tacit_json_end(&json, '}');
    char *text = tacit_writer_take(&out);
    if (!text)
        return tacit_out_of_memory(err);
    fputs(text, stdout);
    free(text);
    return TACIT_OK;
}

static tacit_status run(const cli_args *args, tacit_error *err)
{
    const keygen_flags *flags = args->flags;
    const char *path = args->word_count > 0 ? args->words[0] : "identity.key";
    uint8_t public_key[TACIT_IDENTITY_BYTES];
    if (args->word_count > 1)
        return tacit_fail(err, TACIT_EUSAGE, "keygen takes one path, not also \"%.100s\"",
                          args->words[1]);
    tacit_status status;
    if (flags->show)
        status = read_public(public_key, path, err);
    else {
        tacit_identity identity;
        status = tacit_identity_create(&identity, path, err);
        memcpy(public_key, identity.public_key, sizeof public_key);
        tacit_identity_wipe(&identity);
    }
    if (status)
        return status;
    char key[TACIT_IDENTITY_TEXT], fingerprint[TACIT_FINGERPRINT_TEXT];
    tacit_identity_format(key, public_key);
    tacit_identity_fingerprint(fingerprint, public_key);
    if (flags->json)
        return print_json(path, key, fingerprint, err);
    if (!flags->show)
        printf("%sidentity%s     %s\n", cli_bold(), cli_plain(), path);
    printf("%spublic key%s   %s\n", cli_bold(), cli_plain(), key);
    printf("%sfingerprint%s  %s\n", cli_bold(), cli_plain(), fingerprint);
    if (!flags->show && !flags->quiet) {
        char text[1400];
        snprintf(
            text, sizeof text,
            "\"%.600s\" is this peer's secret: it stays on this machine. Others get the public "
            "key (also in \"%.600s.pub\"), for the list of members.",
            path, path);
        cli_remark(text);
    }
    return TACIT_OK;
}

const cli_verb cli_keygen = {
    .name = "keygen",
    .argument = "[PATH]",
    .summary = "make the identity of a peer, or show its public key",
    .prose =
        "Makes a new Ed25519 key pair in PATH (identity.key by default), readable for its "
        "owner alone, and PATH.pub with the public key for everybody. A file that exists is "
        "never replaced. A peer is known by this key: it authenticates its links, and the list "
        "of members (members.csv) has one key a line. Two people who compare fingerprints by "
        "telephone know that nobody has exchanged a key on the way.",
    .flags = &section,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .run = run,
};
