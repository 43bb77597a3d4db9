/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identities: an Ed25519 key pair, and the X25519 pair that follows from it by the birational map
 * between the two forms of the curve (RFC 7748, section 4.1). The map forgets a sign, so that a key
 * and its negative have the same link key; both have the same owner.
 *
 * The file is one line of text, "tacit-identity-1 " and the seed of 32 bytes in hexadecimal: all
 * else is computed from it.
 */
#include "net/keys.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#define TAG "tacit-identity-1 "
enum {
    TAG_LEN = sizeof TAG - 1,
    SEED = crypto_sign_SEEDBYTES,
    FILE_LEN = TAG_LEN + 2 * SEED + 1,
};

static tacit_status from_seed(tacit_identity *out, const uint8_t seed[SEED], tacit_error *err)
{
    crypto_sign_seed_keypair(out->public_key, out->secret, seed);
    if (crypto_sign_ed25519_sk_to_curve25519(out->curve_secret, out->secret) == 0 &&
        crypto_sign_ed25519_pk_to_curve25519(out->curve_public, out->public_key) == 0)
        return TACIT_OK;
    tacit_identity_wipe(out);
    return tacit_fail(err, TACIT_EINTERNAL, "cannot compute the link key of an identity");
}

static tacit_status fresh_seed(uint8_t seed[SEED], tacit_error *err)
{
    if (sodium_init() < 0)
        return tacit_fail(err, TACIT_EINTERNAL, "no source of randomness for an identity");
    randombytes_buf(seed, SEED);
    return TACIT_OK;
}

tacit_status tacit_identity_fresh(tacit_identity *out, tacit_error *err)
{
    uint8_t seed[SEED];
    tacit_status status = fresh_seed(seed, err);
    if (!status)
        status = from_seed(out, seed, err);
    sodium_memzero(seed, sizeof seed);
    return status;
}

static tacit_status write_secret(const char *path, const uint8_t seed[SEED], tacit_error *err)
{
    char line[FILE_LEN + 1] = TAG;
    sodium_bin2hex(line + TAG_LEN, 2 * SEED + 1, seed, SEED);
    line[FILE_LEN - 1] = '\n';
    tacit_status status = tacit_file_create(path, 0600, line, FILE_LEN, "identity file", err);
    sodium_memzero(line, sizeof line);
    return status;
}

static tacit_status write_public(const char *path, const tacit_identity *id, tacit_error *err)
{
    char line[TACIT_IDENTITY_TEXT];
    tacit_identity_format(line, id->public_key);
    line[sizeof line - 1] = '\n';
    return tacit_file_create(path, 0644, line, sizeof line, "public key file", err);
}

tacit_status tacit_identity_create(tacit_identity *out, const char *path, tacit_error *err)
{
    uint8_t seed[SEED];
    char *shown = tacit_path_with(path, ".pub");
    if (!shown)
        return tacit_out_of_memory(err);
    tacit_status status = fresh_seed(seed, err);
    if (!status)
        status = from_seed(out, seed, err);
    if (!status)
        status = write_secret(path, seed, err);
    if (!status) {
        status = write_public(shown, out, err);
        if (status)
            unlink(path); /* made a moment ago, by us */
    }
    if (status)
        tacit_identity_wipe(out);
    sodium_memzero(seed, sizeof seed);
    free(shown);
    return status;
}

static tacit_status check_mode(int fd, const char *path, tacit_error *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return tacit_fail(err, TACIT_EINPUT, "cannot read the identity file \"%.300s\": %s", path,
                          strerror(errno));
    if (S_ISREG(info.st_mode) && (info.st_mode & (S_IRWXG | S_IRWXO)))
        return tacit_fail(err, TACIT_EINPUT,
                          "the identity file \"%.300s\" is open to others (mode %03o); make a new "
                          "one, or, if you are sure that nobody looked, \"chmod 600\" it",
                          path, (unsigned)(info.st_mode & 0777));
    return TACIT_OK;
}

/* Exactly the bytes that tacit_identity_create writes. */
static bool parse_file(uint8_t seed[SEED], const char *text, size_t len)
{
    size_t got = 0;
    return len == FILE_LEN && memcmp(text, TAG, TAG_LEN) == 0 && text[len - 1] == '\n' &&
           sodium_hex2bin(seed, SEED, text + TAG_LEN, 2 * SEED, NULL, &got, NULL) == 0 &&
           got == SEED;
}

tacit_status tacit_identity_read(tacit_identity *out, const char *path, tacit_error *err)
{
    *out = (tacit_identity){{0}, {0}, {0}, {0}};
    if (sodium_init() < 0)
        return tacit_fail(err, TACIT_EINTERNAL, "cannot start the cryptographic library");
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return tacit_fail(err, TACIT_EINPUT, "cannot open the identity file \"%.300s\": %s", path,
                          strerror(errno));
    char *text = NULL;
    size_t len = 0;
    tacit_status status = check_mode(fd, path, err);
    if (!status)
        status = tacit_file_read_fd(fd, path, 4096, &text, &len, err);
    close(fd);
    if (status)
        return status;
    uint8_t seed[SEED];
    status = parse_file(seed, text, len)
                 ? from_seed(out, seed, err)
                 : tacit_fail(err, TACIT_EINPUT,
                              "\"%.300s\" is not an identity file; make one with \"tacit keygen\"",
                              path);
    sodium_memzero(seed, sizeof seed);
    sodium_memzero(text, len);
    free(text);
    return status;
}

