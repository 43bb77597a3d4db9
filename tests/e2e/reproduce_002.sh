#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tacit reproduce 002: three figures, on drawn records where there is no folder of data.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"
unset TACIT_DATA
"$TACIT" reproduce >list.txt || complain "the list: exit $?"
for figure in fig3 fig6 fig7; do
    grep -q "002-$figure " list.txt || complain "002-$figure is not listed"
done
"$TACIT" reproduce 002 --quick --out all --threads 2 >words.txt 2>err.txt || complain "$(cat err.txt)"
tr -s ' \n' ' ' <words.txt >line.txt
for words in 'slope by epsilon' 'least epsilon at which joining pays' 'drawn records' \
    'these numbers are not the figure'; do
    grep -qF -- "$words" line.txt || complain "no '$words' in the words"
done
[ "$(ls all)" = "data.csv
reproduce.html
summary.json" ] || complain "all holds $(ls all)"
TACIT_DATA=$PWD/nowhere "$TACIT" reproduce 002-fig6 --quick --out one --json >one.json 2>err.txt ||
    complain "a folder that is not there: $(cat err.txt)"
python3 - <<'PY' || complain "summary.json"
import json
one = json.load(open("one.json"))
assert one["name"] == "002-fig6" and "drawn records" in one["warning"], one["warning"]
slopes = [row for row in one["rows"] if "slope by" in row["what"]]
assert len(slopes) == 4 and all(row["paper"] == -2 for row in slopes)
text = json.dumps(one)
for words in ("adjacency: replace", "unit: one record", "adversary: the learner", "T_i"):
    assert words in text, words
PY
exit $failed
