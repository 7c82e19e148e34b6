"""Networks on images beside PyTorch's: images a second of processor time, one thread each, in turns.

    meson test -C build --benchmark images     (skipped where python3 has no torch; EQLOOM_TORCH_PYTHON names another)

With EQLOOM_CPU=avx2 both are held to AVX2.
"""
import os
import subprocess
import sys

PEER = """
import contextlib, sys, time, torch
from torch import nn
from torch.nn import functional as F
torch.set_num_threads(1)
SMALL = [(3, 3, 2, 4), (5, 5, 2, 4), (3, 3, 3, 3)]
LARGE = [(3, 3, 0, 0), (3, 3, 2, 4), (3, 5, 0, 0), (3, 5, 2, 4), (3, 3, 0, 0), (3, 3, 1, 3)]

class Network(nn.Module):
    def __init__(self, large):
        super().__init__()
        self.layers, c = (LARGE, 64) if large else (SMALL, 32)
        self.filters = nn.ModuleList(nn.Conv2d(c if i else 1, c, l[:2]) for i, l in enumerate(self.layers))
        self.linear = nn.Linear(256 if large else 160, 64)
        self.end = nn.Sequential(nn.BatchNorm1d(64, affine=False), nn.ReLU(), nn.Linear(64, 64)) if large else None

    def forward(self, x):
        for f, (_, _, h, w) in zip(self.filters, self.layers):
            x = torch.relu(f(x))
            x = F.max_pool2d(x, (h, w)) if h else x
        x = self.linear(x.flatten(1))
        x = self.end(x) if self.end else x
        return x / (x.norm(dim=1, keepdim=True) + 1e-5)

n = 3 * int(sys.argv[2])
bf16 = len(sys.argv) > 3
net = Network(sys.argv[1] == "large").to(memory_format=torch.channels_last)
adam = torch.optim.Adam(net.parameters(), lr=0.001)
x = torch.rand(n, 1, 32, 333).contiguous(memory_format=torch.channels_last)
cast = lambda: torch.autocast("cpu", dtype=torch.bfloat16) if bf16 else contextlib.nullcontext()
for i in range(3):
    net.train()
    begun = time.process_time()
    with cast():
        v = net(x).float()
        a, p, o = v.chunk(3)
        far = torch.maximum((a * o).sum(1), (p * o).sum(1))
        loss = (torch.relu(1 - (a * p).sum(1) + far) ** 2).mean()
    adam.zero_grad()
    loss.backward()
    adam.step()
    trained = time.process_time()
    net.eval()
    with torch.no_grad(), cast():
        net(x)
    rates = n / (trained - begun), n / (time.process_time() - trained)
print("%.1f %.1f" % rates)
"""


def rates(command):
    return [float(x) for x in subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()]


def main():
    python = os.environ.get("EQLOOM_TORCH_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import torch"], capture_output=True).returncode:
        print("skipped: no torch")
        sys.exit(77)
    if os.environ.get("EQLOOM_CPU") == "avx2":
        os.environ.update(ATEN_CPU_CAPABILITY="avx2", ONEDNN_MAX_CPU_ISA="AVX2")
    slower = 0
    for precision in ([], ["bf16"]):
        for network, triples in (("small", "30"), ("large", "6")):
            args = [network, triples, *precision]
            ours, theirs = [], []
            for _ in range(3):
                ours.append(rates([sys.argv[1], *args]))
                theirs.append(rates([python, "-c", PEER, *args]))
            for k, what in enumerate(("training", "embedding")):
                x, y = (sorted(r[k] for r in runs)[1] for runs in (ours, theirs))
                slower += x < y
                print(f"{network} {precision[0] if precision else 'f32'} {what}: {x:.0f} images/s, PyTorch {y:.0f}, "
                      f"{x / y:.2f} times", flush=True)
    sys.exit(slower > 0)


main()
