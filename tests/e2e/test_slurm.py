"""Runs on Slurm: a real slurmctld and four slurmd on this machine (slurm_cluster.py). The results are
those of a run here, whoever is killed: workers, slurmd, slurmctld, the master.

EQLOOM_TEST_KILLS says how often. EQLOOM_TEST_JOB="e-gen.yaml train-tokens --set seeds=1000" has kills
while that job of jobs/ runs, in blocks of EQLOOM_TEST_BLOCK."""
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import time
import unittest

from harness import BINARY, DATA, Project, TIMEOUT_S
from slurm_cluster import Cluster, missing

KILLS = int(os.environ.get("EQLOOM_TEST_KILLS", "6"))
SEED = int(os.environ.get("EQLOOM_TEST_SEED", random.SystemRandom().randrange(1 << 32)))
BLOCK = int(os.environ.get("EQLOOM_TEST_BLOCK", "8"))
JOB, *ARGUMENTS = os.environ.get("EQLOOM_TEST_JOB", "job.yaml").split()
JOBS = DATA if JOB == "job.yaml" else pathlib.Path(__file__).parents[2] / "jobs"
SLOW_S = 0.4  # that a worker takes at least: kills come in between
PAUSE_S = 2 * SLOW_S if JOBS == DATA else 10  # between kills, at most
KILLED_S = TIMEOUT_S if JOBS == DATA else 4 * TIMEOUT_S

# Notes what workers did; SLOW has it wait, as a larger block would.
WORKER = """#!/bin/sh
log={log}/$SLURM_JOB_ID
echo "start $*" >>$log
sleep ${{SLOW:-0}}
{eqloom} "$@" 2>$log.err
status=$?
cat $log.err >&2
echo "end $status" >>$log
exit $status
"""


class Site(Project):
    """A project with a profile, and notes of what its workers did."""

    def __init__(self, data=DATA, **profile):
        super().__init__(data)
        self.log = self.dir / "log"
        self.log.mkdir()
        worker = self.dir / "worker"
        worker.write_text(WORKER.format(log=self.log, eqloom=os.path.abspath(BINARY)))
        worker.chmod(0o755)
        values = {"poll": 0.2, "block": BLOCK, "program": worker, "memory": "400M"} | profile
        self.write("slurm.yaml", "".join(f"{k}: {v}\n" for k, v in values.items()))

    def go(self, *args, expect=0):
        return self.eqloom("run", "job.yaml", "--on", "slurm", *args, expect=expect)

    def notes(self):
        return [path.read_text() for path in sorted(self.log.iterdir())]

    def ran(self):
        """Elements and segments that workers say they ran, by node."""
        found = {}
        for node, n in re.findall(r"^(\S+): (\d+) of \d+ ran, ", "\n".join(self.notes()), re.M):
            found[node] = found.get(node, 0) + int(n)
        return found


class OnSlurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.addClassCleanup(cls.cluster.close)
        os.environ.update(cls.cluster.env)
        cls.here = Project()
        cls.addClassCleanup(cls.here.close)
        cls.summary = cls.here.run()

    def site(self, *data, **profile):
        site = Site(*data, **profile)
        self.addCleanup(site.close)
        return site

    def jobs(self):
        """Those that are not over."""
        return self.cluster.ask("squeue", "-h", "-r", "-o", "%i|%T|%j").split()

    def wait_for(self, what, said):
        end = time.monotonic() + TIMEOUT_S
        while not what():
            self.assertLess(time.monotonic(), end, said)
            time.sleep(0.05)

    def start(self, p, *args):
        return p.start("run", *(args or ["job.yaml"]), "--on", "slurm", stdout=subprocess.DEVNULL,
                       stderr=subprocess.PIPE)

    def all_elements(self, p, *args):
        return {e["node"]: e["elements"] for e in
                p.eqloom("run", *(args or ["job.yaml"]), "--json").events()
                if e["event"] == "node_done" and e["elements"]}


