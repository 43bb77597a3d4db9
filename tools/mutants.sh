#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests of the tests: break the code on purpose, one way at a time, and expect the named test to
# fail. Works on a copy; writes bench/results/mutants.csv. Arguments: names of mutants to try
# (all by default; then nothing is written).
#
# JOBS=N      compiles N files at a time
# TRIES=N     runs a test up to N times before a mutant counts as survived: threads are not
#             always unlucky at once
set -u
jobs=${JOBS:-2} tries=${TRIES:-5}
source=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d) || exit 1
chmod 711 "$work" # one test looks at its files as nobody
trap 'rm -rf "$work"' EXIT
tree=$work/tree build=$work/build csv=$work/mutants.csv

# name @ file @ sed expression @ test
mutants=$(grep -v '^#' <<'EOF'
cd: wrong sign of the gradient@src/protocol/cd.c@s/coef\[n + 1\] = -alpha/coef[n + 1] = alpha/@unit/cd_test
cd: neighbours' weights dropped@src/protocol/cd.c@s/alpha \* facts->weight\[j\] \/ facts->degree/alpha \/ facts->degree/@unit/cd_test
cd: regulariser dropped@src/protocol/cd.c@s/coef\[n\] = 1 - alpha - alpha.*;/coef[n] = 1 - alpha;/@unit/cd_test
cd: stale neighbour@src/protocol/personal.c@s/if (event->slot != TACIT_NO_SLOT)/if (event->slot != TACIT_NO_SLOT \&\& !self->view[event->slot])/@unit/cd_test
model-propagation: no anchor@src/protocol/model_propagation.c@s/term\[n\] = self->anchor/term[n] = NULL/@unit/cd_test
rounds: words of two rounds mixed@src/protocol/rounds.c@s/2 \* slot + !now/2 * slot/@conformance/conformance_sim_test
ledger: nothing charged@src/privacy/ledger.c@s/last->releases++;/;/@unit/release_test
ledger: touched permit handed back@src/privacy/ledger.c@s/if (permit->state != TACIT_PERMIT_RESERVED)/if (permit->state == TACIT_PERMIT_SPENT)/@unit/release_test
ledger: budget ignored@src/privacy/ledger.c@s/if (isinf(budget->epsilon) \&\& budget->epsilon > 0)/if (budget)/@unit/release_test
release: value of another permit@src/privacy/mechanism.c@s/ || bounded->permit != permit//@unit/release_test
noise: zero for each sign@src/random/layers.c@s#layers->slot\[last\].sure = layers->scale / 2;#layers->slot[last].sure = layers->scale;#@unit/noise_test
noise: boxes one unit low@src/random/layers.c@s#>> down) + 1;#>> down);#@unit/noise_parts_test
noise: ties always below@src/random/real.c@s#return tacit_below_exact(question, fraction, words);#return true;#@unit/noise_parts_test
noise: variance not halved@src/random/noise.c@s#law->rate_down = shift - down + halvings;#law->rate_down = shift - down + 0*halvings;#@unit/noise_test
noise: words fetched ahead@src/random/noise.c@s#fetch(stream, now \* each, batch);#fetch(stream, BATCH, batch); words.end = batch + BATCH;#@unit/noise_test
grid: norm not checked after rounding@src/privacy/bound.c@s/if (sum <= most)/if (sum > 0)/@unit/grid_test
grid: rows not clipped@src/model/gradient_grid.c@s/return size <= radius ? a : .*;/return a;/@unit/grid_test
grid: integers not checked again@src/model/gradient_grid.c@s/g->row) <= most))/g->row) <= 2 * most))/@unit/grid_test
grid: tiles not added up@src/model/gradient_grid.c@s/g->sum\[k\] += g->tile\[k\];/g->sum[k] = g->tile[k];/@unit/grid_test
kernels: norm of integers too small@src/math/kernels_impl.h@s/return all \* (1 + (double)additions/return all * (1 - (double)additions/@unit/kernels_test
grid: half the sensitivity@src/privacy/plan.c@s/(cost->adjacency == TACIT_REPLACE ? 2 : 1) \* limit/limit/@unit/grid_test
grid: noise rounded down@src/privacy/plan.c@s/ceil(noise \* FINE) \/ FINE : ceil(noise)/floor(noise * FINE) \/ FINE : floor(noise)/@unit/grid_test
grid: half the noise@src/privacy/mechanism.c@s/(uint64_t)noise\[k\]);/(uint64_t)(noise[k] \/ 2));/@unit/noisy_release_test
noise: the same for every release@src/privacy/mechanism.c@s/r->number << PIECES_LOG2 | piece/piece/@unit/noisy_release_test
noise: the same for every piece@src/privacy/mechanism.c@s/r->number << PIECES_LOG2 | piece/r->number << PIECES_LOG2/@unit/noisy_release_test
noise: a forked child repeats it@src/random/system.c@s/return random->process == 0 ||.*;/return true;/@unit/noisy_release_test
noise: two ledgers share it@src/privacy/release.h@s/return random->process ? tacit_random_unique() : permit->id;/return permit->id;/@unit/noisy_release_test
costs: not checked when charged@src/privacy/ledger.c@s/last ? TACIT_OK : tacit_cost_check(cost, err)/TACIT_OK/@unit/noisy_release_test
whole values: any cost will do@src/privacy/bound.c@s/if (cost->unit == TACIT_UNIT_RECORD \&\& cost->adjacency == TACIT_ADD_REMOVE)/if (!cost)/@unit/noisy_release_test
noise: ids reused@src/privacy/ledger.c@s/ledger->next++/ledger->count ? ledger->entries[0].releases : 0/@unit/noisy_release_test
response: too much truth@src/privacy/mechanism.c@s/exp(-cost->noise)/exp(-2 * cost->noise)/@unit/noisy_release_test
lots: everyone@src/privacy/release.h@s/return word < lot->below;/return true;/@unit/grid_test
lots: a fixed share@src/privacy/release.h@s/return word < lot->below;/return (lot->stream.used \/ 4) % 10 < 3;/@unit/grid_test
budget: one release too many@src/privacy/ledger.c@s/return have < most ? TACIT_OK/return have <= most ? TACIT_OK/@unit/budget_test
budget: other costs forgotten@src/privacy/ledger.c@s/o->entry\[at\].releases += e->releases;/;/@unit/budget_test
budget: mixed costs never checked exactly@src/privacy/ledger.c@s/o.have < \*most || exact/true/@unit/budget_test
budget: silence taken for zero@src/privacy/budget.c@s/if (status == TACIT_OK \&\& isnan(\*epsilon))/if (status > 200)/@unit/budget_test
checkpoint: release ids forgotten@src/runtime/sim/persist.c@s/ledger->next = tacit_load_u64(loader);/tacit_load_u64(loader);/@unit/budget_test
cd: add-remove taken@src/protocol/personal.c@s/privacy->adjacency == TACIT_REPLACE)/privacy->adjacency >= 0)/@unit/budget_test
audit: noise halved in the release@src/privacy/mechanism.c@s/(uint64_t)noise\[k\]);/(uint64_t)(noise[k] \/ 2));/@stat/audit_test
audit: trials choose their thresholds@src/privacy/audit_find.c@s/uint64_t k = a->pilot; k < a->pilot + a->trials; k++/uint64_t k = 0; k < a->trials; k++/@unit/audit_test
audit: no Bonferroni@src/privacy/audit_find.c@s/s->confidence = together;/;/@unit/audit_test
audit: odds at twice the error@src/privacy/audit_ratio.c@s/miss - SPARE \* miss/2 * miss/@unit/audit_test
audit: the same noise in every training@src/experiment/audit.c@s/world.noise_seed = noise_seed;/world.noise_seed = 0;/@unit/canary_test
audit: the same lots in every training@src/runtime/sim/sim.c@s/memcpy(s->random.key\[TACIT_FOR_LOTS\].*;/;/@unit/canary_test
clipping: skipped@src/model/gradient.c@s/if (length <= clip.radius)/if (length >= 0)/@unit/release_test
clipping: half the sensitivity@src/model/gradient.c@s/2 \* clip.radius/clip.radius/@unit/release_test
solver: half the regulariser@src/model/solve.c@s/gradient\[k\] = 2 \* lambda/gradient[k] = lambda/@unit/model_test
kernels: overlap counted twice@src/math/kernels_impl.h@s/k < covered ? 0 : theta/theta/@unit/kernels_test
streams: block number stands still@src/random/stream.c@s/s->block += blocks/s->block += 0/@unit/random_test
streams: another label@src/random/stream.c@s/"tacit stream 1"/"tacit stream 2"/@unit/random_test
clock: the same gap again and again@src/runtime/sim/clock.c@s/drawn++/drawn/@unit/clock_test
memory: secrets not wiped@src/base/pool.c@s/if (v->flags & TACIT_VECTOR_SECRET)/if (!v)/@unit/vector_test
checkpoint: checksum not looked at@src/base/saver.c@s/good = memcmp(checksum.*;/good = true;/@unit/checkpoint_test
simulator: lanes do not wait@src/runtime/sim/lanes.c@s/if (number > \*lane)/if (number > UINT32_MAX - 1)/@unit/sim_test
simulator: payload copied@src/runtime/sim/world.c@s/if (v->flags & TACIT_VECTOR_SCRATCH) {/if (v) {/@unit/trace_test
simulator: loss upside down@src/runtime/sim/world.c@s/tacit_stream_unit(chance) </tacit_stream_unit(chance) >/@unit/sim_test
simulator: quiet protocols answer@src/runtime/sim/world.c@s/w->handling == TACIT_MESSAGE \&\&/w->handling == TACIT_FINISH \&\&/@unit/sim_test
simulator: children share a stream@src/runtime/sim/world.c@s/if (channel != 0) {/if (channel == 99) {/@conformance/conformance_sim_test
simulator: late replies delivered@src/runtime/sim/deliver.c@s/wanted = take_request(s, event->to, event->id)/take_request(s, event->to, event->id)/@conformance/conformance_sim_test
simulator: messages reach who is away@src/runtime/sim/world.c@s/!sim_online(s, to)/s->agents == 0/@unit/sim_test
admm: one half where one quarter belongs@src/protocol/admm.c@s/return 0.5 \* weight;/return weight;/@unit/admm_test
admm: wrong sign of the dual@src/protocol/admm.c@s/u + 0.5 \* (mine - other)/u - 0.5 * (mine - other)/@unit/admm_test
admm: Z forgotten@src/protocol/admm.c@s/tacit_public_set(edge->z\[side\], 0, k, 0.5 \* (mine + other));//@unit/admm_test
admm: one end does not update@src/protocol/admm.c@s/    update(edge, edge->asked, word);/    edge->version++;/@unit/admm_test
admm: own and copy not crossed@src/protocol/admm.c@s/side == ADMM_OWN ? ADMM_COPY : ADMM_OWN/side/@unit/admm_test
admm: an answer is not repeated@src/protocol/admm.c@s/if (edge->answered \&\& version + 1 == edge->version)/if (version > UINT32_MAX)/@unit/admm_test
admm: both ends served at once@src/protocol/admm.c@s/if (version != edge->version || first)/if (version != edge->version)/@unit/admm_test
admm: another word when asking again@src/protocol/admm.c@s/    if (!edge->asked) {/    if (true) {/@unit/admm_test
admm: regulariser dropped@src/protocol/admm.c@s/pull + weight \* 2 \* lambda/pull/@unit/admm_test
optimum: each edge counted once@src/experiment/optimum.c@s/0.25 \* g->weight/0.5 * g->weight/@unit/optimum_test
optimum: regulariser without curvature@src/model/curvature.c@s/out\[k\] += scale \* 2 \* lambda \* v\[k\];/out[k] += 0 * v[k];/@unit/optimum_test
reproduce: two vectors counted as one@src/reproduce/fig_000_1.c@s/r->contestant == ADMM ? 2 : 1) \* later/r->contestant == ADMM ? 1 : 1) * later/@unit/reproduce_test
graph: mixing weights too large@src/graph/mixing.c@s/weight\[e\] = 1 \/ (1 + (double)degree)/weight[e] = 1 \/ (double)degree/@unit/graph_spectrum_test
compare: one model for all@src/experiment/compare.c@s/row\[k\] = tacit_vector_get(theta, 0, k)/row[k] = 1/@unit/session_test
ledger.jsonl: agents not counted@src/experiment/ledger_groups.c@s/    found->agents++;//@unit/session_test
partition: gamma of the wrong shape@src/data/shares.c@s/alpha - 1.0 \/ 3/alpha/@unit/partition_test
standardise: a leak not told@src/data/deal.c@s/(scale ? TACIT_LEAK_SCALE : 0U)/0U/@unit/deal_test
ratings: means from test ratings too@src/data/ratings.c@s/sum += m->split\[k\] == TACIT_TRAIN ? r->rating\[k\].value : 0/sum += r->rating[k].value/@unit/ratings_test
als: regulariser not weighted@src/data/als.c@s/als->lambda \* (double)(end - begin)/als->lambda/@unit/als_test
libsvm: indices in any order@src/data/libsvm.c@s/index <= before || //@unit/libsvm_test
sweep: deviation of a population@src/experiment/sweep_means.c@s/square \/ (double)(n - 1) \/ (double)n/square \/ (double)n \/ (double)n/@unit/sweep_test
ledger file: the disk is not waited for@src/privacy/ledger_store.c@s/PRAGMA synchronous=EXTRA/PRAGMA synchronous=NORMAL/@unit/ledger_disk_test
ledger file: a log that can be lost@src/privacy/ledger_store.c@s/journal_mode=TRUNCATE", "truncate"/journal_mode=WAL", "wal"/;s/if (logs)/if (false)/@unit/ledger_disk_test
ledger file: no lock@src/privacy/ledger_lock.c@s/flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno/0/@unit/ledger_file_test
ledger file: moved away unnoticed@src/privacy/ledger_store.c@s/if (code == SQLITE_OK \&\& !moved)/if (true)/@unit/ledger_file_test
ledger file: a child spends, too@src/privacy/ledger_store.c@s/return file->owner == getpid();/return true;/@unit/ledger_file_test
ledger file: records and users added up@src/privacy/ledger_file.c@s/status = check_adds_up(file, \&settled, err);/;/@unit/ledger_file_test
ledger file: closed without a charge@src/privacy/ledger_file.c@s/if (in_hand > 0 || (touched/if ((touched/@unit/ledger_file_test
ledger file: told before it is committed@src/privacy/ledger_file.c@s/    status = tacit_store_end(file, status, err);/    (void)err;/@unit/ledger_crash_test
ledger file: entries not verified@src/privacy/ledger_verify.c@s/if (!tacit_mac_equal(row->mac, file->entries.mac))/if (false)/@unit/ledger_edit_test
ledger file: another history@src/privacy/ledger_verify.c@s/if (!status \&\& !tacit_mac_equal(last, file->entries.mac))/if (false)/@unit/ledger_edit_test
ledger file: ids given twice@src/privacy/ledger_verify.c@s/file->ledger.next = file->bound;/file->ledger.next = file->entries.links;/@unit/ledger_file_test
ledger file: touched permits vanish@src/privacy/ledger_file.c@s/if (n->permit.state == TACIT_PERMIT_RESERVED)/if (n)/@unit/ledger_file_test
ledger.jsonl: seal not compared@src/privacy/seal.c@s/return sodium_memcmp(end, line + len, TACIT_LINE_END) == 0;/return true;/@unit/ledger_read_test
checkpoint: pieces not hashed@src/base/saver.c@s/crypto_generichash_update(s->hash, s->bytes, s->len);$//@unit/checkpoint_test
EOF
)

target() { # unit/cd_test -> unit_cd_test
    echo "${1%%/*}_${1##*/}"
}

compile() { # TEST
    ninja -C "$build" -j "$jobs" "$(target "$1")" >"$work/log" 2>&1
}

passes() { # TEST: true if it passes every time
    for ((k = 0; k < tries; k++)); do
        rm -rf "$work/run" && mkdir "$work/run" && cd "$work/run" || exit 1
        TACIT_SOURCE_DIR=$tree timeout 120 "$build/tests/$1" >"$work/log" 2>&1 || return 1
    done
}

mkdir "$tree"
tar -C "$source" --exclude=./.git --exclude='./build*' --exclude=./runs -cf - . | tar -C "$tree" -xf -
cmake -S "$tree" -B "$build" -G Ninja -DTACIT_SHARED=OFF -DTACIT_BENCH=OFF >"$work/log" 2>&1 ||
    { cat "$work/log" >&2; exit 1; }

wanted() { # NAME ARGUMENTS...
    [ $# -eq 1 ] || [[ " ${*:2} " == *" $1 "* ]]
}
tests=$(while IFS=@ read -r name file expression test; do
    if wanted "$name" "$@"; then echo "$test"; fi
done <<<"$mutants" | sort -u)
for test in $tests; do
    compile "$test" || { cat "$work/log" >&2; exit 1; }
    passes "$test" || { echo "$test fails before anything was broken" >&2; exit 1; }
done

survived=0
echo "name,test,caught" >"$csv"
while IFS=@ read -r name file expression test; do
    wanted "$name" "$@" || continue
    cp "$tree/$file" "$work/original"
    sed -i "$expression" "$tree/$file"
    if cmp -s "$tree/$file" "$work/original"; then
        verdict=outdated # the line it breaks is not there any more
    elif ! compile "$test"; then
        verdict=broken # it must compile to mean anything
        cat "$work/log" >&2
    elif passes "$test"; then
        verdict=no
    else
        verdict=yes
    fi
    [ $verdict = yes ] || survived=$((survived + 1))
    cp "$work/original" "$tree/$file"
    printf '%-40s %-36s %s\n' "$name" "$test" "$verdict"
    echo "$name,$test,$verdict" >>"$csv"
done <<<"$mutants"

[ $# -gt 0 ] || cp "$csv" "$source/bench/results/mutants.csv"
echo "mutants: $(($(wc -l <"$csv") - 1 - survived)) passed, $survived failed"
[ $survived = 0 ]
