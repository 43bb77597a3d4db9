#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make study STUDY=tables: UCI HAR by subject and School by school (examples/har.yaml,
# examples/school.yaml), five random splits each: alone, global, and cd on a similarity graph of
# the models learned alone. TACIT_DATA is the folder that holds uci-har/ and school/.
#
# Regulariser, mu and gamma are chosen by the mean validation accuracy over the splits, a fifth of
# the records that are not for test; each protocol is tuned by itself. The chosen settings then
# run once more a split on all that is not for test, and only these runs' test accuracy is read.
#
# Writes tables.csv and tables_summary.csv to bench/results/ when all went well.
set -eu
export LC_ALL=C
tacit=${TACIT:-build/tacit}
results=${RESULTS:-bench/results}
seeds=${SEEDS:-1..5}
sets=${SETS:-har school}
for file in uci-har/X_train.txt.xz school/school.mat; do
    if [ ! -e "${TACIT_DATA:-.}/$file" ]; then
        echo "there is no $file in \"${TACIT_DATA:-.}\"; set TACIT_DATA to the folder that holds" \
            "it (\"tacit data --known\" says where to get it)" >&2
        exit 2
    fi
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fields="model.lambda-records protocol.mu graph.gamma"

# columns FILE NAMES: these columns of a sweep's file, in this order, empty where it has none.
columns() {
    awk -F, -v names="$2" '
        BEGIN { n = split(names, name, " ") }
        NR == 1 { for (k = 1; k <= NF; k++) at[$k] = k; next }
        { for (k = 1; k <= n; k++) printf "%s%s", name[k] in at ? $at[name[k]] : "",
            k < n ? "," : "\n" }' "$1"
}

# sweep NAME SET PROTOCOL ARGUMENTS: leaves $work/NAME/. A graph that nobody uses is not made.
sweep() {
    name=$1 set=$2 protocol=$3
    shift 3
    case $protocol in
    cd)
        set -- "$@" --set protocol.start=local
        [ "$set" != har ] || set -- "$@" --set run.time=10000
        ;;
    *) set -- "$@" --set graph.kind=ring --set run.time=1 ;;
    esac
    "$tacit" sweep "examples/$set.yaml" --quiet --seeds "$seeds" --out "$work/$name" \
        --set run.every=0 --set protocol.name="$protocol" "$@" >"$work/$name.txt"
}

# study SET PROTOCOL ARGUMENTS: choose among the points of ARGUMENTS, then open the test set.
study() {
    set=$1 protocol=$2
    shift 2
    sweep "choose-$set-$protocol" "$set" "$protocol" --set data.validation-fraction=0.16 "$@"
    columns "$work/choose-$set-$protocol/means.csv" "$fields validation_mean" |
        sort -t, -s -g -r -k4,4 >"$work/choices"
    awk -F, -v head="choose,$set,$protocol" '{ printf "%s,%s,%s,%s,,%.5f,\n", head, $1, $2, $3, $4 }' \
        "$work/choices" >>"$work/rows"
    IFS=, read -r lambda mu gamma validation <"$work/choices"
    echo "$set, $protocol: lambda-records $lambda${mu:+, mu $mu}${gamma:+, gamma $gamma}" \
        "(validation $validation)"
    sweep "test-$set-$protocol" "$set" "$protocol" --set data.validation-fraction=0 \
        -v model.lambda-records="$lambda" ${mu:+-v protocol.mu="$mu"} \
        ${gamma:+-v graph.gamma="$gamma"}
    columns "$work/test-$set-$protocol/runs.csv" "$fields seed test" |
        awk -F, -v head="test,$set,$protocol" '{ printf "%s,%s,%s,%s,%s,,%.5f\n",
            head, $1, $2, $3, $4, $5 }' >>"$work/rows"
    columns "$work/test-$set-$protocol/means.csv" "$fields n test_mean test_low test_high" |
        awk -F, -v head="$set,$protocol" '{ printf "%s,%s,%s,%s,%s,%.4f,%.4f,%.4f\n",
            head, $1, $2, $3, $4, $5, $6, $7 }' >>"$work/summary"
}

echo "phase,set,protocol,lambda_records,mu,gamma,seed,validation_accuracy,test_accuracy" >"$work/rows"
echo "set,protocol,lambda_records,mu,gamma,splits,test_accuracy,low95,high95" >"$work/summary"
for set in $sets; do
    study "$set" alone -v model.lambda-records=0.01,0.1,1,10
    study "$set" global -v model.lambda-records=0.1,1,10
    case $set in
    # 561 features of norm 17: large mu is where cd is best, and it needs many ticks there.
    har) study har cd -v model.lambda-records=0.01,0.1 -v protocol.mu=100,300,1000 \
        -v graph.gamma=0.3 ;;
    *) study "$set" cd -v model.lambda-records=0.001,0.01,0.1,1 -v protocol.mu=0.01,0.1,1,10,100 \
        -v graph.gamma=0.1,0.3,1,3 ;;
    esac
done

echo
echo "| set | | lambda-records | mu | gamma | test accuracy | 95 % interval |"
echo "| --- | --- | --- | --- | --- | --- | --- |"
awk -F, 'NR > 1 { printf "| %s | `%s` | %s | %s | %s | %.4f | %.4f to %.4f |\n",
    $1, $2, $3, $4, $5, $7, $8, $9 }' "$work/summary"
mkdir -p "$results"
cp "$work/rows" "$results/tables.csv"
cp "$work/summary" "$results/tables_summary.csv"
echo
echo "written: $results/tables.csv, $results/tables_summary.csv"
