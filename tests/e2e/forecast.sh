#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tacit forecast: constants, pilots, owners in a file, a folder, numbers for programs, and what it
# refuses.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"
examples="$TACIT_SOURCE_DIR/examples"
given=(--c2 2.1e9 --alone 400)
# Pilots that take no time.
quick=("$examples/forecast.yaml" --quiet --repeats 2 --set data.dimension=4 --set data.min-records=200
    --set data.max-records=200 --set protocol.iterations=60 --set protocol.step=0.02
    --set privacy.accountant=sum)

# Constants that are known: the paper's, by hand. s^2 = 3 / 750000^2.
says 'each of 3 250000 1 0.00107 0.0112 0 %' "$TACIT" forecast "${given[@]}" --records 250000
says 'each of 3 none 3.24 21' "$TACIT" forecast "${given[@]}" --records 250000
says 'each of 3 250000 10 0.00107 0.000112 100 %' "$TACIT" forecast "${given[@]}" --records 250000 -e 10
says 'by owners of 10000 records each' "$TACIT" forecast "${given[@]}"
says 'by records of each of 3 owners' "$TACIT" forecast "${given[@]}" --map records
says 'are better alone at any epsilon' "$TACIT" forecast "${given[@]}" --c0 5
says '"schema": "tacit.forecast/1"' "$TACIT" forecast "${given[@]}" --json
says '"fitted": false' "$TACIT" forecast "${given[@]}" --json

# Owners that differ.
says 'village-savings 1500 5' "$TACIT" forecast "${given[@]}" --join "$examples/joiners.csv"
printf 'owner,records,epsilon\r\na,10,1\r\n"b, the other",20,2' >windows.csv
says 'b, the other 20 2' "$TACIT" forecast "${given[@]}" --join windows.csv

# Pilots; the same whatever the threads, and a folder.
"$TACIT" forecast "${quick[@]}" --json --threads 1 >one.json 2>err.txt || complain "pilots: $(cat err.txt)"
"$TACIT" forecast "${quick[@]}" --json --threads 2 --out folder >two.json 2>>err.txt || complain "pilots: $(cat err.txt)"
cmp one.json two.json || complain "the result depends on the number of threads"
cmp folder/summary.json two.json || complain "--json is not summary.json"
[ ! -s err.txt ] || complain "words on stderr under --quiet: $(cat err.txt)"
python3 - <<'PY' || complain "summary.json"
import csv, json, math
d = json.load(open("folder/summary.json"))
t = d["together"]
assert t["fitted"] and t["runs"] >= 20 and t["settings"] * 2 == t["runs"], t
assert min(t["c0"], t["c1"], t["c2"]) >= 0
rows = list(csv.DictReader(open("folder/forecast.csv")))
assert len(rows) == len(d["owners"]) == 3
assert math.isclose(float(rows[0]["together"]), d["owners"][0]["together"]["psi"])
assert d["owners"][0]["together"]["low"] < d["owners"][0]["together"]["psi"] < d["owners"][0]["together"]["high"]
assert 0 <= d["owners"][0]["chance"] <= 1
for key in "least_own_epsilon_outside", "least_common_epsilon_outside", "least_partners_outside":
    assert float(rows[0][key]) == d["owners"][0][key], key
page = open("folder/forecast.html").read()
assert "Is it worth joining?" in page and page.count("<svg") >= 5, page.count("<svg")
assert open("folder/map.svg").read().startswith("<svg")
PY
# What rests on more owners or other noise than the pilots had is marked, for people and programs.
says 'beyond the pilots: no pilot had such noise or so many owners' "$TACIT" forecast "${quick[@]}"
says 'the border lies at a noise or a number of owners that no pilot had' "$TACIT" forecast "${quick[@]}"
says '"least_partners_outside": true' "$TACIT" forecast "${quick[@]}" --json
"$TACIT" forecast "${quick[@]}" --records 400 --out marked >/dev/null || complain "marked"
grep -qF '>beyond the pilots<' marked/forecast.html || complain "the page does not mark what is beyond"
says 'no owner of a pilot had so many or so few records' "$TACIT" forecast "${quick[@]}" --records 1e6
! "$TACIT" forecast "${given[@]}" | grep -q 'beyond' || complain "given constants have nothing beyond"
says 'if that does not fall with more records' "$TACIT" forecast "${quick[@]}"
says 'misfit' "$TACIT" forecast "${quick[@]}"
says '2 runs of it came to psi' "$TACIT" forecast "${quick[@]}" --records 400 --check 2
says '"checked": [' "$TACIT" forecast "${quick[@]}" --records 400 --check 2 --json
expect 2 '--check takes owners that are alike' "$TACIT" forecast "${quick[@]}" --check 2 --join windows.csv
expect 2 '--check needs pilots' "$TACIT" forecast "${given[@]}" --check 2
expect 3 'too many to check' "$TACIT" forecast "${quick[@]}" --records 1e14 --check 2
# Files may be anybody's.
ln -s "$examples" examples
expect 3 '480 records are there' "$TACIT" forecast examples/learner.yaml --quiet --repeats 1 --check 1
cd "$TACIT_SOURCE_DIR" || exit 1
"$TACIT" forecast examples/learner.yaml --repeats 1 >/dev/null 2>"$OLDPWD/err.txt" || complain "pilots of a file"
cd - >/dev/null || exit 1
grep -qF 'would be a leak' err.txt || complain "no word about leaks"
# Rows that an experiment leaves out are not read by its pilots either, unless it shuffles anyway.
cut -d, -f2- "$examples/banks.csv" >banks.csv
few=("$examples/learner.yaml" --quiet --repeats 1 --set data.path=banks.csv --set data.agent-column=
    --set data.agents=4)
