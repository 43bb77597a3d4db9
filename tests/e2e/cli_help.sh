#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the program says of itself, and the shape of its results.
set -u
failed=0
complain() { echo "FAIL: $*"; failed=1; }
# says FIXED COMMAND...
says() {
    local pattern=$1
    shift
    "$@" >out.txt 2>err.txt || complain "exit $?: $*: $(cat err.txt)"
    grep -qF -- "$pattern" out.txt || complain "no '$pattern' from: $*"
    [ ! -s err.txt ] || complain "words on stderr: $*: $(cat err.txt)"
    ! grep -q $'\033' out.txt || complain "escape codes without a terminal: $*"
}

[ "$("$TACIT" --version)" = "tacit 0.1.0" ] || complain "--version"
"$TACIT" >out.txt 2>err.txt
[ $? -eq 2 ] || complain "no words: not exit 2"
grep -q 'Verbs' out.txt || complain "no words: no help"

says 'Verbs' "$TACIT" --help
says 'Verbs' "$TACIT" help
for verb in demo run help; do
    says 'Examples' "$TACIT" help $verb
    says 'Exit codes' "$TACIT" $verb --help
    says "tacit $verb" "$TACIT" $verb -h
    "$TACIT" help $verb >a.txt
    "$TACIT" $verb --help >b.txt
    cmp -s a.txt b.txt || complain "help $verb and $verb --help differ"
done
# --help wins over what is wrong beside it.
says 'Usage' "$TACIT" run --help --threads
says 'mu: ' "$TACIT" help run
says 'one of alone, global, cd, model-propagation' "$TACIT" help run
says 'agents: 100' "$TACIT" help run
says 'coordinate descent' "$TACIT" help protocols
awk 'length($0) > 100 { exit 1 }' a.txt || complain "help is wider than 100 columns"

# ---- man page and completion ----
"$TACIT" help --man >tacit.1 || complain "help --man"
grep -q '^\.TH TACIT 1' tacit.1 || complain "no title in the man page"
grep -qF 'protocol.mu' tacit.1 || complain "no keys in the man page"
if command -v groff >/dev/null; then
    groff -man -ww -Tutf8 tacit.1 >page.txt 2>warnings.txt || complain "groff refuses the man page"
    [ ! -s warnings.txt ] || complain "groff warns: $(head -5 warnings.txt)"
    grep -q 'wrong words on the command line' page.txt || complain "the man page does not render"
fi
"$TACIT" help --completion bash >completion.bash || complain "help --completion bash"
bash -n completion.bash || complain "the completion is not bash"
# complete WORDS...: what bash would offer for the last word
complete_words() {
    bash -c 'compopt() { :; }; source ./completion.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _tacit; printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}
complete_words tacit r | grep -qx run || complain "completion: verbs"
complete_words tacit run --thr | grep -qx -- --threads || complain "completion: flags"
complete_words tacit run --set protocol.m | grep -qx 'protocol.mu=' || complain "completion: keys"
complete_words tacit run --set graph.kind = sim | grep -qx similarity || complain "completion: choices"
complete_words tacit run --set protocol.name = | grep -qx cd || complain "completion: protocols"
complete_words tacit help prot | grep -qx protocols || complain "completion: topics"

# ---- results ----
cat >small.yaml <<'YAML'
run: {name: small, time: 5, every: 1}
data: {agents: 12, dimension: 4}
protocol: {name: cd}
YAML
"$TACIT" run small.yaml --json --out small --threads 1 >run.json 2>err.txt ||
    complain "run --json: $(cat err.txt)"
[ ! -s err.txt ] || complain "run --json writes on stderr: $(cat err.txt)"
python3 - <<'PY' || complain "run --json has the wrong shape"
import json
run = json.load(open("run.json"))
assert run["schema"] == "tacit.run/1", run
assert isinstance(run["metrics"], dict) and 0 <= run["metrics"]["test_accuracy"] <= 1
assert run["privacy"]["epsilon"] is None and run["privacy"]["unbounded"] is True
assert run["privacy"]["adversary"] == "local"
assert run["messages"] > 0 and run["bytes"] == run["messages"] * 4 * 8
PY
cmp -s run.json small/summary.json || complain "--json is not summary.json"
says 'epsilon unbounded for one record (adjacency replace)' "$TACIT" run small.yaml --quiet
says 'runs/small-2/' "$TACIT" run small.yaml -q
# Flags in all their spellings mean the same.
"$TACIT" run --json=true -t1 -q -o other --set=run.seed=1 -- small.yaml >other.json ||
    complain "flags in other spellings"
cmp -s run.json other.json || complain "other spellings, other result"

"$TACIT" demo --json >demo.json 2>err.txt || complain "demo --json: $(cat err.txt)"
python3 - <<'PY' || complain "demo --json has the wrong shape"
import json
demo = json.load(open("demo.json"))
assert demo["schema"] == "tacit.demo/1"
rows = {row["protocol"]: row for row in demo["rows"]}
assert list(rows) == ["alone", "global", "cd"]
assert rows["cd"]["test_accuracy"] > rows["alone"]["test_accuracy"] + 0.1
assert rows["alone"]["messages"] == 0 and rows["cd"]["messages"] > 0
assert rows["alone"]["privacy"]["epsilon"] == 0
assert rows["cd"]["privacy"]["unbounded"] is True
assert sum(group["agents"] for group in rows["cd"]["by_records"]) == 100
PY
says 'What one sees' "$TACIT" demo
says '+-' "$TACIT" demo
LC_ALL=C.UTF-8 says '±' "$TACIT" demo

# ---- the examples run as they are ----
if [ -n "${TACIT_SOURCE_DIR:-}" ]; then
    work=$PWD
    for example in separators csv; do
        (cd "$TACIT_SOURCE_DIR" && "$TACIT" run examples/$example.yaml --quiet \
            --out "$work/$example") >out.txt 2>err.txt || complain "example $example: $(cat err.txt)"
        grep -qF "$work/$example/" out.txt || complain "example $example does not say where"
    done
    for protocol in alone global; do
        (cd "$TACIT_SOURCE_DIR" && "$TACIT" run examples/csv.yaml --quiet --out "$work/$protocol" \
            --set protocol.name=$protocol) >out.txt 2>err.txt || complain "csv, $protocol: $(cat err.txt)"
    done
    python3 - <<'PY' || complain "among the clinics, cd is not the best"
import json
score = {name: json.load(open(name + "/summary.json"))["metrics"]["test_accuracy"]
         for name in ("csv", "alone", "global")}
assert score["csv"] > max(score["alone"], score["global"]) + 0.03, score
PY
fi

# ---- a terminal gets bold and a bar, unless it says no ----
if command -v script >/dev/null; then
    TERM=xterm script -qec "'$TACIT' --help" typescript >/dev/null
    grep -q $'\033\[1m' typescript || complain "no bold on a terminal"
    TERM=xterm NO_COLOR=1 script -qec "'$TACIT' --help" typescript >/dev/null
    ! grep -q $'\033\[1m' typescript || complain "bold with NO_COLOR"
    TERM=dumb script -qec "'$TACIT' --help" typescript >/dev/null
    ! grep -q $'\033\[1m' typescript || complain "bold on a dumb terminal"
fi
exit $failed
