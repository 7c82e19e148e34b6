#!/usr/bin/env python3
"""Golden values of a training from PyTorch: weights, loss, gradients and three AdamW steps.

    python3 -m venv v && v/bin/pip install torch numpy
    v/bin/python tests/golden/make_torch_golden.py tests/golden

Writes torch-{relu,gelu}.bin, little-endian:
    u32 magic 0x54515445; u32 vocabulary d_model layers heads d_ff max_length positions activation
    pooling attention_bias (as the enums of ops/nn/model.h); u32 pairs, tokens;
    u32 offset (2 * pairs + 1), token (tokens), group (2 * pairs);
    f32 temperature, lr, weight_decay, clip; f64 losses (3);
    then per parameter, in the order of the model's table: weights before, gradient of the first
    step, weights after three steps; all f32.
Everything is computed in double and rounded at the end: the truth, to f32's eyes.
"""
import math
import struct
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

MAGIC = 0x54515445


class Encoder(nn.Module):
    def __init__(self, vocabulary, d, layers, heads, ff, max_length, learned, activation, pooling,
                 bias):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, d)
        self.positions = nn.Embedding(max_length, d) if learned else None
        layer = nn.TransformerEncoderLayer(d, heads, ff, dropout=0.0, activation=activation,
                                           batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, norm=nn.LayerNorm(d),
                                             enable_nested_tensor=False)
        self.d, self.pooling, self.bias = d, pooling, bias
        angle = torch.arange(max_length)[:, None] * \
            10000.0 ** (-(torch.arange(d) // 2 * 2) / d)[None, :].double()
        even = (torch.arange(d) % 2 == 0)[None, :]
        self.sinusoids = torch.where(even, angle.sin(), angle.cos())
        for layer in self.encoder.layers if not bias else []:
            for b in (layer.self_attn.in_proj_bias, layer.self_attn.out_proj.bias):
                b.data.zero_()
                b.requires_grad_(False)

    def forward(self, tokens, lengths):
        n, t = tokens.shape
        place = self.positions.weight[:t] if self.positions else self.sinusoids[:t]
        x = self.embedding(tokens) * math.sqrt(self.d) + place
        pad = torch.arange(t)[None, :] >= lengths[:, None]
        x = self.encoder(x, src_key_padding_mask=pad)
        use = ~pad & (tokens > 2)
        if self.pooling == 1:
            return x.masked_fill(~use[:, :, None], -math.inf).max(1).values
        return (x * use[:, :, None]).sum(1) / use.sum(1)[:, None]

    def table(self):
        """Parameters in the order of eqloom's table."""
        out = [("embedding.weight", self.embedding.weight)]
        if self.positions:
            out.append(("positions.weight", self.positions.weight))
        for i, layer in enumerate(self.encoder.layers):
            names = ["self_attn.in_proj_weight", "self_attn.in_proj_bias",
                     "self_attn.out_proj.weight", "self_attn.out_proj.bias", "linear1.weight",
                     "linear1.bias", "linear2.weight", "linear2.bias", "norm1.weight", "norm1.bias",
                     "norm2.weight", "norm2.bias"]
            own = dict(layer.named_parameters())
            out += [(f"layers.{i}.{n}", own[n]) for n in names
                    if self.bias or not (n.startswith("self_attn") and n.endswith("bias"))]
        own = dict(self.encoder.norm.named_parameters())
        return out + [("norm.weight", own["weight"]), ("norm.bias", own["bias"])]


def info_nce(vectors, group, temperature):
    n = len(vectors)
    u = nn.functional.normalize(vectors)
    scores = u @ u.T / temperature
    target = (torch.arange(n) + n // 2) % n
    masked = (group[:, None] == group[None, :])
    masked[torch.arange(n), target] = False
    return nn.functional.cross_entropy(scores.masked_fill(masked, -math.inf), target)


def make(path, seed, learned, activation, pooling, bias):
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    vocabulary, d, layers, heads, ff, max_length, pairs = 19, 16, 2, 4, 40, 24, 6
    temperature, lr, decay, clip = 0.1, 0.01, 0.01, 1.0
    model = Encoder(vocabulary, d, layers, heads, ff, max_length, learned, activation, pooling,
                    bias).double()
    for _, p in model.table():
        p.data = (p.data + 0.05 * torch.randn_like(p)).float().double()
    lengths = rng.integers(3, 20, 2 * pairs)
    rows = [[1] + list(rng.integers(3, vocabulary, n - 2)) + [2] for n in lengths]
    tokens = torch.zeros(2 * pairs, max(lengths), dtype=torch.long)
    for i, r in enumerate(rows):
        tokens[i, :len(r)] = torch.tensor(r)
    group = torch.tensor([0, 1, 2, 3, 1, 4] * 2)  # two pairs of one cluster
    before = [p.detach().clone() for _, p in model.table()]
    optimizer = torch.optim.AdamW([p for _, p in model.table()], lr=lr, weight_decay=decay)
    losses, gradient = [], None
    for _ in range(3):
        optimizer.zero_grad()
        loss = info_nce(model(tokens, torch.tensor(lengths)), group, temperature)
        loss.backward()
        losses.append(loss.item())
        gradient = gradient or [p.grad.clone() for _, p in model.table()]
        nn.utils.clip_grad_norm_([p for _, p in model.table()], clip)
        optimizer.step()
    with open(path, "wb") as f:
        f.write(struct.pack("<13I", MAGIC, vocabulary, d, layers, heads, ff, max_length,
                            int(learned), int(activation == "gelu"), pooling, int(bias), pairs,
                            int(sum(lengths))))
        f.write(np.concatenate([[0], np.cumsum(lengths)]).astype("<u4").tobytes())
        f.write(np.concatenate(rows).astype("<u4").tobytes())
        f.write(group.numpy().astype("<u4").tobytes())
        f.write(struct.pack("<4f3d", temperature, lr, decay, clip, *losses))
        for (_, p), b, g in zip(model.table(), before, gradient):
            for x in (b, g, p.detach()):
                f.write(x.numpy().astype("<f4").tobytes())
    print(path, losses)


if __name__ == "__main__":
    out = Path(sys.argv[1])
    make(out / "torch-relu.bin", 1, False, "relu", 0, False)
    make(out / "torch-gelu.bin", 2, True, "gelu", 1, True)
