"""Trainings on other data: what comes before the first example that differs stands by proof, and the
result is that of an empty store. EQLOOM_TEST_SEED repeats a failure."""
import json
import os
import random
import re
import time
import unittest

from harness import ProjectTest

MODEL = "model@pooling=mean"
TEMPLATES = ["x + 2", "2*x + 3", "(3*x)^2", "x*(x + 2)", "sin(2*x)", "sin(x)^2 + 4", "tan(x)*3",
             "cos(x)^2", "x*(x - 3)", "2*sin(x)", "sec(x)^2 - 1", "x*(2 + x) + x", "cos(3*x)*2",
             "tan(2*x) + x", "x^2 + 3*x", "sin(x)*cos(x)", "5*(x + 4)", "sec(3*x)"]


class Chains(ProjectTest):
    def setUp(self):
        super().setUp()
        self.p.edit("job.yaml", "[mean, max]", "[mean]")
        self.p.edit("job.yaml", "segment: 2\n    batch: 8", "segment: 1\n    batch: 2")
        self.p.edit("job.yaml", "steps: 6", "steps: 8")
        self.p.edit("job.yaml", "test: 0.4", "test: 0")
        self.templates = TEMPLATES[:12]
        self.write(self.p)

    def write(self, project):
        listed = ", ".join(f"'{t}'" for t in self.templates)
        project.write("templates/small.yaml",
                      f"templates: 1\ngroups: {{all: {{templates: [{listed}]}}}}\n")

    def train(self, project, *args):
        events = project.eqloom("run", "job.yaml", MODEL, "--json", *args).events()
        self.assertEqual(events[-1]["failed"], 0)
        return next(e for e in events if e["event"] == "node_done" and e["node"] == MODEL)

    def model(self, project):
        return project.ids()["small/" + MODEL]

    def test_random_edits_of_the_data(self):
        seed = int(os.environ.get("EQLOOM_TEST_SEED", time.time()))
        print(f"EQLOOM_TEST_SEED={seed}", flush=True)
        rng = random.Random(seed)
        self.assertEqual(self.train(self.p)["ran"], 9)
        reused = 0
        for _ in range(6):
            unused = [t for t in TEMPLATES if t not in self.templates]
            if rng.random() < 0.5:
                self.templates.insert(rng.randrange(len(self.templates)), rng.choice(unused))
            else:
                self.templates.pop(rng.randrange(len(self.templates)))
            self.write(self.p)
            node = self.train(self.p)
            self.assertEqual(node["ran"] + node["cached"] + node["reused"], 9)
            reused += node["reused"]
            scratch = self.project()
            (scratch.dir / "job.yaml").write_text((self.p.dir / "job.yaml").read_text())
            self.write(scratch)
            self.assertEqual(self.train(scratch)["reused"], 0)
            self.assertEqual(self.model(self.p), self.model(scratch))
            scratch.close()
        self.assertGreaterEqual(reused, 6)  # the first weights at least; each example that comes later
        self.train(self.p, "--check")

    def test_what_is_reused_is_told(self):
        self.train(self.p)
        kept = self.p.ids()["small/" + MODEL]
        # The same clusters in another order: nothing is another training.
        self.templates.reverse()
        self.write(self.p)
        node = self.train(self.p)
        self.assertEqual((node["ran"], node["reused"], node["state"]), (0, 9, "reused"))
        self.assertEqual(self.model(self.p), kept)
        self.assertRegex(node["why"], "batches changed: .*; 0 of 9 segments affected, 9 "
                         r"unaffected \(the same examples are drawn up to step 8\)")
        why = self.p.eqloom("why", "job.yaml", MODEL).out
        self.assertIn("9 unaffected (the same examples are drawn up to step 8)", why)
        self.assertIn("reused    in run small/000002: the same examples are drawn up to step 8",
                      self.p.eqloom("why", kept).out)
        self.assertIn("made      in run small/000001", self.p.eqloom("why", kept).out)
        self.assertIn("still current; node " + MODEL,
                      self.p.eqloom("why", kept).out)
        log = self.p.eqloom("log", "small/2", "--json").out
        said = {n["node"]: n for n in map(json.loads, log.splitlines())}
        self.assertEqual(said[MODEL]["reused"], 9)
        # A cluster more: plan says what run then does.
        for template in TEMPLATES[12:]:
            self.templates.append(template)
            self.write(self.p)
            self.p.run("train-tokens")
            planned = self.p.eqloom("plan", "job.yaml", MODEL).out
            node = self.train(self.p)
            said = re.search(r"(\d+) of 9 segments affected, (\d+) unaffected", planned)
            self.assertEqual((int(said[1]), int(said[2])), (node["ran"], node["reused"]), planned)

    def test_a_longer_training_of_other_data(self):
        self.train(self.p)
        self.p.eqloom("gc", "--keep-runs", "1")
        self.templates.reverse()
        self.write(self.p)
        node = self.train(self.p, "--set", "steps=10")
        self.assertEqual((node["ran"], node["reused"]), (2, 9))


if __name__ == "__main__":
    unittest.main()
