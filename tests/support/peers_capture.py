# SPDX-License-Identifier: Apache-2.0
"""tests/e2e/peers_capture.sh: what can be read in the traffic between real peers.

Nodes in namespaces of their own run an experiment; every frame goes into a .pcap file. Half-way
all of them are interrupted, which leaves intermediate models behind, and started again. Then the
streams are searched for everything that is known of the run. Nothing of it may be found, but for
the word CURVE, which ZeroMQ says in clear: if that is missing, nothing was captured or searched.
At last one node sends another a message of the wire format without a link around it, and the
same search in the same file must find each kind of thing.
"""
import csv
import json
import os
import shutil
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
EXPERIMENT = """
run: {name: walls-have-ears, time: 60, every: 0, seed: 3}
data: {agents: 8, dimension: 6, test-records: 10, validation-records: 0}
protocol: {name: cd}
"""
failed = []


def check(fine, words):
    if not fine:
        failed.append(words)
        print("FAIL:", words)


def make_folder(spaces):
    with open("capture.yaml", "w") as file:
        file.write(EXPERIMENT)
    subprocess.run([TACIT, "up", str(NODES), "capture.yaml", "--unit", "0.1", "--prepare", "--quiet",
                    "--threads", "1", "--out", "peers", "--port", str(PORT)], check=True,
                   stdout=subprocess.DEVNULL)
    with open("peers/members.csv") as file:
        rows = list(csv.DictReader(file))
    for row, space in zip(rows, spaces):
        row["endpoint"] = f"tcp://{space.address}:{PORT}"
    with open("peers/members.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return rows


def start(rows, spaces):
    return [subprocess.Popen(space.command([TACIT, "node", "--quiet", "-c", f"peers/{row['name']}/node.yaml",
                                            "--json-log", f"peers/{row['name']}/log.jsonl"]))
            for row, space in zip(rows, spaces)]


def models(rows):
    return [v for row in rows for v in pcap_search.read_npy(f"peers/{row['name']}/state/models.npy")]


def run_nodes(rows, spaces):
    """Final models, and those of the interruption."""
    nodes = start(rows, spaces)
    deadline = time.monotonic() + 100
    while time.monotonic() < deadline and not all(heard(row, "started") for row in rows):
        time.sleep(0.1)
    time.sleep(2)
    for node in nodes:
        node.terminate()
    codes = [node.wait() for node in nodes]
    check(codes == [130] * NODES, f"interrupted nodes ended with {codes}")
    middle = models(rows)
    codes = [node.wait() for node in start(rows, spaces)]
    check(codes == [0] * NODES, f"nodes ended with {codes}")
    return models(rows), middle


def heard(row, event):
    try:
        with open(f"peers/{row['name']}/log.jsonl") as file:
            return f'"{event}"' in file.read()
    except FileNotFoundError:
        return False


def run_id():
    with open("peers/node-000/state/summary.json") as file:
        return bytes.fromhex(json.load(file)["run"])


def secrets_of(rows, run, final, middle):
    patterns = pcap_search.number_patterns(final)
    patterns.update({k: "intermediate " + v for k, v in pcap_search.number_patterns(middle).items()
                     if k not in patterns})
    patterns[run] = "run id"
    patterns[b"walls-have-ears"] = "name of the run"
    for kind in range(1, 10):
        patterns[struct.pack("<4sBB2x", b"TACW", 1, kind)] = "header of a message"
    for row in rows:
        patterns[row["name"].encode()] = "name of a node"
        patterns[row["endpoint"].encode()] = "endpoint of a node"
        patterns[bytes.fromhex(row["key"])] = "identity of a node"
        patterns[row["key"].encode()] = "identity of a node in hex"
    return patterns


def plain_message(rows, run, final, middle):
    """Everything that is searched for, a frame as docs/wire.md says and some words behind it."""
    flat = [x for v in final for x in v]
    payload = b"\0" + struct.pack(f"<{len(flat)}d", *flat)
    head = struct.pack("<4sBB2x16sIIQQQQQQII", b"TACW", 1, 1, run, 1, len(payload), 0, 1, 1, 1, 0, 0, 0, 0)
    assert len(head) == 88
    more = b"".join(struct.pack(f"{o}{len(v)}{t}", *v) for o in "<>" for t in "df" for v in final + middle)
    words = b"walls-have-ears" + b"".join(
        row["name"].encode() + row["endpoint"].encode() + bytes.fromhex(row["key"]) + row["key"].encode()
        for row in rows)
    return head + payload + more + words


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


def main():
    try:
        peers_wire.enter("TACIT_PEERS_CAPTURE")
    except peers_wire.NotAllowed as why:
        print(f"no network namespaces here ({why}): skipped, nothing can be captured")
        sys.exit(77)
    peers_wire.ip("link", "set", "lo", "up")
    spaces = [peers_wire.Space(k + 1) for k in range(NODES)]
    rows = make_folder(spaces)
    switch = peers_wire.Switch(spaces, 0.002, 0, 1, peers_wire.Pcap("run.pcap"))
    switch.start()
    final, middle = run_nodes(rows, spaces)
    run = run_id()
    switch.pcap.file.flush()
    shutil.copyfile("run.pcap", "searched.pcap")
    message = plain_message(rows, run, final, middle)
    check(send_plain(spaces, message) == len(message), "the plain message did not arrive")
    time.sleep(0.2)
    switch.end()

    check(final != middle and any(any(v) for v in middle), "the interruption left no models of its own")
    patterns = secrets_of(rows, run, final, middle)
    found, size = pcap_search.search("searched.pcap", patterns)
    check(not found, f"in clear between peers: {found}")
    curve, _ = pcap_search.search("searched.pcap", {b"CURVE": "greeting"})
    check(curve == {"greeting": 1}, "no ZeroMQ greeting in the capture: nothing captured, or the search is blind")
    sent = sum(json.load(open(f"peers/{row['name']}/state/summary.json"))["traffic"]["payload_bytes"] for row in rows)
    check(size > sent > 0, f"{size} bytes captured, {sent} bytes of messages sent")
    # The control: the same search in the same file, with the plain message in it.
    seen, _ = pcap_search.search("run.pcap", patterns)
    counts = {}
    for what in patterns.values():
        counts[what] = counts.get(what, 0) + 1
    counts["header of a message"] = 1  # of one kind, as it was sent
    check(seen == counts, f"the search does not find what is there: {seen}, not {counts}")
    print(f"searched {size} bytes of {NODES} peers for {len(patterns)} values: "
          f"{sum(found.values())} found; {sum(seen.values())} in the control")
    sys.exit(1 if failed else 0)


main()
