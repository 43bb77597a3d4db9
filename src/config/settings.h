/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_CONFIG_SETTINGS_H
#define TACIT_CONFIG_SETTINGS_H
/* The list behind a tacit_config, shared by the YAML front and --set. */
#include "tacit/config.h"

#define TACIT_MAX_SETTINGS 1000
#define TACIT_MAX_YAML (1u << 20)

/* A zero-terminated copy; NULL if out of memory. */
char *tacit_text_copy(const char *text, size_t len);
tacit_setting *tacit_settings_find(const tacit_config *config, const char *key);
/* NULL if out of memory; the caller has checked the count and that the key is new. */
tacit_setting *tacit_settings_add(tacit_config *config, const char *key, const char *value,
                                  size_t value_len);
/* "file:line:column", or "--set" for line 0. */
void tacit_place(const char *source, int line, int column, char *out, size_t size);

#endif
