"""kill -9 at random moments and at writes, then run again: it goes on, and every id is that of an
undisturbed run. EQLOOM_TEST_SEED repeats a series, EQLOOM_TEST_KILLS sets its length; long ones tell
how far they are."""
import json
import os
import random
import shutil
import signal
import subprocess
import time
import unittest

from harness import TIMEOUT_S, Moments, ProjectTest, places

SEED = int(os.environ.get("EQLOOM_TEST_SEED", time.time_ns() & 0xFFFFFFFF))
KILLS = int(os.environ.get("EQLOOM_TEST_KILLS", "20"))


class Crash(ProjectTest):
    def setUp(self):
        super().setUp()
        print(f"seed {SEED}, {KILLS} kills", flush=True)
        self.rng = random.Random(SEED)

    def strike(self, p, moments, *args):
        """True if it was killed before its end."""
        process = p.start(*args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return moments.strike(process)

    def test_killed_runs_go_on(self):
        moments = Moments(self.rng, self.p.run)
        wanted = self.p.ids()
        done = 0
        while done < KILLS:
            q = self.project()
            for _ in range(5):  # a few kills on the way through one run
                done += self.strike(q, moments, "run", "job.yaml")
            summary = q.run()
            self.assertEqual(summary["failed"], 0)
            self.assertEqual(q.ids(), wanted)
            q.eqloom("fsck")
            q.close()
            print(f"runs: {done} of {KILLS} kills", flush=True)

    def test_nothing_is_left_of_a_killed_training(self):
        """Neither when another result is taken from the cache, nor what a push had begun."""
        self.p.run()
        _, n = self.p.failing(0, "w", "run", "job.yaml", "--set", "steps=40")
        for at in places(n, max(6, KILLS // 3)):
            q = self.project()
            q.run()
            q.failing(at, "w", "run", "job.yaml", "--set", "steps=40", "--remote", "r",
                      EQLOOM_SHIM_KILL="1")
            (q.dir / ".eqloom/outgoing.pack.x1y2z3.tmp").write_text("half")
            q.run()
            self.assertEqual([r for r in q.ids() if r.endswith("/at")], [])
            self.assertEqual([f.name for f in (q.dir / ".eqloom").glob("outgoing*")], [])
            q.close()

    def whole(self):
        """A run's store, and a copy to begin with again."""
        self.p.run()
        self.wanted = self.p.ids()
        self.store, self.copy = self.p.dir / ".eqloom", self.p.dir / "whole"
        shutil.copytree(self.store, self.copy)

    def restore(self):
        shutil.rmtree(self.store, ignore_errors=True)
        if self.copy:
            shutil.copytree(self.copy, self.store)

    def sound(self):
        """Whole; a store that is being made may be without some names, or not be there yet."""
        checked = self.p.eqloom("fsck", expect=None)
        if not self.copy and checked.status == 2:
            self.assertRegex(checked.err, "there is no store|is empty")
            return
        self.assertEqual(checked.status, 0, checked.out + checked.err)
        if self.copy:
            self.assertEqual(self.p.ids(), self.wanted)
        else:
            self.assertLessEqual(self.p.ids().items(), self.wanted.items())

    def goes_on(self, *args):
        self.sound()
        self.p.eqloom(*args)
        self.p.eqloom("fsck")
        self.assertEqual(self.p.ids(), self.wanted)
        if self.copy:
            self.assertEqual(self.p.run()["nodes_ran"], 0)
            self.sound()

    def killed_at_random(self, *args):
        """Kills come in twos: the second time it begins where it was cut off."""
        moments = Moments(self.rng, lambda: self.p.eqloom(*args))
        done = 0
        while done < KILLS // 2:
            self.restore()
            for _ in range(2):
                done += self.strike(self.p, moments, *args)
                self.sound()
            self.goes_on(*args)
            print(f"{args[0]}: {done} of {KILLS // 2} kills", flush=True)

    def killed_at_writes(self, *args):
        self.restore()
        _, n = self.p.failing(0, "ws", *args)
        done = 0
        for at in places(n, KILLS // 2):
            self.restore()
            with self.subTest(command=args[0], at=at, of=n):
                made, _ = self.p.failing(at, "ws", *args, EQLOOM_SHIM_KILL="1")
                done += made.returncode == -signal.SIGKILL
                self.goes_on(*args)
        print(f"{args[0]} at writes: {done} kills", flush=True)

    def test_killed_compact_loses_nothing(self):
        self.whole()
        self.killed_at_random("compact")

    def test_compact_killed_at_a_write(self):
        self.whole()
        self.killed_at_writes("compact")

    def old_runs(self):
        """For gc to remove."""
        for seed in (11, 12, 13):
            self.p.run("--set", f"seed={seed}")
        self.whole()

    def test_killed_gc_loses_nothing(self):
        self.old_runs()
        self.killed_at_random("gc", "--keep-runs", "1")

    def test_gc_killed_at_a_write(self):
        self.old_runs()
        self.killed_at_writes("gc", "--keep-runs", "1")

    def packed(self):
        """Nothing but the pack of a run."""
        self.whole()
        self.p.eqloom("pack", "-o", "all.pack", *self.wanted)
        self.copy = None
        self.restore()

    def test_killed_unpack_goes_on(self):
        self.packed()
        self.killed_at_random("unpack", "all.pack")

    def test_unpack_killed_at_a_write(self):
        self.packed()
        self.killed_at_writes("unpack", "all.pack")

    def nodes(self, run):
        lines = self.p.eqloom("log", run, "--json").out.splitlines()
        return {n["node"]: n for n in map(json.loads, lines)}

    def test_interrupt_commits_and_exits_130(self):
        first = self.p.run("egraphs")
        process = self.hold()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=TIMEOUT_S), 130)
        cut = self.nodes("small/2")
        again = self.p.run()
        self.assertGreaterEqual(again["elements_cached"], first["elements_ran"])
        # What was done before the signal is not done again.
        now = self.nodes("small/3")
        for name, node in cut.items():
            if node["state"] == "ran" and not name.startswith("model"):
                self.assertIn(now[name]["state"], ("cached", "read"), name)
        self.p.eqloom("fsck")

    def test_second_writer_is_told_who_holds_the_store(self):
        self.p.run("egraphs")
        first = self.hold()
        second = self.p.eqloom("run", "job.yaml", expect=1)
        self.assertIn(str(first.pid), second.err)
        # Readers work meanwhile.
        self.assertIn("small/egraphs", self.p.ids())
        self.p.eqloom("show", "small/seeds")
        self.p.eqloom("status", "job.yaml")
        first.kill()
        first.wait()
        self.p.run()


if __name__ == "__main__":
    unittest.main()
