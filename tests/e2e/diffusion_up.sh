#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# diffusion among real processes: masked sums over real links give what a simulation without masks
# gives, and a node that is killed and comes back does not stop the others.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"

command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }

cat >masked.yaml <<'END'
run: {name: masked, time: 60, every: 0, seed: 3}
data: {agents: 8, dimension: 5, test-records: 20, validation-records: 0}
graph: {kind: k-regular, k: 4}
protocol: {name: diffusion, noise: local-homomorphic, iterations: 15, step: 1, period: 0, epoch: 6}
END

loss() { python3 -c 'import json, sys; print(json.load(sys.stdin)["metrics"]["train_loss"])'; }
close() { python3 -c 'import sys; a, b, e = map(float, sys.argv[1:]); sys.exit(not abs(a - b) <= e)' "$@"; }

"$TACIT" run masked.yaml --quiet --json --set protocol.noise=none --out plain >plain.json ||
    complain "a simulation without masks failed"
"$TACIT" run masked.yaml --quiet --json --out simulated >simulated.json ||
    complain "a simulation with masks failed"
"$TACIT" up 4 masked.yaml --quiet --json --unit 0.1 --out peers >peers.json 2>peers.err ||
    complain "real peers failed: $(tail -3 peers.err)"
close "$(loss <plain.json)" "$(loss <simulated.json)" 1e-8 ||
    complain "masks changed a simulation: $(loss <plain.json), $(loss <simulated.json)"
close "$(loss <plain.json)" "$(loss <peers.json)" 1e-8 ||
    complain "real peers learned something else: $(loss <plain.json), $(loss <peers.json)"
grep -q '"adversary": "secure"' peers.json || complain "real peers name another adversary"

# ---- one is killed in the middle and started again ----
"$TACIT" up 4 masked.yaml --quiet --json --unit 0.1 --out "$PWD/again" --restart \
    --set protocol.period=1 --set protocol.iterations=50 --set protocol.patience=5 \
    >again.json 2>again.err &
up=$!
for _ in $(seq 200); do
    grep -q '"started"' again/node-002/log.jsonl 2>/dev/null && break
    sleep 0.1
done
sleep 1.5
pkill -9 -f "$PWD/again/node-002/node.yaml" || complain "there was nobody to kill"
wait $up || complain "the others did not go on: $(tail -3 again.err)"
python3 - <<'END' || complain "$(cat again.json)"
import json
r = json.load(open("again.json"))
assert 0 < r["metrics"]["train_loss"] < 0.69, r["metrics"]
END
exit $failed
