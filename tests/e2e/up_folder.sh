#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tacit up --prepare and --measure: the two ends of tacit up, with nodes started by hand in between.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"

command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }

cat >small.yaml <<'END'
run: {name: small, time: 40, every: 0, seed: 3}
data: {agents: 6, dimension: 4, test-records: 20, validation-records: 0}
protocol: {name: cd}
END

expect 2 '"--measure" takes a folder and nothing else' "$TACIT" up 3 small.yaml --measure peers
expect 2 '"--measure" takes a folder and nothing else' "$TACIT" up --measure peers --set run.time=3
expect 2 '"--measure" takes a folder and nothing else' "$TACIT" up --measure peers --prepare
expect 3 'nowhere/experiment.yaml' "$TACIT" up --measure nowhere

"$TACIT" up 3 small.yaml --unit 0.1 --prepare --out peers --quiet >out.txt 2>err.txt ||
    complain "--prepare: exit $?: $(cat err.txt)"
[ "$(cat out.txt)" = peers ] && [ ! -s err.txt ] || complain "--prepare says: $(cat out.txt err.txt)"
for file in consortium.yaml members.csv graph.edges experiment.yaml node-002/node.yaml node-002/identity.key; do
    [ -s peers/$file ] || complain "no $file"
done
[ ! -e peers/node-000/state ] && [ ! -e peers/node-000/log.jsonl ] || complain "--prepare started somebody"
expect 3 '"peers" exists' "$TACIT" up 3 small.yaml --prepare --out peers
"$TACIT" up 2 small.yaml --prepare --quiet >out.txt || complain "--prepare without --out"
[ "$(cat out.txt)" = runs/small-1 ] && [ -s runs/small-1/consortium.yaml ] || complain "no $(cat out.txt)"

# ---- nobody has ended, then some, then all ----
expect 4 '3 of 3 nodes have not ended, the first is node-000; start them again' "$TACIT" up --measure peers
for k in 0 1; do
    "$TACIT" node -c peers/node-00$k/node.yaml --set node.patience=2 --quiet 2>err-$k.txt &
done
wait
"$TACIT" up --measure peers >out.txt 2>err.txt
[ $? -eq 4 ] || complain "one is missing: not exit 4"
grep -q '1 of 3 nodes have not ended, the first is node-002' err.txt || complain "$(cat err.txt)"
grep -q 'without a model  *2 agents' out.txt || complain "who has no model is not told: $(cat out.txt)"
for k in 0 1; do # they are done, and hear who comes late
    "$TACIT" node -c peers/node-00$k/node.yaml --set node.patience=20 --quiet 2>err-$k.txt &
done
"$TACIT" node -c peers/node-002/node.yaml --set node.patience=20 --quiet 2>err-2.txt ||
    complain "node-002: exit $?: $(cat err-2.txt)"
wait
"$TACIT" up --measure peers --json >measured.json || complain "--measure: exit $?"
says 'small: cd by 3 real nodes, 6 agents, time ' "$TACIT" up --measure peers
python3 - <<'END' || complain "measured: $(cat measured.json)"
import json
m = json.load(open("measured.json"))
assert m["complete"] is True and (m["nodes"], m["nodes_dead"], m["agents_without_model"]) == (3, 0, 0), m
assert m["seconds"] is None and m["folder"] == "peers" and m["messages"] > 0, m
assert 0 <= m["metrics"]["objective_gap"] < 1, m
END

# ---- the same figures as tacit up has for the same models ----
"$TACIT" up 2 small.yaml --unit 0.05 --out whole --quiet --json >whole.json || complain "whole: exit $?"
"$TACIT" up --measure whole --json >again.json || complain "again: exit $?"
python3 - <<'END' || complain "not what tacit up found: $(cat whole.json again.json)"
import json
whole, again = json.load(open("whole.json")), json.load(open("again.json"))
assert whole.pop("seconds") > 0 and again.pop("seconds") is None
assert whole == again
END
exit $failed
