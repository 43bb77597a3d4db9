#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tacit node: one real peer. Ended and started again with the same words it goes on; its log, its
# status.port and what it leaves; and what it refuses.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"

command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }

cat >small.yaml <<'END'
run: {name: small, time: 150, every: 0, seed: 3}
data: {agents: 6, dimension: 4, test-records: 20, validation-records: 0}
privacy: {mechanism: gaussian, clip: 1, epsilon: 3, releases: 300}
END
# wait_for COMMAND...: until it succeeds
wait_for() {
    for _ in $(seq 300); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.1
    done
    complain "in vain: $*"
}
# is NODE PHASE: what /status of that node says
is() { "$TACIT" status peers/"$1" | grep -q " $2 "; }

# has_told_more: each agent of node-001 that speaks has made a release that "oldest" does not know
has_told_more() {
    "$TACIT" status peers/node-001 --json | python3 -c 'import json, sys
old = json.load(open("oldest/summary.json"))["agents"]
new = json.load(sys.stdin)["nodes"][0]["status"]["agents"]
assert all(n["releases"] > o["releases"] or n["messages_out"] == 0 for n, o in zip(new, old)), new
assert any(n["messages_out"] > 0 for n in new), new'
}

# Two peers, made by tacit up and interrupted right away. They end by ticks, so that the time in
# which they do not run does not count.
"$TACIT" up 2 small.yaml --unit 0.1 --set consortium.end=ticks --out peers --quiet >/dev/null 2>&1 &
up=$!
wait_for is node-001 running
kill -INT $up
wait $up
[ -s peers/node-001/node.yaml ] || complain "no folder of peers: $(ls)"

# ---- what it refuses ----
expect 2 'unexpected word "peers/node-000/node.yaml"; did you mean "--config peers/node-000/node.yaml"?' \
    "$TACIT" node peers/node-000/node.yaml
expect 3 'cannot open "nowhere.yaml"' "$TACIT" node --config nowhere.yaml
expect 3 'cannot open "node.yaml"' "$TACIT" node
expect 3 'cannot open the log "nowhere/log": No such file or directory' \
    "$TACIT" node --config peers/node-000/node.yaml --json-log nowhere/log
expect 3 'did you mean "node.heartbeat"?' "$TACIT" node -c peers/node-000/node.yaml --set node.hearbeat=1
chmod 644 peers/node-000/identity.key
expect 3 'identity.key' "$TACIT" node -c peers/node-000/node.yaml
chmod 600 peers/node-000/identity.key
[ ! -e peers/node-000/state/status.port ] || complain "a refused node left its status.port"

# ---- goes on where it was, by itself and beside the other ----
expect 2 'takes a number of releases or "all", not "some"' \
    "$TACIT" node -c peers/node-000/node.yaml --accept-spent some
cp -a peers/node-001/state oldest
before=$(python3 -c 'import json; print(json.load(open("peers/node-000/state/summary.json"))["time_units"])')
"$TACIT" node -c peers/node-000/node.yaml --json >first.json 2>first.jsonl &
first=$!
wait_for test -s peers/node-000/state/status.port
expect 3 'peers/node-000/state' "$TACIT" node -c peers/node-000/node.yaml # there is one already
[ -s peers/node-000/state/status.port ] || complain "a refused node took the status.port of another"
"$TACIT" node -c peers/node-001/node.yaml --quiet --json-log second.jsonl >second.txt 2>second.err &
second=$!
wait_for is node-001 running
wait_for has_told_more
kill -TERM $second # and again
wait $second
[ $? -eq 130 ] || complain "SIGTERM: not exit 130: $(cat second.err)"
[ "$(cat second.err)" = 'tacit: interrupted; the same command goes on' ] || complain "$(cat second.err)"
[ ! -e peers/node-001/state/status.port ] || complain "status.port of a node that has ended"

# ---- an old copy of its folder: the other has its signature under what the copy lacks ----
cp -a peers/node-001/state newest
rm -rf peers/node-001/state
cp -a oldest peers/node-001/state
expect 6 'own signature under' "$TACIT" node -c peers/node-001/node.yaml --quiet
rm -rf peers/node-001/state
cp -a newest peers/node-001/state
"$TACIT" node -c peers/node-001/node.yaml --quiet --json-log second.jsonl >second.txt 2>second.err ||
    complain "second: exit $?: $(cat second.err)"
wait $first || complain "first: exit $?: $(cat first.jsonl)"
[ ! -s second.txt ] && [ ! -s second.err ] || complain "--quiet is not: $(cat second.txt second.err)"
cmp -s first.json peers/node-000/state/summary.json || complain "--json is not summary.json"
[ "$(stat -c %a peers/node-000/state/models.npy)" = 600 ] || complain "models.npy is open to others"
BEFORE=$before python3 - <<'END' || complain "what the nodes left: $(cat first.json)"
import json, os
summary = json.load(open("first.json"))
assert summary["schema"] == "tacit.node/1" and summary["node"] == "node-000"
assert summary["phase"] == "ended" and summary["agent_count"] == 3
assert 0 <= float(os.environ["BEFORE"]) < summary["time_units"], os.environ["BEFORE"]
assert 0 < summary["privacy"]["epsilon_spent"] <= 3
for name, node in ("first.jsonl", "node-000"), ("second.jsonl", "node-001"):
    lines = [json.loads(line) for line in open(name)]
    assert all(line["node"] == node and line["event"] and line["level"] for line in lines)
    assert any(line["event"] == "ended" for line in lines), name
END
for file in peers/node-000/state/*.ledger; do
    says "whole" "$TACIT" ledger verify "$file"
done

# ---- a run that has ended has nothing more to do, and spends nothing more ----
spent() { python3 -c 'import json; s = json.load(open("peers/node-000/state/summary.json"))
print([(a["releases"], a["epsilon_spent"]) for a in s["agents"]])'; }
had=$(spent)
"$TACIT" node -c peers/node-000/node.yaml --quiet --set node.patience=1 2>err.txt >&2 ||
    complain "once more: exit $?: $(cat err.txt)"
[ "$(spent)" = "$had" ] || complain "a run that has ended spent more: $had, then $(spent)"

# ---- people read lines on a screen ----
if script -qec true /dev/null >/dev/null 2>&1; then
    TERM=xterm script -qec "'$TACIT' node -c peers/node-000/node.yaml --set node.patience=1" typescript \
        >/dev/null || complain "on a screen"
    grep -q '^[0-9][0-9]:[0-9][0-9]:[0-9][0-9] [a-z_]* *' typescript || complain "no lines on a screen"
    ! grep -q '"event"' typescript || complain "JSON on a screen"
    grep -q 'messages sent' typescript || complain "not told what came of it"
fi
exit $failed
