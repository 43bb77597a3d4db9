#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the program refuses: the exit code, the words, and that nothing is left behind.
. "$TACIT_SOURCE_DIR/tests/support/e2e.sh"

cat >small.yaml <<'YAML'
run:
  name: small
  time: 5
  every: 0
data:
  agents: 12
  dimension: 4
  test-records: 20
  validation-records: 0
YAML

# ---- words on the command line ----
expect 2 'unknown verb "rnu"; did you mean "run"?' "$TACIT" rnu
expect 2 'unknown verb "potato"; see "tacit --help"' "$TACIT" potato
expect 2 'unknown flag "--potato" before the verb' "$TACIT" --potato
expect 2 'unknown flag "--thread"; did you mean "--threads"?' "$TACIT" run small.yaml --thread 2
expect 2 'unknown flag "--zebra"; see "tacit help run"' "$TACIT" run small.yaml --zebra
expect 2 'unknown flag "-z" in "-qz"' "$TACIT" run small.yaml -qz
expect 2 '"--threads" needs a value: --threads N' "$TACIT" run small.yaml --threads
expect 2 '"--out" needs a value: --out DIR' "$TACIT" run small.yaml --out --json
expect 2 '"--threads" is "two"; expected an integer from 0 to 256' "$TACIT" run small.yaml --threads two
expect 2 '"-t" is "-1"; expected an integer from 0 to 256' "$TACIT" run small.yaml -t -1
expect 2 '"--json" is "maybe"; expected true or false' "$TACIT" run small.yaml --json=maybe
expect 2 'no experiment; expected a file' "$TACIT" run
expect 2 'unexpected word "other.yaml"; one experiment at a time' "$TACIT" run small.yaml other.yaml
expect 2 'unexpected word "--json"' "$TACIT" run -- small.yaml --json
expect 2 '--set does not go with --resume' "$TACIT" run --resume x --set run.time=9
expect 2 '"--out" does not go with --resume' "$TACIT" run --resume x --out y
expect 2 '--resume reads the configuration in its folder' "$TACIT" run small.yaml --resume x
expect 2 '--trace does not go with --resume' "$TACIT" run --resume x --trace y
expect 2 '--force needs --out DIR' "$TACIT" run small.yaml --force
expect 2 'is not key=value' "$TACIT" run small.yaml --set protocol.mu
expect 2 'the demo needs no file' "$TACIT" demo small.yaml
expect 2 'no help on "rum"; did you mean "run"?' "$TACIT" help rum
expect 2 'expected bash' "$TACIT" help --completion fish
expect 2 'unknown verb "?[31mred"' "$TACIT" $'\033[31mred'

# ---- keys and values ----
expect 3 '--set: unknown key "protocol.nu"; did you mean "protocol.mu"?' \
    "$TACIT" run small.yaml --set protocol.nu=1
expect 3 '--set: "protocol.mu" is "nan"; expected a number' \
    "$TACIT" run small.yaml --set protocol.mu=nan
expect 3 '--set: "protocol.name" is "cdd"' "$TACIT" run small.yaml --set protocol.name=cdd
expect 3 'did you mean "cd"?' "$TACIT" run small.yaml --set protocol.name=cdd
expect 3 '--set: "data.agents" is "1e40"; expected an integer' \
    "$TACIT" run small.yaml --set data.agents=1e40
expect 3 'run.name' "$TACIT" run small.yaml --set run.name=a/b
printf 'run:\n  seed: 1\n\nprotocol:\n  name: cd\n\n  nu: 2\n' >wrong.yaml
expect 3 'wrong.yaml:7:3: unknown key "protocol.nu"; did you mean "protocol.mu"?' "$TACIT" run wrong.yaml
printf 'run:\n  seed: 1\nprotocol:\n  mu: abc\n' >wrong.yaml
expect 3 'wrong.yaml:4:7: "protocol.mu" is "abc"; expected a number' "$TACIT" run wrong.yaml
# A key of another protocol is not a typing error.
printf 'protocol:\n  name: alone\n  mu: 2\n' >wrong.yaml
expect 3 'wrong.yaml:3:3: "protocol.mu" belongs to cd, model-propagation, admm' \
    "$TACIT" run wrong.yaml
