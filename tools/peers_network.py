#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An experiment by real peers on a bad network, and what must hold at its end.

    tools/peers_network.py EXPERIMENT.yaml --tacit build/tacit --nodes 20 --out FOLDER --json

Runs the experiment twice. Once by "tacit up", undisturbed. Once by nodes in network namespaces of
their own (peers_wire.py) with delay and loss on every link, a partition into two halves in the
middle, and some nodes killed with -9 at random moments and started again on what their disks hold.
Then looks:

  ended           every node ended by itself, with exit code 0
  objective       what "tacit up --measure" finds, beside that of the undisturbed run
  over_budget     ledgers that are not whole, or have spent more than their budget
  accepted_twice  messages that one life of a node took in twice, or in the wrong order

One life: a node that is killed forgets what it did since its last checkpoint, and what it heard
since is lost with it. Both are of the same moment (src/runtime/node/persist.c), so whoever sends it
again is heard again, for the first time as far as the state knows. Within a life it must not happen.

Where namespaces are not allowed the nodes share the loopback device: kills, but nothing else.
Ends with 0 if all of this holds, 1 if it does not, 2 if it could not be tried.
"""
import argparse
import csv
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # the sources stay as they are
import peers_wire  # noqa: E402

PORT = 7400
SLACK = 120  # seconds beyond what a run should take, for machines that are slow


def give_up(words):
    print(f"peers_network: {words}", file=sys.stderr)
    sys.exit(2)


class Node:
    def __init__(self, folder, name, tacit, space):
        self.home = os.path.join(folder, name)
        self.name, self.tacit, self.space = name, tacit, space
        self.lives = 0
        self.process = None
        self.code = None  # of its end by itself

    def start(self):
        self.lives += 1
        words = [self.tacit, "node", "--quiet", "--config", os.path.join(self.home, "node.yaml"),
                 "--json-log", os.path.join(self.home, f"life-{self.lives}.jsonl")]
        with open(os.path.join(self.home, "stderr.txt"), "ab") as said:
            self.process = subprocess.Popen(self.space.command(words) if self.space else words,
                                            stdin=subprocess.DEVNULL, stdout=said, stderr=said)

    def kill(self):
        """True if it lived until now."""
        if self.process is None or self.process.poll() is not None:
            return False
        self.process.kill()
        self.process.wait()
        self.process = None
        return True

    def look(self):
        if self.process is not None and self.process.poll() is not None:
            self.code, self.process = self.process.returncode, None

    def last_words(self):
        with open(os.path.join(self.home, "stderr.txt"), errors="replace") as said:
            lines = said.read().splitlines()
        return lines[-1] if lines else "nothing said"


# ---- the undisturbed run, and the folder of the other ----

def up(args, *more):
    words = [args.tacit, "up", *more]
    try:
        done = subprocess.run(words, capture_output=True, text=True)
    except OSError as why:
        give_up(f"cannot start the program: {why}")
    if done.returncode != 0:
        give_up(f"{' '.join(words)}: exit {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout


def objective_of(told):
    value = json.loads(told)["metrics"]["objective"]
    return float("nan") if value is None else value  # not every protocol has one: use --within 0


def settings(args):
    sets = [word for pair in args.set for word in ("--set", pair)]
    return [str(args.nodes), args.experiment, "--unit", str(args.unit), "--threads", "1", *sets]


def prepare(args, spaces):
    folder = os.path.join(args.out, "disturbed")
    up(args, *settings(args), "--set", "node.log=debug", "--prepare", "--quiet", "--out", folder,
       *(["--port", str(PORT)] if spaces else []))
    path = os.path.join(folder, "members.csv")
    with open(path) as file:
        rows = list(csv.reader(file))
    if spaces:
        at = rows[0].index("endpoint")
        for row, space in zip(rows[1:], spaces):
            row[at] = f"tcp://{space.address}:{PORT}"
        with open(path, "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    names = [row[rows[0].index("name")] for row in rows[1:]]
    return folder, names


# ---- the disturbed run ----

class Fate:
    """What will happen to whom, and when: seconds after the start. The seed decides."""

    def __init__(self, args, names, length):
        chance = random.Random(args.seed)
        self.list = []
        for name in chance.sample(names, round(args.kills * len(names))):
            when = chance.uniform(0.1, 0.75) * length
            self.list.append((when, "kill", name))
            self.list.append((when + chance.uniform(0.5, min(5, length / 10)), "start", name))
        if args.partition > 0:
            begin = max(0, length - args.partition) / 2
            self.list += [(begin, "part", ""), (begin + args.partition, "join", "")]
        self.list.sort()

    def due(self, now):
        while self.list and self.list[0][0] <= now:
            yield self.list.pop(0)[1:]


def disturb(args, folder, nodes, switch):
    with open(os.path.join(folder, "experiment.yaml")) as file:
        units = float(re.search(r"^ *time: *([0-9.e+-]+)", file.read(), re.M).group(1))
    length = units * args.unit
    fate = Fate(args, list(nodes), length)
    kills = 0
    for node in nodes.values():
        node.start()
    begun = time.monotonic()
    while any(n.process or n.code is None for n in nodes.values()):
        now = time.monotonic() - begun
        if now > 2 * length + SLACK:
            say(args, f"not ended after {now:.0f} seconds: " +
                ", ".join(n.name for n in nodes.values() if n.process))
            break
        for what, name in fate.due(now):
            say(args, f"{now:6.1f} s: {what} {name}")
            if what == "kill":
                kills += nodes[name].kill()
            elif what == "start" and nodes[name].code is None and nodes[name].process is None:
                nodes[name].start()
            elif switch:
                switch.cut = what == "part"
        for node in nodes.values():
            node.look()
        time.sleep(0.05)
    return kills, time.monotonic() - begun


# ---- what must hold ----

def count_ended(args, nodes):
    for node in nodes.values():
        if node.code != 0:
            say(args, f"{node.name}: exit {node.code}: {node.last_words()}")
    return sum(node.code == 0 for node in nodes.values())


def count_over_budget(args, nodes):
    bad = ledgers = 0
    for node in nodes.values():
        state = os.path.join(node.home, "state")
        for name in sorted(os.listdir(state)):
            if not name.endswith(".ledger"):
                continue
            ledgers += 1
            path = os.path.join(state, name)
            whole = subprocess.run([args.tacit, "ledger", "verify", path], capture_output=True, text=True)
            shown = subprocess.run([args.tacit, "ledger", "show", path, "--last", "0"],
                                   capture_output=True, text=True)
            spent = re.search(r"epsilon (\S+) of (\S+) at delta", re.sub(r"\s+", " ", shown.stdout))
            if whole.returncode or not spent or not is_within(*spent.groups()):
                say(args, f"{path}: {whole.stderr.strip()} {shown.stdout.strip()}")
                bad += 1
    if ledgers == 0:
        give_up("no ledgers: looked in the wrong place?")
    return bad, ledgers


def is_within(spent, budget):
    """As shown, to four digits or so; "unbounded" is within itself alone."""
    if budget == "unbounded":
        return True
    return spent != "unbounded" and float(spent) <= float(budget) * (1 + 1e-3)


def accepted(path):
    """(from, to), (incarnation, sequence) of each message that one life took in, in that order."""
    with open(path, errors="replace") as file:
        for line in file:
            if '"message_accepted"' not in line:
                continue
            try:
                e = json.loads(line)
            except ValueError:  # the line it was killed in
                continue
            yield (e["from"], e["to"]), (e["incarnation"], e["sequence"])


def count_twice(args, nodes):
    twice = messages = again = 0
    for node in nodes.values():
        ever = set()
        for life in range(1, node.lives + 1):
            last = {}
            seen = set()
            for pair, number in accepted(os.path.join(node.home, f"life-{life}.jsonl")):
                messages += 1
                if last.get(pair, (0, 0)) >= number:
                    say(args, f"{node.name}, life {life}: {pair} {number} after {last[pair]}")
                    twice += 1
                last[pair] = number
                seen.add((pair, number))
            again += len(seen & ever)
            ever |= seen
    return twice, messages, again


# ---- all of it ----

def say(args, words):
    if not args.quiet:
        print(f"peers_network: {words}", file=sys.stderr, flush=True)


def read_args():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("experiment")
    p.add_argument("--tacit", default="build/tacit")
    p.add_argument("--nodes", type=int, default=20)
    p.add_argument("--unit", type=float, default=0.25, help="seconds that a unit of time lasts")
    p.add_argument("--delay", type=float, default=50, help="milliseconds, each way")
    p.add_argument("--loss", type=float, default=5, help="percent of all packets")
    p.add_argument("--partition", type=float, default=60, help="seconds")
    p.add_argument("--kills", type=float, default=0.3, help="share of the nodes")
    p.add_argument("--within", type=float, default=0.01, help="of the undisturbed objective; 0: any")
    p.add_argument("--undisturbed", type=float, help="that objective, if it is known already")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--out", required=True, help="folder for both runs; must not exist")
    p.add_argument("--capture", help="write all frames between nodes to this .pcap file")
    p.add_argument("--network", choices=("auto", "namespaces", "loopback"), default="auto")
    p.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="as for tacit up")
    p.add_argument("--json", action="store_true")
    p.add_argument("--quiet", action="store_true")
    args = p.parse_args()
    args.tacit = os.path.abspath(args.tacit)
    return args


def choose_network(args):
    if args.network == "loopback":
        return False
    try:
        peers_wire.enter("TACIT_PEERS_NETWORK")
        return True
    except peers_wire.NotAllowed as why:
        if args.network == "namespaces":
            give_up(f"no network namespaces here: {why}")
        print(f"peers_network: no network namespaces here ({why}): on the loopback device instead, "
              "without delay, loss and partition", file=sys.stderr)
        return False


def main():
    args = read_args()
    if os.path.exists(args.out):
        give_up(f'"{args.out}" exists; remove it or use another --out')
    own = choose_network(args)
    os.makedirs(args.out)
    if own:
        peers_wire.ip("link", "set", "lo", "up")
    if args.undisturbed is None:
        say(args, "undisturbed")
        args.undisturbed = objective_of(up(args, *settings(args), "--json", "--quiet", "--out",
                                           os.path.join(args.out, "undisturbed")))
    spaces = [peers_wire.Space(k + 1) for k in range(args.nodes)] if own else []
    folder, names = prepare(args, spaces)
    nodes = {name: Node(folder, name, args.tacit, spaces[k] if own else None)
             for k, name in enumerate(names)}
    pcap = peers_wire.Pcap(args.capture) if own and args.capture else None
    switch = peers_wire.Switch(spaces, args.delay / 1e3, args.loss / 100, args.seed, pcap) if own else None
    if switch:
        switch.start()
    try:
        kills, seconds = disturb(args, folder, nodes, switch)
    finally:
        for node in nodes.values():
            node.kill()
        if switch:
            switch.end()
    result = judge(args, folder, nodes, switch)
    result.update({"kills": kills, "seconds": round(seconds, 1)})
    tell(args, result)
    sys.exit(0 if holds(args, result) else 1)


def judge(args, folder, nodes, switch):
    ended = count_ended(args, nodes)
    objective = objective_of(up(args, "--measure", folder, "--json")) if ended == len(nodes) else float("nan")
    over, ledgers = count_over_budget(args, nodes)
    twice, messages, again = count_twice(args, nodes)
    return {"network": "namespaces" if switch else "loopback", "nodes": len(nodes),
            "delay_ms": args.delay if switch else 0, "loss_percent": args.loss if switch else 0,
            "partition_seconds": args.partition if switch else 0, "ended": ended,
            "objective": objective, "undisturbed": args.undisturbed, "ratio": objective / args.undisturbed,
            "ledgers": ledgers, "over_budget": over, "messages": messages, "accepted_twice": twice,
            "accepted_again_after_a_crash": again,
            "frames_lost": switch.lost if switch else 0, "frames_parted": switch.parted if switch else 0,
            "frames_carried": switch.carried if switch else 0}


def holds(args, r):
    close = args.within == 0 or abs(r["ratio"] - 1) <= args.within
    return r["ended"] == r["nodes"] and close and r["messages"] > 0 and r["over_budget"] == 0 \
        and r["accepted_twice"] == 0


def tell(args, result):
    if args.json:  # which knows no NaN
        print(json.dumps({k: None if v != v else v for k, v in result.items()}))
        return
    for key, value in result.items():
        print(f"  {key:30}{value}")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    main()
