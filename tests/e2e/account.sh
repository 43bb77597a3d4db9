#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tacit account: figures beside closed forms, what is refused, curves, ledgers.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"

account() { "$TACIT" account "$@"; }
# json NAME WORDS...: the answer in NAME.json
json() {
    local name=$1
    shift
    account "$@" --json >"$name.json" 2>err.txt || complain "exit $?: account $* --json: $(cat err.txt)"
    [ ! -s err.txt ] || complain "words on stderr: account $* --json: $(cat err.txt)"
}

# ---- figures ----
json sgd gaussian --noise-multiplier 1 --sampling 0.01 --steps 10000 --delta 1e-5 --adjacency add-remove
json sgd_replace gaussian --noise-multiplier 1 --sampling 0.01 --steps 10000 --delta 1e-5
json plain gaussian --sigma 3 --sensitivity 1 --steps 4 --delta 1e-6
json multiplier gaussian --noise-multiplier 6 --steps 4 --delta 1e-6
json multiplier_remove gaussian --noise-multiplier 3 --steps 4 --delta 1e-6 --adjacency add-remove
json five gaussian --sigma 15 --sensitivity 1 --steps 4 --delta 1e-6 --group 5
json zero gaussian --noise-multiplier 1 --delta 0
json laplace laplace --scale 4 --sensitivity 2 --steps 6
json laplace_zero laplace --scale 4 --sensitivity 2 --steps 6 --delta 0
json laplace_group laplace --scale 4 --sensitivity 1 --steps 6 --group 2
json discrete discrete-gaussian --sigma 3 --sensitivity 1 --steps 4 --delta 1e-6
json discrete_laplace discrete-laplace --scale 4 --sensitivity 2 --steps 6
json truth randomized-response --categories 4 --truth 0.7 --steps 3
json response randomized-response --categories 4 --epsilon 1.9459101490553132 --steps 3
json answers randomized-response --categories 4 --truth 0.7 --steps 3 --group 2
json answers_twice randomized-response --categories 4 --truth 0.7 --steps 6
json pure pure --epsilon 0.1 --steps 100 --delta 1e-6
json pure_group pure --epsilon 0.02 --steps 100 --delta 1e-6 --group 5
json approximate approximate --epsilon 0.1 --release-delta 1e-9 --steps 100 --delta 1e-6
json zcdp zcdp --rho 0.05 --steps 2
json zcdp_group zcdp --rho 0.0125 --steps 2 --group 2
failing=(approximate --epsilon 0.05 --release-delta 1e-8 --steps 100 --group 2)
json failing_more "${failing[@]}" --delta 2.05e-6
json failing_less "${failing[@]}" --delta 2.06e-6
json shuffled shuffle --agents 10000 --epsilon 1 --delta 1e-6
json shuffled_often shuffle --agents 10000 --epsilon 1 --delta 1e-6 --steps 10
python3 - <<'PY' || complain "figures"
import json, math
load = lambda name: json.load(open(name + ".json"))
epsilon = lambda name: load(name)["epsilon"]
def close(a, b, relative):
    assert abs(a - b) <= relative * abs(b), (a, b)
def gaussian_delta(mu, e):
    phi = lambda x: math.erfc(-x / math.sqrt(2)) / 2
    return phi(mu / 2 - e / mu) - math.exp(e) * phi(-mu / 2 - e / mu)
def gaussian_epsilon(mu, delta):
    low, high = 0, 100
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(mu, middle) > delta else (low, middle)
    return high

