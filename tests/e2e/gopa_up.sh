#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sums over all agents among real processes on a ring: gopa and chorus end where simulations end; the
# boards of both verify; who is killed in the middle is left out by the others; and a member
# with other edges is in another run. What is learned at home is left out (finish: none): peers
# shuffle their records by coins of their own.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"

command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }

cat >mean.yaml <<'END'
run: {name: mean, time: 300, every: 0, seed: 3}
data: {agents: 6, dimension: 4, test-records: 5, validation-records: 0}
graph: {kind: k-regular, k: 2}
protocol: {name: gopa, low: -3, high: 3, patience: 10, quorum: 0.75, absent: 0.2, board: true}
END
cat >priors.yaml <<'END'
run: {name: priors, time: 300, every: 0, seed: 3}
data: {agents: 6, dimension: 4, test-records: 20, validation-records: 0}
graph: {kind: k-regular, k: 2}
protocol: {name: chorus, sum: masks, rank: 2, rounds: 2, patience: 10, finish: none}
END

# apart ONE PATTERN: the largest difference between models.npy of a simulation and those of peers
apart() {
    python3 - "$@" <<'END'
import glob, struct, sys
def read(path):
    raw = open(path, "rb").read()
    size = struct.unpack("<H", raw[8:10])[0]
    head = eval(raw[10:10 + size])
    kind, n = ("d", 8) if "8" in head["descr"] else ("f", 4)
    body = raw[10 + size:]
    return list(struct.unpack("<%d%s" % (len(body) // n, kind), body))
one = read(sys.argv[1])
other = sum((read(p) for p in sorted(glob.glob(sys.argv[2]))), [])
assert len(one) == len(other) and any(one), (len(one), len(other))
print(max(abs(a - b) for a, b in zip(one, other)))
END
}
small() { python3 -c 'import sys; sys.exit(not float(sys.argv[1]) <= float(sys.argv[2]))' "$@"; }

# ---- all that needs no killing, beside each other ----
"$TACIT" up 6 mean.yaml --quiet --json --unit 0.2 --out mean-up >mean-up.json 2>mean-up.err &
mean=$!
"$TACIT" up 6 priors.yaml --quiet --json --unit 0.2 --out priors-up >priors-up.json 2>priors-up.err &
priors=$!
"$TACIT" up 6 mean.yaml --quiet --json --unit 0.2 --out "$PWD/torn" --set protocol.rounds=4 \
    --set protocol.jitter=5 --set protocol.patience=5 --set node.heartbeat=0.2 \
    >torn.json 2>torn.err &
torn=$!
"$TACIT" run mean.yaml --quiet --out mean >/dev/null || complain "a simulated mean failed"
"$TACIT" run priors.yaml --quiet --out priors >/dev/null || complain "simulated priors failed"
for _ in $(seq 200); do
    grep -q '"started"' torn/node-002/log.jsonl 2>/dev/null && break
    sleep 0.1
done
sleep 1
pkill -9 -f "$PWD/torn/node-002/node.yaml" || complain "there was nobody to kill"
wait $mean || complain "real peers found no mean: $(tail -3 mean-up.err)"
wait $priors || complain "real peers found no priors: $(tail -3 priors-up.err)"
wait $torn # it says that one was killed

far=$(apart mean/models.npy 'mean-up/node-*/state/models.npy')
small "${far:-nan}" 1e-6 || complain "the mean of real peers is $far away from the simulated one"
far=$(apart priors/models.npy 'priors-up/node-*/state/models.npy')
small "${far:-nan}" 1e-5 || complain "chorus among real peers is $far away from the simulated one"
"$TACIT" average verify mean/board.jsonl >/dev/null 2>err.txt ||
    complain "the board of a simulation: $(cat err.txt)"
"$TACIT" average verify mean-up/node-003/state/board.jsonl >/dev/null 2>err.txt ||
    complain "the board of real peers: $(cat err.txt)"

# ---- five of six ----
for k in 0 1 3 4 5; do
    board=torn/node-00$k/state/board.jsonl
    "$TACIT" average verify $board >/dev/null 2>err.txt || complain "after a death: $(cat err.txt)"
    grep -q '"round":4,' $board || complain "node $k did not come to the last round"
    words=$(grep -c '"commit"' $board)
    [ "$words" = 5 ] || complain "the last sum of node $k has $words members, not 5"
done

python3 - <<'END' || complain "the mean of the five who stayed is another one"
import struct
def read(path):
    raw = open(path, "rb").read()
    size = struct.unpack("<H", raw[8:10])[0]
    head = eval(raw[10:10 + size])
    kind, n = ("d", 8) if "8" in head["descr"] else ("f", 4)
    body, width = raw[10 + size:], head["shape"][1]
    numbers = struct.unpack("<%d%s" % (len(body) // n, kind), body)
    return [numbers[i:i + width] for i in range(0, len(numbers), width)]
rows = [r[2:] for k in (0, 1, 3, 4, 5) for r in read("torn/node-00%d/data/train.npy" % k)]
for k in (0, 1, 3, 4, 5):
    found = read("torn/node-00%d/state/models.npy" % k)[0]
    for j, value in enumerate(found):
        assert abs(value - sum(r[j] for r in rows) / len(rows)) < 1e-6, (k, j, value)
END

# ---- other edges, other run ----
"$TACIT" up 2 priors.yaml --prepare --out two >/dev/null 2>err.txt || complain "$(cat err.txt)"
cp two/graph.edges two/mine.edges
sed -i 's/^\([0-9]* [0-9]*\) .*/\1 0.5/' two/mine.edges
sed 's/graph.edges/mine.edges/' two/consortium.yaml >two/mine.yaml
sed -i 's/patience: 10$/patience: 2/' two/node-00*/node.yaml
sed -i 's/consortium.yaml/mine.yaml/' two/node-001/node.yaml
nodes=()
for k in 0 1; do
    timeout 6 "$TACIT" node -c two/node-00$k/node.yaml --quiet --json-log two/log-$k >/dev/null 2>&1 &
    nodes+=($!)
done
for _ in $(seq 60); do
    grep -q '"reason":"run"' two/log-0 two/log-1 2>/dev/null && break
    sleep 0.1
done
grep -q '"reason":"run"' two/log-0 two/log-1 || complain "members with other edges understand each other"
kill "${nodes[@]}" 2>/dev/null
wait
exit $failed
