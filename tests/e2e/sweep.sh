#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tacit sweep: the same bytes for any number of threads and after any kill, what it refuses, and
# what it says in the end.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"

# same FOLDER OTHER WORDS: the same bytes in both
same() {
    for file in sweep.yaml runs.csv means.csv report.html; do
        cmp -s "$1/$file" "$2/$file" || complain "$3: $file differs"
    done
    [ -z "$(ls "$2" | grep -F .tmp)" ] || complain "$3: left something behind"
}

cat >small.yaml <<'YAML'
run: {name: small, time: 20, every: 0}
data: {agents: 30, dimension: 10, test-records: 40, validation-records: 20}
protocol: {name: cd}
YAML
grid=(small.yaml --vary protocol.name=cd,alone --vary protocol.mu=0.1..100:x10 --seeds 3)

# ---- refused before anything is written ----
expect 2 'no experiment; expected a file' "$TACIT" sweep
expect 2 'unexpected word "b.yaml"' "$TACIT" sweep small.yaml b.yaml
expect 2 'unknown flag "--varry"; did you mean "--vary"?' "$TACIT" sweep small.yaml --varry a=1
expect 2 '"--vary" needs a value: --vary KEY=VALUES' "$TACIT" sweep small.yaml --vary
expect 2 '--vary: unknown key "protocol.nu"; did you mean "protocol.mu"?' \
    "$TACIT" sweep small.yaml --vary protocol.nu=1,2
expect 2 '--vary: "protocol.mu" is "x"; expected a number' "$TACIT" sweep small.yaml --vary protocol.mu=1,x
expect 2 '--vary: "protocol.mu" has an empty value' "$TACIT" sweep small.yaml --vary protocol.mu=
expect 2 '--vary: "protocol.mu" has the value "1" twice' "$TACIT" sweep small.yaml --vary protocol.mu=1,1
expect 2 'the grid has 500000 runs' "$TACIT" sweep small.yaml --vary protocol.mu=1..100000 --seeds 5
expect 2 '"--seeds" is "none"; expected an integer from 1 to 100000, or which: 3..7' \
    "$TACIT" sweep small.yaml --seeds none
expect 2 '--best: unknown metric "tets"; did you mean "test"?' "$TACIT" sweep small.yaml --best tets
expect 2 '--force needs --out DIR' "$TACIT" sweep small.yaml --force
expect 2 '"--out" does not go with --resume' "$TACIT" sweep --resume x --out y
expect 2 '--resume reads the plan in its folder' "$TACIT" sweep --resume x --vary protocol.mu=1
expect 3 'cannot open "nowhere/sweep.yaml"' "$TACIT" sweep --resume nowhere
expect 3 'cannot open "none.yaml"' "$TACIT" sweep none.yaml --vary protocol.mu=1
expect 3 '--set: unknown key "protocol.nu"' "$TACIT" sweep small.yaml --set protocol.nu=1
[ ! -e runs ] || complain "a refused sweep left the folder runs"

# ---- one thread, two threads, and what it says ----
"$TACIT" sweep "${grid[@]}" --out whole --threads 1 >words.txt 2>err.txt || complain "sweep: $(cat err.txt)"
"$TACIT" sweep "${grid[@]}" --out two --threads 2 --json >two.json 2>err.txt || complain "sweep: $(cat err.txt)"
same whole two "two threads"
grep -q '^small: 5 points, 3 seeds each' words.txt || complain "the title: $(cat words.txt)"
grep -qE '^ *\* cd +1?[0-9.]+ +0\.[0-9]{4} \+- 0\.[0-9]{4}' words.txt || complain "no best point: $(cat words.txt)"
grep -qE '^ *alone +- +0\.' words.txt || complain "no line for alone: $(cat words.txt)"
grep -q 'whole/' words.txt || complain "does not say where"
grep -q '^  \[1\] epsilon at delta 1e-05 for one record' words.txt || complain "an epsilon alone"
grep -qE '^ *alone .* 0 \[2\]$' words.txt || complain "an epsilon without its note: $(cat words.txt)"
! grep -q $'\033' words.txt || complain "escape codes without a terminal"
"$TACIT" sweep --resume whole >again.txt 2>err.txt || complain "resume of a complete sweep: $(cat err.txt)"
cmp -s words.txt again.txt || complain "a complete sweep, resumed, says something else"
[ "$(cat err.txt)" = 'note: the best point was chosen on validation records; the test records had no part in it' ] ||
    complain "the remark: $(cat err.txt)"
