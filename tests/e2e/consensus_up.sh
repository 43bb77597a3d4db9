#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dsgd, dsgt and dinno among real processes: without noise they compute what a simulation computes;
# nets with noise charge each ledger what was planned, also who is killed and comes back; when one
# is killed for good the others go on without it; words as large as those of paper 004's net pass.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"

command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }

cat >linear.yaml <<'END'
run: {name: linear, time: 60, every: 0, seed: 3}
data: {agents: 6, dimension: 5, test-records: 20, validation-records: 0}
graph: {kind: k-regular, k: 4}
protocol: {name: dsgd, iterations: 20, step: 0.5, period: 0}
END
cat >net.yaml <<'END'
run: {name: net, time: 60, every: 0, seed: 5}
data: {source: digits, agents: 6, min-records: 100, max-records: 100, test-records: 20,
       validation-records: 0, score-on: all}
graph: {kind: k-regular, k: 4}
model: {layers: "dense 16, mish, dense 10"}
protocol: {name: dsgt, iterations: 25, lot: 50, step: 0.2, period: 1, patience: 3}
privacy: {mechanism: gaussian, clip: 1, epsilon: 8}
END

# child PROCESS K: its K-th child, once that is there
child() {
    local found
    for _ in $(seq 1200); do
        read -ra found <"/proc/$1/task/$1/children"
        [ ${#found[@]} -ge "$2" ] && echo "${found[$2 - 1]}" && return
        sleep 0.05
    done
}
paid() { "$TACIT" ledger show "$1" --last 1000 2>/dev/null | grep -c gradient; }
# busy FOLDER TIME: wait until a clock of the run in FOLDER is there
busy() {
    for _ in $(seq 1200); do
        "$TACIT" status "$1" --json 2>/dev/null | python3 -c '
import json, sys
rows = json.loads(sys.stdin.read() or "{}").get("nodes", [])
now = [(row.get("status") or row).get("time_units") or 0 for row in rows]
sys.exit(not (now and max(now) >= float(sys.argv[1])))' "$2" && return
        sleep 0.05
    done
    complain "the run in $1 did not reach time $2: $("$TACIT" status "$1" 2>&1)"
}

# Runs of real processes mostly wait: these do so beside what else is tried.
"$TACIT" up 3 net.yaml --unit 0.1 --out dead --json --quiet --set data.agents=3 \
    --set graph.kind=complete --set protocol.patience=1e5 --set run.time=2000 >dead.json 2>dead.txt &
dead=$!
busy dead 4
kill -9 "$(child $dead 2)"
"$TACIT" up 4 net.yaml --unit 0.3 --out again --restart --json --quiet >again.json 2>again.txt &
again=$!
busy again 4
kill -9 "$(child $again 3)"

# ---- without noise, from zero: what a simulation says, to the last digits ----
for one in "dsgd 0.5" "dsgt 0.5" "dinno 0.05"; do
    set -- $one
    "$TACIT" run linear.yaml --set protocol.name=$1 --set protocol.step=$2 --quiet --out "sim-$1" \
        >out.txt || complain "$1 simulated"
    "$TACIT" up 4 linear.yaml --set protocol.name=$1 --set protocol.step=$2 --unit 0.1 --quiet --json \
        --out "up-$1" >"up-$1.json" 2>err.txt || complain "$1 by peers: $(tail -3 err.txt)"
done
python3 - <<'END' || complain "models of peers are not those of a simulation"
import json, struct
def npy(path):
    raw = open(path, "rb").read()
    head = struct.unpack("<H", raw[8:10])[0]
    rows, columns = eval(raw[10:10 + head].decode())["shape"]
    flat = struct.unpack("<%dd" % (rows * columns), raw[10 + head:])
    return [flat[r * columns:(r + 1) * columns] for r in range(rows)]
for name in "dsgd", "dsgt", "dinno":
    model = npy(f"sim-{name}/models.npy")
    seen = 0
    for node in range(4):
        agents = [int(a) for a in open(f"up-{name}/node-00{node}/data/agents.txt").read().split()]
        for agent, own in zip(agents, npy(f"up-{name}/node-00{node}/state/models.npy")):
            apart = max(abs(a - b) for a, b in zip(own, model[agent]))
            assert apart < 1e-9 and max(map(abs, own)) > 0.01, (name, agent, apart, own)
            seen += 1
    assert seen == 6, seen
    up = json.load(open(f"up-{name}.json"))
    assert up["complete"] and up["privacy"]["releases"] == 6 * 20 and up["frames_refused"] == 0, up
END

# ---- words as large as those of the net of paper 004: 38,450 numbers, twice ----
"$TACIT" up 3 net.yaml --unit 0.1 --out large --json --quiet --set data.agents=3 \
    --set model.layers="dense 248, mish, dense 10" --set graph.kind=complete \
    --set protocol.iterations=4 >large.json 2>large.txt || complain "large words: $(cat large.txt)"
python3 - <<'END' || complain "large words: $(cat large.json)"
import json
up = json.load(open("large.json"))
assert up["complete"] and up["frames_refused"] == 0 and up["privacy"]["releases"] == 12, up
assert up["messages"] == 24 and up["bytes"] > 24 * 8 * 38450, up
END

# ---- killed and started again: as many gradients as planned, within the budget ----
wait $again || complain "--restart: exit $?: $(cat again.txt)"
python3 - <<'END' || complain "killed and restarted: $(cat again.json)"
import json
up = json.load(open("again.json"))
assert (up["complete"], up["deaths"], up["restarts"], up["agents"]) == (True, 1, 1, 6), up
assert up["privacy"]["releases"] == 6 * 25 and 7.9 < up["privacy"]["epsilon"] <= 8, up
# Whoever began anew would ask for more than was planned, and be refused.
for k in range(4):
    assert json.load(open(f"again/node-00{k}/state/summary.json"))["traffic"]["releases_refused"] == 0, k
END
for ledger in again/node-*/state/agent-*.ledger; do
    says "whole" "$TACIT" ledger verify "$ledger"
    [ "$(paid "$ledger")" -eq 25 ] || complain "$(paid "$ledger") gradients, not 25: $ledger"
done

# ---- killed for good: the others have made all their iterations ----
# Nobody waits for a peer that is known to be dead: who waited out that patience would be
# without most iterations at the end of the run.
wait $dead
[ $? -eq 4 ] || complain "a dead peer: not exit 4: $(cat dead.txt)"
python3 - <<'END' || complain "a dead peer: $(cat dead.json)"
import json
up = json.load(open("dead.json"))
assert (up["nodes_dead"], up["agents_without_model"]) == (1, 1), up
END
for agent in 0 2; do
    ledger=dead/node-00$agent/state/agent-$agent.ledger
    [ "$(paid $ledger)" -eq 25 ] || complain "agent $agent has made $(paid $ledger) iterations of 25"
done
says "whole" "$TACIT" ledger verify dead/node-001/state/agent-1.ledger
exit $failed
