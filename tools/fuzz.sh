#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tools/fuzz.sh SECONDS: run every tests/fuzz/*_fuzz.c for that long, two at a time. What they
# find grows in build-fuzz/corpus/; a crash leaves its input in build-fuzz/ and fails.
# The last line is "fuzz: N passed, N failed".
set -u
seconds=$1
folder=build-fuzz
tools/build.sh $folder -DCMAKE_C_COMPILER=clang -DTACIT_FUZZ=ON || exit 1

fuzz_one() {
    name=$1
    short=${name%_fuzz}
    mkdir -p $folder/corpus/"$short"
    seeds=tests/fuzz/corpus/$short
    [ -d "$seeds" ] || seeds=
    if $folder/fuzz/"$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
        -max_len=65536 -print_final_stats=1 -artifact_prefix=$folder/"$short"- \
        $folder/corpus/"$short" $seeds >$folder/"$short".log 2>&1; then
        runs=$(sed -n 's/stat::number_of_executed_units: //p' $folder/"$short".log)
        echo "    $short: ${runs:-?} inputs, no crash"
    else
        echo "    $short: FAILED, see $folder/$short.log"
        tail -n 40 $folder/"$short".log
        touch $folder/"$short".failed
    fi
}
export -f fuzz_one
export seconds folder

rm -f $folder/*.failed
names=$(for source in tests/fuzz/*_fuzz.c; do [ -e "$source" ] && basename "$source" .c; done)
count=$(echo $names | wc -w)
[ "$count" -gt 0 ] && echo $names | xargs -n 1 -P 2 bash -c 'fuzz_one "$0"'
failed=$(find $folder -maxdepth 1 -name '*.failed' | wc -l)
echo "fuzz: $((count - failed)) passed, $failed failed"
[ "$failed" = 0 ]
