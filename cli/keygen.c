/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tacit keygen: the identity of a peer. Makes one, or shows the public half of one that is there;
 * adds either to a list of members, so that nobody has to copy 64 digits. The secret half is never
 * shown.
 */
#include "base/file.h"
#include "base/writer.h"
#include "net/keys.h"
#include "report/writer.h"
#include "tacit/consortium.h"
#include "terminal.h"
#include "verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIST_MOST ((size_t)64 << 20) /* bytes of a list of members */

typedef struct keygen_flags {
    bool show, json, quiet;
    char members[TACIT_TEXT_MAX];
    char name[TACIT_TEXT_MAX], endpoint[TACIT_TEXT_MAX], agents[TACIT_TEXT_MAX];
} keygen_flags;

#define AT(member) .offset = offsetof(keygen_flags, member)
#define TEXT_FLAG(name, short_name, of, words, member)                             \
    {                                                                              \
        .key = name, .type = TACIT_OPT_TEXT, .fallback = "", .letter = short_name, \
        .value_name = of, .help = words, AT(member)                                \
    }
static const tacit_option options[] = {
    CLI_FLAG_SWITCH("show", 's', "show the identity in PATH (or PATH.pub) and make nothing",
                    AT(show)),
    CLI_FLAG_SWITCH("json", 'j', "print JSON (schema tacit.key/1) instead of words", AT(json)),
    CLI_FLAG_SWITCH("quiet", 'q', "no remarks", AT(quiet)),
    TEXT_FLAG("members", 'm', "FILE",
              "add the peer to this list of members, which is made if it is not there", members),
    TEXT_FLAG("name", 'n', "NAME", "what the peer is called in that list", name),
    TEXT_FLAG("endpoint", 'e', "ENDPOINT",
              "where others reach it, as in tcp://ward-b.example:7400; leave it out if it has no "
              "fixed address",
              endpoint),
    TEXT_FLAG("agents", 'a', "NUMBERS", "the agents it hosts, as in 0 or \"0-4 7\"", agents),
};

static const tacit_section section = {
    .options = options, .count = sizeof options / sizeof *options, .size = sizeof(keygen_flags)};

static const cli_example examples[] = {
    {"tacit keygen", "a new identity in identity.key, and identity.key.pub for others"},
    {"tacit keygen --show identity.key", "its public key and its fingerprint"},
    {"tacit keygen --show ward-b.pub", "the fingerprint of somebody else's, to compare by phone"},
    {"tacit keygen --members members.csv --name ward-a --endpoint tcp://ward-a.example:7400 "
     "--agents 0-4",
     "and a line for it in the list of members"},
    {"tacit keygen --show ward-b.pub --members members.csv --name ward-b --agents 5",
     "a line for somebody else"},
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
    sodium_memzero(text, len);
    free(text);
    return status;
}

/* ---- the list of members ---- */

static tacit_status check_flags(const keygen_flags *flags, tacit_error *err)
{
    const bool listed = *flags->members;
    const char *extra = *flags->name       ? "name"
                        : *flags->endpoint ? "endpoint"
                        : *flags->agents   ? "agents"
                                           : NULL;
    if (!listed && extra)
        return tacit_fail(err, TACIT_EUSAGE,
                          "--%s is for a list of members; say which by --members", extra);
    if (listed && !(*flags->name && *flags->agents))
        return tacit_fail(err, TACIT_EUSAGE,
                          "--members needs --%s: what the line of this peer shall say",
                          *flags->name ? "agents" : "name");
    return TACIT_OK;
}

static tacit_status read_list(char **text, size_t *len, const char *path, tacit_error *err)
{
    if (access(path, F_OK) == 0 || errno != ENOENT)
        return tacit_file_read(text, len, path, LIST_MOST, err);
    *len = 0;
    *text = calloc(1, 1);
    return *text ? TACIT_OK : tacit_out_of_memory(err);
}

static bool is_last(const tacit_roster *roster, const char *name,
                    const uint8_t public_key[TACIT_IDENTITY_BYTES])
{
    const tacit_node_member *last = roster->count ? &roster->members[roster->count - 1] : NULL;
    return last && strcmp(last->name, name) == 0 &&
           memcmp(last->key, public_key, TACIT_IDENTITY_BYTES) == 0;
}

