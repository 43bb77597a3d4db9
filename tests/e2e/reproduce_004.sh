#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tacit reproduce 004: three tables in small, on drawn digits, since tests do not depend on data.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"
"$TACIT" reproduce >list.txt || complain "the list: exit $?"
for table in 1 2 5; do
    grep -q "004-table$table " list.txt || complain "004-table$table is not listed"
done
expect 2 '"--quick" and "--full" are opposites' "$TACIT" reproduce 004-table1 --quick --full
expect 2 '"--full" is for figures that are shortened' "$TACIT" reproduce 000-fig1 --full
mkdir nowhere
TACIT_DATA=$PWD/nowhere expect 3 'mnist/train-images' "$TACIT" reproduce 004-table2 --quick
[ ! -e runs ] || complain "a failure left a folder behind"

"$TACIT" reproduce 004 --quick --out all --threads 2 >words.txt 2>err.txt || complain "$(cat err.txt)"
tr -s ' \n' ' ' <words.txt >line.txt
for words in 'drawn digits of 12 x 12 pixels, not MNIST' 'these numbers are not the figure' \
    'a record replaced, as the paper' '0 of 5 audits of sound builds are above the claim' \
    '2 of 2 audits of broken builds are above it, as they must'; do
    grep -qF -- "$words" line.txt || complain "no '$words' in the words"
done
"$TACIT" reproduce 004-table2 --quick --out one --threads 1 --json >one.json 2>err.txt || complain "$(cat err.txt)"
python3 - <<'PY' || complain "summary.json or data.csv"
import csv, json
figures = json.load(open("all/summary.json"))["figures"]
assert [figure["name"] for figure in figures] == ["004-table1", "004-table2", "004-table5"]
assert figures[1] == json.load(open("one.json")), "it depends on the number of threads"
rows = {row["what"]: row for row in figures[0]["rows"]}
assert rows["dsgt, complete, t = 1, epsilon 10, add-remove"]["paper"] == 96.54
assert rows["central, t = 1, no noise"]["paper"] == 98.22
for who in "agents", "central":
    for counting in "add-remove", "replace":
        name = f"{who}, epsilon 10, {counting}"
        assert 9.9 < rows["that noise by pld: " + name]["ours"] <= 10 < rows["that noise by RDP: " + name]["ours"]
    by_rdp = f"{who}, epsilon 10, add-remove by RDP"
    assert rows["that noise by pld: " + by_rdp]["ours"] < 9.9 < rows["that noise by RDP: " + by_rdp]["ours"] <= 10
    assert rows[f"sigma/C: {who}, epsilon 10, replace"]["ours"] > rows[f"sigma/C: {who}, epsilon 10, add-remove"]["ours"]
assert not any("reached" in row for figure in figures for row in figure["rows"]), "a small task is not judged"
bounds = {row["what"]: row["ours"] for row in figures[2]["rows"] if "apart" not in row["what"]}
assert all((bound > 1) == ("BROKEN" in what) for what, bound in bounds.items()) and len(bounds) == 7, bounds
panels = {row["panel"] for row in csv.DictReader(open("all/data.csv"))}
assert {"004-table1:dsgt-by-epsilon", "004-table1:bare-by-fiedler", "004-table2:by-t-epsilon-10", "004-table5:bounds"} <= panels
PY
# Single cells: the same numbers, and nothing else runs.
expect 2 'name holds "potato"' "$TACIT" reproduce 004-table1 --quick --only potato
expect 2 '"--only" is for tables with cells, and "000-fig1" is none' "$TACIT" reproduce 000-fig1 --quick --only cd
expect 2 '"--only" is for tables with cells, and "004" is none' "$TACIT" reproduce 004 --quick --only dsgt
"$TACIT" reproduce 004-table1 --quick --only 'dsgt, complete, t = 1, epsilon 10, replace' --out cell --json >cell.json ||
    complain "--only: exit $?"
python3 - <<'PY' || complain "cells of --only"
import json
all_rows = {row["what"]: row for row in json.load(open("all/summary.json"))["figures"][0]["rows"]}
cell = json.load(open("cell.json"))
assert [row["what"] for row in cell["rows"] if "noise" not in row["what"] and "sigma" not in row["what"]] == [
    "dsgt, complete, t = 1, epsilon 10, replace"
]
assert all(all_rows[row["what"]] == row for row in cell["rows"])
assert "nan" not in json.dumps(cell).lower().replace("nano", ""), cell
PY
[ "$(grep -c '<svg' cell/reproduce.html)" = 1 ] || complain "panels without cells are drawn"
echo "MNIST itself is not looked at here: it is no part of Tacit, and the tables take minutes to hours"
exit $failed
