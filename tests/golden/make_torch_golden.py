#!/usr/bin/env python3
"""Golden values of a training from PyTorch: weights, loss, gradients and three AdamW steps.

    python3 -m venv v && v/bin/pip install torch numpy
    v/bin/python tests/golden/make_torch_golden.py tests/golden

Writes torch-{relu,gelu}.bin, of contrastive training, little-endian:
    u32 magic 0x54515445; u32 vocabulary d_model layers heads d_ff max_length positions activation
    pooling attention_bias (as the enums of ops/nn/transformer/model.h); u32 pairs, tokens;
    u32 offset (2 * pairs + 1), token (tokens), group (2 * pairs);
    f32 temperature, lr, weight_decay, clip; f64 losses (3);
    then per parameter, in the order of the model's table: weights before, gradient of the first
    step, weights after three steps; all f32.

Writes torch-{seq2seq,autoencode}.bin, of encoder-decoders, built on nn.Transformer:
    u32 magic + 1, then as above up to attention_bias; u32 decoder_layers, tied_output, sequences,
    tokens, target tokens; u32 offset (sequences + 1), token (tokens), target offset (sequences +
    1), target (target tokens); f32 label smoothing, lr, weight_decay, clip; f64 losses (3); then
    the parameters as above.

Writes torch-{negatives,triplet,swapped,siamese,euclidean,histogram,histogram-own,maxsim}.bin, of what else
compares vectors:
    u32 magic + 2, then as above up to attention_bias; u32 objective (of ops/learn/examples.h),
    negatives, squared (2: euclidean, 3: MaxSim), swap, adam (instead of AdamW), pairs, tokens;
    u32 offset (sequences + 1), token (tokens), group (sequences), sequences being pairs * (2 + negatives); f32 margin;
    then f32 temperature and what follows, as of contrastive training.
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


def sinusoids(max_length, d):
    angle = torch.arange(max_length)[:, None] * \
        10000.0 ** (-(torch.arange(d) // 2 * 2) / d)[None, :].double()
    even = (torch.arange(d) % 2 == 0)[None, :]
    return torch.where(even, angle.sin(), angle.cos())


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
        self.sinusoids = sinusoids(max_length, d)
        for layer in self.encoder.layers if not bias else []:
            for b in (layer.self_attn.in_proj_bias, layer.self_attn.out_proj.bias):
                b.data.zero_()
                b.requires_grad_(False)

    def states(self, tokens, lengths):
        """Of all tokens; which of them count."""
        n, t = tokens.shape
        place = self.positions.weight[:t] if self.positions else self.sinusoids[:t]
        x = self.embedding(tokens) * math.sqrt(self.d) + place
        pad = torch.arange(t)[None, :] >= lengths[:, None]
        return self.encoder(x, src_key_padding_mask=pad), ~pad & (tokens > 2)

    def forward(self, tokens, lengths):
        x, use = self.states(tokens, lengths)
        if self.pooling == 1:
            return x.masked_fill(~use[:, :, None], -math.inf).max(1).values
        return (x * use[:, :, None]).sum(1) / use.sum(1)[:, None]

    def table(self):
        """Parameters in the order of eqloom's table."""
        out = [("embedding.weight", self.embedding.weight)]
        if self.positions:
            out.append(("positions.weight", self.positions.weight))
        for i, layer in enumerate(self.encoder.layers):
            own = dict(layer.named_parameters())
            out += [(f"layers.{i}.{n}", own[n]) for n in layer_names(False)
                    if self.bias or not (n.startswith("self_attn") and n.endswith("bias"))]
        own = dict(self.encoder.norm.named_parameters())
        return out + [("norm.weight", own["weight"]), ("norm.bias", own["bias"])]


def layer_names(decoder):
    attention = ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"]
    names = [f"self_attn.{n}" for n in attention]
    names += [f"multihead_attn.{n}" for n in attention] if decoder else []
    names += [f"linear{i}.{n}" for i in (1, 2) for n in ("weight", "bias")]
    return names + [f"norm{i}.{n}" for i in ((1, 2, 3) if decoder else (1, 2))
                    for n in ("weight", "bias")]


