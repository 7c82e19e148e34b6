"""Power cuts: the store is on an ext4 image that is shut down at a random moment, so that only what the
kernel had written is left, and is then mounted again. What a durable run acknowledged is there, nothing
wrong is served, and the next run ends with the ids of an undisturbed one. Meanwhile files are written back
at random, in any order. EQLOOM_TEST_CUTS sets how many there are, EQLOOM_TEST_SEED repeats a series."""
import ctypes
import fcntl
import itertools
import json
import os
import random
import shutil
import struct
import subprocess
import threading
import time
import unittest

from harness import TIMEOUT_S, Moments, ProjectTest

SEED = int(os.environ.get("EQLOOM_TEST_SEED", time.time_ns() & 0xFFFFFFFF))
CUTS = int(os.environ.get("EQLOOM_TEST_CUTS", "12"))
MOUNTS = ["data=ordered", "data=writeback,noauto_da_alloc", "data=journal", "nodelalloc,commit=1"]
SHUTDOWN, WITHOUT_LOG = 0x8004587D, struct.pack("I", 2)  # EXT4_IOC_SHUTDOWN
SYNC_FILE_RANGE_WRITE = 2


class Power(ProjectTest):
    def setUp(self):
        super().setUp()
        self.images = itertools.count()
        self.libc = ctypes.CDLL(None)
        self.rng = random.Random(SEED)
        self.disk, self.fresh = self.p.dir / "disk", self.p.dir / "fresh"
        self.disk.mkdir()
        with open(self.fresh, "wb") as f:
            f.truncate(256 << 20)  # RocksDB reserves room for its logs
        if os.geteuid() or not shutil.which("mkfs.ext4"):
            self.skipTest("needs root and mkfs.ext4")
        subprocess.run(["mkfs.ext4", "-q", "-F", "-J", "size=4", self.fresh], check=True)

    def mount(self, image, options):
        """A copy of the image, since the kernel takes its time to let go of one."""
        copy = self.p.dir / f"image{next(self.images)}"
        subprocess.run(["cp", "--sparse=always", image, copy], check=True)
        made = subprocess.run(["mount", "-t", "ext4", "-o", f"loop,{options}", copy, self.disk],
                              capture_output=True, text=True, check=False)
        if made.returncode:
            self.skipTest(f"cannot mount an image: {made.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", self.disk], check=False, capture_output=True)
        return copy

    def eqloom(self, *args, expect=0):
        return self.p.eqloom("--store", "disk/store", *args, expect=expect)

    def run_command(self, *args):
        return self.eqloom("run", "job.yaml", *args)

    def ids(self):
        return {i["ref"]: i["id"] for i in map(json.loads, self.eqloom("ls", "--json").out.splitlines())
                if "ref" in i}

    def write_back(self, over, seed):
        """What the kernel does when it likes: parts of files reach the disk, or all of a file does."""
        rng = random.Random(seed)
        while not over.wait(rng.uniform(0, 0.02)):
            files = [f for f in self.disk.rglob("*") if f.is_file()]
            try:
                with open(rng.choice(files), "rb") as f:
                    if rng.random() < 0.1:
                        os.fsync(f.fileno())
                    else:
                        start = rng.choice([0, 4096 * rng.randrange(64)])
                        self.libc.sync_file_range(f.fileno(), ctypes.c_int64(start),
                                                  ctypes.c_int64(rng.choice([4096, 0])),
                                                  SYNC_FILE_RANGE_WRITE)
            except (OSError, IndexError):
                pass  # it went away, or there is none

    def history(self):
        """Commands that end; returns the refs that a durable run has acknowledged."""
        floor, small = {}, self.rng.random() < 0.5  # small ones stay in a log
        targets = ["rules", "seeds", "certified"] if small else ["egraphs", "merged", "model", "report"]
        for i in range(self.rng.randrange(4)):
            target = self.rng.choice(targets)
            if self.rng.random() < 0.3:
                self.run_command(target)
            else:
                self.run_command("rules")
                self.eqloom("tag", f"t{i}", "small/rules")
                self.run_command(target, "--durable")
                floor = self.ids()
            if self.rng.random() < 0.2:
                self.eqloom(self.rng.choice(["compact", "gc"]))
        return floor

    def cut_during(self, moments, *args):
        over = threading.Event()
        writer = threading.Thread(target=self.write_back, args=(over, self.rng.random()))
        disk = os.open(self.disk, os.O_RDONLY)
        writer.start()
        process = self.p.start("--store", "disk/store", *args, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        try:
            process.wait(timeout=self.rng.uniform(0, 1.3) * moments.length)
        except subprocess.TimeoutExpired:
            pass
        fcntl.ioctl(disk, SHUTDOWN, WITHOUT_LOG)
        process.kill()
        process.wait(timeout=TIMEOUT_S)
        over.set()
        writer.join()
        os.close(disk)

    def right(self, floor, wanted):
        """Readers before anything repairs: told or right. Returns whether they were told."""
        seen = self.eqloom("ls", "--json", expect=None)
        if seen.status == 1:
            self.assertIn("error: ", seen.err)
            return True
        if seen.status == 2:  # cut off while it was being made
            self.assertRegex(seen.err, "there is no store|is empty")
            self.assertEqual(floor, {})
            return False
        names = {i["ref"]: i["id"] for i in map(json.loads, seen.out.splitlines()) if "ref" in i}
        self.assertLessEqual(floor.items(), names.items())
        self.assertLessEqual({k: v for k, v in names.items()
                               if not k.startswith("tag/") and not k.endswith("/at")}.items(),
                             wanted.items())
        return False

    def test_cuts(self):
        print(f"seed {SEED}, {CUTS} cuts", flush=True)
        moments = Moments(self.rng, self.p.run)
        wanted = self.p.ids()
        told = kept = 0
        for i in range(CUTS):
            options = MOUNTS[i % len(MOUNTS)]
            image = self.mount(self.fresh, options)
            with self.subTest(cut=i, mount=options):
                floor = self.history()
                args = self.rng.choice([["run", "job.yaml"], ["run", "job.yaml", "--durable"],
                                        ["run", "job.yaml", "seeds"], ["compact"],
                                        ["gc", "--keep-runs", "1"]])
                self.cut_during(moments, *args)
                subprocess.run(["umount", self.disk], check=True)
                cut, image = image, self.mount(image, options)
                cut.unlink()
                told += self.right(floor, wanted)
                if self.rng.random() < 0.5:
                    self.eqloom("fsck", "--repair", expect=None)
                self.run_command()
                self.assertLessEqual((wanted | floor).items(), self.ids().items())
                self.eqloom("fsck")
                for name in floor:
                    self.eqloom("show", name)
                kept += len(floor)
            subprocess.run(["umount", self.disk], check=True)
            image.unlink()
        print(f"{CUTS} cuts, {told} of them told as damage, {kept} names kept")


if __name__ == "__main__":
    unittest.main()
