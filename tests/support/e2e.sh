# SPDX-License-Identifier: Apache-2.0
# What the scripts in tests/e2e share; tools/e2e.sh puts them into an empty folder. A script ends
# with "exit $failed".
set -u
unset TACIT_DATA # tests must not depend on what happens to be there
failed=0
complain() { echo "FAIL: $*"; failed=1; }

# expect CODE PATTERN COMMAND...: stderr has the fixed string PATTERN, stdout is empty
expect() {
    local code=$1 pattern=$2
    shift 2
    "$@" >out.txt 2>err.txt
    local got=$?
    [ $got -eq "$code" ] || complain "exit $got, not $code: $*: $(cat err.txt)"
    grep -qF -- "$pattern" err.txt || complain "no '$pattern' from: $*: $(cat err.txt)"
    grep -q '^tacit: ' err.txt || complain "no 'tacit: ' in front: $*"
    [ ! -s out.txt ] || complain "words on stdout: $*"
    ! grep -q $'\033' err.txt || complain "escape codes without a terminal: $*"
}

# says PATTERN COMMAND...: it succeeds, and stdout has PATTERN, however blanks and lines break
says() {
    local pattern
    pattern=$(tr -s ' \n' ' ' <<<"$1")
    shift
    "$@" >out.txt 2>err.txt || complain "exit $?: $*: $(cat err.txt)"
    tr -s ' \n' ' ' <out.txt | grep -qF -- "${pattern% }" || complain "no '$pattern' from: $*: $(cat out.txt)"
    ! grep -q $'\033' out.txt || complain "escape codes without a terminal: $*"
}
