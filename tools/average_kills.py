# SPDX-License-Identifier: Apache-2.0
# One of ten real peers of "tacit average" is killed (kill -9) at a random moment, many times over:
# rows of bench/results/average_kills.csv. Called by tools/study_average_kills.sh.
import csv, json, os, random, re, shutil, subprocess, sys, tempfile, time

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


def changed(folder, k):
    return os.stat(f"{folder}/state/agent-{k}.ledger").st_mtime_ns


# Half of them die at a random moment after the start, half when they have just been charged.
def trial(number, place):
    dice = random.Random(number)
    victim, at_charge = dice.randrange(PEERS), number % 2 == 0
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
    return [number, victim, "charge" if at_charge else "start", f"{delay:.3f}", ended, outcome, heard, members, charged]


with open(OUT, "w", newline="") as file:
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(["trial", "victim", "after", "seconds", "had_ended", "outcome", "heard",
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
