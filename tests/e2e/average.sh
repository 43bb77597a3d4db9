#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tacit average: ten real processes, one of which dies in the middle; what they publish can be added
# up by anybody, and whatever byte of it is turned, it is noticed.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"

command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }

# ---- wrong words: nothing is left ----
expect 2 'expected prepare, join, simulate or verify' "$TACIT" average
expect 2 'not "jion"' "$TACIT" average jion here
expect 2 'expected one folder' "$TACIT" average prepare
expect 2 '--range or --bins is missing' "$TACIT" average prepare talk --peers 10 --epsilon 1
expect 2 '--epsilon is missing' "$TACIT" average prepare talk --peers 10 --range 0:1
expect 2 'how many peers are there?' "$TACIT" average prepare talk --range 0:1 --epsilon 1
expect 2 '--values does not go with "tacit average prepare"' \
    "$TACIT" average prepare talk --peers 10 --range 0:1 --epsilon 1 --values three.csv
# A number on the command line would be in the list of processes.
expect 2 'who can list the processes of this machine; leave it out and type the number when asked' \
    "$TACIT" average join nowhere --value 1
expect 2 'or give it on standard input or in a file' "$TACIT" average join nowhere -v 1
expect 3 '2 peers; expected 3 to 256' "$TACIT" average prepare talk --peers 2 --range 0:1 --epsilon 1
expect 3 'the range "5:1" is not LEAST:MOST' "$TACIT" average prepare talk --peers 9 --range 5:1 --epsilon 1
expect 3 'bins say the range themselves' \
    "$TACIT" average prepare talk --peers 9 --range 0:1 --bins 0,1,2 --epsilon 1
expect 3 'state fewer colluders' \
    "$TACIT" average prepare talk --peers 9 --range 0:1 --epsilon 1 --colluders 8
expect 3 '(here: --absent, --colluders, --adders' \
    "$TACIT" average prepare talk --peers 9 --range 0:1 --epsilon 1 --colluders 5
expect 3 'expected two numbers within 1e15' "$TACIT" average prepare talk --peers 9 --range 0:1e300 --epsilon 1
expect 2 '--epsilon is missing, or 0' "$TACIT" average prepare talk --peers 9 --range 0:1 --epsilon 0
expect 3 'cannot open "nowhere/node.yaml"' "$TACIT" average join nowhere
expect 3 'cannot open "nothing.jsonl"' "$TACIT" average verify nothing.jsonl
echo '{"schema":"tacit.ledger/1"}' >ledger.jsonl
expect 3 'is no board' "$TACIT" average verify ledger.jsonl
[ ! -e talk ] || complain "a refused folder is there: $(ls -R talk)"

# ---- simulated: right but for the noise, which is said ----
seq 1 40 >values.csv
"$TACIT" average simulate values.csv --seed 1 --range 0:100 --epsilon 1000 --json >mean.json 2>err.txt ||
    complain "simulate: $(cat err.txt)"
"$TACIT" average simulate values.csv --seed 1 --range 0:100 --epsilon 1000 --what sum --unit record --json >sum.json
"$TACIT" average simulate values.csv --seed 1 --bins 0,11,21,41 --epsilon 1000 --json >bins.json
"$TACIT" average simulate values.csv --seed 1 --range 0:100 --epsilon 1000 --masks gaussian --adders curious --json >gopa.json
python3 - <<'END' || complain "simulated averages: $(cat mean.json sum.json bins.json gopa.json)"
import json
load = lambda name: json.load(open(name + ".json"))
for name, want in (("mean", [20.5]), ("gopa", [20.5]), ("sum", [820]), ("bins", [.25, .25, .5])):
    x = load(name)
    assert x["schema"] == "tacit.average/1" and x["peers"] == x["members"] == 40, x
    assert 0 < x["standard_error"] < 0.01 * max(want), x
    for have, right in zip(x["value"], want, strict=True):
        assert abs(have - right) < 6 * x["standard_error"], x
    assert 999 < x["epsilon"] <= 1000 and x["delta"] == 1e-6 and x["adversary"] == "secure"