expect 3 '--set: "protocol.start" belongs to cd, not to model-propagation; remove it' \
    "$TACIT" run small.yaml --set protocol.name=model-propagation --set protocol.start=local
printf 'run:\n  seed: [1, 2]\n' >wrong.yaml
expect 3 'wrong.yaml:2:9: "run.seed" is a list; expected a single value' "$TACIT" run wrong.yaml
printf 'protocol: cd\n' >wrong.yaml
expect 3 'wrong.yaml:1:1: "protocol" is a section' "$TACIT" run wrong.yaml

# ---- files and folders ----
expect 3 'cannot open "nowhere.yaml": No such file or directory' "$TACIT" run nowhere.yaml
mkdir -p folder
expect 3 '"folder" is a folder; expected a YAML file' "$TACIT" run folder
expect 3 'nowhere.csv' "$TACIT" run small.yaml --set data.source=csv --set data.path=nowhere.csv
expect 3 'nowhere' "$TACIT" run --resume nowhere
expect 3 'folder' "$TACIT" run --resume folder
# Sizes no machine has are refused, not tried.
expect 3 'tacit: ' "$TACIT" run small.yaml --set data.agents=4000000000 \
    --set data.dimension=1000000 --set data.max-records=1000000000
[ ! -e runs ] || complain "a refused run left a folder behind"

# ---- folders that exist ----
"$TACIT" run small.yaml --out first --quiet >first.txt 2>err.txt || complain "small run: $(cat err.txt)"
[ -s first/summary.json ] && [ -s first/config.yaml ] || complain "the run folder is not complete"
expect 3 '"first" exists; use --force to replace it, --resume to go on with it, or another --out' \
    "$TACIT" run small.yaml --out first
expect 3 '"folder" exists' "$TACIT" run small.yaml --out folder
expect 3 '"folder" is not the folder of a run, so --force leaves it alone' \
    "$TACIT" run small.yaml --out folder --force
echo precious >file
expect 3 '"file" is not the folder of a run' "$TACIT" run small.yaml --out file --force
[ "$(cat file)" = precious ] || complain "--force touched a file"
cp first/summary.json before.json
echo precious >first/notes.txt
expect 3 '"first/notes.txt" was not written by a run' "$TACIT" run small.yaml --out first --force
[ "$(cat first/notes.txt)" = precious ] && cmp -s before.json first/summary.json ||
    complain "--force touched a folder with the user's own files"
rm first/notes.txt
"$TACIT" run small.yaml --out first --force --set run.seed=2 --quiet >/dev/null 2>err.txt ||
    complain "--force: $(cat err.txt)"
cmp -s before.json first/summary.json && complain "--force did not replace the run"
ln -s first link
expect 3 '"link" is not the folder of a run' "$TACIT" run small.yaml --out link --force
expect 3 'first' "$TACIT" run --resume first # it is complete
"$TACIT" run small.yaml --quiet >/dev/null && "$TACIT" run small.yaml --quiet >/dev/null
[ -d runs/small-1 ] && [ -d runs/small-2 ] || complain "runs/NAME-K is not counted"
echo in-the-way >blocked
expect 3 'blocked' "$TACIT" run small.yaml --out blocked/deep

# ---- a trace ----
expect 3 'cannot make the trace "file": File exists' "$TACIT" run small.yaml --trace file
expect 3 'cannot make the trace "nowhere/t"' "$TACIT" run small.yaml --trace nowhere/t
expect 3 'use fewer agents or a shorter "run.time"' \
    "$TACIT" run small.yaml --trace t --set run.time=1e7
expect 3 '"first" exists' "$TACIT" run small.yaml --out first --trace t
[ "$(cat file)" = precious ] && [ ! -e t ] || complain "a refused run left a trace"

