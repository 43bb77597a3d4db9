#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make study STUDY=chorus_tables: private chorus where people, schools and buyers come as they are.
# Computer buyers (190 people, 20 designs each), School (119 schools, scores; and scores above 20)
# and UCI HAR (27 people, sitting against standing, a quarter of the records). TACIT_DATA is the
# folder that holds computer-buyers/, school/ and uci-har/.
#
# Rows of each: alone; alone by the finish of chorus, with a prior of zero (it has other
# regularisers); one model of all records, not private; one private model at epsilon 1 (chorus of
# one voice, no finish: noisy gradient descent by sums); chorus at epsilon 1 and 0.1, and clipped
# without noise. delta e^-5, one record replaced, trust secure. No graph is made of records (it is
# complete), and features are scaled by public constants or public records only.
#
# Every row is tuned by itself, by the mean validation score over the five splits; the chosen
# setting then runs once more a split on train and validation records together, and only these
# runs' test scores are read. Choosing is not charged to any budget. Splits are of seeds 11 to 15;
# those of 1 to 5 were used to lay out the grids, on validation records.
#
# Writes chorus_tables.csv (all that was tried, and the test score of every split) and
# chorus_tables_summary.csv to bench/results/, and ends with 1 if chorus at epsilon 1 is not better
# than alone (both) and than the private model in every set.
set -eu
export LC_ALL=C
tacit=${TACIT:-build/tacit}
results=${RESULTS:-bench/results}
seeds=${SEEDS:-11..15}
threads=${THREADS:-0}
sets=${SETS:-buyers school school20 har}
for file in computer-buyers/LikeBuy.txt computer-buyers/DesignMatrix.txt school/school.mat \
    uci-har/X_train.txt.xz; do
    if [ ! -e "${TACIT_DATA:-.}/$file" ]; then
        echo "there is no $file in \"${TACIT_DATA:-.}\"; set TACIT_DATA to the folder that holds" \
            "it (\"tacit data --known\" says where to get it)" >&2
        exit 2
    fi
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ---- records ----

# Ratings "person design likelihood", and what a design has (0 or 1), from the survey's files. The
# designs are the survey's own: they are public, and so is every feature.
make_buyers() {
    tr -d '\r' <"$TACIT_DATA/computer-buyers/LikeBuy.txt" | awk -F'\t' '
        NR > 1 && $1 != "" { for (k = 1; k <= 20; k++) print NR - 1 "\t" k "\t" $k + 0 }' \
        >"$work/likes.txt"
    tr -d '\r' <"$TACIT_DATA/computer-buyers/DesignMatrix.txt" |
        sed -n 's/.*c(1,/1,/; s/)//g; /^ *-\{0,1\}1,/p' | tr -d ' ' | awk -F, '
        { printf "%d", NR; for (k = 2; k <= 14; k++) printf "\t%d", ($k > 0); print "" }' \
        >"$work/designs.txt"
    [ "$(wc -l <"$work/likes.txt") $(wc -l <"$work/designs.txt")" = "3800 20" ] || {
        echo "computer-buyers/ is not the survey of 190 people and 20 designs" >&2
        exit 3
    }
    cat >"$work/buyers.yaml" <<END
run: {name: buyers, time: 60, every: 0}
data:
  source: ratings
  folder: $work
  path: likes.txt
  items: designs.txt
  features: items
  offset: constant
  offset-value: 5
  bias: true
  profile: none
  test-fraction: 0.2
graph: {kind: complete}
model: {loss: squared}
END
}

# The last 20 schools (2001 pupils) are public: means, deviations and directions are theirs.
make_school() {
    cat >"$work/school.yaml" <<END
run: {name: school, time: 60, every: 0}
data:
  source: mat
  path: school/school.mat
  public: 2001
  test-fraction: 0.2
graph: {kind: complete}
END
    cp "$work/school.yaml" "$work/school20.yaml"
}

