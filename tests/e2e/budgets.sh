#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Budgets that differ by agent: what a run says of them, what it refuses, and that nobody's budget
# changes between an interruption and going on.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"

cat >small.yaml <<'YAML'
run: {name: small, time: 20, every: 0}
data: {agents: 8, dimension: 4, test-records: 5, validation-records: 0, bound: l2}
graph: {kind: ring}
protocol: {name: cd}
privacy: {mechanism: gaussian, clip: 0.5, epsilon: 5, releases: 10, budgets: b.csv}
YAML
printf 'agent,epsilon\n0,0.5\n3,2\n' >b.csv

says 'from epsilon 0.5 to 5, by agent, for the delta, unit and adversary above' "$TACIT" run small.yaml --quiet --out told
grep -q '"epsilon_budget": *0.5' told/ledger.jsonl || complain "no line with agent 0's budget"

# A sum has one noise: chorus lets those who cannot pay for it listen, and says so.
chorus=(--set protocol.name=chorus --set protocol.rounds=2)
says '2 agents only listened: their budget is below' "$TACIT" run small.yaml --quiet --out heard "${chorus[@]}"
grep -q '"listeners": 2,' heard/summary.json || complain "summary.json does not count listeners"
printf '0,5\n3,5\n' >same.csv
"$TACIT" run small.yaml --quiet --out all "${chorus[@]}" --set privacy.budgets=same.csv >all.txt || complain "run"
! grep -q 'listened' all.txt || complain "listeners where all can pay"
grep -q '"listeners": 0,' all/summary.json || complain "summary.json: listeners where all can pay"

printf '3,1e-9\n' >tiny.csv
printf 'agent,epsilon\n0,0\n' >zero.csv
expect 3 'zero.csv:2: epsilon "0"' "$TACIT" run small.yaml --quiet --out no --set privacy.budgets=zero.csv
: >empty.csv
expect 3 'no budget in it' "$TACIT" run small.yaml --quiet --out no --set privacy.budgets=empty.csv
expect 3 'nowhere.csv' "$TACIT" run small.yaml --quiet --out no --set privacy.budgets=nowhere.csv
expect 3 'raise epsilon' "$TACIT" run small.yaml --quiet --out no --set privacy.budgets= \
    --set privacy.epsilon=1e-9 --set privacy.delta=1e-12
expect 3 'raise "run.time" to 30' "$TACIT" run small.yaml --quiet --out no --set privacy.budgets= \
    --set protocol.name=chorus --set protocol.rounds=30
expect 3 'the budget of agent 3 ("privacy.budgets"): ' "$TACIT" run small.yaml --quiet --out no \
    --set privacy.budgets=tiny.csv --set privacy.delta=1e-15

# A budget that ends a run: whose it is, and what to change.
once=(--set protocol.name=one-shot --set privacy.clip=0 --set privacy.releases=0 --set privacy.noise=0.1)
expect 5 'agent "0": releasing "statistics" more than 0 times' "$TACIT" run small.yaml --quiet --out no \
    --set privacy.budgets= "${once[@]}"
expect 5 'raise "privacy.epsilon" or "privacy.noise"' "$TACIT" run small.yaml --quiet --out no \
    --set privacy.budgets= "${once[@]}"
expect 5 'its budget is set by "privacy.budgets", file b.csv' "$TACIT" run small.yaml --quiet --out no \
    --set protocol.name=perturbed --set privacy.clip=0 --set privacy.releases=0 --set privacy.noise=0.1
[ ! -e no ] || complain "a refused run left a folder"

# Whatever the protocol: budgets that are none, one record each, and nobody there.
for protocol in cd one-shot chorus model-propagation perturbed; do
    with=(small.yaml --quiet --set privacy.budgets= --set protocol.name=$protocol)
    while read -r epsilon words; do
        expect 3 "$words" "$TACIT" run "${with[@]}" --out no --set privacy.epsilon="$epsilon" --set privacy.delta=1e-15
    done <<'END'
0 "epsilon" is 0; noise is found for a finite number above 0
-1 "privacy.epsilon" is "-1"
nan "privacy.epsilon" is "nan"
inf a finite "privacy.epsilon"
1e-12 raise epsilon ("privacy.epsilon")
END
    "$TACIT" run "${with[@]}" --out one-$protocol --set data.min-records=1 --set data.max-records=1 >out.txt 2>err.txt ||
        complain "$protocol with one record each: $(cat err.txt)"
    "$TACIT" run "${with[@]}" --out off-$protocol --set network.mean-up=1e-6 --set network.mean-down=1e6 >out.txt 2>err.txt ||
        complain "$protocol with nobody there: $(cat err.txt)"
    python3 - $protocol <<'PY' || complain "$protocol: what was spent, or learned"
import json, sys
for kind in "one", "off":
    run = json.load(open(f"{kind}-{sys.argv[1]}/summary.json"))
    assert 0 <= run["privacy"]["epsilon"] <= 5, run["privacy"]
    assert run["privacy"]["releases"] <= 8 * 10, run["privacy"]
    assert run["metrics"]["train_loss"] is not None, run["metrics"] # finite
    assert kind == "one" or run["ticks"] == 0, run
PY
done
[ ! -e no ] || complain "a refused run left a folder"

# kill -9 behind a checkpoint, then other budgets
"$TACIT" run small.yaml --quiet --out cut --set run.time=1e7 --set run.checkpoint=100 &
victim=$!
for _ in $(seq 200); do
    [ -e cut/checkpoint.bin ] && break
    sleep 0.05
done
kill -9 $victim
wait $victim 2>/dev/null
[ -e cut/checkpoint.bin ] || complain "no checkpoint to go on from"
printf 'agent,epsilon\n0,4.9\n3,2\n' >b.csv
expect 6 'checkpoint' "$TACIT" run --resume cut --quiet
exit $failed
