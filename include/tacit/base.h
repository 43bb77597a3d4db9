/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_BASE_H
#define TACIT_BASE_H
/*
 * Errors, identities and scalars that every other header uses.
 *
 * The library never prints, never exits and never reads the environment of the
 * process. A function that can fail returns a tacit_status; the status *is* the
 * exit code the program ends with. Words for a person go to a tacit_error that
 * the caller owns; it may be NULL when nobody will read it.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TACIT_VERSION "0.1.0"

typedef enum tacit_status {
    TACIT_OK = 0,
    TACIT_NO = 1,         /* ran, and the answer is no */
    TACIT_EUSAGE = 2,     /* wrong words on the command line */
    TACIT_EINPUT = 3,     /* bad file, bad value, no room on the disk */
    TACIT_EPEER = 4,      /* network or peer */
    TACIT_EBUDGET = 5,    /* the privacy budget refuses */
    TACIT_EVERIFY = 6,    /* something was edited, cut or forged */
    TACIT_EINTERNAL = 70, /* our fault, or no memory */
    TACIT_EINTERRUPTED = 130
} tacit_status;

typedef struct tacit_error {
    tacit_status code;
    char text[600];
} tacit_error;

#if defined(__GNUC__)
#define TACIT_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define TACIT_MUST_USE __attribute__((warn_unused_result))
#else
#define TACIT_PRINTF(fmt, first)
#define TACIT_MUST_USE
#endif

/* Fill `err` (if any) and return `code`, so that callers write
 * `return tacit_fail(err, TACIT_EINPUT, "column \"%s\" is missing", name);`.
 * Messages start lower-case, name the culprit in quotes and say what to do. */
tacit_status tacit_fail(tacit_error *err, tacit_status code, const char *fmt, ...)
    TACIT_PRINTF(3, 4);
tacit_status tacit_out_of_memory(tacit_error *err);

/* An agent is a holder of data, not a machine: one node may host many. */
typedef uint64_t tacit_agent;
#define TACIT_NOBODY UINT64_MAX

/* Set it to anything but zero, from a signal handler or another thread, and what goes on
 * stops at the next point from which it can be resumed. */
typedef _Atomic int tacit_stop;

/* How the numbers of a segment are stored and sent. */
typedef enum tacit_scalar { TACIT_F32, TACIT_F64, TACIT_I64 } tacit_scalar;
size_t tacit_scalar_size(tacit_scalar scalar);

/* Checked arithmetic for sizes that come from outside: false on overflow. */
bool tacit_mul_size(size_t a, size_t b, size_t *out);
bool tacit_add_size(size_t a, size_t b, size_t *out);

#endif
