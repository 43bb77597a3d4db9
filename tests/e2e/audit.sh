#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tacit audit: of a mechanism and of trainings, what it refuses, and its exit codes.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"

cat >small.yaml <<'YAML'
run: {name: small, time: 5}
data: {agents: 6, dimension: 4, min-records: 5, max-records: 9, test-records: 0, bound: l2}
graph: {kind: complete}
protocol: {name: cd}
privacy: {mechanism: gaussian, clip: 0.25, noise: 4}
YAML

# ---- refused ----
expect 2 'nothing to audit; expected one experiment' "$TACIT" audit
expect 2 'unexpected word "b.yaml"' "$TACIT" audit small.yaml b.yaml
expect 2 '"--trials" is "-1"' "$TACIT" audit gaussian --trials -1
expect 2 '"--confidence" is "1"' "$TACIT" audit gaussian --confidence 1
expect 2 '"--break" is "everything"' "$TACIT" audit gaussian --break everything
expect 2 '"--agent" is about experiments' "$TACIT" audit gaussian --agent 1
expect 2 '"--set" is about experiments' "$TACIT" audit laplace --set run.time=1
expect 2 '"--epsilon" is about mechanisms' "$TACIT" audit small.yaml --epsilon 2
expect 2 '--force needs --page FILE' "$TACIT" audit gaussian --force
expect 3 'Gaussian noise has no epsilon at delta 0' "$TACIT" audit gaussian --delta 0
expect 3 '"wrong-norm" is about Laplace noise' "$TACIT" audit gaussian --break wrong-norm
expect 3 'cannot open "none.yaml"' "$TACIT" audit none.yaml
expect 3 'there is no agent "6"; agents are 0 to 5' "$TACIT" audit small.yaml --agent 6
expect 3 'never speaks' "$TACIT" audit small.yaml --set protocol.name=alone --set privacy.mechanism=none \
    --set privacy.noise=0 --set privacy.clip=0
expect 3 'releases nothing by time 0.001' "$TACIT" audit small.yaml --set run.time=0.001
mkdir folder
expect 3 '"folder" is a folder' "$TACIT" audit gaussian --page folder
expect 3 'cannot make "nowhere/a.html"' "$TACIT" audit gaussian --trials 50 --page nowhere/a.html

# ---- a mechanism ----
says 'nothing contradicts the claim' "$TACIT" audit gaussian --trials 2000 --seed 3
says 'epsilon 1 at delta 1e-05 for one user (adjacency replace), against an adversary "local"' \
    "$TACIT" audit gaussian --trials 200 --seed 3
says 'Laplace trade-off' "$TACIT" audit laplace --trials 2000 --delta 0 --seed 3
"$TACIT" audit gaussian --trials 300 --seed 3 --json --threads 1 >one.json 2>err.txt || complain "json: $(cat err.txt)"
"$TACIT" audit gaussian --trials 300 --seed 3 --json --threads 3 >three.json 2>err.txt || complain "json: $(cat err.txt)"
cmp -s one.json three.json || complain "threads change the result"
"$TACIT" audit gaussian --trials 300 --seed 2 --json >other.json 2>err.txt
cmp -s one.json other.json && complain "the seed does not matter"
grep -q '"schema": "tacit.audit/1"' one.json || complain "no schema"
python3 - one.json <<'PY' || complain "the JSON is not as described"
import json, sys
a = json.load(open(sys.argv[1]))
assert a["of"] == "mechanism" and a["trials"] == 300 and a["pilot"] == 150
assert 0.999 < a["claim"]["epsilon"] <= 1 and a["claim"]["delta"] == 1e-5
assert {"adversary", "unit", "adjacency", "mechanism", "releases"} <= a["claim"].keys()
for bound in a["clopper_pearson"], a["trade_off"]:
    assert 0 <= bound["together"] <= bound["epsilon"] and 0 <= bound["false_positives"] <= 300
