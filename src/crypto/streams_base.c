/* SPDX-License-Identifier: Apache-2.0 */
/* For any CPU the compiler was asked to serve. */
#define LANES 4
#define NAME tacit_streams_base
#define EXPAND tacit_expand_base
#include "crypto/streams_impl.h"
