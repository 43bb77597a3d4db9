#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tacit reproduce gopa-dropouts, in small: noise as planned, nothing charged for nothing, and what the
# audit says of sound and broken builds. (That threads change nothing: unit/reproduce_test.)
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"
unset TACIT_DATA
"$TACIT" reproduce gopa-dropouts --quick --out one --json >one.json 2>err.txt ||
    complain "gopa: $(cat err.txt)"
python3 - <<'PY' || complain "summary.json"
import json
one = json.load(open("one.json"))
assert one["name"] == "gopa-dropouts"
rows = {row["what"]: row for row in one["rows"]}
for masks in ("uniform", "gaussian"):
    ours = {what.split(": ", 1)[1]: row for what, row in rows.items() if what.startswith(masks)}
    assert ours["rounds with a sum"]["ours"] > 0.5
    assert ours["releases charged in refused rounds"]["ours"] == 0
    # seeds are fixed; with others 0 or 1 would be missed once in twenty
    told = ours["mean told - mean of its members"]
    assert told["low"] < 0 < told["high"], told
    ratio = ours["variance, measured / planned"]
    assert ratio["low"] < 1 < ratio["high"] and ratio["high"] - ratio["low"] < 0.1, ratio
    shown = {w.split("shown, ")[1]: r["ours"] for w, r in ours.items() if "epsilon shown" in w}
    assert shown["as built"] <= 5, shown
    assert min(shown["two of three add no own noise"], shown["nobody adds own noise"]) > 5, shown
text = json.dumps(one)
for words in ("adjacency: replace", "unit: user", "adversary", "confidence 0.95", "parts"):
    assert words in text, words
assert "DOES NOT" not in text
PY
exit $failed