assert load("mean")["unit"] == "user" and load("sum")["records"] == 40
END
"$TACIT" average simulate values.csv --range 0:100 --epsilon 1 >out.txt || complain "words"
grep -q 'Mean of what 40 of 40 peers hold' out.txt || complain "$(cat out.txt)"
grep -q 'epsilon 1 at delta 1e-06 for one user' out.txt || complain "$(cat out.txt)"
! grep -q rehearsal out.txt || complain "the system's noise is called a rehearsal: $(cat out.txt)"
# Nobody can subtract the noise: the same command on zeros has another. With --seed it can be
# subtracted, and all outputs say so. Four columns: that all noises of two runs agree within 0.01 of a
# standard error by chance has a probability of 1e-9.
awk 'BEGIN { for (k = 1; k <= 40; k++) print k "," 2 * k "," k + 9 "," 50 }' >four.csv
awk 'BEGIN { for (k = 1; k <= 40; k++) print "0,0,0,0" }' >zeros.csv
for name in four zeros; do
    "$TACIT" average simulate $name.csv --columns 4 --range 0:100 --epsilon 1 --json >$name.free
    "$TACIT" average simulate $name.csv --columns 4 --range 0:100 --epsilon 1 --seed 7 --json >$name.seeded
done
"$TACIT" average simulate values.csv --range 0:100 --epsilon 1 --seed 7 >out.txt
tr -s ' \n' ' ' <out.txt | grep -q 'rehearsal: this epsilon does not hold for this number' ||
    complain "no word about a seed: $(cat out.txt)"
python3 - <<'END' || complain "noise of a simulation: $(cat four.free zeros.free four.seeded)"
import json
load = lambda name: json.load(open(name))
true = [20.5, 41, 29.5, 50]
def distance(kind):
    x, zero = load("four." + kind), load("zeros." + kind)
    gaps = [abs(a - b - t) / x["standard_error"] for a, b, t in zip(x["value"], zero["value"], true)]
    return max(gaps)
assert distance("free") > 0.01, f"true means by one subtraction: off by {distance('free')} standard errors"
assert distance("seeded") < 0.01
assert load("four.free")["rehearsal"] is False and "warning" not in load("four.free")
x = load("four.seeded")
assert x["rehearsal"] is True
assert x["warning"] == "rehearsal: this epsilon does not hold for this number"
END
"$TACIT" average simulate values.csv --range 0:30 --epsilon 1000 >out.txt 2>err.txt
grep -q '10 numbers are outside of 0 to 30, and were brought to the nearer end' err.txt ||
    complain "$(cat err.txt)"
printf '1\n2\nnan\n' >bad.csv
expect 3 'bad.csv:3: "nan" is no finite number' "$TACIT" average simulate bad.csv --range 0:9 --epsilon 1
printf '1\n2\n' >two.csv
expect 3 '"two.csv" has 2 rows; expected 3 or more' "$TACIT" average simulate two.csv --range 0:9 --epsilon 1

# Killed at any moment it leaves nothing: what peers hold is never on a disk. Ctrl-C is a clean end.
seq 1 256 >many.csv
for pause in 0.02 0.1 0.4; do
    "$TACIT" average simulate many.csv --range 0:300 --epsilon 1 --masks gaussian --adders curious >out.txt 2>&1 &
    sleep $pause
    kill -9 $! 2>/dev/null
    wait $! 2>/dev/null
done
left=$(find /tmp "$TMP" -maxdepth 1 -name 'tacit-average-*' -newer values.csv 2>/dev/null)
[ -z "$left" ] || complain "a simulation left its records: $left"
"$TACIT" average simulate many.csv --range 0:300 --epsilon 1 >out.txt 2>err.txt &
pid=$!
sleep 0.3
kill -INT $pid 2>/dev/null
wait $pid
code=$?
if [ $code -ne 0 ]; then # it was not over yet
    [ $code -eq 130 ] && grep -qx 'tacit: interrupted; no average came out' err.txt && [ ! -s out.txt ] ||
        complain "Ctrl-C: exit $code: $(cat out.txt err.txt)"
fi

# ---- ten processes, one killed in the middle ----
"$TACIT" average prepare talk --peers 10 --range 0:100 --epsilon 100000 --patience 1 >out.txt ||
    complain "prepare: $(cat out.txt)"
