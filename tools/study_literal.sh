#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make study STUDY=literal: audits of whole trainings at epsilon 1 (delta e^-5, one record,
# replaced), 10 agents with linear separators in 100 dimensions, 10 releases each:
#
#   sound    Laplace noise, records clipped in l1; Gaussian noise, records clipped in l2; one-shot
#   literal  paper 000's own setting: noise for gradients of norm 1, records of any length
#
# Writes literal.csv to bench/results/ when all went well, and ends with 1 if a literal training
# is not refuted or a sound one shows more than it claims (which by chance one in twenty does, at
# confidence 0.95; seeds are fixed).
set -eu
export LC_ALL=C
tacit=${TACIT:-build/tacit}
results=${RESULTS:-bench/results}
trials=${TRIALS:-4000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rows=$work/literal.csv
failed=0
echo "training,mechanism,claimed,trials,seed,clopper_pearson,trade_off,shown,refuted" >"$rows"

# audit NAME EXPECTED PROTOCOL DATA PRIVACY
audit() {
    for seed in 1 2 3; do
        cat >"$work/$1.yaml" <<YAML
run: {name: $1, time: 15, every: 0, seed: $seed}
data: {source: linear-separators, agents: 10, dimension: 100, validation-records: 0, $4}
graph: {kind: similarity, cutoff: 0}
model: {loss: logistic}
protocol: {$3}
privacy: {epsilon: 1, delta: 0.006737946999085467, $5}
YAML
        code=0
        "$tacit" audit "$work/$1.yaml" --trials "$trials" --json --quiet >"$work/a.json" \
            2>/dev/null || code=$?
        [ $code -le 1 ] || { echo "audit $1: exit $code" >&2; exit 1; }
        python3 - "$work/a.json" "$1" "$trials" "$seed" >>"$rows" <<'PY'
import json, sys
a = json.load(open(sys.argv[1]))
number = lambda x: "" if x is None else "%.4f" % x
trade = a.get("trade_off") or {}
print(",".join([sys.argv[2], a["claim"]["mechanism"], number(a["claim"]["epsilon"]), sys.argv[3], sys.argv[4],
                number(a["clopper_pearson"]["epsilon"]), number(trade.get("epsilon")),
                number(a["shown"]), "yes" if a["refuted"] else "no"]))
PY
        last=$(tail -n 1 "$rows")
        echo "$last"
        case $last in *,"$2") ;; *) echo "unexpected: $last" >&2; failed=1 ;; esac
    done
}

audit sound-laplace no "name: cd, mu: 1" "bound: l2" \
    "mechanism: laplace, clip: 0.5, releases: 10"
audit sound-gaussian no "name: cd, mu: 1" "bound: l2" \
    "mechanism: gaussian, clip: 0.5, releases: 10"
audit one-shot no "name: one-shot" "bound: l2" "mechanism: gaussian"
audit literal-laplace yes "name: cd, mu: 1" "bound: none" \
    "mechanism: laplace, clip: 1, claimed: true, releases: 10, accountant: kov"
audit literal-gaussian yes "name: cd, mu: 1" "bound: none" \
    "mechanism: gaussian, clip: 1, claimed: true, releases: 10"

if [ $failed = 0 ]; then
    mkdir -p "$results"
    cp "$rows" "$results/literal.csv"
    echo "written: $results/literal.csv"
fi
exit $failed
