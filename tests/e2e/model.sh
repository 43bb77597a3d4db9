#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tacit model: make, show, predict, export; and what is refused, in which words.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"
model() { "$TACIT" model "$@"; }

# A net that adds up: class 0 says a + b, class 1 says c, twice each, plus 1 (scale 2, shift 0.5).
python3 - <<'PY'
import struct
def npy(path, kind, shape, numbers):
    head = "{'descr': '<%s4', 'fortran_order': False, 'shape': %s, }" % (kind, shape)
    head += " " * (117 - len(head)) + "\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        out.write(struct.pack("<%d%s" % (len(numbers), kind if kind == "f" else "i"), *numbers))
npy("theta.npy", "f", "(2, 8)", [9] * 8 + [1, 1, 0, 0, 0, 1, 0, 0.5])
npy("one.npy", "f", "(8,)", [1, 1, 0, 0, 0, 1, 0, 0.5])
npy("x.npy", "f", "(2, 3, 1)", [1, 2, 3, 0, 0, 5])
npy("y.npy", "i", "(2,)", [0, 0])
npy("wide.npy", "f", "(1, 4)", [1, 2, 3, 4])
npy("nan.npy", "f", "(1, 3)", [1, float("nan"), 3])
npy("huge.npy", "f", "(1, 3)", [3e38, 3e38, 0])
with open("x.idx", "wb") as out:
    out.write(bytes([0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 0, 0, 5]))
PY
net=(-i 3 -l "dense 2")
model make m.tacit "${net[@]}" -p theta.npy --row 1 --scale 2 --shift 0.5 -c "sum,the third" >out.txt ||
    complain "make"
[ ! -s out.txt ] || complain "make speaks: $(cat out.txt)"
model make one.tacit "${net[@]}" -p one.npy --scale 2 --shift 0.5 -c "sum, the third" || complain "make of a vector"
cmp -s m.tacit one.tacit || complain "a row of two models is not that model"
[ "$(stat -c %a m.tacit)" = 600 ] || complain "others can read a model"

# ---- show ----
says 'm.tacit: a net of 8 parameters' model show m.tacit
says 'classes 2: sum, the third' model show m.tacit
says '2 times a number, plus 0.5' model show m.tacit
! model show m.tacit | grep -q ' $' || complain "blanks at the end of a line"
model show m.tacit --json | python3 -c '
import json, sys
m = json.load(sys.stdin)
assert m["schema"] == "tacit.model/1" and m["input"] == [3, 1, 1] and m["parameters"] == 8
assert m["names"] == ["sum", "the third"] and m["constants"] == 1
assert m["layers"] == [{"layer": "dense 2", "out": [2, 1, 1], "parameters": 8}]' || complain "show --json"

# ---- predict: the same from every format, packed or not ----
printf 'record,class\n1,sum\n2,the third\n' >classes.csv
printf 'record,class,sum,the third\n1,sum,7,7\n2,the third,1,11\n' >scores.csv
printf 'a,b,c,label\n1,2,3,0\n0,0,5,1\n' >x.csv
printf '1;2;3\n0;0;5\n' >bare.csv
gzip -k x.npy
for file in x.npy x.idx x.csv x.npy.gz; do
    model predict m.tacit $file | cmp -s - classes.csv || complain "predict $file: $(model predict m.tacit $file)"
    model predict m.tacit $file --scores | cmp -s - scores.csv || complain "predict $file --scores"
done
model predict m.tacit bare.csv --set data.header=false --set data.separator=semicolon | cmp -s - classes.csv ||
    complain "predict with keys"
model predict m.tacit x.csv x.npy | tail -n 2 | cut -d, -f 2 | cmp -s - <(printf 'sum\nthe third\n') ||
    complain "several files"
