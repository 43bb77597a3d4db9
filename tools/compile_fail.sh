#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tools/compile_fail.sh INCLUDE FILE: FILE must not compile under plain -std=c17 without any
# warning flag, and the one reason must be the line it marks with "refused". ok_*.c must compile.
# The compiler's words are printed, so that a reader of the log sees why.
set -u
include=$1 file=$2 failed=0
export LC_ALL=C

refused_line=$(grep -n '/\* refused \*/' "$file" | cut -d: -f1)
for cc in cc clang; do
    command -v $cc >/dev/null || continue
    echo "== $cc -std=c17 -fsyntax-only $(basename "$file")"
    words=$($cc -std=c17 -I"$include" -fsyntax-only -fno-diagnostics-color "$file" 2>&1)
    status=$?
    echo "$words"
    case $(basename "$file") in
    ok_*)
        [ $status -eq 0 ] || { echo "must compile and does not"; failed=1; }
        [ -z "$words" ] || { echo "must compile without a word"; failed=1; }
        continue
        ;;
    esac
    [ $status -ne 0 ] || { echo "compiled, and must not"; failed=1; continue; }
    # gcc points into the header and notes the caller, clang the other way round: so ask that
    # every error is the refusal of a type, or that no such type is known, and that the marked line is where it came from.
    if [ "$(grep -c ' error: ' <<<"$words")" != 1 ] ||
        ! grep -qE ' error: .*(not compatible with any|unknown type name)' <<<"$words"; then
        echo "refused for another reason"
        failed=1
    fi
    if ! grep -q "$(basename "$file"):$refused_line:" <<<"$words"; then
        echo "refused, but not on line $refused_line"
        failed=1
    fi
done
exit $failed
