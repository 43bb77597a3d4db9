#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make study STUDY=consensus: tables 1, 2 and 5 of paper 004 on MNIST (docs/reproduce.md), as rows:
# what, ours, low, high, the paper's, the least that counts as reached, and whether it is. TACIT_DATA
# is the folder that holds mnist/. TABLES="1 5" runs these alone; FULL=yes all that the paper has,
# with five trials: many hours.
#
# Writes 004_table1.csv, ... to bench/results/, each when its table is done.
set -eu
export LC_ALL=C
tacit=${TACIT:-build/tacit}
results=${RESULTS:-bench/results}
if [ ! -e "${TACIT_DATA:-.}/mnist/train-images-idx3-ubyte.xz" ]; then
    echo "there is no mnist/train-images-idx3-ubyte.xz in \"${TACIT_DATA:-.}\"; set TACIT_DATA to the" \
        "folder that holds it (\"tacit data --known\" says where to get it)" >&2
    exit 2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$results"
for table in ${TABLES:-1 2 5}; do
    "$tacit" reproduce "004-table$table" ${FULL:+--full} --out "$work/$table"
    python3 - "$work/$table/summary.json" "$work/rows.csv" <<'PY'
import csv, json, sys
fields = ["what", "ours", "low", "high", "paper", "least", "reached"]
with open(sys.argv[2], "w", newline="") as out:
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(fields)
    for row in json.load(open(sys.argv[1]))["rows"]:
        values = [row.get(field) for field in fields]
        rows.writerow("" if v is None else "%.5g" % v if isinstance(v, float) else v for v in values)
PY
    mv "$work/rows.csv" "$results/004_table$table.csv"
done
