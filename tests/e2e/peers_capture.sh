#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What somebody on the wire sees of real peers: a capture of all their traffic holds no number of any
# model, no name and no header in clear. A control shows that the search finds them if they are there.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"

command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }

python3 "$TACIT_SOURCE_DIR/tests/support/peers_capture.py"
code=$?
[ $code -eq 77 ] && exit 77
[ $code -eq 0 ] || complain "the capture: exit $code"
exit $failed
