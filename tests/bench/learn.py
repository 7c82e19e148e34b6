"""Benchmark `learn`: bench_learn and PyTorch side by side, as ratios of real tokens a second and of
peak memory.

    learn.py BENCH_LEARN LENGTHS [--python PYTHON] [--seconds S] [--rounds N] [--threads 1,2]
             [--sizes ...] [--what ...] [--precisions ...] [--way WAY]

Each pair are two processes that are asked in turn: one measures for S seconds while the other waits
for its turn, N rounds after one that warms up. The machine's speed changes from second to second, so
the ratio is the median of the rounds' ratios, with the least and the greatest in brackets; rates are
medians of their own. With one thread both count their processor time, with more the clock.

PYTHON must be able to import torch (the current CPU wheel from PyPI in an environment of its own
will do; EQLOOM_TORCH_PYTHON names it as well); without it only our own figures are printed, exit
status 77 (skipped). PyTorch runs without tile units where its oneDNN crashes for want of CPUID's leaf
0x1d (virtual machines); that is said. Without --way its fastest way to make batches of the sequences
is found first.
"""
import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
SKIPPED = 77
PROBE = '''
import torch
a = torch.ones(64, 64)
with torch.autocast('cpu', torch.bfloat16):
    assert (a @ a).dtype == torch.bfloat16
'''


def environment(**more):
    env = {k: v for k, v in os.environ.items() if not k.startswith('OPENBLAS_')}
    return env | more


def torch_environment(python):
    """None where torch is not importable; else with what keeps its bf16 from crashing."""
    run = lambda code, env: subprocess.run([python, '-c', code], env=env, capture_output=True)
    if run('import torch', environment()).returncode:
        return None
    if run(PROBE, environment()).returncode == 0:
        return environment()
    print('# PyTorch crashes with tile units here: it runs with ONEDNN_MAX_CPU_ISA='
          'AVX512_CORE_FP16')
    return environment(ONEDNN_MAX_CPU_ISA='AVX512_CORE_FP16')


class Program:
    """One of a pair, which works while it is asked to."""

    def __init__(self, command, env, threads):
        cpus = sorted(os.sched_getaffinity(0))[:threads]
        self.process = subprocess.Popen(['taskset', '-c', ','.join(map(str, cpus))] + command,
                                        env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def measure(self, seconds):
        print(seconds, file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())


def main():
    p = argparse.ArgumentParser()
    p.add_argument('bench')
    p.add_argument('lengths')
    p.add_argument('--python', default=os.environ.get('EQLOOM_TORCH_PYTHON', sys.executable))
    p.add_argument('--seconds', type=float, default=0.5)
    p.add_argument('--threads', default='1,2')
    p.add_argument('--sizes', default='64/256/2,128/512/2,512/2048/6')
    p.add_argument('--what', default='train,seq2seq,embed')
    p.add_argument('--precisions', default='f32,bf16')
    p.add_argument('--rounds', type=int, default=9)
    p.add_argument('--way', help='of the peer, instead of trying all')
    a = p.parse_args()
    env = torch_environment(a.python)
    print('what    size          prec. thr. k tokens/s  of peak  peak MiB | PyTorch: k tokens/s '
          'peak MiB  way          | ratio               memory', flush=True)
    for size in a.sizes.split(','):
        for what in a.what.split(','):
            for precision in a.precisions.split(','):
                for threads in map(int, a.threads.split(',')):
                    row(a, env, what, size, precision, threads)
    if not env:
        print('skipped the peer: no torch in', a.python)
        return SKIPPED
    return 0


def row(a, env, what, size, precision, threads):
    arguments = [what, size, precision, str(threads), a.lengths]
    peer = [a.python, str(HERE / 'torch_peer.py')] + arguments
    way = a.way
    if env and not way: # the fastest, then again alone, so that the peak of memory is its own
        with Program(peer, env, threads) as trial:
            way = trial.measure(0)['way']
    ours, theirs = [], []
    with contextlib.ExitStack() as both:
        pair = [(ours, both.enter_context(Program([a.bench] + arguments, environment(), threads)))]
        if env:
            pair.append((theirs, both.enter_context(Program(peer + [way], env, threads))))
        for _ in range(1 + a.rounds):
            for results, program in pair:
                results.append(program.measure(a.seconds))
    rates = lambda rows: [r['tokens_per_s'] for r in rows[1:]]
    rate, memory = statistics.median(rates(ours)), ours[-1]['peak_mib']
    share = statistics.median(r['gflops'] / r['peak_gflops'] for r in ours[1:])
    line = (f'{what:7} {size:13} {precision:5} {threads:4} {rate / 1000:10.1f} {100 * share:7.0f}% '
            f'{memory:9.0f}')
    if theirs:
        ratios = sorted(x / y for x, y in zip(rates(ours), rates(theirs)))
        line += (f' | {statistics.median(rates(theirs)) / 1000:20.1f} {theirs[-1]["peak_mib"]:9.0f} '
                 f'{way:13} | {statistics.median(ratios):5.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}) '
                 f'{memory / theirs[-1]["peak_mib"]:6.2f}')
    print(line, flush=True)


sys.exit(main())
