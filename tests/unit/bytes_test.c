/* SPDX-License-Identifier: Apache-2.0 */
/* Files into memory: found, packed, cut, damaged, too large; blocks in memory and in files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <lzma.h>
#include <sys/stat.h>
#include <zlib.h>

#include "data/bytes.h"
#include "tables.h"

typedef struct packed {
    unsigned char *bytes;
    size_t len;
} packed;

static packed pack_gzip(const void *from, size_t len)
{
    packed p = {malloc(len + 1000), 0};
    assert_non_null(p.bytes);
    z_stream z = {.next_in = (Bytef *)(uintptr_t)from,
                  .avail_in = (uInt)len,
                  .next_out = p.bytes,
                  .avail_out = (uInt)len + 1000};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    p.len = z.total_out;
    deflateEnd(&z);
    return p;
}

static packed pack_xz(const void *from, size_t len)
{
    packed p = {malloc(len + 1000), 0};
    assert_non_null(p.bytes);
    assert_int_equal(
        lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, from, len, p.bytes, &p.len, len + 1000),
        LZMA_OK);
    return p;
}

/* Text that does not pack to nothing. */
static char *some_text(size_t len)
{
    char *text = malloc(len);
    assert_non_null(text);
    uint64_t word = 88172645463325252U;
    for (size_t k = 0; k < len; k++) {
        word = word * 6364136223846793005U + 1442695040888963407U;
        text[k] = "0123456789,.\n-ab"[word >> 60];
    }
    return text;
}

static tacit_status unpack(tacit_bytes *out, packed p, size_t len, tacit_error *err)
{
    /* Memory of exactly the size, so that a sanitizer sees any read past it. */
    char *copy = malloc(len ? len : 1);
    assert_non_null(copy);
    memcpy(copy, p.bytes, len);
    *err = (tacit_error){0};
    tacit_status status = tacit_unpack(out, tacit_pack_of((const char *)p.bytes, p.len), "f.gz",
                                       copy, len, NULL, err);
    free(copy);
    if (status) {
        assert_true(err->text[0] != '\0');
        assert_null(out->block.bytes);
    }
    return status;
}

static void check_round_trip(packed p, const char *text, size_t len)
{
    tacit_bytes out;
    tacit_error err;
    assert_int_equal(unpack(&out, p, p.len, &err), TACIT_OK);
    assert_int_equal(out.len, len);
    assert_memory_equal(tacit_bytes_at(&out), text, len);
    tacit_bytes_clear(&out);
}

static void test_unpacking(void **state)
{
    (void)state;
    const size_t sizes[] = {0, 1, 63, 1000, 65536, 500001};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        char *text = some_text(sizes[k] + 1);
        packed gz = pack_gzip(text, sizes[k]), xz = pack_xz(text, sizes[k]);
        assert_int_equal(tacit_pack_of((const char *)gz.bytes, gz.len), TACIT_PACK_GZIP);
        assert_int_equal(tacit_pack_of((const char *)xz.bytes, xz.len), TACIT_PACK_XZ);
        check_round_trip(gz, text, sizes[k]);
        check_round_trip(xz, text, sizes[k]);
        free(gz.bytes);
        free(xz.bytes);
        free(text);
    }
}

/* One line again and again packs a thousandfold: room has to grow many times, and what came out
 * before must come along. */
static void test_growth(void **state)
{
    (void)state;
    static const char line[] = "0123456789,abcdefghijklmnopqrstuvwxyz\n";
    size_t len = (size_t)40 << 20;
    char *text = malloc(len);
    assert_non_null(text);
    for (size_t k = 0; k < len; k++)
        text[k] = line[k % (sizeof line - 1)];
    packed gz = pack_gzip(text, len), xz = pack_xz(text, len);
    assert_true(gz.len < 200000 && xz.len < 200000);
    check_round_trip(gz, text, len);
    check_round_trip(xz, text, len);
    free(gz.bytes);
    free(xz.bytes);
    free(text);
}

/* 16 MiB of zeros, twenty times behind each other: less than 100 kB of xz. */
static void test_bomb(void **state)
{
    (void)state;
    enum { COPIES = 20 };
    size_t len = (size_t)16 << 20;
    char *zeros = calloc(len, 1);
    assert_non_null(zeros);
    packed one = pack_xz(zeros, len), p = {malloc(COPIES * one.len), COPIES * one.len};
    assert_non_null(p.bytes);
    for (size_t k = 0; k < COPIES; k++)
        memcpy(p.bytes + k * one.len, one.bytes, one.len);
    assert_true(p.len * 1000 < (size_t)256 << 20);
    tacit_bytes out;
    tacit_error err;
    assert_int_equal(unpack(&out, p, p.len, &err), TACIT_EINPUT);
    assert_string_equal(err.text, "\"f.gz\" unpacks to more than 1000 times its size; if that is "
                                  "right, unpack it by hand");
    p.len = 3 * one.len; /* a few of them are fine */
    assert_int_equal(unpack(&out, p, p.len, &err), TACIT_OK);
    assert_int_equal(out.len, 3 * len);
    tacit_bytes_clear(&out);
    free(zeros);
    free(one.bytes);
    free(p.bytes);
}