# An independent accountant gives 6.1877 for this (pessimistic, interval 1e-4).
sgd = load("sgd")
assert sgd["schema"] == "tacit.account/1" and list(sgd)[:2] == ["schema", "epsilon"]
assert set(sgd["epsilon"]) == {"pld", "pld_optimistic", "rdp", "zcdp", "gdp", "kov", "sum"}
assert 6.15 < sgd["epsilon"]["pld_optimistic"] <= sgd["epsilon"]["pld"] < 6.1877 * 1.005, sgd
assert sgd["epsilon"]["pld"] < sgd["epsilon"]["rdp"] < 7.5
assert sgd["epsilon"]["gdp"] is None and sgd["epsilon"]["zcdp"] is None and sgd["unbounded"] == []
assert sgd["adjacency"] == "add-remove" and sgd["unit"] == "record" and sgd["delta"] == 1e-5
assert sgd["best"] == {"accountant": "pld", "epsilon": sgd["epsilon"]["pld"]}
assert sgd["mechanism"] == "gaussian" and sgd["parameters"] == {
    "noise_multiplier": 1, "sampling": 0.01, "steps": 10000, "group": 1}
replace = load("sgd_replace")
assert replace["adjacency"] == "replace" and replace["epsilon"]["pld"] > 1.5 * sgd["epsilon"]["pld"]

# Gaussians without sampling are known exactly: mu = sqrt(4)/3.
exact = gaussian_epsilon(2 / 3, 1e-6)
for name in ("plain", "multiplier", "multiplier_remove"):
    e = epsilon(name)
    close(e["gdp"], exact, 1e-8)
    assert e["pld_optimistic"] <= exact * (1 + 1e-9) and exact <= e["pld"] * (1 + 1e-12) < 1.005 * exact, e
    assert e["rdp"] > exact and e["zcdp"] > exact and e["sum"] is None and e["kov"] is None
close(epsilon("five")["gdp"], exact, 1e-8) # five records hide in five times the noise
assert load("five")["unit"] == "user" and load("five")["parameters"]["group"] == 5
zero = load("zero")
assert all(v is None for v in zero["epsilon"].values()) and zero["best"] is None
assert "pld" in zero["unbounded"] and "gdp" in zero["unbounded"], zero

for name in ("laplace", "laplace_zero", "laplace_group", "discrete_laplace"):
    close(epsilon(name)["sum"], 3, 1e-12)
    assert load(name)["best"]["epsilon"] <= 3
assert epsilon("laplace")["pld"] < epsilon("laplace")["kov"] <= 3
close(epsilon("discrete")["pld"], exact, 0.01)

close(epsilon("truth")["sum"], 3 * math.log(7), 1e-12) # 0.7 against 0.1
close(epsilon("response")["sum"], 3 * math.log(7), 1e-12)
close(epsilon("truth")["pld"], epsilon("response")["pld"], 1e-6)
assert epsilon("answers") == epsilon("answers_twice") # each record answers
# Kairouz, Oh, Viswanath: the worked values of the reference are 4.775 exact and 5.756 by them.
for name in ("pure", "pure_group"):
    e = epsilon(name)
    close(e["sum"], 10, 1e-12)
    close(e["kov"], 5.756, 1e-3) if name == "pure" else None
    assert 4.774 < e["pld"] < 4.775 * 1.005 and e["pld"] < e["kov"] < e["sum"], e
close(epsilon("approximate")["sum"], 10, 1e-12)
assert epsilon("approximate")["pld"] < epsilon("approximate")["sum"]
assert epsilon("zcdp_group") == epsilon("zcdp") # 4 times as much
# Two records fail 1 + e^0.05 = 2.0513 times as often as one.
assert "sum" in load("failing_more")["unbounded"] and load("failing_more")["best"] is None
close(epsilon("failing_less")["sum"], 10, 1e-12)
# rho and delta give an epsilon; the textbook bound is rho + 2 sqrt(rho log(1/delta)).
assert 0 < epsilon("zcdp")["zcdp"] <= 0.1 + 2 * math.sqrt(0.1 * math.log(1e5)) + 1e-12
once, often = load("shuffled"), load("shuffled_often")
assert 0 < once["best"]["epsilon"] < 0.5 < 1 and once["best"]["epsilon"] < often["best"]["epsilon"] < 10
assert "shuffler" in once["adversary"]
PY

