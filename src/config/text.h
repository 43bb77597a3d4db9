/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_CONFIG_TEXT_H
#define TACIT_CONFIG_TEXT_H
/* Text that comes from outside: is it sane, and how to show it in a message. */
#include "tacit/base.h"

/* Length of the UTF-8 character at `text` (at most `len` bytes), 0 if there is none:
 * overlong forms, surrogates and values past U+10FFFF are refused. */
size_t tacit_utf8_length(const char *text, size_t len);
/* Valid UTF-8 without control characters (C0, DEL, C1)? */
bool tacit_text_is_clean(const char *text, size_t len);
/* `text` for a message, never longer than `size`: control characters and broken UTF-8
 * become "?", what does not fit ends in "...". */
void tacit_show(const char *text, size_t len, char *out, size_t size);
/* Equal but for the case of ASCII letters. */
bool tacit_same_word(const char *a, const char *b);

#endif
