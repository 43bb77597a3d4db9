#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tacit reproduce 003: figure 4 needs nothing, figure 5 asks for its data.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"
unset TACIT_DATA
"$TACIT" reproduce >list.txt || complain "the list: exit $?"
for figure in fig4 fig5; do
    grep -q "003-$figure " list.txt || complain "003-$figure is not listed"
done
"$TACIT" reproduce 003-fig4 --quick --out four --threads 2 --json >four.json 2>err.txt ||
    complain "003-fig4: $(cat err.txt)"
[ "$(ls four)" = "data.csv
reproduce.html
summary.json" ] || complain "four holds $(ls four)"
expect 3 'needs "avazu/avazu_sample_train.csv": set TACIT_DATA' \
    "$TACIT" reproduce 003-fig5 --quick --out five
[ ! -e five ] || complain "a figure without data left a folder"

# A made-up table of the same columns: five agents' worth of clicks.
mkdir -p data/avazu
python3 - >data/avazu/avazu_sample_train.csv <<'PY'
columns = ("id,click,hour,C1,banner_pos,site_id,site_domain,site_category,app_id,app_domain,"
           "app_category,device_id,device_ip,device_model,device_type,device_conn_type,"
           "C14,C15,C16,C17,C18,C19,C20,C21").split(",")
print(",".join(columns))
for k in range(400):
    print(",".join([str(k), str(int(k % 5 == 0)), "1"] + [f"{(k * j) % 7:x}" for j in range(21)]))
PY
TACIT_DATA=$PWD/data "$TACIT" reproduce 003-fig5 --quick --seeds 1 --out five --json >five.json \
    2>err.txt || complain "003-fig5: $(cat err.txt)"
python3 - <<'PY' || complain "summary.json"
import json
four, five = json.load(open("four.json")), json.load(open("five.json"))
assert four["name"] == "003-fig4" and "no guarantee" in four["warning"]
assert five["name"] == "003-fig5" and "tiny sample" in five["warning"]
rows = {row["what"]: row["ours"] for row in four["rows"]}
assert rows["largest difference of any model, local-homomorphic less none"] < 1e-7
names = {"none", "independent", "homomorphic", "local-homomorphic"}
assert {s["name"] for s in five["series"]} == names
for one in (four, five):
    text = json.dumps(one)
    for words in ("adjacency replace", "adversary", "delta 1e-5"):
        assert words in text, words
PY
exit $failed