# ---- noise for a budget: what is found is never over it, and nearly all of it ----
budget=(--target-epsilon 1 --delta 1e-6)
json g gaussian "${budget[@]}" --sampling 0.01 --steps 1000
json g_rdp gaussian "${budget[@]}" --sampling 0.01 --steps 1000 --by rdp
json g_sigma gaussian "${budget[@]}" --sensitivity 4 --steps 3 --by gdp
json l laplace "${budget[@]}" --sensitivity 3 --by sum --steps 5
json dg discrete-gaussian "${budget[@]}" --sensitivity 1
json dl discrete-laplace "${budget[@]}" --sensitivity 1 --steps 10
json rr randomized-response --categories 3 "${budget[@]}" --steps 4 --by sum
json p pure "${budget[@]}" --steps 10 --by kov
json p_group pure "${budget[@]}" --steps 10 --by sum --group 4
json z zcdp "${budget[@]}" --steps 10
json s shuffle "${budget[@]}" --agents 10000
json s_often shuffle "${budget[@]}" --agents 10000 --steps 3
python3 - <<'PY' || complain "noise for a budget"
import json
load = lambda name: json.load(open(name + ".json"))
for name in "g g_rdp g_sigma l dg dl rr p p_group z s s_often".split():
    a = load(name)
    by = a["target"]["by"]
    spent = a["epsilon"][by]
    assert a["target"]["epsilon"] == 1 and spent == a["target"]["spent"]
    assert 1 - 2e-5 < spent <= 1, (name, spent)
    assert a["best"]["epsilon"] <= spent
found = lambda name, key: load(name)["parameters"][key]
assert found("g", "noise_multiplier") < found("g_rdp", "noise_multiplier")
assert abs(found("l", "scale") - 15) < 1e-4 and found("l", "scale") >= 15
assert abs(found("rr", "epsilon") - 0.25) < 1e-6 and abs(found("p_group", "epsilon") - 0.025) < 1e-6
assert found("s", "epsilon") > 1 and found("s_often", "epsilon") < found("s", "epsilon")
assert "sigma" in load("g_sigma")["parameters"] and load("p")["target"]["by"] == "kov"
assert load("g")["target"]["by"] == "pld" and load("z")["target"]["by"] == "zcdp"
PY
# The number in the words is the one that was checked.
found=$(account gaussian "${budget[@]}" --steps 7 | sed -n 's/.*noise multiplier \([0-9.]*\):.*/\1/p')
json again gaussian --noise-multiplier "$found" --delta 1e-6 --steps 7
python3 -c 'import json; e = json.load(open("again.json"))["epsilon"]["pld"]; assert 0.9999 < e <= 1, e' ||
    complain "the printed noise multiplier $found does not keep the budget"

# ---- words ----
says 'epsilon unbounded at delta 0' account gaussian --noise-multiplier 1 --delta 0
says 'allow them a small probability' account gaussian --noise-multiplier 1 --delta 0
says 'not who took part' account gaussian --noise-multiplier 1 --sampling 0.1
says 'replace: one record is another' account pure --epsilon 1
says 'add-remove: one record is there or not' account pure --epsilon 1 --adjacency add-remove
says 'user: 3 records of one person together' account pure --epsilon 1 --group 3
says 'epsilons added up <- quote this' account pure --epsilon 1 --delta 0
says 'nothing: knows no sampling' account gaussian --noise-multiplier 1 --sampling 0.1
says 'found noise multiplier' account gaussian --target-epsilon 1
for words in 'gaussian --noise-multiplier 1 --sampling 0.01' 'shuffle --agents 5000 --epsilon 1' \
    'randomized-response --categories 4 --truth 0.7' 'gaussian --target-epsilon 1 --delta 1e-9'; do
    # shellcheck disable=SC2086
    account $words | awk 'length($0) > 80 { exit 1 }' || complain "account $words: over 80 columns"
done
"$TACIT" help account | awk 'length($0) > 80 { exit 1 }' || complain "help account: over 80 columns"

