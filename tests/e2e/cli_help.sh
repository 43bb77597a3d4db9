#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the program says of itself, and the shape of its results.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"

# Help says nothing on stderr.
says_only() {
    says "$@"
    shift
    [ ! -s err.txt ] || complain "words on stderr: $*: $(cat err.txt)"
}

[ "$("$TACIT" --version)" = "tacit 0.1.0" ] || complain "--version"
"$TACIT" >out.txt 2>err.txt
[ $? -eq 2 ] || complain "no words: not exit 2"
grep -q 'Verbs' out.txt || complain "no words: no help"

says_only 'Verbs' "$TACIT" --help
says_only 'Verbs' "$TACIT" help
for verb in demo run sweep report reproduce graph data account audit model help; do
    says_only 'Examples' "$TACIT" help $verb
    says_only 'Exit codes' "$TACIT" $verb --help
    says_only "tacit $verb" "$TACIT" $verb -h
    "$TACIT" help $verb >a.txt
    "$TACIT" $verb --help >b.txt
    cmp -s a.txt b.txt || complain "help $verb and $verb --help differ"
done
# --help wins over what is wrong beside it.
says_only 'Usage' "$TACIT" run --help --threads
says_only 'mu: ' "$TACIT" help run
says_only 'one of alone, global, cd, model-propagation' "$TACIT" help run
says_only 'agents: 100' "$TACIT" help run
says_only 'coordinate descent' "$TACIT" help protocols
for page in demo run help protocols; do
    "$TACIT" help $page | awk 'length($0) > 80 { exit 1 }' || complain "help $page: over 80 columns"
done

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
touch some.jsonl
complete_words tacit run --trace some.j | grep -qx some.jsonl || complain "completion: files"
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
says_only 'epsilon unbounded at delta 1e-05 for one record (adjacency replace)' "$TACIT" run small.yaml --quiet
says_only 'runs/small-2/' "$TACIT" run small.yaml -q
# Flags in all their spellings mean the same.
"$TACIT" run --json=true -t1 -q -o other --set=run.seed=1 -- small.yaml >other.json ||
    complain "flags in other spellings"
cmp -s run.json other.json || complain "other spellings, other result"

"$TACIT" demo --json >demo.json 2>err.txt || complain "demo --json: $(cat err.txt)"
python3 - <<'PY' || complain "demo --json has the wrong shape"
import json
demo = json.load(open("demo.json"))
assert demo["schema"] == "tacit.demo/1"
rows = {row["label"]: row for row in demo["rows"]}
assert list(rows) == ["alone", "global", "cd", "one-shot", "chorus"]
for name, adversary, epsilon in ("one-shot", "local", 5), ("chorus", "secure", 1):
    private = rows[name]["privacy"]
    assert epsilon - 0.01 < private["epsilon"] <= epsilon and private["unbounded"] is False
    assert (private["adversary"], private["unit"], private["adjacency"], private["delta"]) == \
        (adversary, "record", "replace", 1e-5)
    assert rows[name]["test_accuracy"] > rows["alone"]["test_accuracy"] + 0.05
assert rows["cd"]["test_accuracy"] > rows["alone"]["test_accuracy"] + 0.1
assert rows["alone"]["messages"] == 0 and rows["cd"]["messages"] > 0
assert rows["alone"]["privacy"]["epsilon"] == 0
assert rows["cd"]["privacy"]["unbounded"] is True
assert rows["global"]["privacy"]["unbounded"] is True and rows["global"]["privacy"]["epsilon"] is None
assert abs(rows["cd"]["test_accuracy"] - 0.88) < 0.01
assert sum(group["agents"] for group in rows["cd"]["by_records"]) == 100
PY
says_only 'What one sees' "$TACIT" demo
says_only 'epsilon is for one record, adjacency replace, at delta 1e-05' "$TACIT" demo
says_only '+-' "$TACIT" demo
LC_ALL=C.UTF-8 says '±' "$TACIT" demo
"$TACIT" demo | awk 'length($0) > 80 { exit 1 }' || complain "the demo is wider than 80 columns"
! LC_ALL=C.UTF-8 "$TACIT" demo | grep ' $' || complain "blanks at the end of a line"

# ---- an oracle's model comes out bare, silence costs nothing ----
for protocol in alone global; do
    "$TACIT" run small.yaml --quiet --out by-$protocol --set protocol.name=$protocol >$protocol.txt ||
        complain "protocol $protocol"
done
python3 - <<'PY' || complain "privacy of alone and global"
import json
alone, pooled = (json.load(open("by-" + name + "/summary.json"))["privacy"] for name in ("alone", "global"))
assert alone["epsilon"] == 0 and alone["unbounded"] is False and alone["adversary"] == "silent"
assert pooled["epsilon"] is None and pooled["unbounded"] is True and pooled["adversary"] == "central"
PY
grep -q 'epsilon 0 at delta 1e-05 for one record' alone.txt || complain "alone: $(cat alone.txt)"
grep -q 'epsilon unbounded at delta 1e-05 for one record' global.txt || complain "global: $(cat global.txt)"

