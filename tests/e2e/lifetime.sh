#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A budget that belongs to the records: three runs of two protocols over one file by real processes,
# one killed and resumed, and the fourth is refused; whatever a run calls the records, and however
# often nodes share the ledger.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"

command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
life=$XDG_STATE_HOME/tacit/lifetime.ledger

# wait_for COMMAND...: until it succeeds
wait_for() {
    for _ in $(seq 600); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.1
    done
    complain "in vain: $*"
}
# Of alice and of bob: four numbers a line, the last is what to predict.
python3 - <<'END'
import random
random.seed(4)
for name in "alice", "bob":
    with open(name + ".csv", "w") as f:
        for _ in range(40):
            x = [round(random.uniform(0, 100), 2) for _ in range(3)]
            print(*x, 1 if x[0] > 50 else -1, sep=",", file=f)
END
awk '{ print "0," $0 }' alice.csv >both.csv
awk '{ print "1," $0 }' bob.csv >>both.csv

# cd_run NAME EPSILON: the folder of two nodes, who read alice.csv and bob.csv as they are
cd_run() {
    cat >"$1".yaml <<END
run: {name: $1, time: 30, every: 0}
data: {source: csv, path: both.csv, header: false, agent-column: "1", label-column: "5", bound: l2, divide: 100}
graph: {kind: complete}
protocol: {name: cd}
privacy: {mechanism: gaussian, clip: 1, epsilon: $2, delta: 1e-6, releases: 40}
END
    "$TACIT" up 2 "$1".yaml --prepare --out "$1" --quiet --unit 0.1 --set consortium.end=ticks >/dev/null 2>err.txt ||
        complain "prepare $1: $(cat err.txt)"
    for k in 0:alice 1:bob; do
        sed -i '/^data:/,$d' "$1"/node-00${k%:*}/node.yaml
        echo "data: {source: csv, path: ../../${k#*:}.csv, header: false, label-column: \"4\", partition: iid, bound: l2, divide: 100}" \
            >>"$1"/node-00${k%:*}/node.yaml
    done
}
# node NAME K SETTINGS...: one of them
node() {
    local name=$1 k=$2
    shift 2
    "$TACIT" node -c "$name"/node-00"$k"/node.yaml --quiet --json-log "$name"/log-"$k".jsonl "${@/#/--set=}" \
        2>"$name"/err-"$k".txt
}

# ---- before anything is there ----
expect 3 'lifetime.ledger' "$TACIT" ledger show
cd_run first 1
says 'one more run would be allowed' "$TACIT" ledger plan first/consortium.yaml
[ ! -e "$life" ] || complain "looking made a ledger"
(unset XDG_STATE_HOME HOME; expect 3 '"node.lifetime"' "$TACIT" node -c first/node-000/node.yaml; exit $failed) || failed=1
[ "$(stat -c %a first/node-000/state)" = 700 ] || complain "no folder"
expect 3 'node.data-set' "$TACIT" node -c first/node-000/node.yaml --set node.lifetime-epsilon=3

# ---- the first run: two nodes of one account at once ----
node first 1 & peer=$!
node first 0 node.data-set=patients node.lifetime-epsilon=2.6 node.lifetime-delta=1e-5 ||
    complain "first: exit $?: $(cat first/err-0.txt)"
wait $peer || complain "first, bob: exit $?: $(cat first/err-1.txt)"
[ "$(stat -c %a "$life")" = 600 ] && [ "$(stat -c %a "$XDG_STATE_HOME/tacit")" = 700 ] || complain "open to others"
"$TACIT" ledger show --json >show.json || complain "show"
python3 - <<'END' || complain "after the first run: $(cat show.json)"
import json
x = json.load(open("show.json"))
assert x["schema"] == "tacit.lifetime/1"
alice, bob = sorted(x["data_sets"], key=lambda s: s["name"] != "patients")
assert (alice["name"], bob["name"]) == ("patients", "bob.csv"), x
assert (alice["budget_by"], bob["budget_by"]) == ("owner", "first run")
assert alice["epsilon_budget"] == 2.6 and alice["delta"] == 1e-5 and alice["records"] == 40
for s in alice, bob:
    assert len(s["runs"]) == 1 and s["runs"][0]["state"] == "settled", s
    assert 0 < s["epsilon_spent"] <= s["epsilon_budget"] 
