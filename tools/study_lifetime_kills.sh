#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make study STUDY=lifetime_kills: 200 times kill -9 over three runs of two protocols by real nodes, and
# after each what the lifetime ledger says against all that was released (tools/lifetime_kills.py); a
# fourth run must be refused. Writes lifetime_kills.csv, one line per death. About ten minutes.
# e2e/lifetime_kills is the same with few kills.
set -eu
export LC_ALL=C
tacit=${TACIT:-build/tacit}
results=${RESULTS:-bench/results}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$results"
python3 tools/lifetime_kills.py --tacit "$tacit" --kills "${KILLS:-200}" --out "$work/runs" >"$work/lifetime_kills.csv"
mv "$work/lifetime_kills.csv" "$results/lifetime_kills.csv"
echo "$results/lifetime_kills.csv: $(grep -c ',kill,' "$results/lifetime_kills.csv") deaths, all covered: $(! grep -q ',no$' "$results/lifetime_kills.csv" && echo yes)"
