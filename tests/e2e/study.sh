#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The committed study, in small: it runs, chooses mu as committed, and what is committed is what
# this tree gives (another CPU may round a record to the other side).
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"
committed=$TACIT_SOURCE_DIR/bench/results

(cd "$TACIT_SOURCE_DIR" && RESULTS=$TMP/results SEEDS="1 2" MUS="2 5 10" tools/study_separators.sh) \
    >out.txt 2>err.txt || complain "the study: $(cat out.txt err.txt)"
grep -q '^chosen: mu 5$' out.txt || complain "another mu: $(cat out.txt)"
awk -F, 'NR == FNR { was[$1 "," $2 "," $3] = $4 "," $5; next }
    FNR > 1 {
        split(was[$1 "," $2 "," $3], old, ",")
        for (k = 1; k <= 2; k++) {
            d = old[k] - $(k + 3)
            if ((old[k] == "") != ($(k + 3) == "") || d > 0.005 || d < -0.005) {
                print $0 " but committed is " old[1] "," old[2]; bad = 1
            }
        }
        rows++
    }
    END { exit bad || rows != 10 }' "$committed/separators.csv" results/separators.csv ||
    complain "bench/results/separators.csv is not what this tree gives"
# Test records are read for the chosen mu only.
[ "$(awk -F, '$1 == "cd" && $5 != "" { print $2 }' results/separators.csv | sort -u)" = 5 ] ||
    complain "test accuracy of a mu that was not chosen"

awk -F, '$1 == "cd" && $4 >= 0.87 { cd = 1 } $1 == "alone" && $4 > 0.65 && $4 < 0.69 { alone = 1 }
    END { exit !(cd && alone) }' "$committed/separators_summary.csv" ||
    complain "the committed summary does not hold what the README says"

# A run that fails is an error, not an empty figure.
(cd "$TACIT_SOURCE_DIR" && TACIT=false RESULTS=$TMP/none tools/study_separators.sh) >/dev/null 2>&1 &&
    complain "a broken program goes unnoticed"
[ ! -e none ] || complain "results of a study that failed"
exit $failed
