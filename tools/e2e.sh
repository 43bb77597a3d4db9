#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tools/e2e.sh COMMAND...: run a test in an empty scratch folder, $TMP, that is gone afterwards.
# $TACIT is the program under test, $TACIT_SOURCE_DIR the source tree. What a user keeps across runs
# (lifetime ledgers) is in the folder, too: no test sees another's, and none sees the user's.
# The folder is in memory where there is room: nodes sync their disks after every round, and a
# slow disk is no part of what is tested. Tests of disks and crashes get a disk.
set -u
memory=/dev/shm
case "$*" in
*_disk_test | *_crash_test) memory= ;;
esac
if [ -w "$memory" ] && ! grep -q " $memory .*[ ,]noexec" /proc/mounts &&
    [ "$(df --output=avail -B1M "$memory" | tail -n 1)" -ge 1024 ]; then
    TMP=$(mktemp -d -p "$memory") || exit 1
else
    TMP=$(mktemp -d) || exit 1
fi
trap 'rm -rf "$TMP"' EXIT
export TMP TMPDIR=$TMP XDG_STATE_HOME=$TMP/.state LC_ALL=C
cd "$TMP" || exit 1
"$@"
