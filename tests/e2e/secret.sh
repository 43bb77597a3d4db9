#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What of a run folder is nobody's business: it is said where an epsilon is told.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"
umask 0

cat >small.yaml <<'YAML'
run: {name: small, time: 6}
data: {agents: 12, dimension: 4, min-records: 10, max-records: 20}
YAML
noise=(--set privacy.mechanism=gaussian --set privacy.clip=1 --set privacy.epsilon=5 --set privacy.releases=2)
run() { "$TACIT" run small.yaml --quiet --out "$@" >"$1.txt" || complain "run $*"; }
run bare
run noisy "${noise[@]}"
run finish --set protocol.name=model-propagation --set protocol.finish=private
run chorus --set protocol.name=chorus "${noise[@]}"
"$TACIT" report bare noisy --out both.html --quiet || complain "report"
"$TACIT" report bare --out one.html --quiet || complain "report"

for name in noisy finish chorus; do
    for file in $name.txt $name/summary.json $name/report.html; do
        tr -s ' \n' ' ' <$file | grep -q 'keep it to yourself' || complain "$file does not say what to keep"
    done
done
tr -s ' \n' ' ' <noisy.txt | grep -q 'the seed of the noise' || complain "the seed: $(cat noisy.txt)"
tr -s ' \n' ' ' <finish.txt | grep -q 'models made of raw records' || complain "the finish: $(cat finish.txt)"
grep -q 'keep them to yourself' both.html || complain "a comparison does not say what to keep"
for file in bare.txt bare/summary.json bare/report.html one.html; do
    ! grep -q 'to yourself' $file || complain "$file makes a secret of what is none"
done

# The same of sweeps, which hold scores and seeds, and of audits.
sweep() { "$TACIT" sweep small.yaml --quiet --seeds 2 --out "$@" >"$1.txt" || complain "sweep $*"; }
told() { tr -s ' \n' ' ' <"$1" | grep -q "$2"; }
sweep s-bare -v protocol.mu=1,2
sweep s-noisy -v protocol.mu=1,2 "${noise[@]}"
sweep s-mixed -v protocol.name=chorus,alone --keep-runs
sweep s-finish -v protocol.finish=none,private
"$TACIT" sweep --resume s-noisy --quiet --json >s-noisy.json || complain "sweep --json"
for file in s-noisy.txt s-noisy.json s-noisy/report.html; do
    told $file 'scores and the seeds of the noise: keep it to yourself' || complain "$file does not say what to keep"
done
for file in s-mixed.txt s-mixed/report.html; do
    told $file 'models made of raw records, and their scores: keep it to' || complain "$file does not say what to keep"
done
for file in s-finish.txt s-finish/report.html; do
    told $file 'scores of models made of raw records: keep it to' || complain "$file does not say what to keep"
done
for file in s-bare.txt s-bare/report.html; do
    ! told $file 'to yourself' || complain "$file makes a secret of what is none"
done
"$TACIT" audit small.yaml "${noise[@]}" --trials 20 --quiet --page audit.html >audit.txt || complain "audit"
"$TACIT" audit small.yaml "${noise[@]}" --trials 20 --quiet --json >audit.json || complain "audit"
"$TACIT" audit gaussian --trials 20 --quiet --page mechanism.html >mechanism.txt || complain "audit"
for file in audit.txt audit.html audit.json; do
    told $file 'keep them to yourself' || complain "$file does not say what to keep"
done
for file in mechanism.txt mechanism.html; do
    ! told $file 'to yourself' || complain "$file makes a secret of what is none"
done

# Names of private metrics end with a mark, those of public ones do not.
grep -q ',finish_scale (private),' finish/metrics.csv || complain "a private metric is not marked"
grep -q ',finish_strength (private),' finish/metrics.csv || complain "a private metric is not marked"
! grep 'finish_' finish/metrics.csv | grep -v '(private)' || complain "a private metric without its mark"
! grep -q 'private' bare/metrics.csv || complain "a mark without reason"

# One number of releases, wherever it is told: what ledgers were charged.
for name in bare noisy chorus; do
    python3 - $name <<'PY' || complain "$name: releases"
import json, re, sys
name = sys.argv[1]
words = re.sub(r"\s+", " ", open(name + ".txt").read())
lines = [json.loads(line) for line in open(name + "/ledger.jsonl")][1:-1]
charged = sum(line["releases"] for line in lines)
told = json.load(open(name + "/summary.json"))["privacy"]["releases"]
said = "gifts to sums" if name == "chorus" else "releases"
assert charged == told > 0, (charged, told)
assert f"; {told:,} {said}, mechanism" in words, words
PY
done

# What holds a seed, scores or models is its owner's, though the umask allows everything: folders
# are 0700, files 0600. What a consortium hands to its members (up.sh) is not.
"$TACIT" run small.yaml --quiet >/dev/null || complain "run"
"$TACIT" run small.yaml --quiet --out deep/run --set run.time=1 >/dev/null || complain "run"
: >old.html
"$TACIT" audit gaussian --trials 20 --quiet --page old.html --force >/dev/null || complain "audit"
"$TACIT" data small.yaml --quiet --agents-csv facts.csv >/dev/null || complain "data"
[ "$(stat -c %a deep)" = 777 ] || complain "the folder above that of a run is not as the umask says"
looked=0
while read -r mode path; do
    looked=$((looked + 1))
    case $mode in
    d700 | f600) ;;
    *) complain "others can look into $path (mode $mode)" ;;
    esac
done < <(find bare noisy finish chorus s-bare s-noisy s-mixed deep/run runs/small-1 both.html one.html \
    audit.html old.html facts.csv -printf '%y%m %p\n')
[ $looked -gt 80 ] || complain "only $looked files and folders were looked at"
# Of masks and noise: how many colluders an epsilon holds for, in words, JSON and page.
cat >masked.yaml <<'YAML'
run: {name: masked, time: 6}
data: {source: regression, agents: 14, dimension: 2, min-records: 20, max-records: 20}
graph: {kind: k-regular, k: 6}
model: {loss: squared, lambda: 0.01}
protocol: {name: diffusion, noise: local-homomorphic, strategy: atc, step: 0.4, radius: 2, reach: 3, iterations: 2, least: 6}
YAML
masked() { "$TACIT" run masked.yaml --quiet --out "$@" >"$1.txt" || complain "run $*"; }
counted=(--set privacy.mechanism=gaussian --set privacy.clip=1 --set protocol.sigma=0.1)
masked m-none "${counted[@]}"
masked m-four "${counted[@]}" --set protocol.colluders=4
masked m-bare
masked m-split --set protocol.pairs=split --set protocol.least=5
for file in .txt /summary.json /report.html; do
    told m-none$file 'as long as none of them colludes with the receiver' || complain "m-none$file: colluders"
    told m-four$file 'as long as at most 4 of them collude with the receiver' || complain "m-four$file: colluders"
    told m-bare$file 'as long as at most 4 of them collude with the receiver' || complain "m-bare$file: colluders"
    told m-split$file 'as long as at most 1 of them colludes with the receiver' || complain "m-split$file: colluders"
done

exit $failed
