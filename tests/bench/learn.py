"""Benchmark `learn`: bench_learn and PyTorch side by side, one process each after the other, as
ratios of real tokens a second and of peak memory.

    learn.py BENCH_LEARN LENGTHS [--python PYTHON] [--seconds S] [--threads 1,2] [--sizes ...]
             [--what ...] [--precisions ...] [--repeat N] [--way WAY]

PYTHON must be able to import torch (the current CPU wheel from PyPI in an environment of its own
will do; EQLOOM_TORCH_PYTHON names it as well); without it only our own figures are printed, exit
status 77 (skipped). `--repeat` measures each pair so many times, ours and theirs in turn, and
prints medians. PyTorch runs without tile units where its oneDNN crashes for want of CPUID's leaf
0x1d (virtual machines); that is said.
"""
import argparse
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


def measure(command, env, threads):
    cpus = sorted(os.sched_getaffinity(0))[:threads]
    out = subprocess.run(['taskset', '-c', ','.join(map(str, cpus))] + command, env=env,
                         stdout=subprocess.PIPE, check=True, text=True).stdout
    return json.loads(out.splitlines()[-1])


def main():
    p = argparse.ArgumentParser()
    p.add_argument('bench')
    p.add_argument('lengths')
    p.add_argument('--python', default=os.environ.get('EQLOOM_TORCH_PYTHON', sys.executable))
    p.add_argument('--seconds', default='4')
    p.add_argument('--threads', default='1,2')
    p.add_argument('--sizes', default='64/256/2,128/512/2,512/2048/6')
    p.add_argument('--what', default='train,seq2seq,embed')
    p.add_argument('--precisions', default='f32,bf16')
    p.add_argument('--repeat', type=int, default=1)
    p.add_argument('--way', help='of the peer, instead of trying all')
    a = p.parse_args()
    env = torch_environment(a.python)
    print('what    size          prec. thr. k tokens/s  of peak  peak MiB | PyTorch: k tokens/s '
          'peak MiB  way          | ratio  memory', flush=True)
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
    arguments = [what, size, precision, str(threads), a.seconds, a.lengths]
    ours, theirs, way = [], [], [a.way] if a.way else []
    for _ in range(a.repeat):
        ours.append(measure([a.bench] + arguments, environment(), threads))
        if env:
            peer = [a.python, str(HERE / 'torch_peer.py')] + arguments
            if not way:
                # The fastest way, then again alone, so that the peak is its own.
                way = [measure(peer, env, threads)['way']]
            theirs.append(measure(peer + way, env, threads))
    median = lambda rows, key: statistics.median(r[key] for r in rows)
    rate, memory = median(ours, 'tokens_per_s'), median(ours, 'peak_mib')
    share = median(ours, 'gflops') / median(ours, 'peak_gflops')
    line = (f'{what:7} {size:13} {precision:5} {threads:4} {rate / 1000:10.1f} {100 * share:7.0f}% '
            f'{memory:9.0f}')
    if theirs:
        their_rate, their_memory = median(theirs, 'tokens_per_s'), median(theirs, 'peak_mib')
        line += (f' | {their_rate / 1000:20.1f} {their_memory:9.0f} {way[0]:13} | '
                 f'{rate / their_rate:5.2f} {memory / their_memory:6.2f}')
    print(line, flush=True)


sys.exit(main())
