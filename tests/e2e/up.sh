#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tacit up: an experiment by real processes. It ends by itself with what a simulation finds, Ctrl-C
# ends all of them, who dies is told or started again, and nobody is left behind.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"

command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }

cat >small.yaml <<'END'
run: {name: small, time: 60, every: 0, seed: 3}
data: {agents: 12, dimension: 4, test-records: 20, validation-records: 0}
protocol: {name: cd}
END
cat >secret.yaml <<'END'
run: {name: secret, time: 8, every: 0, seed: 3}
data: {agents: 6, dimension: 3, min-records: 30, max-records: 40}
privacy: {mechanism: gaussian, clip: 1, epsilon: 2, releases: 5}
END

# ---- wrong words: nothing is started, nothing is left ----
expect 2 'no experiment; expected how many nodes and a file' "$TACIT" up
expect 2 'one word alone; expected how many nodes and a file' "$TACIT" up small.yaml
expect 2 'the number of nodes is "0"; expected an integer from 1' "$TACIT" up 0 small.yaml
expect 2 'the number of nodes is "-1"' "$TACIT" up -- -1 small.yaml
expect 2 'the number of nodes is "3x"' "$TACIT" up 3x small.yaml
expect 2 'the number of nodes is "99999999999999999999"' "$TACIT" up 99999999999999999999 small.yaml
expect 2 'the number of nodes is "small.yaml"' "$TACIT" up small.yaml 3
expect 2 'unexpected word "b.yaml"' "$TACIT" up 3 small.yaml b.yaml
expect 2 '5 nodes need ports up to 65537' "$TACIT" up 5 small.yaml --port 65533
expect 2 '"node.key" is tacit up'"'"'s to set' "$TACIT" up 3 small.yaml --set node.key=x
expect 3 'cannot open "nowhere.yaml"' "$TACIT" up 3 nowhere.yaml
expect 3 'did you mean "node.heartbeat"?' "$TACIT" up 3 small.yaml --set node.hearbeat=1
expect 3 '--set: "consortium.end" is "never"' "$TACIT" up 3 small.yaml --set consortium.end=never
expect 3 '13 nodes for 12 agents: every node hosts at least one; use at most 12' "$TACIT" up 13 small.yaml
expect 3 'needs everybody' "$TACIT" up 3 small.yaml --set protocol.name=global
mkdir there
expect 3 '"there" exists; remove it or use another --out' "$TACIT" up 3 small.yaml --out there
python3 -c '
import socket, sys, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(1)
print(s.getsockname()[1], flush=True); sys.stdin.read()' < <(sleep 600 & echo $! >sleeper; wait) >port.txt &
holder=$!
for _ in $(seq 100); do
    [ -s port.txt ] && break
    sleep 0.1
done
port=$(cat port.txt)
expect 4 "port $port cannot be used: Address already in use; choose another --port" \
    "$TACIT" up 3 small.yaml --port "$port" --out taken
kill $holder "$(cat sleeper)"
[ ! -e runs ] && [ ! -e taken ] || complain "a refused run left a folder: $(ls)"

# children PID: of that process
children() { cat "/proc/$1/task/$1/children" 2>/dev/null; }
# gone PID...: all of them, soon
gone() {
    local pid
    for _ in $(seq 300); do
        for pid; do
            [ ! -e "/proc/$pid" ] || grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null || break
            shift
        done
        [ $# -eq 0 ] && return
        sleep 0.1
    done
    complain "still there: $*"
}
# running PID COUNT FOLDER: wait until that many nodes answer
running() {
    for _ in $(seq 300); do
        [ "$("$TACIT" status "$3" 2>/dev/null | grep -c ' running ')" -eq "$2" ] && return
        kill -0 "$1" 2>/dev/null || break
        sleep 0.1
    done
    complain "no $2 nodes run in $3: $("$TACIT" status "$3" 2>&1)"
}

# ---- to the end: what a simulation finds ----
"$TACIT" up 5 small.yaml --unit 0.1 --set consortium.end=ticks --json >up.json 2>err.txt ||
    complain "up: exit $?: $(cat err.txt)"
"$TACIT" run small.yaml --out simulated --quiet --json >run.json || complain "run"
python3 - <<'END' || complain "the result is not a simulation's: $(cat up.json)"
import json
up, run = json.load(open("up.json")), json.load(open("run.json"))
assert up["schema"] == "tacit.up/1" and up["complete"] is True
assert (up["nodes"], up["agents"], up["nodes_dead"], up["deaths"]) == (5, 12, 0, 0), up
assert up["agents_without_model"] == 0 and up["frames_refused"] == 0
now = up["metrics"]
assert 0 <= now["objective_gap"] < 1e-5 and now["largest_distance"] < 1e-2, now
assert abs(now["test_accuracy"] - run["metrics"]["test_accuracy"]) < 0.01
assert up["privacy"]["unbounded"] is True and up["privacy"]["epsilon"] is None
assert up["ticks"] == 12 * 60 and up["messages"] > 0 and up["bytes"] == up["messages"] * 4 * 8
assert up["folder"] is None
END
[ ! -e runs ] || complain "the folder of a run that ended well is still there"

# ---- noise: what is spent is within the budget, and on the disk ----
(umask 0; "$TACIT" up 3 secret.yaml --unit 0.1 --out secret --json --quiet >secret.json 2>err.txt) ||
    complain "private run: $(cat err.txt)"
[ ! -s err.txt ] || complain "--quiet is not: $(cat err.txt)"
python3 - <<'END' || complain "privacy of real peers: $(cat secret.json)"
import json
private = json.load(open("secret.json"))["privacy"]
assert 0 < private["epsilon"] <= 2 and private["unbounded"] is False, private
assert 6 <= private["releases"] <= 6 * 5
assert (private["adversary"], private["unit"]) == ("local", "record")
END
while read -r mode path; do # what is handed to members is not secret, the rest is
    case $mode:$path in
    d700:* | f600:* | f666:secret/consortium.yaml | f666:secret/members.csv | f644:*.key.pub) ;;
    *) complain "$path is open to others (mode $mode)" ;;
    esac
