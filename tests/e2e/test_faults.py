"""Damage and hostile file systems: after each, one clear line, nothing wrong served, and the next
run restores the same ids. EQLOOM_TEST_SEED repeats a series, EQLOOM_TEST_FLIPS sets its length."""
import os
import random
import re
import shutil
import signal
import subprocess
import time
import unittest

from harness import ProjectTest

SEED = int(os.environ.get("EQLOOM_TEST_SEED", time.time_ns() & 0xFFFFFFFF))
FLIPS = int(os.environ.get("EQLOOM_TEST_FLIPS", "12"))


def flip(path, rng):
    data = bytearray(path.read_bytes())
    at, bit = rng.randrange(len(data)), rng.randrange(8)
    data[at] ^= 1 << bit
    path.write_bytes(data)
    return f"seed {SEED}: {path.name} byte {at} of {len(data)} bit {bit}"


class Flips(ProjectTest):
    def setUp(self):
        super().setUp()
        print(f"seed {SEED}")
        self.rng = random.Random(SEED)
        self.p.run()
        self.wanted = self.p.ids()

    def heals(self):
        """A run finds the damage that it meets, fsck all of it, and the next run makes it good."""
        self.p.eqloom("run", "job.yaml", expect=None)
        self.p.eqloom("fsck", expect=None)
        self.p.eqloom("run", "job.yaml")
        self.assertEqual(self.p.ids(), self.wanted)
        self.p.eqloom("fsck")

    def test_any_bit_of_any_table_or_list(self):
        """fsck finds what is flipped, unless nothing reads it; the next run, or fsck --repair, puts
        it right."""
        store, whole = self.p.dir / ".eqloom", self.p.dir / "whole"
        shutil.copytree(store, whole)
        found = 0
        for i in range(FLIPS):
            shutil.rmtree(store)
            shutil.copytree(whole, store)
            names = ["*.sst", "*.sst", "MANIFEST*", "CURRENT"][i // 3 % 4]
            files = sorted(f for f in store.rglob(names) if f.stat().st_size)
            with self.subTest(flip(self.rng.choice(files), self.rng)):
                if i % 3:  # else the next run has to find it by itself
                    made = self.p.eqloom("fsck", expect=None)
                    self.assertIn(made.status, (0, 1), made.out + made.err)
                    found += made.status
                    self.assertNotIn("is empty", made.err)
                if i % 3 == 2:
                    self.p.eqloom("fsck", "--repair", expect=None)
                    self.p.eqloom("fsck", expect=None)
                self.heals()
        self.assertGreater(2 * found, FLIPS * 2 // 3)

    def test_any_bit_of_any_file(self):
        """All files, with work in the log and records under dictionaries: whatever is flipped, the
        next run or fsck --repair ends with the same ids. Damage of a list of files is said."""
        store, whole = self.p.dir / ".eqloom", self.p.dir / "whole"
        self.p.eqloom("compact")
        self.p.edit("job.yaml", "per_cluster: 12", "per_cluster: 11")
        self.p.eqloom("run", "job.yaml", "merged")
        self.p.edit("job.yaml", "per_cluster: 11", "per_cluster: 12")
        self.p.run()
        self.wanted = self.p.ids()
        shutil.copytree(store, whole)
        names = sorted(f.relative_to(store) for f in store.rglob("*")
                       if f.is_file() and f.stat().st_size)
        for i in range(max(2 * FLIPS, len(names))):
            shutil.rmtree(store)
            shutil.copytree(whole, store)
            name = names[i % len(names)]
            with self.subTest(flip(store / name, self.rng)):
                if i // len(names) % 2:
                    made = self.p.eqloom("fsck", "--repair", expect=None)
                    self.assertIn(made.status, (0, 1), made.out + made.err)
                else:
                    made = self.p.eqloom("run", "job.yaml", expect=None)
                if name.name.startswith(("MANIFEST", "CURRENT")):
                    self.assertIn("damaged", made.out + made.err)
                self.heals()

    def test_a_list_that_is_gone_or_cut_short(self):
        """RocksDB takes it for a new database, or for an older one, and removes what it does not
        list; a name that somebody gave comes from no run."""
        store, whole = self.p.dir / ".eqloom", self.p.dir / "whole"
        self.p.eqloom("tag", "given", "small/clusters")
        self.p.eqloom("compact")  # all is in tables
        self.wanted = self.p.ids()
        shutil.copytree(store, whole)
        length = max(store.rglob("MANIFEST*")).stat().st_size
        for cut in (None, *range(0, length, 1 + length // FLIPS)):
            shutil.rmtree(store)
            shutil.copytree(whole, store)
            with self.subTest(seed=SEED, cut=cut, of=length):
                if cut is None:
                    max(store.rglob("CURRENT")).unlink()
                    self.p.eqloom("ls", expect=1)
                else:
                    os.truncate(max(store.rglob("MANIFEST*")), cut)
                narration = self.p.eqloom("run", "job.yaml").err
                self.assertIn("the store was damaged: ", narration)
                self.assertEqual(self.p.ids(), self.wanted)
                again = self.p.run()
                self.assertEqual((again["nodes_ran"], again["elements_ran"]), (0, 0))
                self.assertIn("small/000001", self.p.eqloom("log").out)
                self.p.eqloom("fsck")

    def test_what_nobody_reads(self):
        """RocksDB's options and identity are only written; the mark of what was acknowledged is
        there twice, and the lower one counts."""
        for names in ("OPTIONS*", "IDENTITY", "ACKNOWLEDGED"):
            path = max((self.p.dir / ".eqloom").rglob(names))
            with self.subTest(flip(path, self.rng)):
                self.assertEqual(self.p.run()["nodes_ran"], 0)
                self.heals()

    def test_fsck_says_what_makes_it_again(self):
        largest = max((self.p.dir / ".eqloom").rglob("*.sst"), key=lambda f: f.stat().st_size)
        data = bytearray(largest.read_bytes())
        data[1000] ^= 1
        largest.write_bytes(data)
        found = self.p.eqloom("fsck", expect=1)
        self.assertRegex(found.out, r"objects: entries .* cannot be read: .*\d+\.sst")
        self.assertRegex(found.out, r"[0-9a-f]{16}  .*; made by node \S+ \(\S+\) of small/0*1")
        self.assertIn("--repair", found.out)
        self.heals()

    def test_a_table_that_is_gone(self):
        for table in sorted((self.p.dir / ".eqloom").rglob("*.sst"))[:2]:
            if table.exists():
                table.unlink()
                with self.subTest(table=table.name):
                    self.heals()


class Log(ProjectTest):
    """A run that is killed leaves its work in the log alone."""

    def killed(self, goal):
        """A project whose run was killed once its log had `goal` bytes, and that log. So short a
        run writes no table: what the log holds is nowhere else."""
        p = self.project()
        process = p.start("run", "job.yaml", "seeds", "certified", stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL)
        while process.poll() is None and sum(map(self.size, p.dir.rglob("*.log"))) < goal:
            time.sleep(0.0005)
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertEqual(list(p.dir.rglob("*.sst")), [])
        (log,) = p.dir.rglob("*.log")
        return p, log

    @staticmethod
    def size(path):
        try:
            return path.stat().st_size
        except FileNotFoundError:
            return 0

    def test_flips_all_over_a_log(self):
        """Not one is passed over: it is said that what was acknowledged is lost, and made again."""
        self.p.run("seeds", "certified")
        whole, store = self.p.dir / "whole", self.p.dir / ".eqloom"
        log = max(store.rglob("*.log"), key=self.size)
        data = log.read_bytes()
        self.assertGreater(len(data), 5000)
        wanted = self.p.ids()
        shutil.copytree(store, whole)
        rng = random.Random(SEED)
        print(f"seed {SEED}")
        n = 2 * FLIPS
        for i in range(n):
            bit = 8 * (i * len(data) // n) + rng.randrange(8)  # the first byte is among them
            shutil.rmtree(store)
            shutil.copytree(whole, store)
            flipped = bytearray(data)
            flipped[bit // 8] ^= 1 << bit % 8
            log.write_bytes(flipped)
            with self.subTest(byte=bit // 8, bit=bit % 8, of=len(data)):
                narration = self.p.eqloom("run", "job.yaml", "seeds", "certified").err
                self.assertRegex(narration, r"the last \d+ entries acknowledged are lost")
                self.assertEqual(self.p.ids(), wanted)
                self.p.eqloom("fsck")

    def check(self, damage):
        """Killed at some moment, and damaged then: what was acknowledged and does not come back is
        said, and all of it is made again."""
        rng = random.Random(SEED)
        print(f"seed {SEED}")
        self.p.run()
        wanted = self.p.ids()
        goals = [rng.randrange(2000, 40000) for _ in range(max(3, FLIPS // 2))]
        said = 0
        for goal in [*goals, float("inf")]:  # the last ends by itself: all is acknowledged
            p, log = self.killed(goal)
            with self.subTest(damage(log, rng)):
                said += "damaged" in p.eqloom("run", "job.yaml").err
                self.assertEqual(p.ids(), wanted)
                p.eqloom("fsck")
            p.close()
        self.assertGreater(said, len(goals) // 2)

    def test_flipped_bits(self):
        self.check(flip)

    def test_torn_and_missing(self):
        def tear(path, rng):
            size = path.stat().st_size
            keep = rng.randrange(size)
            if rng.random() < 0.3:
                path.unlink()
                return f"seed {SEED}: {path.name} removed"
            os.truncate(path, keep)
            return f"seed {SEED}: {path.name} cut from {size} to {keep}"
        self.check(tear)


@unittest.skipUnless(os.geteuid() == 0 and shutil.which("mount"), "needs root to mount a tmpfs")
class Disk(ProjectTest):
    def mount(self, p, options, at=None):
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", at or p.dir /
                               ".eqloom"], capture_output=True, text=True, check=False)
        if made.returncode:
            self.skipTest(f"cannot mount a tmpfs: {made.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", at or p.dir / ".eqloom"], check=False)

    def remount(self, p, options):
        subprocess.run(["mount", "-o", f"remount,{options}", p.dir / ".eqloom"], check=True)

    def one_error(self, result, text):
        self.assertEqual(result.status, 1, result.out + result.err)
        errors = [line for line in result.err.splitlines() if line.startswith("eqloom: error:")]
        self.assertEqual(len(errors), 1, result.err)
        self.assertIn(text, errors[0])

    def test_full_disk(self):
        self.p.run()
        wanted = self.p.ids()
        for kib in (60, 120, 200, 280):
            with self.subTest(kib=kib):
                q = self.project()
                (q.dir / ".eqloom").mkdir()
                self.mount(q, f"size={kib}k")
                self.one_error(q.eqloom("run", "job.yaml", expect=None), "No space left")
                q.eqloom("run", "job.yaml", expect=1)
                self.remount(q, "size=100m")
                self.assertEqual(q.run()["failed"], 0)
                self.assertEqual(q.ids(), wanted)
                q.eqloom("fsck")

    def test_full_disk_in_compact(self):
        self.p.run()
        wanted = self.p.ids()
        whole = self.p.dir / "whole"
        shutil.move(self.p.dir / ".eqloom", whole)
        for spare in (8, 40, 100, 160):
            with self.subTest(spare_kib=spare):
                q = self.project()
                self.mount(q, "size=100m", at=self.made(q))
                shutil.copytree(whole, q.dir / ".eqloom", dirs_exist_ok=True)
                disk = os.statvfs(q.dir / ".eqloom")
                used = (disk.f_blocks - disk.f_bfree) * disk.f_frsize
                self.remount(q, f"size={(used >> 10) + spare}k")
                made = q.eqloom("compact", expect=None)
                if made.status:
                    self.one_error(made, "No space left")
                self.remount(q, "size=100m")
                self.assertEqual(q.ids(), wanted)
                q.eqloom("compact")
                self.assertEqual(q.run()["nodes_ran"], 0)
                q.eqloom("fsck")

    @staticmethod
    def made(p):
        (p.dir / ".eqloom").mkdir()
        return p.dir / ".eqloom"

    def test_read_only_directory(self):
        (self.p.dir / ".eqloom").mkdir()
        self.mount(self.p, "size=100m")
        self.p.run()
        wanted = self.p.ids()
        self.remount(self.p, "ro")
        self.one_error(self.p.eqloom("run", "job.yaml", expect=None), "Read-only file system")
        self.assertEqual(self.p.ids(), wanted)  # readers work
        self.p.eqloom("fsck")
        self.remount(self.p, "rw")
        self.assertEqual(self.p.run()["nodes_ran"], 0)


if __name__ == "__main__":
    unittest.main()
