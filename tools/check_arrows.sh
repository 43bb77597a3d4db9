#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The direction of dependence between modules, from #include lines. One table:
# a module may include from itself and from what stands on its line.
set -u
export LC_ALL=C
failed=0

declare -A may=(
    [base]=""
    [config]="base"
    [math]="base"
    [random]="base math"
    [crypto]="base random"
    [privacy]="base config math random"
    [graph]="base config math random"
    [data]="base config math random"
    [model]="base config math random privacy data"
    [protocol]="base math config privacy graph data model crypto"
    [net]="base random protocol crypto"
    [runtime]="base config math random privacy graph data model protocol net crypto"
    [report]="base"
    [experiment]="base config math random privacy graph data model protocol net runtime report crypto"
    [reproduce]="base config math random privacy graph data model protocol net runtime report experiment crypto"
    [cli]="base config math random privacy graph data model protocol net runtime report experiment reproduce crypto"
)
# Which module a public header belongs to.
declare -A owner=(
    [base]=base [targets]=base [checkpoint]=base [vector]=base [eigen]=math [config]=config [random]=random [noise]=random [privacy]=privacy [account]=privacy [ledger]=privacy [lifetime]=privacy [audit]=privacy [canary]=experiment [advise]=experiment [forecast]=experiment [graph]=graph
    [data]=data [model]=model [net]=model [net_file]=model [tracked]=model [masks]=crypto [env]=protocol [protocol]=protocol [sums]=protocol [totals]=protocol [gopa]=graph [board]=protocol [shares]=crypto [runtime]=runtime [node]=runtime [consortium]=experiment [board_file]=experiment [average]=experiment
    [experiment]=experiment [sweep]=experiment [tune]=experiment [reproduce]=reproduce [tacit]=cli
)

# allowed FILE MODULE OTHER INCLUDE
allowed() {
    [ "$2" = "$3" ] && return
    for name in ${may[$2]}; do
        [ "$name" = "$3" ] && return
    done
    echo "$1: $2 must not include \"$4\" (of $3)"
    failed=1
}

for file in $(find src include/tacit cli -name '*.[ch]' | sort); do
    case $file in
    src/*) module=${file#src/} module=${module%%/*} ;;
    cli/*) module=cli ;;
    *)
        name=$(basename "$file" .h)
        module=${owner[$name]:-}
        [ -n "$module" ] || { echo "$file: say in $0 which module owns it"; failed=1; continue; }
        ;;
    esac
    [ -n "${may[$module]+known}" ] || { echo "$file: module $module is not in the table"; failed=1; continue; }
    for include in $(sed -n 's/^ *# *include *"\([^"]*\)".*/\1/p' "$file"); do
        case $include in
        tacit/*)
            name=$(basename "$include" .h)
            other=${owner[$name]:-}
            [ -n "$other" ] || { echo "$file: unknown header \"$include\""; failed=1; continue; }
            allowed "$file" "$module" "$other" "$include"
            ;;
        */*)
            allowed "$file" "$module" "${include%%/*}" "$include"
            # A protocol sees its environment and nothing behind it.
            if [ "$module" = protocol ] && [ "${include%%/*}" != protocol ]; then
                echo "$file: protocols include public headers only, not \"$include\""
                failed=1
            fi
            ;;
        *) [ "$module" = cli ] || { echo "$file: write \"$include\" with its module"; failed=1; } ;;
        esac
    done
done
# A private metric is for the owner's eyes: a protocol hands it on and does not look inside.
if grep -n 'owner_only' src/protocol/*.[ch]; then
    echo "protocols must not read what is inside a private metric"
    failed=1
fi
# BLAS takes turns (tacit/eigen.h): who calls it without asking gets wrong numbers now and then.
if grep -nE '<(lapacke?|cblas|arpack)\.h>' $(find src cli -name '*.[ch]' ! -path src/math/lapack.c \
        ! -path src/graph/lanczos.c); then
    echo "use tacit/eigen.h"
    failed=1
fi
exit $failed
