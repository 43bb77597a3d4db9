/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text from outside, and the nearest known word to a mistyped one.
 *
 * The distance counts insertions, deletions, replacements and swaps of two neighbours
 * (optimal string alignment), because those are the slips of a typist. A suggestion is
 * made only if it is short compared with the word: a wrong guess is worse than none.
 */
#include "config/text.h"
#include "tacit/config.h"

#include <string.h>

#define LONGEST 64

size_t tacit_utf8_length(const char *text, size_t len)
{
    if (len == 0)
        return 0;
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x80)
        return 1;
    size_t n = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4 || len < n)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    }
    bool overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
    bool surrogate = s[0] == 0xED && s[1] > 0x9F;
    bool beyond = s[0] == 0xF4 && s[1] > 0x8F;
    return overlong || surrogate || beyond ? 0 : n;
}

static bool is_control(const char *text, size_t len)
{
    const unsigned char *s = (const unsigned char *)text;
    return s[0] < 0x20 || s[0] == 0x7F || (len > 1 && s[0] == 0xC2 && s[1] < 0xA0);
}

bool tacit_text_is_clean(const char *text, size_t len)
{
    for (size_t i = 0; i < len;) {
        size_t n = tacit_utf8_length(text + i, len - i);
        if (n == 0 || is_control(text + i, n))
            return false;
        i += n;
    }
    return true;
}

void tacit_show(const char *text, size_t len, char *out, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < len;) {
        size_t n = tacit_utf8_length(text + i, len - i);
        bool good = n > 0 && !is_control(text + i, n);
        size_t step = n > 0 ? n : 1;
        size_t need = good ? n : 1;
        /* Keep room for "..." and the final zero unless this is the last character. */
        if (used + need + (i + step < len ? 4 : 1) > size) {
            memcpy(out + used, "...", 3);
            used += 3;
            break;
        }
        if (good)
            memcpy(out + used, text + i, n);
        else
            out[used] = '?';
        used += need;
        i += step;
    }
    out[used] = '\0';
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool tacit_same_word(const char *a, const char *b)
{
    while (*a && lower(*a) == lower(*b)) {
        a++;
        b++;
    }
    return *a == *b;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t distance(const char *a, size_t la, const char *b, size_t lb)
{
    size_t rows[3][LONGEST + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= lb; j++)
        last[j] = j;
    for (size_t i = 1; i <= la; i++) {
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            size_t cost = lower(a[i - 1]) != lower(b[j - 1]);
            row[j] = least(least(last[j] + 1, row[j - 1] + 1), last[j - 1] + cost);
            bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                           lower(a[i - 2]) == lower(b[j - 1]);
            if (swapped)
                row[j] = least(row[j], before[j - 2] + 1);
        }
        size_t *spare = before;
        before = last;
        last = row;
        row = spare;
    }
    return last[lb];
}

const char *tacit_nearest(const char *word, const char *const *names, size_t count)
{
    size_t len = strlen(word);
    if (len == 0 || len > LONGEST)
        return NULL;
    size_t best = len <= 4 ? 1 : len <= 7 ? 2 : 3;
    if (best >= len)
        best = len - 1;
    const char *found = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t name_len = strlen(names[i]);
        if (name_len > LONGEST)
            continue;
        size_t d = distance(word, len, names[i], name_len);
        /* An abbreviation is as good as one slip. */
        if (len >= 3 && name_len > len && strncmp(names[i], word, len) == 0)
            d = least(d, 1);
        if (d < best || (d == best && !found)) {
            best = d;
            found = names[i];
        }
    }
    return found;
}
