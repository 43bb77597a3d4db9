# SPDX-License-Identifier: Apache-2.0
"""Model files and ONNX exports of "tacit model", read by others.

    onnx_oracle.py TACIT    exit 0: all agree; 1: some do not; 77: no onnx here

A model file is taken apart by docs/model-files.md, with hashlib for the checksum. An export has to
pass ONNX's own checker and shape inference; then its graph is evaluated by numpy, operator by
operator from ONNX's definitions, in double precision, and compared with the scores of "tacit model
predict". Parameters and records are drawn here, so that no scale is 1 and no shift 0.
"""
import csv
import hashlib
import math
import os
import stat
import struct
import subprocess
import sys

try:
    import numpy as np
    import onnx
    from onnx import numpy_helper, shape_inference
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

TACIT = sys.argv[1]
TOLERANCE = 1e-4  # of the largest score; differences are near 1e-6
RECORDS = 60  # more than a tile
dice = np.random.default_rng(9)

# input, layers, further flags of "make"
NETS = [
    ("1x32x32", "conv 3 5x5, mish, pool 2, dense 64, mish, dense 10", []),  # paper 004
    ("7", "dense 3", []),
    ("7", "dense 5, tanh, dense 4, relu, dense 3", ["--classes", "a cat,\u00e9,x \"y\""]),
    ("9x11", "conv 4 3x2 pad 2 step 2, relu, conv 2 1x3, dense 3", ["--scale", "0.5", "--shift", "-0.25"]),
    ("2x13x8", "conv 6 3x3 pad 1, norm 3, mish, pool 3, dense 4", []),  # 13 and 8 are no multiples of 3
    ("6x5x4", "norm 1, norm 6, norm 2, pool 2, dense 2", []),
    ("3x8x8", "conv 4 3x3 pad 1, split, norm 2, relu, conv 4 3x3 pad 1, join, split, mish, split, tanh, join, join,"
     " pool 2, dense 5", ["--scale", "0.0625"]),
    ("12", "dense 6, split, norm 2, mish, dense 6, join, conv 3 1x1, pool 1, tanh", []),  # flat and not flat, mixed
    ("12", "norm 4, split, dense 12, join, dense 3", []),
    ("1x6x6", "conv 2 5x5 pad 4 step 3, mish, conv 3 2x2", []),  # what comes out last is no vector
]


