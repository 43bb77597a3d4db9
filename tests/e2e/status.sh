#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tacit status against a server that says what it likes, and against real nodes: the table, JSON,
# who cannot be reached, answers that lie, and what nodes show at /metrics and in their logs.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"

command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }

# The server answers /status of port k with answers/k, as it is; it writes its ports to ports.
cat >server.py <<'END'
import os, socketserver, sys, threading
class Answer(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.recv(4096)
        with open("answers/%d" % self.server.which, "rb") as f:
            self.request.sendall(f.read())
servers = []
for k in range(int(sys.argv[1])):
    s = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Answer)
    s.which, s.daemon_threads = k, True
    servers.append(s)
    threading.Thread(target=s.serve_forever, daemon=True).start()
with open("ports.new", "w") as f:
    f.write(" ".join(str(s.server_address[1]) for s in servers) + "\n")
os.rename("ports.new", "ports")
sys.stdin.read()
END

# node NAME PHASE MUTE EPSILON BUDGET DELTA [TICKS_SHED]
node() {
    local unbounded=false
    [ "$4" = null ] && unbounded=true
    cat <<END
{"schema": "tacit.node/1", "node": "$1", "run": "00", "protocol": "cd", "phase": "$2", "mute": $3,
 "time_units": 12.54, "until_units": 100, "agent_count": 3, "peer_counts": {"all": 7, "up": 4, "slow": 2,
 "down": 1}, "traffic": {"messages_in": 12345, "messages_out": 678, "ticks_shed": ${7:-0}}, "frames_refused": {"all": 9},
 "privacy": {"adversary": "local", "unit": "record", "adjacency": "replace", "epsilon_spent": $4,
 "unbounded": $unbounded, "epsilon_budget": $5, "delta": $6}}
END
}
# answer K CODE: stdin is the body
answer() {
    local body
    body=$(cat; echo x) body=${body%x}
    printf 'HTTP/1.1 %s X\r\nContent-Length: %d\r\n\r\n%s' "$2" "${#body}" "$body" >"answers/$1"
}

mkdir answers
node ward-a running null 0.25 2 1e-05 | answer 0 200
node ward-b waiting '"the disk is full"' null null 1e-05 1234 | answer 1 200
node 'evil\u001b[2J\u009b\nname' running null 0.5 null 1e-06 | answer 2 200
echo '{"schema": "something/1"}' | answer 3 200
echo '{"schema": "tacit.node/1", "node": "cut' | answer 4 200
echo 'no' | answer 5 500
printf 'garbage' >answers/6
printf 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{}' >answers/7
: >answers/8
mkfifo hold
python3 server.py 9 <hold &
server=$!
exec 9>hold
for _ in $(seq 100); do
    [ -e ports ] && break
    sleep 0.1
done
read -r -a port <ports || complain "the server of this test does not start"

# ---- a table ----
says "ward-a running 12.5 of 100 3 4/2/1 12,345 678 0.25 of 2 9" "$TACIT" status "127.0.0.1:${port[0]}"
says 'at delta 1e-05 for one record (adjacency replace), against an adversary "local"' \
    "$TACIT" status "${port[0]}"
says "ward-b waiting 12.5 of 100 3 4/2/1 12,345 678 unbounded 9" "$TACIT" status "${port[1]}"
says "ward-b only listens: the disk is full" "$TACIT" status "${port[1]}"
says "ward-b cannot keep up: it skipped 1,234 ticks that were late, at no cost" "$TACIT" status "${port[1]}"
# Two kinds of epsilon: each with its own note.
says "0.25 of 2 [1]" "$TACIT" status "${port[0]}" "${port[2]}"
says "0.5, no limit [2]" "$TACIT" status "${port[0]}" "${port[2]}"
says "[2] epsilon: the most that an agent of the node has spent, of its budget, at delta 1e-06" \
    "$TACIT" status "${port[0]}" "${port[2]}"
# says() looks for escape codes, too.
says 'evil?[2J??name' "$TACIT" status "${port[2]}"

# ---- JSON ----
"$TACIT" status --json "${port[0]}" "${port[2]}" >all.json || complain "--json: exit $?"
python3 - <<'END' || complain "--json is not what it should be: $(cat all.json)"
import json
all = json.load(open("all.json"))
assert all["schema"] == "tacit.nodes/1"
assert [n["reached"] for n in all["nodes"]] == [True, True]
assert all["nodes"][0]["status"]["node"] == "ward-a"
assert all["nodes"][1]["status"]["privacy"]["epsilon_budget"] is None
END

# ---- who cannot be reached ----
# lost PATTERN WORDS...: exit 4, the table has PATTERN, stderr counts
lost() {
    local pattern=$1
    shift
    "$TACIT" status "$@" >out.txt 2>err.txt
    local got=$?
    [ $got -eq 4 ] || complain "exit $got, not 4: $*"
    tr -s ' \n' ' ' <out.txt | grep -qF -- "$pattern" || complain "no '$pattern' from: $*: $(cat out.txt)"
    grep -q '^tacit: .* cannot be reached$' err.txt || complain "no words: $*: $(cat err.txt)"
}
lost "does not answer: its answer is not the status of a node" "${port[3]}"
lost "does not answer: its answer is not the status of a node" "${port[4]}"
lost "does not answer: it answers with code 500" "${port[5]}"
lost "does not answer: its answer is not HTTP" "${port[6]}"
lost "does not answer: its answer was cut" "${port[7]}"
lost "no answer - - - - - - -" "${port[8]}"
lost "ward-a running" "${port[0]}" 127.0.0.1:1 # the others are shown all the same
lost "127.0.0.1:1 does not answer: Connection refused" "${port[0]}" 127.0.0.1:1
grep -q '^tacit: 1 of 2 nodes cannot be reached$' err.txt || complain "not counted: $(cat err.txt)"
"$TACIT" status --json 127.0.0.1:1 >out.txt 2>err.txt
[ $? -eq 4 ] || complain "--json: not exit 4"
grep -q '"reached": false, "problem": "Connection refused"' out.txt || complain "--json: no reason: $(cat out.txt)"
lost "no answer" --watch 127.0.0.1:1 # nobody to watch