class EncoderDecoder(nn.Module):
    def __init__(self, vocabulary, d, layers, decoder_layers, heads, ff, max_length, learned,
                 activation, bias, tied):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, d)
        self.positions = nn.Embedding(max_length, d) if learned else None
        self.transformer = nn.Transformer(d, heads, layers, decoder_layers, ff, dropout=0.0,
                                          activation=activation, batch_first=True, norm_first=True)
        self.output = nn.Linear(d, vocabulary)
        if tied:
            self.output.weight = self.embedding.weight
        self.d, self.bias, self.tied, self.sinusoids = d, bias, tied, sinusoids(max_length, d)
        for name, p in self.transformer.named_parameters():
            if not bias and "attn" in name and name.endswith("bias"):
                p.data.zero_()
                p.requires_grad_(False)

    def embed(self, tokens):
        t = tokens.shape[1]
        place = self.positions.weight[:t] if self.positions else self.sinusoids[:t]
        return self.embedding(tokens) * math.sqrt(self.d) + place

    def forward(self, tokens, lengths, fed, fed_lengths):
        pad = torch.arange(tokens.shape[1])[None, :] >= lengths[:, None]
        fed_pad = torch.arange(fed.shape[1])[None, :] >= fed_lengths[:, None]
        causal = torch.ones(fed.shape[1], fed.shape[1], dtype=torch.bool).triu(1)
        x = self.transformer(self.embed(tokens), self.embed(fed), tgt_mask=causal,
                             src_key_padding_mask=pad, memory_key_padding_mask=pad,
                             tgt_key_padding_mask=fed_pad)
        return self.output(x)

    def table(self):
        """Parameters in the order of eqloom's table."""
        own = dict(self.transformer.named_parameters())
        out = [("embedding.weight", self.embedding.weight)]
        if self.positions:
            out.append(("positions.weight", self.positions.weight))
        for side, n in (("encoder", self.transformer.encoder.num_layers),
                        ("decoder", self.transformer.decoder.num_layers)):
            names = [f"{side}.layers.{i}.{m}" for i in range(n)
                     for m in layer_names(side == "decoder")]
            names += [f"{side}.norm.weight", f"{side}.norm.bias"]
            out += [(n, own[n]) for n in names
                    if self.bias or not ("attn" in n and n.endswith("bias"))]
        if not self.tied:
            out.append(("output.weight", self.output.weight))
        return out + [("output.bias", self.output.bias)]


def info_nce(vectors, group, temperature):
    u = nn.functional.normalize(vectors)
    return info_nce_of(u @ u.T / temperature, group)


def maxsim(states, use, group, temperature):
    """Khattab and Zaharia 2020: query i, key j, tokens a of i and b of j."""
    u = nn.functional.normalize(states, dim=-1)
    cosines = torch.einsum("iad,jbd->ijab", u, u).masked_fill(~use[None, :, None, :], -math.inf)
    return info_nce_of((cosines.max(-1).values * use[:, None, :]).sum(-1) / temperature, group)


