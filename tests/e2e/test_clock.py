"""The clock is set back and forth by years, between runs and while one works: ids stay, nothing is
done twice, log keeps the runs in their order, gc the newest ones, and locks hold.
EQLOOM_SHIM_TIME names the library that bends time."""
import os
import random
import signal
import subprocess
import unittest

from harness import BINARY, TIMEOUT_S, ProjectTest

SHIM = os.environ.get("EQLOOM_SHIM_TIME", "build/tests/e2e/libshim_time.so")
YEAR = 365 * 86400
OFFSETS = (20 * YEAR, -20 * YEAR, 0, 150 * YEAR, -50 * YEAR, 3, -3, 0)  # RocksDB knows no time before 1970


class Clock(ProjectTest):
    def setUp(self):
        super().setUp()
        self.p.run()
        self.wanted = self.p.ids()

    def bent(self, p, offset, *args, jump=0, at=0):
        env = {"LD_PRELOAD": os.path.abspath(SHIM), "EQLOOM_SHIM_OFFSET": str(offset),
               "EQLOOM_SHIM_JUMP": str(jump), "EQLOOM_SHIM_JUMP_AT": str(at),
               "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}
        made = subprocess.run([os.path.abspath(BINARY), *args], cwd=p.dir, text=True,
                              env=p.environment() | env, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=TIMEOUT_S, check=False)
        self.assertEqual(made.returncode, 0, made.stdout + made.stderr)
        return made

    def runs(self, p):
        return [r["run"] for r in p.eqloom("log", "--json").events()]

    def test_between_runs(self):
        q = self.project()
        for i, offset in enumerate(OFFSETS):
            self.bent(q, offset, "run", "job.yaml", "--set", f"seed={70 + i}")
        self.bent(q, -30 * YEAR, "run", "job.yaml")
        self.assertEqual(q.ids(), self.wanted)
        n = len(OFFSETS) + 1
        self.assertEqual(self.runs(q), [f"small/{i:06}" for i in range(n, 0, -1)])
        # What is known is not made again, whatever the time.
        for offset in (40 * YEAR, -40 * YEAR):
            self.assertEqual(self.bent(q, offset, "run", "job.yaml").stderr.count(" ran,"), 1)
        for command in (["log", "small/2"], ["status", "job.yaml"], ["query", "cluster"],
                        ["why", "small/clusters"], ["diff", "small/3", "small/4"]):
            text = q.eqloom(*command, expect=None)
            self.assertIn(text.status, (0, 3), text.err)
        q.eqloom("fsck")

    def test_gc_keeps_the_newest_by_number(self):
        q = self.project()
        for i, offset in enumerate((0, 25 * YEAR, -25 * YEAR)):
            self.bent(q, offset, "run", "job.yaml", "--set", f"seed={90 + i}")
            kept = set(q.ids().values())
        self.bent(q, 9 * YEAR, "gc", "--keep-runs", "1")
        q.eqloom("fsck")
        again = self.bent(q, -9 * YEAR, "run", "job.yaml", "--set", "seed=92")
        self.assertIn("0 ran", again.stderr)
        self.assertEqual(set(q.ids().values()), kept)

    def test_a_source_of_the_future(self):
        """Edited in place, of the same size and time: its ctime tells."""
        q = self.project()
        path, future = q.dir / "templates/small.yaml", 4e9
        os.utime(path, (future, future))
        self.bent(q, 60, "run", "job.yaml", "seeds")
        self.assertIn("nothing ran", self.bent(q, 60, "run", "job.yaml", "seeds").stderr)
        text = path.read_text()
        at = text.index("2")
        with open(path, "r+", encoding="utf-8") as f:
            f.write(text[:at] + "3")
        os.utime(path, (future, future))
        self.assertIn("seeds: ran", self.bent(q, 60, "run", "job.yaml", "seeds").stderr)

    def test_while_running(self):
        rng = random.Random(4)
        for jump in (30 * YEAR, -30 * YEAR, 2, -2):
            for at in (3, 20, 90, rng.randrange(200)):
                with self.subTest(jump=jump, at=at):
                    q = self.project()
                    self.bent(q, 0, "run", "job.yaml", jump=jump, at=at)
                    self.assertEqual(q.ids(), self.wanted)
                    self.assertRegex(q.eqloom("log").out, r"small/000001 .* done")
                    self.assertEqual(q.run()["nodes_ran"], 0)
                    q.close()

    def test_locks(self):
        holder = self.hold()
        for offset in (50 * YEAR, -50 * YEAR):
            env = {"LD_PRELOAD": os.path.abspath(SHIM), "EQLOOM_SHIM_OFFSET": str(offset),
                   "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}
            second = subprocess.run([os.path.abspath(BINARY), "run", "job.yaml", "--wait=1"],
                                    cwd=self.p.dir, env=self.p.environment() | env, text=True,
                                    stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S,
                                    check=False)
            self.assertEqual(second.returncode, 1)
            self.assertIn(f"held by pid {holder.pid}", second.stderr)
        self.assertIn("running", self.p.eqloom("log").out)
        holder.send_signal(signal.SIGINT)
        holder.wait(timeout=TIMEOUT_S)
        self.assertEqual(self.p.run()["failed"], 0)
        self.assertLessEqual(self.wanted.items(), self.p.ids().items())


if __name__ == "__main__":
    unittest.main()
