#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ratings from the outside: examples/movielens.yaml on made-up ratings, what is said of leaks,
# and files that are broken.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"
example=$TACIT_SOURCE_DIR/examples/movielens.yaml
export TACIT_DATA=$TMP/data
u_data=$TACIT_DATA/movielens-100k/u.data
mkdir -p "${u_data%/*}"

# 60 users of two kinds, 40 items of two kinds, ratings 1 to 5.
awk 'BEGIN {
    x = 12345
    for (u = 60; u >= 1; u--) for (i = 1; i <= 40; i++) {
        x = (x * 16807) % 2147483647
        if (x % 3 == 0) printf "%d\t%d\t%d\t88%d\n", u, i, 3 + (u + i) % 2 * 2 - 1 + x % 2, x
    } }' >"$u_data"

# run ARGUMENTS: a run in small
run() {
    rm -rf run
    "$TACIT" run "$example" --quiet --json --out run --set data.factors=3 --set run.time=30 "$@" \
        >out.json 2>err.txt
}
figure() { sed -n "s/.*\"$1\": \([-0-9.e]*\).*/\1/p" out.json; }

run || complain "the example: $(cat err.txt)"
for what in features offsets graph; do
    grep '"leaks"' out.json | grep -q "$what" || complain "nothing is said of $what: $(cat out.json)"
done
grep -q '"agents": 60' out.json || complain "agents: $(cat out.json)"
cp out.json first.json
run --threads 2
cmp -s first.json out.json || complain "two threads give something else: $(cat err.txt)"
awk "BEGIN { exit !($(figure test_rmse) < 0.8) }" || complain "rmse $(figure test_rmse)"
sort -R --random-source=<(yes) "$u_data" | gzip >"$u_data.gz"
run --set data.path=movielens-100k/u.data.gz
cmp -s first.json out.json || complain "the order of lines matters: $(cat err.txt)"

# refuse WORDS ARGUMENTS: exit code 3, these words, no folder.
refuse() {
    words=$1
    shift
    run "$@"
    [ $? = 3 ] || complain "exit code of: $words"
    grep -q -- "$words" err.txt || complain "\"$words\" is not in: $(cat err.txt)"
    [ ! -e run ] || complain "a folder in spite of: $words"
}

seq 1 59 >users.txt
refuse 'u.data:1: user "60" is not in data.agents-path' --set data.agents-path=users.txt
seq 61 | sed 's/$/|24|M/' >users.txt # one more than there are: an agent without records
run --set data.agents-path=users.txt || complain "a list: $(cat err.txt)"
grep -q '"agents": 61' out.json || complain "the list is not who there is: $(cat out.json)"

cp "$u_data" whole
printf '%s' "$(sed '$s/\t[^\t]*$//' whole)" >"$u_data"
refuse 'fields, but 4 in the lines before; is the file cut' --set run.name=cut
{ cat whole; sed -n 7p whole; } >"$u_data"
refuse 'already in line 7; keep one' --set run.name=twice
sed '9s/\t[1-5]\t/\tmany\t/' whole >"$u_data"
refuse 'u.data:9: rating "many"' --set run.name=words
head -c 3000 /dev/urandom >"$u_data"
refuse 'u.data' --set run.name=noise
: >"$u_data"
refuse 'holds no rating' --set run.name=empty
rm "$u_data"
refuse 'u.data' --set run.name=nothing

# The study says what it needs.
(cd "$TACIT_SOURCE_DIR" && RESULTS=$TMP/none tools/study_movielens.sh) >out.txt 2>err.txt
[ $? = 2 ] || complain "the study without data"
grep -q 'set TACIT_DATA' err.txt || complain "the study's words: $(cat err.txt)"
[ ! -e none ] || complain "results without data"
exit $failed
