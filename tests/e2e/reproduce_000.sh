#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tacit reproduce 000: every figure that needs no data alone, and all of them on one page.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"
unset TACIT_DATA
"$TACIT" reproduce >list.txt || complain "the list: exit $?"
for figure in fig1 fig2a fig2b fig2c fig3 fig4 table1; do
    grep -q "000-$figure " list.txt || complain "000-$figure is not listed"
done

for figure in fig2a fig2b fig2c fig3 fig4; do
    "$TACIT" reproduce 000-$figure --quick --out $figure >words.txt 2>err.txt || complain "$figure: $(cat err.txt)"
    tr -s ' \n' ' ' <words.txt >line.txt
    for words in 'Dashed lines are unsound' '95 % interval' 'alone' 'these numbers are not the figure'; do
        grep -qF -- "$words" line.txt || complain "$figure: no '$words' in the words"
    done
    for words in 'unsound' 'adjacency: replace' 'all other agents may collude' 'delta e^-5' '<svg'; do
        grep -qF -- "$words" $figure/reproduce.html || complain "$figure: no '$words' on the page"
    done
    grep -q 'class="l l2"' $figure/reproduce.html || complain "$figure: no dashed line on the page"
done

expect 3 'set TACIT_DATA to the folder that holds "movielens-100k/u.data"' "$TACIT" reproduce 000-table1
expect 2 'no figure "00"' "$TACIT" reproduce 00
expect 2 'no figure "000-"' "$TACIT" reproduce 000-
[ ! -e runs ] || complain "a refusal made a folder"
mkdir nowhere
TACIT_DATA=$PWD/nowhere expect 3 'u.data' "$TACIT" reproduce 000-table1 --quick
[ ! -e runs ] || complain "a failure left a folder behind"

"$TACIT" reproduce 000 --quick --out all --json >all.json 2>err.txt || complain "000: $(cat err.txt)"
cmp all.json all/summary.json || complain "--json is not summary.json"
python3 - <<'PY' || complain "summary.json or data.csv of all"
import csv, json
names = ["000-fig1", "000-fig2a", "000-fig2b", "000-fig2c", "000-fig3", "000-fig4"]
all = json.load(open("all/summary.json"))
assert all["schema"] == "tacit.reproductions/1"
assert [figure["name"] for figure in all["figures"]] == names
for figure in all["figures"]:
    for series in figure["series"]:
        assert series["unsound"] == ("unsound" in series["name"])
rows = list(csv.DictReader(open("all/data.csv")))
assert {row["panel"].split(":")[0] for row in rows} == set(names)
one = json.load(open("fig2c/summary.json"))
assert one == all["figures"][3] and len(one["series"]) > 20
PY
grep -qF '000-table1 is left out: it needs data files' all/reproduce.html || complain "the page does not say what is missing"
exit $failed