# ---- a file that may not grow: an error with words, not a signal; nothing is left ----
(
    ulimit -f 1 # kB
    expect 3 'File too large' "$TACIT" run small.yaml --out full --quiet
    expect 3 'File too large' "$TACIT" run small.yaml --out full --quiet --trace t --set run.sample=0
    exit $failed
) || failed=1
[ ! -e full ] && [ ! -e t ] || complain "a run without room left something behind: $(ls full t)"

# ---- a budget: what it needs is named at once, and nobody is told to do without ----
budget=(run small.yaml --quiet --out budget --set privacy.epsilon=1)
for have in "" "privacy.mechanism=gaussian" "privacy.mechanism=gaussian privacy.clip=1" "privacy.mechanism=gaussian privacy.releases=9"; do
    set -- "${budget[@]}"
    for one in $have; do set -- "$@" --set "$one"; done
    "$TACIT" "$@" >/dev/null 2>err.txt
    code=$?
    [ $code -eq 3 ] || [ $code -eq 5 ] || complain "epsilon with '$have': exit $code"
    for key in mechanism clip releases; do
        case $have in *privacy.$key*) continue ;; esac
        grep -q "\"privacy.$key\"" err.txt || complain "epsilon with '$have' does not name $key: $(cat err.txt)"
    done
    ! grep -qw inf err.txt || complain "epsilon with '$have' advises inf: $(cat err.txt)"
    [ ! -e budget ] || rm -r budget
done
budget+=(--set privacy.mechanism=gaussian --set privacy.clip=1 --set privacy.releases=9)
expect 3 'set it below 1/records, to 1e-5 or less' "$TACIT" "${budget[@]}" --set privacy.delta=0.5
"$TACIT" "${budget[@]}" --set privacy.delta=0.5 --set privacy.allow-large-delta=true >/dev/null 2>err.txt || complain "a delta that was allowed: $(cat err.txt)"
grep -q '"warning": "delta is not below 1/records"' budget/summary.json || complain "a large delta: $(cat budget/summary.json)"
rm -r budget
"$TACIT" "${budget[@]}" --set privacy.delta=0.4 >/dev/null 2>err.txt || complain "a delta of 0.4: $(cat err.txt)"
tr -s ' \n' ' ' <err.txt | grep -q 'warning: "privacy.delta" is 0.4, and there are .* training records' || complain "no warning: $(cat err.txt)"
rm -r budget
"$TACIT" "${budget[@]}" >/dev/null 2>err.txt || complain "a budget: $(cat err.txt)"
! grep -q 'warning' err.txt || complain "a warning of a delta that is small: $(cat err.txt)"

# Examples have a delta that hides something; papers' figures may have the papers'.
for example in "$TACIT_SOURCE_DIR"/examples/*.yaml "$TACIT_SOURCE_DIR"/examples/*/*.yaml; do
    awk '$1 == "delta:" && $2 + 0 > 1e-5 { found = 1 } END { exit found }' "$example" || complain "$example: a delta above 1e-5"
done

# ---- a result that cannot be written ----
if [ -e /dev/full ]; then
    for words in --version --help "help --man" "run small.yaml --quiet --json" "demo --json"; do
        # shellcheck disable=SC2086
        "$TACIT" $words >/dev/full 2>err.txt
        [ $? -eq 3 ] || complain "/dev/full: not exit 3: $words"
        grep -q 'cannot write the result to standard output: No space left on device' err.txt ||
            complain "/dev/full: no words: $words: $(cat err.txt)"
    done
fi
"$TACIT" --version >&- 2>err.txt
[ $? -eq 3 ] || complain "closed stdout: not exit 3"
(
    trap '' PIPE
    "$TACIT" help run 2>err.txt
    echo $? >code.txt
) | true
[ "$(cat code.txt)" = 3 ] || complain "a reader that left: exit $(cat code.txt), not 3"
exit $failed
