"""Damage met by a reader, which cannot set it aside, is made good by the next run, although
nothing that the job reads has changed."""
import unittest

from harness import ProjectTest


class Damage(ProjectTest):
    def flip(self):
        """A byte in each of many blocks of the largest table."""
        tables = [p for p in (self.p.dir / ".eqloom").rglob("*.sst")]
        largest = max(tables, key=lambda p: p.stat().st_size)
        data = bytearray(largest.read_bytes())
        for at in range(500, len(data) - 4000, 6000):
            data[at] ^= 0x10
        largest.write_bytes(data)

    def show_clusters(self):
        """Shows the clusters one by one; returns what was said of the damaged ones."""
        said = []
        for item in self.p.eqloom("ls", "small/clusters", "--json", expect=None).events():
            result = self.p.eqloom("show", item["id"], expect=None)
            if result.status:
                self.assertEqual(result.status, 1, result.err)
                said.append((item["id"], result.err))
        return said

    def test_show_finds_and_run_heals(self):
        self.p.run()
        wanted = self.p.ids()
        self.p.eqloom("fsck")
        self.flip()
        said = self.show_clusters()
        self.assertTrue(said, "no cluster was damaged")
        for record, message in said:
            self.assertIn(record[:12], message)
        healed = self.p.run()
        self.assertGreater(healed["elements_ran"], 0)
        self.assertEqual(healed["failed"], 0)
        self.assertEqual(self.p.ids(), wanted)
        self.assertEqual(self.show_clusters(), [])
        self.p.eqloom("fsck")
        again = self.p.run()
        self.assertEqual((again["nodes_ran"], again["elements_ran"]), (0, 0))

    def test_fsck_finds_and_run_heals(self):
        self.p.run()
        wanted = self.p.ids()
        self.flip()
        self.p.eqloom("fsck", expect=1)
        self.p.run()
        self.assertEqual(self.p.ids(), wanted)
        self.p.eqloom("fsck")


if __name__ == "__main__":
    unittest.main()
