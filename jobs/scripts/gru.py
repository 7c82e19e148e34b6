#!/usr/bin/env python3
"""A GRU as an encoder of expressions, EqNet's baseline (Allamanis et al. 2017, its program's sizes).

    gru.py STEPS    reads in/{train,unseen,all}.jsonl, writes out/{unseen,all}.npy and .npy.jsonl

Prefix tokens go into a GRU of 32 units over embeddings of 128; the last state, scaled to length 1, is
the vector. It learns which class an expression is of: a softmax over the products with a vector for
each class, under dropout. RMSprop, 100 expressions a step, of at first three tokens at most and then
of more and more. Needs PyTorch and NumPy.
"""
import json
import random
import sys

import numpy as np
import torch
from torch import nn

EMBEDDING, UNITS, BATCH, SEED = 128, 32, 100, 42
RATE, DECAY, MOMENTUM, CLIP, DROPOUT, SPREAD = 10 ** -2.3177, 0.9004, 0.6607, 0.8677, 0.2604, 0.1
AT_FIRST, EACH_EPOCH = 3, 0.2  # tokens


def read(name):
    """Members of each class, by its seed."""
    with open("in/" + name) as file:
        classes = [json.loads(line) for line in file]
    return {c["seed"]["prefix"]: [m["prefix"] for m in c["members"]] for c in classes}


class Encoder(nn.Module):
    def __init__(self, words, classes):
        super().__init__()
        self.words = words
        self.embedding = nn.Embedding(len(words) + 1, EMBEDDING, padding_idx=0)  # of what is unknown, too
        self.gru = nn.GRU(EMBEDDING, UNITS, batch_first=True)
        self.start = nn.Parameter(torch.randn(UNITS) * SPREAD)
        self.classes = nn.Parameter(torch.randn(UNITS, classes) * SPREAD)

    def forward(self, texts):
        rows = [torch.tensor([self.words.get(w, 0) for w in text.split()]) for text in texts]
        lengths = torch.tensor([len(r) for r in rows])
        x = self.embedding(nn.utils.rnn.pad_sequence(rows, batch_first=True))
        x = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        _, last = self.gru(x, self.start.expand(1, len(rows), UNITS).contiguous())
        return nn.functional.normalize(last[0], dim=1)


def train(classes, steps):
    texts = [(text, label) for label, members in enumerate(classes.values()) for text in members]
    words = sorted({w for text, _ in texts for w in text.split()})
    model = Encoder({w: i + 1 for i, w in enumerate(words)}, len(classes))
    optimizer = torch.optim.RMSprop(model.parameters(), lr=RATE, alpha=DECAY, momentum=MOMENTUM)
    order, epoch, at = [], 0, 0
    for step in range(1, steps + 1):
        if at >= len(order):
            longest = max(AT_FIRST + EACH_EPOCH * epoch, min(len(t.split()) for t, _ in texts))
            order = [x for x in texts if len(x[0].split()) <= longest]
            random.shuffle(order)
            epoch, at = epoch + 1, 0
        batch, at = order[at:at + BATCH], at + BATCH
        scores = model([t for t, _ in batch]) @ nn.functional.dropout(model.classes, DROPOUT)
        loss = nn.functional.cross_entropy(scores, torch.tensor([label for _, label in batch]))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        if step % 100 == 0:
            print("step %d, up to %d tokens: loss %.3f" % (step, longest, loss.item()), flush=True)
    return model


def write(name, model, classes):
    texts = [(seed, text) for seed, members in classes.items() for text in members]
    with torch.no_grad():
        vectors = [model([t for _, t in texts[i:i + 1000]]) for i in range(0, len(texts), 1000)]
    np.save("out/%s.npy" % name, torch.cat(vectors).numpy())
    with open("out/%s.npy.jsonl" % name, "w") as file:
        for source, text in texts:
            print(json.dumps({"source": source, "text": text}), file=file)


if __name__ == "__main__":
    random.seed(SEED)
    torch.manual_seed(SEED)
    torch.set_num_threads(1)  # the same sums on any number of processors
    trained = train(read("train.jsonl"), int(sys.argv[1]))
    write("unseen", trained, read("unseen.jsonl"))
    write("all", trained, read("all.jsonl"))
