"""What people see of a run: on a terminal a bar and how long it will take, on a first run too; one
line for all that is cached; elsewhere plain lines."""
import re
import unittest

from harness import PROGRESS, ProjectTest


class Progress(ProjectTest):
    def test_a_first_run_has_a_bar_and_an_end(self):
        seen = re.sub(PROGRESS, b"", self.p.on_terminal("run", "job.yaml", "--set", "model.steps=1500")).decode()
        heads = re.findall(r"(?m)^\[([#.]{20})\] \d+/\d+ nodes, 0 cached, \d+ ran", seen)
        bars = [head.count("#") for head in heads]
        self.assertEqual(bars, sorted(bars))
        self.assertGreater(len(set(bars)), 1)
        self.assertRegex(seen, r"(?m)^  \S+ +\[[#.]{10}\] \d+/\d+ ")

    def test_what_is_cached_is_one_line(self):
        self.p.run()
        for out in [self.p.eqloom("run", "job.yaml").err, self.p.on_terminal("run", "job.yaml").decode()]:
            lines = re.split(PROGRESS.decode(), out)[-1].splitlines()
            cached = [line for line in lines if "cached" in line]
            self.assertEqual(len(cached), 2, out)
            self.assertRegex(cached[0], r"^cached: rules, (\S+, )+\S+ and 1[0-9] more$")
            self.assertRegex(cached[1], r"^small: \d+ nodes, nothing ran; ")

    def test_plain_lines_elsewhere(self):
        out = self.p.eqloom("run", "job.yaml").err
        self.assertNotIn("\x1b", out)
        self.assertNotIn("[#", out)
        self.assertRegex(out, r"(?m)^certified: ran, \d+ of \d+ elements, .*\(never made\)$")


if __name__ == "__main__":
    unittest.main()
