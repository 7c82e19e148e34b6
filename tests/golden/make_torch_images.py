#!/usr/bin/env python3
"""Golden values of the training of networks on images from PyTorch: losses, gradients and three
steps of Adam, in double.

    python3 -m venv v && v/bin/pip install torch numpy
    v/bin/python tests/golden/make_torch_images.py tests/golden

Writes torch-images.bin, little-endian. For each case: u32 network, labels, task (as enum
image_network, image_task), examples, linear (hinges are not squared), frozen_from, parameters;
f64 lr; f64 losses (3), accuracies (3); then per parameter, in the order of the model's table,
running statistics included: SAMPLES values of the gradient of the first step (0 for statistics),
then as many after three steps; f32. Weights, pixels, labels and samples' places are those of
`number` below, so that the file need not hold them.
"""
import struct
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SAMPLES, MARGIN = 48, 1.0
LABELS, SIAMESE, TRIPLES = 0, 1, 2
SMALL = [(3, 3, 2, 4), (5, 5, 2, 4), (3, 3, 3, 3)]
LARGE = [(3, 3, 0, 0), (3, 3, 2, 4), (3, 5, 0, 0), (3, 5, 2, 4), (3, 3, 0, 0), (3, 3, 1, 3)]


def number(stream, i):
    """SplitMix64's i-th number of a stream; i is an array."""
    with np.errstate(over="ignore"):
        x = np.asarray(i, np.uint64) + np.uint64(stream << 40)
        x = (x + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))


def weights(stream, shape, fan):
    u = (number(stream, np.arange(np.prod(shape))) >> np.uint64(40)).astype(np.float64) / 2**24
    return torch.tensor(np.float32((2 * u - 1) * np.sqrt(6 / fan)).astype(np.float64).reshape(shape))


class Network(nn.Module):
    def __init__(self, large, labels):
        super().__init__()
        self.layers = LARGE if large else SMALL
        channels, into, stream = (64 if large else 32), 1, 0

        def pair(shape, fan):
            nonlocal stream
            stream += 2
            return nn.ParameterList([nn.Parameter(weights(stream - 2, shape, fan)),
                                     nn.Parameter(weights(stream - 1, shape[:1], fan))])
        self.filters = nn.ModuleList()
        for h, w, _, _ in self.layers:
            self.filters.append(pair((channels, h, w, into), h * w * into))
            into = channels
        wide = 256 if large else 160
        self.linear = pair((64, wide), wide)
        self.out = pair((64, 64), 64) if large else None
        self.norm = nn.BatchNorm1d(64, affine=False) if large else None
        # Streams count parameters of the table: running statistics have two that nobody draws.
        self.labels = nn.Parameter(weights(stream + 2 * large, (labels, 64), 64)) if labels else None

    def forward(self, x):
        for (weight, bias), (_, _, h, w) in zip(self.filters, self.layers):
            x = torch.relu(F.conv2d(x, weight.permute(0, 3, 1, 2), bias))
            if h:
                x = F.max_pool2d(x, (h, w))
        x = F.linear(x.permute(0, 2, 3, 1).flatten(1), *self.linear)
        if self.norm:
            x = F.linear(torch.relu(self.norm(x)), *self.out)
        return x / (x.norm(dim=1, keepdim=True) + 1e-5)

    def table(self):
        for p in [*self.filters, self.linear, *([self.out] if self.out else [])]:
            yield from p
        if self.norm:
            yield self.norm.running_mean
            yield self.norm.running_var
        if self.labels is not None:
            yield self.labels


def loss_of(net, task, x, right, label, linear):
    v = net(x)
    hinge = torch.relu if linear else lambda z: torch.relu(z) ** 2
    y = 2.0 * right - 1
    if task == LABELS:
        z = (v * net.labels[label]).sum(1)
        return F.binary_cross_entropy_with_logits(z, right), (z * y > 0).double().mean()
    if task == SIAMESE:
        a, b = v.chunk(2)
        s = (a * b).sum(1)
        return hinge(MARGIN - y * s).mean(), (s * y > 0).double().mean()
    a, p, n = v.chunk(3)
    near, far, swapped = (a * p).sum(1), (a * n).sum(1), (p * n).sum(1)
    return hinge(MARGIN - near + torch.maximum(far, swapped)).mean(), (near > far).double().mean()


def case(out, large, labels, task, examples, linear, frozen_from, lr):
    net = Network(large, labels)
    images = examples * (task + 1)
    n = number(100, np.arange(images * 32 * 333))
    dark = n % np.uint64(97) < 3 + np.arange(images).repeat(32 * 333) * 13 % 89
    pixels = np.where(dark, (n >> np.uint64(20)) % 256, 255).astype(np.float64)
    x = torch.tensor((255 - pixels) / 255).reshape(images, 1, 32, 333)
    right = torch.tensor((number(101, np.arange(examples)) % 2).astype(np.float64))
    label = torch.tensor((number(102, np.arange(examples)) % max(labels, 1)).astype(np.int64))
    adam = torch.optim.Adam(net.parameters(), lr=lr)
    losses, accuracies, gradients = [], [], None
    for step in range(3):
        net.train(step < frozen_from)
        loss, accuracy = loss_of(net, task, x, right, label, linear)
        adam.zero_grad()
        loss.backward()
        gradients = gradients or [p.grad.clone() if p.requires_grad else torch.zeros_like(p)
                                  for p in net.table()]
        adam.step()
        losses.append(loss.item())
        accuracies.append(accuracy.item())
    after = list(net.table())
    out.append(struct.pack("<7Id", large, labels, task, examples, linear, frozen_from, len(after),
                           lr))
    out.append(struct.pack("<6d", *losses, *accuracies))
    for g, p in zip(gradients, after):
        at = (number(103, np.arange(SAMPLES)) % np.uint64(p.numel())).astype(np.int64)
        for values in (g, p):
            out.append(values.detach().flatten().numpy()[at].astype(np.float32).tobytes())
    print(large, task, losses)


def main():
    torch.set_default_dtype(torch.float64)
    out = []
    case(out, 0, 5, LABELS, 4, 0, 9, 0.001)
    case(out, 0, 0, SIAMESE, 3, 0, 9, 0.001)
    case(out, 0, 0, TRIPLES, 2, 1, 9, 0.001)
    case(out, 1, 0, SIAMESE, 3, 0, 0, 0.0001)
    case(out, 1, 7, LABELS, 5, 0, 9, 0.0001)
    (Path(sys.argv[1]) / "torch-images.bin").write_bytes(b"".join(out))


main()
