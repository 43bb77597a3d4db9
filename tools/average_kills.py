# SPDX-License-Identifier: Apache-2.0
# One of ten real peers of "tacit average" is killed (kill -9) at a random moment, many times over:
# rows of bench/results/average_kills.csv. Called by tools/study_average_kills.sh.
import csv, json, os, random, re, shutil, subprocess, sys, tempfile, time, urllib.request

TACIT, OUT, TRIALS = sys.argv[1], sys.argv[2], int(sys.argv[3])
PEERS, PATIENCE = 10, 2.0


def log_has(folder, event):
    try:
        with open(f"{folder}/log.jsonl") as file:
            return f'"event":"{event}"' in file.read()
    except FileNotFoundError:
        return False


def releases(folder, k):
    told = subprocess.run([TACIT, "ledger", "show", f"{folder}/state/agent-{k}.ledger"],
                          capture_output=True, text=True)
    found = re.search(r", (\d+) releases?$", told.stdout, re.M)
    return int(found[1]) if found else 0


MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


# Who has which place in the first try: src/protocol/totals_roles.c, by its own words.
def places(run):
    low, high = (int.from_bytes(run[k : k + 8], "little") for k in (0, 8))
    key = mix(low + mix(high + mix(256 + GOLDEN & MASK) & MASK) & MASK)
    half = next(h for h in range(32) if 4**h >= PEERS)

    def forwards(x):
        left, right = x >> half, x & (1 << half) - 1
        for turn in range(1, 5):
            left, right = right, left ^ mix(right + key + turn * GOLDEN & MASK) >> 64 - half
        return left << half | right

    at = {}
    for agent in range(PEERS):
        x = forwards(agent)
        while x >= PEERS:
            x = forwards(x)
        at[x] = agent
    return at


def run_of(folder):
    with open(f"{folder}/state/status.port") as file:
        port = file.read().strip()
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/status") as answer:
        return bytes.fromhex(json.load(answer)["run"])


def changed(folder, k):
    return os.stat(f"{folder}/state/agent-{k}.ledger").st_mtime_ns


# Of six, three die at a random moment after the start; and of the others, which die when they have
# just been charged, one adds up, one stands by for it, and one does neither.
def trial(number, place):
    dice = random.Random(number)
    at_charge = number % 2 == 0
    delay = dice.uniform(0, 0.05 if at_charge else 0.75 * PATIENCE)
    talk = f"{place}/talk"
    subprocess.run([TACIT, "average", "prepare", talk, "--peers", str(PEERS), "--range", "0:100",
                    "--epsilon", "100000", "--patience", str(PATIENCE), "--wait", "20", "--quiet"],
                   check=True)
    node = [f"{talk}/node-{k:03}" for k in range(PEERS)]
    peers = []
    for k in range(PEERS):
        with open(f"{place}/value.{k}", "w") as file:
            file.write(f"{10 * k}\n")
        peers.append(subprocess.Popen([TACIT, "average", "join", node[k], "--values",
                                       f"{place}/value.{k}", "--json", "--quiet"],
                                      stdout=open(f"{place}/out.{k}", "w"),
                                      stderr=open(f"{place}/err.{k}", "w")))
    while not os.path.exists(f"{node[0]}/state/status.port"):
        time.sleep(0.005)
    at = places(run_of(node[0]))
    place_in_try = number // 2 % 3 if at_charge else dice.randrange(PEERS)
    if place_in_try == 2:
        place_in_try = dice.randrange(2, PEERS)
    victim = at[place_in_try]
    while not log_has(node[victim], "started") and peers[victim].poll() is None:
        time.sleep(0.005)
    begun = changed(node[victim], victim)
    while at_charge and changed(node[victim], victim) == begun and peers[victim].poll() is None:
        time.sleep(0.001)
    time.sleep(delay)
    ended = peers[victim].poll() is not None
    peers[victim].kill()
    others = [k for k in range(PEERS) if k != victim]
    codes = [peers[k].wait() for k in others]
    peers[victim].wait()
    charged = sum(releases(node[k], k) > 0 for k in others)
    answers = {open(f"{place}/out.{k}").read().replace(f"node-{k:03}", "") for k in others
               if peers[k].returncode == 0}
    heard = sum(code == 0 for code in codes)
    members = json.loads(next(iter(answers)))["members"] if answers else 0
    outcome = ("sum" if heard == PEERS - 1 and len(answers) == 1 else
               "nothing charged" if heard == 0 and charged == 0 else "lost")
    return [number, place_in_try, "charge" if at_charge else "start", f"{delay:.3f}", ended, outcome, heard, members, charged]


with open(OUT, "w", newline="") as file:
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(["trial", "place", "after", "seconds", "had_ended", "outcome", "heard",
                   "members", "charged"])
    for number in range(1, TRIALS + 1):
        place = tempfile.mkdtemp()  # on a disk, whose syncs take their time
        row = trial(number, place)
        rows.writerow(row)
        file.flush()
        print(*row, flush=True)
        if row[5] == "lost" and os.environ.get("KEEP"):
            print("kept:", place)
        else:
            shutil.rmtree(place)
