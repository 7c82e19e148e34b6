#!/usr/bin/env python3
"""Loads a model that eqloom trained into PyTorch and embeds expressions with it: an encoder, or
that of an encoder-decoder.

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


PAD, START, END = range(3)  # the first tokens of every vocabulary
BINARY = {"+", "-", "*", "/", "pow", "d"}
UNARY = {"sqrt", "abs", "ln", *(a + f + h for a in ("", "a") for h in ("", "h")
                                for f in ("sin", "cos", "tan", "csc", "sec", "cot"))}


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
        self.pooling, self.d = a["pooling"], a["d_model"]
        self.wrap = a.get("wrap", False)
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
        if a.get("decoder_layers"):
            weights = {name.removeprefix("encoder."): tensor for name, tensor in weights.items()
                       if not name.startswith(("decoder.", "output."))}
        # Attention may have no biases, which nn.TransformerEncoder cannot leave out: zeros.
        absent = set(self.encoder.state_dict()) - set(weights)
        assert all("self_attn" in name and name.endswith("bias") for name in absent), absent
        weights.update({name: torch.zeros_like(self.encoder.state_dict()[name])
                        for name in absent})
        self.encoder.load_state_dict(weights)
        self.eval()

    def integer(self, digits):
        """A token, and behind it the digits that it needs."""
        if self.encoding != "e-gen" and digits in self.ids:
            return [digits]
        return ["INT-" if digits[0] == "-" else "INT+", *digits.lstrip("-")]

    def parts(self, prefix):
        """A list of tokens for each operator, symbol and integer; 3/2 is / 3 2."""
        for token in prefix.split():
            if not token.lstrip("-")[:1].isdigit():
                yield [token]
            elif "/" in token:
                p, q = token.split("/")
                yield from (["/"], self.integer(p), self.integer(q))
            else:
                yield self.integer(token)

    @staticmethod
    def placed(parts):
        """Each behind the operator of two operands under which it stands: + x 2 is + x@+ 2@+, and
        where their order matters the operand's number: - x 2 is - x@-1 2@-2."""
        under = []  # operators whose operands are being read: [name, operands, of these read]
        for token, *digits in parts:
            while under and under[-1][1] == under[-1][2]:
                under.pop()
            place = ""
            if under:
                under[-1][2] += 1
                name, _, operand = under[-1]
                if name in ("+", "*"):
                    place = "@" + name
                elif name in ("-", "/", "pow"):
                    place = f"@{name}{operand}"
            yield [token + place, *digits]
            arity = 2 if token in BINARY else 1 if token in UNARY else 0
            if "/" in token[1:]:  # an operator of one's own: erf/1
                arity = int(token.split("/")[1])
            if arity:
                under.append([token, arity, 0])

    def tokens(self, prefix):
        """Ids of an expression in prefix tokens, as the model's vocabulary encodes it."""
        parts = self.parts(prefix)
        if self.encoding == "placed":
            parts = self.placed(parts)
        ids = [self.ids[token] for part in parts for token in part]
        return [START, *ids, END] if self.wrap else ids

    def pool(self, states, pooled):
        """The mean or maximum of the states of the tokens that are pooled."""
        if self.pooling == "mean":
            return states.masked_fill(~pooled[:, :, None], 0).sum(1) / pooled.sum(1, keepdim=True)
        return states.masked_fill(~pooled[:, :, None], -math.inf).max(1).values

    @torch.no_grad()
    def embed(self, prefixes):
        """One vector of length 1 for each expression."""
        rows = [self.tokens(prefix) for prefix in prefixes]
        length = max(map(len, rows))
        ids = torch.tensor([row + [0] * (length - len(row)) for row in rows])
        pad = ids == PAD
        x = self.embedding(ids) * math.sqrt(self.d) + self.positions[:length]
        x = self.encoder(x, src_key_padding_mask=pad)
        return nn.functional.normalize(self.pool(x, ids > END)).numpy()


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