"$TACIT" sweep --resume whole --best test --quiet >again.txt 2>err.txt || complain "--best test"
[ ! -s err.txt ] || complain "--quiet: $(cat err.txt)"
"$TACIT" sweep --resume whole --best test 2>&1 >/dev/null | grep -q 'flatters' || complain "--best test: no remark"
python3 - <<'PY' || complain "the figures are wrong"
import csv, json, math, statistics
sweep = json.load(open("two.json"))
assert sweep["schema"] == "tacit.sweep/1" and sweep["complete"] and sweep["failed"] == 0
assert sweep["runs"] == 15 and sweep["seeds"] == [1, 2, 3], sweep
assert sweep["keys"] == ["protocol.name", "protocol.mu"]
rows = list(csv.DictReader(open("whole/runs.csv")))
means = list(csv.DictReader(open("whole/means.csv")))
assert [int(row["run"]) for row in rows] == list(range(1, 16))
assert len(means) == len(sweep["points"]) == 5
t2 = 4.302652729749464
for k, (point, mean) in enumerate(zip(sweep["points"], means)):
    own = rows[3 * k:3 * k + 3]
    for metric in ("test", "validation", "train_loss", "messages"):
        values = [float(row[metric]) for row in own]
        half = t2 * statistics.stdev(values) / math.sqrt(3)
        for got, want in zip((mean[metric + "_mean"], mean[metric + "_low"], mean[metric + "_high"]),
                             (statistics.mean(values), statistics.mean(values) - half, statistics.mean(values) + half)):
            assert abs(float(got) - want) <= 1e-9 * max(1, abs(want)), (metric, got, want)
        assert point[metric]["mean"] == float(mean[metric + "_mean"])
alone = means[-1]
assert alone["protocol.name"] == "alone" and alone["protocol.mu"] == "" and alone["epsilon_mean"] == "0"
assert means[0]["epsilon_mean"] == "inf" and means[0]["epsilon_low"] == ""
assert sweep["points"][0]["epsilon"]["unbounded"] is True
best = max(range(5), key=lambda k: float(means[k]["validation_mean"]))
assert sweep["best"]["point"] == best and sweep["best"]["metric"] == "validation"
assert sweep["points"][-1]["values"] == {"protocol.name": "alone", "protocol.mu": None}
PY

# ---- the run of a plan is the run that tacit run does ----
"$TACIT" run small.yaml --json --quiet --out by-run --set protocol.mu=10 --set run.seed=2 >run.json || complain "run"
python3 - <<'PY' || complain "tacit run finds something else"
import csv, json
run = json.load(open("run.json"))
row = [r for r in csv.DictReader(open("whole/runs.csv")) if r["protocol.mu"] == "10" and r["seed"] == "2"][0]
assert float(row["test"]) == run["metrics"]["test_accuracy"]
assert float(row["validation"]) == run["metrics"]["validation_accuracy"]
assert float(row["objective"]) == run["metrics"]["objective"]
for key in ("messages", "bytes", "ticks", "lost"):
    assert float(row[key]) == run[key], key
assert float(row["releases"]) == run["privacy"]["releases"]
assert float(row["edges"]) == run["graph"]["edges"]
PY

# ---- killed at any moment, resumed ----
cat >longer.yaml <<'YAML'
run: {name: longer, time: 150, every: 0}
data: {agents: 60, dimension: 20, test-records: 40, validation-records: 20}
protocol: {name: cd}
YAML
long=(longer.yaml --vary protocol.mu=1..100:x10 --vary protocol.start=zero,local --seeds 3)
begin=$SECONDS
"$TACIT" sweep "${long[@]}" --out long --quiet --threads 2 >/dev/null || complain "the longer sweep"
attempts=5
[ $((SECONDS - begin)) -le 4 ] || attempts=1 # a sanitizer watches, or the machine is busy
killed=0
for attempt in $(seq $attempts); do
    rm -rf cut
    "$TACIT" sweep "${long[@]}" --out cut --quiet --threads 2 >/dev/null 2>err.txt &
    pid=$!
    for _ in $(seq 200); do
        [ -e cut/runs.csv ] && break
        sleep 0.01
    done
    sleep "0.$((RANDOM % 30 + 100))" # a tenth of a second and a bit
    for again in 1 2; do # and once more while it goes on
        kill -9 $pid 2>/dev/null && [ ! -e cut/means.csv ] && killed=$((killed + 1))
        wait $pid 2>/dev/null
        [ $again -eq 2 ] && break
        "$TACIT" sweep --resume cut --quiet --threads 1 >/dev/null 2>err.txt &
        pid=$!
        sleep "0.0$((RANDOM % 90 + 10))"
    done
    if [ ! -e cut/sweep.yaml ]; then continue; fi # before the plan was there
    "$TACIT" sweep --resume cut --quiet >/dev/null 2>err.txt || complain "resume $attempt: $(cat err.txt)"
    same long cut "killed, attempt $attempt"
