#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make study STUDY=audit: what audits of single mechanisms reach, and whether they notice four
# ways to get a mechanism wrong, with 10,000 and 100,000 trials of each kind (docs/audit.md).
#
# Writes audit.csv to bench/results/ when all went well, and ends with 1 if a broken mechanism is
# not noticed, if with 100,000 trials the Clopper-Pearson bound alone does not notice it, or if more
# than 4 of the 24 audits of sound ones raise an alarm: at confidence 0.95 one does with probability
# at most 0.05, and more than 4 with less than 0.006.
set -eu
export LC_ALL=C
tacit=${TACIT:-build/tacit}
results=${RESULTS:-bench/results}
few=${FEW:-10000} many=${MANY:-100000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rows=$work/rows.csv
echo "mechanism,broken,coordinates,epsilon,delta,trials,seed,clopper_pearson,trade_off,shown,refuted" >"$rows"
failed=0 alarms=0

# audit MECHANISM BROKEN COORDINATES EPSILON TRIALS SEED
audit() {
    code=0
    "$tacit" audit "$1" --break "$2" --coordinates "$3" --epsilon "$4" --delta 1e-5 --trials "$5" \
        --seed "$6" --json --quiet >"$work/audit.json" 2>/dev/null || code=$?
    [ $code -le 1 ] || { echo "audit $*: exit $code" >&2; exit 1; }
    python3 - "$work/audit.json" "$1,$2,$3,$4,1e-5,$5,$6" >>"$rows" <<'PY'
import json, sys
a = json.load(open(sys.argv[1]))
bounds = [a["clopper_pearson"]["epsilon"], a["trade_off"]["epsilon"], a["shown"]]
print(",".join([sys.argv[2]] + ["%.4f" % b for b in bounds] + ["yes" if a["refuted"] else "no"]))
PY
    last=$(tail -n 1 "$rows")
    echo "$last"
    case $2,$last in
    none,*,yes) alarms=$((alarms + 1)) ;;
    none,*) ;;
    *,no) echo "not noticed: $last" >&2; failed=1 ;;
    esac
    if [ "$2" != none ] && [ "$5" = "$many" ]; then
        echo "$last" | awk -F, '{ exit !($8 > $4) }' ||
            { echo "Clopper-Pearson did not notice: $last" >&2; failed=1; }
    fi
}

for trials in $few $many; do
    for epsilon in 1 4; do
        for seed in 1 2 3; do
            audit gaussian none 10 "$epsilon" "$trials" "$seed"
            audit laplace none 10 "$epsilon" "$trials" "$seed"
        done
    done
    for broken in half-noise no-clipping reused-seed; do
        audit gaussian "$broken" 10 1 "$trials" 1
        audit laplace "$broken" 10 1 "$trials" 1
    done
    audit laplace wrong-norm 100 1 "$trials" 1
done

[ $alarms -le 4 ] || { echo "$alarms false alarms" >&2; failed=1; }
[ $failed -eq 0 ] || exit 1
mkdir -p "$results"
mv "$rows" "$results/audit.csv"
echo "wrote $results/audit.csv"