TACIT_DATA=. model predict m.tacit x.csv >/dev/null || complain "TACIT_DATA"
model predict m.tacit x.npy --scores --out told.csv >out.txt 2>err.txt || complain "predict --out"
cmp -s told.csv scores.csv || complain "--out has something else"
[ ! -s out.txt ] && [ ! -s err.txt ] || complain "predict --out speaks"
model predict m.tacit x.npy --json --scores | python3 -c '
import json, sys
p = json.load(sys.stdin)
assert p["schema"] == "tacit.predictions/1" and p["records"] == 2 and "accuracy" not in p
assert p["predictions"][1] == {"class": 1, "name": "the third", "scores": [1, 11]}' || complain "predict --json"

# Labels, where somebody says that there are some.
model predict m.tacit x.npy --set data.labels-path=y.npy >out.txt 2>err.txt || complain "labels"
[ "$(cat err.txt)" = 'note: accuracy 0.5000 over 2 records' ] || complain "accuracy: $(cat err.txt)"
cmp -s out.txt classes.csv || complain "labels change the classes"
model predict m.tacit x.csv --set data.label-column=label 2>&1 >/dev/null | grep -q 'accuracy 1.0000' ||
    complain "labels in a column"
model predict m.tacit x.csv --set data.label-column=label -q 2>&1 >/dev/null | grep -q . && complain "--quiet is not"

# ---- refused ----
expect 3 '"wide.npy" has records of 4 numbers, but "m.tacit" takes 3' model predict m.tacit wide.npy
expect 3 'record 1, feature 2 is missing' model predict m.tacit nan.npy
expect 3 'record 1 has scores that are not finite' model predict m.tacit huge.npy
expect 3 'cannot make "told.csv"' model predict m.tacit x.npy --out told.csv
expect 3 'cannot open "none.tacit"' model show none.tacit
expect 3 'x.csv: not a model file of ours' model show x.csv
expect 3 'cannot open "none.npy"' model predict m.tacit none.npy
head -c 90 m.tacit >cut.tacit
expect 6 'cut.tacit: has 90 bytes where its header speaks of ' model show cut.tacit
python3 -c '
b = bytearray(open("m.tacit", "rb").read()); b[-40] ^= 1; open("bad.tacit", "wb").write(b)'
expect 6 'bad.tacit: its checksum does not fit' model predict bad.tacit x.npy
expect 2 'expected show, predict, export or make, not "shwo"' model shwo m.tacit
expect 2 'expected a model and files of records' model predict m.tacit
expect 2 '--layers does not go with "tacit model show"' model show m.tacit --layers "dense 1"
expect 2 '--set data.standardise does not say how records are read' model predict m.tacit x.npy --set data.standardise=pooled
expect 2 '--input is "3x"' model make n.tacit -i 3x -l "dense 2"
expect 2 '--input is missing' model make n.tacit -l "dense 2"
expect 3 'layer 1, "dens 2", is none' model make n.tacit -i 3 -l "dens 2"
expect 3 'cannot make "m.tacit"' model make m.tacit "${net[@]}"
expect 3 'models of 8 parameters, but the net has 12' model make n.tacit -i 3 -l "dense 3" -p theta.npy
expect 3 'no row 2; it has 2' model make n.tacit "${net[@]}" -p theta.npy --row 2
expect 3 '--classes has 3 names, but the net has 2 classes' model make n.tacit "${net[@]}" -c a,b,c
expect 2 '--out is missing' model export m.tacit
[ ! -e n.tacit ] || complain "a refused model left a file"

# ---- export ----
(umask 0; model export m.tacit --to onnx --out m.onnx) || complain "export"
[ "$(stat -c %a m.onnx)" = 600 ] || complain "others can read an exported model"
grep -q tacit m.onnx && grep -q 'the third' m.onnx || complain "no names in the export"
expect 3 'cannot make "m.onnx"' model export m.tacit --out m.onnx
model export m.tacit --out m.onnx --force || complain "export --force"
expect 3 'no/m.onnx' model export m.tacit --out no/m.onnx
rm -f *.npy.gz
[ -z "$(ls *.tmp 2>/dev/null)" ] || complain "left behind: $(ls *.tmp)"
exit $failed