class Spool(unittest.TestCase):
    """The folder that Slurm's jobs share is ours alone. Here sbatch and squeue are programs that take all
    and know nothing."""
    def setUp(self):
        self.site = Site(spool="place")
        self.addCleanup(self.site.close)
        for name in ("sbatch", "squeue", "scancel"):
            (self.site.dir / name).write_text(f"#!/bin/sh\necho \"$@\" >>{self.site.log}/{name}\n"
                                              f"test {name} = sbatch && exit 1\nexit 0\n")
            (self.site.dir / name).chmod(0o755)
        was = self.site.environment
        self.site.environment = lambda: was() | {
            "PATH": f"{self.site.dir}:{os.environ['PATH']}"}
        self.site.go(expect=1)
        self.spool, = (self.site.dir / "place").iterdir()
        self.assertEqual(self.spool.stat().st_mode & 0o777, 0o700)

    def refused(self, said):
        (self.site.log / "sbatch").unlink(missing_ok=True)
        self.assertIn(f"{self.spool.name}, the folder for files of Slurm's jobs, {said}",
                      self.site.go(expect=2).err)
        self.assertFalse((self.site.log / "sbatch").exists())

    def test_of_others(self):
        for mode in (0o777, 0o770, 0o702, 0o1777):
            self.spool.chmod(mode)
            self.refused("can be written by others")
        self.spool.chmod(0o755)
        self.site.go(expect=1)
        if os.geteuid() == 0:
            os.chown(self.spool, 12345, 12345)
            self.refused("belongs to another user")
        shutil.rmtree(self.spool)
        self.spool.write_text("")
        self.refused("is not a folder")
        self.spool.unlink()
        (self.site.dir / "elsewhere").mkdir()
        self.spool.symlink_to("../elsewhere")
        self.refused("is not a folder")
        self.assertEqual(os.listdir(self.site.dir / "elsewhere"), [])

    def test_links_and_pipes_in_it(self):
        precious = self.site.dir / "precious"
        precious.write_text("mine")
        worker = self.spool / "worker.sh"
        worker.unlink()
        worker.symlink_to(precious)
        self.assertIn("worker.sh: it is a link", self.site.go(expect=2).err)
        worker.unlink()
        packs = [*self.spool.rglob("*.in"), *self.spool.rglob("*.pack")]
        self.assertGreater(len(packs), 2)
        for i, path in enumerate(packs):
            results = path.with_suffix(".pack")  # of a worker
            results.unlink(missing_ok=True)
            os.mkfifo(results) if i % 2 else results.symlink_to(precious)
        self.site.go(expect=1)
        self.assertEqual(precious.read_text(), "mine")


