#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make study STUDY=consensus_settings: how settings of the tables of paper 004 were chosen
# (src/reproduce/deep_settings.c). Every row below is one training on nine tenths of MNIST's
# training records, looked at on the last tenth; test records are not opened. TACIT_DATA is the
# folder that holds mnist/. One digit an agent, add-remove, delta 1e-5, seed 101 if a row says no
# other; the seed draws the graph, too. Under two hours of two cores; ONLY="dsgt 10" runs the rows that
# begin so, and prints them.
#
# Writes consensus_settings.csv to bench/results/ when all went well.
set -eu
export LC_ALL=C
export tacit=${TACIT:-build/tacit}
results=${RESULTS:-bench/results}
if [ ! -e "${TACIT_DATA:-.}/mnist/train-images-idx3-ubyte.xz" ]; then
    echo "there is no mnist/train-images-idx3-ubyte.xz in \"${TACIT_DATA:-.}\"; set TACIT_DATA to the" \
        "folder that holds it (\"tacit data --known\" says where to get it)" >&2
    exit 2
fi
export work
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/task.yaml" <<YAML
run: {seed: 101, time: 2001, every: 0}
network: {latency: constant}
protocol: {name: dsgt, iterations: 2000, lot: 256}
data: {source: idx, folder: ${TACIT_DATA:-.}, path: mnist/train-images-idx3-ubyte.xz,
       labels-path: mnist/train-labels-idx1-ubyte.xz, subtract: 33.3, divide: 78.6, partition: classes,
       agents: 10, t: 1, validation-fraction: 0.1, test-fraction: 0.001, score-on: all}
model: {layers: "conv 3 5x5 pad 2, mish, pool 2, dense 64, mish, dense 10", input: 1x28x28}
graph: {kind: complete}
YAML

# train NUMBER METHOD EPSILON FIEDLER SETTINGS...: one row, in a file of its own
train() {
    local number=$1 method=$2 epsilon=$3 fiedler=$4 sampling=0.0427
    shift 4
    local words=(--set "protocol.name=$method") setting
    if [ "$method" = dp-sgd ]; then sampling=0.00427; fi
    if [ "$epsilon" != inf ]; then
        words+=(--set privacy.mechanism=gaussian --set "privacy.epsilon=$epsilon" --set privacy.delta=1e-5
            --set privacy.adjacency=add-remove --set "privacy.sampling=$sampling")
    fi
    if [ "$fiedler" != 1 ]; then words+=(--set graph.kind=erdos-renyi --set "graph.fiedler=$fiedler"); fi
    for setting in "$@"; do words+=(--set "$setting"); done
    "$tacit" run "$work/task.yaml" "${words[@]}" --threads 1 --quiet --json --out "$work/run$number" \
        >"$work/$number.json"
    rm -rf "$work/run$number"
    python3 - "$work/$number.json" "$method,$epsilon,$fiedler,$*" >"$work/$number.row" <<'PY'
import json, sys
metrics = json.load(open(sys.argv[1]))["metrics"]
print("%s,%.4f" % (sys.argv[2], metrics["validation_accuracy"]))
PY
    cat "$work/$number.row" >&2
}
export -f train

