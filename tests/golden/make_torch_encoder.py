#!/usr/bin/env python3
"""An encoder as a user of PyTorch would bring it, and what PyTorch embeds expressions to with it.

    python3 -m venv v && v/bin/pip install torch numpy safetensors
    v/bin/python tests/golden/make_torch_encoder.py tests/golden

Writes torch-encoder.safetensors, with the names of nn.TransformerEncoder and the architecture in its
metadata; and torch-encoder.jsonl, in each line an expression in prefix tokens and its vector, of
length 1. tests/e2e/test_import.py reads them."""
import json
import sys
from pathlib import Path

import torch
from make_torch_golden import Encoder, disturb, padded
from safetensors.torch import save_file
from torch import nn

# Those of op vocabulary, encoding e-gen.
TOKENS = """<pad> <start> <end> + - * / pow sqrt abs d ln sin cos tan csc sec cot asin acos atan acsc asec
acot sinh cosh tanh csch sech coth asinh acosh atanh acsch asech acoth x y z t u a b c n pi e INT+
INT- 0 1 2 3 4 5 6 7 8 9""".split()
EXPRESSIONS = ["x", "sin x", "pow sin x 2", "- 1 pow cos x 2", "/ sin x cos x", "ln * 2 x",
               "+ * 3 x 14", "d x pow x -5", "asinh sqrt abs + x 27", "- - x 3 - x 3"]


def tokens_of(prefix):
    """Integers are a sign and digits."""
    out = []
    for token in prefix.split():
        if token.lstrip("-").isdigit():
            out += ["INT-" if token[0] == "-" else "INT+", *token.lstrip("-")]
        else:
            out.append(token)
    return [TOKENS.index(token) for token in out]


def main(out):
    torch.manual_seed(11)
    d, layers, heads, ff, max_length = 16, 2, 2, 32, 24
    model = Encoder(len(TOKENS), d, layers, heads, ff, max_length, True, "gelu", 1, True)
    disturb(model)
    model = model.float()
    architecture = {"vocabulary": len(TOKENS), "d_model": d, "layers": layers, "heads": heads,
                    "d_ff": ff, "max_length": max_length, "positions": "learned",
                    "activation": "gelu", "pooling": "max", "attention_bias": True}
    lines = "".join(f"{k}={str(v).lower()}\n" for k, v in sorted(architecture.items()))
    save_file({name: p.detach().contiguous() for name, p in model.table()},
              out / "torch-encoder.safetensors", metadata={"architecture": lines})
    tokens, lengths = padded([tokens_of(e) for e in EXPRESSIONS], 0)
    with torch.no_grad():
        vectors = nn.functional.normalize(model.double()(tokens, lengths))
    with open(out / "torch-encoder.jsonl", "w") as f:
        for text, vector in zip(EXPRESSIONS, vectors.tolist()):
            json.dump({"text": text, "vector": [round(x, 8) for x in vector]}, f)
            f.write("\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
