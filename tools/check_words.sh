#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Words and sizes that do not belong in the tree.
set -u
failed=0
export LC_ALL=C

all=$(find . -path ./.git -prune -o -path './build*' -prune -o -path ./runs -prune -o \
    -type f -print | grep -v '/fuzz/corpus/' | sort)
code=$(echo "$all" | grep -E '\.(c|h|sh|cmake|yaml)$|Makefile$|CMakeLists.txt$')

# refuse PATTERN REASON FILES
refuse() {
    if found=$(echo "$3" | xargs -d '\n' grep -InE "$1"); then
        echo "$found"
        echo "  ^ $2"
        failed=1
    fi
}
refuse '(^|[^A-Za-z0-9_.])/(home|root|Users|work)/' "an absolute path of one machine" \
    "$(echo "$all" | grep -v check_words.sh)"
refuse '\b(TO''DO|FIX''ME|XX''X)\b' "unfinished business" "$all"
refuse '[^_a-z>.]s?random\(\)' "no stream of ours: see tacit/random.h" \
    "$(echo "$code" | grep -E '^\./(src|cli)/')"

# Links between our own pages lead somewhere.
for page in $(echo "$all" | grep '\.md$'); do
    for link in $(grep -oE '\]\([^)#]+[)#]' "$page" | sed 's/^](//; s/[)#]$//' | grep -v '^https\?:'); do
        [ -e "$(dirname "$page")/$link" ] || { echo "$page: \"$link\" leads nowhere"; failed=1; }
    done
done

for file in $(echo "$code" | grep -E '\.[ch]$'); do
    lines=$(wc -l <"$file")
    [ "$lines" -le 800 ] || { echo "$file: $lines lines, at most 800: find it a second room"; failed=1; }
    head -n 1 "$file" | grep -q '^/\* SPDX-License-Identifier: Apache-2.0 \*/$' ||
        { echo "$file: the first line must be the licence"; failed=1; }
done
exit $failed
