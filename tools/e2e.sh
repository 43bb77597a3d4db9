#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tools/e2e.sh COMMAND...: run a test in an empty scratch folder, $TMP, that is gone afterwards.
# $TACIT is the program under test, $TACIT_SOURCE_DIR the source tree.
set -u
TMP=$(mktemp -d) || exit 1
trap 'rm -rf "$TMP"' EXIT
export TMP TMPDIR=$TMP LC_ALL=C
cd "$TMP" || exit 1
"$@"