static void test_members(void **state)
{
    (void)state;
    packed one = pack_gzip("first\n", 6), two = pack_gzip("second\n", 7);
    packed both = {calloc(1, one.len + two.len + 600), one.len + two.len};
    assert_non_null(both.bytes);
    memcpy(both.bytes, one.bytes, one.len);
    memcpy(both.bytes + one.len, two.bytes, two.len);
    check_round_trip(both, "first\nsecond\n", 13);
    both.len += 512; /* zeros, as tapes have them */
    check_round_trip(both, "first\nsecond\n", 13);
    both.bytes[both.len - 1] = 'x';
    tacit_bytes out;
    tacit_error err;
    assert_int_equal(unpack(&out, both, both.len, &err), TACIT_EINPUT);
    assert_string_equal(err.text, "\"f.gz\" is a damaged gzip file: something else follows the "
                                  "packed data; get it again");
    free(one.bytes);
    free(two.bytes);
    free(both.bytes);
}

/* Cut anywhere: an error that says so. Changed anywhere: an error, or bytes; never a crash. */
static void test_damage(void **state)
{
    (void)state;
    char *text = some_text(200);
    packed both[] = {pack_gzip(text, 200), pack_xz(text, 200)};
    for (size_t k = 0; k < 2; k++) {
        packed p = both[k];
        tacit_bytes out;
        tacit_error err;
        for (size_t cut = 6; cut < p.len; cut++) {
            assert_int_equal(unpack(&out, p, cut, &err), TACIT_EINPUT);
            assert_non_null(strstr(err.text, "is cut: its "));
        }
        size_t refused = 0;
        for (size_t at = 6; at < p.len; at++) {
            p.bytes[at] ^= 0x10;
            refused += unpack(&out, p, p.len, &err) == TACIT_EINPUT;
            tacit_bytes_clear(&out);
            p.bytes[at] ^= 0x10;
        }
        assert_true(refused > p.len - 20); /* some bytes of a gzip header mean nothing to us */
        free(p.bytes);
    }
    free(text);
}

/* ---- files ---- */

static void test_load(void **state)
{
    (void)state;
    folder f = folder_make();
    tacit_data_options o = table_options(TACIT_SOURCE_CSV);
    tacit_bytes b;
    tacit_error err = {0};
    packed gz = pack_gzip("packed", 6);
    folder_text(&f, "plain", "plain");
    folder_text(&f, "empty", "");
    folder_write(&f, "no-ending", gz.bytes, gz.len);
    free(gz.bytes);
    for (int storage = 0; storage <= 1; storage++) {
        o.storage = storage;
        snprintf(o.scratch, sizeof o.scratch, "%s", f.path);
        assert_int_equal(tacit_bytes_load(&b, "plain", f.path, &o, &err), TACIT_OK);
        assert_int_equal(b.len, 5);
        assert_memory_equal(tacit_bytes_at(&b), "plain", 5);
        assert_int_equal(b.block.in_file, storage);
        tacit_bytes_clear(&b);
        assert_int_equal(tacit_bytes_load(&b, "no-ending", f.path, &o, &err), TACIT_OK);
        assert_int_equal(b.len, 6);
        assert_memory_equal(tacit_bytes_at(&b), "packed", 6);
        tacit_bytes_clear(&b);
        assert_int_equal(tacit_bytes_load(&b, "empty", f.path, &o, &err), TACIT_OK);
        assert_int_equal(b.len, 0);
        tacit_bytes_clear(&b);
    }
    assert_int_equal(tacit_bytes_load(&b, "nowhere", f.path, &o, &err), TACIT_EINPUT);
    assert_non_null(strstr(err.text, "cannot open \"nowhere\": not here and not in data.folder"));
    assert_int_equal(tacit_bytes_load(&b, "nowhere", "", &o, &err), TACIT_EINPUT);
    assert_non_null(strstr(err.text, "cannot open \"nowhere\": No such file or directory"));
    assert_int_equal(tacit_bytes_load(&b, f.path, "", &o, &err), TACIT_EINPUT);
    assert_non_null(strstr(err.text, "is a folder; expected a file"));
    assert_int_equal(tacit_bytes_load(&b, "/dev/zero", "", &o, &err), TACIT_EINPUT);
    assert_non_null(strstr(err.text, "is neither a file nor a pipe"));
    const char *const names[] = {"plain", "empty", "no-ending", NULL};
    folder_remove(&f, names); /* and nothing else was left in it */
}

