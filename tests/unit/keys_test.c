/* SPDX-License-Identifier: Apache-2.0 */
/* Identities: the file and who may read it, the link key that follows, keys as text. */
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/keys.h"
#include "testing.h"

static void write_file(const char *path, const char *text, size_t len, mode_t mode)
{
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, len), (ssize_t)len);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static size_t read_file(const char *path, char *text, size_t room)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t got = fread(text, 1, room, f);
    fclose(f);
    return got;
}

static unsigned mode_of(const char *path)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 0777;
}

static void test_created_is_what_is_read(void **state)
{
    (void)state;
    tacit_error err;
    tacit_identity made, read;
    check_ok(tacit_identity_create(&made, "a", &err), &err);
    assert_int_equal(mode_of("a"), 0600);
    assert_int_equal(mode_of("a.pub"), 0644);
    char text[200], key[TACIT_IDENTITY_TEXT];
    assert_int_equal(read_file("a.pub", text, sizeof text), 65);
    tacit_identity_format(key, made.public_key);
    assert_memory_equal(text, key, 64);
    assert_int_equal(text[64], '\n');
    assert_int_equal(read_file("a", text, sizeof text), 82);
    assert_memory_equal(text, "tacit-identity-1 ", 17);
    check_ok(tacit_identity_read(&read, "a", &err), &err);
    assert_memory_equal(&made, &read, sizeof made);
    check_fails(tacit_identity_create(&read, "a", &err), TACIT_EINPUT, &err, "exists");
    char after[200];
    assert_int_equal(read_file("a", after, sizeof after), 82);
    assert_memory_equal(text, after, 82);
}

/* The .pub of somebody is there: nothing of it is changed, and no secret stays behind. */
static void test_nothing_left_behind(void **state)
{
    (void)state;
    tacit_error err;
    tacit_identity id;
    write_file("b.pub", "x", 1, 0644);
    check_fails(tacit_identity_create(&id, "b", &err), TACIT_EINPUT, &err, "b.pub");
    assert_int_equal(access("b", F_OK), -1);
    char text[10];
    assert_int_equal(read_file("b.pub", text, sizeof text), 1);
    assert_true(sodium_is_zero((const uint8_t *)&id, sizeof id));
    check_fails(tacit_identity_create(&id, "no/such/folder", &err), TACIT_EINPUT, &err, "no/such");
}

static void test_files_that_are_refused(void **state)
{
    (void)state;
    tacit_error err;
    tacit_identity id;
    char text[100];
    check_ok(tacit_identity_create(&id, "c", &err), &err);
    size_t len = read_file("c", text, sizeof text);
    static const mode_t open_modes[] = {0640, 0604, 0620, 0601, 0666};
    for (size_t i = 0; i < sizeof open_modes / sizeof *open_modes; i++) {
        write_file("d", text, len, open_modes[i]);
        check_fails(tacit_identity_read(&id, "d", &err), TACIT_EINPUT, &err, "open to others");
    }
    write_file("d", text, len, 0600);
    check_ok(tacit_identity_read(&id, "d", &err), &err);
    for (size_t cut = 0; cut < len; cut++) {
        write_file("d", text, cut, 0600);
        check_fails(tacit_identity_read(&id, "d", &err), TACIT_EINPUT, &err, "not an identity");
    }
    for (size_t at = 0; at < len; at++) {
        char changed[100];
        memcpy(changed, text, len);
        changed[at] = '?';
        write_file("d", changed, len, 0600);
        check_fails(tacit_identity_read(&id, "d", &err), TACIT_EINPUT, &err, "not an identity");
    }
    text[len] = '\n';
    write_file("d", text, len + 1, 0600);
    check_fails(tacit_identity_read(&id, "d", &err), TACIT_EINPUT, &err, "not an identity");
    check_fails(tacit_identity_read(&id, "c.pub", &err), TACIT_EINPUT, &err, "open to others");
    check_fails(tacit_identity_read(&id, "none", &err), TACIT_EINPUT, &err, "none");
    check_fails(tacit_identity_read(&id, ".", &err), TACIT_EINPUT, &err, ".");
    assert_int_equal(mkfifo("pipe", 0600), 0);
    check_fails(tacit_identity_read(&id, "pipe", &err), TACIT_EINPUT, &err, "regular");
}

/* RFC 8032, 7.1, test 1: seed and public key; and
 * its link key u = (1 + y) / (1 - y) by plain integers. */
