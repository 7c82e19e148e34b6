"""pack, unpack, backup, stats and compact: what arrives is what left, or nothing wrong does."""
import json
import os
import random
import shutil
import subprocess
import time
import unittest

from harness import Moments, ProjectTest


KILLS = int(os.environ.get("EQLOOM_TEST_KILLS", "25"))


class Packs(ProjectTest):
    def setUp(self):
        super().setUp()
        self.p.run()
        self.q = self.project()

    def test_a_backup_removes_nothing_of_others(self):
        mine = self.p.dir / "copy.partial" / "letters"
        mine.mkdir(parents=True)
        refused = self.p.eqloom("backup", "copy", expect=2)
        self.assertIn("it holds letters", refused.err)
        self.assertTrue(mine.is_dir())
        mine.rename(self.p.dir / "copy.partial" / "db")  # as a backup that was killed leaves it
        self.p.eqloom("backup", "copy")
        self.assertFalse((self.p.dir / "copy.partial").exists())

    def test_there_and_back(self):
        pack = str(self.p.dir / "small.pack")
        self.p.eqloom("pack", "small/clusters", "small/report", "best", "-o", pack)
        ids = self.p.ids()
        text = self.p.eqloom("show", "small/clusters").out
        self.q.eqloom("unpack", pack)
        names = ["small/clusters", "small/report", "best"]
        self.assertEqual(self.q.ids(), {name: ids[name] for name in names})
        self.assertEqual(self.q.eqloom("show", "small/clusters").out, text)
        self.q.eqloom("fsck")
        again = json.loads(self.q.eqloom("unpack", pack, "--json").out)
        self.assertEqual(again["added"], 0)
        self.assertGreater(again["records"], 20)
        # The same artifacts, packed where they arrived, are the same file.
        back = self.q.dir / "back.pack"
        self.q.eqloom("pack", *names, "-o", str(back))
        self.assertEqual(back.read_bytes(), (self.p.dir / "small.pack").read_bytes())

    def test_a_ref_that_leads_elsewhere_stays(self):
        self.q.edit("job.yaml", "seed: 7", "seed: 8")
        self.q.run()
        ids = self.q.ids()
        self.p.eqloom("pack", "small/clusters", "-o", "clusters.pack")
        told = self.q.eqloom("unpack", str(self.p.dir / "clusters.pack")).out
        self.assertIn("1 name other records here", told)
        self.assertEqual(self.q.ids(), ids)

    def test_cut_off_and_damaged(self):
        path = self.p.dir / "small.pack"
        self.p.eqloom("pack", "small/clusters", "-o", str(path))
        whole = path.read_bytes()
        rng = random.Random(3)
        for i in range(8):
            data = bytearray(whole)
            if i % 2:
                data = data[:rng.randrange(8, len(data))]
            else:
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            path.write_bytes(data)
            found = self.q.eqloom("unpack", str(path), expect=None)
            self.assertIn(found.status, (1, 2), f"case {i}")
            self.assertEqual(found.err.count("error:"), 1)
            self.q.eqloom("fsck")  # what has arrived is whole
        os.mkfifo(self.p.dir / "pipe")
        for strange, said in ((self.p.dir / "pipe", "ends early, at byte 0"),  # nobody writes to it
                              ("/dev/zero", "/dev/zero is not a pack of eqloom")):
            self.assertIn(said, self.q.eqloom("unpack", str(strange), expect=None).err)
        self.assertEqual(self.q.ids(), {})
        path.write_bytes(whole)
        self.q.eqloom("unpack", str(path))
        self.assertEqual(list(self.q.ids()), ["small/clusters"])

    def killed(self, moments, p, *args):
        moments.strike(p.start(*args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def test_killed_at_any_moment(self):
        """A pack is there whole or not at all; what a killed unpack took in stays, and taking the
        pack in again does the rest; a killed gc or backup leaves the store as good as before."""
        seed = int(os.environ.get("EQLOOM_TEST_SEED", time.time_ns() & 0xFFFFFFFF))
        print(f"seed {seed}")
        rng = random.Random(seed)
        names = ["small/clusters", "small/egraphs", "small/report", "best"]
        ids = self.p.ids()
        moments = Moments(rng, lambda: self.p.eqloom("pack", *names, "-o", "whole.pack"))
        whole = self.p.dir / "whole.pack"
        for i in range(6):
            path = self.p.dir / f"{i}.pack"
            self.killed(moments, self.p, "pack", *names, "-o", str(path))
            if path.exists():
                self.assertEqual(path.read_bytes(), whole.read_bytes())
        moments = Moments(rng, lambda: self.project().eqloom("unpack", str(whole)))
        for _ in range(max(6, KILLS // 4)):
            q = self.project()
            self.killed(moments, q, "unpack", str(whole))
            q.eqloom("unpack", str(whole))
            self.assertEqual(q.ids(), {name: ids[name] for name in names})
            q.eqloom("fsck")
            q.close()
        collect = Moments(rng, lambda: self.p.eqloom("gc", "--keep-runs", "1"))
        backup = Moments(rng, lambda: self.p.eqloom("backup", "copy"))
        for i in range(6):
            self.p.edit("job.yaml", f"seed: {7 + i}", f"seed: {8 + i}")
            self.p.run()
            wanted = self.p.ids()
            self.killed(collect, self.p, "gc", "--keep-runs", "1")
            self.killed(backup, self.p, "backup", f"copy{i}")
            if (self.p.dir / f"copy{i}").exists():
                self.p.eqloom("--store", f"copy{i}", "fsck")
            self.assertEqual(self.p.ids(), wanted)
            self.p.eqloom("fsck")
            self.assertEqual(self.p.run()["nodes_ran"], 0)
        self.p.eqloom("gc", "--keep-runs", "1")
        self.assertEqual(self.p.run()["nodes_ran"], 0)
        self.p.eqloom("fsck")

    def test_backup_is_a_store(self):
        wanted = self.p.ids()
        self.p.eqloom("backup", "copy")
        self.p.eqloom("backup", "copy", expect=2)
        self.p.edit("job.yaml", "seed: 7", "seed: 9")
        self.p.run()
        lines = self.p.eqloom("--store", "copy", "ls", "--json").out.splitlines()
        self.assertEqual({r["ref"]: r["id"] for r in map(json.loads, lines) if "ref" in r}, wanted)
        self.p.eqloom("--store", "copy", "fsck")
        self.p.eqloom("--store", "copy", "compact")
        self.p.eqloom("fsck")

    def test_backup_without_links(self):
        """On a file system that has none, tables are copied."""
        wanted = self.p.ids()
        made, _ = self.p.failing(0, "r", "backup", "copy", EQLOOM_SHIM_NO_LINKS="1")
        self.assertEqual(made.returncode, 0, made.stderr)
        tables = lambda store: {f.name: f.stat() for f in (self.p.dir / store).rglob("*.sst")}
        mine, copies = tables(".eqloom"), tables("copy")
        self.assertEqual(mine.keys(), copies.keys())
        self.assertFalse({s.st_ino for s in mine.values()} & {s.st_ino for s in copies.values()})
        self.p.eqloom("fsck")
        self.p.eqloom("--store", "copy", "fsck")
        again = self.p.run("--set", "seed=9")
        self.assertGreater(again["elements_ran"], 0)
        shutil.rmtree(self.p.dir / ".eqloom")
        (self.p.dir / "copy").rename(self.p.dir / ".eqloom")
        self.assertEqual(self.p.ids(), wanted)
        self.assertEqual(self.p.run()["nodes_ran"], 0)

    def test_stats_count_what_is_there(self):
        events = [json.loads(line) for line in self.p.eqloom("stats", "--json").out.splitlines()]
        kinds = {e["kind"]: e for e in events if "kind" in e}
        total = events[-1]
        for key in ("records", "raw_bytes", "stored_bytes"):
            self.assertEqual(sum(k[key] for k in kinds.values()), total[key])
        listed = self.p.eqloom("query", "cluster", "--json").out.splitlines()
        self.assertEqual(kinds["cluster"]["records"], len(listed))
        summary = json.loads(self.p.eqloom("fsck", "--json").out.splitlines()[-1])
        self.assertEqual((summary["records"], summary["actions"]),
                         (total["records"], total["actions"]))
        self.assertIn("cluster", self.p.eqloom("stats").out)


if __name__ == "__main__":
    unittest.main()
