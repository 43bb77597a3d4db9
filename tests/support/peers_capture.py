# SPDX-License-Identifier: Apache-2.0
"""tests/e2e/peers_capture.sh: what can be read in the traffic between real peers.

Nodes in namespaces of their own run an experiment without noise and one with it; every frame goes
into a .pcap file. Half-way all of them are interrupted, which leaves intermediate models behind,
and started again. Then the streams are searched for everything that is known of the runs: numbers
of models, names, keys, headers, and the payloads of last releases, which ledgers keep as they were
encoded for the wire. Nothing of it may be found, but for
the word CURVE, which ZeroMQ says in clear: if that is missing, nothing was captured or searched.
At last one node sends another a message of the wire format without a link around it, and the
same search in the same file must find each kind of thing.
"""
import contextlib
import csv
import glob
import json
import os
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["TACIT_SOURCE_DIR"], "tools"))
sys.dont_write_bytecode = True  # the sources stay as they are
import pcap_search  # noqa: E402
import peers_wire  # noqa: E402

TACIT = os.environ["TACIT"]
NODES, PORT = 4, 7400
EXPERIMENTS = {"public": """
run: {name: walls-have-ears, time: 60, every: 0, seed: 3}
data: {agents: 8, dimension: 6, test-records: 10, validation-records: 0}
protocol: {name: cd}
""", "private": """
run: {name: floors-have-mouths, time: 60, every: 0, seed: 3}
data: {agents: 8, dimension: 6, min-records: 30, max-records: 40}
privacy: {mechanism: gaussian, clip: 1, epsilon: 2, releases: 20}
"""}
KINDS = {"run id", "name of the run", "payload as encoded", "name of a node", "endpoint of a node",
         "identity of a node", "identity of a node in hex", "header of a message"} | {
             f"{when}{scalar} {order}-endian" for when in ("", "intermediate ")
             for scalar in ("f32", "f64") for order in ("little", "big")}
failed = []


def check(fine, words):
    if not fine:
        failed.append(words)
        print("FAIL:", words)