"$TACIT" help --completion bash >completion.bash
bash -c 'compopt() { :; }; source ./completion.bash; COMP_WORDS=(tacit account disc); COMP_CWORD=2
    _tacit; echo "${COMPREPLY[@]}"' >offered.txt
grep -qx 'discrete-gaussian discrete-laplace' offered.txt || complain "completion: $(cat offered.txt)"
for word in $(sed -n "s/^    account) words='\(.*\)' ;;/\1/p" completion.bash | tr ' ' '\n' | grep -v ^--); do
    account "$word" 2>&1 | grep -q 'unknown mechanism' && complain "completion offers $word"
done

# ---- what is refused ----
expect 2 'which mechanism?' account
expect 2 'unknown mechanism "gausian"; did you mean "gaussian"?' account gausian
expect 2 'unknown mechanism "potato"; expected one of gaussian' account potato
expect 2 'unexpected word "laplace"; one mechanism at a time' account gaussian laplace
expect 2 '"--scale" does not go with gaussian, which takes --noise-multiplier' account gaussian --scale 1
expect 2 '"--sampling" does not go with shuffle' account shuffle --agents 10 --epsilon 1 --sampling 0.1
expect 2 '"--by" does not go with compose' account compose x --by pld
expect 2 '"--target-epsilon" does not go with approximate' account approximate --target-epsilon 1
expect 2 'how much noise? gaussian needs --noise-multiplier or --sigma' account gaussian
expect 2 'how much noise? laplace needs --scale' account laplace --sensitivity 1
expect 2 'laplace needs --sensitivity' account laplace --scale 1
expect 2 'gaussian needs --sensitivity' account gaussian --sigma 1
expect 2 'randomized-response needs --categories' account randomized-response --epsilon 1
expect 2 'approximate needs --release-delta' account approximate --epsilon 1
expect 2 'shuffle needs --agents' account shuffle --epsilon 1
expect 2 '--noise-multiplier or --sigma, not all of them' account gaussian --noise-multiplier 1 --sigma 1
expect 2 '"--sensitivity" does not go with --noise-multiplier' account gaussian --noise-multiplier 1 --sensitivity 1
for bad in -1 nan inf 1x ''; do
    expect 2 "\"--noise-multiplier\" is" account gaussian "--noise-multiplier=$bad"
    expect 2 "\"--delta\" is" account gaussian --noise-multiplier 1 "--delta=$bad"
    expect 2 "\"--epsilon\" is" account pure "--epsilon=$bad"
    expect 2 "\"--steps\" is" account pure --epsilon 1 "--steps=$bad"
done
expect 2 '"--sigma" is "0"; expected a number above 0' account gaussian --sigma 0 --sensitivity 1
expect 2 'expected a number above 0, at least 1e-30' account gaussian --sigma 1e-31 --sensitivity 1
expect 2 '"--sigma" is "1e31"; expected a number from 0 to 1e30' account gaussian --sigma 1e31 --sensitivity 1
expect 2 '"--sampling" is "1.01"; expected a number from 0 to 1' account gaussian --noise-multiplier 1 --sampling 1.01
expect 2 '"--sampling" is "0"; expected a number above 0' account gaussian --noise-multiplier 1 --sampling 0
expect 2 '"--steps" is "0"; expected an integer from 1' account pure --epsilon 1 --steps 0
expect 2 '"--steps" is "1e18"; expected an integer from 1' account pure --epsilon 1 --steps 1e18
expect 2 '"--steps" is "1.5"; expected an integer from 1' account pure --epsilon 1 --steps 1.5
expect 2 '"--delta" is "1"; expected a number below 1' account pure --epsilon 1 --delta 1
expect 2 '"--delta" is "2"; expected a number from 0 to 1' account pure --epsilon 1 --delta 2
expect 2 'did you mean "add-remove"?' account pure --epsilon 1 --adjacency addremove
expect 2 'did you mean "pld"?' account gaussian --target-epsilon 1 --by plt
expect 2 '"--by" goes with --target-epsilon' account gaussian --noise-multiplier 1 --by pld
expect 2 '"--target-epsilon" is "0"; expected a number above 0' account gaussian --target-epsilon 0
expect 2 '"--target-epsilon" is "-1"; expected a number from 0 to 1e30' account gaussian --target-epsilon -1
expect 2 '"--sigma" does not go with --target-epsilon, which finds it' \
    account gaussian --sigma 1 --sensitivity 1 --target-epsilon 1