# ---- folders and files ----
mkdir -p peers/node-000/state peers/node-001 peers/node-002/elsewhere peers/other
echo "node: {name: a}" >peers/node-000/node.yaml
echo "${port[0]}" >peers/node-000/state/status.port
echo "node: {name: b, status: '127.0.0.1:${port[1]}'}" >peers/node-001/node.yaml
echo "node: {name: c, folder: elsewhere}" >peers/node-002/node.yaml
lost "node-002 does not answer: it does not run" peers
lost "ward-a running" peers
lost "ward-b waiting" peers
echo "127.0.0.1:${port[2]}" >peers/node-002/elsewhere/status.port
says "name running" "$TACIT" status peers
says "ward-a running" "$TACIT" status peers/node-000
says "ward-a running" "$TACIT" status peers/node-000/node.yaml
says "ward-a running" "$TACIT" status peers/node-000/state
says "ward-b waiting" "$TACIT" status peers/node-001/node.yaml
(cd peers/node-000 && says "ward-a running" "$TACIT" status && exit $failed) || failed=1

# ---- wrong words ----
expect 3 'no node in "peers/other"' "$TACIT" status peers/other
expect 3 '"nowhere" is no folder, no node.yaml and no HOST:PORT of a node' "$TACIT" status nowhere
expect 3 '"host:99999" is no folder' "$TACIT" status host:99999
echo "node: {folder: [1]}" >bad.yaml
expect 3 'bad.yaml' "$TACIT" status bad.yaml
echo "12345678" >peers/node-000/state/status.port
expect 3 'expected HOST:PORT' "$TACIT" status peers/node-000
expect 2 'unknown flag' "$TACIT" status --jsno

# ---- watching: again and again, and Ctrl-C is how it ends ----
"$TACIT" status --watch "${port[0]}" >watch.txt 2>err.txt &
watch=$!
for _ in $(seq 100); do
    [ "$(grep -c '^ward-a' watch.txt)" -ge 2 ] && break
    sleep 0.1
done
[ "$(grep -c '^ward-a' watch.txt)" -ge 2 ] || complain "--watch looks once: $(cat watch.txt)"
kill -TERM $watch
wait $watch || complain "--watch: exit $?: $(cat err.txt)"

exec 9>&-
wait $server

# ---- real nodes: what they show while they run, and their logs ----
cat >small.yaml <<'END'
run: {name: small, time: 60, seed: 3}
data: {agents: 4, dimension: 3, min-records: 10, max-records: 20}
privacy: {mechanism: gaussian, clip: 1, epsilon: 5, releases: 100}
END
"$TACIT" up 2 small.yaml --out real --unit 0.1 --quiet >up.txt 2>&1 &
up=$!
for _ in $(seq 100); do
    "$TACIT" status real >out.txt 2>/dev/null && break
    sleep 0.1
done
[ "$(grep -c '^node-00[01]' out.txt)" -eq 2 ] || complain "no two nodes: $(cat out.txt up.txt)"
"$TACIT" status real --json >real.json || complain "--json of real nodes: exit $?"
cat >scrape.py <<'END'
import json, re, urllib.error, urllib.request
port = open("real/node-000/state/status.port").read().strip()
where = "http://" + (port if ":" in port else "127.0.0.1:" + port)
text = urllib.request.urlopen(where + "/metrics").read().decode()
types = {}
for line in text.splitlines():
    if line.startswith("# TYPE "):
        types[line.split()[2]] = line.split()[3]
    elif not line.startswith("#"):
        name, labels, value = re.fullmatch(r'(\w+)(\{.*\})? (\S+)', line).groups()
        assert name in types and float(value) >= 0, line
        if "epsilon" in name:
            for key in ("adversary", "unit", "adjacency", "delta"):
                assert key + '="' in labels, line
assert types["tacit_agent_epsilon_spent"] == "gauge" and types["tacit_messages_total"] == "counter"
assert json.load(urllib.request.urlopen(where + "/health")) == {"status": "ok"}
nodes = json.load(open("real.json"))["nodes"]
assert {n["status"]["node"] for n in nodes} == {"node-000", "node-001"}
try:
    urllib.request.urlopen(where + "/identity.key")
    assert False
except urllib.error.HTTPError as e:
    assert e.code == 404
END
python3 scrape.py || complain "what a node shows is not what it should be"
kill -INT $up # how it ends is the subject of up.sh
wait $up
cat >logs.py <<'END'
import json, re
def once(pairs):
    assert len(dict(pairs)) == len(pairs), pairs
    return dict(pairs)
for k in range(2):
    lines = [json.loads(l, object_pairs_hook=once) for l in open("real/node-00%d/log.jsonl" % k)]
    assert "started" in [l["event"] for l in lines]
    for l in lines:
        assert list(l)[:4] == ["time", "level", "event", "node"], l
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", l["time"]), l
        assert l["level"] in ("debug", "info", "warn", "error") and l["node"] == "node-00%d" % k, l
        assert re.fullmatch("[a-z_]+", l["event"]), l
END
python3 logs.py || complain "a log is not what it should be"
exit $failed
