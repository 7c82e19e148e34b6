"""The figures of `evaluate` against their definitions, from exported vectors: retrieval and score_k in plain
Python; K-means, assignments and ranking by scikit-learn and scipy, where EQLOOM_TORCH_PYTHON (or this
Python) has them. Without them that part is skipped, and the test says so."""
import json
import math
import os
import subprocess
import sys
import unittest

from harness import Project, read_npy

CUTS = (1, 5, 10, 15, 20)
PYTHON = os.environ.get("EQLOOM_TORCH_PYTHON", sys.executable)

# Reads {"x": rows, "labels": of each}; prints what scikit-learn says of them.
ORACLE = """
import json, sys
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.metrics import roc_auc_score
given = json.load(sys.stdin)
x, labels = np.array(given["x"]), np.array(given["labels"])
x /= np.linalg.norm(x, axis=1, keepdims=True)
k, out = labels.max() + 1, {"cost": [], "best": [], "greedy": []}
for seed in range(4):
    found = KMeans(k, n_init=10, max_iter=1000, tol=1e-6, random_state=seed).fit(x)
    share = np.zeros((k, k))
    np.add.at(share, (labels, found.labels_), 1)
    share /= share.sum(axis=1, keepdims=True)
    out["cost"].append(float(found.inertia_))
    out["best"].append(float(share[linear_sum_assignment(-share)].mean()))
    total, left = 0, share.copy()
    for _ in range(k):
        i, j = np.unravel_index(left.argmax(), left.shape)
        total += left[i, j]
        left[i], left[:, j] = -1, -1
    out["greedy"].append(float(total / k))
wrong = triples = 0
for i, scores in enumerate(x @ x.T):
    others = np.arange(len(x)) != i
    same = (labels == labels[i])[others]
    if same.any():
        n = int(same.sum()) * int((~same).sum())
        wrong += n * (1 - roc_auc_score(same, np.round(scores[others], 7)))
        triples += n
out["ranking_error"] = float(wrong / triples)
print(json.dumps(out))
"""


def has_oracle():
    return subprocess.run([PYTHON, "-c", "import sklearn, scipy, numpy"], capture_output=True,
                          check=False).returncode == 0