@unittest.skipIf(missing(), missing())
class Slurm(OnSlurm):
    def test_same_as_here(self):
        p = self.site()
        made = p.go("--json")
        self.assertEqual(p.ids(), self.here.ids())
        for key in ("elements", "elements_ran", "nodes_ran"):
            self.assertEqual(made.summary()[key], self.summary[key], key)
        # Workers ran each element of maps, and each segment of chains, once.
        done = {e["node"]: e["ran"] for e in made.events()
                if e["event"] == "node_done" and e["elements"]}
        self.assertEqual(p.ran(), done)
        self.assertFalse((p.dir / ".eqloom" / "slurm").exists())
        p.eqloom("fsck")
        self.assertEqual(p.go("--json").summary()["nodes_ran"], 0)

    def test_edits(self):
        """Witnesses come along: what an edit does not touch is not sent. (Workers do not recall.)"""
        p, q = self.site(), Project()
        self.addCleanup(q.close)
        p.go()
        q.run()
        before, costs = p.ran(), []
        for project, on in ((p, "slurm"), (q, "here")):
            project.edit("rules/algebra.rules", "<->", "->")
            summary = project.run("--on", on)
            costs.append({k: v for k, v in summary.items() if k.startswith("elements")})
        self.assertEqual(p.ids(), q.ids())
        self.assertEqual(costs[0]["elements"], costs[1]["elements"])
        self.assertEqual(costs[0]["elements_cached"], costs[1]["elements_cached"])
        self.assertGreater(costs[0]["elements_reused"], 0)
        after = p.ran()
        self.assertEqual(sum(after.values()) - sum(before.values()), costs[0]["elements_ran"])

    def test_the_job_says_it(self):
        p = self.site()
        p.edit("job.yaml", "params:", "executor: slurm\nparams:")
        p.edit("job.yaml", "op: certify,", "op: certify, executor: here,")
        p.edit("job.yaml", "op: merge,",
               "op: merge, executor: slurm, resources: {cpus: 1, memory: 500M, time: '5:00'},")
        p.run("model@pooling=mean")
        nodes = set(re.findall(r"^start .* (\S+) --folder", "\n".join(p.notes()), re.M))
        self.assertEqual(nodes, {"egraphs", "clusters", "merged", "train-tokens",
                                 "model@pooling=mean"})
        for ref, digest in p.ids().items():
            self.assertEqual(self.here.ids()[ref], digest, ref)
        p.edit("job.yaml", "executor: here", "executor: there")
        said = p.eqloom("run", "job.yaml", expect=2).err
        self.assertIn("'executor' must be slurm or here, not 'there'", said)

    def test_failures_are_those_of_a_run_here(self):
        p, q = self.site(), Project()
        self.addCleanup(q.close)
        said = []
        for project, on in ((p, "slurm"), (q, "here")):
            project.edit("job.yaml", "max_nodes: 500", "max_nodes: 100000")
            project.edit("job.yaml", "steps: ${steps}", "steps: ${steps}\n    lr: 1e30")
            made = project.eqloom("run", "job.yaml", "--on", on, expect=None)
            said.append((made.status, sorted(set(re.findall(r"FAILED (.*)", made.err)))))
        self.assertEqual(said[0], said[1])

    def test_a_worker_that_always_dies(self):
        p = self.site(attempts=2, program="/bin/false")
        said = p.go(expect=1).err
        self.assertRegex(said, r"certified: job \d+_\d+ ended as FAILED \(NonZeroExitCode\), "
                               "submitted again")
        self.assertRegex(said, r"FAILED certified: a block was submitted to Slurm 2 times, last as job "
                               r"\d+_\d+, which ended as FAILED \(NonZeroExitCode\); its log ends with: ")
        self.wait_for(lambda: not self.jobs(), "jobs are left")

    def test_a_damaged_pack(self):
        """The first worker leaves a file that is none."""
        p = self.site()
        worker = (p.dir / "worker").read_text()
        p.write("worker", worker.replace("#!/bin/sh\n", f"""#!/bin/sh
if mkdir {p.dir}/once 2>/dev/null; then
    while [ "$1" != --folder ]; do shift; done
    key=$(sed -n "$((SLURM_ARRAY_TASK_ID + 1))p" "$2/$4.list")
    echo nothing >"$2/$key.part" && mv "$2/$key.part" "$2/$key.pack"
    exit 0
fi
"""))
        said = p.go().err
        self.assertIn(".pack is not a pack of eqloom", said)
        self.assertRegex(said, r"job \d+_\d+ ended as COMPLETED, submitted again")
        self.assertEqual(p.ids(), self.here.ids())
        p.eqloom("fsck")

    def test_what_slurm_takes_for_running(self):
        """As a slurmctld does that was killed before it had saved that a job is over."""
        p = self.site()
        worker = (p.dir / "worker").read_text()
        p.write("worker", worker.replace("#!/bin/sh\n", f"""#!/bin/sh
if mkdir {p.dir}/once 2>/dev/null; then
    echo "${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID" >{p.dir}/ghost
    exit 1
fi
"""))
        tools = p.dir / "tools"
        tools.mkdir()
        for name, line in (("squeue", '{real} "$@" | sed "s/^\\($(cat {dir}/ghost)|\\)[A-Z]*|/\\1RUNNING|/"'),
                           ("scancel", 'mv {dir}/ghost {dir}/cancelled; {real} "$@"')):
            line = line.format(real=shutil.which(name), dir=p.dir)
            (tools / name).write_text(f"#!/bin/sh\n{line}\n")
            (tools / name).chmod(0o755)
        path = os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        os.environ["PATH"] = f"{tools}:{path}"
        said = p.go().err
        ghost = (p.dir / "cancelled").read_text().strip()
        self.assertIn(f"job {ghost} has ended, but Slurm lists it as running: cancelled", said)
        self.assertRegex(said, f"job {ghost} ended as FAILED .*, submitted again")
        self.assertEqual(p.ids(), self.here.ids())

    def test_what_slurm_refuses(self):
        p = self.site(attempts=2, partition="nowhere")
        self.assertIn("invalid partition specified: nowhere", p.go(expect=1).err)
        p.write("slurm.yaml", "blocks: 3\n")
        self.assertIn("unknown key 'blocks' in a profile of Slurm",
                      p.go(expect=2).err)

    def test_a_worker_with_another_job_file(self):
        p = self.site(attempts=1)
        worker = (p.dir / "worker").read_text()
        p.write("worker", worker.replace('"$@"', '"$@" --set certified.points=9', 1)
                .replace('"$@" 2>', '"$@" --set certified.points=9 2>'))
        self.assertIn("this worker would compute a different key", p.go(expect=1).err)

    def test_ctrl_c_cancels(self):
        p = self.site()
        os.environ["SLOW"] = "30"
        self.addCleanup(os.environ.pop, "SLOW", None)
        master = self.start(p)
        self.addCleanup(master.stderr.close)
        self.wait_for(self.jobs, "nothing is submitted")
        self.wait_for(lambda: "start" in "".join(p.notes()), "nothing runs")
        master.send_signal(signal.SIGINT)
        self.assertEqual(master.wait(timeout=TIMEOUT_S), 130)
        self.wait_for(lambda: not self.jobs(), "jobs are left")
        del os.environ["SLOW"]
        p.go()
        self.assertEqual(p.ids(), self.here.ids())

    def test_the_master_comes_back(self):
        """It finds what it had sent, and what ended meanwhile."""
        p = self.site()
        os.environ["SLOW"] = "2"
        self.addCleanup(os.environ.pop, "SLOW", None)
        master = self.start(p)
        self.wait_for(lambda: len(p.notes()) >= 4, "nothing runs")
        master.kill()
        master.communicate()
        os.environ["SLOW"] = "0"
        p.go()
        self.assertEqual(p.ids(), self.here.ids())
        self.assertEqual(p.ran(), {node: n for node, n in self.all_elements(p).items()})