static void test_known_answer(void **state)
{
    (void)state;
    static const char file[] =
        "tacit-identity-1 9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60\n";
    static const char curve[] = "d85e07ec22b0ad881537c2f44d662d1a143cf830c57aca4305d85c7a90f6b62e";
    static const char key[] = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
    tacit_error err;
    tacit_identity id;
    char text[TACIT_IDENTITY_TEXT];
    write_file("rfc", file, sizeof file - 1, 0600);
    check_ok(tacit_identity_read(&id, "rfc", &err), &err);
    tacit_identity_format(text, id.public_key);
    assert_string_equal(text, key);
    tacit_identity_format(text, id.curve_public);
    assert_string_equal(text, curve);
}

/* One secret, two forms: the link's public key is the one that belongs to its secret key. */
static void test_link_key_follows(void **state)
{
    (void)state;
    tacit_error err;
    for (int k = 0; k < 20; k++) {
        tacit_identity id;
        uint8_t curve[TACIT_CURVE_BYTES];
        check_ok(tacit_identity_fresh(&id, &err), &err);
        check_ok(tacit_identity_curve(curve, id.public_key, &err), &err);
        assert_memory_equal(curve, id.curve_public, sizeof curve);
        assert_int_equal(crypto_scalarmult_base(curve, id.curve_secret), 0);
        assert_memory_equal(curve, id.curve_public, sizeof curve);
        tacit_identity_wipe(&id);
        assert_true(sodium_is_zero((const uint8_t *)&id, sizeof id));
    }
    uint8_t curve[TACIT_CURVE_BYTES], zero[TACIT_IDENTITY_BYTES] = {0}, one[32] = {1},
                                      two[32] = {2};
    check_fails(tacit_identity_curve(curve, zero, &err), TACIT_EINPUT, &err, "no point");
    check_fails(tacit_identity_curve(curve, one, &err), TACIT_EINPUT, &err, "no point");
    check_fails(tacit_identity_curve(curve, two, &err), TACIT_EINPUT, &err, "no point");
}

static void test_text(void **state)
{
    (void)state;
    tacit_error err;
    tacit_identity id;
    uint8_t key[TACIT_IDENTITY_BYTES];
    char text[TACIT_IDENTITY_TEXT + 2];
    check_ok(tacit_identity_fresh(&id, &err), &err);
    tacit_identity_format(text, id.public_key);
    check_ok(tacit_identity_parse(key, text, &err), &err);
    assert_memory_equal(key, id.public_key, sizeof key);
    text[64] = 'a';
    text[65] = '\0';
    check_fails(tacit_identity_parse(key, text, &err), TACIT_EINPUT, &err, "64");
    text[63] = '\0';
    check_fails(tacit_identity_parse(key, text, &err), TACIT_EINPUT, &err, "64");
    text[63] = 'g';
    text[64] = '\0';
    check_fails(tacit_identity_parse(key, text, &err), TACIT_EINPUT, &err, "64");
    check_fails(tacit_identity_parse(key, "", &err), TACIT_EINPUT, &err, "64");
    /* A secret that was pasted is not repeated. */
    static const char secret[] =
        "tacit-identity-1 9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
    check_fails(tacit_identity_parse(key, secret, &err), TACIT_EINPUT, &err, ".pub");
    assert_null(strstr(err.text, "9d61"));
}

static void test_fingerprint(void **state)
{
    (void)state;
    tacit_error err;
    tacit_identity a;
    char one[TACIT_FINGERPRINT_TEXT], two[TACIT_FINGERPRINT_TEXT];
    check_ok(tacit_identity_fresh(&a, &err), &err);
    tacit_identity_fingerprint(one, a.public_key);
    tacit_identity_fingerprint(two, a.public_key);
    assert_string_equal(one, two);
    assert_int_equal(strlen(one), 39);
    for (size_t i = 0; i < 39; i++)
        assert_true(i % 5 == 4 ? one[i] == ' ' : strchr("0123456789abcdef", one[i]) != NULL);
    a.public_key[31] ^= 1;
    tacit_identity_fingerprint(two, a.public_key);
    int same = 0;
    for (size_t i = 0; i < 39; i++)
        same += i % 5 != 4 && one[i] == two[i];
    assert_true(same < 12); /* of 32, two by chance; 12 or more: 3e-7 */
}

int main(void)
{
    umask(022);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_created_is_what_is_read),
        cmocka_unit_test(test_nothing_left_behind),
        cmocka_unit_test(test_files_that_are_refused),
        cmocka_unit_test(test_known_answer),
        cmocka_unit_test(test_link_key_follows),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_fingerprint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
