#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Everything that must hold, in five stages; the last line alone is "N passed, N failed".
# Full logs stay in the build folders.
set -u
passed=0 failed=0
fuzz_seconds=${FUZZ_SECONDS:-4}

# count LABEL PASSED FAILED
count() {
    passed=$((passed + $2))
    failed=$((failed + $3))
    echo "$1: $2 passed, $3 failed ($((SECONDS - stage_start)) s)"
}

# stage LABEL FOLDER CTEST-ARGUMENTS -- CMAKE-ARGUMENTS; -j 4 is for two processors, see
# tests/CMakeLists.txt.
stage() {
    label=$1 folder=$2 ctest_args=()
    shift 2
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        ctest_args+=("$1")
        shift
    done
    shift
    stage_start=$SECONDS
    if ! tools/build.sh "$folder" "$@"; then
        count "$label" 0 1
        return
    fi
    log=$folder/ctest.log
    ctest --test-dir "$folder" -j 4 --output-on-failure --no-tests=error "${ctest_args[@]}" \
        >"$log" 2>&1
    status=$?
    summary=$(sed -n 's/.* \([0-9]*\) tests failed out of \([0-9]*\)$/\1 \2/p' "$log")
    read -r bad total <<<"${summary:-1 1}"
    [ $status -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
    if [ "$bad" -gt 0 ]; then
        grep -vE '^ *[0-9]+/[0-9]+ .* Passed |^ *Start ' "$log"
    fi
    count "$label" $((total - bad)) "$bad"
}

# counted LABEL COMMAND...: its last line is "x: N passed, N failed"
counted() {
    label=$1
    shift
    stage_start=$SECONDS
    output=$("$@" 2>&1)
    status=$?
    numbers=$(sed -n '$s/^[a-z]*: \([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' <<<"$output")
    read -r good bad <<<"${numbers:-0 1}"
    [ $status -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
    [ "$bad" = 0 ] || echo "$output"
    count "$label" "$good" "$bad"
}

export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS="halt_on_error=1 suppressions=$PWD/tests/support/tsan.supp"

# What these scripts run is run by others, too; they compare what is printed, which the plain build
# does as well.
once='e2e/(docs|cli_help|graph_oracle|random_graphs|reproduce_000|reproduce_004)'

stage "tests" build --
stage "tests, address and undefined-behaviour sanitizer" build-asan -LE compile_fail -E "$once" -- \
    -DTACIT_SANITIZE=address,undefined -DTACIT_WERROR=ON
stage "tests, thread sanitizer" build-tsan -L "unit|conformance" -- -DTACIT_SANITIZE=thread
counted "fuzzing, $fuzz_seconds s a target" tools/fuzz.sh "$fuzz_seconds"
counted "checks" tools/check.sh build

echo "$passed passed, $failed failed"
[ $failed = 0 ]