done
[ $killed -ge 1 ] || complain "never killed in the middle: the sweep is too short for this machine"

# ---- Ctrl-C ----
rm -rf cut
"$TACIT" sweep "${long[@]}" --out cut --quiet --threads 2 >out.txt 2>err.txt &
pid=$!
for _ in $(seq 200); do
    [ -e cut/runs.csv ] && break
    sleep 0.01
done
sleep 0.1
# Locked while it goes on.
if kill -0 $pid 2>/dev/null; then
    "$TACIT" sweep --resume cut >/dev/null 2>busy.txt && complain "two sweeps in one folder"
fi
kill -s INT $pid 2>/dev/null
wait $pid
code=$?
if [ $code -ne 0 ]; then
    [ $code -eq 130 ] || complain "Ctrl-C: exit $code: $(cat err.txt)"
    grep -qF 'go on with "tacit sweep --resume cut"' err.txt || complain "Ctrl-C: $(cat err.txt)"
    [ ! -e cut/means.csv ] || complain "Ctrl-C: means of half a sweep"
    # With its file and flags again: the same plan goes on, another is refused.
    expect 6 'is another plan' "$TACIT" sweep longer.yaml --vary protocol.mu=1,2 --resume cut
    "$TACIT" sweep "${long[@]}" --resume cut --quiet >/dev/null 2>err.txt || complain "resume: $(cat err.txt)"
    same long cut "Ctrl-C"
else
    echo "note: Ctrl-C came too late"
fi
sed -i 's/time: "150"/time: "151"/' cut/sweep.yaml
expect 6 'was edited' "$TACIT" sweep --resume cut

# ---- claims are no guarantees ----
cat >claim.yaml <<'YAML'
run: {name: claim, time: 10}
data: {agents: 20, dimension: 5, min-records: 10, max-records: 20, validation-records: 10}
privacy: {mechanism: gaussian, clip: 1, epsilon: 5, releases: 3}
YAML
"$TACIT" sweep claim.yaml --vary privacy.claimed=true,false --vary privacy.epsilon=0.01,5 --seeds 2 \
    --best messages --out claim >out.txt 2>err.txt || complain "claims: $(cat err.txt)"
grep -q 'UNSOUND' claim/report.html || complain "the page says nothing of claims"
grep -qE '^ *\* false' out.txt || complain "a claim is the best: $(cat out.txt)"
grep -qE '^ *true .* \[1\] UNSOUND$' out.txt || complain "a claim is not marked: $(cat out.txt)"
grep -qE '^ *(\* )?false .* \[2\]$' out.txt || complain "a note has the wrong number: $(cat out.txt)"
grep -q 'against an adversary local' claim/report.html || complain "the page does not say against whom"
"$TACIT" sweep claim.yaml --set privacy.claimed=true --vary privacy.epsilon=1,5 --seeds 1 --out claims \
    >out.txt 2>err.txt || complain "claims: $(cat err.txt)"
grep -q 'all points are UNSOUND' err.txt || complain "nothing but claims: $(cat err.txt)"

# ---- runs that fail ----
"$TACIT" sweep small.yaml --vary privacy.epsilon=1,inf --seeds 2 --out poor >out.txt 2>err.txt
code=$?
[ $code -eq 1 ] || complain "runs that fail: exit $code"
grep -q '2 of 4 runs failed' err.txt || complain "runs that fail: $(cat err.txt)"
grep -qF 'run 1, seed 1: agent "0": releasing' out.txt || complain "runs that fail: $(cat out.txt)"
python3 - <<'PY' || complain "runs that fail: the rows"
import csv
rows = list(csv.DictReader(open("poor/runs.csv")))
assert [row["status"] for row in rows] == ["failed", "failed", "ok", "ok"]
assert "budget" in rows[0]["error"] and rows[0]["test"] == ""
means = list(csv.DictReader(open("poor/means.csv")))
assert [(row["n"], row["failed"]) for row in means] == [("0", "2"), ("2", "0")]
assert means[0]["test_mean"] == ""
PY