# Sitting (4) and standing (5) only. The last three people, 406 records, are public.
make_har() {
    har=$TACIT_DATA/uci-har
    cat "$har/subject_train.txt" "$har/subject_test.txt" >"$work/subjects"
    cat "$har/y_train.txt" "$har/y_test.txt" >"$work/activities"
    { xz -dc "$har/X_train.txt.xz" && xz -dc "$har/X_test.txt.xz"; } |
        paste -d' ' "$work/subjects" "$work/activities" - | tr -d '\r' |
        awk -v to="$work/har-" '$2 == 4 || $2 == 5 {
            print $1 >(to "people.txt"); print $2 >(to "labels.txt")
            sub(/^ *[0-9]+ +[0-9]+ +/, ""); print >(to "rows.txt") }'
    cat >"$work/har.yaml" <<END
run: {name: har, time: 60, every: 0}
data:
  source: csv
  folder: $work
  path: har-rows.txt
  labels-path: har-labels.txt
  agents-path: har-people.txt
  header: false
  separator: blanks
  positive: 4
  bias: true
  public: 406
  test-fraction: 0.75
graph: {kind: complete}
END
}

# ---- choosing, and opening the test set ----

# try SET SETTINGS VARIED...: a grid into $work/choices: validation score, tab, settings.
try() {
    set=$1 always=$2 fixed=
    for word in $2; do
        fixed="$fixed --set $word"
    done
    shift 2
    # shellcheck disable=SC2086
    "$tacit" sweep "$work/$set.yaml" --quiet --seeds "$seeds" --threads "$threads" \
        --out "$work/v" --set data.validation-fraction="$apart" $fixed "$@" >"$work/v.txt"
    awk -F, -v always="$always" '
        NR == 1 { for (k = 1; k <= NF; k++) name[k] = $k; next }
        { out = always
          for (k = 1; k <= NF; k++) {
              value[name[k]] = $k
              if (name[k] ~ /\./) out = out " " name[k] "=" $k
          }
          gsub(/ +/, " ", out); sub(/^ /, "", out)
          printf "%.5f\t%s\n", value["validation_mean"], out }' "$work/v/means.csv" \
        >>"$work/choices"
    rm -rf "$work/v"
}

# open SET ROW: the best of $work/choices once more on all that is not test; its test scores.
open() {
    set=$1 row=$2 up=
    case $set in school20 | har) up=-r ;; esac
    awk -F'\t' -v head="choose,$set,$row" '{ printf "%s,%s,,%s,\n", head, $2, $1 }' \
        "$work/choices" >>"$work/rows"
    chosen=$(sort -s -g $up -k1,1 "$work/choices" | head -n 1 | cut -f 2)
    echo "$set, $row: $(wc -l <"$work/choices") settings tried; chosen: $chosen"
    rm "$work/choices"
    fixed=
    for word in $chosen; do
        fixed="$fixed --set $word"
    done
    # shellcheck disable=SC2086
    "$tacit" sweep "$work/$set.yaml" --quiet --seeds "$seeds" --threads "$threads" \
        --out "$work/t" $fixed >"$work/t.txt"
    awk -F, -v head="test,$set,$row,$chosen" '
        NR == 1 { for (k = 1; k <= NF; k++) at[$k] = k; next }
        { printf "%s,%s,,%.5f\n", head, $at["seed"], $at["test"] }' "$work/t/runs.csv" \
        >>"$work/rows"
    rm -rf "$work/t"
}

voice="protocol.name=chorus protocol.rank=1 protocol.constant-mode=1"

finish="protocol.finish-scales=0 protocol.finish-choice=first" # nothing of what others say
strengths=0.0001,0.001,0.003,0.01,0.03,0.1,0.3,1,3,10

# budget EPSILON: the settings of a budget; none for "none".
budget() {
    [ "$1" = none ] || echo "privacy.mechanism=gaussian privacy.delta=0.006737946999085467" \
        "privacy.epsilon=$1"
}

