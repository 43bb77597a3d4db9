#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the docs show is what there is: code blocks, the demo, the picture, and every command.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"
source=$TACIT_SOURCE_DIR

# block FILE LANGUAGE: the text inside ```LANGUAGE fences
block() {
    awk -v fence="\`\`\`$2" '$0 == fence { inside = 1; next } /^```/ { inside = 0 } inside' "$1"
}

block "$source/README.md" c | cmp - "$source/examples/embed/main.c" ||
    complain "the README shows another program than examples/embed/main.c"

# Figures may differ in the last digit on another CPU; words and rows may not.
shape() { LC_ALL=C.UTF-8 sed 's/[0-9█▏▎▍▌▋▊▉ ]//g'; }
block "$source/README.md" text | shape >readme.txt
LC_ALL=C.UTF-8 "$TACIT" demo | shape >demo.txt
diff readme.txt demo.txt || complain "the README shows another demo"
"$TACIT" demo --json | python3 "$source/tools/draw_demo.py" | shape >new.svg
shape <"$source/docs/images/demo.svg" | cmp - new.svg || complain "draw docs/images/demo.svg again"
for picture in "$source"/docs/images/*.svg; do
    python3 -c 'import sys, xml.dom.minidom as xml; xml.parse(sys.argv[1])' "$picture" ||
        complain "$picture is not XML"
done

# Names of functions, types and files that the docs mention exist.
cat "$source"/include/tacit/*.h $(find "$source/src" "$source/cli" "$source/examples" -name '*.[ch]') >all.c
for name in $(grep -ohE '`(tacit|personal|TACIT|PERSONAL)_[A-Za-z_]+`' "$source"/*.md "$source"/docs/*.md \
    "$source"/docs/*/*.md | tr -d '`' | sort -u); do
    grep -qw -- "$name" all.c || complain "the docs mention $name, which does not exist"
done

# What a node logs and measures is in docs/seeing.md, and its keys are in docs/consortium.md.
python3 - "$source" <<'PY' || complain "docs of nodes and their code differ"
import glob, re, sys
top = sys.argv[1]
page = open(top + "/docs/seeing.md").read()
told = set(re.findall("`([a-z_]+)`", page))
code = "".join(open(f).read() for f in sorted(glob.glob(top + "/src/runtime/node/*.c")) + [top + "/cli/node.c"])
events = set(re.findall(r'(?:node_note|note_peer|note_phase|plan->log)\([^;]*?"([a-z_]+)"', code))
for table in re.findall(r"event\[\] = \{([^}]*)\}", code):
    events |= set(re.findall('"([a-z_]+)"', table))
metrics = set(re.findall(r'"(tacit_[a-z_]+)"', open(top + "/src/runtime/node/words_metrics.c").read()))
assert len(events) >= 15 and len(metrics) >= 30, (events, metrics)
missing = sorted(e for e in events if e not in told)
missing += sorted(m for m in metrics if not any(m == t or t[0] == "_" and m.endswith(t) for t in told))
sections = open(top + "/src/experiment/consortium_sections.c").read()
files = open(top + "/docs/consortium.md").read()
missing += [k for k in re.findall(r'(?:\.key = |, )"([a-z]+)", ?(?:\n|\.type|")', sections) if "`%s`" % k not in files]
if missing:
    sys.exit("not in the docs: " + ", ".join(missing))
PY

# Every "tacit ..." line of a shell block runs, seen from the top folder.
ln -s "$source/examples" examples
ran=0
while read -r command; do
    command=$(sed 's/ *  #.*//' <<<"$command")
    grep -qxF -- "$command" ran.txt 2>/dev/null && continue
    echo "$command" >>ran.txt
    case $command in *--resume*) continue ;; esac
    (eval "set -- $command"; shift; "$TACIT" "$@") >out.txt 2>err.txt || complain "$command: $(cat err.txt)"
    ran=$((ran + 1))
done < <(for page in "$source"/README.md "$source"/docs/*.md "$source"/docs/*/*.md; do
    block "$page" sh | grep '^tacit '
done)
[ $ran -ge 10 ] || complain "only $ran commands found in the docs"
exit $failed
