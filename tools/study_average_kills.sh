#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make study STUDY=average_kills: "tacit average" among ten real peers, one of which is killed at a
# random moment; bench/results/average_kills.csv has a row per trial. TRIALS=N: how many (60); with KEEP
# set, folders of trials without a sum stay.
set -eu
cd "$(dirname "$0")/.."
tacit=$(realpath "${TACIT:-build/tacit}")
mkdir -p bench/results
python3 tools/average_kills.py "$tacit" bench/results/average_kills.csv "${TRIALS:-60}"
