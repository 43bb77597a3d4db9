#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tacit reproduce 001: table 4.1 needs no data; in small, by one thread or two.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"
unset TACIT_DATA
"$TACIT" reproduce >list.txt || complain "the list: exit $?"
grep -q "001-table4.1 " list.txt || complain "001-table4.1 is not listed"
"$TACIT" reproduce 001-table4.1 --quick --out one --threads 1 --json >one.json 2>err.txt ||
    complain "001-table4.1: $(cat err.txt)"
"$TACIT" reproduce 001 --quick --out two --threads 2 --json >two.json 2>err.txt ||
    complain "001: $(cat err.txt)"
[ "$(ls one)" = "data.csv
reproduce.html
summary.json" ] || complain "one holds $(ls one)"
cmp -s one/data.csv two/data.csv || complain "threads change the figure"
python3 - <<'PY' || complain "summary.json"
import json
one = json.load(open("one.json"))
assert one["name"] == "001-table4.1"
rows = {row["what"]: row["ours"] for row in one["rows"]}
for rho in ("1", "0.5"):
    theorem = rows[f"rho {rho}: sigma_Delta by Corollary 4.1"]
    k = int(rows[f"rho {rho}: k by Theorem 4.1"])
    exact = [v for w, v in rows.items() if w.startswith(f"rho {rho}, k = {k}: sigma_Delta, exact")]
    proved = rows[f"rho {rho}, k = {k}: sigma_Delta, proved, all but 2^-30 of graphs"]
    assert 0 < exact[0] < proved < theorem, (exact, proved, theorem)
    assert rows[f"rho {rho}: epsilon that Corollary 4.1's noise really has (one graph)"] < 0.1
audit = {w.split("at least, ")[1]: v for w, v in rows.items() if w.startswith("audit")}
assert audit["as claimed"] <= 1 < audit["nobody adds own noise"], audit
text = json.dumps(one)
for words in ("adjacency: replace", "unit: user", "adversary", "confidence 0.95", "slip S19"):
    assert words in text, words
PY
exit $failed
