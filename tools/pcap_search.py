# SPDX-License-Identifier: Apache-2.0
"""Searches what crossed a network for values that must not be there in clear.

Frames of a .pcap file are put together to the byte streams of their TCP connections first, so that
a value is found wherever a packet happened to end, and whatever came twice or in the wrong order.

Numbers are looked for as peers might write them: f64 in both byte orders, one alone; f32 in both
byte orders, two neighbours of a vector at a time, because four bytes alone turn up by chance in
random ones (once in 4 GB a pattern, and there are thousands of patterns). Eight bytes do not: with
10,000 patterns in 100 MB the chance of a false alarm is below 1e-7.
"""
import struct


def frames(path):
    with open(path, "rb") as file:
        magic = file.read(24)[:4]
        if magic not in (b"\x4d\x3c\xb2\xa1", b"\xd4\xc3\xb2\xa1"):
            raise ValueError(f"{path} is no .pcap file of a kind known here")
        while head := file.read(16):
            _, _, kept, length = struct.unpack("<IIII", head)
            if kept != length:
                raise ValueError(f"{path} holds frames that were cut")
            yield file.read(kept)


def segments(path):
    """(who to whom, sequence number, whether it opens the connection, payload)"""
    for frame in frames(path):
        if frame[12:14] != b"\x08\x00" or frame[14] >> 4 != 4 or frame[23] != 6:
            continue
        ip = frame[14:14 + struct.unpack(">H", frame[16:18])[0]]
        tcp = ip[(ip[0] & 15) * 4:]
        sequence, = struct.unpack(">I", tcp[4:8])
        yield ip[12:20] + tcp[:4], sequence, bool(tcp[13] & 2), tcp[(tcp[12] >> 4) * 4:]


def streams(path):
    """The bytes of each connection, a direction each. A gap (a frame never caught) is left out."""
    open_now, done = {}, []
    for who, sequence, opens, payload in segments(path):
        if opens and (who not in open_now or open_now[who][0] != sequence):
            open_now[who] = (sequence, {})
            done.append(open_now[who])
        if who in open_now and payload:
            start, pieces = open_now[who]
            at = (sequence - start - 1) & 0xFFFFFFFF
            if len(pieces.get(at, b"")) < len(payload):
                pieces[at] = payload
    for _, pieces in done:
        whole = bytearray()
        end = 0
        for at in sorted(pieces):
            piece = pieces[at]
            if at + len(piece) > end:
                whole += piece[max(0, end - at):]
                end = at + len(piece)
        yield bytes(whole)


def number_patterns(vectors):
    """{bytes: what they are}; zeros are no secret and are everywhere."""
    patterns = {}
    for vector in vectors:
        for k, x in enumerate(vector):
            for order, name in (("<", "little"), (">", "big")):
                if x != 0:
                    patterns[struct.pack(order + "d", x)] = f"f64 {name}-endian"
                if x != 0 and k + 1 < len(vector) and vector[k + 1] != 0:
                    patterns[struct.pack(order + "2f", x, vector[k + 1])] = f"f32 {name}-endian"
    return patterns


def search(path, patterns):
    """{what: how many of its patterns were found}, and how many bytes were searched."""
    found, size = {}, 0
    lengths = {}
    for pattern, what in patterns.items():
        lengths.setdefault(len(pattern), {})[pattern] = what
    for stream in streams(path):
        size += len(stream)
        for length, some in lengths.items():
            here = {stream[k:k + length] for k in range(len(stream) - length + 1)}
            for pattern in here & some.keys():
                found.setdefault(some[pattern], set()).add(pattern)
    return {what: len(them) for what, them in found.items()}, size


def read_npy(path):
    """Rows of a file that tacit wrote: version 1, little-endian f64, two axes."""
    with open(path, "rb") as file:
        data = file.read()
    size, = struct.unpack("<H", data[8:10])
    header = data[10:10 + size].decode()
    assert data[:6] == b"\x93NUMPY" and "'<f8'" in header and "False" in header, header
    rows, width = (int(x) for x in header.split("(")[1].split(")")[0].split(",")[:2])
    numbers = struct.unpack(f"<{rows * width}d", data[10 + size:])
    return [numbers[k * width:(k + 1) * width] for k in range(rows)]
