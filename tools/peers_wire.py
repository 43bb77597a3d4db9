# SPDX-License-Identifier: Apache-2.0
"""A bad network for real processes: a network namespace a peer, joined by a switch in user space.

Every peer has one end of a veth pair in a namespace of its own. The other ends stay here, and
Switch carries frames from one to the other: late, with losses, and not at all across a partition.
Frames are lost below TCP, as on a real wire, so that the peers' kernels send them again. The
kernel could do this with netem, but many kernels are built without it, and a bridge could not
be written into a .pcap file in the same place.

The process must be in a network namespace of its own (see enter); when it ends, so does all of it.
"""
import collections
import ctypes
import fcntl
import os
import random
import select
import socket
import struct
import subprocess
import sys
import threading
import time

ETH_P_ALL, PACKET_OUTGOING = 3, 4
SIOCETHTOOL = 0x8946
# Without these the kernel leaves checksums and segments to a card that is not there.
ETHTOOL_OFF = (0x17, 0x19, 0x1F, 0x24, 0x2C)  # tx checksums, scatter-gather, TSO, GSO, GRO


class NotAllowed(Exception):
    """This machine does not let us make network namespaces."""


def enter(marker):
    """Start this program again in an empty network namespace; returns there, with `marker` set."""
    if os.environ.get(marker):
        return
    first = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]
    made = "ip link set lo up && ip link add tacit-a type veth peer name tacit-b && ip link del tacit-a"
    try:
        tried = subprocess.run(first + ["sh", "-c", made], capture_output=True, text=True)
    except FileNotFoundError as why:
        raise NotAllowed(str(why))
    if tried.returncode != 0:
        raise NotAllowed(tried.stderr.strip().splitlines()[-1] if tried.stderr.strip() else "unshare failed")
    os.environ[marker] = "1"
    os.execvp(first[0], first + [sys.executable] + sys.argv)


def ip(*words):
    subprocess.run(["ip", *map(str, words)], check=True)


def without_offloads(name):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for command in ETHTOOL_OFF:
            value = ctypes.create_string_buffer(struct.pack("II", command, 0))
            request = struct.pack("16sQ16x", name.encode(), ctypes.addressof(value))
            try:
                fcntl.ioctl(s, SIOCETHTOOL, request)
            except OSError:
                pass  # a feature that this kernel does not have is off


class Pcap:
    """Frames as tcpdump would keep them (little-endian, nanoseconds, Ethernet)."""

    def __init__(self, path):
        self.file = open(path, "wb")
        self.file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1))

    def write(self, frame):
        now = time.time_ns()
        self.file.write(struct.pack("<IIII", now // 10**9, now % 10**9, len(frame), len(frame)) + frame)

    def close(self):
        self.file.close()


class Space:
    """A namespace with one address; it lives as long as we do."""

    def __init__(self, number):
        self.number = number
        self.address = f"10.77.{number >> 8}.{number & 255}"
        self.inner, self.outer = f"p{number}", f"m{number}"
        self.mac = bytes((2, 0, 0, 0, number >> 8, number & 255))
        mac = ":".join(f"{b:02x}" for b in self.mac)
        ip("link", "add", self.outer, "type", "veth", "peer", "name", self.inner, "address", mac)
        for name in (self.inner, self.outer):
            without_offloads(name)
        ip("link", "set", self.outer, "up")
        # Its standard input is a pipe of ours: when we are gone, it ends, and the namespace with it.
        self.holder = subprocess.Popen(["unshare", "--net", "cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.wait_until_apart()
        ip("link", "set", self.inner, "netns", self.holder.pid)
        for words in (["link", "set", "lo", "up"], ["link", "set", self.inner, "up"],
                      ["addr", "add", f"{self.address}/16", "dev", self.inner]):
            subprocess.run(self.command(["ip", *words]), check=True)
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.socket.bind((self.outer, 0))
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)

    def wait_until_apart(self):
        ours = os.readlink("/proc/self/ns/net")
        for _ in range(500):
            if os.readlink(f"/proc/{self.holder.pid}/ns/net") != ours:
                return
            time.sleep(0.01)
        raise NotAllowed("unshare --net does not")

    def command(self, words):
        return ["nsenter", "--target", str(self.holder.pid), "--net", *words]


class Switch(threading.Thread):
    """Carries frames between spaces. `cut` splits them into halves that do not hear each other."""

    def __init__(self, spaces, delay, loss, seed, pcap=None):
        super().__init__(daemon=True)
        self.spaces, self.delay, self.loss, self.pcap = spaces, delay, loss, pcap
        self.chance = random.Random(seed)
        self.by_mac = {s.mac: s for s in spaces}
        self.cut = False
        self.stop = False
        self.carried = self.lost = self.parted = 0
        self.flying = collections.deque()  # (when it arrives, to whom, frame): in order, the delay is one

    def crosses(self, a, b):
        half = len(self.spaces) // 2
        return (self.spaces.index(a) < half) != (self.spaces.index(b) < half)

    def throw(self, origin, to, frame, now):
        if self.cut and self.crosses(origin, to):
            self.parted += 1
        elif self.chance.random() < self.loss:
            self.lost += 1
        else:
            self.flying.append((now + self.delay, to, frame))

    def take(self, origin):
        while True:
            try:
                frame, about = origin.socket.recvfrom(65536)
            except BlockingIOError:
                return
            if about[2] == PACKET_OUTGOING or frame[12:14] == b"\x86\xdd":  # ours; IPv6's small talk
                continue
            now = time.monotonic()
            pcap = self.pcap  # which may be changed by another thread
            if pcap:
                pcap.write(frame)
            to = self.by_mac.get(frame[:6])
            for other in [to] if to else [s for s in self.spaces if s is not origin] if frame[0] & 1 else []:
                self.throw(origin, other, frame, now)

    def deliver(self):
        while self.flying and self.flying[0][0] <= time.monotonic():
            _, to, frame = self.flying.popleft()
            try:
                to.socket.send(frame)
                self.carried += 1
            except OSError:  # its queue is full: as routers do
                self.lost += 1

    def run(self):
        poll = select.epoll()
        by_fd = {s.socket.fileno(): s for s in self.spaces}
        for fd in by_fd:
            poll.register(fd, select.EPOLLIN)
        while not self.stop:
            wait = max(0.0, self.flying[0][0] - time.monotonic()) if self.flying else 0.2
            for fd, _ in poll.poll(min(wait, 0.2)):
                self.take(by_fd[fd])
            self.deliver()

    def end(self):
        self.stop = True
        self.join()
        if self.pcap:
            self.pcap.close()