def info_nce_of(scores, group):
    n = len(scores)
    target = (torch.arange(n) + n // 2) % n
    masked = (group[:, None] == group[None, :])
    masked[torch.arange(n), target] = False
    return nn.functional.cross_entropy(scores.masked_fill(masked, -math.inf), target)


def triplets(u, pairs, k):
    """Anchors, partners and negatives of all triplets."""
    negatives = u[2 * pairs:]
    return u[:pairs].repeat_interleave(k, 0), u[pairs:2 * pairs].repeat_interleave(k, 0), negatives


def own_negatives(vectors, pairs, k, temperature):
    anchor, partner, negative = triplets(nn.functional.normalize(vectors), pairs, k)
    first = (anchor * partner).sum(1)[::k, None]
    scores = torch.cat([first, (anchor * negative).sum(1).reshape(pairs, k)], 1) / temperature
    return nn.functional.cross_entropy(scores, torch.zeros(pairs, dtype=torch.long))


def triplet(vectors, pairs, k, margin, squared, swap):
    """Balntas et al. 2016, by PyTorch; the distance is the negative cosine."""
    u = nn.functional.normalize(vectors)
    loss = nn.functional.triplet_margin_with_distance_loss(
        *triplets(u, pairs, k), distance_function=lambda a, b: -(a * b).sum(1), margin=margin,
        swap=swap, reduction="none")
    return (loss ** 2 if squared else loss).mean()


def siamese(vectors, pairs, k, margin, hinge):
    u = nn.functional.normalize(vectors)
    anchor, partner, negative = triplets(u, pairs, k)
    if hinge == EUCLIDEAN:
        near, far = (nn.functional.pairwise_distance(a, b, eps=0) for a, b in
                     ((u[:pairs], u[pairs:2 * pairs]), (anchor, negative)))
        return torch.cat([near ** 2, torch.relu(margin - far) ** 2]).mean()
    scores = torch.cat([(u[:pairs] * u[pairs:2 * pairs]).sum(1), -(anchor * negative).sum(1)])
    loss = torch.relu(margin - scores)
    return (loss ** 2 if hinge == SQUARED else loss).mean()


def histogram_of(scores, bins=64):
    at = torch.linspace(-1, 1, bins, dtype=torch.float64)
    near = torch.relu(1 - (scores[:, None] - at).abs() * (bins - 1) / 2)
    return near.mean(0)


def histogram(vectors, pairs, k, group):
    """Ustinova and Lempitsky 2016. Without negatives of their own, all pairs of the batch that are
    of different groups are negative."""
    u = nn.functional.normalize(vectors)
    if k:
        anchor, _, negative = triplets(u, pairs, k)
        positives = (u[:pairs] * u[pairs:2 * pairs]).sum(1)
        negatives = (anchor * negative).sum(1)
    else:
        positives = (u[:pairs] * u[pairs:]).sum(1)
        negatives = (u @ u.T)[group[:, None] != group[None, :]]
    return (histogram_of(negatives) * histogram_of(positives).cumsum(0)).sum()


def disturb(model):
    """Biases and norms are not to stay 0 and 1; and all values are to be f32's."""
    for _, p in model.table():
        p.data = (p.data + 0.05 * torch.randn_like(p)).float().double()


def train(model, loss_of, lr, decay, clip, optimizer=torch.optim.AdamW):
    """Weights before, gradients of the first of three steps, losses."""
    parameters = [p for _, p in model.table()]
    before = [p.detach().clone() for p in parameters]
    optimizer = optimizer(parameters, lr=lr, weight_decay=decay)
    losses, gradient = [], None
    for _ in range(3):
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        losses.append(loss.item())
        gradient = gradient or [p.grad.clone() for p in parameters]
        nn.utils.clip_grad_norm_(parameters, clip)
        optimizer.step()
    return before, gradient, losses


def write_parameters(f, model, before, gradient):
    for (_, p), b, g in zip(model.table(), before, gradient):
        for x in (b, g, p.detach()):
            f.write(x.numpy().astype("<f4").tobytes())


def make(path, seed, learned, activation, pooling, bias):
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    vocabulary, d, layers, heads, ff, max_length, pairs = 19, 16, 2, 4, 40, 24, 6
    temperature, lr, decay, clip = 0.1, 0.01, 0.01, 1.0
    model = Encoder(vocabulary, d, layers, heads, ff, max_length, learned, activation, pooling,
                    bias).double()
    disturb(model)
    lengths = rng.integers(3, 20, 2 * pairs)
    rows = [[1] + list(rng.integers(3, vocabulary, n - 2)) + [2] for n in lengths]
    tokens = torch.zeros(2 * pairs, max(lengths), dtype=torch.long)
    for i, r in enumerate(rows):
        tokens[i, :len(r)] = torch.tensor(r)
    group = torch.tensor([0, 1, 2, 3, 1, 4] * 2)  # two pairs of one cluster
    before, gradient, losses = train(
        model, lambda: info_nce(model(tokens, torch.tensor(lengths)), group, temperature), lr,
        decay, clip)
    with open(path, "wb") as f:
        f.write(struct.pack("<13I", MAGIC, vocabulary, d, layers, heads, ff, max_length,
                            int(learned), int(activation == "gelu"), pooling, int(bias), pairs,
                            int(sum(lengths))))
        f.write(np.concatenate([[0], np.cumsum(lengths)]).astype("<u4").tobytes())
        f.write(np.concatenate(rows).astype("<u4").tobytes())
        f.write(group.numpy().astype("<u4").tobytes())
        f.write(struct.pack("<4f3d", temperature, lr, decay, clip, *losses))
        write_parameters(f, model, before, gradient)
    print(path, losses)


TRIPLET, SIAMESE, HISTOGRAM = 2, 3, 4  # objectives by number; 0 is contrastive
SQUARED, EUCLIDEAN = 1, 2  # hinges; 0 is linear
MAXSIM = 3  # in the hinge's place


def make_vectors(path, seed, objective, k, margin=0.0, squared=False, swap=False, adam=False):
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    vocabulary, d, layers, heads, ff, max_length, pairs = 19, 8, 1, 2, 16, 24, 9
    temperature, lr, decay, clip = 0.1 if k and objective == 0 else 1.0, 0.01, 0.01, 1.0
    model = Encoder(vocabulary, d, layers, heads, ff, max_length, True, "relu", 0, False).double()
    disturb(model)
    rows = [list(rng.integers(3, vocabulary, n)) for n in rng.integers(1, 12, pairs * (2 + k))]
    tokens, lengths = padded(rows, 0)
    group = torch.tensor([*range(pairs)] * 2 + [i for i in range(pairs) for _ in range(k)])
    if not k:
        group[1] = group[pairs + 1] = 0  # two pairs of one cluster

    def loss():
        if squared == MAXSIM:
            return maxsim(*model.states(tokens, lengths), group, temperature)
        vectors = model(tokens, lengths)
        if objective == TRIPLET:
            return triplet(vectors, pairs, k, margin, squared, swap)
        if objective == SIAMESE:
            return siamese(vectors, pairs, k, margin, int(squared))
        if objective == HISTOGRAM:
            return histogram(vectors, pairs, k, group)
        return own_negatives(vectors, pairs, k, temperature)

    before, gradient, losses = train(model, loss, lr, decay, clip,
                                     torch.optim.Adam if adam else torch.optim.AdamW)
    with open(path, "wb") as f:
        f.write(struct.pack("<18I", MAGIC + 2, vocabulary, d, layers, heads, ff, max_length, 1, 0,
                            0, 0, objective, k, int(squared), int(swap), int(adam), pairs,
                            sum(map(len, rows))))
        for part in packed(rows):
            f.write(part)
        f.write(group.numpy().astype("<u4").tobytes())
        f.write(struct.pack("<5f3d", margin, temperature, lr, decay, clip, *losses))
        write_parameters(f, model, before, gradient)
    print(path, losses)


def packed(rows):
    """Offsets and tokens, as bytes."""
    lengths = [len(r) for r in rows]
    return np.concatenate([[0], np.cumsum(lengths)]).astype("<u4").tobytes(), \
        np.concatenate(rows).astype("<u4").tobytes()


def padded(rows, fill):
    out = torch.full((len(rows), max(map(len, rows))), fill, dtype=torch.long)
    for i, r in enumerate(rows):
        out[i, :len(r)] = torch.tensor(r)
    return out, torch.tensor([len(r) for r in rows])


def make_seq2seq(path, seed, learned, activation, bias, tied, autoencode):
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    vocabulary, d, layers, decoder_layers, heads, ff, max_length, n = 19, 16, 2, 2, 4, 40, 24, 7
    smoothing, lr, decay, clip = 0.1, 0.01, 0.01, 1.0
    model = EncoderDecoder(vocabulary, d, layers, decoder_layers, heads, ff, max_length, learned,
                           activation, bias, tied).double()
    disturb(model)
    inputs = [list(rng.integers(3, vocabulary, k)) for k in rng.integers(1, 20, n)]
    targets = inputs if autoencode else \
        [list(rng.integers(3, vocabulary, k)) for k in rng.integers(1, 20, n)]
    tokens, lengths = padded(inputs, 0)
    fed, fed_lengths = padded([[1] + t for t in targets], 0)
    labels, _ = padded([t + [2] for t in targets], -100)

    def loss():
        logits = model(tokens, lengths, fed, fed_lengths)
        return nn.functional.cross_entropy(logits.reshape(-1, vocabulary), labels.reshape(-1),
                                           ignore_index=-100, label_smoothing=smoothing)

    before, gradient, losses = train(model, loss, lr, decay, clip)
    with open(path, "wb") as f:
        f.write(struct.pack("<16I", MAGIC + 1, vocabulary, d, layers, heads, ff, max_length,
                            int(learned), int(activation == "gelu"), 0, int(bias), decoder_layers,
                            int(tied), n, sum(map(len, inputs)), sum(map(len, targets))))
        for part in packed(inputs) + packed(targets):
            f.write(part)
        f.write(struct.pack("<4f3d", smoothing, lr, decay, clip, *losses))
        write_parameters(f, model, before, gradient)
    print(path, losses)


if __name__ == "__main__":
    out = Path(sys.argv[1])
    torch.set_num_threads(1)  # sums are split among threads: with more, a loss's last bit differs
    make(out / "torch-relu.bin", 1, False, "relu", 0, False)
    make(out / "torch-gelu.bin", 2, True, "gelu", 1, True)
    make_seq2seq(out / "torch-seq2seq.bin", 3, False, "relu", False, False, False)
    make_seq2seq(out / "torch-autoencode.bin", 4, True, "gelu", True, True, True)
    make_vectors(out / "torch-negatives.bin", 5, 0, 3)
    make_vectors(out / "torch-triplet.bin", 6, TRIPLET, 2, margin=0.5)
    # The Search for Equations: squares, a margin of 1, Adam.
    make_vectors(out / "torch-swapped.bin", 7, TRIPLET, 1, 1.0, squared=True, swap=True, adam=True)
    make_vectors(out / "torch-siamese.bin", 8, SIAMESE, 1, 1.0, squared=True, adam=True)
    make_vectors(out / "torch-euclidean.bin", 11, SIAMESE, 2, 1.2, squared=EUCLIDEAN)
    make_vectors(out / "torch-histogram.bin", 9, HISTOGRAM, 0)
    make_vectors(out / "torch-histogram-own.bin", 10, HISTOGRAM, 3)
    make_vectors(out / "torch-maxsim.bin", 12, 0, 0, squared=MAXSIM)