# Models that run away have no figures.
printf 'a,x,y\n1,1e200,1e200\n1,-5e200,3e200\n2,4e200,1e200\n2,-3,1\n' >wild.csv
cat >wild.yaml <<'YAML'
run: {time: 20}
data: {source: csv, path: wild.csv, agent-column: a, label-column: y}
graph: {kind: complete}
model: {loss: squared}
YAML
"$TACIT" sweep wild.yaml --vary protocol.name=cd,alone --seeds 1 --out wild >/dev/null 2>err.txt
code=$?
[ $code -eq 1 ] || complain "models that run away: exit $code"
grep -q '^1,cd,1,failed,.*diverged' wild/runs.csv || complain "models that run away: $(cat wild/runs.csv)"
grep -q '^2,alone,1,failed,.*not finite' wild/runs.csv || complain "losses that run away: $(cat wild/runs.csv)"

# ---- folders ----
expect 3 '"poor" exists' "$TACIT" sweep small.yaml --out poor --seeds 1
"$TACIT" sweep small.yaml --out kept --seeds 2 --keep-runs --quiet >/dev/null || complain "--keep-runs"
[ -s kept/runs/000002/summary.json ] || complain "no run folder: $(ls -R kept)"
touch kept/runs/000001/mine.txt
expect 3 'was not written by a run' "$TACIT" sweep small.yaml --out kept --seeds 1 --force
rm kept/runs/000001/mine.txt
touch kept/mine.txt
expect 3 'was not written by a sweep' "$TACIT" sweep small.yaml --out kept --seeds 1 --force
rm kept/mine.txt
"$TACIT" sweep small.yaml --out kept --seeds 1 --force --quiet >/dev/null 2>err.txt || complain "--force: $(cat err.txt)"
[ ! -e kept/runs ] && [ -s kept/means.csv ] || complain "--force"
mkdir other
expect 3 'is not the folder of a sweep' "$TACIT" sweep small.yaml --out other --force
"$TACIT" sweep small.yaml --seeds 1 >out.txt 2>err.txt || complain "no --out: $(cat err.txt)"
grep -q 'runs/small-sweep-1/' out.txt || complain "no --out: $(cat out.txt)"
if [ -w /dev/full ]; then
    "$TACIT" sweep --resume kept >/dev/full 2>err.txt
    code=$?
    [ $code -eq 3 ] || complain "a full disk under stdout: exit $code"
fi

# ---- a disk that is full in the middle: what is done is kept ----
"$TACIT" sweep small.yaml --vary protocol.mu=1..8 --seeds 2 --out roomy --quiet >/dev/null || complain "roomy"
(
    ulimit -f 2
    "$TACIT" sweep small.yaml --vary protocol.mu=1..8 --seeds 2 --out tight --quiet >/dev/null 2>err.txt
    code=$?
    [ $code -eq 3 ]
) || complain "a full disk: exit is not 3: $(cat err.txt)"
grep -qF 'cannot write "tight/runs.csv"' err.txt || complain "a full disk: $(cat err.txt)"
[ "$(wc -l <tight/runs.csv)" -ge 3 ] || complain "a full disk: rows are lost"
"$TACIT" sweep --resume tight --quiet >/dev/null 2>err.txt || complain "room again: $(cat err.txt)"
same roomy tight "a full disk"

# ---- searches ----
search=(small.yaml --vary protocol.mu=0.1..1000:x2 --optimize validation)
expect 2 '--optimize: unknown metric "validatoin"; did you mean "validation"?' \
    "$TACIT" sweep small.yaml --vary protocol.mu=1,2 --optimize validatoin
expect 2 'test records are opened once, for the winner' "$TACIT" sweep small.yaml --vary protocol.mu=1,2 --optimize test
expect 2 '"messages" does not say how good a setting is' \
    "$TACIT" sweep small.yaml --vary protocol.mu=1,2 --optimize messages
