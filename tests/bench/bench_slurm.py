"""A corpus on four Slurm nodes of this machine (tests/e2e/slurm_cluster.py) beside a run here: whether
the ids are the same, and what it costs by element and by block. Processor time, which a busy machine
changes little: of the run here, of the workers, and of the master, each less that of a run that finds
everything done. Node by node, each in runs of its own.

    EQLOOM=build/eqloom bench_slurm.py [JOB NODE...]

By default jobs/e-gen.yaml up to the token batches. Ends with what the records take in the store."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
from slurm_cluster import Cluster, missing  # noqa: E402

BINARY = os.path.abspath(os.environ.get("EQLOOM", "build/eqloom"))
WORKER = """#!/bin/sh
{eqloom} "$@"
status=$?
times >{log}/$SLURM_JOB_ID
exit $status
"""


def seconds(text):
    minutes, rest = text.rstrip("s").split("m")
    return 60 * float(minutes) + float(rest)


class Side:
    def __init__(self, where, job, on):
        self.dir, self.job, self.on = where, job, on
        shutil.copytree(ROOT / "jobs", where / "jobs")
        self.log = where / "log"
        self.log.mkdir()
        worker = where / "worker"
        worker.write_text(WORKER.format(eqloom=BINARY, log=self.log))
        worker.chmod(0o755)
        (where / "jobs" / "slurm.yaml").write_text(f"poll: 1\nmemory: 1500M\nprogram: {worker}\n")

    def run(self, node):
        """Processor seconds of the process, wall seconds, and the node's event."""
        started = time.monotonic()
        out = open(self.dir / "out.json", "w+b")
        process = subprocess.Popen([BINARY, "--store", "store", "run", f"jobs/{self.job}", node,
                                    "--json", "--on", self.on], cwd=self.dir, stdout=out)
        _, status, used = os.wait4(process.pid, 0)
        if status:
            sys.exit(f"{self.on}: {node}: {status}")
        wall = time.monotonic() - started
        out.seek(0)
        events = [json.loads(line) for line in out.read().splitlines()]
        done = {e["node"]: e for e in events if e["event"] == "node_done"}
        return used.ru_utime + used.ru_stime, wall, done[node]

    def workers(self):
        """Blocks, and processor seconds of the workers so far."""
        files = list(self.log.iterdir())
        return len(files), sum(seconds(word) for f in files
                               for word in f.read_text().splitlines()[1].split())

    def ask(self, *words):
        return subprocess.run([BINARY, "--store", "store", *words], cwd=self.dir, check=True,
                              capture_output=True, text=True).stdout


def main():
    job = sys.argv[1] if sys.argv[1:] else "e-gen.yaml"
    nodes = sys.argv[2:] or ["certified", "egraphs", "clusters", "merged", "train-tokens"]
    if missing():
        sys.exit(missing())
    cluster = Cluster()
    os.environ.update(cluster.env)
    where = pathlib.Path(tempfile.mkdtemp(prefix="eqloom-bench-slurm-"))
    try:
        here, there = Side(where / "here", job, "here"), Side(where / "there", job, "slurm")
        print("times in ms of processor time\n| node | elements | blocks | here, element | workers, "
              "element | master, element | workers more, block | wall here | wall Slurm |\n" + "|---" * 9 + "|")
        for node in nodes:
            before, used_before = there.workers()
            own, wall, event = here.run(node)
            own_idle = here.run(node)[0]
            master, wall_there, event_there = there.run(node)
            idle = there.run(node)[0]
            blocks, used = there.workers()
            n, blocks, used = event["elements"], blocks - before, used - used_before
            if not blocks:
                print(f"| {node} (a task) | | | {1e3 * (own - own_idle):.0f} in all | | | | {wall:.0f} s | "
                      f"{wall_there:.0f} s |", flush=True)
                continue
            assert event["ran"] == event_there["ran"] == n, (event, event_there)
            print(f"| {node} | {n} | {blocks} | {1e3 * (own - own_idle) / n:.3f} | {1e3 * used / n:.3f} | "
                  f"{1e3 * (master - idle) / n:.3f} | {1e3 * (used - own + own_idle) / blocks:.0f} | "
                  f"{wall:.0f} s | {wall_there:.0f} s |", flush=True)
        same = here.ask("ls", "--json") == there.ask("ls", "--json")
        print("ids:", "the same" if same else "DIFFERENT")
        print(there.ask("stats"))
        there.ask("fsck")
    finally:
        cluster.close()
        shutil.rmtree(where, ignore_errors=True)
    return not same


if __name__ == "__main__":
    sys.exit(main())