class Metrics(unittest.TestCase):
    JOB = """eqloom: 1
name: metrics
nodes:
  classes: {op: classes, language: polynomial, variables: [a, b], max_nodes: 5, min_members: 2, seed: 1}
  parts:   {op: split, of: members, clusters: classes, valid: 0.2, test: 0.3, seed: 1}
  vocabulary: {op: vocabulary, encoding: placed}
  all-tokens:  {op: tokenize, clusters: classes, vocabulary: vocabulary}
  test-tokens: {op: tokenize, clusters: parts.test, vocabulary: vocabulary}
  all-vectors:  {op: tfidf, batches: all-tokens, fit: all-tokens}
  test-vectors: {op: tfidf, batches: test-tokens, fit: all-tokens}
  held: {op: split, clusters: classes, valid: 0.1, test_clusters: 9, test_members: 5, seed: 1}
  held-tokens: {op: tokenize, clusters: held.test, vocabulary: vocabulary, min_members: 2, max_members: 5}
  plain: {op: evaluate, embeddings: test-vectors}
  e-gen: {op: evaluate, embeddings: test-vectors, divisor: k}
  score: {op: evaluate, embeddings: test-vectors, pool: all-vectors, divisor: cluster}
"""

    @classmethod
    def setUpClass(cls):
        cls.p = Project()
        cls.addClassCleanup(cls.p.close)
        cls.p.write("metrics.yaml", cls.JOB)
        cls.p.eqloom("run", "metrics.yaml")
        lines = cls.p.eqloom("export", "metrics/classes", "-f", "jsonl", "-o", "-").out.splitlines()
        cls.class_of = {m["prefix"]: i for i, line in enumerate(lines)
                        for m in json.loads(line)["members"]}
        cls.test, cls.all = cls.rows("test-vectors"), cls.rows("all-vectors")

    @classmethod
    def rows(cls, node):
        """(text, class, vector of length 1) of each."""
        cls.p.eqloom("export", f"metrics/{node}", "-o", f"{node}.npy")
        index = (cls.p.dir / f"{node}.npy.jsonl").read_text().splitlines()
        texts = [json.loads(line)["text"] for line in index]
        vectors = read_npy(cls.p.dir / f"{node}.npy")
        units = [[x / math.hypot(*v) for x in v] for v in vectors]
        return [(t, cls.class_of[t], u) for t, u in zip(texts, units)]

    def figures(self, node):
        shown = json.loads(self.p.eqloom("show", f"metrics/{node}", "--json").out)["value"]
        return {v["name"]: v.get("value", 0) for v in shown["values"]}

    def check(self, node, pool, divisor):
        """Each figure lies between what ties leave open."""
        figures = self.figures(node)
        bounds = {k: [0, 0] for k in CUTS}
        asked = 0
        for text, c, x in self.test:
            others = [(sum(p * q for p, q in zip(x, y)), d == c) for t, d, y in pool if t != text]
            positives = sum(hit for _, hit in others)
            if not positives:
                continue
            asked += 1
            for worst in (0, 1):
                ranked = sorted(others, key=lambda o: (-round(o[0], 6), o[1] if not worst else not o[1]))
                for k in CUTS:
                    hits = sum(hit for _, hit in ranked[:k])
                    bounds[k][worst] += hits / divisor(k, positives)
        self.assertEqual(figures["queries"], asked)
        for k, (low, high) in bounds.items():
            low, high = min(low, high) / asked, max(low, high) / asked
            self.assertLessEqual(low - 1e-9, figures[f"precision@{k}"], (node, k))
            self.assertGreaterEqual(high + 1e-9, figures[f"precision@{k}"], (node, k))
        return figures

    def test_retrieval(self):
        self.check("plain", self.test, lambda k, positives: min(k, positives))
        self.check("e-gen", self.test, lambda k, positives: k)

    def test_score_k_of_eqnet(self):
        """Neighbours among all expressions of the set; the query counts in its class."""
        figures = self.check("score", self.all, lambda k, positives: min(k, positives + 1))
        self.assertEqual(figures["pool"] + figures["sequences"], len(self.all))

    def members(self, node, field):
        lines = self.p.eqloom("export", f"metrics/{node}", "-f", "jsonl", "-o", "-").out.splitlines()
        return [json.loads(line)[field] for line in lines]

    def test_so_many_are_held_out(self):
        held = self.members("held.test", "members")
        self.assertEqual(len(held), 9)
        self.assertGreaterEqual(min(map(len, held)), 5)
        parts = [self.members(f"held{part}", "seed") for part in ("", ".valid", ".test")]
        seeds = [seed["prefix"] for part in parts for seed in part]
        self.assertEqual(sorted(seeds), sorted(set(seeds)))
        self.assertEqual(len(seeds), len(self.members("classes", "seed")))
        sizes = [len(texts) for texts in self.members("held-tokens", "text")]
        self.assertTrue(set(sizes) <= {2, 3, 4, 5} and len(set(sizes)) > 1, sizes)
        self.p.eqloom("run", "metrics.yaml", "held", "--set", "held.test_clusters=9999", expect=1)

    @unittest.skipUnless(has_oracle(), f"{PYTHON} has no scikit-learn and scipy")
    def test_scikit_learn(self):
        numbers = {c: i for i, c in enumerate(dict.fromkeys(c for _, c, _ in self.test))}
        given = {"x": [x for *_, x in self.test], "labels": [numbers[c] for _, c, _ in self.test]}
        env = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        said = json.loads(subprocess.run([PYTHON, "-c", ORACLE], input=json.dumps(given), env=env,
                                         text=True, capture_output=True, check=True).stdout)
        ours = self.figures("plain")
        self.assertEqual(ours["clusters"], len(numbers))
        cost = ours["kmeans_cost"]
        self.assertLess(cost, 1.02 * min(said["cost"]))
        self.assertGreater(cost, 0.97 * min(said["cost"]))
        for name, theirs in ("kmeans_accuracy", "best"), ("kmeans_accuracy_greedy", "greedy"):
            self.assertGreater(ours[name], min(said[theirs]) - 0.05)
            self.assertLess(ours[name], max(said[theirs]) + 0.05)
        self.assertAlmostEqual(ours["ranking_error"], said["ranking_error"], delta=1e-4)


if __name__ == "__main__":
    if not has_oracle():
        print(f"scikit-learn and scipy: skipped, {PYTHON} has none (set EQLOOM_TORCH_PYTHON)")
    unittest.main()
