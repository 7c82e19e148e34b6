"""A signal ends a run soon, whatever it is at work on, by leaving behind what does not ask, and what
was done stays: an element of each sort is made to take very long. Another signal ends the run at
once."""
import json
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

from harness import TIMEOUT_S, ProjectTest

LIBRARY = pathlib.Path(__file__).parents[2] / "jobs/rules"

JOB = """eqloom: 1
name: long
nodes:
  rules:     {op: rules, files: [rules/algebra.rules]}
  certified: {op: certify, rules: rules, points: 16}
  library:   {op: rules, files: [library/*.rules]}
  checked:   {op: certify, rules: library, points: 100000}
  seeds:     {op: templates, files: [templates/small.yaml]}
  egraphs:   {op: saturate, exprs: seeds, rules: certified, iterations: 12, max_nodes: 3000}
  grown:     {op: saturate, exprs: seeds, rules: certified, iterations: 10000, max_nodes: 100000000}
  clusters:  {op: extract, egraphs: egraphs, max_tokens: 25, per_cluster: 20}
  drawn:     {op: extract, egraphs: egraphs, max_tokens: 60, per_cluster: 1000000}
  vocabulary: {op: vocabulary}
  tokens:    {op: tokenize, clusters: clusters, vocabulary: vocabulary}
  step:      {op: train, batches: tokens, vocabulary: vocabulary, batch: 512, segment: 1,
              steps: 1000, d_model: 256}
  model:     {op: train, batches: tokens, vocabulary: vocabulary, batch: 8, segment: 1000000,
              steps: 1000000}
"""

RULES = """group a
mul-comm: ?a * ?b <-> ?b * ?a
mul-assoc: (?a * ?b) * ?c <-> ?a * (?b * ?c)
add-comm: ?a + ?b -> ?b + ?a
add-assoc: (?a + ?b) + ?c <-> ?a + (?b + ?c)
distribute: ?a * (?b + ?c) <-> ?a * ?b + ?a * ?c
"""

SEEDS = """templates: 1
groups: {all: {templates: ["(x + 1)*(x + 2)*(x + 3)*(x + 4)*(x + 5)", "(x + 1)*(x + 3)*(x + 5)"]}}
"""


class Signals(ProjectTest):
    def setUp(self):
        super().setUp()
        self.p.write("job.yaml", JOB)
        self.p.write("rules/algebra.rules", RULES)
        self.p.write("templates/small.yaml", SEEDS)
        shutil.copytree(LIBRARY, self.p.dir / "library")
        self.p.run("tokens")

    def interrupt(self, node, numbers, pause=0.0, recorded=False):
        """Starts a run, and signals when the node has been at work for a moment, and if asked when a
        first element's result has put the run on record."""
        process = self.p.start("run", "job.yaml", node, "--json", stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
        try:
            for line in process.stdout:
                event = json.loads(line)
                if event["event"] == "node_start" and event["node"] == node:
                    break
            time.sleep(0.4)
            deadline = time.monotonic() + TIMEOUT_S
            while recorded and self.state() != "running" and time.monotonic() < deadline:
                time.sleep(0.05)
            for number in numbers:
                time.sleep(pause)
                process.send_signal(number)
            out, err = process.communicate(timeout=TIMEOUT_S)
        finally:
            process.kill()
        self.assertEqual(process.returncode, 130, err)
        return out

    def state(self):
        return json.loads(self.p.eqloom("log", "long", "--json").out.splitlines()[0])["state"]

    def test_one_signal_ends_every_op_soon(self):
        for node, number in [("grown", signal.SIGINT), ("drawn", signal.SIGTERM),
                             ("checked", signal.SIGINT), ("step", signal.SIGTERM),
                             ("model", signal.SIGINT)]:
            with self.subTest(node=node):
                out = self.interrupt(node, [number])
                self.assertTrue(json.loads(out.splitlines()[-1])["interrupted"])
                self.assertEqual(self.state(), "interrupted")
        again = self.p.run("tokens")
        self.assertEqual(again["elements_ran"], 0)
        self.p.eqloom("fsck")

    def test_another_signal_ends_at_once(self):
        self.interrupt("drawn", [signal.SIGINT, signal.SIGINT], pause=0.05, recorded=True)
        self.interrupt("drawn", [signal.SIGINT, signal.SIGTERM, signal.SIGINT])
        self.assertIn(self.state(), ("interrupted", "killed"))
        self.assertEqual(self.p.run("tokens")["elements_ran"], 0)
        self.p.eqloom("fsck")


if __name__ == "__main__":
    unittest.main()