# less EPSILON VALUES OTHERS: at epsilon 0.1 noise bears fewer rounds.
less() {
    if [ "$1" = 0.1 ]; then echo "$2"; else echo "$3"; fi
}

study_buyers() {
    apart=0.2 # of what test leaves
    make_buyers
    for whiten in false true; do
        try buyers "protocol.name=alone data.whiten=$whiten" -v model.lambda-records=0.3,1,2,4 \
            -v data.bias-scale=4,20
    done
    open buyers alone
    try buyers "$voice $finish data.whiten=true" -v protocol.finish-bias=0.01,0.1,1 \
        -v protocol.finish-strengths="$strengths"
    open buyers "alone by the finish"
    try buyers "protocol.name=global" -v model.lambda-records=0.1,1,10 -v data.bias-scale=4
    open buyers global
    try buyers "$voice $(budget 1) protocol.finish=none data.whiten=true" \
        -v protocol.rounds=3,8,16,32 -v privacy.clip=1,2,4,8
    open buyers "one private model epsilon 1"
    for epsilon in 1 0.1 none; do
        try buyers "$voice $(budget $epsilon) data.whiten=true model.lambda-records=1" \
            -v protocol.rounds="$(less $epsilon 1,3,8 3,8,16)" -v privacy.clip=1,2,4 \
            -v protocol.finish-bias=0.01,0.1 \
            -v protocol.finish-strengths=0.01,0.02,0.04 -v protocol.finish-choice=first,mean
        open buyers "chorus epsilon $epsilon"
    done
}

# study_school SET LOSS CLIPS LAMBDAS
study_school() {
    set=$1 apart=0.16
    make_school
    case $2 in
    squared) task="model.loss=squared data.standardise-labels=true" ;;
    *) task="model.loss=logistic data.threshold=20" ;;
    esac
    scaled="$task data.standardise=public data.bias=true"
    white="$scaled data.components=22 data.whiten=true"
    try "$set" "$task protocol.name=alone" -v model.lambda-records="$4"
    try "$set" "$scaled protocol.name=alone" -v model.lambda-records="$4"
    try "$set" "$white protocol.name=alone" -v model.lambda-records="$4"
    open "$set" alone
    try "$set" "$voice $finish $white protocol.radius=4.8" -v protocol.finish-bias=0.03,0.3,1 \
        -v protocol.finish-strengths="$strengths"
    open "$set" "alone by the finish"
    try "$set" "$white protocol.name=global" -v model.lambda-records=1,10,100,1000
    open "$set" global
    try "$set" "$voice $(budget 1) $white protocol.finish=none" -v protocol.rounds=6,12,25,50 \
        -v privacy.clip="$3" -v protocol.radius=4.8,7
    open "$set" "one private model epsilon 1"
    for epsilon in 1 0.1 none; do
        try "$set" "$voice $(budget $epsilon) $white protocol.finish-choice=first" \
            -v protocol.rounds="$(less $epsilon 1,3,6 6,12,25)" -v privacy.clip="$3" \
            -v protocol.radius=4.8,7 \
            -v protocol.finish-bias=0.03,0.3 -v protocol.finish-strengths=0.1,0.3,1
        open "$set" "chorus epsilon $epsilon"
    done
}