static void test_paths(void **state)
{
    (void)state;
    folder f = folder_make();
    tacit_paths p;
    tacit_error err = {0};
    folder_text(&f, "a,b", "x");
    folder_text(&f, "c#1", "x");
    assert_int_equal(tacit_paths_split(&p, "a,b", f.path, "path", &err), TACIT_OK);
    assert_int_equal(p.count, 1);
    assert_string_equal(p.item[0], "a,b");
    assert_int_equal(tacit_paths_split(&p, "a, b c ,d", f.path, "path", &err), TACIT_OK);
    assert_int_equal(p.count, 3);
    assert_string_equal(p.item[0], "a");
    assert_string_equal(p.item[1], "b c");
    assert_string_equal(p.item[2], "d");
    assert_int_equal(tacit_paths_split(&p, "a,,b", f.path, "path", &err), TACIT_EINPUT);
    assert_string_equal(err.text, "data.path \"a,,b\" has an empty name between commas");
    assert_int_equal(tacit_paths_split(&p, "", f.path, "path", &err), TACIT_EINPUT);
    assert_string_equal(err.text, "data.path is empty; name the file to read");
    char many[TACIT_TEXT_MAX] = "a";
    for (int k = 0; k < 64; k++)
        memcpy(many + 1 + 2 * (size_t)k, ",a", 3);
    assert_int_equal(tacit_paths_split(&p, many, f.path, "path", &err), TACIT_EINPUT);

    long column;
    char path[TACIT_TEXT_MAX] = "c#1";
    assert_int_equal(tacit_paths_column(path, f.path, &column, &err), TACIT_OK);
    assert_int_equal(column, -1);
    assert_string_equal(path, "c#1");
    snprintf(path, sizeof path, "d#12");
    assert_int_equal(tacit_paths_column(path, f.path, &column, &err), TACIT_OK);
    assert_int_equal(column, 12);
    assert_string_equal(path, "d");
    snprintf(path, sizeof path, "d#x");
    assert_int_equal(tacit_paths_column(path, f.path, &column, &err), TACIT_EINPUT);
    const char *const names[] = {"a,b", "c#1", NULL};
    folder_remove(&f, names);
}

/* ---- blocks ---- */

static void test_blocks(void **state)
{
    (void)state;
    folder f = folder_make();
    tacit_error err = {0};
    const char *const scratches[] = {NULL, f.path};
    for (size_t k = 0; k < 2; k++) {
        tacit_block b;
        size_t len = ((size_t)5 << 20) + 7;
        assert_int_equal(tacit_block_claim(&b, len, scratches[k], &err), TACIT_OK);
        assert_int_equal(b.len, len);
        assert_int_equal(b.in_file, k == 1);
        unsigned char *bytes = b.bytes;
        for (size_t at = 0; at < len; at += 4093) {
            assert_int_equal(bytes[at], 0);
            bytes[at] = 7;
        }
        bytes[len - 1] = 9;
        assert_int_equal(bytes[4093], 7);
        tacit_block_release(&b);
        assert_null(b.bytes);
        assert_int_equal(tacit_block_claim(&b, 0, scratches[k], &err), TACIT_OK);
        assert_null(b.bytes);
        tacit_block_release(&b);
    }
    tacit_block b;
    assert_int_equal(tacit_block_claim(&b, 10, "/no/such/folder", &err), TACIT_EINPUT);
    assert_non_null(strstr(err.text, "cannot make a file in data.scratch \"/no/such/folder\""));
    assert_int_equal(tacit_block_claim(&b, (size_t)1 << 60, f.path, &err), TACIT_EINPUT);
    assert_non_null(strstr(err.text, "cannot claim"));
    assert_int_equal(tacit_block_claim(&b, (size_t)1 << 60, NULL, &err), TACIT_EINTERNAL);
    assert_non_null(strstr(err.text, "set data.storage to \"file\""));
    const char *const none[] = {NULL};
    folder_remove(&f, none); /* nameless files leave nothing */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unpacking), cmocka_unit_test(test_growth),
        cmocka_unit_test(test_bomb),      cmocka_unit_test(test_members),
        cmocka_unit_test(test_damage),    cmocka_unit_test(test_load),
        cmocka_unit_test(test_paths),     cmocka_unit_test(test_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
