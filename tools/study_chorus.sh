#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make study STUDY=chorus: kernel, rank and rounds of chorus on the linear separators of paper 000,
# section 5.1 (100 agents, 10 to 100 records, p = 100), delta = e^-5, one record, adjacency replace,
# trust secure. Ten problems (SEEDS), scores on validation records: this is where constants are
# chosen, and no test record is read. Labels of validation records are flipped as often as those of
# training records (5 %), so that 0.95 is the most.
#
# Rows: every kernel with ranks 1 to 40, one round; then one to sixteen rounds of the spectral kernel,
# with four clips, because later gradients are shorter than the first.
#
# Writes chorus.csv to bench/results/.
set -eu
export LC_ALL=C
tacit=${TACIT:-build/tacit}
results=${RESULTS:-bench/results}
seeds=${SEEDS:-401..410}
budgets=${BUDGETS:-1.05 0.15}
delta=0.006737946999085467
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/task.yaml" <<'YAML'
run: {name: chorus, time: 20, every: 0}
data: {source: linear-separators, agents: 100, dimension: 100, min-records: 10, max-records: 100,
       test-records: 0, validation-records: 100, label-noise: 0.05, bound: l2}
graph: {kind: similarity, gamma: 0.1}
model: {loss: logistic, lambda-records: 0.1}
YAML

# sweep PART EPSILON ARGUMENTS: rows as in the head of the file
sweep() {
    local part=$1 epsilon=$2
    shift 2
    rm -rf "$work/out"
    "$tacit" sweep "$work/task.yaml" --quiet --seeds "$seeds" --out "$work/out" \
        --set protocol.name=chorus --set privacy.mechanism=gaussian --set "privacy.delta=$delta" \
        --set "privacy.epsilon=$epsilon" "$@" >"$work/out.txt" || { cat "$work/out.txt" >&2; exit 1; }
    awk -F, -v OFS=, -v part="$part" -v epsilon="$epsilon" '
        NR == 1 { for (k = 1; k <= NF; k++) at[$k] = k; next }
        { print part, epsilon, $at["protocol.kernel"], $at["protocol.rank"], $at["protocol.rounds"], \
              $at["privacy.clip"], $at["n"], sprintf("%.4f", $at["validation_mean"]), \
              sprintf("%.4f", $at["validation_low"]), sprintf("%.4f", $at["validation_high"]) }
    ' "$work/out/means.csv" >>"$work/chorus.csv"
    echo "  $part, epsilon $epsilon" >&2
}

echo "part,epsilon,kernel,rank,rounds,clip,problems,accuracy,low,high" >"$work/chorus.csv"
for epsilon in $budgets; do
    sweep rank "$epsilon" -v protocol.kernel=spectral,power,heat -v protocol.rank=1,2,3,5,10,20,40 \
        -v protocol.rounds=1 -v privacy.clip=0.5
    sweep rounds "$epsilon" -v protocol.kernel=spectral -v protocol.rank=3 \
        -v protocol.rounds=1,2,4,8,16 -v privacy.clip=0.1,0.2,0.3,0.5
done
mkdir -p "$results"
cp "$work/chorus.csv" "$results/"
column -s, -t <"$results/chorus.csv"
