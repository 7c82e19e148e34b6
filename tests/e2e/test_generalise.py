"""jobs/generalise.yaml: clusters of a script and of a user's file, and how well values of expressions
tell them apart."""
import json
import pathlib
import shutil
import unittest

from harness import ProjectTest

JOBS = pathlib.Path(__file__).resolve().parents[2] / "jobs"
CLUSTERS = [["* 2 * sin * 3 x cos * 3 x", "sin * 6 x", "/ 1 csc * 6 x"],
            ["- pow x 4 16", "* - pow x 2 4 + pow x 2 4"],
            ["d x pow x 5", "* 5 pow x 4", "* pow x 2 * 5 pow x 2"]]


class Generalise(ProjectTest):
    def setUp(self):
        super().setUp()
        shutil.copytree(JOBS, self.p.dir / "jobs", dirs_exist_ok=True)

    def evaluate(self, clusters, expect=0):
        self.p.write("jobs/mine.txt", "\n\n".join("\n".join(c) for c in clusters) + "\n")
        done = self.p.eqloom("run", "jobs/generalise.yaml", "own-values-eval", "--set",
                             "clusters=mine.txt", expect=expect)
        if expect:
            return done.err
        shown = json.loads(self.p.eqloom("show", "--json", "generalise/own-values-eval").out)["value"]
        return {v["name"]: v.get("value", 0) for v in shown["values"]}

    def test_own_clusters(self):
        self.assertEqual(self.evaluate(CLUSTERS)["kmeans_accuracy"], 1)
        # One that equals nothing of its cluster is as near to the other one as can be.
        wrong = [CLUSTERS[0] + ["* 5 pow x 4"], CLUSTERS[1], CLUSTERS[2]]
        self.assertLess(self.evaluate(wrong)["kmeans_accuracy"], 1)
        self.assertRegex(self.evaluate([["sin x", "+ x"]], expect=2), r"mine\.txt:2:\d+: ")

    def test_walks(self):
        self.p.eqloom("run", "jobs/generalise.yaml", "walks", "--set", "walk-clusters=6")
        lines = self.p.eqloom("export", "generalise/walks", "-f", "jsonl", "-o", "-").out.splitlines()
        sizes = [len(json.loads(line)["members"]) for line in lines]
        self.assertEqual(len(sizes), 6)
        self.assertTrue(all(20 <= n <= 40 for n in sizes), sizes)


if __name__ == "__main__":
    unittest.main()
