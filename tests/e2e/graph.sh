#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tacit graph: figures, files, what is refused, and that nothing is left behind.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"

# ---- figures ----
says 'ring: 10 agents, 10 edges' "$TACIT" graph --kind ring --agents 10
says 'neighbours            4 to 4, mean 4' "$TACIT" graph -n 100 -k 4
says 'divided by n        1' "$TACIT" graph --kind complete -n 7
says 'spectral gap          1' "$TACIT" graph --kind complete -n 7 --mixing uniform
says 'star: 1 agent, 0 edges' "$TACIT" graph --kind star -n 1
printf '0 1\n1 2\n5 3 0.5\n' >pieces.txt
says '3; largest: 3 agents from 0, 2 agents from 3, 1 agent' \
    "$TACIT" graph --kind edges --path pieces.txt
says 'edges: 6 agents, 3 edges' "$TACIT" graph --kind edges --path pieces.txt
says 'edges: 9 agents, 3 edges' "$TACIT" graph --kind edges --path pieces.txt --agents 9
says 'without neighbours    1' "$TACIT" graph --kind edges --path pieces.txt
says 'divided by n        0.3' "$TACIT" graph --kind erdos-renyi -n 10 --fiedler 0.39

# ---- the same seed, the same graph; another, another ----
"$TACIT" graph -n 50 -k 3 --seed 1 --edges a.txt --svg a.svg >/dev/null
"$TACIT" graph -n 50 -k 3 --seed 1 --edges b.txt --svg b.svg >/dev/null
"$TACIT" graph -n 50 -k 3 --seed 2 --edges c.txt >/dev/null
cmp -s a.txt b.txt && cmp -s a.svg b.svg || complain "the same seed gave another graph"
cmp -s <(tail -n +2 a.txt) <(tail -n +2 c.txt) && complain "another seed gave the same graph"
[ "$(grep -vc '^#' a.txt)" = 75 ] || complain "not 75 edges in a.txt"

# ---- what is written can be read, with the same figures ----
"$TACIT" graph -n 50 -k 3 --json >first.json
"$TACIT" graph --kind edges --path a.txt --json >second.json
python3 - first.json second.json <<'PYTHON' || complain "JSON is not as promised"
import json, sys
first, second = (json.load(open(name)) for name in sys.argv[1:])
assert first["schema"] == "tacit.graph/1"
for key in first:
    if key not in ("kind", "seed"):
        assert first[key] == second[key], key
assert first["degrees"] == [{"degree": 3, "agents": 50}] and first["edges"] == 75
assert first["largest_components"][0] == {"first": 0, "agents": 50}
PYTHON

# ---- pictures ----
python3 - a.svg <<'PYTHON' || complain "a.svg is not well-formed"
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
circles = root.findall(".//{http://www.w3.org/2000/svg}circle")
assert len(circles) == 50, len(circles)
PYTHON
"$TACIT" graph --kind k-out -n 500 -k 3 --svg many.svg >/dev/null || complain "500 agents"
grep -q '<circle' many.svg && complain "500 agents were drawn as dots"
expect 3 'cannot make "a.svg": File exists; use --force to replace it' \
    "$TACIT" graph -n 10 -k 2 --svg a.svg
cmp -s a.svg b.svg || complain "a refused picture was replaced"
"$TACIT" graph -n 10 -k 2 --svg a.svg --force >/dev/null || complain "--force"
cmp -s a.svg b.svg && complain "--force did not replace the picture"
expect 3 'cannot make "nowhere/x.svg": No such file' "$TACIT" graph -n 10 -k 2 --svg nowhere/x.svg
if [ -e /dev/full ]; then
    "$TACIT" graph -n 10 -k 2 >/dev/full 2>err.txt
    [ $? -eq 3 ] || complain "/dev/full: not exit 3"
fi
(
    ulimit -f 1 # kB
    expect 3 'File too large' "$TACIT" graph -n 300 -k 4 --edges full.txt
    exit $failed
) || failed=1
[ ! -e full.txt ] || complain "a file without room was left behind"

# ---- an experiment's graph ----
printf 'data:\n  agents: 12\n  dimension: 4\n' >small.yaml
says 'similarity: 12 agents' "$TACIT" graph small.yaml
says 'nearest: 12 agents' "$TACIT" graph small.yaml --set graph.kind=nearest --set graph.k=2
says 'grid: 12 agents, 17 edges' "$TACIT" graph small.yaml --set graph.kind=grid
[ ! -e runs ] || complain "looking at a graph made a run"

# ---- what is refused ----
expect 2 'how many agents? say so with --agents N' "$TACIT" graph
expect 2 '--kind nearest compares the data of agents; give an experiment' \
    "$TACIT" graph --kind nearest -n 10
expect 2 '"--k" does not go with an experiment; use --set graph.k=3' "$TACIT" graph small.yaml -k 3
expect 2 '"--agents" does not go with an experiment; use --set data.agents=5' \
    "$TACIT" graph small.yaml --agents 5
expect 2 '--set goes with an experiment' "$TACIT" graph -n 5 --set graph.k=2
expect 2 'unexpected word "b.yaml"' "$TACIT" graph small.yaml b.yaml
expect 2 '"--kind" is "rnig"' "$TACIT" graph --kind rnig -n 5
expect 3 'an even product' "$TACIT" graph -n 5 -k 3
expect 3 'an even number' "$TACIT" graph --kind watts-strogatz -n 20 -k 3
expect 3 'graph.fiedler goes with' "$TACIT" graph --kind ring -n 5 --fiedler 0.5
expect 3 'the nearest had 0.8' "$TACIT" graph --kind erdos-renyi -n 10 --fiedler 0.88
expect 3 'would have about 5e+15 edges' "$TACIT" graph --kind complete -n 100000000
expect 3 'graph.path' "$TACIT" graph --kind edges
expect 3 'cannot open "nowhere.txt"' "$TACIT" graph --kind edges --path nowhere.txt
printf '0 1\n1 0 2\n' >bad.txt
expect 3 'bad.txt:2: asymmetric' "$TACIT" graph --kind edges --path bad.txt
printf '0 1 -1\n' >bad.txt
expect 3 'bad.txt:1: weight "-1"; expected a finite number above 0' \
    "$TACIT" graph --kind edges --path bad.txt
printf '0 3000000000\n' >bad.txt
expect 3 'say how many agents there are if this is no slip' \
    "$TACIT" graph --kind edges --path bad.txt
expect 3 'bad.txt:1: agent "3000000000"; expected a number from 0 to 9' \
    "$TACIT" graph --kind edges --path bad.txt --agents 10
expect 3 'nowhere.yaml' "$TACIT" graph nowhere.yaml
exit $failed