grep -q 'peers may meet here' out.txt || complain "$(cat out.txt)"
expect 3 '"talk"' "$TACIT" average prepare talk --peers 10 --range 0:100 --epsilon 1
expect 2 'what does this peer hold?' "$TACIT" average join talk/node-000 </dev/null
expect 3 '"talk" is the folder of all peers' "$TACIT" average join talk <<<1
expect 3 'standard input:1: "inf" is no finite number' "$TACIT" average join talk/node-000 <<<inf
expect 3 'standard input:1: "inf" is no finite number' "$TACIT" average join talk/node-000 --values - <<<inf
for k in 0 1 2 3 4 5 6 7 8 9; do
    value=$((10 * k))
    [ $k -lt 9 ] || value=900 # out of range: 100
    "$TACIT" average join talk/node-00$k --json <<<$value >out.$k 2>err.$k &
    pid[k]=$!
done
for _ in $(seq 1000); do
    grep -q '"event":"started"' talk/node-004/log.jsonl 2>/dev/null && break
    sleep 0.02
done
kill -9 "${pid[4]}"
for k in 0 1 2 3 5 6 7 8 9; do
    wait "${pid[k]}" || complain "peer $k: exit $?: $(cat err.$k) $(tail -3 talk/node-00$k/log.jsonl)"
done
wait "${pid[4]}" 2>/dev/null
grep -q '1 number is outside of 0 to 100' err.9 || complain "no word about 900: $(cat err.9)"
[ ! -s err.0 ] || complain "remarks about nothing: $(cat err.0)"
python3 - <<'END' || complain "not the mean of those who took part: $(cat out.0)"
import json
held = [0, 10, 20, 30, 40, 50, 60, 70, 80, 100]
all = [json.load(open(f"out.{k}")) for k in range(10) if k != 4]
x = all[0]
assert len({(tuple(y["value"]), y["members"]) for y in all}) == 1, all
# Whether the one who was killed had said its word before is a matter of milliseconds.
who = [h for h in held if x["members"] == 10 or h != 40]
assert len(who) == x["members"], x
right = sum(who) / len(who)
print(f"mean {x['value'][0]:.4f}, right {right:.4f}, standard error {x['standard_error']:.4f}")
assert 0 < x["standard_error"] < 0.2 and abs(x["value"][0] - right) < 7 * x["standard_error"], x
assert x["epsilon"] <= 100000 and x["unit"] == "user" and x["adjacency"] == "replace"
END
for k in 0 1 2 3 5 6 7 8 9; do
    "$TACIT" ledger show talk/node-00$k/state/agent-$k.ledger | grep -q ', 1 release$' ||
        complain "peer $k was not charged once: $("$TACIT" ledger show talk/node-00$k/state/agent-$k.ledger)"
    for file in values.csv state/summary.json state/average.json; do
        [ "$(stat -c %a talk/node-00$k/$file)" = 600 ] || complain "$file is open to others"
    done
done

# ---- what was published: anybody can add it up, nobody can change it ----
board=talk/node-003/state/board.jsonl
cmp -s $board talk/node-007/state/board.jsonl || complain "two peers have different boards"
"$TACIT" average verify $board --members talk/members.csv >out.txt || complain "verify: exit $?"
grep -q 'holds' out.txt && grep -q 'does not prove' out.txt || complain "$(cat out.txt)"
"$TACIT" average verify $board --json | python3 -c '
import json, sys
x = json.load(sys.stdin)
assert x["holds"] is True and x["members_known"] is False and x["words"] in (9, 10)' ||
    complain "verify --json"
python3 - $board <<'END'
import random, sys
text = open(sys.argv[1], "rb").read()
random.seed(1)
for k in range(12):
    at, bit = random.randrange(len(text)), 1 << random.randrange(8)
    open(f"turned.{k}", "wb").write(text[:at] + bytes([text[at] ^ bit]) + text[at + 1:])
open("cut", "wb").write(text[:-1])
END
for k in 0 1 2 3 4 5 6 7 8 9 10 11; do
    expect 6 '' "$TACIT" average verify turned.$k
done
expect 6 'edited or cut' "$TACIT" average verify cut
sed '2s/,[0-9a-f]*,/,'"$(cut -d' ' -f2 talk/node-001/identity.key.pub)"',/;3d' talk/members.csv >others.csv
expect 6 'with a key that the list of members does not have' "$TACIT" average verify $board --members others.csv

