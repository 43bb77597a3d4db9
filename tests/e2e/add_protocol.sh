#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# docs/adding-a-protocol.md, done: one file and one line, and the program knows the protocol.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"
if [ ! -e "$TACIT_BUILD_DIR/libtacit.a" ] || [ ! -e "$TACIT_BUILD_DIR/tacit.pc" ]; then
    echo "this build (sanitizers) needs flags that are not known here"
    exit 0
fi
source=$TACIT_SOURCE_DIR page=$TACIT_SOURCE_DIR/docs/adding-a-protocol.md

# What the page shows is what examples/protocol/hello.c says.
awk '/^```c$/ { inside = 1; next } /^```/ { if (inside) print "\f"; inside = 0 } inside' "$page" |
    python3 -c '
import sys
hello = open(sys.argv[1]).read()
pieces = [piece.strip("\n") for piece in sys.stdin.read().split("\f") if piece.strip()]
assert len(pieces) >= 5, len(pieces)
for piece in pieces:
    if piece not in hello:
        sys.exit("not in hello.c:\n" + piece)
' "$source/examples/protocol/hello.c" || complain "the page shows another protocol than hello.c"

# The two steps. Everything but the registry comes from the library as it is.
cp "$source/examples/protocol/hello.c" average.c
line='    X(average)            \'
grep -qxF "$line" "$page" || complain "the page shows another line for the registry"
awk -v line="${line/\\/\\\\}" '{ print } /^    X\(cd\)/ { print line }' "$source/src/protocol/registry.c" >registry.c
[ "$(diff "$source/src/protocol/registry.c" registry.c | grep -c '^[<>]')" = 1 ] ||
    complain "the registry has another shape now"
needed=$(sed -n 's/^Requires.private: //p' "$TACIT_BUILD_DIR/tacit.pc")
# shellcheck disable=SC2046,SC2086
cc -std=c17 -D_GNU_SOURCE -Wall -Wextra -Werror -I"$source/include" -I"$source/src" -I"$source/cli" \
    "$source"/cli/*.c average.c registry.c -o tacit "$TACIT_BUILD_DIR/libtacit.a" \
    $(pkg-config --libs $needed) -lm -lpthread || exit 1

# Options, help and errors come from the table.
./tacit help protocols | tr -s ' \n' ' ' >help.txt
grep -q 'by gossip' help.txt && grep -q 'keep: 0.5' help.txt || complain "help: $(cat help.txt)"
./tacit run "$source/examples/separators.yaml" --set protocol.name=average \
    --set protocol.keep=2 2>err.txt
grep -q '"protocol.keep" is "2"; expected a number from 0.01 to 0.99' err.txt ||
    complain "range: $(cat err.txt)"

# And it finds the mean that the summary knows: records / agents.
for threads in 1 2; do
    ./tacit run "$source/examples/separators.yaml" --set protocol.name=average --quiet \
        --out run-$threads --threads $threads >/dev/null || complain "run, $threads threads"
done
cmp -s run-1/metrics.csv run-2/metrics.csv || complain "threads show"
python3 - <<'PY' || complain "not the mean"
import csv, json
run = json.load(open("run-1/summary.json"))
found = [float(row["value"]) for row in csv.DictReader(open("run-1/metrics.csv")) if row["name"] == "average"]
want = run["records"] / run["agents"]
assert len(found) == 10 and all(abs(value - want) < 1e-3 * want for value in found), (want, found)
assert run["privacy"]["epsilon"] == 0 and run["privacy"]["releases"] == 0
PY
exit $failed
