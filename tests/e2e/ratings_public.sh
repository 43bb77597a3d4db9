#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ratings without leaks, from the outside: the examples on made-up films and users, that they say
# an epsilon and no leak, what "tacit data" shows, and files that are broken.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"
export TACIT_DATA=$TMP/data
films=$TACIT_DATA/movielens-100k
mkdir -p "$films"

# 60 users of two kinds, 40 items of two kinds, ratings 1 to 5; titles in Latin-1.
awk 'BEGIN {
    x = 12345
    for (u = 60; u >= 1; u--) for (i = 1; i <= 40; i++) {
        x = (x * 16807) % 2147483647
        if (x % 3 == 0) printf "%d\t%d\t%d\t88%d\n", u, i, 3 + (u + i) % 2 * 2 - 1 + x % 2, x
    } }' >"$films/u.data"
awk 'BEGIN { for (i = 1; i <= 41; i++)
    printf "%d|Caf\351 \"%d\" (19%d)|0%d-Jan-19%d||http://a/%d|%d|%d|0\n",
        i, i, 50 + i, i % 9 + 1, 50 + i, i, i % 2, i % 5 == 0 }' >"$films/u.item"
awk 'BEGIN { for (u = 1; u <= 60; u++)
    printf "%d|%d|%s|%s|0%d\n", u, 20 + u % 40, u % 2 ? "M" : "F", u % 3 ? "baker" : "writer",
        1000 + u }' >"$films/u.user"

# run WAY ARGUMENTS: a run in small
run() {
    way=$1
    shift
    rm -rf run
    "$TACIT" run "$TACIT_SOURCE_DIR/examples/movielens-$way.yaml" --quiet --json --out run \
        --set run.time=20 --set privacy.releases=10 "$@" >out.json 2>err.txt
}
figure() { sed -n "s/.*\"$1\": \([-0-9.e]*\).*/\1/p" out.json | head -n 1; }

for way in public fifth; do
    run $way || complain "the example: $(cat err.txt)"
    grep -q '"leaks": \[\]' out.json || complain "$way leaks: $(cat out.json)"
    awk "BEGIN { e = $(figure epsilon); exit !(e > 0.5 && e <= 1) }" ||
        complain "epsilon of $way: $(figure epsilon)"
    cp out.json first.json
    run $way --threads 2
    cmp -s first.json out.json || complain "two threads give something else: $(cat err.txt)"
done
grep -q '"agents": 48' out.json || complain "a fifth of 60 users are agents: $(cat out.json)"
rm -rf run
"$TACIT" run "$TACIT_SOURCE_DIR/examples/movielens-chorus.yaml" --quiet --json --out run \
    >out.json 2>err.txt || complain "the example of chorus: $(cat err.txt)"
grep -q '"leaks": \[\]' out.json || complain "chorus leaks: $(cat out.json)"
awk "BEGIN { e = $(figure epsilon); exit !(e > 0.5 && e <= 1) }" ||
    complain "epsilon of chorus: $(figure epsilon)"
run fifth --set data.whiten=true --set data.bound=none || complain "whitened: $(cat err.txt)"
grep -q '"leaks": \[\]' out.json || complain "public moments leak: $(cat out.json)"
people="--set data.profile=users --set data.users=movielens-100k/u.user --set graph.kind=nearest"
# shellcheck disable=SC2086
run public $people || complain "a graph of profiles: $(cat err.txt)"
grep -q '"leaks": \[\]' out.json || complain "public profiles leak: $(cat out.json)"
run public --set data.offset=user
grep '"leaks"' out.json | grep -q offsets || complain "own means do not leak: $(cat out.json)"
run public --set data.profile=ratings --set graph.kind=nearest
grep '"leaks"' out.json | grep -q graph || complain "ratings as profiles do not leak"

"$TACIT" data "$TACIT_SOURCE_DIR/examples/movielens-fifth.yaml" >out.txt 2>&1
grep -q u.item out.txt || complain "tacit data does not name u.item: $(cat out.txt)"

# refuse WORDS WAY ARGUMENTS: exit code 3, these words, no folder.
refuse() {
    words=$1
    shift
    run "$@"
    [ $? = 3 ] || complain "exit code of: $words"
    grep -q -- "$words" err.txt || complain "\"$words\" is not in: $(cat err.txt)"
    [ ! -e run ] || complain "a folder in spite of: $words"
}
refuse 'data.whiten takes moments of public features' public --set data.whiten=true \
    --set data.features=als --set data.items=
refuse 'data.users' public --set data.profile=users
refuse 'data.public-users is 0' fifth --set data.public-users=0
refuse 'makes 60 public' fifth --set data.public-users=1
refuse 'graph.kind' public --set graph.kind=nearest
refuse 'cannot open "nowhere"' public --set data.items=nowhere
cp "$films/u.item" whole
printf '%s' "$(sed '$s/|0$//' whole)" >"$films/u.item"
refuse 'u.item:41: 7 fields, but 8 in the first line; is the file cut' public
sed 3d whole >"$films/u.item"
refuse 'item "3" is not in data.items' public
{ cat whole; sed -n 7p whole; } >"$films/u.item"
refuse 'u.item:42: item "7" stands there twice' public
cut -d'|' -f1,2 whole | sed 's/|.*/|same/' >"$films/u.item"
refuse 'says nothing that tells one item from another' public
head -c 3000 /dev/urandom >"$films/u.item"
refuse 'u.item' public
: >"$films/u.item"
refuse 'describes no item' public
cp whole "$films/u.item"
sed -i 5d "$films/u.user"
# shellcheck disable=SC2086
refuse 'user "5" has ratings but is not in data.users' public $people

# The study says what it needs.
rm -r "$films"
(cd "$TACIT_SOURCE_DIR" && RESULTS=$TMP/none tools/study_movielens_private.sh) >out.txt 2>err.txt
[ $? = 2 ] || complain "the study without data"
grep -q 'set TACIT_DATA' err.txt || complain "the study's words: $(cat err.txt)"
[ ! -e none ] || complain "results without data"
exit $failed