expect 2 '"--truth" is 0.2, less than by chance' account randomized-response --categories 4 --truth 0.2
expect 2 'hides nothing' account randomized-response --categories 4 --truth 1
expect 2 '"--categories" is "1"' account randomized-response --categories 1 --epsilon 1
expect 2 '"--group" does not go with sampling' account gaussian --noise-multiplier 1 --sampling 0.1 --group 2
expect 2 '"--sensitivity" is 0.5; expected a whole number' account discrete-gaussian --sigma 1 --sensitivity 0.5
# No noise is enough at delta 0, nor by an accountant that does not know the mechanism.
expect 3 'tacit: ' account gaussian --target-epsilon 1 --delta 0
expect 3 'tacit: ' account gaussian --target-epsilon 1 --by sum
expect 3 '"kov" has nothing to say about zcdp' account zcdp --target-epsilon 1 --by kov
expect 2 'beyond the integers' account discrete-gaussian --sigma 1e13 --sensitivity 1
expect 2 '--force needs --plot' account pure --epsilon 1 --force

# ---- the curve ----
account gaussian --noise-multiplier 1 --steps 10 --plot curve.svg >/dev/null || complain "--plot"
python3 - <<'PY' || complain "the curve is not what it should be"
import xml.dom.minidom
text = open("curve.svg").read()
page = xml.dom.minidom.parseString(text)
words = [t.firstChild.data for t in page.getElementsByTagName("text") if t.firstChild]
assert "delta" in words and "epsilon" in words and "Epsilon at every delta" in words
assert "pld, gdp" in words and "rdp, zcdp" in words, words # those are alike here
assert not any("sum" in word or "kov" in word for word in words)
PY
expect 3 'cannot make "curve.svg": File exists; use --force to replace it' \
    account pure --epsilon 1 --plot curve.svg
account pure --epsilon 1 --steps 3 --plot curve.svg --force >/dev/null || complain "--plot --force"
grep -q 'kov' curve.svg || complain "--force did not replace the curve"
expect 3 'cannot make "nowhere/x.svg"' account pure --epsilon 1 --plot nowhere/x.svg
expect 3 'tacit: ' account gaussian --target-epsilon 1 --delta 0 --plot never.svg
[ ! -e never.svg ] || complain "a refused question left a curve behind"

