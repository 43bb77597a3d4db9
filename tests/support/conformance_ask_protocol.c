/* SPDX-License-Identifier: Apache-2.0 */
/* Linked into every test: see conformance/suite.h. */
#include "../conformance/ask_protocol.c"
