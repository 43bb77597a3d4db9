#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A kernel that agents learn: what is charged and who sees what, in words and in the ledger, the ideal sum
# refused for real peers, and six real processes that end where a simulation ends.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"

command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }

cat >kernel.yaml <<'END'
run: {name: kernel, time: 300, every: 0, seed: 3}
data: {agents: 6, dimension: 4, test-records: 20, validation-records: 0, bound: l2}
graph: {kind: k-regular, k: 2}
protocol: {name: chorus, sum: masks, kernel: learned, kernel-neighbours: 2, rank: 2, rounds: 2,
           patience: 10, finish: none}
privacy: {mechanism: gaussian, clip: 0.5, epsilon: 2, delta: 1e-3}
END
# next to no noise, so that everybody finds the same neighbours whatever it is
bare=(--set privacy.noise=1e-3 --set privacy.epsilon=inf)

"$TACIT" up 6 kernel.yaml --quiet --unit 0.2 --out peers "${bare[@]}" >peers.txt 2>peers.err &
peers=$!

# ---- words and charges ----
says 'sees one vector of every agent, on every link and whoever colludes, with all of its noise in it' \
    "$TACIT" run kernel.yaml --quiet --out masks
grep -q 'adversary_sees": "one vector of every agent' masks/summary.json || complain "not in summary.json"
says '18 releases and gifts to sums' "$TACIT" run kernel.yaml --quiet --out ideal --set protocol.sum=ideal
python3 - masks/ledger.jsonl ideal/ledger.jsonl <<'END' || complain "charges"
import json, sys
for path in sys.argv[1:]:
    rows = [json.loads(line) for line in open(path)]
    for agent in range(6):
        mine = [r for r in rows if r.get("agent") == agent and "what" in r]
        assert [(r["what"], r["releases"]) for r in mine] == [("likeness", 1), ("voice", 2)], mine
END
says 'epsilon 2 ' "$TACIT" account compose ideal/ledger.jsonl

# ---- refused ----
run=("$TACIT" run kernel.yaml --quiet)
expect 3 '"protocol.kernel-share: 1" leaves nothing for the sums' "${run[@]}" --set protocol.kernel-share=1
expect 3 'kernel-share' "${run[@]}" --set protocol.kernel-share=2
expect 3 '"protocol.kernel-neighbours: 6" of 6 agents' "${run[@]}" --set protocol.kernel-neighbours=6
expect 3 'set "privacy.mechanism: gaussian"' "${run[@]}" --set privacy.mechanism=none
expect 3 'closes at time 3, but the run ends at 2' "${run[@]}" --set protocol.sum=ideal --set run.time=2
expect 3 'set "protocol.sum: masks"' "$TACIT" up 6 kernel.yaml --quiet --set protocol.sum=ideal

# ---- real peers ----
"$TACIT" run kernel.yaml --quiet --out simulated "${bare[@]}" >/dev/null || complain "no simulation"
wait $peers || complain "real peers learned no kernel: $(tail -3 peers.err)"
python3 - <<'END' || complain "real peers end elsewhere"
import glob, struct
def read(path):
    raw = open(path, "rb").read()
    size = struct.unpack("<H", raw[8:10])[0]
    head = eval(raw[10:10 + size])
    kind, n = ("d", 8) if "8" in head["descr"] else ("f", 4)
    body = raw[10 + size:]
    return list(struct.unpack("<%d%s" % (len(body) // n, kind), body))
one = read("simulated/models.npy")
other = sum((read(p) for p in sorted(glob.glob("peers/node-*/state/models.npy"))), [])
assert len(one) == len(other) and max(map(abs, one)) > 0.5
far = max(abs(a - b) for a, b in zip(one, other))
assert far < 0.02, far
END
says 'likeness' "$TACIT" ledger show peers/node-003/state/agent-3.ledger
exit $failed
