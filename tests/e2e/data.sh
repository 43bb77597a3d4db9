#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tacit data: partitions of a small table, what it says, writes and refuses; records kept in a
# file give the same run.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"

# 600 records of 10 classes, 60 each.
awk 'BEGIN { print "label,a,b"; for (k = 0; k < 600; k++) print k % 10 "," k % 7 "," (k * k) % 11 }' >ten.csv
cat >ten.yaml <<'YAML'
run:
  name: ten
  time: 5
data:
  source: csv
  path: ten.csv
  agent-column: ""
  partition: iid
  agents: 12
graph:
  kind: k-out
  k: 3
YAML

# ---- words ----
says '12; partition iid' "$TACIT" data ten.yaml
grep -q "an agent's records *600 *50 *50 *50 *50" out.txt || complain "sizes: $(cat out.txt)"
grep -q '10 labels  *0 (10%), 1 (10%)' out.txt || complain "classes: $(cat out.txt)"
! grep -q $'\033' out.txt || complain "escape codes without a terminal"
says 'partition classes, t 1' "$TACIT" data ten.yaml --set data.partition=classes --set data.t=1 \
    --set data.agents=10
grep -q '^  3  *\.\.\.\.\.\.##\.\.\.\.\.\.\.\.\.\.\.\.  *60 ' out.txt ||
    complain "at t = 1 agent 3 should have class 3 alone: $(cat out.txt)"
says 'leaks' "$TACIT" data ten.yaml --set data.standardise=agent
says 'without records' "$TACIT" data ten.yaml --set data.partition=dirichlet --set data.alpha=1e-6 \
    --set data.agents=100
grep -q 'note: .* agents have no records to learn from' err.txt || complain "no remark: $(cat err.txt)"
says 'MovieLens 100K' "$TACIT" data --known
grep -q 'https://grouplens.org' out.txt || complain "no address of MovieLens"

# ---- a file of records ----
says 'label-column: "label"' "$TACIT" data ten.csv
(grep -v '^#' out.txt && printf 'run:\n  name: drafted\n') >drafted.yaml
says 'partition iid' "$TACIT" data drafted.yaml
printf '+1 1:0.5 3:1\n-1 2:4\n' >two.txt
says 'source: libsvm' "$TACIT" data two.txt

# ---- numbers that a record can change are named with every run, unless declared ----
for k in 1 2 3 4 5 6; do echo "$((k % 2 * 2 - 1)) 1:0.$k 3:1"; done >wide.txt
cat >wide.yaml <<'YAML'
run: {name: wide, time: 2}
data: {source: libsvm, path: wide.txt, partition: iid, agents: 3}
graph: {kind: complete}
privacy: {mechanism: gaussian, clip: 1, epsilon: 5, releases: 1}
YAML
says 'leaks, uncharged the number of features' "$TACIT" run wide.yaml --out wide
grep -q '"leaks": \["the number of features' wide/summary.json || complain "the width: $(cat wide/summary.json)"
says 'the number of features (data.width)' "$TACIT" data wide.yaml
says '3 agents' "$TACIT" run wide.yaml --set data.width=3 --out declared
grep -q '"leaks": \[\]' declared/summary.json || complain "a declared width leaks: $(cat declared/summary.json)"
expect 3 'index 3 is above data.width' "$TACIT" run wide.yaml --set data.width=2
(echo label,x,z; for k in 1 2 3 4 5 6; do echo "$((k % 2 * 2 - 1)),0.$k,1"; done; echo 1,?,1) >holes.csv
holes=(wide.yaml --set data.source=csv --set data.path=holes.csv --set data.missing-rule=drop)
says 'leaks, uncharged numbers of records' "$TACIT" run "${holes[@]}" --out holes
says '3 agents' "$TACIT" run "${holes[@]}" --set data.keep-count=true --out kept
grep -q '"leaks": \[\]' kept/summary.json || complain "a kept count leaks: $(cat kept/summary.json)"
says 'blank 1 records' "$TACIT" data "${holes[@]}" --set data.keep-count=true

head -c 300 "$TACIT" >binary
expect 3 'neither text nor' "$TACIT" data binary
: >empty.csv
expect 3 '"empty.csv" is empty' "$TACIT" data empty.csv

# ---- for programs ----
"$TACIT" data ten.yaml --json --set data.partition=shards --set data.shards=3 --svg p.svg \
    --agents-csv a.csv >d.json 2>err.txt || complain "json: $(cat err.txt)"
grep -q '"schema": "tacit.data/1"' d.json || complain "no schema: $(cat d.json)"
if command -v python3 >/dev/null; then
    python3 - <<'PY' || complain "what was written does not hold together"
import csv, json, xml.dom.minidom
d = json.load(open("d.json"))
rows = list(csv.DictReader(open("a.csv")))
assert d["agents"] == 12 == len(rows) and d["features"] == 2 and d["dropped"] == 0, d
assert d["records"]["records"] == 600 == sum(c["records"] for c in d["classes"])
for split in ("train", "validation", "test"):
    assert d["splits"][split]["records"] == sum(int(r[split]) for r in rows)
for c in d["classes"]:
    assert c["records"] == sum(int(r["label %d" % c["label"]]) for r in rows) == 60
assert d["files"][0]["path"] == "ten.csv" and len(d["files"][0]["sha256"]) == 64
assert d["files"][0]["known_set"] is None and d["leaks"] == []
svg = xml.dom.minidom.parse("p.svg").documentElement
assert svg.tagName == "svg" and len(svg.getElementsByTagName("title")) == 12
PY
fi
"$TACIT" data ten.yaml --json >one.json && "$TACIT" data ten.yaml --json >two.json
cmp -s one.json two.json || complain "twice is not the same"

