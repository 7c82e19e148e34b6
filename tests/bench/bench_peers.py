"""The same graph of trivial, independent tasks in eqloom, ninja, DVC and Snakemake: a first run, a run
in which nothing changed, and one in which one task's input did. Wall times of whole processes, and
ratios to eqloom's. A task copies a file; in eqloom it is an element of a map (one cluster of one
expression made a token batch). Tools that are not installed are left out; EQLOOM_PEERS names a
directory to look in first, such as a virtual environment's bin.

    EQLOOM=build/eqloom bench_peers.py [TASKS [LARGE]]

LARGE (100,000) tasks in eqloom and ninja only, and in ninja without running them: its outputs are
put there, and its rule is a generator, so that a log is not asked for."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

REPEATS = 3


def tool(name):
    path = os.pathsep.join([os.environ.get("EQLOOM_PEERS", ""), os.environ["PATH"]])
    return shutil.which(name, path=path)


def wall(command, where):
    """ms."""
    env = {**os.environ, "DVC_NO_ANALYTICS": "1", "NO_COLOR": "1"}
    start = time.monotonic()
    done = subprocess.run(command, cwd=where, env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout[-2000:]}")
    return (time.monotonic() - start) * 1e3


def age(where):
    """Nothing was written a moment ago."""
    old = time.time() - 100
    for root, _, files in os.walk(where):
        for name in files:
            if not root.count(os.sep + "."):
                os.utime(os.path.join(root, name), (old, old))


def expression(i):
    return f"+ x {i}"


class Eqloom:
    name = "eqloom"
    command = [os.path.abspath(os.environ.get("EQLOOM", "build/eqloom")), "run", "job.yaml"]

    def __init__(self, where, n):
        self.where, self.n = where, n
        self.write(range(n))
        (where / "job.yaml").write_text("""eqloom: 1
name: peers
nodes:
  clusters:   {op: import-clusters, files: [clusters.txt], format: e-gen, min_members: 1}
  vocabulary: {op: vocabulary}
  tokens:     {op: tokenize, clusters: clusters, vocabulary: vocabulary}
""")

    def write(self, numbers):
        path = self.where / "clusters.txt"
        path.write_text("".join(expression(i) + "\n\n" for i in numbers))
        os.utime(path, (time.time() - 100, time.time() - 100))

    def change(self):
        self.write([i if i != self.n // 2 else self.n for i in range(self.n)])


class Files:
    """One input file and one output file a task."""

    def __init__(self, where, n):
        self.where, self.n = where, n
        (where / "in").mkdir()
        (where / "out").mkdir()
        for i in range(n):
            (where / "in" / str(i)).write_text(expression(i))
        age(where)

    def change(self):
        (self.where / "in" / str(self.n // 2)).write_text(expression(self.n))


class Ninja(Files):
    name = "ninja"

    def __init__(self, where, n, made=False):
        super().__init__(where, n)
        rule = "rule copy\n command = cp $in $out\n" + (" generator = 1\n" if made else "")
        (where / "build.ninja").write_text(
            rule + "".join(f"build out/{i}: copy in/{i}\n" for i in range(n)))
        for i in range(n if made else 0):
            (where / "out" / str(i)).write_text(expression(i))
        self.command = [tool("ninja")]


class Dvc(Files):
    name = "dvc"

    def __init__(self, where, n):
        super().__init__(where, n)
        (where / "dvc.yaml").write_text("stages:\n" + "".join(
            f"  t{i}:\n    cmd: cp in/{i} out/{i}\n    deps: [in/{i}]\n    outs: [out/{i}]\n"
            for i in range(n)))
        self.command = [tool("dvc"), "repro", "-q"]
        wall([tool("dvc"), "init", "--no-scm", "-q"], where)


class Snakemake(Files):
    name = "snakemake"

    def __init__(self, where, n):
        super().__init__(where, n)
        (where / "Snakefile").write_text(
            f"rule all:\n    input: expand('out/{{i}}', i=range({n}))\n\n"
            "rule copy:\n    input: 'in/{i}'\n    output: 'out/{i}'\n"
            "    shell: 'cp {input} {output}'\n")
        self.command = [tool("snakemake"), "-q", "--cores", "2"]


def measure(kind, n, first, **options):
    """{what: ms}"""
    where = pathlib.Path(tempfile.mkdtemp(prefix="eqloom-peers-"))
    try:
        tested = kind(where, n, **options)
        times = {}
        if first:
            times["first"] = wall(tested.command, where)
        times["no-op"] = min(wall(tested.command, where) for _ in range(REPEATS))
        if first:
            tested.change()
            times["one changed"] = wall(tested.command, where)
        return times
    finally:
        shutil.rmtree(where, ignore_errors=True)


def report(name, n, times, ours):
    for what, ms in times.items():
        ratio = f" {ms / ours[what]:.2f} x eqloom" if what in ours else ""
        print(f"{name} {n} {what}: {ms:.1f} ms{ratio}", flush=True)


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    large = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
    ours = measure(Eqloom, n, True)
    report("eqloom", n, ours, {})
    for kind in (Ninja, Dvc, Snakemake):
        if tool(kind.name):
            report(kind.name, n, measure(kind, n, True), ours)
        else:
            print(f"{kind.name}: not installed")
    if large:
        ours = measure(Eqloom, large, True)
        report("eqloom", large, ours, {})
        if tool("ninja"):
            report("ninja", large, measure(Ninja, large, False, made=True), ours)


if __name__ == "__main__":
    main()
