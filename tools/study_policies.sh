#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make study STUDY=policies: private cd on the separators of paper 000, section 5.1 (rows of norm at
# most 1), epsilon 1.05 at delta e^-5 for one record replaced, against all other agents: the budget
# spread over ten releases by each policy, and agents that rest or relay when it is spent.
#
# Validation accuracy only: test records are not even made. Writes bench/results/policies.csv, one
# line a setting with means over the seeds, and ends with 1 if theory's order does not hold: less
# objective for optimal than for uniform than for paper, and relaying no worse than resting.
set -eu
export LC_ALL=C
tacit=${TACIT:-build/tacit}
results=${RESULTS:-bench/results}
seeds=${SEEDS:-1 2 3 4 5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run DIMENSION MU POLICY RATIO AFTER SEED: a line with validation accuracy and objective
run() {
    rm -rf "$work/run"
    "$tacit" run examples/separators.yaml --quiet --json --threads 1 --out "$work/run" \
        --set run.every=0 --set run.time=30 --set "run.seed=$6" --set data.test-records=0 \
        --set "data.dimension=$1" --set "protocol.mu=$2" --set "protocol.after=$5" \
        --set privacy.mechanism=gaussian --set privacy.clip=0.1 --set privacy.epsilon=1.05 \
        --set privacy.delta=0.006737947 --set privacy.releases=10 --set "privacy.policy=$3" \
        --set "privacy.ratio=$4" >"$work/run.json"
    awk -v head="$1,$2,$3,$4,$5,$6" '
        { gsub(/[",:]/, ""); figure[$1] = $2 }
        END { printf "%s,%s,%s\n", head, figure["validation_accuracy"], figure["objective"] }' \
        "$work/run.json"
}

for dimension in 20 100; do
    for mu in 1 5; do
        for way in "uniform 0" "paper 0.8" "optimal 0.9" "optimal 0.8" "optimal 0.7" "optimal 0"; do
            set -- $way
            for after in rest relay; do
                for seed in $seeds; do
                    run $dimension $mu "$1" "$2" $after "$seed"
                done
            done
        done
    done
done >"$work/rows.csv"

awk -F, '
    { key = $1 "," $2 "," $3 "," $4 "," $5
      if (!(key in n)) order[++keys] = key
      n[key]++; accuracy[key] += $7; squares[key] += $7 * $7; objective[key] += $8 }
    END {
        print "dimension,mu,policy,ratio,after,seeds,validation_accuracy,standard_error,objective"
        for (k = 1; k <= keys; k++) {
            key = order[k]; m = n[key]; mean = accuracy[key] / m
            spread = m > 1 ? (squares[key] / m - mean * mean) / (m - 1) : 0
            printf "%s,%d,%.4f,%.4f,%.1f\n", key, m, mean, sqrt(spread > 0 ? spread : 0), objective[key] / m
        }
    }' "$work/rows.csv" >"$work/policies.csv"
column -s, -t "$work/policies.csv"
mkdir -p "$results"
cp "$work/policies.csv" "$results/policies.csv"
echo "written: $results/policies.csv"

awk -F, 'NR > 1 { objective[$1, $2, $3, $5, $4] = $9; accuracy[$1, $2, $3, $4, $5] = $7; if (!(($1, $2) in seen)) { seen[$1, $2] = 1; task[++tasks] = $1 SUBSEP $2 } }
    END {
        for (k = 1; k <= tasks; k++) {
            best = objective[task[k], "optimal", "rest", 0.8]
            even = objective[task[k], "uniform", "rest", 0]
            if (!(best < even && even < objective[task[k], "paper", "rest", 0.8])) bad = 1
            if (accuracy[task[k], "optimal", 0.8, "relay"] < accuracy[task[k], "optimal", 0.8, "rest"]) bad = 1
        }
        exit bad
    }' "$work/policies.csv" || {
    echo "expected: optimal below uniform below paper, and relaying no worse than resting" >&2
    exit 1
}
