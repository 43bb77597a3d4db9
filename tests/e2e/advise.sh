#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tacit advise: words, numbers for programs, and what it refuses.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"
file="$TACIT_SOURCE_DIR/examples/private.yaml"

says 'one-shot' "$TACIT" advise "$file"
says 'for one record (adjacency replace)' "$TACIT" advise "$file"
says "against the adversary of each strategy's trust" "$TACIT" advise "$file"
says 'nothing was spent' "$TACIT" advise "$file"
says 'too small for collaboration to help' "$TACIT" advise "$file" --set privacy.epsilon=0.001
says '"schema": "tacit.advice/1"' "$TACIT" advise "$file" --json
says '"adjacency": "replace"' "$TACIT" advise "$file" --json

# Budgets of one's own, and claims: it says what it assumes.
printf 'agent,epsilon\n0,0.5\n1,50\n2,1\n3,1\n4,1\n5,1\n' >b.csv
own=("$file" --set data.agents=6 --set graph.kind=ring --set privacy.budgets=b.csv)
says 'from 0.5 to 50: this is the median' "$TACIT" advise "${own[@]}"
says 'epsilon 1 at delta' "$TACIT" advise "${own[@]}"
says '"epsilon_is": "the median of privacy.budgets", "epsilon_budget_least": 0.5, "epsilon_budget_most": 50,' \
    "$TACIT" advise "${own[@]}" --json
says 'epsilon 1 at delta' "$TACIT" advise "${own[@]}" --set privacy.epsilon=inf
printf '0,1\n' >few.csv
expect 3 'advice needs a budget' "$TACIT" advise "${own[@]}" --set privacy.budgets=few.csv --set privacy.epsilon=inf
says 'is a claim and no guarantee' "$TACIT" advise "$file" --set privacy.claimed=true
says '"unsound": true,' "$TACIT" advise "$file" --set privacy.claimed=true --json
says '"unsound": false,' "$TACIT" advise "$file" --json

expect 2 'which experiment' "$TACIT" advise
expect 2 'one experiment at a time' "$TACIT" advise "$file" "$file"
expect 3 'advice needs a budget' "$TACIT" advise "$file" --set privacy.epsilon=inf
expect 3 'advice needs a budget' "$TACIT" advise "$file" --set privacy.epsilon=0
expect 3 'advice is for' "$TACIT" advise "$file" --set privacy.unit=user
expect 3 'nowhere.yaml' "$TACIT" advise nowhere.yaml
expect 2 'expected a number' "$TACIT" advise "$file" --signal 2
[ ! -e runs ] || complain "advice left a folder behind"
exit $failed
