"""Runs end with making records dense (here --tidy makes them do it, however short they are): killed,
interrupted or out of space meanwhile, nothing is lost, and the next run goes on. EQLOOM_TEST_SEED
repeats a series, EQLOOM_TEST_KILLS sets its length."""
import os
import random
import shutil
import signal
import subprocess
import time
import unittest

from harness import Moments, Project, places

SEED = int(os.environ.get("EQLOOM_TEST_SEED", time.time_ns() & 0xFFFFFFFF))
KILLS = int(os.environ.get("EQLOOM_TEST_KILLS", "12"))
TEMPLATES = """templates: 1
sets:
  a: [2..9]
  b: [11..40]
  f: [sin, cos, tan, sec]
groups:
  more:
    templates: ["{a}*({f}(x) + {b})", "({f}(x) + {b})^2 - {a}*x"]
    take: 250
"""
JOB = ("run", "job.yaml", "train-tokens", "test-tokens")
DENSE_KINDS = ("cluster", "token-batch", "egraph")


class Tidy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """A store whose records are all as they were put; dense ones take a second of work."""
        cls.p = Project()
        cls.addClassCleanup(cls.p.close)
        cls.p.write("templates/more.yaml", TEMPLATES)
        cls.p.eqloom(*JOB, "--tidy", "0")
        cls.ids = cls.p.ids()
        cls.store, cls.whole = cls.p.dir / ".eqloom", cls.p.dir / "whole"
        shutil.copytree(cls.store, cls.whole)
        cls.moments = Moments(random.Random(SEED), lambda: cls.p.eqloom(*JOB, "--tidy", "600"))
        cls.dense = cls.stats()
        print(f"seed {SEED}, {KILLS} kills", flush=True)

    @classmethod
    def stats(cls):
        """How many records of each kind there are, and how many of these are dense."""
        kinds = {x["kind"]: x for x in cls.p.eqloom("stats", "--json").events() if "kind" in x}
        return {k: (kinds[k]["records"], kinds[k]["dense"]) for k in DENSE_KINDS}

    def restore(self):
        shutil.rmtree(self.store)
        shutil.copytree(self.whole, self.store)

    def sound(self):
        self.p.eqloom("fsck")
        self.assertEqual(self.p.ids(), self.ids)

    def goes_on(self):
        made = self.p.eqloom(*JOB, "--tidy", "600", "--json")
        self.assertEqual(made.summary()["elements_ran"], 0)
        self.assertEqual(self.stats(), self.dense)
        self.sound()

    def signalled(self, number):
        with open(self.p.dir / "said", "w+", encoding="utf-8") as said:
            process = self.p.start(*JOB, "--tidy", "600", stdout=subprocess.DEVNULL, stderr=said)
            self.moments.strike(process, number)
            said.seek(0)
            return process.returncode, said.read()

    def test_what_is_to_become_dense(self):
        self.restore()
        self.assertEqual([n for _, n in self.stats().values()], [0, 0, 0])
        for kind, (records, dense) in self.dense.items():
            self.assertGreater(records, 250, kind)
            self.assertEqual(dense, records, kind)

    def test_killed(self):
        for done in range(0, KILLS, 2):
            self.restore()
            for _ in range(2):  # the second begins where the first was cut off
                self.signalled(signal.SIGKILL)
                self.sound()
            self.goes_on()
            print(f"tidy: {done + 2} of {KILLS} kills", flush=True)

    def test_killed_at_a_write(self):
        self.restore()
        _, n = self.p.failing(0, "w", *JOB, "--tidy", "600")
        partly = 0
        for at in places(n, KILLS // 2):
            self.restore()
            with self.subTest(at=at, of=n):
                self.p.failing(at, "w", *JOB, "--tidy", "600", EQLOOM_SHIM_KILL="1")
                self.sound()
                partly += 0 < sum(dense for _, dense in self.stats().values())
                self.goes_on()
        self.assertGreater(partly, 0)

    def test_interrupted(self):
        """The run was done: it may only be told to leave it at that."""
        for _ in range(KILLS // 3):
            self.restore()
            status, said = self.signalled(signal.SIGINT)
            self.assertIn(status, (0, 130, -signal.SIGINT), said)
            self.sound()
            self.goes_on()

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("mount"), "needs root for a tmpfs")
    def test_full_disk(self):
        shutil.rmtree(self.store)
        self.store.mkdir()
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100m", "tmpfs", self.store],
                              capture_output=True, text=True, check=False)
        if made.returncode:
            shutil.copytree(self.whole, self.store, dirs_exist_ok=True)
            self.skipTest(f"cannot mount a tmpfs: {made.stderr.strip()}")
        try:
            stopped = 0
            for spare in (10, 40, 80, 300):
                for item in self.store.iterdir():
                    shutil.rmtree(item) if item.is_dir() else item.unlink()
                shutil.copytree(self.whole, self.store, dirs_exist_ok=True)
                used = int(subprocess.run(["du", "-sk", self.store], capture_output=True,
                                          text=True, check=True).stdout.split()[0])
                self.remount(f"size={used + spare}k")
                with self.subTest(spare_kib=spare):
                    made = self.p.eqloom(*JOB, "--tidy", "600", expect=None)
                    said = [x for x in made.err.splitlines() if "No space left" in x]
                    self.assertLessEqual(len(said), 1, made.err)
                    if "the run is done, but" in made.err:
                        self.assertEqual((made.status, len(said)), (0, 1), made.err)
                        stopped += 1
                    self.remount("size=100m")
                    self.goes_on()
            self.assertGreater(stopped, 0)
        finally:
            subprocess.run(["umount", "-l", self.store], check=False)
            shutil.copytree(self.whole, self.store, dirs_exist_ok=True)

    def remount(self, options):
        subprocess.run(["mount", "-o", f"remount,{options}", self.store], check=True)


if __name__ == "__main__":
    unittest.main()