study_har() {
    apart=0.05
    make_har
    scaled="data.standardise=public"
    for scale in none public; do
        try har "protocol.name=alone data.standardise=$scale" \
            -v model.lambda-records=0.0003,0.003,0.03,0.3
    done
    try har "protocol.name=alone $scaled data.components=100" -v model.lambda-records=0.03,0.3
    open har alone
    try har "$voice $finish $scaled protocol.radius=24" -v protocol.finish-bias=0.1,1 \
        -v protocol.finish-strengths="$strengths"
    open har "alone by the finish"
    try har "protocol.name=global $scaled" -v model.lambda-records=1,10,100
    open har global
    one="$voice $(budget 1) $scaled protocol.finish=none"
    try har "$one" -v protocol.rounds=4,10,20 -v privacy.clip=2,4,8 -v protocol.radius=24,40 \
        -v protocol.spreads=coordinates
    try har "$one data.components=20 data.whiten=true protocol.radius=4.6" \
        -v protocol.rounds=4,10 -v privacy.clip=0.5,1.5 -v protocol.spreads=modes,coordinates
    open har "one private model epsilon 1"
    for epsilon in 1 0.1 none; do
        try har "$voice $(budget $epsilon) $scaled model.lambda-records=0.03" \
            -v protocol.rounds="$(less $epsilon 1,3 4,10)" -v privacy.clip=4 \
            -v protocol.radius=24,40 -v protocol.spreads=coordinates \
            -v protocol.finish-choice=first,mean \
            -v protocol.finish-strengths=0.003,0.01,0.03,0.1
        open har "chorus epsilon $epsilon"
    done
}

echo "phase,set,row,settings,seed,validation,test" >"$work/rows"
for name in $sets; do
    case $name in
    buyers) study_buyers ;;
    school) study_school school squared 2,4 0.1,0.3,1,3,10,30 ;;
    school20) study_school school20 logistic 1,2 0.01,0.03,0.1,0.3,1,3 ;;
    har) study_har ;;
    esac
done

# ---- means, and differences split by split ----

# Student's 95 % intervals. A gain is positive where chorus at epsilon 1 is better.
awk -F, '
    function add(label, value) { if (!(label in n)) order[++labels] = label
        n[label]++; sum[label] += value; square[label] += value * value }
    BEGIN { split("12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262", t, " ") }
    $1 == "test" {
        add($2 "," $3, $7)
        score[$2, $3, $5] = $7
        if (!(($2, $5) in seen)) { seen[$2, $5] = 1; set[++splits] = $2; seed[splits] = $5 }
    }
    END {
        chorus = "chorus epsilon 1"
        others = split("alone;alone by the finish;one private model epsilon 1", against, ";")
        for (k = 1; k <= splits; k++)
            for (a = 1; a <= others; a++) {
                by = score[set[k], chorus, seed[k]] - score[set[k], against[a], seed[k]]
                up = set[k] == "har" || set[k] == "school20"
                add(set[k] ",gain over " against[a], up ? by : -by)
            }
        print "set,row,splits,mean,low95,high95"
        for (k = 1; k <= labels; k++) {
            l = order[k]; m = sum[l] / n[l]; v = square[l] / n[l] - m * m
            half = n[l] > 1 && n[l] <= 10 ? t[n[l] - 1] * sqrt((v > 0 ? v : 0) / (n[l] - 1)) : 0
            printf "%s,%d,%.4f,%.4f,%.4f\n", l, n[l], m, m - half, m + half
        }
    }' "$work/rows" >"$work/summary"

echo
echo "RMSE (buyers, school) and accuracy (school20, har), means over agents and splits $seeds"
echo
echo "| set | | test | 95 % interval |"
echo "| --- | --- | --- | --- |"
awk -F, 'NR > 1 { printf "| %s | %s | %.4f | %.4f to %.4f |\n", $1, $2, $4, $5, $6 }' "$work/summary"

mkdir -p "$results"
# What all rows of chorus have in common is left out of their settings.
sed 's/ protocol.rank=1 protocol.constant-mode=1//; s/ privacy.mechanism=gaussian//
    s/ privacy.delta=[0-9.]*//' "$work/rows" >"$results/chorus_tables.csv"
cp "$work/summary" "$results/chorus_tables_summary.csv"
echo
echo "written: $results/chorus_tables.csv, $results/chorus_tables_summary.csv"

awk -F, '
    $2 ~ /^gain/ {
        bad = bad || $5 <= 0
        printf "%-10s %-42s %.4f (%.4f to %.4f): %s\n", $1, $2, $4, $5, $6,
            ($5 > 0 ? "holds" : "DOES NOT HOLD")
    }
    END { exit bad }' "$work/summary"
