#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tools/check.sh BUILD: format, lint, arrows, words. BUILD holds compile_commands.json.
# The last line is "check: N passed, N failed".
set -u
build=$1
passed=0 failed=0
log=$build/check.log
: >"$log"

check() {
    name=$1
    shift
    if "$@" >"$log.part" 2>&1; then
        echo "    $name: ok"
        passed=$((passed + 1))
    else
        echo "    $name: FAILED"
        head -n 60 "$log.part"
        failed=$((failed + 1))
    fi
    cat "$log.part" >>"$log"
    rm -f "$log.part"
}

sources() {
    find include src cli tests bench examples -name '*.c' -o -name '*.h' | LC_ALL=C sort
}

format() {
    sources | xargs clang-format --dry-run -Werror
}

# Only what is surely wrong; style is clang-tidy's and the reader's. Suppressed:
#   internalAstError   cppcheck 2.10 cannot parse _Generic inside ?:
#   objectIndex        takes &member[i] of a local struct for the address of the member
#   memleak in engine.c   does not follow "s->order = order ? order : s->order"
#   normalCheckLevelMaxBranches, missingIncludeSystem   notes about itself
lint_cppcheck() {
    cppcheck --quiet -j 2 --std=c11 --error-exitcode=1 --enable=warning,portability \
        --inline-suppr --suppress=missingIncludeSystem --suppress=internalAstError \
        --suppress=objectIndex --suppress=memleak:src/runtime/sim/engine.c \
        --suppress=normalCheckLevelMaxBranches \
        -D__linux__ -D__x86_64__ -D__cppcheck__ -Iinclude -Isrc src cli
}

lint_tidy() {
    find src cli -name '*.c' | LC_ALL=C sort |
        xargs -n 4 -P 2 clang-tidy -p "$build" --quiet --warnings-as-errors='*' 2>/dev/null
}

check format format
check arrows tools/check_arrows.sh
check words tools/check_words.sh
check cppcheck lint_cppcheck
check clang-tidy lint_tidy
echo "check: $passed passed, $failed failed"
[ $failed = 0 ]