# A name is what its member signed as: with another name and a fitting hash it is noticed.
python3 - $board <<'END' || complain "renaming a member"
import hashlib, sys
lines = open(sys.argv[1], "rb").read().splitlines(keepends=True)[:-1]
text = b"".join(lines).replace(b'"member":"node-003"', b'"member":"node-099"')
assert text != b"".join(lines)
digits = hashlib.blake2b(b"tacit.board/2\0" + text, digest_size=32).hexdigest()
open("renamed", "wb").write(text + b'{"end":"tacit.board/2","hash":"%s"}\n' % digits.encode())
END
expect 6 'signature' "$TACIT" average verify renamed

# ---- a state folder that was put back ----
# The others wait for one who sleeps, so that they are there when the copy comes back.
"$TACIT" average prepare back --peers 5 --range 0:100 --epsilon 1 --patience 1 --wait 60 --quiet ||
    complain "prepare back"
sed -i 's/heartbeat: .*/heartbeat: 10/' back/node-00*/node.yaml # who sleeps is not given up soon
echo 5 >five.csv # five people of one account with one number: nothing to count
"$TACIT" average join back/node-001 --lifetime off --values five.csv >/dev/null 2>&1 &
pid[1]=$!
for _ in $(seq 1000); do
    [ -e back/node-001/state/status.port ] && break
    sleep 0.02
done
kill -9 "${pid[1]}"
wait "${pid[1]}" 2>/dev/null
cp -r back/node-001/state before
for k in 0 1 2 3 4; do
    "$TACIT" average join back/node-00$k --lifetime off --values five.csv >back.$k 2>&1 &
    pid[k]=$!
done
for _ in $(seq 1000); do
    grep -q '"event":"started"' back/node-004/log.jsonl 2>/dev/null && break
    sleep 0.02
done
kill -STOP "${pid[4]}"
for _ in $(seq 1500); do
    grep -q '"event":"agents_done"' back/node-001/log.jsonl && break
    sleep 0.02
done
kill -9 "${pid[1]}"
wait "${pid[1]}" 2>/dev/null
rm -rf back/node-001/state
cp -r before back/node-001/state
expect 6 'old copy' "$TACIT" average join back/node-001 --lifetime off
for k in 0 2 3 4; do
    kill -9 "${pid[k]}"
    wait "${pid[k]}" 2>/dev/null
done
# Its word is on the board, and what it kept says that it cost nothing.
cp -r talk/node-007 talk/node-107
sed -i 's/"epsilon": [^,]*,/"epsilon": 0,/' talk/node-107/state/average.json
expect 6 'its ledger knows of no release' "$TACIT" average join talk/node-107

# ---- peers with keys of their own ----
for k in 0 1 2; do
    "$TACIT" keygen peer$k.key --members list.csv --name peer$k --endpoint tcp://127.0.0.1:$((21000 + RANDOM % 10000)) \
        --agents $k --quiet >/dev/null || complain "keygen"
done
expect 2 'which of them' "$TACIT" average prepare own --members list.csv --peers 3 --range 0:9 --epsilon 1
"$TACIT" average prepare own --members list.csv --range 0:9 --columns 2 --epsilon 100000 --patience 1 --quiet ||
    complain "prepare --members"
[ "$(find own -type f | wc -l)" -eq 4 ] || complain "other files than those of all: $(ls -R own)"
"$TACIT" keygen stranger.key --quiet >/dev/null
expect 3 'is not in "own/members.csv"' "$TACIT" average join own --key stranger.key <<<1,2
printf '1,2\n3,4\n' >rows.csv
"$TACIT" average join own --key peer0.key --values rows.csv --json >own.0 2>err.txt &
"$TACIT" average join own --key peer1.key --json <<<2,6 >own.1 2>err.txt &
"$TACIT" average join own --key peer2.key <<<5,0 >own.2 2>err.txt || complain "own key: $(cat err.txt)"
wait
python3 - <<'END' || complain "peers with keys of their own: $(cat own.0 own.1 own.2)"
import json
x, y = json.load(open("own.0")), json.load(open("own.1"))
assert x["value"] == y["value"] and x["members"] == 3, (x, y)
assert all(abs(a - b) < 7 * x["standard_error"] < 0.2 for a, b in zip(x["value"], (3, 3), strict=True)), x
assert x["board"] == "own/peer0/state/board.jsonl"
END
grep -q 'mean 2  ' own.2 || complain "no second mean in words: $(cat own.2)"

