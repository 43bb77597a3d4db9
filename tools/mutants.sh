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
learner: owners weighed alike@src/protocol/learner_center.c@s#((double)owner->records / records)#(1 / owners)#@unit/learner_test
observer: agents without records stay silent under add-remove@src/protocol/consensus_setup.c@s/return facts->records == 0 \&\& !counts_are_secret(s);/return facts->records == 0;/@unit/observer_test
observer: users' numbers of records are public@src/protocol/consensus_setup.c@s/ || s->privacy.unit == TACIT_UNIT_USER)/)/@unit/observer_test
observer: a mean under add-remove@src/model/gradient_grid.c@s/ || cost->adjacency == TACIT_ADD_REMOVE || records == 0/ || records == 0/@unit/observer_test
observer: a mean of nets under add-remove@src/model/net_gradient.c@s/cost->adjacency == TACIT_ADD_REMOVE || records == 0 ? 1/records == 0 ? 1/@unit/observer_test
observer: owners tell how many records a user has@src/protocol/learner_owner.c@s/user ? 1 : /false ? 1 : /@unit/observer_test
observer: users weighed by their records in cd@src/protocol/cd.c@s/o->full_confidence > 0 \&\& o->full_confidence <= 1/o->full_confidence >= 0/@unit/observer_test
observer: local models of users@src/protocol/warm.c@s/ || privacy->unit == TACIT_UNIT_RECORD)/ || privacy)/@unit/observer_test
observer: a curator without records complains@src/protocol/dp_sgd.c@s/(none || setup->privacy->adjacency == TACIT_REPLACE)/true/@unit/observer_test
observer: batches of users with any regulariser@src/protocol/diffusion_setup.c@s/s->privacy.unit != TACIT_UNIT_USER ||/s ||/@unit/observer_test
observer: add-remove in one-shot@src/protocol/one_shot.c@s/o->adjacency != TACIT_REPLACE/o->adjacency > 99/@unit/observer_test
observer: add-remove in chorus@src/protocol/chorus_setup.c@s/(noisy \&\& privacy->adjacency != TACIT_REPLACE)/false/@unit/observer_test
observer: a protocol that is in no table@src/protocol/alone.c@s/.name = "alone"/.name = "lonely"/@unit/observer_test
learner: an answer counts twice@src/protocol/learner_center.c@s/ || number != (int64_t)owner->number//@unit/learner_test
learner: the printed inertia@src/protocol/learner_center.c@s/s->options.inertia == INERTIA_PRINTED/true/@unit/learner_test
learner: budget for one answer too many@src/protocol/learner.c@s/return j;/return j - 1;/@unit/learner_test
learner: owners answer whenever they are asked@src/protocol/learner_owner.c@s/if (self->ticked)/if (s)/@unit/learner_test
data: agents own public records@src/data/slice.c@s/owner\[order\[k\]\] = TACIT_NOT_DEALT/(void)owner/@unit/slice_test
data: public scale of private records@src/data/deal.c@s/tacit_slice_scale(&d->slice, d->table, o, &d->scale)/for (uint32_t i = 0; i < d->agents; i++) measure(d, i)/@unit/slice_test
data: components not centred@src/data/slice.c@s/slice->room\[f\] = x\[f\] - slice->centre\[f\]/slice->room[f] = x[f]/@unit/slice_test
data: agents keep test records beside common ones@src/data/deal.c@s/test ? 0 : given->test_fraction/given->test_fraction/@unit/common_test
data: common test records over training records@src/data/dataset.c@s/.first = total - common/.first = 0/@unit/common_test
data: scores on own records only@src/experiment/measure.c@s/tacit_dataset_scored(/tacit_dataset_shard(/@unit/common_test
figures of 002: the two splits swapped@src/reproduce/owners.c@s/? "cap" : "horizon"/? "horizon" : "cap"/@unit/owners_test
rounds: words of two rounds mixed@src/protocol/rounds.c@s/2 \* slot + !now/2 * slot/@conformance/conformance_sim_test
totals: pads before the own seed@src/protocol/totals_member.c@s/s->phase != TOTALS_OPENED ||/s->phase < TOTALS_CONFIRMED ||/@unit/totals_attack_test
totals: shares for members that may not be there@src/protocol/totals_plan.c@s/honest < sure ? honest : sure/honest/@unit/totals_attack_test
totals: keys of any number that it chose@src/protocol/totals_member.c@s/lost_of_chosen(s) <= a->plan->losses/lost_of_chosen(s) < 99/@unit/totals_attack_test
totals: fewer members than noise was made for@src/protocol/totals_member.c@s/return count >= needed \&\& /return /@unit/totals_attack_test
totals: no quorum@src/protocol/totals_member.c@s/ \&\& present_of_chosen(s) >= s->member.threshold//@unit/totals_attack_test
totals: a seed without confirmations@src/protocol/totals_member.c@s/ || agree < s->member.threshold//@unit/totals_attack_test
totals: sets that grow@src/protocol/totals_member.c@s/if (!is_part_of(v, s->member.set, a->plan->agents))/if (0)/@unit/totals_attack_test
totals: an adder called away@src/protocol/totals_adder.c@s/trial > d->trial \&\& a->s->member.trial <= d->trial \&\&/false \&\&/@unit/totals_test
totals: nobody sits out@src/protocol/totals_speaker.c@s/k < 2 \&\& totals_head(v, 4)/k < 0/@unit/totals_attack_test
totals: results missed for good@src/protocol/totals_speaker.c@s/totals_head(v, 3) > s->judged/0/@unit/totals_test
average: a simulation whose noise follows from a number@cli/average_simulate.c@s/flags->seed < 0)$/false)/@e2e/average
board: names that nobody signed@src/net/keys.c@/by.name, strlen(by.name)/d@unit/board_file_test
average: an own word that the ledger does not know@src/experiment/average_answer.c@s/if (!there || releases > 0)/if (board)/@unit/average_test
average: another question under the same name@src/experiment/average.c@s/if (status || strncmp(run, name, strlen(name)) == 0)/if (name[0])/@e2e/average
totals: a confirmed number said again@src/protocol/totals_member.c@s/totals_drop_number(a); .*$/;/@unit/totals_kills_test
totals: less noise in a further try@src/protocol/totals_member.c@s/>= s->number_parts/>= 0/@unit/totals_kills_test
average: words of a failed try are lost@src/protocol/gopa_setup.c@s/s->plan.again = s->options.rounds == 1/s->plan.again = s->options.rounds == 0/@unit/average_test
totals: nobody stands by@src/protocol/totals_deputy.c@s/return plan->again ? totals_agent_at(roles, 1) : TACIT_NOBODY;/(void)roles; return plan ? TACIT_NOBODY : 0;/@unit/totals_kills_test
gopa: risk without those opened by others@src/graph/gopa_risk.c@s/    if (!s->lying)/    if (s)/@unit/gopa_plan_test
gopa: own share counted@src/protocol/totals_plan.c@s/const uint32_t own = c == 0;/const uint32_t own = 0;/@unit/totals_plan_test
ledger: nothing charged@src/privacy/ledger.c@s/last->releases++;/;/@unit/release_test
ledger: touched permit handed back@src/privacy/ledger.c@s/if (permit->state != TACIT_PERMIT_RESERVED)/if (permit->state == TACIT_PERMIT_SPENT)/@unit/release_test
ledger: budget ignored@src/privacy/ledger.c@s/if (isinf(budget->epsilon) \&\& budget->epsilon > 0)/if (budget)/@unit/release_test
release: value of another permit@src/privacy/mechanism.c@s/ || bounded->permit != permit//@unit/release_test
noise: zero for each sign@src/random/layers.c@s#slot\[last\].sure = layers->scale / 2;#slot[last].sure = layers->scale;#@unit/noise_parts_test
noise: boxes one unit low@src/random/layers.c@s#>> down) + 1;#>> down);#@unit/noise_parts_test
noise: ties always below@src/random/real.c@s#return tacit_below_exact(question, fraction, words);#return true;#@unit/noise_parts_test
noise: variance not halved@src/random/noise.c@s#law->rate_down = shift - down + halvings;#law->rate_down = shift - down + 0*halvings;#@unit/noise_test
noise: words fetched ahead@src/random/noise.c@s#fetch(stream, now, batch);#fetch(stream, BATCH, batch);#@unit/noise_test
noise: words behind a greedy draw not read again@src/random/layers.c@s/if (words->at != word + k + 1) {/if (false) {/@unit/noise_plain_test
noise: a glance trusted too far@src/random/real.c@s/scaled(question), 15)/scaled(question), 40)/@unit/noise_plain_test
noise: sure one too high in vectors@src/math/kernels_boxes.h@s/(signed_pairs)rest >= (signed_pairs)sure/(signed_pairs)rest > (signed_pairs)sure/@unit/noise_plain_test
streams: no carry in the block number@src/math/kernels_chacha.h@s/ - (lanes)(s->start\[12\] < s->index)/ - (lanes){0}/@unit/random_test
grid: norm not checked after rounding@src/privacy/bound.c@s/if (sum <= most)/if (sum > 0)/@unit/grid_test
grid: rows not clipped@src/model/gradient_grid.c@s/.radius = TACIT_GRID_AIM \* tacit_cost_limit/.radius = 100.0 * tacit_cost_limit/@unit/grid_test
grid: integers not checked again@src/model/gradient_grid.c@s/g->row) <= most))/g->row) <= 2 * most))/@unit/grid_test
grid: tiles not added up@src/model/gradient_grid.c@s/g->sum\[k\] += g->tile\[k\];/g->sum[k] = g->tile[k];/@unit/grid_test
kernels: norm of integers too small@src/math/kernels_grid.h@s/return all \* (1 + (double)additions/return all * (1 - (double)additions/@unit/kernels_test
grid: half the sensitivity@src/privacy/plan.c@s/(cost->adjacency == TACIT_REPLACE ? 2 : 1) \* limit/limit/@unit/grid_test
grid: noise rounded down@src/privacy/plan.c@s/ceil(noise \* FINE) \/ FINE : ceil(noise)/floor(noise * FINE) \/ FINE : floor(noise)/@unit/grid_test
grid: half the noise@src/privacy/mechanism.c@s/(uint64_t)noise\[k\]);/(uint64_t)(noise[k] \/ 2));/@unit/noisy_release_test
noise: the same for every release@src/privacy/mechanism.c@s/permit->id << PIECES_LOG2, err/0, err/@unit/noisy_release_test
noise: the same for every piece@src/privacy/mechanism.c@s/tacit_draws_stream(&stream, &r->draws, piece)/tacit_draws_stream(\&stream, \&r->draws, 0)/@unit/noisy_release_test
noise: a forked child repeats it@src/random/system.c@s/return random->process == 0 ||.*;/return true;/@unit/noisy_release_test
noise: two ledgers share it@src/random/system.c@s/if (random->process)/if (0)/@unit/noisy_release_test
noise: two continuations of one memory share it@src/random/system.c@s/if (!system_bytes(now.fresh, sizeof now.fresh))/if (0)/;s/&now.day/\&now.running/;s/clock_gettime(CLOCK_[A-Z]*, &now.running);//@unit/snapshot_test
noise: the process id is the guard@src/random/system.c@s/MADV_WIPEONFORK) == 0/MADV_NORMAL) == 0/@unit/snapshot_test
node: seeds of a memory image drawn twice@src/runtime/node/env.c@s/    if (tacit_draws_open(&draws, &n->random,/    n->random.process = 0;\n    if (tacit_draws_open(\&draws, \&n->random,/@unit/snapshot_test
streams: large counters wrap round@src/random/stream.c@s/const uint64_t beyond = counter >> COUNTERS_LOG2;/const uint64_t beyond = 0;/@unit/random_test
audit: both ghosts have the canary@src/experiment/audit_ghosts.c@s/{data->with, data->without}/{data->with, data->with}/@unit/canary_test
audit: trials where nothing is claimed@src/experiment/audit.c@s/if (e->privacy.mechanism == TACIT_MECHANISM_NONE)/if (0)/@unit/canary_test
node: secrets of masks outlive the run@src/runtime/node/store_seal.c@s/if (store->last || !\*state)/if (store)/@unit/node_forget_test
node: the key of states stays@src/runtime/node/node.c@s/^    forget_secrets(n);/    (void)forget_secrets;/@unit/node_forget_test
gopa: secrets in the last state@src/protocol/gopa.c@s/tacit_totals_forget(&s->plan, totals_of(self));//@unit/node_forget_test
diffusion: secrets in the last state@src/protocol/diffusion.c@s/tacit_sums_forget(env, &s->sums, diffusion_sums(self));/;/@unit/node_forget_test
totals: a delay is the draw of a partner@src/protocol/totals_inside.h@s/(UINT64_C(1) << 62 | (trial))/(trial)/@unit/totals_keys_test
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
kernels: overlap counted twice@src/math/kernels_impl.h@s/(BITS)LOAD(theta + p - LANES) & NAME(tail_lanes)(p)/(BITS)LOAD(theta + p - LANES)/@unit/kernels_test
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
graph: mixing weights too large@src/graph/combination.c@s/return 1 \/ (1 + (double)(degree > sight->degree ? degree : sight->degree));/return 1 \/ (double)(degree > sight->degree ? degree : sight->degree);/@unit/graph_spectrum_test
compare: one model for all@src/experiment/compare.c@s/row\[k\] = tacit_vector_get(theta, 0, k)/row[k] = 1/@unit/session_test
ledger.jsonl: agents not counted@src/experiment/ledger_groups.c@s/    found->agents++;//@unit/session_test
partition: gamma of the wrong shape@src/data/shares.c@s/alpha - 1.0 \/ 3/alpha/@unit/partition_test
standardise: a leak not told@src/data/deal.c@s/(scale ? TACIT_LEAK_SCALE : 0U)/0U/@unit/deal_test
ratings: means from test ratings too@src/data/ratings.c@s/sum += m->split\[k\] == TACIT_TRAIN ? r->rating\[k\].value : 0/sum += r->rating[k].value/@unit/ratings_test
als: regulariser not weighted@src/data/als.c@s/als->lambda \* (double)(end - begin)/als->lambda/@unit/als_test
libsvm: indices in any order@src/data/libsvm.c@s/index <= before || //@unit/libsvm_test
search: chooses on test records@src/experiment/tune_steps.c@s/r->value\[TACIT_SWEEP_VALIDATION\];/r->value[TACIT_SWEEP_TEST];/@unit/tune_test
search: test records of every try@src/experiment/sweep_one.c@s/if (!sweep->tuner || one->open)/if (true)/@unit/tune_test
search: other tries not charged@src/experiment/tune_charge.c@s/r < tacit_sweep_runs(sweep) \&\& good; r++)/r < 1 \&\& good; r++)/@unit/tune_test
search: the choice not charged@src/experiment/tune_charge.c@s/good = add_loss(\&all, \&score) \&\& good;/;/@unit/tune_test
search: noise of one try in all@src/experiment/tune_charge.c@s/{(uint64_t)run, /{0, /@unit/tune_test
search: private scores without noise@src/experiment/tune_charge.c@s/noise \* 1.00001, err/noise * 1e-9, err/@unit/tune_test
search: private, and looks before it charges@src/experiment/tune_plan.c@s/charges || t->sweep->seed_count < FEW/t->sweep->seed_count < FEW/@unit/tune_test
diffusion: an epsilon for as many colluders as masks bear@src/protocol/diffusion_setup.c@s/return o->sigma > 0 ? (uint64_t)o->colluders : breaks > 0/return breaks > 0/@unit/diffusion_test
masks: half of an odd split@src/crypto/turn.c@s#return split ? members / 2 : members - 1;#return split ? (members + 1) / 2 : members - 1;#@unit/diffusion_test
data: a hole moves the split@src/data/deal.c@s/if (d->blank) {/if (false) {/@unit/deal_test
data: the width of libsvm is no leak@src/data/deal.c@s/o->source == TACIT_SOURCE_LIBSVM \&\& o->width == 0/false/@unit/session_test
totals: chances not small beside delta@src/protocol/totals_plan.c@s/fmax(LEAST_BITS, log2(BESIDE_DELTA \/ p->delta))/LEAST_BITS/@unit/totals_plan_test
totals: delta without the chance of a split@src/experiment/session.c@s/tacit_protocol_more_delta(session->experiment->protocol, rt->ops->shared(rt))/0/@unit/session_test
search: scores on everybody's records charged as own ones@src/experiment/tune_plan.c@s/if (!tacit_data_scores_on_all(&x->data))/if (x)/@unit/tune_test
search: decides before all have run@src/experiment/tune_steps.c@s/if (is_over(s, run))/if (is_over(s, run) || (k > 0 \&\& is_over(s, run - 1)))/@unit/tune_test
search: nobody is dropped@src/experiment/tune_steps.c@s/isnan(gap.mean) || gap.low > 0/false/@unit/tune_test
consensus: last gradients are scaled@src/protocol/dsgt.c@s/gradient ? -1 : 0/gradient ? -0.99 : 0/@unit/consensus_test
consensus: own weight too large@src/protocol/consensus_words.c@s/heard->weight\[0\] -= heard->weight\[m\];/heard->weight[0] -= 0.99 * heard->weight[m];/@unit/consensus_test
consensus: tracking forgets after a refusal@src/protocol/dsgt.c@s/if (self->spent) \/\*/if (false) \/\*/@unit/consensus_test
consensus: Adam's momentum whatever was said@src/protocol/dinno.c@s/.beta1 = s->options.momentum/.beta1 = 0.9/@unit/consensus_test
consensus: duals push apart@src/protocol/dinno.c@s/heard->word\[k\] ? -edge : 0/heard->word[k] ? edge : 0/@unit/consensus_test
consensus: neighbours of dinno weighed alike@src/protocol/dinno.c@s/weighted ? rho \* heard->weight\[k\] : rho/rho/@unit/consensus_test
consensus: rho does not grow@src/protocol/dinno.c@s/return o->rho \* pow(.*;/return o->rho;/@unit/consensus_test
consensus: dinno weighed one-sidedly@src/protocol/dinno.c@s/COUPLING_WEIGHTED \&\& !symmetric/COUPLING_WEIGHTED \&\& false/@unit/consensus_test
consensus: releases of primal steps not planned@src/protocol/consensus_setup.c@s/(uint64_t)(s->options.primal > 0 ? s->options.primal : 1)/1/@unit/consensus_test
consensus: gradients without the regulariser@src/protocol/consensus.c@s/if (lambda > 0)/if (lambda > 1e9)/@unit/consensus_test
consensus: means begin at zero@src/protocol/consensus.c@s/(1 - decay) \/ (1 - pow(decay, (double)iteration))/(1 - decay)/@unit/consensus_test
consensus: momentum not saved@src/protocol/consensus.c@s/self->vector\[k\] = tacit_load_public(loader, s->shape);/{ tacit_public *v = tacit_load_public(loader, s->shape); if (k != GRADIENT) self->vector[k] = v; else if (v) tacit_public_zero(self->vector[k] = v); }/@unit/consensus_test
consensus: nets by protocols for linear models@src/protocol/registry.c@s/if (tacit_model_net(setup->model) \&\&/if (false \&\&/@unit/consensus_test
net release: a clip above the limit@src/model/net_gradient.c@s/(1 - 0x1p-40);/1.01;/@unit/net_release_test
net release: lots of all@src/model/net_gradient.c@s/if (tacit_lot_takes(\&draw) \&\& count < most)/if (count < most)/@unit/net_release_test
net release: lots divided by all records@src/model/net_gradient.c@s/? 1 : 1 \/ (q \* (double)records);/? 1 : 1 \/ (double)records;/@unit/net_release_test
net release: the mean under add-remove@src/model/net_gradient.c@s/cost->adjacency == TACIT_ADD_REMOVE || records == 0 ? 1/records == 0 ? 1/@unit/net_release_test
net release: rounding half the sum away@src/model/net_step.c@s/total\[k\] += (double)part\[k\];/total[k] = (double)part[k];/@unit/net_test
nets: no border@src/model/net_conv.c@s/(plane \* high + k + pad) \* wide + pad/(plane * high + k) * wide/@unit/net_test
nets: a bare run that has run away goes on@src/model/net_gradient.c@s/status == TACIT_OK \&\& report.broken > 0/false/@unit/consensus_test
sweep: deviation of a population@src/experiment/sweep_means.c@s/square \/ (double)(n - 1) \/ (double)n/square \/ (double)n \/ (double)n/@unit/sweep_test
ledger file: the disk is not waited for@src/privacy/sealed_db.c@s/PRAGMA synchronous=EXTRA/PRAGMA synchronous=NORMAL/@unit/ledger_disk_test
ledger file: a log that can be lost@src/privacy/sealed_db.c@s/journal_mode=TRUNCATE", "truncate"/journal_mode=WAL", "wal"/;s/if (logs)/if (false)/@unit/ledger_disk_test
ledger file: no lock@src/privacy/ledger_lock.c@s/flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno/0/@unit/ledger_file_test
ledger file: moved away unnoticed@src/privacy/sealed_db.c@s/if (code == SQLITE_OK \&\& !moved)/if (true)/@unit/ledger_file_test
ledger file: a child spends, too@src/privacy/ledger_store.c@s/return file->owner == tacit_random_process();/return true;/@unit/ledger_file_test
ledger file: records and users added up@src/privacy/ledger_file.c@s/status = check_adds_up(file, \&settled, err);/;/@unit/ledger_file_test
ledger file: closed without a charge@src/privacy/ledger_file.c@s/if (in_hand > 0 || (touched/if ((touched/@unit/ledger_file_test
ledger file: told before it is committed@src/privacy/ledger_file.c@s/    status = tacit_store_end(file, status, err);/    (void)err;/@unit/ledger_crash_test
ledger file: entries not verified@src/privacy/ledger_verify.c@s/if (!tacit_mac_equal(row->mac, file->entries.mac))/if (false)/@unit/ledger_edit_test
ledger file: another history@src/privacy/ledger_verify.c@s/if (!status \&\& !tacit_mac_equal(last, file->entries.mac))/if (false)/@unit/ledger_edit_test
ledger file: ids given twice@src/privacy/ledger_verify.c@s/file->ledger.next = file->bound;/file->ledger.next = file->entries.links;/@unit/ledger_file_test
ledger file: touched permits vanish@src/privacy/ledger_file.c@s/if (n->permit.state == TACIT_PERMIT_RESERVED)/if (n)/@unit/ledger_file_test
filter: orders without shares of delta@src/privacy/filter.c@s#const double share = delta / ORDERS;#const double share = delta;#@unit/filter_test
filter: gdp and rdp with all of delta each@src/privacy/filter.c@s#TACIT_FILTER_ANY ? rest / 2 : rest;#TACIT_FILTER_ANY ? rest : rest;#@unit/filter_test
filter: deltas of losses for nothing@src/privacy/filter.c@s/if (!(a->failure <= put_aside(terms)))/if (false)/@unit/filter_test
lifetime: a restart is charged again@src/privacy/lifetime.c@s/memcmp(e->nonce, r->nonce, sizeof r->nonce) == 0/false/@unit/lifetime_test
lifetime: a lost folder is not charged@src/privacy/lifetime.c@s/memcmp(e->nonce, r->nonce, sizeof r->nonce) == 0/true/@unit/lifetime_test
lifetime: beyond the budget@src/privacy/lifetime.c@s/else if (!status \&\& !(after <= set->terms.epsilon)) {/else if (false) {/@unit/lifetime_crash_test
lifetime: shared records unnoticed@src/privacy/lifetime_records.c@s/        if (set == SIZE_MAX)/        if (true)/@unit/lifetime_test
lifetime: more released than planned@src/privacy/lifetime.c@s/covers ? LIFETIME_SETTLE : LIFETIME_EXCEED/LIFETIME_SETTLE/@unit/lifetime_test
lifetime: an older copy of a run returns what was used@src/privacy/lifetime.c@s/(settled || !contains(actual, \&before))/settled/@unit/lifetime_test
lifetime: a second holder is not charged@src/privacy/lifetime.c@s/(settled || !contains(actual, \&before))/!contains(actual, \&before)/@unit/lifetime_test
lifetime: settled before it has ended@src/privacy/lifetime_state.c@s/if (entry->state != TACIT_LIFETIME_SETTLED)/if (false)/@unit/lifetime_crash_test
lifetime: no turns@src/privacy/lifetime_file.c@s/l->looking ? "BEGIN" : "BEGIN IMMEDIATE"/"BEGIN"/@unit/lifetime_crash_test
lifetime: events not verified@src/privacy/lifetime_rows.c@s/if (!tacit_mac_equal(mac, l->chain.mac))/if (false)/@unit/lifetime_disk_test
lifetime: records not verified@src/privacy/lifetime_records.c@s/ \&\& tacit_mac_equal(sum, l->records_sum)//@unit/lifetime_disk_test
lifetime: records in any order@src/privacy/lifetime_records.c@s/good = c.good \&\& ordered/good = c.good \&\& (ordered || true)/@unit/lifetime_disk_test
lifetime: names of files' columns count as records@src/data/prints.c@s/first \&\& (header || !l.numbers)/false/@unit/prints_test
lifetime: numbers known by how they are written@src/data/prints.c@s/if (tacit_csv_number(at, (size_t)(stop - at), \&value)) {/if (false) {/@unit/prints_test
lifetime: two surveys with a 42 are one@src/data/prints.c@s/l.words < TACIT_PRINT_WORDS/l.words < 1/@unit/prints_test
lifetime: bars begin at zero@src/report/life.c@s/k > 0 ? l->runs\[k - 1\].until : 0/0/@unit/life_test
lifetime: nodes reserve nothing@cli/lifetime.c@s/if (!tacit_peer_counts(lifetime, peer)) {/tacit_peer_counts(lifetime, peer); {/@e2e/lifetime
lifetime: a replacement as one step@src/privacy/lifetime_plan.c@s/cost.sensitivity \*= 2;/;/@unit/lifetime_test
ledger.jsonl: seal not compared@src/privacy/seal.c@s/return sodium_memcmp(end, line + len, TACIT_LINE_END) == 0;/return true;/@unit/ledger_read_test
node: anybody speaks for anybody@src/runtime/node/receive.c@s/if (node_peer_of(n, h->from) != peer)/if (!peer)/@unit/node_attack_test
node: replays heard@src/runtime/node/receive.c@s/if (!is_later(h, heard))/if (!heard)/@unit/node_attack_test
node: another run heard@src/runtime/node/receive.c@s/if (memcmp(h.run, n->plan.run, sizeof h.run) != 0 ||/if (false ||/@unit/node_attack_test
node: strangers heard@src/runtime/node/receive.c@s/(stranger \&\& !(n->flags/(false \&\& stranger \&\& !(n->flags/@unit/node_attack_test
node: numbers of any size@src/runtime/node/receive.c@s/n->plan.consortium->largest,/1e308,/@unit/node_attack_test
node: an older ledger of a peer taken@src/runtime/node/receive.c@s/if (h->releases < heard->releases ||/if (false ||/@unit/node_attack_test
node: releases that nobody signed for@src/runtime/node/receive.c@s/ || h->releases > h->mark.releases)/)/@unit/node_attack_test
node: asking without end@src/runtime/node/receive.c@s/->asked += charged(n, a) - before;/->asked += 0 * before;/@unit/node_attack_test
node: replies nobody asked for@src/runtime/node/receive.c@s/return waits_for(a, h->request, h->from) ? NULL : "nobody asked";/return NULL;/@unit/node_attack_test
node: what was refused counts as heard@src/runtime/node/receive.c@s/tacit_vector \*v = decode(n, peer, h, payload);/heard->incarnation = h->incarnation; heard->sequence = h->sequence; tacit_vector *v = decode(n, peer, h, payload);/@unit/node_attack_test
node: liars are believed@src/runtime/node/marks.c@s/if (!tacit_mark_signed(.*{/if (!m) {/@unit/node_attack_test
node: nobody is believed@src/runtime/node/marks.c@s/node_fail(n, TACIT_EVERIFY, NULL);/;/@unit/node_rollback_test
node: only more releases are proof@src/runtime/node/marks.c@s/(accepted || memcmp/(n || memcmp/@unit/node_rollback_test
node: marks of what the owner accepted@src/runtime/node/marks.c@s/(accepted || memcmp/(memcmp/@unit/node_rollback_test
node: marks only in messages@src/runtime/node/marks.c@s/(hello || a->mark_stamp >= peer->answered)/false/@unit/node_rollback_test
node: an old mark takes the place of a higher@src/runtime/node/marks.c@s/if (kept \&\& mark->releases > kept->mark.releases)/if (kept)/@unit/node_rollback_test
node: marks of a later life take the place of those before@src/runtime/node/marks.c@s/if (latest->mark.releases > 0 .*/if (!latest)/@unit/node_rollback_test
node: answers that nobody could check are testimony@src/runtime/node/greet.c@s/peer->testified |= compared;/peer->testified = true;/@unit/node_rollback_test
node: answers to an earlier life are testimony@src/runtime/node/greet.c@s/g.stamp > n->born_stamp/n/@unit/node_rollback_test
node: a signature for any run@src/net/mark.c@s/crypto_generichash_update(&h, run, TACIT_RUN_ID);/(void)run;/@unit/node_attack_test
node: speaks again whoever is away@src/runtime/node/begin.c@s/return n->unsure \&\& /return false \&\& /@unit/node_rollback_test
node: whom it met is forgotten@src/runtime/node/peers.c@s/peer->known = node_store_put_peer(.*;/peer->known = true;/@unit/node_rollback_test
node: a lost node.db has met nobody@src/runtime/node/begin.c@s/(peer->known || n->forgot)/peer->known/@unit/node_rollback_test
node: released though nobody is there@src/runtime/node/begin.c@s/if (is_there(n, a->plan->neighbour\[j\]))/if (n)/@unit/node_begin_test
node: waits among others for ever@src/runtime/node/begin.c@s/ || (late \&\& !heard \&\& !unsure \&\& is_among_others(n))//@unit/node_begin_test
node: links open while agents finish@src/runtime/node/node.c@s/    if (n->io.close)/    if (!n)/@unit/node_begin_test
node: lives beyond all reason@src/runtime/node/greet.c@s/h->incarnation < INCARNATIONS)/n)/@unit/node_attack_test
node: lost words stay lost@src/runtime/node/greet.c@s/        say_again(n, peer, \&g);/        ;/@unit/node_life_test
node: words of strangers' agents claimed@src/runtime/node/greet.c@s/if (owner || peer->listed ||/if (peer->listed ||/@unit/node_gossip_test
node: greetings of any size@src/runtime/node/greet.c@s/if (is_too_large(n, peer, h, payload))/if (false)/@unit/node_attack_test
node: members send others anywhere@src/runtime/node/gossip.c@s/return !peer->listed || n->plan.options->moved ||/return peer ||/@unit/node_gossip_test
link: one address takes all places@src/net/link_guests.c@s/ || most > room \/ 2//@unit/link_attack_test
link: guests are sent away though their key has passed@src/net/link_guests.c@s/return c->number \&\& !c->closing \&\& !c->spoke \&\& !c->passed;/return c->number \&\& !c->closing \&\& !c->spoke;/;s/if (!c->passed \&\& (go/if ((go/@unit/link_attack_test
link: of addresses with equally many guests the lowest loses@src/net/link_guests.c@s/if (size < \*most)/if (size <= *most)/@unit/link_attack_test
link: tails of ended connections stay for ever@src/net/link_bytes.c@s/if (!taking || !(passed > 0))/if (taking || !taking)/@unit/link_backlog_test
link: tails fade though nothing is taken@src/net/link_bytes.c@s/if (!taking || !(passed > 0))/(void)taking; if (!(passed > 0))/@unit/link_backlog_test
link: any guest goes@src/net/link_guests.c@s/ || c->arrived < w->item\[go\].arrived/ || k/@unit/link_attack_test
link: closed connections forgotten@src/net/link_bytes.c@s/    \*(p ? &p->left : &w->left) += bytes;/    (void)bytes;/@unit/link_backlog_test
link: no bound for all together@src/net/link_bytes.c@s/sum > share_of_all(link)/false/@unit/link_backlog_test
link: let in with too much waiting@src/net/link_in.c@s/good = p \&\& link_bytes_room(link, p);/good = p;/@unit/link_backlog_test
node: messages travel alone@src/runtime/node/pack.c@s/if (p->count == TACIT_WIRE_TOGETHER ||/if (p->count > 0 ||/@unit/node_batch_test
node: packed messages leave after a failure@src/runtime/node/pack.c@s/if (n->status != TACIT_OK || p->count == 0)/if (p->count == 0)/@unit/node_batch_test
wire: anything in a batch@src/net/wire.c@s/        if (h.kind > TACIT_WIRE_REPLY)/        if (false)/@unit/wire_batch_test
wire: bytes behind a batch@src/net/wire.c@s/    if (at != batch->payload)/    if (false)/@unit/wire_batch_test
node: polite for ever@src/runtime/node/receive.c@s/if (first \&\& tacit_wire_peek/if (tacit_wire_peek/@unit/node_attack_test
node: sent before it is charged@src/runtime/node/handle.c@s/k < count \&\& status == TACIT_OK \&\& !mute/k < count/@unit/node_mute_test
node: computes while mute@src/runtime/node/advance.c@s/if (!a->started || node_is_silent(n, a) || node_store_mute(n->store))/if (!a->started || node_is_silent(n, a))/@unit/node_mute_test
node: a clock that stays behind@src/runtime/node/advance.c@s/event->time + late)/event->time)/@unit/node_attack_test
node: late ticks spend@src/runtime/node/advance.c@s/    if (late > 0) {/    if (false) {/@unit/node_overload_test
node: turns without a bound@src/runtime/node/advance.c@s/ticks < TICKS_A_TURN \&\& //@unit/node_overload_test
node: time goes back@src/runtime/node/handle.c@s/n->time = time > n->time ? time : n->time;/n->time = time;/@unit/node_attack_test
node: heard is not saved@src/runtime/node/persist.c@s/    save_heard(s, a);/    tacit_save_u64(s, 0);/@unit/node_life_test
node: last words are not saved@src/runtime/node/persist.c@s/    save_words(s, a);/    tacit_save_u64(s, 0);/@unit/node_life_test
node: states of another graph@src/runtime/node/persist.c@s/same = tacit_load_u64(l) == a->plan->neighbour\[k\];/tacit_load_u64(l);/@unit/node_life_test
node: waits for the dead@src/runtime/node/peers.c@s/!n->peers\[k\].ended \&\& !is_away(n, \&n->peers\[k\])/!n->peers[k].ended/@unit/node_life_test
node: agreement of one@src/runtime/node/advance.c@s/1 + node_quiet_around(n)/100 + 0 * node_quiet_around(n)/@unit/node_life_test
node: an answer is taken again@src/runtime/node/greet.c@s/ \&\& g.stamp > peer->answered//@unit/node_attack_test
node: one peer makes us rise without end@src/runtime/node/greet.c@s/if (claim <= n->incarnation + A_DAY \&\& claim > near)/if (claim > near)/@unit/node_attack_test
node: what came before the start is lost@src/runtime/node/receive.c@s/    n->early\[n->early_count++\] = /    (void)/@unit/node_attack_test
node: words of one breath scrambled@src/runtime/node/handle.c@s/.counter = p->header.sequence,/.counter = a->sequence,/@unit/node_life_test
node: a start that failed is not repeated@src/runtime/node/advance.c@s/    node_start_late(n);/    ;/@unit/node_mute_test
node: mute for ever@src/runtime/node/advance.c@s/if (mute \&\& !n->was_mute)/if (mute \&\& false)/@unit/node_mute_test
node: waits for the silent@src/runtime/node/advance.c@s/ || node_is_silent(n, a) ||$/ ||/@unit/node_mute_test
node: goodbyes are signs of life@src/runtime/node/receive.c@s/if (h.kind != TACIT_WIRE_BYE)/if (true)/@unit/node_attack_test
node: an old address beats a new list@src/runtime/node/gossip.c@s/memcmp(listed, listed_endpoint(n, peer), sizeof peer->endpoint) != 0/false/@unit/node_gossip_test
node: agents at home do not hear last words@src/runtime/node/node.c@s/node_say_at_home(n, n->incarnation);/;/@unit/node_life_test
node: an end is no end@src/runtime/node/persist.c@s/n->resumed_end |= tacit_load_u64(l) != 0;/tacit_load_u64(l);/@unit/node_life_test
node: endpoints are not taken over@src/runtime/node/gossip.c@s/    if (d->stamp <= peer->found || peer->self)/    if (peer)/@unit/node_gossip_test
node: stolen descriptors@src/runtime/node/gossip.c@s/memcmp(curve, link_key, sizeof curve) != 0 || //@unit/node_gossip_test
store: debts forgotten@src/runtime/node/store_debt.c@s/more += n->permit.state != TACIT_PERMIT_RESERVED;/more += 0;/@unit/node_store_disk_test
store: a debt that is on the disk charged again@src/runtime/node/store_debt.c@s/if (a->debts\[k\].id == record->release)/if (record->release == 0)/@unit/node_store_disk_test
store: states kept while mute@src/runtime/node/store_debt.c@s/return why ? tacit_fail(/return false ? tacit_fail(/@unit/node_store_disk_test
store: an older state with newer frames@src/runtime/node/store_release.c@s/after >= store->agents\[index\].told/true/@unit/node_store_crash_test
store: a ledger older than node.db@src/runtime/node/store.c@s/after <= a->told/true/@unit/node_store_test
checkpoint: pieces not hashed@src/base/saver.c@s/crypto_generichash_update(s->hash, s->bytes, s->len);$//@unit/checkpoint_test
schedule: laplace's root for gaussian@src/privacy/schedule.c@s/TACIT_MECHANISM_LAPLACE ? 3 : 4;/TACIT_MECHANISM_LAPLACE ? 3 : 3;/@unit/schedule_test
schedule: more budget early (slip S1)@src/privacy/schedule.c@s/? (double)(k - 1) : (double)(releases - k)/? (double)(releases - k) : (double)(k - 1)/@unit/schedule_test
schedule: what was spent before is free@src/privacy/schedule.c@s/tacit_account_epsilon(by, p->loss, p->spent + p->runs,/tacit_account_epsilon(by, p->loss + p->spent, p->runs,/@unit/schedule_test
schedule: a run of releases charged once@src/privacy/schedule.c@s/tacit_cost_loss(&p->cost\[k\], p->run\[k\].count,/tacit_cost_loss(\&p->cost[k], 1,/@unit/schedule_test
schedule: the end that is over the budget@src/privacy/schedule.c@s/status = excess(p, by, b.within, &at, err);/status = excess(p, by, b.over, \&at, err), at = 0;/@unit/schedule_test
vouch: the accountant is not asked@src/privacy/vouch.c@s/known ? TACIT_OK : confirm(v, err)/known || v ? TACIT_OK : confirm(v, err)/@unit/schedule_test
vouch: any number of releases of a step@src/privacy/vouch.c@s/releases <= v->step\[\*at\].releases;/releases > 0;/@unit/schedule_test
vouch: a schedule of another delta@src/privacy/vouch.c@s/a->epsilon == b->epsilon && a->delta == b->delta/a->epsilon == b->epsilon/@unit/schedule_test
vouch: steps in any order, again and again@src/privacy/vouch.c@s/    while (\*at < v->count && v->step\[\*at\].cost != cost)/    for (*at = 0; *at < v->count \&\& v->step[*at].cost != cost;)/@unit/schedule_test
spread: columns longer than one@src/privacy/spread.c@s/    if (!(factor \* sqrt(sum) <= (double)most))/    if (!most)/;s/if (squares(q, rank) <= .*/if (rank)/@unit/spread_test
spread: no room for rounding@src/privacy/spread.c@s/ceil(sqrt((double)coordinates)) + 1;/0 * (double)coordinates;/@unit/spread_test
spread: l1 bounds taken for l2@src/privacy/spread.c@s/cost->norm != TACIT_L2 || //@unit/spread_test
gift: more sensitive than paid for@src/privacy/gift.c@s/!(bounded->sensitivity <= cost->sensitivity)/false/@unit/spread_test
gift: given twice@src/privacy/gift.c@s/    permit->state = TACIT_PERMIT_SPENT;/;/@unit/spread_test
gift: value of another permit@src/privacy/gift.c@s/ || bounded->permit != permit//@unit/spread_test
gift: multiplied after it was bounded@src/privacy/gift.c@s/bounded->factor != 1 || //@unit/spread_test
groups: a gift counted twice@src/runtime/sim/groups.c@s/    r->gave\[w->agent \/ 64\] |= bit;/;/@conformance/conformance_sim_test
groups: a sum told before its time@src/runtime/sim/groups.c@s/? s->groups->open->closes : INFINITY/? s->now : INFINITY/@conformance/conformance_sim_test
groups: gifts after the round is over@src/runtime/sim/groups.c@s/const bool late = .*;/const bool late = least < 0;/@conformance/conformance_sim_test
groups: gifts that could not have arrived@src/runtime/sim/groups.c@s/ || w->now + least > like->closes;/ || least < 0;/@conformance/conformance_sim_test
groups: a closed round opened again@src/runtime/sim/groups.c@s/(!r \&\& was_closed(g, like->at.channel, like->round))/(!r \&\& was_closed(g, like->at.channel, like->round + 99))/@conformance/conformance_sim_test
groups: the same noise for every sum@src/runtime/sim/groups.c@s/.number = s->groups->closed_count/.number = 0/@conformance/conformance_sim_test
groups: a cost of one's own@src/runtime/sim/groups.c@s/ || r->cost != like->cost)/)/@conformance/conformance_sim_test
groups: who gave is forgotten when saved@src/runtime/sim/groups.c@s/r->gave\[k\] = tacit_load_u64(loader);/tacit_load_u64(loader);/@conformance/conformance_sim_test
groups: noise begins anew when resumed@src/runtime/sim/groups.c@s/if (!remember(g, &name))/if (false)/@conformance/conformance_sim_test
finish: held-out records are fitted, too@src/model/finish.c@s/.fold = w->fold,/.fold = NULL,/@unit/finish_choice_test
finish: the same folds for every seed@src/model/finish.c@s/tacit_random_init(&random, w->how->seed);/tacit_random_init(\&random, 1);/@unit/finish_choice_test
finish: strength of a mean, not of a sum@src/model/finish.c@s/return w->how->strength\[k % w->how->strengths\];/return w->how->strength[k % w->how->strengths] * (double)records \/ (double)w->fit.m;/@unit/finish_choice_test
finish: a fold learns alone with all its records@src/model/finish.c@s/.weight = weight_of(w, k, records),/.weight = weight_of(w, k, w->fit.m),/@unit/finish_choice_test
finish: no margin@src/model/finish.c@s/-mean > w->how->margin \* sqrt(variance)/-mean > 0 * variance/@unit/finish_choice_test
finish: margin of one record, not of their mean@src/model/finish.c@s/mean \* mean) \/ (m - 1);/mean * mean);/@unit/finish_choice_test
finish: the worst weighs most@src/model/finish.c@s/exp(-w->how->sharpness/exp(w->how->sharpness/@unit/finish_choice_test
finish: learning alone is no candidate@src/model/finish.c@s/how->scales \* how->strengths + 1}/how->scales * how->strengths}/@unit/finish_choice_test
finish: unfit records are an error@src/model/finish.c@s/if (status == TACIT_EINPUT) {/if (status == TACIT_NO) {/@unit/finish_test
finish protocol: margin dropped@src/protocol/finish.c@s/plan->how.margin = options->margin;/;/@unit/finish_choice_test
finish protocol: records kept for judging are fitted@src/protocol/finish.c@s/tacit_own_data(env, TACIT_TRAIN)/tacit_own_data(env, TACIT_VALIDATION)/@unit/finish_choice_test
finish protocol: strengths for scales@src/protocol/finish.c@s/how.scale = plan->scale;/how.scale = plan->strength;/@unit/finish_test
finish protocol: all agents deal alike@src/protocol/finish.c@s/tacit_draw(env, FINISH_DRAW, .*;/how.seed = 0;/@unit/finish_choice_test
finish protocol: a finished model is not saved@src/protocol/personal.c@s/    tacit_save_secret(saver, self->kept);/    tacit_save_secret(saver, NULL);/@unit/finish_choice_test
statistics: twice the square for the sum of products@src/model/statistics.c@s/8 \* a \* a \* a \* a > moved/4 * a * a * a * a > moved/;s/sqrt(8)/2/@unit/statistics_test
statistics: labels not cut@src/model/statistics.c@s/while (b \* b > 2 \* top \* top).*/while (top < 0)/@unit/statistics_test
statistics: not cut again after rounding@src/model/statistics.c@s/tacit_grid_shrink(TACIT_L2, s->limit, p, s->a);/;/@unit/statistics_test
statistics: rows longer than the radius@src/model/statistics.c@s/if (length > aim \&\& isfinite(length))/if (length < 0)/@unit/statistics_test
statistics: scale of Laplace for its deviation@src/model/statistics.c@s/TACIT_MECHANISM_LAPLACE ? sqrt(2) \* scale : scale/TACIT_MECHANISM_LAPLACE ? scale : scale/@unit/statistics_test
statistics: another unit for labels@src/model/statistics.c@s/return sqrt(2) \* radius \/ most;/return radius \/ most;/@unit/statistics_test
local model: half the sensitivity@src/model/local_noisy.c@s/units \* 2 \* radius/units * radius/@unit/local_noisy_test
local model: a user taken for a record@src/model/local_noisy.c@s/cost->unit == TACIT_UNIT_USER ? (double)f->rows : 1/1/@unit/local_noisy_test
local model: l2 bound for l1 noise@src/model/local_noisy.c@s/(cost->norm == TACIT_L1 ? sqrt(p) : 1)/(p > 0 ? 1 : 0)/@unit/local_noisy_test
local model: rows not cut@src/model/local_noisy.c@s/permit->cost.claimed ? INFINITY : how->radius/permit->cost.claimed ? INFINITY : 1e6 * how->radius/@unit/local_noisy_test
local model: rounding not paid for@src/model/local_noisy.c@s/const double need = 1 + rounding_steps(norm, model->features) \* step;/const double need = 1;/;s/if (1 + rounding_steps(cost->norm, f->p) \* step > cost->sensitivity)/if (false)/@unit/local_noisy_test
objective: curvature for nothing@src/model/local_noisy.c@s/const double c = log1p(curve)/const double c = 0 * curve/@unit/local_noisy_test
objective: half the noise@src/model/local_noisy.c@s/const double unit = radius \/ mu/const double unit = 0.5 * radius \/ mu/@unit/local_noisy_test
objective: Gaussians twice as far apart@src/model/local_noisy.c@s/h = told \/ 4, t = 2 \* c \/ told/h = told \/ 2, t = c \/ told/@unit/local_noisy_test
objective: the same noise in every release@src/model/local_noisy.c@s/tacit_release_number(permit->random, permit));/0);/@unit/local_noisy_test
objective: the output's part of the budget given away@src/model/local_noisy.c@s/sqrt(BUDGET_LEFT) \* (1 - 0x1p-40)/(1 + 0 * sqrt(BUDGET_LEFT))/@unit/local_noisy_test
records: not cut after rounding@src/model/records_noisy.c@s/    tacit_grid_shrink(cost->norm, limit, p, row);/;/@unit/warm_test
records: one block for all@src/model/records_noisy.c@s/r < batch.rows; r++, at += p/r < batch.rows; r++, at += 0 * p/@unit/warm_test
records: uphill@src/model/records_noisy.c@s/1 \/ (1 + exp(-z)) \/ (double)count/1 \/ (1 + exp(z)) \/ (double)count/@unit/warm_test
records: add-remove planned@src/model/records_noisy.c@s/o.unit != TACIT_UNIT_RECORD || o.adjacency != TACIT_REPLACE ||/o.unit != TACIT_UNIT_RECORD ||/@unit/warm_test
records: regulariser not times their number@src/model/records_noisy.c@s/.ridge = 2 \* (double)count \* tacit_model_lambda/.ridge = 2 * tacit_model_lambda/@unit/warm_test
records: smoothness of a sum@src/model/records_noisy.c@s/ \/ (4 \* (double)count);/ \/ 4;/@unit/warm_test
records: smoothness too small@src/model/records_noisy.c@s/ \/ (4 \* (double)count);/ \/ (40 * (double)count);/@unit/warm_test
krige: variance too small by what was heard@src/model/krige.c@s/heard += e->pull\[l\] \* e->pull\[l\] \/ grown;/heard += e->pull[l] * e->pull[l];/@unit/krige_test
krige: own records fitted twice@src/model/krige.c@s/    out.mean \*= a;/    out.mean = a * out.mean + k->own[c];/@unit/krige_test
krige: precision not of weights@src/model/krige.c@s/r \* r \/ (beta \* beta \* left)/1 \/ (beta * beta * left)/@unit/krige_test
krige: sparse odds upside down@src/model/krige.c@s/miss \* miss \/ (b->left + noise) - z \* z \/ noise/z * z \/ noise - miss * miss \/ (b->left + noise)/@unit/krige_test
krige: features that do not matter are no evidence@src/model/krige.c@s/log_add(log(rhos\[q\]) + odds, log(1 - rhos\[q\]))/log(rhos[q]) + odds/@unit/krige_test
krige: a mixture without its means@src/model/krige.c@s/(b->left + b->mean \* b->mean)/b->left/@unit/krige_test
krige: others' sums say nothing of what matters@src/model/krige.c@s/out.odds -= 0.5 \*/out.odds -= 0 */@unit/krige_test
krige: mean square not shrunk@src/model/krige.c@s/(k->square\[c\] + PSEUDO \* mean) \/ (m + PSEUDO)/(k->square[c] + 1e-9 * mean) \/ (m + 1e-9)/@unit/krige_test
krige squared: the prior no surer by what was heard@src/model/krige_squared.c@s/worth \/ (usable ? left : 1)/worth \/ (usable ? 1 : left)/@unit/krige_test
krige squared: correlations for weights@src/model/krige_squared.c@s/center = tau2 \* mu \* mean;/center = tau2 * mean;/@unit/krige_test
krige squared: not in the basis@src/model/krige_squared.c@s/f->basis\[at \* f->p + c\];/f->basis[c * f->p + at];/@unit/krige_test
krige squared: a variance without its squares@src/model/krige_squared.c@s/a = tau2 \* mu \* mu;/a = tau2 * mu;/@unit/krige_test
krige squared: others' products as records of one's own@src/model/krige_squared.c@s/^#define PSEUDO 20.0/#define PSEUDO 2000.0/@unit/krige_test
krige squared: own records not counted@src/model/krige_squared.c@s/(f->gram\[e\] + PSEUDO \* other) \/ (m + PSEUDO)/(f->gram[e] + PSEUDO * other) \/ PSEUDO/@unit/krige_test
advise: noise without dimension@src/experiment/advise.c@s/(1 + a->p \* noise \/ records)/(1 + noise \/ records)/@unit/advise_test
advise: sensitivity of add-remove@src/experiment/advise.c@s/.shift = 2,/.shift = 1,/@unit/advise_test
advise: ticks make noise smaller@src/experiment/advise.c@s/noise \/= direction_factor/noise *= direction_factor/@unit/advise_test
advise: ticks share no budget@src/experiment/advise.c@s/left + n \* (double)t \* (1 - r)/left + n * (1 - r)/@unit/advise_test
advise: noise decays like the start (slip S1)@src/experiment/advise.c@s/(1 + r) \* (1 - left);/(1 + r) * left;/@unit/advise_test
advise: any gain will do@src/experiment/advise.c@s/double least = a->guess->gain;/double least = 0;/@unit/advise_test
advise: chorus without its noise@src/experiment/advise.c@s/q \/ (1 + a->p \* noise \/ q) : 0/q \/ (1 + 0 * noise \/ q) : 0/@unit/advise_test
advise: own records counted twice@src/experiment/advise.c@s/const double own = worth(a, records_of(a, i), 0);/const double own = 2 * worth(a, records_of(a, i), 0);/@unit/advise_test
advise: neighbours alike with nobody@src/experiment/advise.c@s/: alike_over(a, a->tie\[x\], a->tie\[y\]);/: 0;/@unit/advise_test
advise: the best for a trust not given@src/experiment/advise.c@s/s <= TACIT_STRATEGY_ONE_SHOT + secure; s++/s <= TACIT_STRATEGY_ONE_SHOT + 1; s++/@unit/advise_test
budgets: the last line counts@src/experiment/budgets.c@s/if (!isnan(r->epsilon\[who\])) {/if (false) {/@unit/agent_budgets_test
budgets: no end to a budget@src/experiment/budgets.c@s/ || !isfinite(\*epsilon))/)/@unit/agent_budgets_test
budgets: unlisted agents are free@src/experiment/budgets.c@s/epsilon\[k\] = others;/epsilon[k] = INFINITY;/@unit/agent_budgets_test
budgets: numbers before names@src/experiment/budgets.c@s/    if (named != UINT32_MAX)$/    if (named != UINT32_MAX \&\& !(p.text[0] >= '0' \&\& p.text[0] <= '9'))/@unit/agent_budgets_test
budgets: a header anywhere@src/experiment/budgets.c@s/^    \*first = false;/    ;/@unit/agent_budgets_test
chorus: who left gives once more@src/protocol/chorus_columns.c@s/round >= s->leaves/round > s->leaves/@unit/chorus_files_test
chorus: columns of length 1 mixed@src/protocol/chorus_columns.c@s/kernel.raw = optimal/kernel.raw = false/@unit/chorus_files_test
kernels: below zero@src/graph/given.c@s/if (!(one >= 0) || !isfinite(one))/if (!isfinite(one))/@unit/basis_test
kernels: without the diagonal@src/graph/given.c@s/diagonal\[i\] = kernel\[i \* n + i\]/diagonal[i] = 0/@unit/basis_test
factors: longer than 1@src/graph/factor.c@s/p->best\[l\] = p->m\[l\] \/ most/p->best[l] = p->m[l] \/ trace/@unit/basis_test
factors: weights stay@src/graph/factor.c@s/p->w\[i\] \*= length \/ trace/p->w[i] *= 1/@unit/basis_test
consortium: any kernel, one run@src/experiment/agreement.c@s/{"kernel-file", NULL};/{NULL};/@unit/consortium_test
advise: rounds cost nothing@src/experiment/advise_chorus.c@s/(double)t \/ clarity/1 \/ clarity/@unit/advise_test
chorus: weights without records@src/protocol/chorus.c@s/(double)facts->records \* c\[k\]/(double)(facts->records > 0) * c[k]/@unit/chorus_finish_test
chorus: against the gradient's sign@src/protocol/chorus.c@s/column\[k\] = -self->column\[k\]/column[k] = self->column[k]/@unit/chorus_test
chorus: the first step again and again@src/protocol/chorus.c@s/(self->heard == 0 ? s->options.step : 1) \/ s->curvature/s->options.step \/ s->curvature/@unit/chorus_finish_test
chorus: the noise of the release not known@src/protocol/chorus.c@s/TACIT_MECHANISM_NONE ? 0 : cost->noise}/TACIT_MECHANISM_NONE ? 0 : 0}/@unit/chorus_finish_test
chorus: doubt counts for the prior@src/protocol/chorus.c@s/return residual \/ doubt;/return residual * doubt;/@unit/chorus_finish_test
chorus: no misfit@src/protocol/chorus.c@s/self->doubt + s->options.misfit \* self->spread/self->doubt + 0 * self->spread/@unit/chorus_finish_test
chorus: doubt not in the models' scale@src/protocol/chorus.c@s/chorus_doubt(heard, s->rank, c) \* scale \* scale;/chorus_doubt(heard, s->rank, c) * scale;/@unit/chorus_finish_test
chorus: a spent budget ends the run@src/protocol/chorus.c@s/if (status == TACIT_EBUDGET \&\& (s->budgets || self->sung > 0 || round > 1))/if (status == TACIT_EBUDGET \&\& s->budgets \&\& round > 99)/@unit/chorus_test
chorus: a failed try ends the node@src/protocol/chorus.c@s/s->budgets || self->sung > 0 || round > 1/s->budgets || round > 1/@unit/chorus_kernel_node_test
chorus: saved without its doubt@src/protocol/chorus_state.c@s/self->doubt = tacit_load_f64(loader);/tacit_load_f64(loader);/@unit/chorus_test
chorus: the whole budget in every round@src/protocol/chorus_setup.c@s/s->privacy.releases = s->options.rounds + /s->privacy.releases = 1 + 0 * /@unit/chorus_test
chorus: all rounds at the first one's cost@src/protocol/chorus_costs.c@s/s->cost_count == 1 ? 0 : round - 1/s->cost_count == 1 ? 0 : (round > 0) - 1/@unit/chorus_test
chorus: lots taken@src/protocol/chorus_setup.c@s/privacy->unit != TACIT_UNIT_RECORD || lots)/privacy->unit != TACIT_UNIT_RECORD \&\& lots)/@unit/chorus_test
chorus: curvature of the wrong loss@src/protocol/chorus_setup.c@s/(s->squared ? 2 : s->classes ? 1 : 0.25)/(s->squared ? 0.25 : s->classes ? 1 : 2)/@unit/chorus_finish_test
chorus: variance of a whole gradient@src/protocol/chorus_setup.c@s/: longest \* longest \/ p;/: longest * longest;/@unit/chorus_finish_test
chorus: the next round forgets the one before@src/protocol/chorus.c@s/tacit_public_get(self->prior, 0, i) + scale \* sum/scale * sum/@unit/chorus_test
chorus: labels' residuals for margins'@src/protocol/chorus.c@s/const double residual = s->squared ? s->variance \* p \/ (4 \* radius \* radius) : 0.5;/const double residual = s->squared ? 0.5 : s->variance * p \/ (4 * radius * radius);/@unit/chorus_finish_test
chorus kernel: bare words@src/protocol/chorus_costs.c@s/    whole.releases = 1;/    whole.mechanism = TACIT_MECHANISM_NONE;/@unit/chorus_kernel_test
chorus kernel: sums planned as if nothing was said before@src/protocol/chorus_costs.c@s/after ? \&s->likeness : NULL, after ? 1 : 0/NULL, 0/@unit/chorus_kernel_test
chorus kernel: a word for all of the budget@src/protocol/chorus_costs.c@s#s->likeness.noise / sqrt(s->options.kernel_share)#s->likeness.noise#@unit/chorus_kernel_test
chorus kernel: no majority is needed@src/protocol/chorus_kernel.c@s/2 \* chorus_learning_of(s, self)->same <= s->agents/chorus_learning_of(s, self)->same < 1/@unit/chorus_kernel_test
chorus kernel: words after the print@src/protocol/chorus_kernel.c@s/if (self->phase != CHORUS_GATHERING || l->word/if (l->word/@unit/chorus_kernel_test
chorus kernel: nobody asks@src/protocol/chorus_kernel.c@s/        return ask(env, s, self);/        return TACIT_OK;/@unit/chorus_kernel_test
chorus kernel: who left speaks@src/protocol/chorus_kernel.c@s/facts->records == 0 || chorus_has_left(s, facts->self, 1)/facts->records == 0/@unit/chorus_kernel_test
chorus kernel: loaded without prints@src/protocol/chorus_kernel.c@s/prints\[k\] = tacit_load_u64(loader);/tacit_load_u64(loader);/@unit/chorus_kernel_test
chorus kernel: nearest of the wrong words@src/protocol/chorus_book.c@s/tacit_public_get_int(l->word\[i\], 0, k)/tacit_public_get_int(l->word[i], 0, 0)/@unit/chorus_kernel_test
chorus kernel: waits for ever@src/protocol/chorus_kernel.c@s/    self->phase = CHORUS_APART;/    return TACIT_OK;/@unit/chorus_kernel_test
audit: words are not looked at@src/experiment/audit_score.c@s/ || strcmp(cost->what, "likeness") == 0//@unit/canary_test
totals: edges that wait for nobody@src/protocol/totals.c@s/totals_edges_ready(a) ? 0.5 : 2/2/@unit/chorus_kernel_test
chorus smooth: noise for its variance@src/protocol/chorus_smooth.c@s/w->heard->noise \* w->heard->noise +/w->heard->noise +/@unit/smooth_test
chorus smooth: too sure@src/protocol/chorus_smooth.c@s/: 0) - tau \* tau \* sum;/: 0) - 1.01 * tau * tau * sum;/@unit/smooth_test
chorus smooth: likelihood without its determinant@src/protocol/chorus_smooth.c@s/sum -= log(d) + z \* z \/ d;/sum -= 0 * log(d) + z * z \/ d;/@unit/smooth_test
chorus smooth: spreads of modes forgotten@src/protocol/chorus_smooth.c@s/w->qu\[l \* r + k\] = w->rho\[k\] \* sum;/w->qu[l * r + k] = sum;/@unit/chorus_test
chorus smooth: EM without the variance@src/protocol/chorus_smooth.c@s/squares \/ (double)p + fmax(cov_of(w, tau, l, l), 0);/squares \/ (double)p;/@unit/smooth_test
chorus smooth: EM with tau held still@src/protocol/chorus_smooth.c@s/            tau = step_modes(w, tau);/            step_modes(w, tau);/@unit/smooth_test
chorus smooth: a mixture of equal parts@src/protocol/chorus_smooth.c@s/memcpy(w->weight, next, sizeof next);/;/@unit/smooth_test
chorus smooth: nothing is not tried@src/protocol/chorus_smooth.c@s/    w->tau\[0\] = 0;/    w->tau[0] = largest;/@unit/chorus_test
chorus smooth: records are no sample@src/protocol/chorus_smooth.c@s/w->b\[k \* r + l\] = w->heard->variance \* q\[k \* r + l\];/w->b[k * r + l] = 0;/@unit/smooth_test
one-shot: said anew whenever somebody is back@src/protocol/one_shot.c@s/return repeat(env, shared, self, event->from);/return repeat(env, shared, self, event->from) ? TACIT_OK : speak(env, shared, self);/@unit/one_shot_bayes_test
one-shot: in somebody else's name@src/protocol/one_shot.c@s/if ((tacit_agent)who == event->from \&\& !self->heard/if (!self->heard/@unit/one_shot_bayes_test
one-shot: bare words among noisy ones@src/protocol/one_shot.c@s/        (noise > 0) != s->noisy)/        noise < 0)/@unit/one_shot_bayes_test
one-shot: add-remove taken@src/protocol/one_shot.c@s/o->mechanism != TACIT_MECHANISM_NONE \&\& o->adjacency != TACIT_REPLACE/o->mechanism != TACIT_MECHANISM_NONE \&\& o->adjacency < 0/@unit/one_shot_bayes_test
one-shot: everybody says one record@src/protocol/one_shot.c@s/tacit_public_set(word, WORD_ABOUT, ABOUT_RECORDS, (double)facts->records);/tacit_public_set(word, WORD_ABOUT, ABOUT_RECORDS, 1);/@unit/one_shot_bayes_test
one-shot: the whole word is passed back@src/protocol/one_shot.c@s/if (j != event->slot \&\& facts->neighbour/if (facts->neighbour/@unit/one_shot_bayes_test
one-shot: impossible sums believed@src/protocol/one_shot.c@s/if (!(fabs(tacit_public_get(word, WORD_SUMS, k)) <= most))/if (most < 0)/@unit/one_shot_test
one-shot: everybody's weights are angles@src/protocol/one_shot.c@s/return edges > 0 ? UNKNOWN : 1;/return 1;/@unit/one_shot_bayes_test
one-shot finish: the least alike first@src/protocol/one_shot_finish.c@s/return x->rank > y->rank ? -1 : 1;/return x->rank > y->rank ? 1 : -1;/@unit/one_shot_bayes_test
one-shot finish: products in another unit@src/protocol/one_shot_finish.c@s/c\[a \* p + b\] += unit \* tacit/c[a * p + b] += tacit/@unit/one_shot_bayes_test
one-shot finish: noise of products not told@src/protocol/one_shot_finish.c@s/return unit \* sqrt(noise) \/ records;/return 0 * noise;/@unit/one_shot_bayes_test
one-shot finish: noise of a mean as of a sum@src/protocol/one_shot_finish.c@s/return unit \* sqrt(noise) \/ records;/return unit * sqrt(noise);/@unit/one_shot_bayes_test
one-shot finish: records' chance forgotten@src/protocol/one_shot_finish.c@s/label \* label \* o->radius \* o->radius \/ (double)s->features};/label * label * o->radius * o->radius};/@unit/one_shot_bayes_test
one-shot finish: weights' variance of one record@src/protocol/one_shot_finish.c@s/((double)some \* tacit_model_lambda(tacit_own_model(env), some));/tacit_model_lambda(tacit_own_model(env), some);/@unit/one_shot_bayes_test
one-shot finish: weights of others' edges@src/protocol/one_shot_finish.c@s/facts->neighbour\[\*next\] == at ? facts->weight\[\*next\] : 0/facts->neighbour[*next] == at ? facts->weight[0] : 0/@unit/one_shot_bayes_test
one-shot finish: products not shrunk@src/protocol/one_shot_finish.c@s/fmax(0, 1 - noise \* noise \* (double)p \* (double)p \/ square)/1/@unit/one_shot_bayes_test
one-shot finish: labels of any size@src/protocol/one_shot_finish.c@s/const double label = s->squared ? o->most \/ 2 : 1;/const double label = 1;/@unit/one_shot_bayes_test
kriging: noise for its variance@src/protocol/kriging.c@s/sqrt(source\[j\].noise \* source\[j\].noise + /sqrt(source[j].noise + /@unit/one_shot_bayes_test
kriging: records' chance not divided@src/protocol/kriging.c@s/ + source\[j\].records \* target->variance)/ + target->variance)/@unit/one_shot_bayes_test
kriging: negative eigenvalues stay@src/protocol/kriging.c@s/if (value\[0\] < 0)/if (value[0] < -1e9)/@unit/one_shot_bayes_test
kriging: diagonal not back to one@src/protocol/kriging.c@s/const double size = k\[a \* n + a\] > 0 ? .*;/const double size = 1;/@unit/one_shot_bayes_test
kriging: everybody has nothing in common@src/protocol/kriging.c@s/rules->common + (1 - rules->common) \* k\[a \* n + b\]/k[a * n + b]/@unit/one_shot_bayes_test
kriging: angles around the circle@src/protocol/kriging.c@s/cos(fmin(distance, PI))/cos(distance)/@unit/one_shot_bayes_test
kriging: paths of one edge@src/protocol/kriging.c@s/    for (size_t via = 0; via < n; via++)/    for (size_t via = 0; via < 1; via++)/@unit/one_shot_bayes_test
kriging: neighbours of neighbours unrelated@src/protocol/kriging.c@s/\*to = fmin(\*to, distance\[at\] + edge/*to = fmin(*to, (at == from ? 0 : INFINITY) + edge/@unit/one_shot_bayes_test
spending: everyone at the largest budget@src/protocol/spending.c@s/group = (size_t)(at - plan->epsilon);/group = plan->groups - 1;/@unit/agent_budgets_test
spending: a schedule begins again@src/protocol/spending.c@s/return made < plan->length ? cost + made : NULL;/return cost + made % plan->length;/@unit/agent_budgets_test
spending: the warm start is free@src/protocol/spending.c@s/(found \&\& (setup->epsilon || spent_count > 0))/(found \&\& setup->epsilon)/@unit/warm_test
spending: budgets planned as the first one's@src/protocol/spending.c@s/privacy, out->epsilon\[k\],$/privacy, out->epsilon[0],/@unit/agent_budgets_test
spending: one release at the run's budget@src/protocol/spending.c@s/one(ctx, setup, out->epsilon\[k\], /one(ctx, setup, out->epsilon[0], /@unit/warm_test
warm: given noise for the warm start@src/protocol/warm.c@s/    if (w->found)$/    if (false)/@unit/warm_test
warm: published bare@src/protocol/warm.c@s/    if (!plan->noisy)/    if (plan)/@unit/warm_test
warm: regulariser and records exchanged@src/protocol/warm.c@s/options->lambda, options->records, radius}/options->records, options->lambda, radius}/@unit/warm_test
warm: radius of one@src/protocol/warm.c@s/options->records, radius}/options->records, 1}/@unit/warm_test
perturbed: uphill@src/protocol/perturbed.c@s/coef\[n + 1\] = -alpha \* weight;/coef[n + 1] = alpha * weight;/@unit/warm_test
perturbed: regulariser dropped@src/protocol/perturbed.c@s/coef\[n\] = 1 - alpha - alpha .*;/coef[n] = 1 - alpha;/@unit/warm_test
perturbed: released records lost when saved@src/protocol/perturbed.c@s/    tacit_save_public(saver, agent->records);/    tacit_save_public(saver, NULL);/@unit/warm_test
perturbed: released again at every tick@src/protocol/perturbed.c@s/    if (!s->options.collaborate || n == 0)$/    if (s->options.collaborate \&\& n > 0 \&\& facts->records > 0 \&\& release_records(env, s, front(self)) != TACIT_OK) return TACIT_OK;\n&/@unit/warm_test
perturbed: everyone at the smallest budget@src/protocol/perturbed.c@s/spending_next(&s->costs, facts->epsilon, 0)/spending_next(\&s->costs, s->costs.epsilon[0], 0)/@unit/warm_test
perturbed: neighbours' weights not divided@src/protocol/perturbed.c@s/coef\[j\] = alpha \* facts->weight\[j\] \/ facts->degree;/coef[j] = alpha \/ facts->neighbours;/@unit/warm_test
attributes: numbers that are far off@src/data/attributes.c@s/return isnan(z) ? z : fmax.*;/return z;/@unit/attributes_test
attributes: codes are numbers@src/data/attributes.c@s/bool name = len > 1 .*;/bool name = false;/@unit/attributes_test
attributes: what is missing is zero@src/data/attributes.c@s/    if (f->len == 0)$/    if (f->len == 0 \&\& (out->number = 0, false))/@unit/attributes_test
attributes: titles are features@src/data/attributes.c@s/        if (c->features == TACIT_ATTRIBUTE_WORDS_MAX) {/        if (c->features == TACIT_ATTRIBUTE_WORDS_MAX \&\& (c->features--, false)) {/@unit/attributes_test
attributes: flags are scaled@src/data/attributes.c@s/        c->deviation = 1;/        ;/@unit/attributes_test
attributes: the first thing is a header@src/data/attributes.c@s/if (status || !first || numbers)/if (status || !first)/@unit/attributes_test
attributes: a row under another's name@src/data/attributes.c@s/    if (!status \&\& !added)$/    if (false)/@unit/attributes_test
attributes: day for year@src/data/attributes.c@s/if (from == 4 \&\& len > last + 1 \&\& year_at(text, &year))/if (false)/@unit/attributes_test
ratings: everyone is public@src/data/ratings_public.c@s/return m->agent\[m->ratings.rating\[k\].user\] == TACIT_PUBLIC_USER;/return k < m->ratings.count;/@unit/ratings_public_test
ratings: items numbered as in the file@src/data/ratings_public.c@s/    qsort(list, m->public_items, sizeof \*list, by_name);/    (void)by_name;/@unit/ratings_public_test
ratings: public ratings in the file's order@src/data/ratings_public.c@s/    qsort(m->public, n, sizeof \*m->public, by_user_and_item);/    (void)by_user_and_item;/@unit/ratings_public_test
ratings: effects not shrunk@src/data/ratings_public.c@s/m->effect\[k\] \/= count\[k\] + m->options->shrinkage;/m->effect[k] \/= count[k];/@unit/ratings_public_test
ratings: features from test ratings@src/data/ratings_features.c@s/if (m->split\[k\] != TACIT_TRAIN || m->agent\[r->user\] == TACIT_PUBLIC_USER)/if (m->agent[r->user] == TACIT_PUBLIC_USER)/@unit/ratings_test
ratings: leaking features not told@src/data/ratings_features.c@s/m->source.leaks |= TACIT_LEAK_FEATURES;/;/@unit/ratings_public_test
ratings: a leaking graph not told@src/data/ratings_features.c@s/m->source.targets_leak = true;/;/@unit/ratings_public_test
ratings: public features from agents@src/data/ratings_features.c@s/    bool public = how != FEATURES_ALS;/    bool public = how != FEATURES_ALS \&\& how != FEATURES_PUBLIC;/@unit/ratings_public_test
ratings: factors turned the other way@src/data/ratings_features.c@s/sum += lower\[i \* p + j\] \* q\[i\];/sum += lower[j * p + i] * q[i];/@unit/ratings_public_test
ratings: public effects stay in the factors@src/data/ratings_features.c@s/(effects ? m->effect\[item\[k\]\] : 0)/(effects ? 0 : 0)/@unit/ratings_public_test
ratings: profiles of test ratings@src/data/ratings_features.c@s/if (m->split\[k\] != TACIT_TRAIN || agent == TACIT_PUBLIC_USER)/if (agent == TACIT_PUBLIC_USER)/@unit/ratings_public_test
ratings: facts in their own size@src/data/ratings_features.c@s/to\[f\] = m->options->facts_scale \* fact\[f\];/to[f] = fact[f];/@unit/ratings_public_test
case: chosen by the test records@src/reproduce/case_run.c@s/tacit_session_scores(session, TACIT_VALIDATION, score);/tacit_session_scores(session, TACIT_TEST, score);/@unit/case_test
case: chosen on what is shown@src/reproduce/case_run.c@s/book->request->seed + (book->task->own ? 0 : book->request->seeds)/book->request->seed/@unit/case_test
case: the worst is chosen@src/reproduce/case_run.c@s/(book->task->less ? -1 : 1) \* cell->tried/(book->task->less ? 1 : 1) * cell->tried/@unit/case_test
case: validation records shown@src/reproduce/case_run.c@s/r->tuning ? book->task->tuning : book->task->shown/r->tuning ? book->task->tuning : book->task->tuning/@unit/case_test
lapack: no turns@src/math/lapack.c@s/pthread_mutex_lock(&turn);/;/;s/pthread_mutex_unlock(&turn);/;/@unit/eigen_test
lapack: vectors in rows@src/math/lapack.c@s/LAPACKE_dsyevd(LAPACK_COL_MAJOR/LAPACKE_dsyevd(LAPACK_ROW_MAJOR/@unit/eigen_test
lapack: smallest for largest@src/math/lapack.c@s/                                           first, side, 0, &found, value, vector/                                           1, side - first + 1, 0, \&found, value, vector/@unit/eigen_test
members: two members with one key@src/experiment/roster.c@s/(status = remember_key(r, link)) ||//@unit/consortium_test
members: an agent with two hosts@src/experiment/roster.c@s/roster->host\[agent\] != NOBODY/0/@unit/consortium_test
run id: privacy is no part of it@src/experiment/agreement.c@s/^.*list_options(&out, &tacit_privacy_section.*$//@unit/consortium_test
peer: records by the order of lines alone@src/experiment/peer.c@s/p->hosted\[at\].shard = k;/p->hosted[k].shard = k;/@unit/consortium_test
shards: doubles rounded@src/data/shards.c@s/s->x\[k\] = tacit_grid_at/s->x[k] = (float)tacit_grid_at/@unit/shards_test
up: weights rounded@src/experiment/up.c@s/tacit_write_real(&out, g->weight\[e\]);/tacit_write_format(\&out, "%g", g->weight[e]);/@unit/up_test
masks: key does not know the receiver@src/crypto/keys.c@s/put_u64(t, place->receiver);/put_u64(t, 0);/@unit/masks_streams_test
masks: key does not know the set@src/crypto/keys.c@s/put(t, place->set, sizeof place->set);/;/@unit/masks_streams_test
masks: small order taken@src/crypto/keys.c@s/crypto_scalarmult(point, mine->secret, other) != 0/(crypto_scalarmult(point, mine->secret, other), false)/@unit/masks_test
masks: both ends add@src/crypto/turn.c@s/\*adds = one < other;/*adds = true;/@unit/masks_test
masks: split takes more colluders than it does@src/crypto/turn.c@s#split ? members / 2#split ? (members + 1) / 2#@unit/masks_turn_test
masks: a word after the seed@src/crypto/turn.c@s/ && turn->state < TACIT_MASK_OPENED//@unit/masks_turn_test
masks: the same try twice@src/crypto/turn.c@s/attempt > turn->attempt/attempt >= turn->attempt/@unit/masks_turn_test
masks: seed of an older word@src/crypto/turn.c@s/ || turn->attempt != attempt//@unit/masks_turn_test
masks: a second word@src/crypto/masks.c@s/turn->state = TACIT_MASK_WORDED;/;/@unit/masks_turn_test
masks: no own stream@src/crypto/masks.c@s/tacit_streams_add(word, n, &last, 1, turn->round, turn->attempt);/;/@unit/masks_test
masks: no pairs@src/crypto/masks.c@s/tacit_streams_add(word, n, masks, count, turn->round, turn->attempt);/;/@unit/masks_streams_test
masks: one bound too far@src/crypto/masks.c@s/total <= INT64_MAX/total <= (uint64_t)INT64_MAX + 1/@unit/masks_test
masks: half of the round in the nonce@src/crypto/streams.c@s/(uint32_t)(round >> 32), attempt/0, attempt/@unit/masks_streams_test
masks: blocks of a tile repeat@src/crypto/streams_impl.h@s/t->start\[12\] += (uint32_t)blocks;/t->start[12] += 0;/@unit/masks_streams_test
shares: one coin too few@src/crypto/shares.c@s/c + 1 < threshold/c + 2 < threshold/@unit/shares_test
shares: another field for points@src/crypto/shares.c@s/0x11b/0x11d/@unit/shares_test
shares: the same share twice@src/crypto/shares.c@s/ || seen\[point\[k\]\]//@unit/shares_test
gossip: both ends add@src/crypto/gossip.c@s/mask->minus ? UINT64_MAX : 0/0/@unit/gossip_noise_test
gossip: tries draw alike@src/crypto/gossip.c@s/(uint64_t)attempt << 32 | round >> 32/round >> 32/@unit/gossip_noise_test
gossip: what is undone is added once more@src/crypto/gossip.c@s/back.minus = !mask->minus;/;/@unit/gossip_noise_test
gossip: a second word@src/crypto/gossip.c@s/turn->state = TACIT_MASK_WORDED;/;/@unit/gossip_noise_test
rows: clipped too late, not measured@src/model/rows.c@s/tacit_grid_shrink(s->cost->norm.*/;/; s/TACIT_GRID_AIM \* limit/1.00001 * limit/@unit/rows_test
rows: on the wrong side of the centre@src/model/rows.c@s/-= s->how->centre/+= s->how->centre/@unit/rows_test
shares of noise: tau of the first share@src/random/tau.c@s/sum += term/sum = term/@unit/shares_noise_test
shares of noise: tau without k over k + 1@src/random/tau.c@s#(double)k / (double)(k + 1)#1.0#@unit/shares_noise_test
shares of noise: missing ones count@src/privacy/parts.c@s#sqrt((double)honest / parts)#1#@unit/shares_noise_test
tracked: record adds half@src/model/tracked.c@s|stretch \* moved + 2 \* step \* clip / (double)records|stretch * moved + step * clip / (double)records|@unit/tracked_test
tracked: no stretch@src/model/tracked.c@s|const double stretch = fmax(fabs(k), fabs(k - step \* curve));|const double stretch = fabs(k);|@unit/tracked_test
tracked: bounds of users tell their records@src/model/tracked.c@s/of_user ? USER_RECORDS : (double)records/(double)records/@unit/tracked_test
tracked: user as record@src/model/tracked.c@s|of_user ? user : fmin(user, record)|fmin(user, record)|@unit/tracked_test
tracked: mix forgets@src/model/tracked.c@s|settle(how, fabs(keep) \* moved + 2|settle(how, 0.5 * fabs(keep) * moved + 2|@unit/tracked_test
tracked: rows not cut@src/model/tracked.c@s|            z\[r\] \*= how->radius / length\[r\];|            z[r] *= 1;|@unit/tracked_test
tracked: not clipped@src/model/tracked.c@s|coef\[r\] = fmax(-most, fmin(most, coef\[r\])) \* cut;|coef[r] = coef[r] * cut;|@unit/tracked_test
tracked: no projection@src/model/tracked.c@s|else if (length > how->reach)|else if (0)|@unit/tracked_test
tracked: long words heard@src/model/tracked.c@s|return isfinite(length) \&\& length <= how->longest;|return true;|@unit/tracked_test
tracked: paid not checked@src/model/tracked.c@s|    if (need <= cost->sensitivity)|    if (1)|@unit/tracked_test
tracked: l1 as l2@src/model/tracked.c@s|moved \* (norm == TACIT_L1 ? sqrt((double)p) : 1)|moved|@unit/tracked_test
tracked: wrap lost@src/model/tracked.c@s|lap < 2; lap++|lap < 1; lap++|@unit/tracked_test
conceal: whole noise as share@src/privacy/conceal.c@s|sigma \* sigma / parts \*|sigma * sigma *|@unit/tracked_test
conceal: no noise@src/privacy/conceal.c@s|(int64_t)((uint64_t)number\[at + k\] + (uint64_t)z\[k\]);|number[at + k];|@unit/tracked_test
diffusion: planned too small@src/protocol/diffusion_setup.c@s|self->planned = grows ? 0 : most \* (1 + 0x1p-20);|self->planned = grows ? 0 : most * 0.9;|@unit/diffusion_test
diffusion: homomorphic as diluted@src/protocol/diffusion_setup.c@s#!exchange || s->options.noise == DIFFUSION_HOMOMORPHIC ? 1 : own#!exchange ? 1 : own#@unit/diffusion_test
diffusion: one release for all links@src/protocol/diffusion_setup.c@s|rounds \* facts->neighbours|rounds|@unit/diffusion_test
diffusion: spent not kept@src/protocol/diffusion_tell.c@s|        self->spent = true;|        return TACIT_EBUDGET;|@unit/diffusion_test
diffusion: said not saved@src/protocol/diffusion.c@s|    tacit_save_public(saver, self->said);|    tacit_save_public(saver, NULL);|@unit/diffusion_test
diffusion: own copy keeps a@src/protocol/diffusion.c@s|cancels ? 1 : 1 - others|1 - others|@unit/diffusion_reference_test
sums: own seeds follow from the secret of the epoch alone@src/protocol/sums_member.c@s/fresh\[k\] ^= a->s/fresh[k] = a->s/@unit/sums_attack_test
sums: a receiver among its members@src/protocol/sums_keys.c@s#agent == tacit_facts_of(&a->env)->neighbour\[slot\])#false)#@unit/sums_attack_test
sums: degrees not in the masks@src/protocol/sums_member.c@s#.terms_len = sizeof terms}#.terms_len = 0}#@unit/sums_attack_test
sums: a repeated call keeps others waiting@src/protocol/sums_member.c@s#    sums_pass(a->s, slot, call.round - 1);#    receiver->age = 0; sums_pass(a->s, slot, call.round - 1);#@unit/sums_attack_test
sums: one neighbour moves all@src/protocol/sums.c@s#return second > s->round + 1 ? second - 1 : 0;#return first > s->round + 1 ? first - 1 : 0;#@unit/sums_attack_test
sums: no last round@src/protocol/sums_member.c@s#(a->plan->rounds \&\& (uint64_t)round > a->plan->rounds)#false#@unit/sums_attack_test
sums: one liar ends a run@src/protocol/sums_receiver.c@s#return all_differ(a->s) ?#return true ?#@unit/sums_attack_test
sums: signatures not looked at@src/protocol/sums_keys.c@s#return tacit_verify(&a->env, key->agent, text, sizeof text, key->signature);#return TACIT_OK;#@unit/sums_attack_test
sums: too small sets answered@src/protocol/sums_member.c@s#if (p.count < a->plan->least)#if (0)#@unit/sums_attack_test
diffusion: stands never still@src/protocol/diffusion.c@s#return self->planned > 0 \&\& s->options.noise#return false \&\& s->options.noise#@unit/diffusion_test
sums: withheld seeds forgiven@src/protocol/sums_receiver.c@s#a->s->round + SUMS_SHUNNED#0#@unit/sums_attack_test
diffusion: batches never drawn@src/protocol/diffusion.c@s/if (s->options.order)/if (0)/@unit/diffusion_test
model files: checksum not looked at@src/model/net_file.c@s/if (memcmp(hash, bytes + len - SEAL, SEAL) != 0)/if (0)/@unit/net_file_test
model files: NaN accepted@src/model/net_file.c@s/if (!isfinite(x\[k\]))/if (0)/@unit/net_file_test
model files: words in any form@src/model/net_file.c@s/const bool same = strcmp(again, f->text) == 0;/const bool same = true;/@unit/net_file_test
predictions: one pair of constants for all@src/model/net_predict.c@s/step = m->pairs > 1/step = 0/@unit/net_file_test
predictions: second piece reads the first@src/model/net_predict.c@s/fill(&p, model, now, x + from \* inputs)/fill(\&p, model, now, x)/@unit/net_file_test
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
