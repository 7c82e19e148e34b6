"""Sums under commutativity and associativity to saturation, here and in egglog (PyPI), in one run: the
same rules and terms, the same final e-graph, and so a ratio that means something on any machine.
Usage: egglog_peer.py BENCH_EGRAPH WORKLOADS. EQLOOM_PEER_PYTHON names a Python that has the package
where this one has not; without it nothing is measured (exit status 77: skipped)."""
import os
import pathlib
import re
import subprocess
import sys
import time

PROGRAM = """
(datatype Term (Name String) (Add Term Term))
(rewrite (Add a b) (Add b a))
(rewrite (Add a (Add b c)) (Add (Add a b) c))
(let $root {root})
"""
RUNS = 5


def sum_of(text):
    """'a + (b + c)' as a term of the program above."""
    names = re.findall(r"\w+", text)
    term = f'(Name "{names[-1]}")'
    for name in reversed(names[:-1]):
        term = f'(Add (Name "{name}") {term})'
    return term, len(names)


def run_egglog(bindings, text):
    """Seconds to saturation (the least of some runs), and e-nodes of the end."""
    root, n = sum_of(text)
    best, nodes = float("inf"), 0
    for _ in range(RUNS if n < 9 else 1):
        graph = bindings.EGraph()
        graph.run_program(*graph.parse_program(PROGRAM.format(root=root)))
        saturate = graph.parse_program("(run-schedule (saturate (run)))")
        begin = time.process_time()
        graph.run_program(*saturate)
        best = min(best, time.process_time() - begin)
        sizes = graph.run_program(*graph.parse_program("(print-size Add)"))
        nodes = int(re.search(r"\d+", str(sizes[-1])).group()) + n
    return best, nodes


def run_eqloom(bench, workloads):
    out = subprocess.run([bench, workloads, "sums"], capture_output=True, text=True, check=True)
    rows = []
    for line in out.stdout.splitlines():
        found = re.match(r"sum \d+\s+(\d+) nodes.*best\s+([\d.]+)\)", line)
        if found:
            rows.append((float(found.group(2)), int(found.group(1))))
    return rows


def main():
    bench, workloads = sys.argv[1:3]
    try:
        import egglog.bindings as bindings
    except ImportError:
        other = os.environ.get("EQLOOM_PEER_PYTHON")
        if other and other != sys.executable:
            os.execv(other, [other, *sys.argv])
        print("egglog is not installed: nothing to compare with")
        return 77
    ours = run_eqloom(bench, workloads)
    texts = (pathlib.Path(workloads) / "ac.exprs").read_text().split("\n")
    print(f"{'terms':>5} {'e-nodes':>9} {'eqloom, s':>10} {'egglog, s':>10} {'ratio':>6}")
    for (seconds, nodes), text in zip(ours, filter(None, texts)):
        theirs, their_nodes = run_egglog(bindings, text)
        if their_nodes != nodes:
            print(f"egglog ends with {their_nodes} e-nodes, eqloom with {nodes}: not comparable")
            return 1
        print(f"{sum_of(text)[1]:>5} {nodes:>9} {seconds:>10.4f} {theirs:>10.4f} "
              f"{theirs / seconds:>6.1f}")
    return 0


sys.exit(main())