for key in data.records=400 data.public=40; do
    expect 3 'pilots shuffle all rows of a file' "$TACIT" forecast "${few[@]}" --set $key
    says '"remark": "pilots are charged to nobody' "$TACIT" forecast "${few[@]}" --set $key --set data.shuffle=true --json
done
says '"from_file": false' "$TACIT" forecast "${quick[@]}" --json

# Refused, in words, and nothing is left behind.
expect 2 'not both' "$TACIT" forecast "$examples/forecast.yaml" "${given[@]}"
expect 2 'needs both laws' "$TACIT" forecast --c2 3
expect 2 'needs both laws' "$TACIT" forecast --alone 3
expect 2 'one experiment at a time' "$TACIT" forecast a.yaml b.yaml
for bad in 0 -1 nan inf 1e9 x; do
    expect 2 '--epsilon' "$TACIT" forecast "${given[@]}" --epsilon=$bad
done
for bad in 0 -5 nan 1e16; do
    expect 2 '--records' "$TACIT" forecast "${given[@]}" --records=$bad
done
expect 2 '--owners' "$TACIT" forecast "${given[@]}" --owners 1
expect 2 '--owners' "$TACIT" forecast "${given[@]}" --owners 1000000000
expect 3 'nowhere.yaml' "$TACIT" forecast nowhere.yaml
expect 3 'nowhere.csv' "$TACIT" forecast "${given[@]}" --join nowhere.csv
join() { # join WORDS LINES...
    printf '%s\n' "${@:2}" >bad.csv
    expect 3 "$1" "$TACIT" forecast "${given[@]}" --join bad.csv
}
join 'line 1: expected "owner,records,epsilon"' 'owner,records' 'a,1'
join 'joining takes two at least' 'owner,records,epsilon' 'a,10,1'
join 'joining takes two at least' 'owner,records,epsilon'
join 'line 3: "0": expected a number of records' 'owner,records,epsilon' 'a,10,1' 'b,0,1'
join 'line 3: "inf": expected an epsilon' 'owner,records,epsilon' 'a,10,1' 'b,10,inf'
join 'line 2: "": expected an epsilon' 'owner,records,epsilon' 'a,10,'
join 'line 2: "-1": expected an epsilon' 'owner,records,epsilon' 'a,10,-1' 'b,10,1'
join 'lists owner "a" twice' 'owner,records,epsilon' 'a,10,1' 'b,10,1' 'a,3,1'
: >bad.csv
expect 3 'bad.csv' "$TACIT" forecast "${given[@]}" --join bad.csv
expect 3 'is about protocol "learner"' "$TACIT" forecast "$examples/private.yaml" --quiet
expect 3 'set "privacy.mechanism"' "$TACIT" forecast "${quick[@]}" --set privacy.mechanism=none
expect 3 'worse than a model of zeros' "$TACIT" forecast "${quick[@]}" --set protocol.step=1e-9 --out gone
[ ! -e gone ] || complain "a forecast that failed left a folder behind"
mkdir there
expect 3 'exists' "$TACIT" forecast "${given[@]}" --out there
[ -z "$(ls there)" ] || complain "wrote into a folder that was there"

# Ctrl-C.
"$TACIT" forecast "$examples/forecast.yaml" --quiet --repeats 100 --out cut >out.txt 2>err.txt &
pid=$!
sleep 1
kill -INT $pid
wait $pid
code=$?
[ $code -eq 130 ] || complain "exit $code, not 130, after an interrupt: $(cat err.txt)"
grep -qF 'interrupted; nothing was written' err.txt || complain "no word about the interrupt"
[ ! -e cut ] || complain "an interrupted forecast left a folder behind"
exit $failed
