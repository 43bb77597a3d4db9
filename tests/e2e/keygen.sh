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
exit $failed
