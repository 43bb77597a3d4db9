#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tools/build.sh FOLDER [CMAKE-OPTIONS...]: configure and build, silent unless something is
# wrong; everything the compilers said is in FOLDER/build.log.
set -u
folder=$1
shift
mkdir -p "$folder" || exit 3
log=$folder/build.log
if ! { cmake -S . -B "$folder" -G Ninja "$@" && cmake --build "$folder"; } >"$log" 2>&1; then
    cat "$log" >&2
    echo "the build in $folder/ failed" >&2
    exit 1
fi
grep -h -A3 'warning:' "$log" >&2
exit 0