cat >"$work/all" <<'ROWS'
dp-sgd inf 1 protocol.step=0.1 protocol.step-last=0.005 protocol.schedule=linear protocol.average=0.98
dp-sgd inf 1 protocol.step=0.1 protocol.step-last=0.005 protocol.schedule=linear protocol.average=0.98 data.subtract=0 data.divide=255
dp-sgd inf 1 protocol.step=0.3 protocol.step-last=0.005 protocol.schedule=linear protocol.average=0.98 data.subtract=0 data.divide=255
dp-sgd inf 1 protocol.step=0.3 protocol.step-last=0.005 protocol.schedule=linear protocol.average=0.98
dp-sgd inf 1 protocol.step=0.6 protocol.step-last=0.005 protocol.schedule=linear protocol.average=0.98 data.subtract=0 data.divide=255
dp-sgd inf 1 protocol.step=0.2 protocol.step-last=0.001 protocol.schedule=linear protocol.average=0.98
dp-sgd inf 1 protocol.step=3 protocol.step-last=0.02 protocol.schedule=linear protocol.average=0.98 privacy.clip=1
dp-sgd inf 1 protocol.step=6 protocol.step-last=0.02 protocol.schedule=linear protocol.average=0.98 privacy.clip=1
dp-sgd inf 1 protocol.step=0.15 protocol.step-last=0.001 protocol.schedule=linear protocol.average=0.98 protocol.momentum=0.5
dp-sgd inf 1 protocol.step=6 protocol.step-last=0.3 protocol.schedule=linear protocol.average=0.995 privacy.clip=1
dp-sgd inf 1 protocol.step=10 protocol.step-last=0.3 protocol.schedule=linear protocol.average=0.99 privacy.clip=1
dp-sgd 10 1 privacy.clip=1 protocol.step=0.5 protocol.schedule=linear protocol.step-last=0.02 protocol.average=0.98 data.subtract=0 data.divide=255
dp-sgd 10 1 privacy.clip=1 protocol.step=0.5 protocol.step-last=0.02 protocol.schedule=linear protocol.average=0.98
dp-sgd 10 1 privacy.clip=1 protocol.step=0.5 protocol.step-last=0.02 protocol.schedule=linear protocol.average=0.98 data.divide=80 data.subtract=0
dp-sgd 10 1 privacy.clip=1 protocol.step=2 protocol.step-last=0.02 protocol.schedule=linear protocol.average=0.98 data.subtract=0 data.divide=255
dp-sgd 10 1 privacy.clip=1 protocol.step=1 protocol.step-last=0.02 protocol.schedule=linear protocol.average=0.98
dp-sgd 10 1 privacy.clip=0.3 protocol.step=3 protocol.step-last=0.1 protocol.schedule=linear protocol.average=0.98
dp-sgd 10 1 privacy.clip=3 protocol.step=0.3 protocol.step-last=0.01 protocol.schedule=linear protocol.average=0.98
dp-sgd 10 1 privacy.clip=1 protocol.step=0.25 protocol.step-last=0.01 protocol.schedule=linear protocol.average=0.98
dp-sgd 10 1 privacy.clip=1 protocol.step=4 protocol.step-last=0.02 protocol.schedule=linear protocol.average=0.98 data.subtract=0 data.divide=255
dp-sgd 10 1 privacy.clip=1 protocol.step=2 protocol.step-last=0.02 protocol.schedule=linear protocol.average=0.98
dp-sgd 10 1 privacy.clip=1 protocol.step=4 protocol.step-last=0.02 protocol.schedule=linear protocol.average=0.98
dp-sgd 10 1 privacy.clip=3 protocol.step=1 protocol.step-last=0.01 protocol.schedule=linear protocol.average=0.98
dp-sgd 10 1 privacy.clip=1 protocol.step=2 protocol.step-last=0.02 protocol.schedule=linear protocol.average=0.98 data.divide=80 data.subtract=0
dp-sgd 10 1 privacy.clip=3 protocol.step=1 protocol.step-last=0.01 protocol.schedule=linear protocol.average=0.98 data.subtract=0 data.divide=255
dp-sgd 10 1 privacy.clip=1 protocol.step=4 protocol.step-last=0.02 protocol.schedule=cosine protocol.average=0.98
dp-sgd 10 1 privacy.clip=1 protocol.step=4 protocol.step-last=0.02 protocol.schedule=linear protocol.average=0.99 data.subtract=33.3 data.divide=40
dp-sgd 10 1 privacy.clip=1 protocol.step=4 protocol.step-last=0.02 protocol.schedule=linear protocol.average=0.99 data.subtract=33.3 data.divide=130
dp-sgd 10 1 privacy.clip=1 protocol.step=4 protocol.step-last=1 protocol.schedule=linear protocol.average=0.995
dp-sgd 10 1 privacy.clip=0.5 protocol.step=8 protocol.step-last=0.04 protocol.schedule=linear protocol.average=0.98
dp-sgd 10 1 privacy.clip=0.2 protocol.step=20 protocol.step-last=0.1 protocol.schedule=linear protocol.average=0.98
dp-sgd 10 1 privacy.clip=2 protocol.step=2 protocol.step-last=0.01 protocol.schedule=linear protocol.average=0.98
dp-sgd 10 1 privacy.clip=1 protocol.step=6 protocol.step-last=0.05 protocol.schedule=exponential protocol.average=0.98
dp-sgd 10 1 privacy.clip=4 protocol.step=1 protocol.step-last=0.25 protocol.schedule=linear protocol.average=0.995
dp-sgd 10 1 privacy.clip=2 protocol.step=2 protocol.step-last=0.5 protocol.schedule=linear protocol.average=0.995
dp-sgd 10 1 privacy.clip=2 protocol.step=2 protocol.step-last=1 protocol.schedule=linear protocol.average=0.998
dp-sgd 10 1 privacy.clip=2 protocol.step=2 protocol.step-last=0.5 protocol.schedule=linear protocol.average=0.995 data.subtract=33.3 data.divide=130
dp-sgd 10 1 privacy.clip=2 protocol.step=3 protocol.step-last=0.3 protocol.schedule=linear protocol.average=0.995
dp-sgd 10 1 privacy.clip=1 protocol.step=4 protocol.step-last=2 protocol.schedule=linear protocol.average=0.998
dp-sgd 10 1 privacy.clip=4 protocol.step=1 protocol.step-last=0.25 protocol.schedule=linear protocol.average=0.995 model.lambda=0.001
dp-sgd 10 1 privacy.clip=4 protocol.step=1 protocol.step-last=0.5 protocol.schedule=linear protocol.average=0.998 model.lambda=0.002
dp-sgd 10 1 privacy.clip=2 protocol.step=2 protocol.step-last=0.5 protocol.schedule=linear protocol.average=0.995 model.lambda=0.0005
dp-sgd 10 1 privacy.clip=2 protocol.step=2 protocol.step-last=1 protocol.schedule=linear protocol.average=0.998 model.lambda=0.001
dp-sgd 10 1 privacy.clip=1 protocol.step=4 protocol.step-last=2 protocol.schedule=linear protocol.average=0.998 model.lambda=0.0005
dp-sgd 10 1 privacy.clip=1 protocol.step=4 protocol.step-last=1 protocol.schedule=linear protocol.average=0.995 model.lambda=0.0002
dp-sgd 10 1 privacy.clip=4 protocol.step=2 protocol.step-last=0.25 protocol.schedule=linear protocol.average=0.995 model.lambda=0.001
dp-sgd 10 1 privacy.clip=8 protocol.step=0.5 protocol.step-last=0.12 protocol.schedule=linear protocol.average=0.995 model.lambda=0.001
dp-sgd 1 1 privacy.clip=1 protocol.step=0.3 protocol.schedule=linear protocol.step-last=0.02 protocol.average=0.98 data.subtract=0 data.divide=255
dp-sgd 1 1 privacy.clip=1 protocol.step=2 protocol.step-last=0.02 protocol.schedule=linear protocol.average=0.98
dp-sgd 1 1 privacy.clip=1 protocol.step=1 protocol.step-last=0.02 protocol.schedule=linear protocol.average=0.98
dp-sgd 1 1 privacy.clip=1 protocol.step=2 protocol.step-last=1 protocol.schedule=linear protocol.average=0.998
dp-sgd 0.5 1 privacy.clip=1 protocol.step=0.2 protocol.schedule=linear protocol.step-last=0.02 protocol.average=0.98 data.subtract=0 data.divide=255
dp-sgd 0.5 1 privacy.clip=1 protocol.step=1 protocol.step-last=0.02 protocol.schedule=linear protocol.average=0.98
dp-sgd 0.5 1 privacy.clip=1 protocol.step=1.3 protocol.step-last=0.6 protocol.schedule=linear protocol.average=0.998
dp-sgd 0.5 1 protocol.schedule=linear protocol.step=0.5 protocol.step-last=0.02 privacy.clip=1 protocol.average=0.98 privacy.adjacency=replace privacy.sampling=1 run.seed=102
dp-sgd 0.5 1 protocol.schedule=linear protocol.step=1 protocol.step-last=0.02 privacy.clip=1 protocol.average=0.98 privacy.adjacency=replace privacy.sampling=1 run.seed=102
dsgd inf 1 privacy.clip=1 protocol.step=0.5 protocol.step-last=0.002 protocol.schedule=linear protocol.average=0.98
dsgd inf 1 privacy.clip=1 protocol.step=2 protocol.step-last=0.002 protocol.schedule=linear protocol.average=0.98
dsgd inf 1 protocol.step=0.1 protocol.step-last=0.001 protocol.schedule=linear protocol.average=0.98
dsgd inf 1 privacy.clip=1 protocol.step=10 protocol.step-last=0.002 protocol.schedule=exponential protocol.average=0.95
dsgd inf 1 privacy.clip=1 protocol.step=5 protocol.step-last=0.002 protocol.schedule=exponential protocol.average=0.95 run.seed=102
dsgd inf 1 privacy.clip=1 protocol.step=10 protocol.step-last=0.002 protocol.schedule=exponential protocol.average=0.95 run.seed=102
dsgd inf 1 privacy.clip=4 protocol.step=1 protocol.step-last=0.0005 protocol.schedule=exponential protocol.average=0.95 run.seed=102
dsgd inf 1 privacy.clip=1 protocol.step=8 protocol.step-last=0.03 protocol.schedule=exponential protocol.average=0.98 run.seed=102
dsgd inf 1 privacy.clip=1 protocol.step=8 protocol.step-last=0.03 protocol.schedule=exponential protocol.average=0.98 run.seed=103
dsgd inf 1 privacy.clip=1 protocol.step=10 protocol.step-last=0.002 protocol.schedule=exponential protocol.average=0.95 run.seed=103
dsgd inf 0.06 privacy.clip=1 protocol.step=0.5 protocol.step-last=0.002 protocol.schedule=linear protocol.average=0.98
dsgd inf 0.06 protocol.step=0.1 protocol.step-last=0.001 protocol.schedule=linear protocol.average=0.98
dsgd inf 0.06 protocol.step=0.03 protocol.step-last=0.001 protocol.schedule=linear protocol.average=0.98
dsgd inf 0.06 privacy.clip=1 protocol.step=5 protocol.step-last=0.002 protocol.schedule=linear protocol.average=0.98
dsgd inf 0.06 privacy.clip=1 protocol.step=10 protocol.step-last=0.002 protocol.schedule=exponential protocol.average=0.95
dsgd inf 0.06 privacy.clip=4 protocol.step=1 protocol.step-last=0.0005 protocol.schedule=exponential protocol.average=0.95
dsgd inf 0.06 privacy.clip=1 protocol.step=5 protocol.step-last=0.002 protocol.schedule=exponential protocol.average=0.95
dsgd inf 0.06 privacy.clip=1 protocol.step=8 protocol.step-last=0.03 protocol.schedule=exponential protocol.average=0.98
dsgd 10 1 privacy.clip=1 protocol.step=0.6 protocol.step-last=0.006 protocol.schedule=linear protocol.average=0.98
dsgd 10 1 privacy.clip=1 protocol.step=2 protocol.step-last=0.005 protocol.schedule=linear protocol.average=0.98
dsgd 10 1 privacy.clip=10 protocol.step=0.1 protocol.step-last=0.001 protocol.schedule=linear protocol.average=0.98
dsgd 10 1 privacy.clip=1 protocol.step=5 protocol.step-last=0.005 protocol.schedule=exponential protocol.average=0.95
dsgd 10 0.06 privacy.clip=10 protocol.step=0.1 protocol.step-last=0.001 protocol.schedule=linear protocol.average=0.98
dsgd 10 0.06 privacy.clip=1 protocol.step=2 protocol.step-last=0.005 protocol.schedule=linear protocol.average=0.98
dsgd 10 0.06 privacy.clip=1 protocol.step=5 protocol.step-last=0.005 protocol.schedule=exponential protocol.average=0.95
dsgd 10 0.06 protocol.schedule=exponential protocol.step=5 protocol.step-last=0.005 privacy.clip=1 protocol.average=0.95 data.t=0
dsgd 1 1 privacy.clip=1 protocol.step=0.3 protocol.step-last=0.003 protocol.schedule=linear protocol.average=0.98
dsgd 1 1 privacy.clip=4 protocol.step=0.1 protocol.step-last=0.002 protocol.schedule=linear protocol.average=0.98
dsgd 1 1 privacy.clip=1 protocol.step=0.6 protocol.step-last=0.003 protocol.schedule=exponential protocol.average=0.98
dsgd 1 0.06 privacy.clip=1 protocol.step=0.3 protocol.step-last=0.003 protocol.schedule=linear protocol.average=0.98
dsgd 1 0.06 privacy.clip=1 protocol.step=1.5 protocol.step-last=0.003 protocol.schedule=exponential protocol.average=0.95
dsgd 1 0.06 privacy.clip=1 protocol.step=0.8 protocol.step-last=0.003 protocol.schedule=linear protocol.average=0.98
dsgd 1 0.06 privacy.clip=1 protocol.step=0.6 protocol.step-last=0.003 protocol.schedule=exponential protocol.average=0.98
dsgd 0.5 1 privacy.clip=1 protocol.step=0.3 protocol.step-last=0.002 protocol.schedule=exponential protocol.average=0.98
dsgd 0.5 0.06 privacy.clip=1 protocol.step=0.3 protocol.step-last=0.003 protocol.schedule=linear protocol.average=0.98
dsgd 0.5 0.06 privacy.clip=1 protocol.step=0.3 protocol.step-last=0.002 protocol.schedule=exponential protocol.average=0.98
dsgd 0.5 0.06 protocol.schedule=exponential protocol.step=0.3 protocol.step-last=0.002 privacy.clip=1 protocol.average=0.98 data.t=0
dsgd 0.5 0.06 protocol.schedule=exponential protocol.step=0.6 protocol.step-last=0.003 privacy.clip=1 protocol.average=0.98 data.t=0
dsgd 0.5 0.06 protocol.schedule=exponential protocol.step=0.6 protocol.step-last=0.003 privacy.clip=1 protocol.average=0.98 run.seed=102
dsgd 0.5 0.06 protocol.schedule=exponential protocol.step=0.3 protocol.step-last=0.002 privacy.clip=1 protocol.average=0.98 run.seed=102
dsgd 0.5 0.06 protocol.schedule=exponential protocol.step=0.15 protocol.step-last=0.001 privacy.clip=1 protocol.average=0.98 privacy.adjacency=replace privacy.sampling=1 run.seed=102
dsgd 0.5 0.06 protocol.schedule=exponential protocol.step=0.3 protocol.step-last=0.002 privacy.clip=1 protocol.average=0.98 privacy.adjacency=replace privacy.sampling=1 run.seed=102
dsgt inf 1 privacy.clip=1 protocol.step=6 protocol.step-last=0.3 protocol.schedule=linear protocol.average=0.995
dsgt inf 1 privacy.clip=10 protocol.step=0.6 protocol.step-last=0.03 protocol.schedule=linear protocol.average=0.99
dsgt inf 1 privacy.clip=4 protocol.step=1 protocol.step-last=0.05 protocol.schedule=linear protocol.average=0.99
dsgt inf 1 privacy.clip=10 protocol.step=0.9 protocol.step-last=0.03 protocol.schedule=linear protocol.average=0.99
dsgt inf 0.06 privacy.clip=1 protocol.step=3 protocol.step-last=0.3 protocol.schedule=linear protocol.average=0.995
dsgt inf 0.06 privacy.clip=1 protocol.step=6 protocol.step-last=0.3 protocol.schedule=linear protocol.average=0.995
dsgt inf 0.06 privacy.clip=10 protocol.step=0.6 protocol.step-last=0.03 protocol.schedule=linear protocol.average=0.99
dsgt inf 0.06 privacy.clip=3 protocol.step=2 protocol.step-last=0.1 protocol.schedule=linear protocol.average=0.99
dsgt inf 0.06 privacy.clip=4 protocol.step=1 protocol.step-last=0.05 protocol.schedule=linear protocol.average=0.99
dsgt inf 0.06 privacy.clip=10 protocol.step=0.9 protocol.step-last=0.03 protocol.schedule=linear protocol.average=0.99
dsgt 10 1 privacy.clip=4 protocol.step=0.5 protocol.schedule=linear protocol.step-last=0.02 protocol.average=0.98 data.subtract=0 data.divide=255
dsgt 10 1 privacy.clip=1 protocol.step=2 protocol.schedule=linear protocol.step-last=0.1 protocol.average=0.98 data.subtract=0 data.divide=255
dsgt 10 1 privacy.clip=1 protocol.step=4 protocol.step-last=0.02 protocol.schedule=linear protocol.average=0.98
dsgt 10 1 privacy.clip=1 protocol.step=8 protocol.step-last=0.02 protocol.schedule=linear protocol.average=0.98
dsgt 10 1 privacy.clip=1 protocol.step=4 protocol.step-last=2 protocol.schedule=linear protocol.average=0.998
dsgt 10 1 privacy.clip=1 protocol.step=4 protocol.step-last=1 protocol.schedule=linear protocol.average=0.995 model.lambda=0.0002
dsgt 10 1 privacy.clip=4 protocol.step=1 protocol.step-last=0.25 protocol.schedule=linear protocol.average=0.995
dsgt 10 1 privacy.clip=1 protocol.step=2 protocol.step-last=1 protocol.schedule=linear protocol.average=0.998
dsgt 10 1 privacy.clip=4 protocol.step=1 protocol.step-last=0.25 protocol.schedule=linear protocol.average=0.995 model.lambda=0.001
dsgt 10 1 privacy.clip=1 protocol.step=4 protocol.step-last=2 protocol.schedule=linear protocol.average=0.998 run.seed=102
dsgt 10 1 privacy.clip=2 protocol.step=2 protocol.step-last=0.5 protocol.schedule=linear protocol.average=0.995 model.lambda=0.0005 run.seed=102
dsgt 10 1 privacy.clip=1 protocol.step=4 protocol.step-last=1 protocol.schedule=linear protocol.average=0.998 model.lambda=0.0001 run.seed=102
dsgt 10 0.06 privacy.clip=1 protocol.step=4 protocol.step-last=2 protocol.schedule=linear protocol.average=0.998
dsgt 10 0.06 privacy.clip=1 protocol.step=4 protocol.step-last=2 protocol.schedule=linear protocol.average=0.998 run.seed=102
dsgt 10 0.06 protocol.schedule=linear protocol.step=4 protocol.step-last=1 privacy.clip=1 protocol.average=0.998 model.lambda=0.0001 data.t=0
dsgt 1 0.06 privacy.clip=1 protocol.step=1 protocol.step-last=0.5 protocol.schedule=linear protocol.average=0.998
dsgt 0.5 1 privacy.clip=1 protocol.step=0.6 protocol.step-last=0.3 protocol.schedule=linear protocol.average=0.998
dsgt 0.5 0.06 privacy.clip=1 protocol.step=0.6 protocol.step-last=0.3 protocol.schedule=linear protocol.average=0.998
dsgt 0.5 0.06 protocol.schedule=linear protocol.step=0.6 protocol.step-last=0.3 privacy.clip=1 protocol.average=0.998 data.t=0
dsgt 0.5 0.06 protocol.schedule=linear protocol.step=0.4 protocol.step-last=0.2 privacy.clip=1 protocol.average=0.998 privacy.adjacency=replace privacy.sampling=1 run.seed=102
dsgt 0.5 0.06 protocol.schedule=linear protocol.step=0.3 protocol.step-last=0.15 privacy.clip=1 protocol.average=0.998 privacy.adjacency=replace privacy.sampling=1 run.seed=102
dsgt 0.5 0.06 protocol.schedule=linear protocol.step=0.3 protocol.step-last=0.1 privacy.clip=1 protocol.average=0.998 privacy.adjacency=replace privacy.sampling=1 run.seed=102
dsgt 0.5 0.06 protocol.schedule=linear protocol.step=0.2 protocol.step-last=0.1 privacy.clip=1 protocol.average=0.998 privacy.adjacency=replace privacy.sampling=1 run.seed=102
dsgt 0.5 0.06 protocol.schedule=linear protocol.step=0.15 protocol.step-last=0.05 privacy.clip=1 protocol.average=0.998 privacy.adjacency=replace privacy.sampling=1 run.seed=102
dinno inf 1 privacy.clip=1 protocol.step=0.002 protocol.rho=0.1 protocol.step-last=0.0002 protocol.schedule=linear protocol.average=0.99
dinno inf 1 privacy.clip=1 protocol.step=0.006 protocol.rho=0.04 protocol.step-last=0.0005 protocol.schedule=linear protocol.average=0.99
dinno inf 1 privacy.clip=1 protocol.steps=plain protocol.step=5 protocol.rho=0.012 protocol.step-last=0.3 protocol.schedule=linear protocol.average=0.995
dinno inf 1 privacy.clip=1 protocol.step=0.012 protocol.rho=0.02 protocol.step-last=0.0005 protocol.schedule=linear protocol.average=0.99
dinno inf 1 privacy.clip=10 protocol.step=0.004 protocol.rho=0.5 protocol.step-last=0.0004 protocol.schedule=linear protocol.average=0.99
dinno inf 1 privacy.clip=10 protocol.step=0.006 protocol.rho=0.3 protocol.step-last=0.0004 protocol.schedule=linear protocol.average=0.99 protocol.momentum=0.4
dinno inf 0.06 privacy.clip=1 protocol.step=0.002 protocol.rho=0.1 protocol.step-last=0.0002 protocol.schedule=linear protocol.average=0.99
dinno inf 0.06 privacy.clip=1 protocol.step=0.008 protocol.rho=0.03 protocol.step-last=0.0004 protocol.schedule=linear protocol.average=0.99
dinno inf 0.06 privacy.clip=0.1 protocol.step=0.006 protocol.rho=0.004 protocol.step-last=0.0004 protocol.schedule=linear protocol.average=0.99
dinno inf 0.06 privacy.clip=1 protocol.steps=plain protocol.step=1.5 protocol.rho=0.05 protocol.step-last=0.05 protocol.schedule=linear protocol.average=0.99
dinno inf 0.06 privacy.clip=0.3 protocol.step=0.012 protocol.rho=0.03 protocol.step-last=0.0002 protocol.schedule=cosine protocol.average=0.99
dinno inf 0.06 privacy.clip=1 protocol.step=0.006 protocol.rho=0.12 protocol.step-last=0.0004 protocol.schedule=linear protocol.average=0.99
dinno inf 0.06 privacy.clip=1 protocol.step=0.006 protocol.rho=0.4 protocol.step-last=0.0004 protocol.schedule=linear protocol.average=0.99
dinno inf 0.06 privacy.clip=10 protocol.step=0.006 protocol.rho=0.5 protocol.step-last=0.0004 protocol.schedule=linear protocol.average=0.99
dinno inf 0.06 privacy.clip=1 protocol.step=0.012 protocol.rho=0.12 protocol.step-last=0.0002 protocol.schedule=exponential protocol.average=0.98
dinno inf 0.06 privacy.clip=1 protocol.step=0.006 protocol.rho=0.12 protocol.step-last=0.0004 protocol.schedule=linear protocol.average=0.99 protocol.momentum=0.4
dinno inf 0.06 privacy.clip=10 protocol.step=0.006 protocol.rho=0.3 protocol.step-last=0.0004 protocol.schedule=linear protocol.average=0.99 protocol.momentum=0.4
dinno inf 0.06 privacy.clip=10 protocol.step=0.006 protocol.rho=0.15 protocol.step-last=0.0004 protocol.schedule=linear protocol.average=0.99 protocol.momentum=0.4
dinno inf 0.06 privacy.clip=10 protocol.step=0.006 protocol.rho=0.5 protocol.step-last=0.0004 protocol.schedule=linear protocol.average=0.99 protocol.momentum=0.4
dinno inf 0.06 privacy.clip=10 protocol.step=0.006 protocol.rho=0.3 protocol.step-last=0.0004 protocol.schedule=linear protocol.average=0.99 protocol.momentum=0.4 run.seed=102
dinno inf 0.06 protocol.coupling=weighted privacy.clip=10 protocol.step=0.006 protocol.rho=2 protocol.rho-last=10 protocol.step-last=0.0004 protocol.schedule=linear protocol.average=0.99 protocol.momentum=0.4 run.seed=102
dinno 10 1 privacy.clip=1 protocol.step=0.009 protocol.rho=0.035 protocol.step-last=0.002 protocol.schedule=linear protocol.average=0.995
dinno 10 1 privacy.clip=1 protocol.step=0.004 protocol.rho=0.1 protocol.step-last=0.0008 protocol.schedule=linear protocol.average=0.995
dinno 10 1 privacy.clip=1 protocol.step=0.006 protocol.rho=0.1 protocol.step-last=0.0008 protocol.schedule=linear protocol.average=0.995
dinno 10 1 protocol.coupling=weighted protocol.schedule=exponential protocol.step=0.006 protocol.step-last=0.0006 protocol.rho=1 protocol.rho-last=10 privacy.clip=1 protocol.average=0.99 run.seed=102
dinno 10 1 protocol.coupling=weighted privacy.clip=1 protocol.average=0.99 protocol.schedule=linear protocol.step=0.006 protocol.step-last=0.0006 protocol.rho=0.7 protocol.rho-last=4
dinno 10 1 protocol.coupling=weighted privacy.clip=1 protocol.average=0.99 protocol.schedule=linear protocol.step=0.008 protocol.step-last=0.0006 protocol.rho=0.7 protocol.rho-last=6
dinno 10 1 protocol.coupling=weighted privacy.clip=1 protocol.average=0.99 protocol.schedule=linear protocol.step=0.008 protocol.step-last=0.0004 protocol.rho=0.4 protocol.rho-last=6
dinno 10 1 protocol.coupling=weighted privacy.clip=1 protocol.schedule=linear protocol.average=0.99 protocol.step=0.012 protocol.step-last=0.0006 protocol.rho=0.7 protocol.rho-last=10
dinno 10 0.06 privacy.clip=1 protocol.step=0.004 protocol.rho=0.1 protocol.step-last=0.0008 protocol.schedule=linear protocol.average=0.995
dinno 10 0.06 privacy.clip=10 protocol.step=0.006 protocol.rho=0.3 protocol.step-last=0.0004 protocol.schedule=linear protocol.average=0.99 protocol.momentum=0.4
dinno 10 0.06 privacy.clip=4 protocol.step=0.005 protocol.rho=0.3 protocol.step-last=0.0005 protocol.schedule=linear protocol.average=0.995
dinno 10 0.06 privacy.clip=1 protocol.step=0.006 protocol.rho=0.1 protocol.step-last=0.0008 protocol.schedule=linear protocol.average=0.995
dinno 10 0.06 protocol.schedule=linear protocol.step=0.006 protocol.step-last=0.0008 protocol.rho=0.1 privacy.clip=1 protocol.average=0.995 run.seed=1
dinno 10 0.06 protocol.schedule=linear protocol.step=0.006 protocol.step-last=0.0008 protocol.rho=0.1 privacy.clip=1 protocol.average=0.995 run.seed=102
dinno 10 0.06 protocol.schedule=linear protocol.step=0.006 protocol.step-last=0.0008 protocol.rho=0.1 privacy.clip=1 protocol.average=0.995 run.seed=103
dinno 10 0.06 protocol.schedule=linear protocol.step=0.006 protocol.step-last=0.0008 protocol.rho=0.2 privacy.clip=1 protocol.average=0.995 run.seed=1
dinno 10 0.06 protocol.schedule=exponential protocol.step=0.006 protocol.step-last=0.0003 protocol.rho=0.1 privacy.clip=1 protocol.average=0.995 run.seed=1
dinno 10 0.06 protocol.schedule=linear protocol.step=0.003 protocol.step-last=0.0004 protocol.rho=0.2 privacy.clip=1 protocol.average=0.995 run.seed=1
dinno 10 0.06 protocol.schedule=linear protocol.step=0.002 protocol.step-last=0.0004 protocol.rho=0.4 privacy.clip=1 protocol.average=0.995 run.seed=1
dinno 10 0.06 protocol.schedule=exponential protocol.step=0.006 protocol.step-last=0.0006 protocol.rho=0.1 protocol.rho-last=1 privacy.clip=1 protocol.average=0.99 run.seed=102
dinno 10 0.06 protocol.schedule=exponential protocol.step=0.003 protocol.step-last=0.0003 protocol.rho=0.2 protocol.rho-last=2 privacy.clip=1 protocol.average=0.99 run.seed=102
dinno 10 0.06 protocol.schedule=exponential protocol.step=0.006 protocol.step-last=0.0002 protocol.rho=0.1 protocol.rho-last=3 privacy.clip=1 protocol.average=0.99 run.seed=102
dinno 10 0.06 protocol.schedule=exponential protocol.step=0.003 protocol.step-last=0.0003 protocol.rho=0.2 protocol.rho-last=2 privacy.clip=3 protocol.average=0.99 run.seed=102
dinno 10 0.06 protocol.coupling=weighted protocol.schedule=exponential protocol.step=0.006 protocol.step-last=0.0006 protocol.rho=1 protocol.rho-last=10 privacy.clip=1 protocol.average=0.99 run.seed=102
dinno 10 0.06 protocol.coupling=weighted protocol.schedule=linear protocol.step=0.006 protocol.step-last=0.0006 protocol.rho=0.7 protocol.rho-last=4 privacy.clip=1 protocol.average=0.99 run.seed=102
dinno 10 0.06 protocol.coupling=weighted protocol.schedule=exponential protocol.step=0.009 protocol.step-last=0.0006 protocol.rho=0.5 protocol.rho-last=7 privacy.clip=1 protocol.average=0.99 run.seed=102
dinno 10 0.06 protocol.coupling=weighted privacy.clip=1 protocol.average=0.99 protocol.schedule=linear protocol.step=0.006 protocol.step-last=0.0006 protocol.rho=0.7 protocol.rho-last=4
dinno 10 0.06 protocol.coupling=weighted privacy.clip=1 protocol.average=0.99 protocol.schedule=linear protocol.step=0.008 protocol.step-last=0.0006 protocol.rho=0.7 protocol.rho-last=6 run.seed=102
dinno 10 0.06 protocol.coupling=weighted privacy.clip=1 protocol.average=0.99 protocol.schedule=linear protocol.step=0.008 protocol.step-last=0.0004 protocol.rho=0.4 protocol.rho-last=6 run.seed=102
dinno 10 0.06 protocol.coupling=weighted privacy.clip=1 protocol.schedule=linear protocol.average=0.99 protocol.step=0.012 protocol.step-last=0.0006 protocol.rho=0.7 protocol.rho-last=10 run.seed=102
dinno 10 0.06 protocol.coupling=weighted privacy.clip=1 protocol.schedule=linear protocol.average=0.99 protocol.step=0.02 protocol.step-last=0.0006 protocol.rho=0.6 protocol.rho-last=15 run.seed=102
dinno 10 0.06 protocol.coupling=weighted privacy.clip=1 protocol.schedule=linear protocol.average=0.99 protocol.step=0.012 protocol.step-last=0.0006 protocol.rho=0.7 protocol.rho-last=10
dinno 10 0.06 protocol.coupling=weighted privacy.clip=1 protocol.schedule=linear protocol.average=0.99 protocol.step=0.012 protocol.step-last=0.0006 protocol.rho=0.7 protocol.rho-last=10 run.seed=104
dinno 10 0.06 protocol.coupling=weighted privacy.clip=1 protocol.schedule=linear protocol.average=0.99 protocol.step=0.012 protocol.step-last=0.0006 protocol.rho=0.7 protocol.rho-last=10 data.t=0
dinno 10 0.06 protocol.coupling=weighted privacy.clip=1 protocol.schedule=linear protocol.average=0.99 protocol.step=0.008 protocol.step-last=0.0006 protocol.rho=0.7 protocol.rho-last=6 run.seed=104
dinno 10 0.06 protocol.coupling=weighted privacy.clip=1 protocol.schedule=linear protocol.average=0.99 protocol.step=0.012 protocol.step-last=0.0006 protocol.rho=0.7 protocol.rho-last=10 run.seed=105
dinno 10 0.06 protocol.coupling=weighted privacy.clip=1 protocol.schedule=linear protocol.average=0.99 protocol.step=0.012 protocol.step-last=0.0006 protocol.rho=1.2 protocol.rho-last=15 run.seed=104
dinno 1 1 privacy.clip=1 protocol.step=0.014 protocol.rho=0.14 protocol.step-last=0.0014 protocol.schedule=linear protocol.average=0.99
dinno 1 1 privacy.clip=1 protocol.step=0.014 protocol.rho=0.14 protocol.step-last=0.0014 protocol.schedule=linear protocol.average=0.99 protocol.momentum=0.9
dinno 1 1 protocol.coupling=weighted privacy.clip=1 protocol.schedule=linear protocol.average=0.99 protocol.step=0.014 protocol.step-last=0.0014 protocol.rho=1.4 protocol.rho-last=14
dinno 1 0.06 privacy.clip=1 protocol.step=0.014 protocol.rho=0.14 protocol.step-last=0.0014 protocol.schedule=linear protocol.average=0.99
dinno 1 0.06 protocol.coupling=weighted privacy.clip=1 protocol.schedule=linear protocol.average=0.99 protocol.step=0.014 protocol.step-last=0.0014 protocol.rho=1.4 protocol.rho-last=14 run.seed=102
dinno 0.5 1 privacy.clip=1 protocol.step=0.02 protocol.rho=0.14 protocol.step-last=0.004 protocol.schedule=linear protocol.average=0.995
dinno 0.5 1 protocol.coupling=weighted privacy.clip=1 protocol.schedule=linear protocol.average=0.995 protocol.step=0.02 protocol.step-last=0.004 protocol.rho=1.4 protocol.rho-last=7
dinno 0.5 0.06 privacy.clip=1 protocol.step=0.02 protocol.rho=0.14 protocol.step-last=0.004 protocol.schedule=linear protocol.average=0.995
dinno 0.5 0.06 protocol.coupling=weighted privacy.clip=1 protocol.schedule=linear protocol.average=0.995 protocol.step=0.02 protocol.step-last=0.004 protocol.rho=1.4 protocol.rho-last=7 run.seed=102
dinno 0.5 0.06 protocol.coupling=weighted privacy.clip=1 protocol.schedule=linear protocol.average=0.995 protocol.step=0.02 protocol.step-last=0.004 protocol.rho=1.4 protocol.rho-last=7 data.t=0
dinno 0.5 0.06 protocol.coupling=weighted privacy.clip=1 protocol.schedule=linear protocol.average=0.995 protocol.step=0.02 protocol.step-last=0.004 protocol.rho=2.8 protocol.rho-last=14 privacy.adjacency=replace privacy.sampling=1 run.seed=102
dinno 0.5 0.06 protocol.coupling=weighted privacy.clip=1 protocol.schedule=linear protocol.average=0.995 protocol.step=0.02 protocol.step-last=0.004 protocol.rho=1.4 protocol.rho-last=7 privacy.adjacency=replace privacy.sampling=1 run.seed=102
ROWS
grep "^${ONLY:-}" "$work/all" | cat -n >"$work/list"
if [ ! -s "$work/list" ]; then
    echo "no row begins with \"${ONLY:-}\"" >&2
    exit 2
fi
# shellcheck disable=SC2016 # the row's words are taken apart by the inner shell
xargs -d '\n' -P "$(nproc)" -I{} bash -euc 'train $1' - {} <"$work/list"
{
    echo "method,epsilon,fiedler,settings,validation_accuracy"
    while read -r number _; do cat "$work/$number.row"; done <"$work/list"
} >"$work/rows.csv"
if [ -n "${ONLY:-}" ]; then
    cat "$work/rows.csv"
    exit 0
fi
mkdir -p "$results"
mv "$work/rows.csv" "$results/consensus_settings.csv"
echo "wrote $results/consensus_settings.csv"
