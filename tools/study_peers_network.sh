#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make study STUDY=peers_network: real peers against bad networks and against the simulator.
#
# peers_network.csv: 20 nodes in network namespaces, 50 ms delay each way, 5 % of all packets lost, a
# partition of 60 s into two halves, 30 % of the nodes killed with -9 at random moments and started
# again; public cd on small separators and examples/private.yaml (tools/peers_network.py has the
# checks). Objectives must be within 1 % of those of undisturbed runs; also with noise, since with a
# hundred agents that average it the objective hardly depends on it.
#
# peers_private.csv: examples/private.yaml with its 100 agents on 20 real nodes, and simulated, on the
# same records: test accuracy of both for each seed, and the mean of the differences with its standard
# error. Ends with 1 if the mean is more than three standard errors and more than 0.01 away from zero.
#
# PARTS=network or PARTS=private: one of the two. Real peers need the cores that they count on: leave
# the machine alone meanwhile, and look at the column of ticks, about 100 an agent.
set -eu
export LC_ALL=C
tacit=${TACIT:-build/tacit}
results=${RESULTS:-bench/results}
seeds=${SEEDS:-1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20}
nodes=${NODES:-20}
partition=${PARTITION:-60}
parts=${PARTS:-network private}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
mkdir -p "$results"

# disturb VARIANT ARGUMENTS...: a line of peers_network.csv
disturb() {
    variant=$1
    shift
    python3 tools/peers_network.py "$@" --tacit "$tacit" --nodes "$nodes" --partition "$partition" \
        --out "$work/$variant" --json >"$work/$variant.json" || {
        echo "$variant: what must hold does not" >&2
        failed=1
    }
    python3 - "$variant" "$work/$variant.json" <<'PYTHON'
import json, sys
r = json.load(open(sys.argv[2]))
keys = "nodes delay_ms loss_percent partition_seconds kills ended objective undisturbed ratio over_budget " \
       "messages accepted_twice accepted_again_after_a_crash seconds"
print(",".join([sys.argv[1]] + ["" if r[k] is None else f"{r[k]:.8g}" for k in keys.split()]))
PYTHON
    rm -rf "${work:?}/$variant"
}

network() {
    echo "variant,nodes,delay_ms,loss_percent,partition_s,kills,ended,objective,undisturbed,ratio,over_budget,messages,accepted_twice,accepted_again_after_a_crash,seconds"
    disturb cd examples/separators.yaml --unit 0.25 --set data.agents=20 --set data.dimension=10 \
        --set run.time=600
    disturb private examples/private.yaml --unit 1.5
}

# pair SEED: a line of peers_private.csv
pair() {
    rm -rf "$work/run" "$work/up"
    "$tacit" run examples/private.yaml --quiet --json --threads 1 --out "$work/run" --set run.every=0 \
        --set "run.seed=$1" >"$work/run.json"
    "$tacit" up "$nodes" examples/private.yaml --quiet --json --threads 1 --unit 0.3 --out "$work/up" \
        --set "run.seed=$1" >"$work/up.json"
    python3 - "$1" "$work/run.json" "$work/up.json" <<'PYTHON'
import json, sys
run, up = (json.load(open(path)) for path in sys.argv[2:])
a, b = run["metrics"]["test_accuracy"], up["metrics"]["test_accuracy"]
print(f"{sys.argv[1]},{a:.6f},{b:.6f},{b - a:.6f},{run['metrics']['objective']:.4f},"
      f"{up['metrics']['objective']:.4f},{run['privacy']['epsilon']:.4f},{up['privacy']['epsilon']:.4f},"
      f"{run['ticks']},{up['ticks']},{run['messages']},{up['messages']}")
PYTHON
}

private() {
    echo "seed,simulated_accuracy,real_accuracy,difference,simulated_objective,real_objective,simulated_epsilon,real_epsilon,simulated_ticks,real_ticks,simulated_messages,real_messages"
    for seed in $seeds; do
        pair "$seed"
    done
}

# means CSV: with two lines more
means() {
    awk -F, -v OFS=, 'NR == 1 { columns = NF }
        { print }
        NR > 1 { n++; for (k = 2; k <= NF; k++) { sum[k] += $k; squares[k] += $k * $k } }
        END {
            mean = "mean"; error = "standard_error"
            for (k = 2; k <= columns; k++) {
                m = sum[k] / n
                v = n > 1 ? (squares[k] / n - m * m) / (n - 1) : 0
                mean = mean OFS sprintf("%.6g", m)
                error = error OFS sprintf("%.6g", sqrt(v > 0 ? v : 0))
            }
            print mean; print error
        }' "$1"
}

for part in $parts; do
    $part >"$work/$part.csv"
    case $part in
    network) cp "$work/$part.csv" "$results/peers_network.csv" ;;
    private) means "$work/$part.csv" >"$results/peers_private.csv" ;;
    esac
    column -s, -t "$results/peers_$part.csv"
    echo "written: $results/peers_$part.csv"
done
[ ! -e "$work/private.csv" ] ||
    awk -F, '$1 == "mean" { mean = $4 < 0 ? -$4 : $4 } $1 == "standard_error" { error = $4 }
        END { exit mean > 0.01 && mean > 3 * error }' "$results/peers_private.csv" || {
    echo "expected: real and simulated private runs agree within noise" >&2
    failed=1
}
exit $failed
