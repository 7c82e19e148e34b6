#!/usr/bin/env python3
"""Loads an encoder that eqloom trained into PyTorch and embeds expressions with it.

    eqloom export best -o encoder.safetensors                     # and encoder.safetensors.json
    eqloom export quickstart/trained-vectors -o vectors.npy       # and vectors.npy.jsonl
    pip install numpy safetensors torch
    python3 docs/embed.py encoder.safetensors vectors.npy         # the same vectors, to 1e-5

or, with expressions in prefix tokens instead of a matrix:

    python3 docs/embed.py encoder.safetensors 'pow sin x 2' '- 1 pow cos x 2'
"""
import json
import math
import sys

import numpy as np
import torch
from safetensors.torch import load_file
from torch import nn


def sinusoids(length, d):
    """Positions of Vaswani et al. 2017, sine and cosine interleaved."""
    place = torch.arange(length, dtype=torch.float64)[:, None]
    angle = place / 10000.0 ** (torch.arange(d, dtype=torch.float64) // 2 * 2 / d)
    even = torch.arange(d) % 2 == 0
    return torch.where(even, angle.sin(), angle.cos()).float()


class Encoder(nn.Module):
    def __init__(self, path):
        super().__init__()
        with open(path + ".json") as f:
            config = json.load(f)
        a = config["architecture"]
        if a.get("decoder_layers") or a.get("wrap") or a["pooling"] not in ("mean", "max"):
            raise SystemExit("this example reads encoders that pool the mean or the maximum")
        self.pooling, self.d = a["pooling"], a["d_model"]
        self.encoding = config["encoding"]
        self.ids = {token: i for i, token in enumerate(config["tokens"])}
        layer = nn.TransformerEncoderLayer(a["d_model"], a["heads"], a["d_ff"], dropout=0,
                                           activation=a["activation"], batch_first=True,
                                           norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, a["layers"], norm=nn.LayerNorm(a["d_model"]),
                                             enable_nested_tensor=False)
        weights = load_file(path)
        self.embedding = nn.Embedding.from_pretrained(weights.pop("embedding.weight"))
        positions = weights.pop("positions.weight", None)
        self.positions = sinusoids(a["max_length"], self.d) if positions is None else positions
        # Attention may have no biases, which nn.TransformerEncoder cannot leave out: zeros.
        absent = set(self.encoder.state_dict()) - set(weights)
        assert all("self_attn" in name and name.endswith("bias") for name in absent), absent
        weights.update({name: torch.zeros_like(self.encoder.state_dict()[name])
                        for name in absent})
        self.encoder.load_state_dict(weights)
        self.eval()

    def integer(self, digits):
        if self.encoding == "plain" and digits in self.ids:
            return [digits]
        return ["INT-" if digits[0] == "-" else "INT+", *digits.lstrip("-")]

    def tokens(self, prefix):
        """Ids of an expression in prefix tokens; 3/2 is / 3 2, integers as the encoding says."""
        out = []
        for token in prefix.split():
            if not token.lstrip("-")[:1].isdigit():
                out.append(token)
            elif "/" in token:
                p, q = token.split("/")
                out += ["/", *self.integer(p), *self.integer(q)]
            else:
                out += self.integer(token)
        return [self.ids[token] for token in out]

    @torch.no_grad()
    def embed(self, prefixes):
        """One vector of length 1 for each expression."""
        rows = [self.tokens(prefix) for prefix in prefixes]
        length = max(map(len, rows))
        ids = torch.tensor([row + [0] * (length - len(row)) for row in rows])
        pad = ids == 0
        x = self.embedding(ids) * math.sqrt(self.d) + self.positions[:length]
        x = self.encoder(x, src_key_padding_mask=pad)
        if self.pooling == "mean":
            x = x.masked_fill(pad[:, :, None], 0).sum(1) / (~pad).sum(1, keepdim=True)
        else:
            x = x.masked_fill(pad[:, :, None], -math.inf).max(1).values
        return nn.functional.normalize(x).numpy()


def main():
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    encoder = Encoder(sys.argv[1])
    if not sys.argv[2].endswith(".npy"):
        vectors = encoder.embed(sys.argv[2:])
        for prefix, cosines in zip(sys.argv[2:], vectors @ vectors.T):
            print(prefix, np.round(cosines, 4))
        return
    wanted = np.load(sys.argv[2])
    with open(sys.argv[2] + ".jsonl") as f:
        texts = [json.loads(line)["text"] for line in f]
    worst = 0
    for i in range(0, len(texts), 256):
        got = encoder.embed(texts[i:i + 256])
        worst = max(worst, float(np.abs(got - wanted[i:i + 256]).max()))
    print(f"{len(texts)} vectors, the greatest difference is {worst:.1e}")
    if worst > 1e-5:
        raise SystemExit("that is more than 1e-5")


if __name__ == "__main__":
    main()
