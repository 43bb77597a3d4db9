#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 over three runs of two protocols: what the lifetime ledger says is never below what was
# released (tools/lifetime_kills.py; 200 kills are make study STUDY=lifetime_kills).
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"

command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
python3 -B "$TACIT_SOURCE_DIR/tools/lifetime_kills.py" --tacit "$TACIT" --kills 12 --out runs >kills.csv 2>err.txt ||
    complain "exit $?: $(cat err.txt kills.csv)"
[ "$(grep -c ',kill,.*,yes$' kills.csv)" = 12 ] || complain "not 12 deaths: $(cat kills.csv)"
grep -q '^fourth,cd,refused,.*,yes$' kills.csv || complain "the fourth run: $(cat kills.csv)"
exit $failed