done < <(find secret -printf '%y%m %p\n')
[ -e secret/node-000/state/models.npy ] && [ -e secret/node-000/identity.key ] || complain "no models or keys"
[ ! -e secret/node-000/state/status.port ] || complain "status.port of a node that has ended"
for file in secret/node-00?/log.jsonl; do
    python3 -c 'import json, sys; [json.loads(line) for line in open(sys.argv[1])]' "$file" ||
        complain "$file is not JSON lines"
    key=$(sed 's/.* //' "$(dirname "$file")/identity.key")
    ! grep -qF "$key" "$file" || complain "a secret key in $file"
done

# ---- Ctrl-C: everybody ends, and what was reached is told; the same for SIGTERM ----
for signal in INT TERM; do
    "$TACIT" up 4 small.yaml --unit 1 --out cut-$signal >out.txt 2>err.txt &
    up=$!
    running $up 4 cut-$signal
    nodes=$(children $up)
    [ "$(wc -w <<<"$nodes")" -eq 4 ] || complain "not four processes: $nodes"
    kill -s $signal $up
    wait $up
    [ $? -eq 130 ] || complain "$signal: not exit 130: $(cat err.txt)"
    # shellcheck disable=SC2086
    gone $nodes
    grep -qF "interrupted; what the nodes have is in \"cut-$signal\"" err.txt || complain "$(cat err.txt)"
    grep -q 'not complete' out.txt || complain "$signal: nothing said of what was reached: $(cat out.txt)"
    grep -q 'nodes  *4 done, 0 dead' out.txt || complain "$signal: $(cat out.txt)"
    for k in 0 1 2 3; do
        [ -s cut-$signal/node-00$k/state/models.npy ] || complain "$signal: no models of node $k"
    done
done

# ---- twice: at once; and if tacit up is killed, its nodes go, too ----
for signals in "INT INT" KILL; do
    rm -rf twice
    "$TACIT" up 3 small.yaml --unit 1 --out twice --quiet >/dev/null 2>&1 &
    up=$!
    running $up 3 twice
    nodes=$(children $up)
    for signal in $signals; do kill -s "$signal" $up; done
    wait $up 2>/dev/null
    # shellcheck disable=SC2086
    gone $nodes
done

# ---- kill -9 ----
"$TACIT" up 4 small.yaml --unit 0.2 --restart --out again --json >again.json 2>err.txt &
up=$!
running $up 4 again
set -- $(children $up)
kill -9 "$2"
wait $up || complain "--restart: exit $?: $(cat err.txt)"
grep -q 'note: node-001 died: killed by signal 9 (Killed); it is started again' err.txt ||
    complain "not told that it died: $(cat err.txt)"
python3 - <<'END' || complain "killed and restarted: $(cat again.json)"
import json
up = json.load(open("again.json"))
assert (up["complete"], up["nodes_dead"], up["deaths"], up["restarts"]) == (True, 0, 1, 1), up
assert up["agents_without_model"] == 0 and up["metrics"]["objective_gap"] < 1e-3, up
END

"$TACIT" up 4 small.yaml --unit 0.2 --out dead >out.txt 2>err.txt &
up=$!
running $up 4 dead
set -- $(children $up)
kill -9 "$3"
wait $up
[ $? -eq 4 ] || complain "a dead node: not exit 4: $(cat err.txt)"
grep -qF '1 of 4 nodes died; node-002: killed by signal 9 (Killed); see "dead/node-002/log.jsonl"' err.txt ||
    complain "$(cat err.txt)"
grep -q 'nodes  *3 done, 1 dead' out.txt || complain "$(cat out.txt)"
grep -q 'without a model  *3 agents' out.txt || complain "who has no model is not told: $(cat out.txt)"

# ---- a screen gets a table that stays in its place; and a real Ctrl-C reaches everybody once ----
cat >screen.py <<'END'
import fcntl, os, pty, select, struct, sys, termios, time
try:
    pid, fd = pty.fork()
except OSError:
    sys.exit(77)
if pid == 0:
    os.environ["TERM"] = "xterm"
    fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    os.execv(os.environ["TACIT"], ["tacit", "up", "3", "small.yaml", "--out", "screen"])
text, typed, began = b"", False, time.time()
while time.time() - began < 60:
    if select.select([fd], [], [], 0.1)[0]:
        try:
            piece = os.read(fd, 65536)
        except OSError:
            break
        if not piece:
            break
        text += piece
    if text.count(b"node-002  running ") >= 2 and not typed:
        os.write(fd, b"\x03")
        typed = True
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
text = text.decode()
assert typed and code == 130, (code, text)
assert "\033[6A" in text, "the table is not drawn in its place: " + text
assert "Ctrl-C ends all" in text, text
assert "3 done, 0 dead; 0 deaths" in text, text
END
python3 screen.py
code=$?
[ $code -eq 0 ] || [ $code -eq 77 ] || complain "on a screen"
exit $failed
