#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ctrl-C in the middle, --resume to the end: the same bytes as a run that nobody disturbed.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"

# Long enough to be caught in the middle: a few seconds.
cat >long.yaml <<'YAML'
run: {name: long, time: 4000, every: 100}
data: {agents: 100, dimension: 50, bound: l2}
protocol: {name: cd}
YAML

"$TACIT" run long.yaml --out whole --quiet --threads 1 >/dev/null || complain "uninterrupted run"

interrupted=0
for attempt in SIGINT SIGTERM; do
    rm -rf cut
    "$TACIT" run long.yaml --out cut --quiet --threads 2 >out.txt 2>err.txt &
    pid=$!
    for _ in $(seq 100); do # until it runs
        [ -e cut/config.yaml ] && break
        sleep 0.02
    done
    sleep 0.1
    kill -s ${attempt#SIG} $pid 2>/dev/null
    wait $pid
    code=$?
    if [ $code -eq 0 ]; then
        echo "note: $attempt came too late"
        continue
    fi
    interrupted=1
    [ $code -eq 130 ] || complain "$attempt: exit $code, not 130: $(cat err.txt)"
    grep -qF 'go on with "tacit run --resume cut"' err.txt || complain "$attempt: $(cat err.txt)"
    grep -q 'interrupted' out.txt || complain "$attempt: nothing said of what was reached"
    [ -s cut/checkpoint.bin ] || complain "$attempt: no checkpoint"
    "$TACIT" run --resume cut --quiet --threads 1 >/dev/null 2>err.txt ||
        complain "resume: $(cat err.txt)"
    for file in summary.json models.npy metrics.csv ledger.jsonl report.html config.yaml agents.csv \
        sizes.csv degrees.csv edges.csv; do
        cmp -s whole/$file cut/$file || complain "$attempt: $file differs after resume"
    done
    "$TACIT" run --resume cut --quiet >/dev/null 2>err.txt && complain "resumed a complete run"
done
[ $interrupted -eq 1 ] || complain "never interrupted: the run is too short for this machine"

# --json says that the run is not complete.
"$TACIT" run long.yaml --out cut2 --quiet --json >out.json 2>/dev/null &
pid=$!
for _ in $(seq 100); do
    [ -e cut2/config.yaml ] && break
    sleep 0.02
done
sleep 0.1
kill -s INT $pid 2>/dev/null
wait $pid
if [ $? -eq 130 ]; then
    python3 -c 'import json; assert json.load(open("out.json"))["complete"] is False' ||
        complain "--json of an interrupted run"
fi
exit $failed
