#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tacit report: pages of runs, what it refuses, and what it never overwrites.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"

says() { grep -qF -- "$2" "$1" || complain "$1 does not say: $2"; }

cat >small.yaml <<'YAML'
run:
  name: small
  time: 6
  every: 1
data:
  agents: 12
  dimension: 4
  test-records: 20
  validation-records: 0
graph:
  kind: ring
YAML
run() { "$TACIT" run small.yaml --quiet "$@" >/dev/null || complain "run $*"; }
run --out cd
run --out alone --set protocol.name=alone
run --out cd-2 --set run.seed=2

# ---- pages ----
"$TACIT" report cd >out.txt 2>err.txt || complain "report cd: $(cat err.txt)"
says out.txt 'report.html  1 run,'
[ ! -s err.txt ] || complain "words on stderr: $(cat err.txt)"
cmp -s report.html cd/report.html || complain "the run's own page is another"
"$TACIT" report cd alone >out.txt || complain "a report is not replaced by a report"
says out.txt '2 runs,'
says report.html '<h1>cd and alone</h1>'
"$TACIT" report cd cd-2 --title 'Two & more' --out seeds.html --quiet >out.txt || complain "seeds"
[ ! -s out.txt ] || complain "--quiet speaks"
says seeds.html '<h1>Two &amp; more</h1>'
says seeds.html '(2 seeds)'
"$TACIT" report cd --out - >piped.html || complain "report to standard output"
cmp -s piped.html cd/report.html || complain "standard output differs"
[ ! -e ./- ] || complain "a file called -"
"$TACIT" report alone --out a.html --json >out.json || complain "--json"
python3 - <<'PY' || complain "--json does not parse: $(cat out.json)"
import json, os
said = json.load(open("out.json"))
assert said["schema"] == "tacit.report/1" and said["runs"] == 1 and said["page"] == "a.html"
assert said["bytes"] == os.path.getsize("a.html")
PY

# ---- nothing is overwritten that is not a report, and nothing is left behind ----
echo mine >notes.html
expect 3 '"notes.html" exists and is not a report' "$TACIT" report cd --out notes.html
[ "$(cat notes.html)" = mine ] || complain "notes.html was overwritten"
"$TACIT" report cd --out notes.html --force --quiet || complain "--force"
says notes.html '<h1>small</h1>'
expect 3 'belongs to the run in its folder' "$TACIT" report alone --out cd/report.html
expect 3 '"cd" is a folder' "$TACIT" report cd --out cd --force
expect 3 'cannot write "no/such/place.html"' "$TACIT" report cd --out no/such/place.html
expect 3 'it has no summary.json' "$TACIT" report cd . --out new.html
[ ! -e new.html ] || complain "a page of nothing"
(ulimit -f 8; expect 3 'cannot write "full.html"' "$TACIT" report cd --out full.html; exit $failed) || failed=1
[ ! -e full.html ] || complain "half a page"
[ -z "$(ls | grep -F .html.)" ] || complain "temporary files: $(ls)"

# ---- what it refuses ----
expect 2 'no run; expected folders' "$TACIT" report
expect 2 'a report is of 1 to 12 runs, not of 13' "$TACIT" report 1 2 3 4 5 6 7 8 9 10 11 12 13
expect 2 '--json does not go with --out -' "$TACIT" report cd --out - --json
expect 3 'cannot open the run folder "nowhere"' "$TACIT" report nowhere
expect 3 'is given twice' "$TACIT" report cd ./cd/
head -c 300 cd/metrics.csv >cut.csv
cp -r cd cut && cp cut.csv cut/metrics.csv
expect 3 'cut/metrics.csv", line' "$TACIT" report cut
cp -r cd newer && sed -i 's,tacit.run/1,tacit.run/9,' newer/summary.json
expect 3 'schema "tacit.run/9"' "$TACIT" report newer
cp -r cd older && rm older/{agents,sizes,degrees,edges}.csv
"$TACIT" report older --out older.html --quiet || complain "an older run"
says older.html 'lacks agents.csv'
exit $failed
