#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Chorus with files beside it: a kernel that is given, agents that leave, and files that are refused.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"

cat >small.yaml <<'YAML'
run: {name: small, time: 4, every: 0}
data: {agents: 4, dimension: 4, test-records: 20, validation-records: 0, bound: l2}
graph: {kind: complete}
protocol: {name: chorus, rounds: 3}
privacy: {mechanism: gaussian, clip: 0.5, epsilon: 1, delta: 1e-4}
YAML
given=(small.yaml --quiet --set protocol.kernel=given --set protocol.kernel-file=kernel.csv)

printf '1 .5 .2 .1\n.5 1 .5 .2\n.2 .5 1 .5\n.1 .2 .5 1\n' >kernel.csv
says '12 gifts to sums' "$TACIT" run "${given[@]}"
says '12 gifts to sums' "$TACIT" run "${given[@]}" --set protocol.factor=optimal

# Who leaves in round 2 was charged once, who leaves in round 1 never.
printf 'agent,round\n1,2\n3,1\n' >leave.csv
says '7 gifts to sums' "$TACIT" run small.yaml --quiet --set protocol.opt-out=leave.csv --out left
sed -n 's/^{"agent":\([0-9]*\),.*"releases":\([0-9]*\),.*/\1:\2/p' left/ledger.jsonl >charged.txt
[ "$(tr '\n' ' ' <charged.txt)" = '0:3 1:1 2:3 ' ] || complain "charged: $(cat charged.txt)"

printf '1 .5 .2 .1\n.5 1 .5 .2\n.2 .5 1 -.5\n.1 .2 -.5 1\n' >kernel.csv
expect 3 'kernel.csv: the kernel is -0.5 in row 2, column 3' "$TACIT" run "${given[@]}"
printf '1 0 .2 .1\n0 0 0 0\n.2 0 1 .5\n.1 0 .5 1\n' >kernel.csv
expect 3 'row 1 of the kernel is nothing but zeros' "$TACIT" run "${given[@]}"
printf '1 .5\n.5 1\n' >kernel.csv
expect 3 'a kernel of the 4 agents' "$TACIT" run "${given[@]}"
rm kernel.csv
expect 3 'kernel.csv' "$TACIT" run "${given[@]}"
expect 3 '"protocol.rank: 5" is more than the 4 agents' "$TACIT" run small.yaml --quiet --set protocol.rank=5
printf '4,1\n' >leave.csv
expect 3 'agent 4 does not exist' "$TACIT" run small.yaml --quiet --set protocol.opt-out=leave.csv

# Colluders are for sums under masks, and two agents at least are honest.
expect 3 '"protocol.colluders" is for "protocol.sum: masks"' \
    "$TACIT" run small.yaml --quiet --set protocol.colluders=1
for c in 3 4 1000; do
    expect 3 "$c of 4 agents may collude" \
        "$TACIT" run small.yaml --quiet --set protocol.sum=masks --set protocol.colluders=$c
done

# A run that is over before the first sum under masks spends nothing, and says so.
masks=(small.yaml --set protocol.sum=masks --set protocol.rounds=1 --out)
"$TACIT" run "${masks[@]}" short --set run.time=0.5 >out.txt 2>err.txt || complain "short: $(cat err.txt)"
grep -q 'note: nobody released anything until time 0.5' err.txt || complain "no remark: $(cat err.txt)"
"$TACIT" run "${masks[@]}" long --set run.time=60 >out.txt 2>err.txt || complain "long: $(cat err.txt)"
! grep -q 'nobody released' err.txt || complain "a remark about nothing: $(cat err.txt)"

# A try that fails costs its givers a release. Who has none left listens on, and the run ends as usual.
for loss in 0.003 0.02; do
    "$TACIT" run "${masks[@]}" lost-$loss --quiet --set run.time=60 --set data.agents=60 --set network.loss=$loss \
        >out.txt 2>err.txt || complain "loss $loss: exit $?: $(cat err.txt)"
    [ ! -s err.txt ] || complain "loss $loss: $(cat err.txt)"
done

# More records than all agreed on, or no noise within a budget: said before anything is charged.
expect 3 '"protocol.most-records: 5" says that nobody has more' \
    "$TACIT" run "${masks[@]}" many --quiet --set run.time=60 --set protocol.most-records=5
for name in chorus gopa; do
    expect 5 'with mechanism "none" has no finite epsilon' "$TACIT" run small.yaml --quiet --out bare \
        --set protocol.name=$name --set privacy.mechanism=none --set run.time=60
done
[ ! -e many/ledger.jsonl ] && [ ! -e bare/ledger.jsonl ] || complain "charged: $(ls many bare)"
exit $failed
