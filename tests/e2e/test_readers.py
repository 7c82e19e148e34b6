"""Readers beside writers, and readers of what is lost: they see all of some moment, or they say why
not. EQLOOM_TEST_STALLS sets at how many openings of a file a reader is held up, EQLOOM_TEST_FLIPS how
many bits of a store are flipped, EQLOOM_TEST_SEED which."""
import os
import random
import shutil
import subprocess
import threading
import time
import unittest

from harness import BINARY, SHIM_IO, TIMEOUT_S, ProjectTest, places

STALLS = int(os.environ.get("EQLOOM_TEST_STALLS", "6"))
FLIPS = int(os.environ.get("EQLOOM_TEST_FLIPS", "12"))
SEED = int(os.environ.get("EQLOOM_TEST_SEED", time.time_ns() & 0xFFFFFFFF))
COMMANDS = [["ls", "--json"], ["ls"], ["log", "--json"], ["query", "rule"], ["query", "cluster"],
            ["lineage", "small/report"], ["show", "small/parts", "--json"],
            ["export", "small/rules", "-f", "jsonl"], ["stats", "--json"]]


class Readers(ProjectTest):
    def held_up(self, at, *args):
        """A reader that has stopped before it opens its file number `at`."""
        stall = self.p.dir / "stall"
        env = self.p.environment() | {
            "LD_PRELOAD": os.path.abspath(SHIM_IO), "EQLOOM_SHIM_AT": str(at),
            "EQLOOM_SHIM_KINDS": "o", "EQLOOM_SHIM_STALL": str(stall),
            "EQLOOM_SHIM_DIR": str((self.p.dir / ".eqloom").resolve()),
            "ASAN_OPTIONS": "verify_asan_link_order=0"}
        process = subprocess.Popen([os.path.abspath(BINARY), *args], cwd=self.p.dir, env=env, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        while not stall.exists() and process.poll() is None:
            time.sleep(0.002)
        return process, stall

    def test_two_writers_pass(self):
        """Whatever the reader had read when they replaced the files."""
        self.p.run()
        _, n = self.p.failing(0, "o", "ls", "--json")
        states = [self.p.eqloom("ls", "--json").out]
        writers = [("run", "job.yaml", "merged", "--set"), ("compact",)]
        for i, at in enumerate(places(n, STALLS)):
            process, stall = self.held_up(at, "ls", "--json")
            self.p.eqloom(*writers[0], f"seed={20 + i}")
            states.append(self.p.eqloom("ls", "--json").out)
            self.p.eqloom(*writers[1])
            self.p.eqloom("gc", "--keep-runs", "1")
            stall.unlink(missing_ok=True)
            out, err = process.communicate(timeout=TIMEOUT_S)
            with self.subTest(at=at, of=n):
                self.assertEqual(process.returncode, 0, err)
                self.assertIn(out, states)

    def test_a_slow_reader_beside_a_loop_of_writers(self):
        """Each of its openings takes as long as a writer: it is answered all the same."""
        self.p.run()
        self.p.eqloom("tag", "t", "small/rules")
        over = threading.Event()

        def write():
            while not over.is_set():
                for name in ("small/rules", "small/seeds"):
                    self.p.eqloom("tag", "--force", "t", name, expect=None)
                self.p.eqloom("compact", expect=None)
        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in range(max(1, STALLS // 6)):
                made, _ = self.p.failing(0, "r", "ls", EQLOOM_SHIM_OPEN_MS="100")
                self.assertEqual(made.returncode, 0, made.stderr)
                self.assertIn("tag/t", made.stdout)
        finally:
            over.set()
            writer.join()

    def test_a_store_just_being_created(self):
        """As long as it is not there it is said to be missing or empty; then it is read."""
        counted = self.project()
        made, n = counted.failing(0, "os", "run", "job.yaml", "rules")
        self.assertEqual(made.returncode, 0, made.stderr)
        for at in places(n, 2 * STALLS):
            self.p = self.project()
            env = {"EQLOOM_SHIM_STALL": str(self.p.dir / "stall")}
            process = subprocess.Popen(
                [os.path.abspath(BINARY), "run", "job.yaml", "rules"], cwd=self.p.dir,
                env=self.p.environment() | env | {
                    "LD_PRELOAD": os.path.abspath(SHIM_IO), "EQLOOM_SHIM_AT": str(at),
                    "EQLOOM_SHIM_KINDS": "os", "EQLOOM_SHIM_DIR": str(self.p.dir / ".eqloom"),
                    "ASAN_OPTIONS": "verify_asan_link_order=0"},
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while not (self.p.dir / "stall").exists() and process.poll() is None:
                time.sleep(0.002)
            seen = self.p.eqloom("ls", expect=None)
            with self.subTest(at=at, of=n):
                self.assertIn(seen.status, (0, 1, 2), seen.err)
                self.assertRegex(seen.err + seen.out, "no store|is empty|no names yet|small/rules")
                self.assertNotIn("amaged", seen.err)
            (self.p.dir / "stall").unlink(missing_ok=True)
            self.assertEqual(process.wait(timeout=TIMEOUT_S), 0)
            self.assertIn("small/rules", self.p.eqloom("ls").out)
            self.p.eqloom("fsck")

    def test_flipped_bits(self):
        """Of any file of the database: each command gives the right answer, or says that it cannot."""
        print(f"seed {SEED}, {FLIPS} flips")
        rng = random.Random(SEED)
        self.p.run()
        self.p.run("--set", "seed=8", "clusters")  # so that there is a log, too
        store, whole = self.p.dir / ".eqloom", self.p.dir / "whole"
        shutil.copytree(store, whole)
        wanted = {tuple(c): self.p.eqloom(*c).out for c in COMMANDS}
        files = sorted(f for f in (whole / "db").iterdir() if f.stat().st_size)
        told = 0
        for i in range(FLIPS):
            shutil.rmtree(store)
            shutil.copytree(whole, store)
            path = store / "db" / files[i % len(files)].name
            data = bytearray(path.read_bytes())
            bit = rng.randrange(8 * len(data))
            data[bit // 8] ^= 1 << bit % 8
            path.write_bytes(data)
            for command, right in wanted.items():
                with self.subTest(file=path.name, bit=bit, of=8 * len(data), command=command):
                    seen = self.p.eqloom(*command, expect=None)
                    told += seen.status == 1
                    if seen.status == 1:
                        self.assertIn("error: ", seen.err)
                    else:
                        self.assertEqual((seen.status, seen.out), (0, right))
        print(f"{FLIPS * len(wanted)} answers: told of damage {told} times, else right")

    def lose(self, record):
        """Damages the record, and all that lies beside it, in the table that holds it."""
        self.p.eqloom("compact")
        table = max((self.p.dir / ".eqloom").rglob("*.sst"), key=lambda p: p.stat().st_size)
        data = bytearray(table.read_bytes())
        data[data.index(bytes.fromhex(record)[2:]) + 60] ^= 1  # keys may share their beginning
        table.write_bytes(data)
        self.assertRegex(self.p.eqloom("ls", expect=1).out, f"damaged +{record[:12]}")

    def test_what_is_lost_and_made_again_is_a_fault_until_then(self):
        self.p.run()
        wanted = self.p.ids()
        self.lose(wanted["best"])
        self.assertIn("--repair sets them aside", self.p.eqloom("fsck", expect=1).out)
        self.assertIn("set aside: the next run", self.p.eqloom("fsck", "--repair").out)
        for args, status in [((), 1), (("--repair",), 0), ((), 1)]:  # nothing left to repair
            told = self.p.eqloom("fsck", *args, expect=status).out
            self.assertRegex(told, "the ref best leads to this record, which the next run of job small "
                                   "makes again")
            self.assertRegex(told, r"\(0 bad records, \d+ missing\); the next run makes again what")
        self.assertEqual(self.p.ids(expect=1), wanted)
        self.p.run()
        self.p.eqloom("fsck")
        self.assertEqual(self.p.ids(), wanted)

    def test_what_is_lost_for_good_loses_its_names(self):
        """A model of parameters that the job has no more: no run makes it again."""
        self.p.run()
        self.p.eqloom("tag", "old", "best")
        self.p.eqloom("tag", "kept", "small/merged")
        lost = self.p.ids()["best"]
        self.p.run("--set", "steps=4")
        self.lose(lost)
        self.p.eqloom("fsck", expect=1)
        told = self.p.eqloom("fsck", "--repair").out
        self.assertRegex(told, r"the ref tag/old leads .*: the ref is dropped")
        self.assertEqual(self.p.run("--set", "steps=4")["failed"], 0)  # what lay beside it
        self.p.eqloom("fsck")
        self.assertNotIn("tag/old", self.p.ids())
        self.assertIn("tag/kept", self.p.ids())


if __name__ == "__main__":
    unittest.main()
