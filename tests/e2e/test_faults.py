"""Damage and hostile file systems: after each, one clear line, nothing wrong served, and the next
run restores the same ids. EQLOOM_TEST_SEED repeats a series, EQLOOM_TEST_FLIPS sets its length."""
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import time
import unittest

from harness import ProjectTest

SEED = int(os.environ.get("EQLOOM_TEST_SEED", time.time_ns() & 0xFFFFFFFF))
FLIPS = int(os.environ.get("EQLOOM_TEST_FLIPS", "12"))


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC32C[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def crc32c_of_byte(crc):
    for _ in range(8):
        crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc


CRC32C = [crc32c_of_byte(byte) for byte in range(256)]


def mask(crc):
    """As RocksDB stores it."""
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


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

    def heals(self, said=None):
        """The next run does; with `said`, it is the first to look and names what is bad."""
        narration = self.p.eqloom("run", "job.yaml").err
        if said:
            self.assertEqual(len(re.findall(said, narration)), 1, narration)
        self.assertEqual(self.p.ids(), self.wanted)
        self.p.eqloom("fsck")

    def test_any_bit_of_any_table_or_list(self):
        store, whole = self.p.dir / ".eqloom", self.p.dir / "whole"
        shutil.copytree(store, whole)
        for i in range(FLIPS):
            shutil.rmtree(store)
            shutil.copytree(whole, store)
            names, said = [("*.sst", r"damaged: table \d+\.sst \(\w+\): the file is not as it was"),
                           ("*.sst", None), ("MANIFEST*", r"damaged: MANIFEST-\d+: "),
                           ("CURRENT", r"damaged: CURRENT (names|does not name)")][i // 3 % 4]
            files = sorted(f for f in store.rglob(names) if f.stat().st_size)
            with self.subTest(flip(self.rng.choice(files), self.rng)):
                if i % 3:  # else the next run has to find it by itself
                    found = self.p.eqloom("fsck", expect=None)
                    self.assertEqual(found.status, 1, found.out + found.err)
                    self.assertTrue(found.out + found.err)
                    self.assertNotIn("is empty", found.err)
                if i % 3 == 2:
                    self.p.eqloom("fsck", "--repair", expect=None)
                    self.p.eqloom("fsck", expect=None)
                self.heals(said if i % 3 == 0 else None)

    # Only written, never read; or a second copy, of which the lower counts.
    UNREAD = ("OPTIONS", "IDENTITY", "LOCK", "lock", "LOG", "ACKNOWLEDGED")

    def test_any_bit_of_any_file(self):
        """Round and round all files, logs with work in them and dense records among them: what is
        flipped is named by its file and healed, by the next run or by fsck --repair, or makes no
        difference to anything."""
        store, whole = self.p.dir / ".eqloom", self.p.dir / "whole"
        self.p.eqloom("compact")
        self.p.edit("job.yaml", "per_cluster: 12", "per_cluster: 11")
        self.p.eqloom("run", "job.yaml", "merged")
        self.p.edit("job.yaml", "per_cluster: 11", "per_cluster: 12")
        self.p.run()
        self.p.write(".eqloom/lock", "99999\neqloom run\n2020-01-01 00:00:00\n")
        self.wanted = self.p.ids()
        shutil.copytree(store, whole)
        names = sorted(f.relative_to(store) for f in store.rglob("*") if f.is_file())
        self.assertEqual({re.sub(r"[-.]?\d+", "", n.name) for n in names if "LOG" not in n.name},
                         {".log", ".sst", "MANIFEST", "CURRENT", "OPTIONS", "IDENTITY", "LOCK",
                          "lock", "ACKNOWLEDGED"})
        names = [n for n in names if (store / n).stat().st_size]
        said = {}
        for i in range(max(2 * FLIPS, len(names))):
            shutil.rmtree(store)
            shutil.copytree(whole, store)
            name = names[i % len(names)]
            unread = name.name.startswith(self.UNREAD)
            with self.subTest(flip(store / name, self.rng)):
                if i // len(names) % 2:
                    made = self.p.eqloom("fsck", "--repair", expect=None)
                    self.assertIn(made.status, (0, 1), made.out + made.err)
                else:
                    made = self.p.eqloom("run", "job.yaml")
                told = [x for x in (made.out + made.err).splitlines()
                        if "damaged" in x or "file is not as it was" in x]
                self.assertEqual(bool(told), not unread, (str(name), made.out + made.err))
                if told:
                    self.assertIn(name.name, "\n".join(told))
                for line in told:
                    said.setdefault(re.sub(r"\d+", "N", line), line)
                self.heals()
        print("\n".join(sorted(said.values())))

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
                    self.assertIn("CURRENT is missing", self.p.eqloom("ls", expect=1).err)
                else:
                    os.truncate(max(store.rglob("MANIFEST*")), cut)
                narration = self.p.eqloom("run", "job.yaml").err
                if not cut or cut < length // 2:  # what the last entries say may matter no more
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
        self.assertRegex(found.out, r"table \d+\.sst \(objects\): the file is not as it was")
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
    def acknowledged(log):
        """The sequence number of the last write that was; the lower of the two in the file."""
        return min(struct.unpack("<QQ", (log.parent / "ACKNOWLEDGED").read_bytes()))

    @staticmethod
    def given_back(log):
        """The sequence number of the last write before the first bad entry; 0 without a log."""
        data = log.read_bytes() if log.exists() else b""
        at, last, entry = 0, 0, b""
        while at + 7 <= len(data):
            if 32768 - at % 32768 < 7:
                at += 32768 - at % 32768
                continue
            checksum, size, kind = struct.unpack_from("<IHB", data, at)
            piece = data[at + 7:at + 7 + size]
            if len(piece) < size or mask(crc32c(bytes([kind]) + piece)) != checksum:
                break
            entry = piece if kind in (1, 2) else entry + piece
            if kind in (1, 4):
                first, count = struct.unpack_from("<QI", entry)
                last = first + count - 1
            at += 7 + size
        return last

    @staticmethod
    def size(path):
        try:
            return path.stat().st_size
        except FileNotFoundError:
            return 0

    def test_flips_all_over_a_log(self):
        """Not one is passed over: what was written and acknowledged is told to be lost, with the
        file and the place, and made again."""
        self.p.run("seeds", "certified")
        whole, store = self.p.dir / "whole", self.p.dir / ".eqloom"
        log = max(store.rglob("*.log"), key=self.size)
        data = log.read_bytes()
        self.assertGreater(len(data), 5000)
        wanted = self.p.ids()
        shutil.copytree(store, whole)
        rng = random.Random(SEED)
        print(f"seed {SEED}")
        n = 3 * FLIPS
        for i in range(n):
            bit = 8 * (i * len(data) // n) + rng.randrange(8)  # the first byte is among them
            shutil.rmtree(store)
            shutil.copytree(whole, store)
            flipped = bytearray(data)
            flipped[bit // 8] ^= 1 << bit % 8
            log.write_bytes(flipped)
            with self.subTest(byte=bit // 8, bit=bit % 8, of=len(data)):
                narration = self.p.eqloom("run", "job.yaml", "seeds", "certified").err
                self.assertRegex(narration, rf"{log.name}: .* at byte \d+; the last \d+ entries")
                self.assertEqual(self.p.ids(), wanted)
                self.p.eqloom("fsck")

    def check(self, damage):
        """What was acknowledged and does not come back is told, and nothing else is."""
        rng = random.Random(SEED)
        print(f"seed {SEED}")
        self.p.run()
        wanted = self.p.ids()
        lost = 0
        goals = [rng.randrange(2000, 40000) for _ in range(max(3, FLIPS // 2))]
        for goal in [*goals, float("inf")]:  # the last ends by itself: all is acknowledged
            p, log = self.killed(goal)
            acknowledged = self.acknowledged(log)
            self.assertGreaterEqual(self.given_back(log), acknowledged)
            with self.subTest(damage(log, rng), acknowledged=acknowledged):
                is_lost = self.given_back(log) < acknowledged
                lost += is_lost
                told = "damaged" in p.eqloom("run", "job.yaml").err
                self.assertEqual(told, is_lost)
                self.assertEqual(p.ids(), wanted)
                p.eqloom("fsck")
            p.close()
        self.assertGreater(lost, 0)

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