assert a["shown"] == max(a["clopper_pearson"]["together"], a["trade_off"]["together"])
assert a["refuted"] is False
h = a["histogram"]
assert sum(h["with"]) == sum(h["without"]) == 300 and len(h["with"]) == len(h["without"])
PY

# ---- caught ----
"$TACIT" audit gaussian --trials 2000 --break no-clipping --json --page page.html >bad.json 2>err.txt
[ $? -eq 1 ] || complain "no clipping: not exit 1"
grep -q 'the claim does not hold: epsilon is at least' err.txt || complain "no clipping: $(cat err.txt)"
grep -q 'at delta 1e-05 for one user (adjacency replace), against an adversary "local"' err.txt ||
    complain "an epsilon alone: $(cat err.txt)"
grep -q '"refuted": true' bad.json || complain "no clipping: $(cat bad.json)"
grep -q '^<!doctype html>' page.html && grep -q 'The claim does not hold' page.html || complain "the page"
expect 3 '"page.html" exists; use another --page or --force' "$TACIT" audit gaussian --page page.html
says 'page.html' "$TACIT" audit gaussian --trials 100 --seed 3 --page page.html --force

# ---- trainings ----
says 'small: cd, canary "worst" among the' "$TACIT" audit small.yaml --trials 40
says 'against an adversary "local" that sees every message' "$TACIT" audit small.yaml --trials 20 --agent 3
says 'of agent 3' "$TACIT" audit small.yaml --trials 20 --agent 3
says 'canary "flipped"' "$TACIT" audit small.yaml --trials 20 --canary flipped
for protocol in perturbed model-propagation; do
    says "small: $protocol, canary" "$TACIT" audit small.yaml --trials 20 --set protocol.name=$protocol
done
says 'small: diffusion, canary' "$TACIT" audit small.yaml --trials 20 --set protocol.name=diffusion \
    --set privacy.noise=0 --set protocol.noise=independent --set protocol.sigma=1 --set protocol.iterations=2
expect 3 'so no noise covers it' "$TACIT" audit small.yaml --set protocol.name=admm

# ---- no noise: nothing is claimed, and that is said before anything is trained ----
for protocol in cd admm diffusion chorus; do
    expect 3 'there is no claim to audit' timeout 20 "$TACIT" audit small.yaml --set protocol.name=$protocol \
        --set privacy.mechanism=none --set privacy.noise=0 --set run.time=1000000
done

# ---- progress, on a terminal, from the rehearsal on ----
python3 - <<'PY' || complain "no bar before the first trial is done"
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    sets = ["data.agents=60", "data.dimension=50", "data.max-records=200", "run.time=300"]
    words = ["audit", "small.yaml", "--trials", "2", "--threads", "1"]
    os.execv(os.environ["TACIT"], ["tacit"] + words + [w for s in sets for w in ("--set", s)])
text = b""
try:
    while chunk := os.read(fd, 4096):
        text += chunk
except OSError:
    pass
_, status = os.waitpid(pid, 0)
bar = b"audit [" in text and b"]   0 %" in text
sys.exit(0 if bar and os.waitstatus_to_exitcode(status) == 0 else print(text) or 1)
PY
"$TACIT" audit small.yaml --trials 30 --json --threads 1 >one.json 2>err.txt || complain "$(cat err.txt)"
"$TACIT" audit small.yaml --trials 30 --json --threads 2 >two.json 2>err.txt || complain "$(cat err.txt)"
cmp -s one.json two.json || complain "threads change the result of trainings"
[ ! -e runs ] || complain "an audit left the folder runs"

# ---- Ctrl-C ----
"$TACIT" audit gaussian --trials 100000000 --page late.html >out.txt 2>err.txt &
pid=$!
sleep 0.5
kill -INT $pid
wait $pid
[ $? -eq 130 ] || complain "interrupted: not exit 130"
grep -q 'interrupted; nothing was written' err.txt || complain "interrupted: $(cat err.txt)"
[ ! -e late.html ] && [ ! -s out.txt ] || complain "interrupted: it wrote something"
exit $failed
