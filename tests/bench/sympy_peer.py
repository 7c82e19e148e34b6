"""True identities of handbooks (workloads/identities.tsv; variables positive): how many `eqloom explain
-` proves and how long it takes, beside SymPy's simplify of the difference. Usage: sympy_peer.py
EQLOOM FILE; SymPy gets 20 s for each."""
import json
import multiprocessing
import statistics
import subprocess
import sys
import time

SECONDS = 20


def with_sympy(pair, queue):
    import sympy as s
    names = {n: s.Symbol(n, positive=True) for n in "abcxyz"}
    names.update(ln=s.log, abs=s.Abs, d=lambda v, f: s.diff(f, v), e=s.E, **{
        n: getattr(s, n) for n in ("acosh", "asinh", "atanh", "pi")})
    start = time.perf_counter()
    a, b = (s.sympify(t.replace("^", "**"), locals=names) for t in pair)
    zero = s.simplify(a - b) == 0
    queue.put((zero, time.perf_counter() - start))


def sympy_all(pairs):
    for pair in pairs:
        queue = multiprocessing.Queue()
        worker = multiprocessing.Process(target=with_sympy, args=(pair, queue))
        worker.start()
        try:
            yield queue.get(timeout=SECONDS)
        except Exception:  # too slow
            yield False, float(SECONDS)
        worker.terminate()


def eqloom_all(binary, pairs):
    for a, b in pairs:
        start = time.perf_counter()
        done = subprocess.run([binary, "explain", "--json", "--verdict", a, b], capture_output=True, text=True)
        yield json.loads(done.stdout)["verdict"], time.perf_counter() - start


def main(binary, path):
    pairs = [tuple(line.split("\t")) for line in open(path, encoding="utf-8").read().splitlines()]
    ours, theirs = list(eqloom_all(binary, pairs)), list(sympy_all(pairs))
    for pair, (verdict, _), (zero, _) in zip(pairs, ours, theirs):
        if verdict != "proved" or not zero:
            print(f"{verdict:10} sympy {'proved' if zero else 'no':6} {pair[0]} = {pair[1]}")
    for name, proved, times in (("eqloom", sum(v == "proved" for v, _ in ours), [t for _, t in ours]),
                                ("sympy", sum(z for z, _ in theirs), [t for _, t in theirs])):
        print(f"{name}: {proved} of {len(pairs)} proved, {sum(times):.1f} s in all, median "
              f"{1000 * statistics.median(times):.0f} ms, slowest {max(times):.2f} s")


if __name__ == "__main__":
    main(*sys.argv[1:])