assert alice["runs"][0]["releases"] > 0
summary = json.load(open("first/node-000/state/summary.json"))["lifetime"]
assert summary["counted"] and summary["data_set"] == "patients", summary
assert abs(summary["epsilon_with_this_run"] - alice["epsilon_spent"]) < 1e-9, summary
END

# ---- the second: another protocol, the same file, and nobody says how it is called ----
"$TACIT" average prepare talk --peers 3 --range 0:100 --columns 4 --epsilon 0.8 --unit record --quiet ||
    complain "prepare talk"
"$TACIT" average join talk/node-000 --values alice.csv --quiet --json >mean.json 2>mean.err & first=$!
for k in 1 2; do
    (XDG_STATE_HOME=$PWD/other-$k "$TACIT" average join talk/node-00$k --values bob.csv --quiet >other-$k.txt 2>&1) &
done
wait $first || complain "average: exit $?: $(cat mean.err)"
wait
"$TACIT" ledger show --data-set patients >show.txt || complain "show"
grep -q '  gopa  .*node-000 .* settled$' show.txt || complain "the average is not counted: $(cat show.txt)"

# ---- the third: killed before anybody came, its whole plan stays reserved; and resumed to its end ----
cd_run third 0.8
node third 0 node.patience=600 & mine=$!
wait_for grep -q '"event":"lifetime_reserved"' third/log-0.jsonl
pkill -9 -P $mine
{ wait $mine; } 2>/dev/null
spent() { "$TACIT" ledger show --json | python3 -c 'import json, sys
s = [s for s in json.load(sys.stdin)["data_sets"] if s["name"] == "patients"][0]
print(len(s["runs"]), s["runs"][-1]["state"], s["epsilon_spent"])'; }
reserved=$(spent)
[[ $reserved == "3 reserved "* ]] || complain "after kill -9: $reserved"
"$TACIT" ledger show --svg reserved.svg >/dev/null
node third 1 node.lifetime=off & peer=$!
node third 0 || complain "resumed: exit $?: $(cat third/err-0.txt)"
wait $peer || complain "third, bob: exit $?: $(cat third/err-1.txt)"
settled=$(spent)
[[ $settled == "3 settled "* ]] || complain "after its end: $settled"
python3 -c 'import sys; assert float(sys.argv[2].split()[2]) < float(sys.argv[1].split()[2])' "$reserved" "$settled" ||
    complain "nothing came back: $reserved, $settled"
grep -q lifetime_not_counted third/log-1.jsonl || complain "off without a warning"

# ---- the fourth is refused, under this and under any other name ----
cd_run fourth 1.5
"$TACIT" ledger plan fourth/consortium.yaml --data-set patients --lifetime "$life" >out.txt 2>err.txt
[ $? -eq 5 ] || complain "plan: not exit 5: $(cat out.txt err.txt)"
grep -q 'would be refused' out.txt || complain "plan: $(cat out.txt)"
node fourth 0
[ $? -eq 5 ] || complain "fourth: not exit 5: $(cat fourth/err-0.txt)"
grep -q 'patients' fourth/err-0.txt && grep -q 'tacit ledger show' fourth/err-0.txt || complain "$(cat fourth/err-0.txt)"
node fourth 0 node.data-set=strangers
[ $? -eq 3 ] || complain "another name: not exit 3: $(cat fourth/err-0.txt)"
# A pipe cannot be read again: its records would be new ones with every other scale.
mkfifo pipe.csv
cat alice.csv >pipe.csv & writer=$!
expect 3 'came through a pipe' "$TACIT" node -c fourth/node-000/node.yaml --set data.path="$PWD/pipe.csv"
kill $writer 2>/dev/null
grep -q '"patients"' fourth/err-0.txt || complain "whose records? $(cat fourth/err-0.txt)"
sed 's/,/ ; /g' alice.csv | sort | tail -n 7 >some.csv # another hand, other lines
node fourth 0 data.path=some.csv data.separator=semicolon data.divide=50
[ $? -eq 5 ] || complain "some of the records: not exit 5: $(cat fourth/err-0.txt)"
[ "$(spent)" = "$settled" ] || complain "a refused run left something: $(spent), was $settled"
[ "$(python3 -c 'import sqlite3; print(sqlite3.connect("fourth/node-000/state/agent-0.ledger").execute("select count(*) from entry").fetchone()[0])')" = 0 ] ||
    complain "a refused run has released something"
expect 3 'does not change' "$TACIT" ledger budget patients --epsilon 9 --delta 1e-5

# ---- looking ----
says 'set by its owner' "$TACIT" ledger show "$life"
says 'patients: 3 runs, 40 records known' "$TACIT" ledger show
says 'spent before' "$TACIT" ledger plan --epsilon 0.01 --delta 1e-8 --data-set patients
says 'one more run would be allowed' \
    "$TACIT" ledger plan --mechanism gaussian --noise 50 --releases 2 --data-set patients
says '"allowed": true' "$TACIT" ledger plan --mechanism gaussian --noise 50 --data-set patients --json
expect 2 '--data-set NAME' "$TACIT" ledger plan --epsilon 1
expect 2 'what would run?' "$TACIT" ledger plan
cp "$life.key" gone.ledger.key
expect 6 'is gone' "$TACIT" ledger plan --epsilon 0.01 --delta 1e-8 --lifetime gone.ledger
says 'whole, sealed with its key' "$TACIT" ledger verify "$life"
"$TACIT" ledger show --svg spent.svg >/dev/null || complain "--svg"
expect 3 'spent.svg' "$TACIT" ledger show --svg spent.svg
"$TACIT" ledger show --svg spent.svg --force >/dev/null || complain "--force"
python3 - <<'END' || complain "the picture: $(cat spent.svg)"
import xml.etree.ElementTree as tree
text = lambda name: [t.text for t in tree.parse(name).iter("{http://www.w3.org/2000/svg}text")]
assert "patients" in text("spent.svg") and "budget 2.6" in text("spent.svg"), text("spent.svg")
count = lambda name, kind: open(name).read().count(f'<rect class="{kind}" ') - 1 # one in the legend
assert count("spent.svg", "r") == 4 and count("spent.svg", "h") == 0
assert count("reserved.svg", "r") == 3 and count("reserved.svg", "h") == 1
END

# ---- a damaged one is no ledger ----
python3 -c 'import sys; b = open(sys.argv[1], "rb").read(); open(sys.argv[1], "wb").write(b.replace(b"patients", b"patientz"))' "$life"
node fourth 0
[ $? -eq 6 ] || complain "damaged: not exit 6: $(cat fourth/err-0.txt)"
expect 6 'lifetime.ledger' "$TACIT" ledger show
rm "$life"
node fourth 0
[ $? -eq 6 ] || complain "gone, with its key still there: not exit 6: $(cat fourth/err-0.txt)"
# ---- agents of one node that spend differently: what covers all of them is more than was reserved,
# ---- so the reservation stays, and nobody is told that he spent too much ----
python3 - <<'END'
import random
random.seed(5)
with open("four.csv", "w") as f:
    for k in range(80):
        x = [round(random.uniform(0, 100), 2) for _ in range(3)]
        print(k % 4, *x, 1 if x[0] > 50 else -1, sep=",", file=f)
END
printf 'agent,epsilon\n0,0.7\n1,1.5\n' >budgets.csv
cat >four.yaml <<'END'
run: {name: four, time: 10, every: 0}
data: {source: csv, path: four.csv, header: false, agent-column: "1", label-column: "5", bound: l2, divide: 100}
graph: {kind: complete}
protocol: {name: cd}
privacy: {mechanism: gaussian, clip: 1, epsilon: 1, delta: 1e-6, releases: 5, budgets: budgets.csv}
END
"$TACIT" up 2 four.yaml --quiet --json --unit 0.05 --set node.lifetime="$PWD/four.ledger" --out four \
    >four.json 2>err.txt || complain "agents with different budgets: exit $?: $(cat err.txt)"
"$TACIT" ledger show four.ledger --json >show.json || complain "ledger of four"
! grep -q overrun show.json || complain "a false overrun: $(cat show.json)"
grep -q reserved show.json || complain "the reservation is gone: $(cat show.json)"
exit $failed
