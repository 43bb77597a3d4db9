#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Several classes: labels by name, the protocols that learn them, and words for those that do not.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"

# Six agents, three clouds of points each, with deviations of a generator of the script's own.
awk 'function u() { s = (s * 1103515245 + 12345) % 2147483648; return s / 2147483648 }
BEGIN {
    s = 7; split("left up right", name, " ")
    print "who,kind,x,y,z"
    for (a = 0; a < 6; a++) for (r = 0; r < 30; r++) {
        k = r % 3; turn = 2.1 * k + 0.05 * a
        printf "agent%d,%s,%.4f,%.4f,%.4f\n", a, name[k + 1], cos(turn) + 2 * u() - 1, sin(turn) + 2 * u() - 1, u()
    }
}' >points.csv

cat >points.yaml <<'YAML'
run: {name: points, time: 60, every: 0}
data:
  source: csv
  path: points.csv
  agent-column: who
  label-column: kind
  classes: left, up, right
  test-fraction: 0.3
  bias: true
  bound: l2
graph: {kind: complete}
model: {loss: softmax, lambda-records: 0.1}
protocol: {name: cd}
YAML

# accuracy FOLDER: test accuracy at the end
accuracy() { sed -n 's/.*"test_accuracy": *\([0-9.]*\).*/\1/p' "$1/summary.json" | head -1; }
above() { awk -v a="$(accuracy "$1")" -v b="$2" 'BEGIN { exit !(a > b) }' || complain "$1: accuracy $(accuracy "$1"), not above $2"; }

noise=(--set privacy.mechanism=gaussian --set privacy.clip=0.8 --set privacy.epsilon=10 --set privacy.delta=1e-3)
run() { "$TACIT" run points.yaml --quiet "$@" >out.txt 2>err.txt || complain "run $*: $(cat err.txt)"; }
run --out alone --set protocol.name=alone
run --out global --set protocol.name=global
run --out cd
run --out sent --set protocol.name=model-propagation
run --out noisy "${noise[@]}" --set privacy.releases=10 --set protocol.finish=private
run --out chorus --set protocol.name=chorus "${noise[@]}" --set model.scalar=f32
for folder in alone global cd noisy chorus; do above $folder 0.7; done

# Labels: those that are listed, in their order, and no others.
says '{"label": 2, "records": 60}' "$TACIT" data points.yaml --json
expect 3 '"up"; expected a label that data.classes lists' "$TACIT" run points.yaml --quiet --out no --set data.classes=left,right
expect 3 'the softmax loss with 2 classes needs labels 0 to 1' "$TACIT" run points.yaml --quiet --out no --set model.classes=2
expect 3 'leave one out' "$TACIT" run points.yaml --quiet --out no --set data.positive=up
expect 3 'is for "model.loss: softmax"' "$TACIT" run points.yaml --quiet --out no --set model.loss=squared --set model.classes=3

# What is not worked out for it says so, and leaves nothing behind.
for protocol in one-shot perturbed diffusion; do
    expect 3 'model.loss: softmax' "$TACIT" run points.yaml --quiet --out no --set protocol.name=$protocol
done
expect 3 'model.loss: softmax' "$TACIT" run points.yaml --quiet --out no "${noise[@]}" \
    --set privacy.releases=10 --set protocol.start=propagated
expect 3 'not for "softmax"' "$TACIT" advise points.yaml "${noise[@]}"
[ ! -e no ] || complain "a refused run left a folder"
exit $failed
