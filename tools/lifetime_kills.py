#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill -9 again and again over three runs of two protocols: does a lifetime ledger forget anything?

    tools/lifetime_kills.py --tacit build/tacit --kills 200 --out FOLDER > kills.csv

Alice's node reads the same file in each of three runs (cd, dsgd, cd), beside Bob's node, which stays up.
Hers is killed at a random moment after its start, again and again. After each death, before
anything is started again, two figures are compared:

  epsilon_released   of all releases that the ledgers of all her runs hold, composed by the tightest
                     accountant (tacit account compose); a ledger is charged before a message leaves
  epsilon_lifetime   what her lifetime ledger says is spent on the file

The second must never be below the first. Each run then goes on to its end, and a fourth must be refused
with exit code 5 before it releases anything. One CSV line per death or end, on standard output. Ends
with 0 if all holds, 1 if not.
"""
import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time

DELTA = 1e-5
EPSILON = 1.0  # of each run
BUDGET = 2.7
UNIT = 0.05
RUNS = (("first", "cd"), ("second", "dsgd"), ("third", "cd"))


class Failed(Exception):
    pass


class Study:
    def __init__(self, tacit, folder, seed, ticks):
        self.ticks = ticks
        self.tacit, self.folder = os.path.abspath(tacit), os.path.abspath(folder)
        self.random = random.Random(seed)
        self.done = []  # folders of runs
        os.makedirs(folder)
        self.env = dict(os.environ, XDG_STATE_HOME=os.path.abspath(os.path.join(folder, "state")))
        self.write_records()

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def call(self, *words, code=0):
        p = subprocess.run([self.tacit, *words], capture_output=True, text=True, env=self.env)
        if p.returncode != code:
            raise Failed(f"exit {p.returncode}, not {code}: tacit {' '.join(words)}: {p.stderr}")
        return p.stdout

    def write_records(self):
        with open(self.path("both.csv"), "w") as both:
            for number, name in enumerate(("alice", "bob")):
                with open(self.path(name + ".csv"), "w") as own:
                    for _ in range(60):
                        x = [round(self.random.uniform(-1, 1), 3) for _ in range(4)]
                        line = ",".join(map(str, x)) + f",{1 if x[0] > 0 else -1}"
                        print(line, file=own)
                        print(f"{number},{line}", file=both)

    def prepare(self, name, protocol):
        rounds = f", iterations: {self.ticks - 10}" if protocol == "dsgd" else ""
        with open(self.path(name + ".yaml"), "w") as f:
            f.write(f"run: {{name: {name}, time: {self.ticks}, every: 0}}\n"
                    f"data: {{source: csv, path: {self.path('both.csv')}, header: false, agent-column: \"1\","
                    " label-column: \"6\", bound: l2, test-fraction: 0}\n"
                    "graph: {kind: complete}\n"
                    f"protocol: {{name: {protocol}{rounds}}}\n"
                    f"privacy: {{mechanism: gaussian, clip: 1, epsilon: {EPSILON}, delta: 1e-6,"
                    f" releases: {self.ticks * 11 // 10}}}\n")
        self.call("up", "2", self.path(name + ".yaml"), "--prepare", "--out", self.path(name), "--quiet",
                  "--unit", str(UNIT), "--set", "consortium.end=ticks")
        for k, who in enumerate(("alice", "bob")):
            path = self.path(name, f"node-00{k}", "node.yaml")
            text = open(path).read().split("data:\n")[0]
            with open(path, "w") as f:
                f.write(f"{text}data: {{source: csv, path: ../../{who}.csv, header: false, label-column: \"5\","
                        " partition: iid, bound: l2, test-fraction: 0}\n")
        self.done.append(name)

    def start(self, name, k, *sets):
        log = self.path(name, f"log-{k}.jsonl")
        words = [self.tacit, "node", "-c", self.path(name, f"node-00{k}", "node.yaml"), "--quiet",
                 "--json-log", log, "--set", "node.patience=120"]
        for s in sets:
            words += ["--set", s]
        with open(self.path(name, f"stderr-{k}.txt"), "ab") as said:
            return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=said, env=self.env)

    def alice(self, name):
        sets = ["node.data-set=patients"]
        if name == self.done[0]:
            sets += [f"node.lifetime-epsilon={BUDGET}", f"node.lifetime-delta={DELTA}"]
        return self.start(name, 0, *sets)

    # ---- the two figures ----

    def releases(self):
        """All that her ledgers hold, as lines by hand."""
        keep = ("mechanism", "norm", "unit", "adjacency", "sensitivity", "noise", "grid", "coordinates",
                "sampling", "releases")
        lines = []
        for name in self.done:
            path = self.path(name, "node-000", "state", "agent-0.ledger")
            if not os.path.exists(path):
                continue
            for line in self.call("ledger", "show", path, "--json").splitlines():
                entry = json.loads(line)
                if "mechanism" in entry:
                    lines.append({k: entry[k] for k in keep if k in entry})
        return lines

    def released(self):
        lines = self.releases()
        if not lines:
            return 0, 0.0
        path = self.path("all.jsonl")
        with open(path, "w") as f:
            for line in lines:
                print(json.dumps(line), file=f)
        answer = json.loads(self.call("account", "compose", path, "--delta", str(DELTA), "--json"))
        return sum(line.get("releases", 1) for line in lines), answer["best"]["epsilon"]

    def lifetime(self):
        path = os.path.join(self.env["XDG_STATE_HOME"], "tacit", "lifetime.ledger")
        if not os.path.exists(path):
            return 0.0, "none"
        sets = json.loads(self.call("ledger", "show", "--json"))["data_sets"]
        for s in sets:
            if s["name"] == "patients" and s.get("runs"):
                return s["epsilon_spent"], s["runs"][-1]["state"]
        return 0.0, "none"

    def compare(self, *row):
        count, released = self.released()
        spent, state = self.lifetime()
        good = spent >= released
        print(",".join(map(str, row)) + f",{state},{count},{released:.6g},{spent:.6g},{'yes' if good else 'no'}",
              flush=True)
        if not good:
            raise Failed(f"{row}: lifetime {spent} below released {released}")

    # ---- runs ----

    def run(self, name, protocol, kills):
        self.prepare(name, protocol)
        bob = self.start(name, 1, "node.lifetime=off")
        try:
            for kill in range(kills):
                node = self.alice(name)
                # Most deaths while it runs, some before it has reserved anything.
                delay = self.random.choice((self.random.uniform(0, 0.15), self.random.uniform(0.05, 0.6)))
                time.sleep(delay)
                node.send_signal(signal.SIGKILL)
                node.wait()
                self.compare(name, protocol, "kill", kill + 1, round(1000 * delay))
            node = self.alice(name)
            if node.wait() != 0:
                raise Failed(f"{name}: exit {node.returncode}: {self.said(name)}")
            self.compare(name, protocol, "end", kills, "")
        finally:
            bob.send_signal(signal.SIGTERM)
            bob.wait()

    def said(self, name):
        return open(self.path(name, "stderr-0.txt")).read()

    def refused(self, name):
        self.prepare(name, "cd")
        node = self.alice(name)
        if node.wait() != 5:
            raise Failed(f"{name}: exit {node.returncode}, not 5: {self.said(name)}")
        self.compare(name, "cd", "refused", 0, "")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tacit", required=True)
    p.add_argument("--out", required=True)
    p.add_argument("--kills", type=int, default=200)
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    study = Study(a.tacit, a.out, a.seed, max(60, 8 * a.kills // len(RUNS)))
    print("run,protocol,what,kills,delay_ms,state,releases,epsilon_released,epsilon_lifetime,covered")
    try:
        for k, (name, protocol) in enumerate(RUNS):
            study.run(name, protocol, a.kills // len(RUNS) + (k < a.kills % len(RUNS)))
        study.refused("fourth")
    except Failed as why:
        print(f"lifetime_kills: {why}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