# ---- what it refuses ----
expect 2 'no experiment; expected a file' "$TACIT" data
expect 2 'one experiment at a time' "$TACIT" data ten.yaml ten.yaml
expect 2 '--known needs no file' "$TACIT" data --known ten.yaml
expect 2 'is taken for a file of records' "$TACIT" data ten.csv --json
expect 3 'cannot make "p.svg": File exists; use --force' "$TACIT" data ten.yaml --svg p.svg
expect 3 'cannot make "nowhere/p.svg"' "$TACIT" data ten.yaml --svg nowhere/p.svg
says '12; partition iid' "$TACIT" data ten.yaml --svg p.svg --force
for alpha in 0 -1 nan; do
    expect 3 '"data.alpha" is' "$TACIT" data ten.yaml --set data.partition=dirichlet \
        --set data.alpha=$alpha
done
expect 3 'more shards than the 600 records' "$TACIT" data ten.yaml --set data.partition=shards \
    --set data.shards=51
expect 3 'expected 1 to 600' "$TACIT" data ten.yaml --set data.agents=601
expect 3 'data.agent-column' "$TACIT" data ten.yaml --set data.partition=own
expect 3 'data.constants is empty' "$TACIT" data ten.yaml --set data.standardise=public
printf '0,1\n' >constants.csv
expect 3 'constants.csv: 1 lines of constants for 2 features' "$TACIT" data ten.yaml \
    --set data.standardise=public --set data.constants=constants.csv
expect 3 'data.public is "600", but there are 600 records' "$TACIT" data ten.yaml \
    --set data.public=600
expect 3 'data.components is "3", but records have 2 features' "$TACIT" data ten.yaml \
    --set data.public=100 --set data.components=3
expect 3 'say how many of the last records are public' "$TACIT" data ten.yaml \
    --set data.components=1
says '100 records that nobody owns' "$TACIT" data ten.yaml --set data.public=100 \
    --set data.standardise=public --set data.components=1 --set data.whiten=true
expect 3 'no/such/folder' "$TACIT" data ten.yaml --set data.storage=file \
    --set data.scratch=no/such/folder

# ---- TACIT_DATA, known names ----
mkdir -p store && mv ten.csv store/
expect 3 'ten.csv' "$TACIT" data ten.yaml
says '12; partition iid' env TACIT_DATA=store "$TACIT" data ten.yaml
says '12; partition iid' env TACIT_DATA=elsewhere "$TACIT" data ten.yaml --set data.folder=store
env TACIT_DATA=store "$TACIT" run ten.yaml --out with-folder --quiet \
    --set data.positive=1 >out.txt 2>err.txt ||
    complain "run with TACIT_DATA: $(cat err.txt)"
mv store/ten.csv .
expect 3 'get ml-100k.zip from https://grouplens.org' "$TACIT" data ten.yaml --set data.path=u.data
cp ten.csv u.data
says '12; partition iid' "$TACIT" data ten.yaml --set data.path=u.data
grep -q 'note: "u.data" is called like a file of MovieLens 100K but differs' err.txt ||
    complain "a changed file goes unnoticed: $(cat err.txt)"
cat >plain.yaml <<'YAML'
run:
  name: plain
  time: 1
data:
  agents: 5
  dimension: 3
YAML
env TACIT_DATA=somewhere "$TACIT" run plain.yaml --out one --quiet >/dev/null 2>&1
"$TACIT" run plain.yaml --out two --quiet >/dev/null 2>&1
cmp -s one/config.yaml two/config.yaml || complain "TACIT_DATA changes a run that reads no file"

# ---- a common test set ----
awk 'BEGIN { print "label,a,b"; for (k = 0; k < 40; k++) print k % 10 "," k % 5 "," k % 3 }' >tests.csv
common="--set data.test-path=tests.csv --set data.positive=3,4,5 --set data.validation-fraction=0.1"
says "everybody on all of 40 test records, which are nobody's, and 60 validation" \
    "$TACIT" data ten.yaml $common
grep -q '^  test-path  *tests.csv' out.txt || complain "the test file is not named: $(cat out.txt)"
! grep -q '  to test' out.txt || complain "agents own test records: $(cat out.txt)"
says '"common_test_records": 40' "$TACIT" data ten.yaml $common --json
grep -q '"scored_on": "all"' out.txt || complain "JSON does not say who is scored on what"
says 'all of 40 test and 60 validation records, every agent' \
    "$TACIT" run ten.yaml $common --out common --quiet
grep -q '"test_records": 40' common/summary.json || complain "summary.json: $(cat common/summary.json)"
grep -q 'each on all of 40 test records' common/report.html || complain "the report does not say it"
says 'all of 120 test and no validation records, every agent' \
    "$TACIT" run ten.yaml --set data.positive=3 --set data.score-on=all --out pooled --quiet
expect 3 'cannot open "gone.csv"' "$TACIT" data ten.yaml --set data.test-path=gone.csv
printf 'label,a\n1,2\n' >tests.csv
expect 3 '"ten.csv" has 2 features and "tests.csv" 1' "$TACIT" data ten.yaml \
    --set data.test-path=tests.csv

# ---- a nameless file holds the same records ----
for storage in memory file; do
    "$TACIT" run ten.yaml --out run-$storage --quiet --set data.storage=$storage \
        --set data.positive=3,4,5 >/dev/null 2>err.txt || complain "$storage: $(cat err.txt)"
done
for file in models.npy metrics.csv ledger.jsonl; do
    cmp -s run-memory/$file run-file/$file || complain "storage changes $file"
done
for left in tacit-*; do
    [ ! -e "$left" ] || complain "a nameless file with a name: $left"
done
exit $failed