# ---- three of ten do not come, and were planned for ----
export XDG_STATE_HOME=$PWD/.few # the same numbers again: their lifetime budgets are spent
"$TACIT" average prepare few --peers 10 --range 0:100 --epsilon 100000 --absent 0.3 --patience 1 --wait 4 --quiet ||
    complain "prepare --absent 0.3"
for k in 0 1 2 3 4 5 6; do
    "$TACIT" average join few/node-00$k --json <<<$((10 * k)) >few.$k 2>err.$k &
    pid[k]=$!
done
for k in 0 1 2 3 4 5 6; do
    wait "${pid[k]}" || complain "few: peer $k: exit $?: $(cat err.$k)"
done
python3 -c 'import json; x = json.load(open("few.3")); assert x["members"] == 7, x
assert abs(x["value"][0] - 30) < 7 * x["standard_error"] < 1, x' || complain "three did not come: $(cat few.3)"

# ---- files that are not what was agreed on ----
"$TACIT" average prepare odd --peers 5 --range 0:100 --epsilon 1 --quiet || complain "prepare odd"
echo 7 >seven.csv
cp odd/question.yaml question.yaml
sed -i 's/0:100/0:200/' odd/question.yaml
expect 3 'is not the question that the run "average-' "$TACIT" average join odd/node-000 --values seven.csv
cp question.yaml odd/
cp odd/members.csv members.csv
sed -i '/^node-002,/d' odd/members.csv
expect 3 'lacks a member: nobody in it has agent 2, and 5 peers are asked, agents 0 to 4' \
    "$TACIT" average join odd/node-000
expect 3 'is not in ' "$TACIT" average join odd/node-002 --values seven.csv
cp members.csv odd/
sed -i '/^node-004,/d' odd/members.csv # the last one: no number is left out
expect 3 'lacks a member: nobody in it has agent 4' "$TACIT" average join odd/node-000
[ ! -e odd/node-000/state/board.jsonl ] || complain "it began all the same"
"$TACIT" average prepare other --peers 5 --range 0:100 --epsilon 1 --quiet
! cmp -s odd/consortium.yaml other/consortium.yaml || complain "two averages are one run"

# ---- nobody else comes ----
"$TACIT" average prepare lonely --peers 4 --range 0:100 --epsilon 1 --patience 0.5 --wait 1 --quiet || complain "prepare"
# At a terminal it asks, and what is typed does not show.
python3 - "$TACIT" <<'END' || complain "asked at a terminal: $(cat err.txt)"
import os, pty, subprocess, sys, time
ours, theirs = pty.openpty()
peer = subprocess.Popen([sys.argv[1], "average", "join", "lonely/node-000"], stdin=theirs,
                        stdout=subprocess.DEVNULL, stderr=open("err.txt", "w"))
while "what this peer holds" not in open("err.txt").read():
    time.sleep(0.02)
    assert peer.poll() is None
import termios
while termios.tcgetattr(theirs)[3] & termios.ECHO:
    time.sleep(0.02)
os.write(ours, b"61\n")
code = peer.wait()
os.set_blocking(ours, False)
try:
    shown = os.read(ours, 1000)
except BlockingIOError:
    shown = b""
assert b"61" not in shown, shown
assert termios.tcgetattr(theirs)[3] & termios.ECHO, "the terminal stays dumb"
assert code == 4 and "nothing was spent" in open("err.txt").read(), code
END
grep -qx '0,61' lonely/node-000/values.csv || complain "not what was typed: $(cat lonely/node-000/values.csv)"
"$TACIT" ledger show lonely/node-000/state/agent-0.ledger | grep -q ', 0 releases' || complain "charged for nothing"

# ---- once more: the same answer, and nothing else ----
"$TACIT" average join talk/node-003 --json 2>err.txt >again.txt || complain "again: $(cat err.txt)"
cmp -s again.txt out.3 || complain "another answer: $(cat again.txt)"
grep -q 'took part before' err.txt || complain "$(cat err.txt)"
expect 3 'held something else' "$TACIT" average join talk/node-003 --values - <<<31
"$TACIT" ledger show talk/node-003/state/agent-3.ledger | grep -q ', 1 release$' || complain "charged again"
exit $failed
