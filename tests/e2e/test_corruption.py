"""A flipped byte in the store is found on read, named, and made again by the next run."""
import random
import unittest

from harness import ProjectTest


class Corruption(ProjectTest):
    def tables(self):
        return [p for p in sorted((self.p.dir / ".eqloom").rglob("*.sst"))
                if p.stat().st_size > 200]

    def test_flipped_bytes_are_found_and_healed(self):
        self.p.run()
        wanted = self.p.ids()
        self.p.eqloom("fsck")
        rng = random.Random(5)
        self.assertGreater(len(self.tables()), 2)
        found = 0
        for i in range(len(self.tables())):
            tables = self.tables()
            path = tables[min(i, len(tables) - 1)]
            data = bytearray(path.read_bytes())
            at = rng.randrange(len(data))
            data[at] ^= 0x10
            path.write_bytes(data)
            with self.subTest(table=path.name, byte=at, size=len(data)):
                found += self.p.eqloom("fsck", expect=None).status  # not of what nothing reads
                self.p.eqloom("fsck", "--repair", expect=None)
                self.p.run()
                self.assertEqual(self.p.ids(), wanted)
                self.p.eqloom("fsck")
        self.assertGreater(found, 1)

    def test_a_flipped_byte_is_healed_without_fsck(self):
        self.p.run()
        wanted = self.p.ids()
        largest = max(self.tables(), key=lambda p: p.stat().st_size)
        data = bytearray(largest.read_bytes())
        for at in range(500, len(data) - 4000, 3000):
            data[at] ^= 0x10
        largest.write_bytes(data)
        # A change that reads what was stored.
        self.p.edit("job.yaml", "per_cluster: 12", "per_cluster: 11")
        self.p.run()
        self.p.edit("job.yaml", "per_cluster: 11", "per_cluster: 12")
        self.p.run()
        self.assertEqual(self.p.ids(), wanted)


if __name__ == "__main__":
    unittest.main()