# ---- remarks: agents that cannot learn from others ----
"$TACIT" run small.yaml --out remarks --set graph.cutoff=1 >/dev/null 2>err.txt || complain "remarks"
[ "$(cat err.txt)" = 'note: 12 agents have no neighbours and learn alone' ] ||
    complain "remarks: $(cat err.txt)"
printf '0 1\n1 2\n3 4\n' >some.edges
"$TACIT" run small.yaml --out remarks2 --set data.agents=6 --set graph.kind=edges \
    --set graph.path=some.edges >/dev/null 2>err.txt || complain "remarks"
printf '%s\n' 'note: 1 agent has no neighbours and learns alone' \
    'note: the graph falls into 2 parts that learn nothing from each other' | cmp -s - err.txt ||
    complain "remarks: $(cat err.txt)"
"$TACIT" run small.yaml --out remarks3 --set graph.cutoff=1 --set protocol.name=alone \
    >/dev/null 2>err.txt || complain "remarks"
[ ! -s err.txt ] || complain "a remark on neighbours nobody asks: $(cat err.txt)"

# ---- remarks: a setting without effect ----
idle='note: "privacy.clip" has no effect on one-shot: what it publishes is bounded by "protocol.radius" and'
once=(small.yaml --set protocol.name=one-shot --set privacy.mechanism=gaussian --set privacy.epsilon=1)
tell() { "$TACIT" "$@" >/dev/null 2>err.txt || complain "$*: $(cat err.txt)"; }
told() { tr -s ' \n' ' ' <err.txt | grep -qF "$idle"; }
tell run "${once[@]}" --out idle1 --set privacy.clip=0.5
told || complain "privacy.clip has no effect on one-shot, and nobody says so: $(cat err.txt)"
tell run "${once[@]}" --out idle2 --set privacy.clip=0.5 --quiet
! told || complain "--quiet is not"
tell run "${once[@]}" --out idle3
! told || complain "a remark on a clip that is not set"
tell run "${once[@]}" --out idle4 --set privacy.clip=0.5 --set protocol.name=cd --set privacy.releases=1
! told || complain "a remark on a clip that matters"
tell sweep "${once[@]}" --out idle5 --vary privacy.clip=0.1,0.5 --seeds 1
told || complain "a sweep over a key without effect, and nobody says so: $(cat err.txt)"
says_only 'runs/' "$TACIT" run small.yaml --quiet --set graph.cutoff=1

# ---- a trace says what crossed, and changes nothing ----
"$TACIT" run small.yaml --json --out traced --trace trace.jsonl --threads 2 >traced.json 2>err.txt ||
    complain "run --trace: $(cat err.txt)"
cmp -s run.json traced.json || complain "a trace changes the result"
"$TACIT" run small.yaml --quiet --out traced2 --trace late.jsonl --threads 2 \
    --set network.latency=constant --set network.loss=0.2 >/dev/null || complain "run --trace with latency"
python3 - <<'PY' || complain "the trace is wrong"
import json
rows = [json.loads(line) for line in open("trace.jsonl")]
run = json.load(open("run.json"))
count = lambda **like: sum(all(row.get(k) == v for k, v in like.items()) for row in rows)
assert count(what="event", event="start") == count(what="event", event="finish") == 12
assert count(what="event", event="wake") == run["ticks"] == count(what="release", name="gradient")
assert count(what="event", event="message", bytes=32) == run["messages"]
assert count(what="send", peer=None) > 0
assert [row["time"] for row in rows] == sorted(row["time"] for row in rows)
known = {"time", "agent", "what", "event", "name", "peer", "channel", "kind", "id", "status", "bytes"}
assert set().union(*rows) <= known, "a trace must not hold contents"
late = [json.loads(line) for line in open("late.jsonl")]
run = json.load(open("traced2/summary.json"))
arrived = sum(row.get("event") == "message" for row in late)
assert 0 < arrived < run["messages"] - run["lost"] + 1
PY

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
# Not everywhere is there a script, or a terminal to be had.
if script -qec true /dev/null >/dev/null 2>&1; then
    TERM=xterm script -qec "'$TACIT' --help" typescript >/dev/null
    grep -q $'\033\[1m' typescript || complain "no bold on a terminal"
    TERM=xterm NO_COLOR=1 script -qec "'$TACIT' --help" typescript >/dev/null
    ! grep -q $'\033\[1m' typescript || complain "bold with NO_COLOR"
    TERM=dumb script -qec "'$TACIT' --help" typescript >/dev/null
    ! grep -q $'\033\[1m' typescript || complain "bold on a dumb terminal"
fi
exit $failed