@unittest.skipIf(missing(), missing())
class Kills(OnSlurm):
    """A cluster of their own: a slurmctld that was killed may take jobs of runs that are over for
    running, and gives their numbers once more."""

    def kill_worker(self, p, rng):
        pids = self.cluster.workers()
        if pids:
            try:
                os.kill(rng.choice(pids), signal.SIGKILL)
            except OSError:
                return False
        return bool(pids)

    def kill_slurmd(self, p, rng):
        name = rng.choice(self.cluster.nodes)
        self.cluster.kill_node(name)
        if rng.random() < 0.5:
            self.kill_worker(p, rng)
        time.sleep(rng.uniform(0, 0.5))
        self.cluster.start_node(name)
        return True

    def kill_slurmctld(self, p, rng):
        self.cluster.kill_controller()
        time.sleep(rng.uniform(0, 1))
        self.cluster.start_controller()
        return True

    def kill_master(self, p, rng):
        self.master.kill()
        self.master.communicate()
        self.master = None
        return True

    def test_kills(self):
        """Nothing is lost, and nothing is computed twice but what was in flight."""
        kills = {"worker": self.kill_worker, "slurmd": self.kill_slurmd,
                 "slurmctld": self.kill_slurmctld, "master": self.kill_master}
        rng, p, struck = random.Random(SEED), None, dict.fromkeys(kills, 0)
        here = self.here
        if JOBS != DATA:
            here = Project(JOBS)
            self.addCleanup(here.close)
            here.eqloom("run", JOB, *ARGUMENTS)
        os.environ["SLOW"] = str(SLOW_S)
        self.addCleanup(os.environ.pop, "SLOW", None)
        self.master = None
        masters = rounds = twice = strikes = 0
        while sum(struck.values()) < KILLS:
            if p is None:
                p, rounds = self.site(JOBS, attempts=50), rounds + 1
            if self.master is None:
                self.master = self.start(p, JOB, *ARGUMENTS)
                masters += 1
            time.sleep(rng.uniform(0.05, PAUSE_S))
            if self.master.poll() is not None:  # it is done before it could be struck
                twice += self.check_done(p, here, strikes)
                p, self.master, strikes = None, None, 0
                continue
            which = rng.choice(list(kills))
            hit = kills[which](p, rng)
            struck[which] += hit
            strikes += hit
            self.cluster.resume()
        if p is not None:
            self.master = self.master or self.start(p, JOB, *ARGUMENTS)
            twice += self.check_done(p, here, strikes)
        print(f"seed {SEED}: {struck}, {rounds} runs, {masters} masters, "
              f"{twice} elements of blocks in flight ran twice", flush=True)

    def stuck(self, p):
        """What can be seen of a run that does not end."""
        self.master.kill()
        said = self.master.communicate()[1]
        return "\n".join((said[-3000:], self.cluster.ask("squeue"), self.cluster.ask("sinfo", "-N", "-l"),
                          "\n".join(p.notes()[-5:])))

    def check_done(self, p, here, strikes):
        end = time.monotonic() + KILLED_S
        while True:
            try:
                said = self.master.communicate(timeout=5)[1]
                break
            except subprocess.TimeoutExpired:
                if time.monotonic() > end:
                    self.fail(f"seed {SEED}: {self.stuck(p)}")
                self.cluster.resume()
        self.assertEqual(self.master.returncode, 0, f"seed {SEED}: {said[-3000:]}")
        self.assertEqual(p.ids(), here.ids(), f"seed {SEED}")
        p.eqloom("fsck")
        # Whoever is killed is in flight until nobody can see a process of his any more.
        ran, twice = p.ran(), 0
        for node, elements in self.all_elements(p, JOB, *ARGUMENTS).items():
            twice += max(0, ran.get(node, 0) - elements)  # who is killed may not have said it
        self.assertLessEqual(twice, BLOCK * strikes, f"seed {SEED}: {ran}")
        return twice


if __name__ == "__main__":
    unittest.main(verbosity=2)
