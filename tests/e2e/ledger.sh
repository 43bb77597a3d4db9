#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tacit ledger: whole ledgers are shown, cut or edited ones refused with 6, unsealed ones told.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"

cat >small.yaml <<'END'
run: {name: small, time: 20, seed: 3}
data: {agents: 12, dimension: 5, min-records: 10, max-records: 20}
privacy: {mechanism: gaussian, clip: 1, epsilon: 5, releases: 4}
END
"$TACIT" run small.yaml --out a -q >/dev/null || complain "run failed"
"$TACIT" run small.yaml --out b -q --threads 2 >/dev/null || complain "run failed"
cmp a/ledger.jsonl b/ledger.jsonl || complain "equal runs have different ledgers"
ledger=a/ledger.jsonl

says "whole" "$TACIT" ledger verify $ledger
says "12 agents" "$TACIT" ledger show $ledger
says "gaussian" "$TACIT" ledger show $ledger
"$TACIT" ledger show $ledger --json | cmp - $ledger || complain "show --json is not the ledger"
head -n 1 $ledger | grep -q '"epsilon_budget":5,"delta":1e-05' || complain "no budget in the first line"
head -n 1 $ledger | grep -q '"adversary":"local","unit":"record","adjacency":"replace"' ||
    complain "the first line does not say against whom"
tail -n 1 $ledger | grep -q '^{"seal":"end","entries":[0-9]*,"mac":"[0-9a-f]\{64\}"}$' ||
    complain "no seal at the end"

# Any edit, any cut: 6, and the line is named.
for edit in 's/"noise":/"noise":1/' 's/"releases":4/"releases":3/' 's/"agent":5/"agent":6/' '5d' '$d' \
    '3{h;d};4G' '2p' 's/"delta":1e-05/"delta":1e-04/' 's/:/: /' 's/"epsilon_budget":5/"epsilon_budget":50/'; do
    sed "$edit" $ledger >edited.jsonl
    ! cmp -s edited.jsonl $ledger || complain "sed $edit changes nothing"
    expect 6 "line" "$TACIT" ledger verify edited.jsonl
    expect 6 "line" "$TACIT" ledger show edited.jsonl
done
size=$(wc -c <$ledger)
for cut in 5 100 300 $((size / 2)) $((size - 1)); do
    head -c "$cut" $ledger >cut.jsonl
    expect 6 "cut" "$TACIT" ledger verify cut.jsonl
done

# A claim is marked, in the first line too.
"$TACIT" run small.yaml --out claim -q --set privacy.claimed=true >/dev/null || complain "run with a claim"
head -n 1 claim/ledger.jsonl | grep -q '"claimed":true' || complain "the first line keeps a claim to itself"
! head -n 1 $ledger | grep -q claimed || complain "the first line speaks of a claim"
says "UNSOUND sensitivities were claimed" "$TACIT" ledger show claim/ledger.jsonl
"$TACIT" ledger show claim/ledger.jsonl | grep -qE '^ .*gaussian .* 4  UNSOUND$' || complain "no mark beside a claim"
! "$TACIT" ledger show $ledger | grep -q UNSOUND || complain "a sound ledger is called unsound"

# By hand: fine, but no seal to check.
echo '{"mechanism":"laplace","sensitivity":1,"noise":2,"releases":3}' >hand.jsonl
expect 1 "no seal" "$TACIT" ledger verify hand.jsonl
says "none" "$TACIT" ledger show hand.jsonl
echo '{"mechanism":"laplace","sensitivity":-1,"noise":2}' >>hand.jsonl
expect 3 'line 2: "sensitivity"' "$TACIT" ledger show hand.jsonl

# A peer's file whose beginning was destroyed is no bad JSON.
head -c 5000 /dev/zero >peer
head -c 32 $ledger >peer.key
chmod 600 peer.key
expect 6 "peer" "$TACIT" ledger verify peer
chmod 640 peer.key
expect 3 "open to others" "$TACIT" ledger verify peer

expect 2 "verify" "$TACIT" ledger
expect 2 "frobnicate" "$TACIT" ledger frobnicate $ledger
expect 2 "one ledger" "$TACIT" ledger verify
expect 2 "one ledger" "$TACIT" ledger verify $ledger $ledger
expect 2 "show" "$TACIT" ledger verify $ledger --json
expect 3 "nowhere" "$TACIT" ledger show nowhere
expect 3 "nowhere.key" "$TACIT" ledger show $ledger --key nowhere.key
exit $failed
