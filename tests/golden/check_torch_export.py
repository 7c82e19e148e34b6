#!/usr/bin/env python3
"""PyTorch's nn.Transformer, given an exported encoder-decoder, finds the log-probabilities of what
eqloom generated with it.

    eqloom export JOB/model -o model.safetensors
    eqloom export JOB/generations -o generations.jsonl
    eqloom export JOB/vocabulary -o vocabulary.jsonl
    v/bin/python tests/golden/check_torch_export.py model.safetensors vocabulary.jsonl \\
        generations.jsonl

Needs torch, numpy and safetensors. Prints the greatest difference; fails if it exceeds 1e-4."""
import json
import sys

import torch
from safetensors.torch import load_file
from safetensors import safe_open

from make_torch_golden import EncoderDecoder


def load(path):
    with safe_open(path, "pt") as f:
        text = f.metadata()["architecture"]
    c = dict(line.split("=") for line in text.split())
    bias, tied = (c.get(k, "false") == "true" for k in ("attention_bias", "tied_output"))
    model = EncoderDecoder(int(c["vocabulary"]), int(c["d_model"]), int(c["layers"]),
                           int(c["decoder_layers"]), int(c["heads"]), int(c["d_ff"]),
                           int(c["max_length"]), c["positions"] == "learned", c["activation"], bias,
                           tied)
    # The names of eqloom are those of this module, but that it calls nn.Transformer `transformer`.
    state = {(f"transformer.{n}" if n.split(".")[0] in ("encoder", "decoder") else n): t
             for n, t in load_file(path).items()}
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert not unexpected, unexpected
    assert all("attn" in n and n.endswith("bias") or tied and n == "output.weight"
               for n in missing), missing
    return model.double().eval(), c.get("wrap") == "true"


def encode(prefix, ids):
    """E-Gen's encoding; as ops/corpus/encoding.c."""
    out = []
    for token in prefix.split():
        for part in ["/", *token.split("/")] if "/" in token[1:] else [token]:
            digits = part[1:] if part[0] == "-" else part
            if digits.isdigit():
                out += ["INT-" if part[0] == "-" else "INT+", *digits]
            else:
                out.append(part)
    return [ids[t] for t in out]


def main(model_path, vocabulary_path, generations_path):
    model, wrap = load(model_path)
    tokens = json.loads(open(vocabulary_path).readline())["tokens"]
    ids = {t: i for i, t in enumerate(tokens)}
    worst = count = 0
    for line in open(generations_path):
        for one in json.loads(line)["written"]:
            source = encode(one["input"], ids)
            source = torch.tensor([[1, *source, 2] if wrap else source])
            for c in one.get("candidates", []):
                # What the model wrote may be bare digits or a lone INT+, which read as such.
                try:
                    target = encode(c["prefix"], ids)
                except KeyError:
                    continue
                if any(t.lstrip("-").isdigit() and len(t) == 1 for t in c["prefix"].split()):
                    continue  # 7: a digit, or INT+ 7
                fed = torch.tensor([[1, *target]])
                label = torch.tensor([*target, 2])
                with torch.no_grad():
                    logits = model(source, torch.tensor([source.shape[1]]), fed,
                                   torch.tensor([fed.shape[1]]))[0]
                score = logits.log_softmax(-1)[torch.arange(len(label)), label].sum().item()
                worst = max(worst, abs(score - c["log_probability"]))
                count += 1
    print(f"{count} candidates, greatest difference {worst:.2g}")
    sys.exit(worst > 1e-4 or count == 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