expect 2 'nothing to choose from' "$TACIT" sweep small.yaml --optimize validation
expect 2 '"--tries" is "0"; expected an integer from 1' "$TACIT" sweep "${search[@]}" --tries 0
expect 2 '"--tries" is for --optimize' "$TACIT" sweep small.yaml --vary protocol.mu=1,2 --tries 3
expect 2 '"--tuned-on" is for --optimize' "$TACIT" sweep small.yaml --vary protocol.mu=1,2 --tuned-on public
expect 2 '--best does not go with --optimize' "$TACIT" sweep "${search[@]}" --best test
expect 2 '--keep-runs does not go with --optimize' "$TACIT" sweep "${search[@]}" --keep-runs
expect 2 '"--choice-epsilon" is for --tuned-on private' "$TACIT" sweep "${search[@]}" --choice-epsilon 1
expect 2 '"--tuned-on" is "privat"; expected one of' "$TACIT" sweep "${search[@]}" --tuned-on privat
expect 2 'those are nobody' "$TACIT" sweep "${search[@]}" --tuned-on private-uncharged
expect 3 'no validation records to choose by' "$TACIT" sweep "${search[@]}" --set data.validation-records=0

# same_search FOLDER OTHER WORDS
same_search() {
    same "$1" "$2" "$3"
    cmp -s "$1/search.csv" "$2/search.csv" || complain "$3: search.csv differs"
}
"$TACIT" sweep "${search[@]}" --tries 8 --out found --threads 1 >words.txt 2>err.txt || complain "search: $(cat err.txt)"
"$TACIT" sweep "${search[@]}" --tries 8 --out found2 --threads 2 --json >found.json 2>err.txt || complain "search: $(cat err.txt)"
same_search found found2 "a search, two threads"
grep -q 'use it  *--set protocol.mu=' words.txt || complain "a search: no flags: $(cat words.txt)"
grep -q 'opened once, for the' words.txt || complain "a search: no test score: $(cat words.txt)"
grep -q 'of one run, tuned on simulated records' words.txt || complain "a search: an epsilon alone: $(cat words.txt)"
grep -q 'best so far' found/report.html || complain "a search: no curve"
"$TACIT" sweep --resume found >again.txt 2>err.txt || complain "resume of a complete search: $(cat err.txt)"
cmp -s words.txt again.txt || complain "a complete search, resumed, says something else"
python3 - <<'PY' || complain "a search: the figures are wrong"
import csv, json
found = json.load(open("found.json"))
tuning = found["tuning"]
assert tuning["tuned_on"] == "simulated" and tuning["search_covered"] and found["complete"]
rows = list(csv.DictReader(open("found/runs.csv")))
means = list(csv.DictReader(open("found/means.csv")))
tries = list(csv.DictReader(open("found/search.csv")))
assert len(means) == len(tries) == tuning["tried"] <= 8
best = max((m for m in means if m["n"] == "5"), key=lambda m: float(m["validation_mean"]))
assert tuning["winner"]["set"] == "--set protocol.mu=" + best["protocol.mu"]
assert found["points"][found["best"]["point"]]["values"]["protocol.mu"] == float(best["protocol.mu"])
for row in rows: # test records: of the winner alone
    assert (row["test"] != "") == (row["protocol.mu"] == best["protocol.mu"]) == (row["status"] == "opened"), row
assert [t["winner"] for t in tries].count("yes") == 1
PY

# A search that is cut goes on as if nobody had disturbed.
rm -rf cut
"$TACIT" sweep longer.yaml --vary protocol.mu=1..100:x10 --seeds 3 --optimize validation --out hunt --quiet >/dev/null || complain "hunt"
"$TACIT" sweep longer.yaml --vary protocol.mu=1..100:x10 --seeds 3 --optimize validation --out cut --quiet --threads 2 >/dev/null 2>err.txt &
pid=$!
for _ in $(seq 200); do
    [ -e cut/runs.csv ] && [ "$(wc -l <cut/runs.csv)" -ge 3 ] && break
    sleep 0.01
done
kill -s INT $pid 2>/dev/null
wait $pid
code=$?
if [ $code -ne 0 ]; then
    [ $code -eq 130 ] || complain "a search, Ctrl-C: exit $code: $(cat err.txt)"
    grep -qF 'runs of the search are done; go on with "tacit sweep --resume cut"' err.txt || complain "a search, Ctrl-C: $(cat err.txt)"
    [ ! -e cut/search.csv ] || complain "a search, Ctrl-C: the end of half a search"
    "$TACIT" sweep --resume cut --quiet >/dev/null 2>err.txt || complain "a search, resumed: $(cat err.txt)"
    same_search hunt cut "a search, Ctrl-C"
fi