# ---- ledgers ----
cat >hand.jsonl <<'LINES'
{"mechanism":"gaussian","sensitivity":1,"noise":3,"releases":4}
{"agent":1,"mechanism":"laplace","sensitivity":2,"noise":4,"releases":6}
{"agent":2,"mechanism":"gaussian","sensitivity":1,"noise":3,"releases":1}
{"agent":2,"mechanism":"gaussian","sensitivity":1,"noise":3,"releases":3}
{"agent":3,"mechanism":"response","categories":4,"noise":1.9459101490553132,"releases":3}
LINES
json hand compose hand.jsonl --delta 1e-6
json hand1 compose hand.jsonl --agent 1
json hand3 compose hand.jsonl --agent 3
json hand2 compose hand.jsonl --agent 2 --delta 1e-6 --group 5
json hand2_alone gaussian --sigma 3 --sensitivity 5 --steps 4 --delta 1e-6
python3 - <<'PY' || complain "figures of a ledger"
import json
load = lambda name: json.load(open(name + ".json"))
same = lambda a, b: load(a)["epsilon"] == load(b)["epsilon"]
hand = load("hand")
assert hand["mechanism"] == "compose" and hand["ledger"]["seal"] == "none" and hand["ledger"]["agents"] == 4
assert (hand["ledger"]["releases_least"], hand["ledger"]["releases_most"]) == (3, 6)
assert [a["agents"] for a in hand["accounts"] if a["agent"] == 0] == [2] # agents 0 and 2 spent alike
epsilons = [a["best"]["epsilon"] for a in hand["accounts"]]
assert len(epsilons) == 3 and epsilons == sorted(epsilons, reverse=True)
assert hand["best"]["epsilon"] == epsilons[0] and hand["adjacency"] == "replace"
assert [a["epsilon"] for a in hand["accounts"] if a["agent"] == 0] == [load("plain")["epsilon"]]
assert same("hand1", "laplace") and same("hand3", "response") and same("hand2", "hand2_alone")
assert load("hand2")["unit"] == "user"
PY
says 'agents 4, with 3 to 6 releases each' account compose hand.jsonl
says 'seal none' account compose hand.jsonl
# Of many who differ, those whom nobody outdoes are asked about.
python3 - <<'PY'
with open("chain.jsonl", "w") as f:
    for i in range(500):
        f.write('{"agent":%d,"mechanism":"gaussian","sensitivity":1,"noise":20,"releases":%d}\n' % (i, 50 + i % 60))
with open("crossed.jsonl", "w") as f:
    for i in range(100):
        f.write('{"agent":%d,"mechanism":"gaussian","sensitivity":1,"noise":20,"releases":%d}\n' % (i, 100 + i))
        f.write('{"agent":%d,"mechanism":"gaussian","sensitivity":1,"noise":30,"releases":%d}\n' % (i, 300 - i))
PY
json chain compose chain.jsonl
json chain_worst gaussian --sigma 20 --sensitivity 1 --steps 109
json crossed compose crossed.jsonl
json crossed7 compose crossed.jsonl --agent 7
python3 - <<'PY' || complain "the worst of many"
import json
load = lambda name: json.load(open(name + ".json"))
chain, crossed = load("chain"), load("crossed")
assert chain["epsilon"] == load("chain_worst")["epsilon"] and chain["ledger"]["exact"] is True
assert chain["accounts"][0]["agent"] == 59 and chain["accounts"][0]["agents"] == 8
assert crossed["ledger"]["exact"] is False and crossed["accounts"][0]["agent"] is None
assert crossed["best"]["epsilon"] > load("crossed7")["best"]["epsilon"]
PY
expect 3 'cannot open "nowhere.jsonl"' account compose nowhere.jsonl
expect 2 'which ledger?' account compose
expect 2 'unexpected word "b"; one ledger at a time' account compose a b
expect 2 '"--agent" is "x"' account compose hand.jsonl --agent x
expect 3 'agent 9' account compose hand.jsonl --agent 9
(head -1 hand.jsonl; echo '{"mechanism":"potato"}') >bad.jsonl
expect 3 'line 2' account compose bad.jsonl
printf '{"mechanism":"gaussian","sensitivity":1,"noise":-3,"releases":4}\n' >bad.jsonl
expect 3 'noise' account compose bad.jsonl
printf '{"mechanism":"gaussian","sensitivity":1,"noi' >bad.jsonl
expect 3 'line 1' account compose bad.jsonl
: >empty.jsonl
expect 3 'holds no releases' account compose empty.jsonl
(cat hand.jsonl; echo '{"adjacency":"add-remove","mechanism":"laplace","sensitivity":1,"noise":2,"releases":1}') >mixed.jsonl
expect 3 '"adjacency" is another than before' account compose mixed.jsonl

# ---- what a run wrote is sealed, and any change shows ----
printf 'run: {name: small, time: 5, every: 0}\ndata: {agents: 12, dimension: 4}\n' >small.yaml
"$TACIT" run small.yaml --quiet --out bare >/dev/null || complain "run"
"$TACIT" run small.yaml --quiet --out noisy --set privacy.mechanism=gaussian --set privacy.noise=50 \
    --set privacy.clip=1 --set privacy.delta=1e-6 --set run.name=noisy >/dev/null || complain "run with noise"
