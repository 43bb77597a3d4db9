#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tacit keygen: identities are made once, are their owner's alone, and can be compared.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"

"$TACIT" keygen >made.txt 2>err.txt || complain "keygen: $(cat err.txt)"
[ "$(stat -c %a identity.key)" = 600 ] || complain "identity.key is open to others"
grep -q "stays on this machine" err.txt || complain "no word about the secret: $(cat err.txt)"
key=$(sed -n 's/^public key *//p' made.txt)
fingerprint=$(sed -n 's/^fingerprint *//p' made.txt)
[[ $key =~ ^[0-9a-f]{64}$ ]] || complain "no public key in: $(cat made.txt)"
[[ $fingerprint =~ ^([0-9a-f]{4}\ ){7}[0-9a-f]{4}$ ]] || complain "no fingerprint in: $(cat made.txt)"
[ "$(cat identity.key.pub)" = "$key" ] || complain "identity.key.pub is not the public key"

# The secret half is in the file and nowhere else.
secret=$(grep -oE '[0-9a-f]{64}' identity.key)
! grep -q "$secret" made.txt err.txt identity.key.pub || complain "the secret was shown"

# Shown again, from either file.
for file in identity.key identity.key.pub; do
    says "public key $key" "$TACIT" keygen --show $file
    says "fingerprint $fingerprint" "$TACIT" keygen --show $file
    "$TACIT" keygen --show $file --json >show.json 2>err.txt || complain "--json: $(cat err.txt)"
    [ ! -s err.txt ] || complain "remarks while showing: $(cat err.txt)"
    python3 - "$key" "$fingerprint" <<'PY' || complain "JSON: $(cat show.json)"
import json, sys
shown = json.load(open("show.json"))
assert shown["schema"] == "tacit.key/1" and shown["key"] == sys.argv[1], shown
assert shown["fingerprint"] == sys.argv[2], shown
PY
done
says "$key" "$TACIT" keygen -s # identity.key by default

# Nothing is replaced.
cp identity.key before.key
expect 3 'identity.key' "$TACIT" keygen
cmp -s identity.key before.key || complain "an identity was replaced"
echo x >other.key.pub
expect 3 'other.key.pub' "$TACIT" keygen other.key
[ ! -e other.key ] || complain "half an identity was left"
expect 3 'nowhere/id.key' "$TACIT" keygen nowhere/id.key

# Two are different.
"$TACIT" keygen second.key -q >second.txt 2>err.txt || complain "second"
[ ! -s err.txt ] || complain "remarks in spite of --quiet: $(cat err.txt)"
! cmp -s identity.key second.key || complain "two equal identities"

# What is no identity.
expect 3 'neither an identity' "$TACIT" keygen --show second.txt
expect 3 'nowhere.key' "$TACIT" keygen --show nowhere.key
: >empty.key
expect 3 'neither an identity' "$TACIT" keygen --show empty.key
head -c 40 identity.key >cut.key
chmod 600 cut.key
expect 3 'not an identity file' "$TACIT" keygen --show cut.key
chmod 640 identity.key
expect 3 'open to others' "$TACIT" keygen --show identity.key
printf '02%062d\n' 0 >off.pub # no point of the curve
expect 3 'neither an identity' "$TACIT" keygen --show off.pub
expect 2 'one path' "$TACIT" keygen a b

# ---- a line in the list of members ----
member() { "$TACIT" keygen "$1.key" --members list.csv --name "$1" --endpoint "$2" --agents "$3"; }
member ward-a tcp://127.0.0.1:7400 0-4 >out.txt 2>err.txt || complain "--members: $(cat err.txt)"
grep -q 'listed  *as "ward-a" in list.csv' out.txt || complain "not told: $(cat out.txt)"
printf '# somebody wrote this by hand\nby-hand,%s,,9' "$(cat second.key.pub)" >>list.csv # no newline at the end
member ward-b "" "5 7-8" >out.txt 2>err.txt || complain "a second member: $(cat err.txt)"
[ "$(cat list.csv)" = "name,key,endpoint,agents
ward-a,$(cat ward-a.key.pub),tcp://127.0.0.1:7400,0-4
# somebody wrote this by hand
by-hand,$(cat second.key.pub),,9
ward-b,$(cat ward-b.key.pub),,5 7-8" ] || complain "the list: $(cat list.csv)"
# Somebody else's key, from the file that came by mail.
"$TACIT" keygen third.key -q >/dev/null
says 'listed as "ward-c" in list.csv' "$TACIT" keygen --show third.key.pub -m list.csv -n ward-c -a 10
tail -n 1 list.csv | grep -qx "ward-c,$(cat third.key.pub),,10" || complain "$(cat list.csv)"

# What the list does not take makes no key, and leaves the list as it was.
cp list.csv before.csv
expect 3 'list.csv:7: name "ward-a"; another member has this name' \
    "$TACIT" keygen no.key --members list.csv --name ward-a --agents 20
expect 3 'agent 3 is hosted on line 2 already' "$TACIT" keygen no.key -m list.csv -n ward-d -a 3
expect 3 'endpoint "tcp://127.0.0.1:7400"; another member' \
    "$TACIT" keygen no.key -m list.csv -n ward-d -a 20 -e tcp://127.0.0.1:7400
expect 3 'endpoint "udp://x:1"' "$TACIT" keygen no.key -m list.csv -n ward-d -a 20 -e udp://x:1
expect 3 'list.csv:7' "$TACIT" keygen no.key -m list.csv -n 'a,b' -a 20
expect 2 'without control characters' "$TACIT" keygen no.key -m list.csv -n "$(printf 'a\nb')" -a 20
expect 2 '"#a" cannot be the name' "$TACIT" keygen no.key -m list.csv -n '#a' -a 20
expect 3 'key' "$TACIT" keygen --show third.key.pub -m list.csv -n ward-d -a 20
expect 2 '--members needs --name' "$TACIT" keygen no.key --members list.csv --agents 20
expect 2 '--members needs --agents' "$TACIT" keygen no.key --members list.csv --name ward-d
expect 2 '--agents is for a list of members' "$TACIT" keygen no.key --agents 20
expect 3 'cannot write "nowhere/list.csv"' "$TACIT" keygen no.key -m nowhere/list.csv -n ward-d -a 20
expect 3 'third.key.pub:1' "$TACIT" keygen no.key -m third.key.pub -n ward-d -a 20
# No room for the line: half of one must not stay.
cp list.csv full.csv
printf '#%*s\n' $((4096 - 22 - $(stat -c %s full.csv))) '' >>full.csv
cp full.csv full.before
expect 3 'cannot write "full.csv"' bash -c "trap '' XFSZ; ulimit -f 4; exec \"\$0\" \"\$@\"" \
    "$TACIT" keygen no.key -m full.csv -n ward-d -a 20
cmp -s full.csv full.before || complain "half a line was left: $(tail -c 100 full.csv)"
[ ! -e no.key ] && [ ! -e no.key.pub ] || complain "a key that nobody lists was left"
cmp -s list.csv before.csv || complain "the list was changed: $(cat list.csv)"
exit $failed