# Private records: said, charged, or loudly not.
printf 'a,x,z,y\n' >own.csv
for k in $(seq 240); do echo "$((k % 12)),$((k % 7 - 3)),$((k % 5 - 2)),$(((k % 7 - 3) * 2 + k % 5 > 2 ? 1 : -1))"; done >>own.csv
cat >own.yaml <<'YAML'
run: {name: own, time: 10, every: 0}
data: {source: csv, path: own.csv, agent-column: a, label-column: y, bound: l2, validation-fraction: 0.3, test-fraction: 0.2}
graph: {kind: complete}
privacy: {mechanism: gaussian, clip: 0.5, epsilon: 2, releases: 3}
YAML
own=(own.yaml --vary protocol.mu=1,10,100 --optimize validation)
expect 2 'say whose they are: --tuned-on public' "$TACIT" sweep "${own[@]}"
expect 2 'not drawn from a seed' "$TACIT" sweep "${own[@]}" --tuned-on simulated
[ ! -e runs/own-sweep-1 ] || complain "a refused search left a folder"
says 'public by the word of who ran this' "$TACIT" sweep "${own[@]}" --tuned-on public --out public
"$TACIT" sweep "${own[@]}" --tuned-on private-uncharged --out loud --quiet --json >loud.json 2>err.txt || complain "uncharged: $(cat err.txt)"
grep -q 'NO EPSILON COVERS THIS SEARCH' err.txt || complain "uncharged: not loud: $(cat err.txt)"
grep -q 'NOT COVERING THE SEARCH' loud/means.csv loud/report.html loud/runs.csv || complain "uncharged: an epsilon alone"
says 'unbounded with the search' "$TACIT" sweep --resume loud
"$TACIT" sweep "${own[@]}" --tuned-on private --out charged --threads 2 --json >charged.json 2>err.txt || complain "charged: $(cat err.txt)"
"$TACIT" run own.yaml --out one --json --quiet >/dev/null || complain "run of own.yaml"
python3 - <<'PY' || complain "charged: the figures are wrong"
import json, math
eps = json.load(open("charged.json"))["tuning"]["epsilon"]
one = json.loads(open("one/ledger.jsonl").read().splitlines()[1])
# Nine Gaussians, three of each try, are one (Balle, Wang 2018).
mu = math.sqrt(3 * one["releases"]) * one["sensitivity"] / one["noise"]
def delta(e):
    tail = lambda x: math.erfc(x / math.sqrt(2)) / 2
    return tail(e / mu - mu / 2) - math.exp(e) * tail(e / mu + mu / 2)
low, want = 0, 50
for _ in range(100):
    middle = (low + want) / 2
    low, want = (middle, want) if delta(middle) > 1e-5 else (low, middle)
assert abs(eps["tries"]["epsilon"] - want) < 1e-3 * want, (eps, want)
assert eps["one_run"]["epsilon"] <= 2 < eps["tries"]["epsilon"] < eps["search"]["epsilon"] < eps["search_and_one_more_run"]["epsilon"]
assert 0.99 < eps["choice"]["epsilon"] <= 1
assert eps["search"]["epsilon"] < eps["tries"]["epsilon"] + 1  # composed, not added
assert "the search costs more" in eps["guarantee"]
PY
[ "$(stat -c %a charged/runs.csv charged/means.csv charged/search.csv charged/report.html | sort -u)" = 600 ] ||
    complain "charged: scores that others can read"
says 'told' "$TACIT" sweep --resume charged
says 'keep it to yourself' "$TACIT" sweep --resume charged

# ---- help and completion ----
"$TACIT" help sweep >help.txt
awk 'length($0) > 80 { exit 1 }' help.txt || complain "help sweep: over 80 columns"
grep -q -- '--vary KEY=VALUES' help.txt || complain "help sweep: no --vary"
"$TACIT" help --man >tacit.1
grep -q 'vary' tacit.1 || complain "the man page has no --vary"
"$TACIT" help --completion bash >completion.bash
complete_words() {
    bash -c 'compopt() { :; }; source ./completion.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _tacit; printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}
complete_words tacit sweep --va | grep -qx -- --vary || complain "completion: --vary"
complete_words tacit sweep --vary protocol.m | grep -qx 'protocol.mu=' || complain "completion: keys of --vary"
complete_words tacit sweep -s protocol.m | grep -qx 'protocol.mu=' || complain "completion: keys of -s"
complete_words tacit sweep small.y | grep -qx small.yaml || complain "completion: files"
exit $failed