void tacit_identity_wipe(tacit_identity *identity)
{
    sodium_memzero(identity, sizeof *identity);
}

tacit_status tacit_identity_curve(uint8_t curve[TACIT_CURVE_BYTES],
                                  const uint8_t public_key[TACIT_IDENTITY_BYTES], tacit_error *err)
{
    if (sodium_init() < 0)
        return tacit_fail(err, TACIT_EINTERNAL, "cannot start the cryptographic library");
    if (crypto_sign_ed25519_pk_to_curve25519(curve, public_key) == 0)
        return TACIT_OK;
    char text[TACIT_IDENTITY_TEXT];
    tacit_identity_format(text, public_key);
    return tacit_fail(err, TACIT_EINPUT, "\"%s\" is not a public key: it is no point of the curve",
                      text);
}

void tacit_identity_format(char text[TACIT_IDENTITY_TEXT],
                           const uint8_t public_key[TACIT_IDENTITY_BYTES])
{
    sodium_bin2hex(text, TACIT_IDENTITY_TEXT, public_key, TACIT_IDENTITY_BYTES);
}

tacit_status tacit_identity_parse(uint8_t public_key[TACIT_IDENTITY_BYTES], const char *text,
                                  tacit_error *err)
{
    size_t got = 0;
    size_t len = strnlen(text, TACIT_IDENTITY_TEXT);
    if (len == TACIT_IDENTITY_TEXT - 1 &&
        sodium_hex2bin(public_key, TACIT_IDENTITY_BYTES, text, len, NULL, &got, NULL) == 0 &&
        got == TACIT_IDENTITY_BYTES)
        return TACIT_OK;
    /* Not shown whole: people paste the wrong file, and that one is secret. */
    if (strncmp(text, TAG, TAG_LEN - 1) == 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"%.16s\" begins a secret identity; give the key in the .pub file", TAG);
    return tacit_fail(err, TACIT_EINPUT,
                      "\"%.8s%s\" is not a public key: it has %d hexadecimal digits", text,
                      len > 8 ? "..." : "", TACIT_IDENTITY_TEXT - 1);
}

void tacit_identity_fingerprint(char text[TACIT_FINGERPRINT_TEXT],
                                const uint8_t public_key[TACIT_IDENTITY_BYTES])
{
    static const char personal[] = "tacit fingerprint";
    uint8_t hash[16];
    crypto_generichash(hash, sizeof hash, public_key, TACIT_IDENTITY_BYTES,
                       (const uint8_t *)personal, sizeof personal - 1);
    char digits[2 * sizeof hash + 1];
    sodium_bin2hex(digits, sizeof digits, hash, sizeof hash);
    for (size_t group = 0; group < 8; group++) {
        memcpy(text + 5 * group, digits + 4 * group, 4);
        text[5 * group + 4] = group < 7 ? ' ' : '\0';
    }
}

/* ---- who said what ---- */

/* The name with its final zero: where it ends is part of what is hashed. */
static void word_hash(uint8_t hash[crypto_generichash_BYTES], tacit_signed_by by, const void *text,
                      size_t len)
{
    static const char domain[] = "tacit agent's word 2";
    uint8_t number[8];
    crypto_generichash_state h;
    for (int k = 0; k < 8; k++)
        number[k] = (uint8_t)(by.agent >> 8 * k);
    crypto_generichash_init(&h, NULL, 0, crypto_generichash_BYTES);
    crypto_generichash_update(&h, (const uint8_t *)domain, sizeof domain);
    crypto_generichash_update(&h, by.run, TACIT_RUN_ID);
    crypto_generichash_update(&h, number, sizeof number);
    crypto_generichash_update(&h, (const uint8_t *)by.name, strlen(by.name) + 1);
    crypto_generichash_update(&h, text, len);
    crypto_generichash_final(&h, hash, crypto_generichash_BYTES);
}

void tacit_identity_sign(uint8_t signature[TACIT_SIGNATURE], const tacit_identity *identity,
                         tacit_signed_by by, const void *text, size_t len)
{
    uint8_t hash[crypto_generichash_BYTES];
    word_hash(hash, by, text, len);
    crypto_sign_detached(signature, NULL, hash, sizeof hash, identity->secret);
}

bool tacit_identity_signed(const uint8_t signature[TACIT_SIGNATURE],
                           const uint8_t public_key[TACIT_IDENTITY_BYTES], tacit_signed_by by,
                           const void *text, size_t len)
{
    uint8_t hash[crypto_generichash_BYTES];
    word_hash(hash, by, text, len);
    return crypto_sign_verify_detached(signature, hash, sizeof hash, public_key) == 0;
}