def run(*words):
    done = subprocess.run([TACIT, "model", *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"tacit model {words}: {done.stderr}")
    return done.stdout


def parameters_of(shape, layers):
    """How many there are; the program says it, and read_file checks it."""
    run("make", "sizes.tacit", "--force", "--input", shape, "--layers", layers)
    return read_file("sizes.tacit")["theta"].size


# ---- model files, by docs/model-files.md ----


def read_file(path):
    data = open(path, "rb").read()
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600, "others can read it"
    assert data[:8] == b"TACITNET"
    version, planes, height, width, classes, layers, names, pairs = struct.unpack_from("<8I", data, 8)
    (parameters,) = struct.unpack_from("<Q", data, 40)
    at = 48 + layers + names
    assert version == 1 and len(data) == at + 4 * (2 * pairs + parameters) + 32
    assert hashlib.blake2b(data[:-32], digest_size=32).digest() == data[-32:]
    numbers = np.frombuffer(data, "<f4", 2 * pairs + parameters, at)
    return {
        "input": [planes, height, width],
        "classes": classes,
        "layers": data[48 : 48 + layers].decode("ascii"),
        "names": data[48 + layers : at].decode().splitlines(),
        "scale": numbers[:pairs],
        "shift": numbers[pairs : 2 * pairs],
        "theta": numbers[2 * pairs :],
    }


# ---- ONNX, by its definitions ----


def windows(x, high, wide, step, pad, fill):
    """[N, C, out rows, out columns, high, wide]"""
    x = np.pad(x, ((0, 0), (0, 0), (pad[0], pad[2]), (pad[1], pad[3])), constant_values=fill)
    view = np.lib.stride_tricks.sliding_window_view(x, (high, wide), (2, 3))
    return view[:, :, :: step[0], :: step[1]]


def conv(attribute, x, w, b):
    assert attribute.get("group", 1) == 1 and attribute.get("dilations", [1, 1]) == [1, 1]
    high, wide = attribute["kernel_shape"]
    assert list(w.shape[2:]) == [high, wide]
    seen = windows(x, high, wide, attribute["strides"], attribute.get("pads", [0] * 4), 0)
    return np.einsum("nihwab,oiab->nohw", seen, w) + b[:, None, None]


def max_pool(attribute, x):
    high, wide = attribute["kernel_shape"]
    assert attribute.get("ceil_mode", 0) == 0
    seen = windows(x, high, wide, attribute["strides"], attribute.get("pads", [0] * 4), -np.inf)
    return seen.max(axis=(4, 5))


def instance_norm(attribute, x, scale, shift):
    axes = tuple(range(2, x.ndim))
    mean, variance = x.mean(axis=axes, keepdims=True), x.var(axis=axes, keepdims=True)
    shape = (-1,) + (1,) * (x.ndim - 2)
    return scale.reshape(shape) * (x - mean) / np.sqrt(variance + attribute["epsilon"]) + shift.reshape(shape)


def gemm(attribute, a, b, c):
    a = a.T if attribute.get("transA", 0) else a
    b = b.T if attribute.get("transB", 0) else b
    return attribute.get("alpha", 1) * (a @ b) + attribute.get("beta", 1) * c


def reshape(attribute, x, shape):
    assert not attribute.get("allowzero", 0)
    return x.reshape([x.shape[k] if n == 0 else n for k, n in enumerate(shape)])


def flatten(attribute, x):
    axis = attribute.get("axis", 1)
    return x.reshape(math.prod(x.shape[:axis]), -1)


OPERATORS = {
    "Gemm": gemm,
    "Conv": conv,
    "MaxPool": max_pool,
    "InstanceNormalization": instance_norm,
    "Reshape": reshape,
    "Flatten": flatten,
    "Relu": lambda _, x: np.maximum(x, 0),
    "Tanh": lambda _, x: np.tanh(x),
    "Softplus": lambda _, x: np.logaddexp(x, 0),
    "Mul": lambda _, x, y: x * y,
    "Add": lambda _, x, y: x + y,
}


def evaluate(model, x):
    def double(tensor):
        array = numpy_helper.to_array(tensor)
        return array.astype(np.float64) if array.dtype == np.float32 else array

    value = {tensor.name: double(tensor) for tensor in model.graph.initializer}
    value[model.graph.input[0].name] = x.astype(np.float64)
    for node in model.graph.node:
        attribute = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        inputs = [value[name] for name in node.input]
        (value[node.output[0]],) = [OPERATORS[node.op_type](attribute, *inputs)]
    return value[model.graph.output[0].name]


def dims(value):
    return [d.dim_param or d.dim_value for d in value.type.tensor_type.shape.dim]


def check_graph(model, shape, classes):
    onnx.checker.check_model(model, full_check=True)
    assert [(s.domain, s.version) for s in model.opset_import] == [("", 13)]
    assert dims(model.graph.input[0]) == ["N"] + shape, dims(model.graph.input[0])
    # What ONNX works out for itself from the operators, without our word for the output.
    stripped = onnx.ModelProto()
    stripped.CopyFrom(model)
    stripped.graph.output[0].type.tensor_type.ClearField("shape")
    inferred = shape_inference.infer_shapes(stripped, check_type=True, strict_mode=True)
    for graph in (model.graph, inferred.graph):
        assert dims(graph.output[0])[1:] == [classes], dims(graph.output[0])


# ---- one net ----


def scores_of(path, records):
    rows = list(csv.reader(run("predict", path, records, "--scores").splitlines()))
    table = np.array([[float(x) for x in row[2:]] for row in rows[1:]])
    best = [rows[0][2:].index(row[1]) for row in rows[1:]]
    assert best == list(table.argmax(axis=1)), "the class is not that of the largest score"
    return table


def check_net(shape, layers, flags):
    count = parameters_of(shape, layers)
    np.save("theta.npy", dice.normal(0, 0.4, (2, count)).astype(np.float64))
    run("make", "m.tacit", "--force", "-i", shape, "-l", layers, "-p", "theta.npy", "--row", 1, *flags)
    file = read_file("m.tacit")
    assert np.array_equal(file["theta"], np.load("theta.npy")[1].astype(np.float32))
    assert file["layers"] == layers
    given = dict(zip(flags[::2], flags[1::2]))
    if "--classes" in given:
        assert file["names"] == given["--classes"].split(",")
    records = dice.normal(0, 1.5, [RECORDS] + file["input"]).astype(np.float32)
    np.save("x.npy", records)
    flat = file["input"][1:] == [1, 1]
    dims_in = file["input"][:1] if flat else file["input"]
    ours = scores_of("m.tacit", "x.npy")
    run("export", "m.tacit", "--force", "--out", "m.onnx")
    model = onnx.load("m.onnx")
    check_graph(model, dims_in, file["classes"])
    theirs = evaluate(model, records.reshape([RECORDS] + dims_in))
    assert theirs.shape == ours.shape, (theirs.shape, ours.shape)
    return np.abs(theirs - ours).max() / np.abs(theirs).max()


worst = 0.0
for net in NETS:
    error = check_net(*net)
    worst = max(worst, error)
    if not error < TOLERANCE:
        sys.exit(f"{net}: scores of tacit and of its ONNX export differ by {error:.2g} of the largest")
print(f"{len(NETS)} nets, at most {worst:.2g} of the largest score apart")
