"""A disk that fails once, at any call: the command says so in one line or does without, nothing is
condemned for it, and the next run ends with the ids of an undisturbed one. EQLOOM_TEST_IO sets how
many calls of each command are tried."""
import os
import shutil
import unittest

from harness import ProjectTest, places

TRIES = int(os.environ.get("EQLOOM_TEST_IO", "12"))


class Io(ProjectTest):
    def one_line_or_none(self, made):
        self.assertIn(made.returncode, (0, 1), made.stdout + made.stderr)
        errors = [x for x in made.stderr.splitlines() if x.startswith("eqloom: error:")]
        self.assertLessEqual(len(errors), 1, made.stderr)
        return errors

    def heals(self, p, wanted):
        self.assertEqual(p.run()["failed"], 0)
        self.assertEqual(p.ids(), wanted)
        p.eqloom("fsck")

    def test_runs(self):
        self.p.run()
        wanted = self.p.ids()
        for kinds in ("r", "ws"):
            counted = self.project()
            made, n = counted.failing(0, kinds, "run", "job.yaml")
            self.assertEqual(made.returncode, 0, made.stderr)
            for at in places(n, TRIES):
                with self.subTest(kinds=kinds, at=at, of=n):
                    p = self.project()
                    made, _ = p.failing(at, kinds, "run", "job.yaml")
                    errors = self.one_line_or_none(made)
                    self.assertEqual(len(errors), made.returncode, made.stderr)
                    self.heals(p, wanted)
                    p.close()

    def test_fsck_condemns_nothing_it_cannot_read(self):
        self.p.run()
        self.p.eqloom("compact")
        wanted = self.p.ids()
        for args in (["fsck"], ["fsck", "--repair"]):
            _, n = self.p.failing(0, "r", *args)
            stopped = 0
            for at in places(n, TRIES):
                with self.subTest(args=args, at=at, of=n):
                    made, _ = self.p.failing(at, "r", *args)
                    errors = self.one_line_or_none(made)
                    self.assertEqual(len(errors), made.returncode, made.stdout + made.stderr)
                    stopped += len(errors)
                    self.p.eqloom("fsck")
                    self.assertEqual(self.p.ids(), wanted)
            self.assertGreater(stopped, len(places(n, TRIES)) // 3)
        self.assertIn('"quarantined":0', self.p.eqloom("stats", "--json").out)
        self.assertEqual(self.p.run()["nodes_ran"], 0)

    def test_making_the_list_again(self):
        """It begins with an empty one: a repair that fails, or is killed by its own library, leaves
        nothing that looks like an empty store."""
        self.p.run()
        self.p.eqloom("tag", "given", "small/clusters")
        self.p.eqloom("compact")  # all is in tables
        wanted = self.p.ids()
        store, whole = self.p.dir / ".eqloom", self.p.dir / "whole"
        shutil.copytree(store, whole)
        name = max(store.rglob("MANIFEST*")).relative_to(store)
        stopped = 0
        for at in range(1, 41, 1 + 40 // TRIES):
            shutil.rmtree(store)
            shutil.copytree(whole, store)
            data = bytearray((store / name).read_bytes())
            data[60] ^= 4
            (store / name).write_bytes(data)
            with self.subTest(at=at):
                made, _ = self.p.failing(at, "ws", "run", "job.yaml")
                stopped += made.returncode != 0
                again = self.p.run()
                self.assertEqual((again["failed"], again["elements_ran"]), (0, 0))
                self.assertEqual(self.p.ids(), wanted)
                self.p.eqloom("fsck")
        self.assertGreater(stopped, TRIES // 3)

    def test_making_the_list_again_without_links(self):
        """On a file system that has none the tables are copied."""
        self.p.run()
        self.p.eqloom("compact")
        wanted = self.p.ids()
        name = max((self.p.dir / ".eqloom").rglob("MANIFEST*"))
        data = bytearray(name.read_bytes())
        data[60] ^= 4
        name.write_bytes(data)
        made, _ = self.p.failing(0, "r", "run", "job.yaml", EQLOOM_SHIM_NO_LINKS="1")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn("the store was damaged: ", made.stderr)
        self.assertFalse((self.p.dir / ".eqloom" / "db.repair").exists())
        self.assertEqual(self.p.run()["elements_ran"], 0)
        self.assertEqual(self.p.ids(), wanted)
        self.p.eqloom("fsck")

    def test_compact(self):
        self.p.run()
        wanted = self.p.ids()
        whole = self.p.dir / "whole"
        shutil.copytree(self.p.dir / ".eqloom", whole)
        for kinds in ("r", "ws"):
            n = 0
            for at in [0, *range(TRIES)]:
                shutil.rmtree(self.p.dir / ".eqloom")
                shutil.copytree(whole, self.p.dir / ".eqloom")
                place = 1 + (at - 1) * (n - 1) // max(1, TRIES - 1) if at else 0
                with self.subTest(kinds=kinds, at=place, of=n):
                    made, counted = self.p.failing(place, kinds, "compact")
                    n = n or counted
                    self.one_line_or_none(made)
                    self.heals(self.p, wanted)


if __name__ == "__main__":
    unittest.main()
