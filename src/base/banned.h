/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_BANNED_H
#define TACIT_BANNED_H
/*
 * Functions that are compile errors in src/ and cli/: the build puts this file before
 * every source (-include). The headers that declare or mention them come first, because a
 * poisoned word is an error wherever it stands afterwards.
 *
 *   strcpy, strcat, sprintf, vsprintf, gets   write past the end: snprintf, memcpy
 *   strtok                                    keeps hidden state: strcspn, strspn
 *   atoi, atol, atoll, atof                   cannot report an error: tacit_option_set, strtod
 *   rand, srand, random, srandom              no stream, no seed of ours: tacit/random.h
 *   system                                    a shell between us and the user's words
 *
 * "random" is a member and a parameter name in tacit/random.h, so the libc functions of
 * that name cannot be poisoned; tools/check_words.sh looks for their calls instead.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#if defined(__GNUC__)
#pragma GCC poison strcpy stpcpy strcat sprintf vsprintf gets strtok
#pragma GCC poison atoi atol atoll atof rand srand drand48 lrand48 system
#endif

#endif
