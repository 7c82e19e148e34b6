"""The peer of bench_learn: the same encoder, objective and lengths in PyTorch, asked and answering
as bench_learn does.

    torch_peer.py train|seq2seq|embed D/FF/LAYERS f32|bf16 THREADS LENGTHS [WAY...]

A way is how ragged sequences are put into rectangles:
    padded      one batch, padded to its longest sequence
    buckets=K   sorted by length and cut into K parts, each padded to its own longest
    exact       one part for each length: no padding, hence no mask (not for seq2seq: pairs would
                have to agree in both lengths)
seq2seq sorts pairs by the sum of their lengths. Of several (or no) ways the fastest in a first trial
of some seconds is taken. bf16 is autocast; for embedding also the model converted to bf16 ("cast"),
whichever is faster.
"""
import json
import math
import os
import resource
import sys
import time

for name in ('OPENBLAS_CORETYPE', 'OPENBLAS_L2_SIZE'):
    os.environ.pop(name, None)
import torch
from torch import nn

DEVICE = os.environ.get('EQLOOM_TORCH_DEVICE', 'cpu')

VOCABULARY, PAIRS, EMBEDDED, TEMPERATURE = 59, 256, 4096, 0.1
TRIAL_S = 3


def peak_mib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Encoder(nn.Module):
    def __init__(self, d, ff, layers):
        super().__init__()
        self.d = d
        self.embedding = nn.Embedding(VOCABULARY, d)
        layer = nn.TransformerEncoderLayer(d, 8 if d >= 512 else 4, ff, dropout=0.0,
                                           batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, norm=nn.LayerNorm(d),
                                             enable_nested_tensor=False)
        at = torch.arange(64)[:, None] * torch.exp(
            torch.arange(0, d, 2) * (-math.log(10000.0) / d))
        self.register_buffer('positions', torch.stack((at.sin(), at.cos()), 2).view(64, d))

    def embed(self, tokens):
        return self.embedding(tokens) * math.sqrt(self.d) + self.positions[:tokens.shape[1]]

    def forward(self, tokens, lengths):
        """Means (n, d) over each sequence; lengths is None where all are whole."""
        x = self.embed(tokens)
        if lengths is None:
            return self.encoder(x).mean(1)
        pad = torch.arange(tokens.shape[1])[None] >= lengths[:, None]
        x = self.encoder(x, src_key_padding_mask=pad)
        return x.masked_fill(pad[:, :, None], 0).sum(1) / lengths[:, None]


class Translator(nn.Module):
    """As many layers of decoder as of encoder; the vocabulary's logits of each target token."""

    def __init__(self, d, ff, layers):
        super().__init__()
        self.encoder = Encoder(d, ff, layers)
        layer = nn.TransformerDecoderLayer(d, 8 if d >= 512 else 4, ff, dropout=0.0,
                                           batch_first=True, norm_first=True)
        self.decoder = nn.TransformerDecoder(layer, layers, norm=nn.LayerNorm(d))
        self.output = nn.Linear(d, VOCABULARY)

    def forward(self, source, source_lengths, target):
        e = self.encoder
        pad = torch.arange(source.shape[1])[None] >= source_lengths[:, None]
        memory = e.encoder(e.embed(source), src_key_padding_mask=pad)
        mask = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        # Padded target rows come last, so that causality hides them from the real ones.
        states = self.decoder(e.embed(target), memory, tgt_mask=mask, tgt_is_causal=True,
                              memory_key_padding_mask=pad)
        return self.output(states)


class Draw:
    """Lengths from a histogram: lines of `length count`."""

    def __init__(self, path):
        rows = [line.split() for line in open(path) if line[0] != '#']
        self.lengths = torch.tensor([int(r[0]) for r in rows])
        self.weights = torch.tensor([float(r[1]) for r in rows])
        self.random = torch.Generator(DEVICE).manual_seed(1)

    def batch(self, n):
        of = self.lengths[torch.multinomial(self.weights, n, True, generator=self.random)]
        tokens = torch.randint(3, VOCABULARY, (n, int(of.max())), generator=self.random)
        return tokens, of


def parts(tokens, lengths, way):
    """The order of the rows, and the rectangles: tokens, and lengths where there is padding."""
    if way == 'padded':
        return None, [(tokens, lengths)]
    sorted_lengths, order = lengths.sort()
    if way == 'exact':
        _, counts = torch.unique_consecutive(sorted_lengths, return_counts=True)
        cuts = counts.tolist()
    else:
        count = int(way.split('=')[1])
        cuts = [len(r) for r in torch.arange(len(order)).tensor_split(count)]
    out = []
    for rows, of in zip(order.split(cuts), sorted_lengths.split(cuts)):
        if len(rows):
            out.append((tokens[rows][:, :int(of.max())], None if way == 'exact' else of))
    return order, out


def encode(model, tokens, lengths, way):
    order, rectangles = parts(tokens, lengths, way)
    out = torch.cat([model(t, n) for t, n in rectangles])
    if order is None:
        return out
    back = torch.empty_like(order)
    back[order] = torch.arange(len(order))
    return out[back]


