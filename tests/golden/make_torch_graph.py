#!/usr/bin/env python3
"""Golden values of a graph network's training from PyTorch: weights, losses, gradients and three
steps of Adam, in double.

    python3 -m venv v && v/bin/pip install torch numpy
    v/bin/python tests/golden/make_torch_graph.py tests/golden

Writes torch-graph-{triplet,histogram}.bin, both with masking, little-endian:
    u32 magic 0x48505247; u32 similarity (as enum graph_similarity), d, layers, out, positions,
    batch, nodes; u32 first (3 * batch + 1); u32 paper (3 * batch); per node u32 parent, position, tag, attribute,
    character, hidden; f64 margin, lr; f64 losses (3); then per parameter, in the order of the
    model's table, running statistics included: values before, gradient of the first step (0 for
    statistics), values after three steps; all f32.
"""
import struct
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

TRIPLET, HISTOGRAM, BINS = 1, 2, 64
TAGS, ATTRIBUTES, CHARACTERS = 32, 32, 192


def sinusoids(n, d):
    angle = torch.arange(n)[:, None] * 10000.0 ** (-(torch.arange(d) // 2 * 2) / d).double()
    return torch.where(torch.arange(d) % 2 == 1, torch.cos(angle), torch.sin(angle))


class Network(nn.Module):
    def __init__(self, d, layers, out, positions):
        super().__init__()
        self.first = nn.Linear(TAGS + ATTRIBUTES + CHARACTERS, d)
        self.alpha = nn.Parameter(torch.ones(1))
        self.layers = nn.ModuleList(nn.Linear(d, d) for _ in range(layers))
        self.norms = nn.ModuleList(nn.BatchNorm1d(d, affine=False) for _ in range((layers + 1) // 2))
        self.out = nn.Linear(d, out)
        self.heads = nn.ModuleList(nn.Linear(d, n) for n in (TAGS, ATTRIBUTES + 1, CHARACTERS + 1))
        self.register_buffer("places", sinusoids(positions, d))
        self.length = torch.tensor([1.0, 0.0])

    def forward(self, x, place, near, owner):
        """Node states and vectors: features, places, adjacency with self, membership of graphs."""
        h = torch.relu(near @ (self.first(x) + self.alpha * self.places[place]))
        for i, layer in enumerate(self.layers):
            y = self.norms[i // 2](h) if i % 2 == 0 else h
            h = torch.relu(near @ layer(y))
        vectors = self.out(owner @ h / owner.sum(1, keepdim=True))
        lengths = vectors.norm(dim=1)
        mean, deviation = lengths.mean(), lengths.std()
        with torch.no_grad():
            self.length = 0.9 * self.length + 0.1 * torch.stack([mean, deviation])
        return h, vectors / (mean + deviation)

    def table(self):
        """Parameters in the order of graph_model.c; the first layer's weight lies transposed."""
        yield self.first.weight, True
        yield self.first.bias, False
        yield self.alpha, False
        for m in [*self.layers, self.out, *self.heads]:
            yield m.weight, False
            yield m.bias, False
        for n in self.norms:
            yield n.running_mean, False
            yield n.running_var, False
        yield self.length[:1], False
        yield self.length[1:], False


def similarity_loss(kind, v, margin, paper):
    a, p, n = v.chunk(3)
    positive, negative = (a * p).sum(1), (a * n).sum(1)
    if kind == TRIPLET:
        return torch.relu(margin - positive + negative).mean()
    paper = torch.tensor(paper)
    other = (paper[:len(a), None] != paper[len(a):]) & ~torch.eye(len(a), 2 * len(a), dtype=bool)
    negative = (a @ v[len(a):].T)[other]
    t = torch.linspace(-1, 1, BINS).double()
    width = 2 / (BINS - 1)

    def histogram(s):
        return torch.relu(1 - (s.clamp(-1, 1)[:, None] - t).abs() / width).mean(0)
    return (histogram(negative) * histogram(positive).cumsum(0)).sum()


def draw_graphs(rng, n):
    graphs = []
    for _ in range(n):
        nodes, children = [], []
        for i in range(rng.integers(1, 9)):
            parent = 0 if i == 0 else int(rng.integers(0, i)) + 1
            place = 0 if i == 0 else children[parent - 1]
            if i:
                children[parent - 1] += 1
            children.append(0)
            nodes.append([parent, place, int(rng.integers(0, 6)),
                          int(rng.integers(1, 33)) if rng.random() < 0.3 else 0,
                          int(rng.integers(1, 12)) if rng.random() < 0.7 else 0, 0])
        nodes[rng.integers(0, len(nodes))][5] = 1
        graphs.append(nodes)
    return graphs


def tensors(graphs, positions):
    nodes = [n for g in graphs for n in g]
    first = np.concatenate([[0], np.cumsum([len(g) for g in graphs])])
    x = torch.zeros(len(nodes), TAGS + ATTRIBUTES + CHARACTERS).double()
    near = torch.eye(len(nodes)).double()
    owner = torch.zeros(len(graphs), len(nodes)).double()
    for g, begin in enumerate(first[:-1]):
        for i in range(begin, first[g + 1]):
            parent, _, tag, attribute, character, hidden = nodes[i]
            owner[g, i] = 1
            if parent:
                near[i, begin + parent - 1] = near[begin + parent - 1, i] = 1
            if hidden:
                continue
            x[i, tag] = 1
            if attribute:
                x[i, TAGS + attribute - 1] = 1
            if character:
                x[i, TAGS + ATTRIBUTES + character - 1] = 1
    all_nodes = torch.tensor(nodes)
    return first, nodes, (x, all_nodes[:, 1].clamp(max=positions - 1), near, owner), all_nodes


def make(path, seed, kind):
    torch.manual_seed(seed)
    torch.set_default_dtype(torch.float64)
    rng = np.random.default_rng(seed)
    d, layers, out, positions, batch, margin, lr = 8, 3, 6, 3, 5, 1.0, 0.01
    model = Network(d, layers, out, positions)
    model.length = model.length.double()
    with torch.no_grad():
        for p in model.parameters():  # what the file holds is f32
            p.copy_(p.float().double())
    first, nodes, inputs, all_nodes = tensors(draw_graphs(rng, 3 * batch), positions)
    hidden = all_nodes[:, 5] == 1
    paper = [(i + (i >= 2 * batch)) % batch % 4 for i in range(3 * batch)]
    paper[batch] = 3  # a citation

    def loss():
        states, vectors = model(*inputs)
        entropies = [nn.functional.cross_entropy(head(states[hidden]), all_nodes[hidden, 2 + i])
                     for i, head in enumerate(model.heads)]
        return similarity_loss(kind, vectors, margin, paper) + sum(entropies) / 3

    def values():
        return [(t.detach().T if turned else t.detach()).contiguous().numpy().astype("<f4").copy()
                for t, turned in model.table()]

    before, losses = values(), []
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for step in range(3):
        optimizer.zero_grad()
        x = loss()
        x.backward()
        losses.append(x.item())
        if step == 0:
            gradient = [np.zeros(t.shape, "<f4") if t.grad is None else
                        (t.grad.T if turned else t.grad).contiguous().numpy().astype("<f4").copy()
                        for t, turned in model.table()]
        optimizer.step()
    with open(path, "wb") as f:
        f.write(struct.pack("<8I", 0x48505247, kind, d, layers, out, positions, batch, len(nodes)))
        f.write(first.astype("<u4").tobytes())
        f.write(np.array(paper).astype("<u4").tobytes())
        f.write(np.array(nodes).astype("<u4").tobytes())
        f.write(struct.pack("<5d", margin, lr, *losses))
        for triple in zip(before, gradient, values()):
            for part in triple:
                f.write(part.tobytes())
    print(path, losses)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    torch.set_num_threads(1)
    make(folder / "torch-graph-triplet.bin", 1, TRIPLET)
    make(folder / "torch-graph-histogram.bin", 2, HISTOGRAM)