/* What is to be written behind `text`, so that it is a good list with this peer in it. */
static tacit_status new_line(char **out, const char *text, size_t len, const keygen_flags *flags,
                             const uint8_t public_key[TACIT_IDENTITY_BYTES], tacit_error *err)
{
    char key[TACIT_IDENTITY_TEXT];
    tacit_writer more = {0}, all = {0};
    tacit_roster roster;
    tacit_identity_format(key, public_key);
    if (len == 0)
        tacit_write_text(&more, "name,key,endpoint,agents\n");
    else if (text[len - 1] != '\n')
        tacit_write_text(&more, "\n");
    tacit_write_format(&more, "%s,%s,%s,%s\n", flags->name, key, flags->endpoint, flags->agents);
    *out = tacit_writer_take(&more);
    tacit_write_bytes(&all, text, len);
    tacit_write_text(&all, *out ? *out : "");
    const size_t list_len = all.len;
    char *list = tacit_writer_take(&all);
    tacit_status status = *out && list
                              ? tacit_roster_parse(&roster, flags->members, list, list_len, err)
                              : tacit_out_of_memory(err);
    free(list);
    if (status == TACIT_OK) {
        /* A name like "#a" would make the line a remark. */
        if (!is_last(&roster, flags->name, public_key))
            status = tacit_fail(err, TACIT_EUSAGE, "\"%.100s\" cannot be the name of a member",
                                flags->name);
        tacit_roster_clear(&roster);
    }
    if (status == TACIT_OK)
        return TACIT_OK;
    free(*out);
    *out = NULL;
    return status;
}

/* Behind what is there, all of it or nothing. */
static tacit_status append(const char *path, const char *line, size_t before, tacit_error *err)
{
    const size_t len = strlen(line);
    const int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    bool good = fd >= 0;
    if (good)
        good = write(fd, line, len) == (ssize_t)len && fsync(fd) == 0;
    int problem = errno;
    if (!good && fd >= 0 && (before == 0 ? unlink(path) : ftruncate(fd, (off_t)before)) != 0)
        problem = errno;
    if (fd >= 0)
        close(fd);
    return good ? TACIT_OK
                : tacit_fail(err, TACIT_EINPUT, "cannot write \"%.300s\": %s", path,
                             strerror(problem));
}

/* With `try_out`, nothing is written: would the list take this key? */
static tacit_status enlist(const keygen_flags *flags,
                           const uint8_t public_key[TACIT_IDENTITY_BYTES], bool try_out,
                           tacit_error *err)
{
    char *text = NULL, *line = NULL;
    size_t len = 0;
    tacit_status status = read_list(&text, &len, flags->members, err);
    if (status == TACIT_OK)
        status = new_line(&line, text, len, flags, public_key, err);
    if (status == TACIT_OK && !try_out)
        status = append(flags->members, line, len, err);
    free(line);
    free(text);
    return status;
}

/* ---- making one ---- */

/* A key is made once the list is known to take it, and goes if the list then does not. */
static tacit_status make(uint8_t public_key[TACIT_IDENTITY_BYTES], const char *path,
                         const keygen_flags *flags, tacit_error *err)
{
    tacit_identity identity;
    tacit_status status = TACIT_OK;
    if (*flags->members) {
        status = tacit_identity_fresh(&identity, err);
        if (status == TACIT_OK)
            status = enlist(flags, identity.public_key, true, err);
        tacit_identity_wipe(&identity);
    }
    if (status == TACIT_OK)
        status = tacit_identity_create(&identity, path, err);
    if (status)
        return status;
    memcpy(public_key, identity.public_key, sizeof identity.public_key);
    tacit_identity_wipe(&identity);
    if (*flags->members)
        status = enlist(flags, public_key, false, err);
    if (status) {
        char beside[CLI_PATH_MAX];
        const int n = snprintf(beside, sizeof beside, "%s.pub", path);
        unlink(path);
        if (n > 0 && (size_t)n < sizeof beside)
            unlink(beside);
    }
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

static void remark_secret(const char *path)
{
    char text[1400];
    snprintf(text, sizeof text,
             "\"%.600s\" is this peer's secret: it stays on this machine. Others get the public "
             "key (also in \"%.600s.pub\"), for the list of members.",
             path, path);
    cli_remark(text);
}

static tacit_status run(const cli_args *args, tacit_error *err)
{
    const keygen_flags *flags = args->flags;
    const char *path = args->word_count > 0 ? args->words[0] : "identity.key";
    uint8_t public_key[TACIT_IDENTITY_BYTES];
    if (args->word_count > 1)
        return tacit_fail(err, TACIT_EUSAGE, "keygen takes one path, not also \"%.100s\"",
                          args->words[1]);
    tacit_status status = check_flags(flags, err);
    if (status == TACIT_OK && !flags->show)
        status = make(public_key, path, flags, err);
    else if (status == TACIT_OK) {
        status = read_public(public_key, path, err);
        if (status == TACIT_OK && *flags->members)
            status = enlist(flags, public_key, false, err);
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
    if (*flags->members)
        printf("%slisted%s       as \"%s\" in %s\n", cli_bold(), cli_plain(), flags->name,
               flags->members);
    if (!flags->show && !flags->quiet)
        remark_secret(path);
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
        "of members (members.csv) has one key a line; --members writes that line, or refuses "
        "what the list cannot take before anything is made. Two people who compare fingerprints "
        "by telephone know that nobody has exchanged a key on the way.",
    .flags = &section,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .run = run,
};