"$TACIT" run small.yaml --quiet --out silent --set protocol.name=alone >/dev/null || complain "run alone"
json bare compose bare/ledger.jsonl
json noisy compose noisy/ledger.jsonl
json silent compose silent/ledger.jsonl
python3 - <<'PY' || complain "ledgers of runs"
import json
load = lambda name: json.load(open(name + ".json"))
bare, noisy, silent = load("bare"), load("noisy"), load("silent")
assert all(a["ledger"]["seal"] == "run" for a in (bare, noisy, silent))
assert bare["best"] is None and len(bare["unbounded"]) == 6
claimed = json.load(open("noisy/summary.json"))["privacy"]
assert claimed["delta"] == noisy["delta"] == 1e-6 and noisy["ledger"]["agents"] == 12
assert abs(noisy["epsilon"]["pld"] - claimed["epsilon"]) <= 1e-12 * claimed["epsilon"], (noisy, claimed)
assert silent["best"]["epsilon"] == 0 and silent["unbounded"] == []
PY
says 'seal whole' account compose noisy/ledger.jsonl
says '<- quote this' account compose noisy/ledger.jsonl

# Nothing enforced a claim: there is nothing to quote.
"$TACIT" run small.yaml --quiet --out claim --set privacy.mechanism=gaussian --set privacy.noise=50 \
    --set privacy.clip=1 --set privacy.claimed=true >/dev/null || complain "run with a claim"
says 'claim epsilon' account compose claim/ledger.jsonl
says 'UNSOUND' account compose claim/ledger.jsonl --plot claim.svg
grep -q 'a claim, UNSOUND' claim.svg || complain "the curve of a claim keeps that to itself"
"$TACIT" account compose claim/ledger.jsonl >claim.txt
! grep -q 'quote this\|^  guarantee\|what holds' claim.txt || complain "a claim is quoted: $(cat claim.txt)"
json claim compose claim/ledger.jsonl
python3 - <<'PY' || complain "a claim in JSON"
import json
load = lambda name: json.load(open(name + ".json"))
assert load("claim")["unsound"] is True and load("noisy")["unsound"] is False
PY

# Who has no lines is not among those who spent.
"$TACIT" run small.yaml --quiet --out few --set privacy.mechanism=gaussian --set privacy.noise=50 \
    --set privacy.clip=1 --set run.time=1 >/dev/null || complain "a short run"
json few compose few/ledger.jsonl
python3 - <<'PY' >few.txt || complain "agents without lines"
import json
spoke = len({json.loads(line)["agent"] for line in list(open("few/ledger.jsonl"))[1:-1]})
few = json.load(open("few.json"))["ledger"]
assert 0 < spoke < 12 and few["agents"] == 12 and few["agents_with_releases"] == spoke, (spoke, few)
print(spoke)
PY
says "agents $(cat few.txt) of 12, with" account compose few/ledger.jsonl
says 'something was released without noise' account compose bare/ledger.jsonl
sed '2s/"releases":[0-9]*/"releases":1/' noisy/ledger.jsonl >edited.jsonl
expect 6 'line 2: it was edited' account compose edited.jsonl
sed 3d noisy/ledger.jsonl >cut.jsonl
expect 6 'line 3: it was edited, or lines before it are missing' account compose cut.jsonl
head -n -2 noisy/ledger.jsonl >cut.jsonl
expect 6 'cut' account compose cut.jsonl
head -c -20 noisy/ledger.jsonl >cut.jsonl
expect 6 'cut in the middle of this line' account compose cut.jsonl --json --plot never.svg
[ ! -e never.svg ] || complain "an edited ledger left a curve behind"
expect 3 'nowhere.key' account compose noisy/ledger.jsonl --key nowhere.key
exit $failed
