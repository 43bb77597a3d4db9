#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tacit reproduce: what it lists, writes, refuses, and leaves behind.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"
"$TACIT" reproduce >list.txt || complain "the list: exit $?"
grep -q '000-fig1 .*Coordinate descent against ADMM' list.txt || complain "000-fig1 is not listed"
"$TACIT" help reproduce | grep -q 'Examples' || complain "no examples in the help"
"$TACIT" help reproduce | awk 'length($0) > 80 { exit 1 }' || complain "help: over 80 columns"

expect 2 'no figure "000-fig"; did you mean "000-fig1"?' "$TACIT" reproduce 000-fig
expect 2 'no figure "potato"; "tacit reproduce" alone lists them' "$TACIT" reproduce potato
expect 2 'unexpected word "more"; one figure at a time' "$TACIT" reproduce 000-fig1 more
expect 2 '"--json" needs a figure' "$TACIT" reproduce --json
expect 2 '"--seeds" is "-1"' "$TACIT" reproduce 000-fig1 --seeds -1
[ ! -e runs ] || complain "a refusal made a folder"

mkdir there && echo precious >there/file
expect 3 '"there" exists; remove it or use another --out' "$TACIT" reproduce 000-fig1 --quick --out there
[ "$(ls there)" = file ] || complain "it wrote into a folder that was there"

"$TACIT" reproduce 000-fig1 --quick --out one --threads 1 >words.txt 2>err.txt || complain "$(cat err.txt)"
[ ! -s err.txt ] || complain "words on stderr without a terminal: $(cat err.txt)"
tr -s ' \n' ' ' <words.txt >line.txt
for words in 'Both converge to the same optimum' 'iterations to gap 0.001' 'vectors to gap 1e-06' \
    'these numbers are not the figure' 'one/'; do
    grep -qF -- "$words" line.txt || complain "no '$words' in the words"
done
[ "$(ls one)" = "data.csv
reproduce.html
summary.json" ] || complain "one holds $(ls one)"
"$TACIT" reproduce 000-fig1 --quick --out two --threads 2 --json >two.json 2>err.txt || complain "$(cat err.txt)"
cmp two.json two/summary.json || complain "--json is not summary.json"
for file in data.csv reproduce.html summary.json; do
    cmp one/$file two/$file || complain "$file depends on the number of threads"
done
python3 - <<'PY' || complain "summary.json or data.csv"
import csv, json
summary = json.load(open("two/summary.json"))
assert summary["schema"] == "tacit.reproduce/1" and summary["name"] == "000-fig1"
assert summary["quick"] is True and len(summary["findings"]) >= 4
assert all(row["paper"] is None for row in summary["rows"]) and "no numbers" in summary["paper_numbers"]
rows = list(csv.DictReader(open("two/data.csv")))
panels = {row["panel"] for row in rows}
assert panels == {"gap-by-iterations", "gap-by-vectors", "accuracy-by-iterations", "accuracy-by-vectors"}
points = sum(len(series["x"]) for series in summary["series"])
assert len(rows) == points and {row["series"] for row in rows} == {"cd", "admm"}
PY
grep -c '<svg' one/reproduce.html | grep -qx 4 || complain "not four charts on the page"
! grep -qE '(src|href)="https?:' one/reproduce.html || complain "the page asks the network"

"$TACIT" reproduce 000-fig1 --quick >out.txt || complain "without --out"
[ -s runs/000-fig1-1/reproduce.html ] || complain "no runs/000-fig1-1"

# Ctrl-C: a clean end and nothing left behind.
mkdir cut && cd cut || exit 1
"$TACIT" reproduce 000-fig1 >out.txt 2>err.txt &
pid=$!
for _ in $(seq 100); do
    [ -e runs/000-fig1-1 ] && break
    sleep 0.02
done
sleep 0.2
kill -s INT $pid 2>/dev/null
wait $pid
code=$?
[ $code -eq 130 ] || complain "Ctrl-C: exit $code, not 130"
grep -qF 'interrupted; nothing was written' err.txt || complain "Ctrl-C: $(cat err.txt)"
[ ! -e runs ] || complain "Ctrl-C left a folder behind"
exit $failed
