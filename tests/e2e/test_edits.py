"""Property: after any edit of the rules or seeds, a run in the old store gives what a run in an empty
store gives, e-graphs to token batches. Rules are drawn from the shipped library; edits add, remove,
rename, change and reorder them. EQLOOM_TEST_SEED repeats a failure, EQLOOM_TEST_EDITS makes more."""
import os
import pathlib
import random
import re
import time
import unittest

from harness import ProjectTest

LIBRARY = pathlib.Path(__file__).parents[2] / "jobs" / "rules"
SEEDS = ["x + 2", "2*x + 3", "(3*x)^2", "x*(x + 2)", "sin(2*x)", "sin(x)^2 + 4", "tan(x)*3",
         "ln(x^2)", "e^(2*x)", "cosh(x)^2 - 1", "sqrt(x)*sqrt(x)", "d(x, sin(3*x))", "asin(x/2)",
         "sec(x)^2", "x/3 - x", "atan(2*x)", "(x + 1)^3", "ln(3*x) - 2", "csc(x)/2", "sinh(x) + 5"]
TARGETS = ("train-tokens", "test-tokens")


def library():
    """(group, name) -> rule, of all plain rules."""
    rules = {}
    for path in sorted(LIBRARY.glob("*.rules")):
        group = None
        for line in path.read_text().splitlines():
            if line.startswith("group "):
                group = line.split()[1]
            match = re.match(r"([\w-]+):\s+(.*)", line)
            if match and group and path.stem != "junk":
                rules[group, match[1]] = match[2]
    return rules


class Edits(ProjectTest):
    def setUp(self):
        super().setUp()
        self.seed = int(os.environ.get("EQLOOM_TEST_SEED", time.time()))
        self.random = random.Random(self.seed)
        self.library = library()
        self.assertGreater(len(self.library), 300)
        self.rules = dict(self.random.sample(sorted(self.library.items()), 40))
        self.seeds = self.random.sample(SEEDS, 10)

    def write(self, project, order):
        rules = list(self.rules.items())
        random.Random(order).shuffle(rules)
        text = "".join(f"group {group}\n{name}: {rule}\n" for (group, name), rule in rules)
        project.write("rules/algebra.rules", text)
        listed = ", ".join(f"'{seed}'" for seed in self.seeds)
        project.write("templates/small.yaml",
                      f"templates: 1\ngroups: {{all: {{templates: [{listed}]}}}}\n")

    def edit(self):
        kind = self.random.choice(["add", "add", "remove", "change", "rename", "reorder", "seed"])
        group, name = one = self.random.choice(list(self.rules))
        if kind == "add":
            more = self.random.choice(list(self.library))
            self.rules[more] = self.library[more]
        elif kind == "remove" and len(self.rules) > 5:
            del self.rules[one]
        elif kind == "rename":
            self.rules[group, name + self.random.choice("abz")] = self.rules.pop(one)
        elif kind == "change":
            match = re.match(r"(.*?)( <?-> )(.*?)( if .*)?$", self.rules[one])
            self.rules[one] = f"{match[1]} -> ({match[3]}) + 0{match[4] or ''}"
        elif kind == "seed":
            self.seeds[self.random.randrange(len(self.seeds))] = self.random.choice(SEEDS)
        return kind

    def test_edits(self):
        self.p.edit("job.yaml", "iterations: 4, max_nodes: 500", "iterations: 3, max_nodes: 300")
        reused = ran = 0
        for i in range(int(os.environ.get("EQLOOM_TEST_EDITS", "16"))):
            kinds = [self.edit() for _ in range(self.random.randint(1, 2))] if i else ["none"]
            self.write(self.p, self.random.random())
            scratch = self.project()
            scratch.write("job.yaml", (self.p.dir / "job.yaml").read_text())
            self.write(scratch, 0)
            again = self.p.run(*TARGETS)
            scratch.run(*TARGETS)
            with self.subTest(seed=self.seed, edit=i, kinds=kinds):
                self.assertEqual(self.p.ids(), scratch.ids())
            reused += again["elements_reused"]
            ran += again["elements_ran"]
            scratch.close()
        self.assertGreater(reused, 0)
        self.assertEqual(self.p.run(*TARGETS, "--check")["failed"], 0)
        print(f"seed {self.seed}: {ran} elements ran, {reused} were proved to stand")


if __name__ == "__main__":
    unittest.main()
