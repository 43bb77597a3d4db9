#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Three banks and a learner as four processes (examples/learner.yaml). It ends with a good model; a
# bank that is killed is learned without, its ledger is whole, and started again it goes on within
# its budget. And what a simulation of the same says.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"

command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
cp -r "$TACIT_SOURCE_DIR/examples" .
yaml=examples/learner.yaml

children() { cat "/proc/$1/task/$1/children" 2>/dev/null; }
# busy PID FOLDER TIME: wait until the learner's clock is there
busy() {
    for _ in $(seq 600); do
        python3 - "$2" "$3" <<'END' && return
import json, subprocess, sys, os
said = subprocess.run([os.environ["TACIT"], "status", sys.argv[1], "--json"], capture_output=True)
rows = json.loads(said.stdout or "{}").get("nodes", [])
now = [(row.get("status") or row).get("time_units") or 0 for row in rows]
sys.exit(not (now and max(now) >= float(sys.argv[2])))
END
        kill -0 "$1" 2>/dev/null || break
        sleep 0.1
    done
    complain "the run in $2 did not reach time $3: $("$TACIT" status "$2" 2>&1)"
}

# Runs of real processes mostly wait: they do so beside what else is tried.
"$TACIT" up 4 $yaml --unit 0.1 --set run.time=100 --out four --json --quiet >four.json 2>four.txt &
four=$!

# ---- wrong words ----
expect 3 'data.without: 1' "$TACIT" run $yaml --set data.without=0 --set graph.kind=star -q
expect 3 'use "graph.kind: star"' "$TACIT" run $yaml --set graph.kind=ring -q
expect 3 'set "model.lambda"' "$TACIT" run $yaml --set model.lambda=0 -q
expect 3 'is "-1"' "$TACIT" run $yaml --set protocol.step=-1 -q
expect 3 'data.without' "$TACIT" run $yaml --set data.partition=iid --set data.agents=1 -q
expect 3 'owns no records' "$TACIT" run $yaml --set data.without=3 -q
[ ! -e runs ] || complain "a refused run left a folder"
"$TACIT" run $yaml --set privacy.mechanism=none --set privacy.epsilon=inf --quiet --out bare >out.txt ||
    complain "without noise, as the example says"

# ---- a simulation ----
"$TACIT" run $yaml --out sim --quiet --json >sim.json || complain "run"
"$TACIT" run $yaml --out sim2 --quiet --json --threads 2 >sim2.json || complain "run with threads"
cmp sim/models.npy sim2/models.npy || complain "threads change the result"
python3 - <<'END' || complain "a simulation: $(cat sim.json)"
import json
run = json.load(open("sim.json"))
assert run["metrics"]["test_rmse"] < 0.15, run["metrics"]
private = run["privacy"]
assert private["adversary"] == "learner" and 0 < private["epsilon"] <= 10, private
assert private["releases"] == 300, private
END
grep -q ',0,iterations,300' sim/metrics.csv || complain "no word of iterations: $(tail -3 sim/metrics.csv)"

# ---- four processes ----
wait $four || complain "up: exit $?: $(cat four.txt)"
python3 - <<'END' || complain "four processes: $(cat four.json)"
import json
up = json.load(open("four.json"))
assert up["complete"] is True and (up["nodes"], up["agents"], up["nodes_dead"]) == (4, 4, 0), up
assert up["agents_without_model"] == 0 and up["frames_refused"] == 0, up
assert up["metrics"]["test_rmse"] < 0.16, up["metrics"]
private = up["privacy"]
assert private["adversary"] == "learner" and 0 < private["epsilon"] <= 10, private
assert 100 < private["releases"] <= 330, private
END
"$TACIT" ledger show four/node-000/state/agent-0.ledger >out.txt || complain "the learner's ledger"
! grep -q gradient out.txt || complain "the learner has released something: $(cat out.txt)"

# ---- one bank is killed for good; elsewhere one is killed and started again ----
# The same records in one account: a second run would be more than their lifetime budget.
XDG_STATE_HOME=$PWD/.dead "$TACIT" up 4 $yaml --unit 0.1 --set run.time=100 --out dead --json >dead.json 2>dead.txt &
up=$!
XDG_STATE_HOME=$PWD/.again "$TACIT" up 4 $yaml --unit 0.1 --set run.time=100 --restart --out again --json >again.json 2>again.txt &
restarted=$!
busy $up dead 30
set -- $(children $up)
kill -9 "$3"
busy $restarted again 30
set -- $(children $restarted)
kill -9 "$2"
wait $up
[ $? -eq 4 ] || complain "a dead bank: not exit 4: $(cat dead.txt)"
grep -qF 'node-002' dead.txt || complain "not told who died: $(cat dead.txt)"
says "whole" "$TACIT" ledger verify dead/node-002/state/agent-2.ledger
python3 - <<'END' || complain "a dead bank: $(cat dead.json)"
import json
up = json.load(open("dead.json"))
assert (up["nodes_dead"], up["deaths"], up["agents_without_model"]) == (1, 1, 1), up
def releases(k):
    return json.load(open(f"dead/node-00{k}/state/summary.json"))["traffic"]["releases"]
assert releases(0) == 0 and releases(1) > 40 and releases(3) > 40, [releases(k) for k in (0, 1, 3)]
END
# The learner's model, on records of the two others: as good as before.
python3 - <<'END' || complain "what the learner has learned without the dead bank"
import struct
def npy(path):
    raw = open(path, "rb").read()
    head = struct.unpack("<H", raw[8:10])[0]
    shape = eval(raw[10:10 + head].decode())["shape"]
    flat = struct.unpack("<%dd" % (shape[0] * shape[1]), raw[10 + head:10 + head + 8 * shape[0] * shape[1]])
    return [flat[r * shape[1]:(r + 1) * shape[1]] for r in range(shape[0])]
theta = npy("dead/node-000/state/models.npy")[0]
error = count = 0
for node in (1, 3):
    for row in npy(f"dead/node-00{node}/data/test.npy"):
        error += (sum(a * b for a, b in zip(theta, row[2:])) - row[1]) ** 2
        count += 1
assert count > 30 and (error / count) ** 0.5 < 0.16, (count, (error / count) ** 0.5)
END

# ---- started again: on within the budget ----
wait $restarted || complain "--restart: exit $?: $(cat again.txt)"
python3 - <<'END' || complain "killed and restarted: $(cat again.json)"
import json
up = json.load(open("again.json"))
assert (up["complete"], up["nodes_dead"], up["deaths"], up["restarts"]) == (True, 0, 1, 1), up
assert up["metrics"]["test_rmse"] < 0.16 and 0 < up["privacy"]["epsilon"] <= 10, up
END
says "whole" "$TACIT" ledger verify again/node-001/state/agent-1.ledger
exit $failed