class Run:
    """One experiment, and all that is known of it."""

    def __init__(self, name, spaces):
        self.folder, self.spaces = name, spaces
        self.text = re.search("name: ([^,]*)", EXPERIMENTS[name]).group(1)
        with open(name + ".yaml", "w") as file:
            file.write(EXPERIMENTS[name])
        subprocess.run([TACIT, "up", str(NODES), name + ".yaml", "--unit", "0.1", "--prepare", "--quiet",
                        "--threads", "1", "--out", name, "--port", str(PORT)], check=True,
                       stdout=subprocess.DEVNULL)
        with open(f"{name}/members.csv") as file:
            self.rows = list(csv.DictReader(file))
        for row, space in zip(self.rows, spaces):
            row["endpoint"] = f"tcp://{space.address}:{PORT}"
        with open(f"{name}/members.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, self.rows[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows)
        self.homes = [f"{name}/{row['name']}" for row in self.rows]

    def start(self):
        return [subprocess.Popen(space.command([TACIT, "node", "--quiet", "-c", f"{home}/node.yaml",
                                                "--json-log", f"{home}/log.jsonl"]), stderr=subprocess.DEVNULL)
                for home, space in zip(self.homes, self.spaces)]

    def models(self):
        return [v for home in self.homes for v in pcap_search.read_npy(f"{home}/state/models.npy")]

    def go(self):
        nodes = self.start()
        deadline = time.monotonic() + 100
        while time.monotonic() < deadline and not all(has_started(home) for home in self.homes):
            time.sleep(0.1)
        time.sleep(2)
        for node in nodes:
            node.terminate()
        codes = [node.wait() for node in nodes]
        check(codes == [130] * NODES, f"interrupted nodes ended with {codes}")
        self.middle = self.models()
        codes = [node.wait() for node in self.start()]
        check(codes == [0] * NODES, f"nodes ended with {codes}")
        self.final = self.models()
        check(self.final != self.middle and any(any(v) for v in self.middle),
              "the interruption left no models of its own")
        self.payloads = [p for home in self.homes for p in payloads(home)]
        check(len(self.payloads) >= NODES, f"only {len(self.payloads)} payloads in ledgers")
        with open(f"{self.homes[0]}/state/summary.json") as file:
            self.id = bytes.fromhex(json.load(file)["run"])

    def sent(self):
        return sum(json.load(open(f"{home}/state/summary.json"))["traffic"]["payload_bytes"] for home in self.homes)

    def words(self):
        """What is no number, {bytes: what it is}."""
        words = {self.id: "run id", self.text.encode(): "name of the run"}
        for payload in self.payloads:
            words[payload[-16:]] = "payload as encoded"
        for row in self.rows:
            words[row["name"].encode()] = "name of a node"
            words[row["endpoint"].encode()] = "endpoint of a node"
            words[bytes.fromhex(row["key"])] = "identity of a node"
            words[row["key"].encode()] = "identity of a node in hex"
        return words

    def patterns(self):
        patterns = pcap_search.number_patterns(self.final)
        for pattern, what in pcap_search.number_patterns(self.middle).items():
            patterns.setdefault(pattern, "intermediate " + what)
        for kind in range(1, 11):
            patterns[struct.pack("<4sBB2x", b"TACW", 2, kind)] = "header of a message"
        patterns.update(self.words())
        return patterns


def has_started(home):
    try:
        with open(f"{home}/log.jsonl") as file:
            return '"started"' in file.read()
    except FileNotFoundError:
        return False


def payloads(home):
    """Of the last releases: messages in the outbox of each ledger, as docs/wire.md writes them."""
    for path in glob.glob(f"{home}/state/*.ledger"):
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as ledger:
            for blob, in ledger.execute("SELECT bytes FROM outbox"):
                at = blob.find(b"TACW\2\1")
                if at >= 0:
                    length, = struct.unpack_from("<I", blob, at + 28)
                    yield blob[at + 176:at + 176 + length]


def plain_message(run):
    """Everything that is searched for: a frame as docs/wire.md says, and the rest behind it."""
    flat = [x for v in run.final for x in v]
    payload = b"\0" + struct.pack(f"<{len(flat)}d", *flat)
    head = struct.pack("<4sBB2x16sIIQQQQQQII88x", b"TACW", 2, 1, run.id, 1, len(payload), 0, 1, 1, 1, 0, 0, 0, 0)
    assert len(head) == 176
    more = b"".join(struct.pack(f"{o}{len(v)}{t}", *v) for o in "<>" for t in "df" for v in run.final + run.middle)
    return head + payload + more + b"".join(run.words())


def send_plain(spaces, message):
    """Over TCP from one namespace to another, a few bytes at a time: values fall on borders."""
    listen = ("import socket, sys\ns = socket.create_server(('0.0.0.0', 9000))\nprint('ready', flush=True)\n"
              "c, _ = s.accept()\nn = 0\nwhile b := c.recv(65536): n += len(b)\nprint(n)")
    speak = ("import socket, sys\ns = socket.create_connection((sys.argv[1], 9000))\n"
             "s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)\nm = sys.stdin.buffer.read()\n"
             "for k in range(0, len(m), 999): s.sendall(m[k:k + 999])\n")
    server = subprocess.Popen(spaces[0].command([sys.executable, "-c", listen]), stdout=subprocess.PIPE, text=True)
    server.stdout.readline()
    subprocess.run(spaces[1].command([sys.executable, "-c", speak, spaces[0].address]), input=message, check=True)
    return int(server.communicate()[0])


def judge(run, before, after):
    """`before`: the capture; `after`: the same with the plain message of this run at its end."""
    patterns = run.patterns()
    found, size = pcap_search.search(before, patterns)
    check(not found, f"{run.folder}: in clear between peers: {found}")
    check(size > run.sent() > 0, f"{run.folder}: {size} bytes captured, {run.sent()} bytes of messages sent")
    curve, _ = pcap_search.search(before, {b"CURVE": "greeting"})
    check(curve == {"greeting": 1}, f"{run.folder}: no ZeroMQ greeting: nothing captured, or the search is blind")
    # The control: the same search in the same file, with the plain message in it.
    seen, _ = pcap_search.search(after, patterns)
    counts = {}
    for what in patterns.values():
        counts[what] = counts.get(what, 0) + 1
    counts["header of a message"] = 1  # of one kind, as it was sent
    check(set(counts) == KINDS, f"{run.folder}: not all kinds of things were searched for: {counts}")
    check(seen == counts, f"{run.folder}: the search does not find what is there: {seen}, not {counts}")
    print(f"{run.folder}: searched {size} bytes of {NODES} peers for {len(patterns)} values: "
          f"{sum(found.values())} found; {sum(seen.values())} in the control")


def main():
    try:
        peers_wire.enter("TACIT_PEERS_CAPTURE")
    except peers_wire.NotAllowed as why:
        print(f"no network namespaces here ({why}): skipped, nothing can be captured")
        sys.exit(77)
    peers_wire.ip("link", "set", "lo", "up")
    spaces = [peers_wire.Space(k + 1) for k in range(NODES)]
    switch = peers_wire.Switch(spaces, 0.002, 0, 1)
    switch.start()
    for name in EXPERIMENTS:
        switch.pcap = peers_wire.Pcap("run.pcap")
        run = Run(name, spaces)
        run.go()
        time.sleep(0.2)  # what is still in flight
        switch.pcap.file.flush()
        shutil.copyfile("run.pcap", "searched.pcap")
        message = plain_message(run)
        check(send_plain(spaces, message) == len(message), "the plain message did not arrive")
        time.sleep(0.2)
        pcap, switch.pcap = switch.pcap, None
        time.sleep(0.3)
        pcap.close()
        judge(run, "searched.pcap", "run.pcap")
    switch.end()
    sys.exit(1 if failed else 0)


main()
