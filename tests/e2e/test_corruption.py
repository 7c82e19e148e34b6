"""A flipped byte in the store is found on read, named, and made again by the next run."""
import random
import unittest

from harness import ProjectTest


class Corruption(ProjectTest):
    def test_flipped_bytes_are_found_and_healed(self):
        self.p.run()
        wanted = self.p.ids()
        self.p.eqloom("fsck")
        rng = random.Random(5)
        flipped = 0
        for path in sorted((self.p.dir / ".eqloom").rglob("*")):
            if path.suffix not in (".sst", ".blob") or path.stat().st_size < 200:
                continue
            data = bytearray(path.read_bytes())
            at = rng.randrange(len(data) // 10, len(data) // 2)
            data[at] ^= 0x10
            path.write_bytes(data)
            flipped += 1
        self.assertGreater(flipped, 0, "nothing to damage: the store keeps its data elsewhere")
        found = self.p.eqloom("fsck", expect=None)
        self.assertEqual(found.status, 1, found.out + found.err)
        self.p.eqloom("fsck", "--repair", expect=None)
        self.p.run()
        self.assertEqual(self.p.ids(), wanted)
        self.p.eqloom("fsck")


if __name__ == "__main__":
    unittest.main()
