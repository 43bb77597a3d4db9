#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Model files and ONNX exports, read by others. Debian's python3 is asked first: another one in the
# path may not see Debian's packages.
set -u
for python in /usr/bin/python3 python3; do
    command -v "$python" >/dev/null || continue
    "$python" "$TACIT_SOURCE_DIR/tests/oracle/onnx_oracle.py" "$TACIT"
    code=$?
    [ $code -eq 77 ] || exit $code
done
echo "skipped: no python3 with onnx and numpy"
exit 77