def train_step(model, optimizer, draw, way, precision):
    tokens, lengths = draw.batch(2 * PAIRS)
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast(DEVICE, torch.bfloat16, enabled=precision == 'bf16'):
        vectors = encode(model, tokens, lengths, way)
    unit = nn.functional.normalize(vectors.float())
    scores = unit @ unit.T / TEMPERATURE
    scores.fill_diagonal_(-math.inf)
    target = (torch.arange(2 * PAIRS) + PAIRS) % (2 * PAIRS)
    loss = nn.functional.cross_entropy(scores, target)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    assert math.isfinite(loss.item())
    return int(lengths.sum())


def seq2seq_step(model, optimizer, draw, way, precision):
    source, source_lengths = draw.batch(PAIRS)
    target, target_lengths = draw.batch(PAIRS)
    order = (source_lengths + target_lengths).argsort()
    count = 1 if way == 'padded' else int(way.split('=')[1])
    total = int(target_lengths.sum()) + PAIRS
    optimizer.zero_grad(set_to_none=True)
    for rows in order.tensor_split(count):
        s, t, n = source[rows], target[rows], target_lengths[rows]
        s, t = s[:, :int(source_lengths[rows].max())], t[:, :int(n.max())]
        # START and the target in, the target and END out; beyond it nothing counts.
        fed = torch.cat((torch.ones(len(t), 1, dtype=t.dtype), t), 1)
        at = torch.arange(fed.shape[1])[None]
        label = torch.cat((t, t[:, :1]), 1).masked_fill(at > n[:, None], -100)
        label = label.masked_fill(at == n[:, None], 2)
        with torch.autocast(DEVICE, torch.bfloat16, enabled=precision == 'bf16'):
            logits = model(s, source_lengths[rows], fed)
        # Nothing couples the parts, so each is differentiated alone: least memory, and fastest.
        loss = nn.functional.cross_entropy(logits.float().flatten(0, 1), label.flatten(),
                                           reduction='sum') / total
        loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return int(source_lengths.sum()) + total


def embed_pass(model, draw, way, precision):
    cast, way = way.startswith('cast,'), way.removeprefix('cast,')
    tokens, lengths = draw.batch(EMBEDDED if model.d < 512 else EMBEDDED // 4)
    with torch.inference_mode(), torch.autocast(
            DEVICE, torch.bfloat16, enabled=precision == 'bf16' and not cast):
        nn.functional.normalize(encode(model, tokens, lengths, way).float())
    return int(lengths.sum())


def median_rate(run, seconds):
    """Tokens a second: the median over single runs, at least one. With one thread on the
    CPU its processor time counts: what else the machine does then disturbs less."""
    alone = DEVICE == 'cpu' and torch.get_num_threads() == 1
    clock = time.process_time if alone else time.perf_counter
    rates, end = [], clock() + seconds
    while not rates or clock() < end:
        start = clock()
        tokens = run()
        rates.append(tokens / (clock() - start))
    return sorted(rates)[len(rates) // 2]


def main():
    what, size, precision, threads, histogram = sys.argv[1:6]
    ways = sys.argv[6:]
    torch.set_num_threads(int(threads))
    torch.set_default_device(DEVICE)
    torch.manual_seed(1)
    imported = peak_mib()
    model = (Translator if what == 'seq2seq' else Encoder)(*map(int, size.split('/')))
    draw = Draw(histogram)
    if what != 'embed':
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
        step = seq2seq_step if what == 'seq2seq' else train_step
        ways = ways or {'train': ['padded', 'buckets=8', 'buckets=16', 'exact'],
                        'seq2seq': ['padded', 'buckets=4', 'buckets=8', 'buckets=16']}[what]
        runs = {w: lambda w=w: step(model, optimizer, draw, w, precision) for w in ways}
    else:
        model.eval()
        ways = ways or ['buckets=8', 'buckets=32', 'buckets=64', 'exact']
        runs = {w: lambda w=w: embed_pass(model, draw, w, precision) for w in ways}
        if precision == 'bf16':
            half = Encoder(*map(int, size.split('/'))).eval().bfloat16()
            more = ['cast,' + w for w in ways] if len(sys.argv) == 6 else ways
            runs |= {w: lambda w=w: embed_pass(half, draw, w, precision)
                     for w in more if w.startswith('cast,')}
    tried = {}
    for way, run in runs.items():
        run()
        tried[way] = median_rate(run, TRIAL_S / len(runs)) if len(runs) > 1 else 0
    best = max(tried, key=tried.get)
    for line in sys.stdin:
        print(json.dumps({'what': what, 'size': size, 'precision': precision,
                          'threads': int(threads),
                          'tokens_per_s': median_rate(runs[best], float(line)), 'way': best,
                          'ways': tried, 'peak_mib': peak_mib(), 'imported_mib': imported,
                          'torch': torch.__version__}), flush=True)


main()
