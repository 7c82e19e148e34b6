"""Stores in a state that no process left: copied file by file beside writers, or killed and then hurt in
one more place. Repair succeeds, and the next run ends with the ids of an undisturbed one.
EQLOOM_TEST_KILLS sets how many there are of each kind, EQLOOM_TEST_SEED repeats a series."""
import os
import random
import shutil
import subprocess
import threading
import time
import unittest

from harness import Moments, ProjectTest

SEED = int(os.environ.get("EQLOOM_TEST_SEED", time.time_ns() & 0xFFFFFFFF))
KILLS = int(os.environ.get("EQLOOM_TEST_KILLS", "6"))


class Copies(ProjectTest):
    def setUp(self):
        super().setUp()
        print(f"seed {SEED}, {KILLS} of each kind", flush=True)
        self.rng = random.Random(SEED)

    def heals(self, p, wanted):
        """Returns whether something was said to be damaged."""
        told = p.eqloom("fsck", "--repair", expect=None)
        if told.status == 2:  # cut off while it was being made
            self.assertRegex(told.err, "there is no store|is empty")
        else:
            self.assertEqual(told.status, 0, told.out + told.err)
        made = p.run()
        self.assertEqual(made["failed"], 0)
        self.assertEqual(p.ids(), wanted)
        p.eqloom("fsck")
        return "damaged" in told.err

    def test_copied_beside_writers(self):
        self.p.run()
        wanted = self.p.ids()
        over = threading.Event()

        def write():
            while not over.is_set():
                for args in (["--set", "seed=8", "merged"], ["--set", "steps=4"], []):
                    self.p.eqloom("run", "job.yaml", *args, expect=None)
                self.p.eqloom("gc", "--keep-runs", "1", expect=None)
                self.p.eqloom("compact", expect=None)
        writer = threading.Thread(target=write)
        writer.start()
        said = 0
        try:
            for i in range(KILLS):
                q = self.project()
                time.sleep(self.rng.uniform(0, 0.3))
                subprocess.run(["cp", "-r", str(self.p.dir / ".eqloom"), str(q.dir)], check=False,
                               stderr=subprocess.DEVNULL)  # of files that went away meanwhile
                with self.subTest(copy=i):
                    said += self.heals(q, wanted)
                q.close()
        finally:
            over.set()
            writer.join()
        print(f"{KILLS} copies, {said} of them damaged")

    def hurt(self, path):
        """One fault; returns which."""
        size = path.stat().st_size
        kind = self.rng.choice(["gone", "empty", "cut", "flipped", "zeros"])
        if kind == "gone":
            path.unlink()
        elif kind == "flipped":
            data = bytearray(path.read_bytes())
            data[self.rng.randrange(size)] ^= 1 << self.rng.randrange(8)
            path.write_bytes(data)
        elif kind == "zeros":
            path.write_bytes(bytes(size))
        else:
            os.truncate(path, 0 if kind == "empty" else self.rng.randrange(size))
        return f"{path.name} {kind}"

    def test_killed_and_hurt(self):
        moments = Moments(self.rng, self.p.run)
        wanted = self.p.ids()
        done = said = 0
        while done < KILLS:
            q = self.project()
            for _ in range(self.rng.randrange(1, 4)):
                args = self.rng.choice([["run", "job.yaml"], ["compact"], ["gc", "--keep-runs", "0"]])
                process = q.start(*args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                moments.strike(process)
            names = self.rng.choice(["MANIFEST*", "CURRENT", "*.log", "*.sst", "LISTED"])
            files = sorted(f for f in (q.dir / ".eqloom").rglob(names) if f.stat().st_size)
            if files:
                done += 1
                with self.subTest(fault=self.hurt(self.rng.choice(files)), number=done):
                    said += self.heals(q, wanted)
            q.close()
        print(f"{done} double faults, {said} of them told as damage")

    def test_durable_runs_sync_what_they_build_on(self):
        """Also if they have nothing to write: each log that earlier runs left."""
        self.p.run("rules")
        self.p.eqloom("tag", "t", "small/rules")
        logs = [f for f in (self.p.dir / ".eqloom").rglob("*.log") if f.stat().st_size]
        self.assertGreater(len(logs), 1)
        counts = []
        for more in ([], ["--durable"]):
            made, n = self.p.failing(0, "s", "run", "job.yaml", "rules", *more)
            self.assertEqual(made.returncode, 0, made.stderr)
            self.assertIn("nothing ran", made.stderr)
            counts.append(n)
        self.assertGreaterEqual(counts[1], counts[0] + len(logs) + 1)


if __name__ == "__main__":
    unittest.main()
