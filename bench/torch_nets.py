#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's side of bench/nets.c, which starts it: private steps of the same three nets on lots of
the same size. Each way of clipping is written by hand, as fast as we know how:

  ghost-twice  norms from activations and slopes of one sweep back, then a second sweep of the loss
               weighted by the factors
  ghost-once   the same norms, then the clipped sum straight from what the first sweep kept: one
               product a layer, and weights' gradients are never computed by autograd
  hooks        each record's gradient written down, layer by layer, as Opacus' hooks do

A step is: lot out of a pool, forward, back, norms, clip, noise on every parameter, update. Printed
for nets.c, a line a measurement:

  NET WAY THREADS CPU-BEST CPU-MEDIAN WALL-BEST WALL-MEDIAN     seconds a step
"""
import sys
import time

import torch
import torch.nn.functional as F

LOT, POOL, CLIP, RATE = 256, 4096, 1.0, 1e-4


class Dense:
    """y = x W^T + b."""

    def __init__(self, inputs, outputs):
        self.w = torch.randn(outputs, inputs) / inputs**0.5
        self.b = torch.zeros(outputs)

    def forward(self, x):
        self.x = x.flatten(1)
        self.y = F.linear(self.x, self.w, self.b)
        return self.y

    def squares(self, dy):  # of each record's norm: the weights' and the bias'
        return dy.square().sum(1) * (self.x.square().sum(1) + 1)

    def sums(self, dy, factor):
        dy = dy * factor[:, None]
        return dy.t() @ self.x, dy.sum(0)

    def each(self, dy):
        return torch.einsum("bo,bi->boi", dy, self.x), dy


class Conv:
    """Few parameters: each record's gradient is smaller than what norms without it would need."""

    def __init__(self, planes, outputs, side):
        self.w = torch.randn(outputs, planes, side, side) / side
        self.b = torch.zeros(outputs)

    def forward(self, x):
        self.x = x
        self.y = F.conv2d(x, self.w, self.b)
        return self.y

    def each(self, dy):
        pixels = F.unfold(self.x, self.w.shape[2:])
        dy = dy.flatten(2)
        return torch.bmm(dy, pixels.transpose(1, 2)), dy.sum(2)

    def squares(self, dy):
        self.kept = self.each(dy)
        return self.kept[0].square().sum((1, 2)) + self.kept[1].square().sum(1)

    def sums(self, dy, factor):
        w, b = self.kept
        return (factor @ w.flatten(1)).view_as(self.w), factor @ b


class Net:
    def __init__(self, name):
        if name == "cnn":
            self.shape = (1, 32, 32)
            conv, first, last = Conv(1, 3, 5), Dense(588, 64), Dense(64, 10)
            self.layers = [conv, first, last]
            self.between = [lambda y: F.max_pool2d(F.mish(y), 2), F.mish]
        elif name == "mlp":
            self.shape = (784,)
            self.layers, self.between = [Dense(784, 128), Dense(128, 10)], [F.relu]
        else:
            self.shape = (784,)
            self.layers, self.between = [Dense(784, 10)], []

    def losses(self, x, label, learn):
        """Losses of each record. `learn`: autograd follows weights; else only what lies between."""
        for layer in self.layers:
            layer.w.requires_grad_(learn)
            layer.b.requires_grad_(learn)
        for k, layer in enumerate(self.layers):
            x = layer.forward(x)
            if k == 0 and not learn:
                x.requires_grad_(True)
            if k < len(self.between):
                x = self.between[k](x)
        return F.cross_entropy(x, label, reduction="none")

    def weights(self):
        return [v for layer in self.layers for v in (layer.w, layer.b)]


def factors(squares):
    return (CLIP / (squares.sqrt() + 1e-6)).clamp(max=1)


def slopes(net, losses, keep):
    return torch.autograd.grad(losses.sum(), [layer.y for layer in net.layers], retain_graph=keep)


def ghost_once(net, x, label):
    dy = slopes(net, net.losses(x, label, False), False)
    with torch.no_grad():
        factor = factors(sum(layer.squares(d) for layer, d in zip(net.layers, dy)))
        return [s for layer, d in zip(net.layers, dy) for s in layer.sums(d, factor)]


def ghost_twice(net, x, label):
    losses = net.losses(x, label, True)
    dy = slopes(net, losses, True)
    with torch.no_grad():
        factor = factors(sum(layer.squares(d) for layer, d in zip(net.layers, dy)))
    return torch.autograd.grad((losses * factor).sum(), net.weights())


def hooks(net, x, label):
    losses = net.losses(x, label, True)
    wanted = [layer.y for layer in net.layers] + net.weights()
    dy = torch.autograd.grad(losses.sum(), wanted)[: len(net.layers)]
    with torch.no_grad():
        each = [g for layer, d in zip(net.layers, dy) for g in layer.each(d)]
        factor = factors(sum(g.flatten(1).square().sum(1) for g in each))
        return [torch.einsum("b...,b->...", g, factor) for g in each]


def step(net, way, pool, label):
    lot = torch.randint(POOL, (LOT,))
    sums = way(net, pool[lot], label[lot])
    with torch.no_grad():
        for weight, sum_ in zip(net.weights(), sums):
            weight.requires_grad_(False)
            weight -= RATE * (sum_.view_as(weight) + CLIP * torch.randn_like(weight))


def agree(net, pool, label):
    """All ways give the same sum, or their speeds say nothing."""
    got = [torch.cat([g.flatten() for g in way(net, pool[:LOT], label[:LOT])]).detach()
           for way in (ghost_once, ghost_twice, hooks)]
    for other in got[1:]:
        apart = ((got[0] - other).norm() / got[0].norm()).item()
        assert apart < 1e-4, apart


def measure(name, way, threads, turns):
    torch.set_num_threads(threads)
    net = Net(name)
    pool, label = torch.rand(POOL, *net.shape), torch.randint(10, (POOL,))
    agree(net, pool, label)
    cpu, wall = [], []
    for turn in range(turns + 3):
        before = time.process_time(), time.perf_counter()
        step(net, way, pool, label)
        if turn >= 3:
            cpu.append(time.process_time() - before[0])
            wall.append(time.perf_counter() - before[1])
    cpu.sort()
    wall.sort()
    print(name, way.__name__.replace("_", "-"), threads,
          *("%.6g" % t for t in (cpu[0], cpu[turns // 2], wall[0], wall[turns // 2])), flush=True)


def main():
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    torch.manual_seed(1)
    for threads in (1, 2):
        for name in ("cnn", "mlp", "softmax"):
            for way in (ghost_once, ghost_twice, hooks):
                measure(name, way, threads, turns)


main()
