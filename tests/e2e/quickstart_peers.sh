#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# docs/quickstart-peers.md, command by command from a fresh copy of the examples: fewer than ten, in
# order, and what comes out looks as the page says. Only ports are others, which are free here.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"
page=$TACIT_SOURCE_DIR/docs/quickstart-peers.md

command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
# blocks LANGUAGE: the text inside ```LANGUAGE fences, each block ended by a line ---
blocks() {
    awk -v fence="\`\`\`$1" '$0 == fence { inside = 1; next } /^```/ && inside { inside = 0; print "---" } inside' "$page"
}
# shape: figures, keys and the width of a column may differ
shape() { sed -E 's/[0-9a-f]{64}/KEY/; s/([0-9a-f]{4} ){7}[0-9a-f]{4}/FINGERPRINT/; s/[0-9.]+(e-[0-9]+)?/N/g; s/ +/ /g; s/ +$//'; }
# block N: the N-th of the texts that the page shows
block() { blocks text | awk -v n="$1" 'BEGIN { at = 1 } $0 == "---" { at++; next } at == n' | shape; }
# looks N WHAT: standard input is as block N shows it
looks() { shape | diff <(block "$1") - || complain "$2: not as block $1 of the page"; }

python3 -c '
import socket
held = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
print(*(s.getsockname()[1] for s in held))' >ports || exit 1
read -r bay harbour island <ports
blocks bash | grep -v '^---$' |
    sed "s/127.0.0.1:7400/127.0.0.1:$bay/; s/127.0.0.1:7401/127.0.0.1:$harbour/; s/127.0.0.1:7402/127.0.0.1:$island/" >commands
count=$(wc -l <commands)
[ "$count" -eq 9 ] || complain "nine commands are promised, $count found"

cp -r "$TACIT_SOURCE_DIR/examples" examples
tacit() { "$TACIT" "$@"; }
trap 'kill $(jobs -p) 2>/dev/null' EXIT
step=0
while read -r command; do
    step=$((step + 1))
    case $step in
    7) # the two that were started are soon there
        for _ in $(seq 300); do
            [ "$(tacit status clinics/bay clinics/harbour 2>/dev/null | grep -c ' meeting .* 1/0/1 ')" = 2 ] && break
            sleep 0.1
        done ;;
    esac
    eval "{ $command
    }" >out.$step 2>err.$step || complain "step $step: $command: exit $?: $(cat err.$step)"
done <commands
wait

looks 1 "keygen" <out.2
looks 2 "status" <out.7
looks 3 "ledger" <out.9
[ "$(cut -d, -f1,3,4 clinics/members.csv)" = "name,endpoint,agents
bay,tcp://127.0.0.1:$bay,0
harbour,tcp://127.0.0.1:$harbour,1
island,tcp://127.0.0.1:$island,2" ] || complain "the list: $(cat clinics/members.csv)"
for event in peer_met started agents_done ended; do
    grep -q "^    ..:..:.. $event " "$page" || complain "the page does not show $event"
    grep -q "\"event\":\"$event\"" err.8 || complain "island never said $event: $(cat err.8)"
done
# Ten releases of thirty expected wakes: a false alarm in 50,000 runs. What a busy machine says again
# too early is a replay, and no fault.
python3 - <<'PY' || complain "what the peers left: $(cat clinics/*/state/summary.json)"
import json
for name in "bay", "harbour", "island":
    s = json.load(open("clinics/%s/state/summary.json" % name))
    assert s["phase"] == "ended" and s["frames_refused"]["all"] == s["frames_refused"]["replay"], s
    assert s["agents"][0]["releases"] == 10 and 3.9 < s["privacy"]["epsilon_spent"] <= 4, s
    assert s["traffic"]["messages_in"] > 10 and s["privacy"]["epsilon_budget"] == 4, s
PY
for file in models.npy agent-2.ledger agent-2.ledger.key node.db summary.json; do
    [ -s clinics/island/state/$file ] || complain "no $file, which the page names"
done
[ "$(stat -c %a clinics/island/state/models.npy)" = 600 ] || complain "models.npy is open to others"
exit $failed
