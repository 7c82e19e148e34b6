"""The job that makes SemVec's sets and learns from them: classes of equal Boolean terms and polynomials of a
grammar, unseen classes and unseen expressions held out; checked by values computed here."""
import itertools
import json
import math
import os
import pathlib
import shutil
import subprocess
import unittest

from harness import ProjectTest, read_npy

JOBS = pathlib.Path(__file__).resolve().parents[2] / "jobs"
PRECEDENCE = {"=>": 1, "|": 2, "^": 3, "&": 4, "+": 5, "-": 5, "*": 6}
APPLY = {"&": lambda x, y: x & y, "|": lambda x, y: x | y, "^": lambda x, y: x ^ y,
         "=>": lambda x, y: (1 - x) | y, "+": lambda x, y: x + y, "-": lambda x, y: x - y,
         "*": lambda x, y: x * y}


class Infix:
    """Precedence climbing over a list of tokens."""

    def __init__(self, tokens, point):
        self.tokens, self.at, self.point = tokens, 0, point

    def take(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def operand(self):
        token = self.take()
        if token == "not":
            return 1 - self.operand()
        if token == "-":
            return -self.operand()
        if token == "(":
            inner = self.expression(0)
            assert self.take() == ")"
            return inner
        if token in ("true", "false"):
            return int(token == "true")
        return self.point[token] if token in self.point else int(token)

    def expression(self, least):
        left = self.operand()
        while self.at < len(self.tokens) and PRECEDENCE.get(self.tokens[self.at], -1) >= least:
            op = self.take()
            left = APPLY[op](left, self.expression(PRECEDENCE[op] + (op != "=>")))
        return left


def values(tokens, numbers):
    return tuple(Infix(tokens, dict(zip("abc", point))).expression(0)
                 for point in itertools.product(numbers, repeat=3))


NAMES = {"&": "and", "|": "or", "^": "xor", "=>": "implies"}


def grammar(names, numbers, most):
    """All terms in a, b, c of at most so many nodes, in sets of equal ones."""
    points = list(itertools.product(numbers, repeat=3))
    sizes = {1: [(v, tuple(p[i] for p in points)) for i, v in enumerate("abc")]}
    for n in range(2, most + 1):
        sizes[n] = []
        if "not" in names:
            sizes[n] += [("not " + t, tuple(1 - x for x in v)) for t, v in sizes[n - 1]]
        for symbol, apply in APPLY.items():
            name = NAMES.get(symbol, symbol)
            for i in range(1, n - 1) if name in names else ():
                sizes[n] += [(f"{name} {s} {t}", tuple(map(apply, u, v)))
                             for s, u in sizes[i] for t, v in sizes[n - 1 - i]]
    classes = {}
    for term, value in itertools.chain(*sizes.values()):
        classes.setdefault(value, set()).add(term)
    return {frozenset(c) for c in classes.values()}


# Expressions and classes, as Allamanis et al. (2017) count them.
SIZES = {"BOOL5": (1239, 95), "SIMPPOLY5": (237, 47), "SIMPPOLY8": (3477, 104), "POLY5": (516, 150),
         "POLY8": (11451, 1102), "ONEV-POLY10": (1291, 83), "SIMPBOOLL5": (10050, 1342)}


class SemVec(ProjectTest):
    def setUp(self):
        super().setUp()
        shutil.copy(JOBS / "semvec.yaml", self.p.dir / "job.yaml")

    def run_job(self, *nodes, sets, **more):
        settings = dict(more, sets="[%s]" % ", ".join(sets))
        args = [a for k, v in settings.items() for a in ("--set", "%s=%s" % (k, v))]
        summary = self.p.run(*nodes, *args)
        self.assertEqual(summary["failed"], 0)
        return summary

    def clusters(self, name):
        lines = self.p.eqloom("export", "semvec/" + name, "--format", "jsonl", "-o", "-").out
        return [[m["prefix"] for m in json.loads(line)["members"]] for line in lines.splitlines()]

    def score(self, name, job="semvec"):
        record = json.loads(self.p.eqloom("show", "--json", job + "/" + name).out)
        rows = dict(row["cells"] for row in record["value"]["tables"][0]["rows"])
        return float(rows["precision@5"])

    def test_sets(self):
        self.run_job("all-tokens", sets=SIZES)  # which needs each variable in the vocabulary
        for name, (expressions, classes) in SIZES.items():
            made = self.clusters("classes@set=" + name)
            self.assertEqual((sum(map(len, made)), len(made)), (expressions, classes), name)
        for name, numbers, operators in (("BOOL5", (0, 1), ["not", "and", "or", "xor", "implies"]),
                                         ("POLY5", (-7, 2, 3, 11), ["+", "-", "*"])):
            self.assertEqual(set(map(frozenset, self.clusters("classes@set=" + name))),
                             grammar(operators, numbers, 5))

    def test_sample(self):
        """At most so many of a class, the first among them, others with another seed."""
        everything = {}
        for seed in (1, 2):
            self.p.write("job.yaml", "eqloom: 1\nname: semvec\nnodes:\n"
                        "  all: {op: classes, set: BOOL5}\n"
                        "  some: {op: classes, set: BOOL5, max_members: 7, seed: %d}\n" % seed)
            self.p.run()
            everything[seed] = self.clusters("some")
            for whole, part in zip(self.clusters("all"), everything[seed]):
                self.assertEqual(len(part), min(7, len(whole)))
                self.assertEqual(part[0], whole[0])
                self.assertLessEqual(set(part), set(whole))
        self.assertNotEqual(everything[1], everything[2])

    def test_parts(self):
        """SemVec's rule for unseen classes; and the parts share no expression."""
        self.run_job("seen", "unseen", sets=["POLY8"])
        classes = self.clusters("classes@set=POLY8")
        unseen = self.clusters("unseen@set=POLY8.test")
        self.assertEqual(len(unseen), len(classes) // 5)
        most = 3 * sum(map(len, classes)) / len(classes)
        self.assertTrue(all(1 < len(c) <= most for c in unseen))
        parts = [unseen] + [self.clusters("seen@set=POLY8" + role) for role in ("", ".valid", ".test")]
        members = [m for part in parts for c in part for m in c]
        self.assertEqual(len(members), len(set(members)))
        self.assertEqual(len(members), 11451)

    def test_networks(self):
        """Each model of the job; a second run computes nothing."""
        evaluations = [m + "-eval" for m in ("eqnet", "eqnet-l", "structemb", "sememb", "encoder", "tfidf",
                                             "eqnet-seen", "sememb-valid", "structemb-seen")]
        small = {"sets": ["SIMPPOLY5"], "steps": 2, "d_model": "[16]", "batch": 8, "eqnet-steps": 20}
        self.run_job(*evaluations, **small)
        for name in evaluations:
            self.assertGreater(self.score(name + "@set=SIMPPOLY5"), 0, name)
        self.assertEqual(self.run_job(*evaluations, **small)["nodes_ran"], 0)

    def test_eqnet_learns(self):
        """Classes that it has never seen, of the set that it learnt from and of a larger one."""
        shutil.copy(JOBS / "semvec-composed.yaml", self.p.dir)
        settings = ("--set", "sets=[SIMPPOLY5, SIMPPOLY8]", "--set", "eqnet-steps=300")
        self.run_job("eqnet-eval", "tfidf-eval", sets=["SIMPPOLY5", "SIMPPOLY8"], **{"eqnet-steps": 300})
        shutil.move(self.p.dir / "job.yaml", self.p.dir / "semvec.yaml")
        self.p.eqloom("run", "semvec-composed.yaml", "composed-eval", *settings)
        self.assertGreater(self.score("eqnet-eval@set=SIMPPOLY8"), 0.9)
        self.assertGreater(self.score("eqnet-eval@set=SIMPPOLY8"), self.score("tfidf-eval@set=SIMPPOLY8"))
        self.assertGreater(self.score("composed-eval", "semvec-composed"), 0.3)

    def test_gru(self):
        """A node in PyTorch learns as well: with steps, and classes that it has never seen."""
        pythons = filter(None, (os.environ.get("EQLOOM_TORCH_PYTHON"), shutil.which("python3")))
        python = next((p for p in pythons if subprocess.run([p, "-c", "import numpy, torch"],
                                                            capture_output=True).returncode == 0), None)
        if not python:
            self.skipTest("no Python here has PyTorch and NumPy: EQLOOM_TORCH_PYTHON may name one")
        shutil.move(self.p.dir / "job.yaml", self.p.dir / "semvec.yaml")
        shutil.copy(JOBS / "semvec-gru.yaml", self.p.dir)
        shutil.copytree(JOBS / "scripts", self.p.dir / "scripts")
        scores = []
        for steps in (1, 300):
            args = ("--set", "gru-steps=%d" % steps, "--set", "python=" + python, "--set", "sets=[SIMPPOLY5]")
            self.p.eqloom("run", "semvec-gru.yaml", "gru-eval", *args)
            scores.append(self.score("gru-eval", "semvec-gru"))
        self.assertGreater(scores[1], scores[0] + 0.1)

    def test_file(self):
        """SemVec's format, read back by another program."""
        self.run_job("train-file", "unseen-file", sets=["BOOL5"])
        classes = set()
        for part in ("train", "unseen"):
            text = self.p.eqloom("export", "semvec/%s-file@set=BOOL5" % part, "--format", "raw", "-o", "-").out
            for entry in json.loads(text).values():
                lists = [entry["Original"]["Tokens"]] + [n["Tokens"] for n in entry["Noise"]]
                found = {values(tokens, (0, 1)) for tokens in lists}
                self.assertEqual(len(found), 1, lists)
                self.assertNotIn(min(found), classes, "one class twice: %s" % lists[0])
                classes |= found

    def test_failure_of_a_task_says_why(self):
        for setting, reason in (
                ("operators: [nand]", "the boolean language has no operator 'nand' with arguments"),
                ("operators: [not, not]", "operator 'not' is named twice"),
                ("variables: [a, and]", "'and' is not a variable")):
            self.p.write("job.yaml", "eqloom: 1\nname: semvec\nnodes:\n  classes: {op: classes, %s}\n" % setting)
            said = self.p.eqloom("run", "job.yaml", "classes", expect=1).err
            self.assertEqual(said.count("FAILED classes: " + reason), 1, said)

    def test_no_trees(self):
        """Digits are no operands: the error names an expression and says what is read."""
        self.p.write("job.yaml", """eqloom: 1
name: semvec
nodes:
  numbers: {op: import-clusters, files: [numbers.tsv], format: pairs}
  words: {op: vocabulary, encoding: e-gen}
  tokens: {op: tokenize, clusters: numbers, vocabulary: words}
  eqnet: {op: train-trees, batches: tokens, vocabulary: words, steps: 1}
""")
        self.p.write("numbers.tsv", "+ x 12\t+ 12 x\n")
        said = self.p.eqloom("run", "job.yaml", expect=1).err
        self.assertIn("is not a tree of single tokens", said)

    def test_functions(self):
        """A network of functions learns pairs, long numbers too; segments go on where they were cut."""
        self.p.write("job.yaml", """eqloom: 1
name: semvec
params: {steps: 4}
nodes:
  numbers: {op: import-clusters, files: [numbers.tsv], format: pairs}
  words: {op: vocabulary, encoding: trees}
  tokens: {op: tokenize, clusters: numbers, vocabulary: words}
  network: {op: train-trees, batches: tokens, vocabulary: words, points: 3, d: 4, hidden: 5, batch: 2,
            segment: 2, lr: 0.001, steps: "${steps}"}
  vectors: {op: embed-trees, batches: tokens, checkpoint: network}
""")
        self.p.write("numbers.tsv", "+ x 128\t+ 128 x\n* 2 sin x\t+ sin x sin x\nd x pow x 2\t* 2 x\n")
        self.p.eqloom("run", "job.yaml", "--set", "steps=2")
        self.assertIn("network: ran, 1 of 3 segments", self.p.eqloom("run", "job.yaml").err)
        self.p.eqloom("export", "semvec/vectors", "-o", "vectors.npy")
        rows = read_npy(self.p.dir / "vectors.npy")
        self.assertEqual([len(row) for row in rows], 6 * [3 * 4])
        for row in rows:
            self.assertAlmostEqual(sum(x * x for x in row), 1, places=5)
        # What export writes of it is the same network again.
        self.p.eqloom("export", "semvec/network", "-o", "network.safetensors")
        self.p.write("job.yaml", (self.p.dir / "job.yaml").read_text() + """
  imported: {op: import-model, files: [network.safetensors]}
  again: {op: embed-trees, batches: tokens, checkpoint: imported}
""")
        self.p.eqloom("run", "job.yaml")
        self.assertEqual(self.p.ids()["semvec/again"], self.p.ids()["semvec/vectors"])

    def test_values(self):
        """Values alone are vectors, against values computed here."""
        job = """eqloom: 1
name: semvec
nodes:
  pairs: {op: import-clusters, files: [pairs.tsv], format: pairs}
  words: {op: vocabulary, encoding: trees}
  tokens: {op: tokenize, clusters: pairs, vocabulary: words}
  values: {op: embed-values, batches: tokens, vocabulary: words, points: 3}
  network: {op: train-trees, batches: tokens, vocabulary: words, points: 3, d: 4, hidden: 5, batch: 2,
            lr: 0.001, steps: 2}
  vectors: {op: embed-trees, batches: tokens, checkpoint: network}
"""
        self.p.write("job.yaml", job)
        self.p.write("pairs.tsv", "+ x 128\t+ 128 x\n* 2 sin x\t+ sin x sin x\nd x pow x 2\t* 2 x\n")
        self.p.eqloom("run", "job.yaml")
        self.p.eqloom("export", "semvec/values", "-o", "values.npy")
        self.p.eqloom("export", "semvec/vectors", "-o", "vectors.npy")
        names = [json.loads(line)["text"] for line in (self.p.dir / "values.npy.jsonl").read_text().splitlines()]
        rows = read_npy(self.p.dir / "values.npy")
        self.assertEqual([len(row) for row in rows], 6 * [3 * 36])
        functions = {"+ x 128": lambda x: x + 128, "* 2 sin x": lambda x: 2 * math.sin(x), "* 2 x": lambda x: 2 * x}
        for text, function in functions.items():
            expected = []
            for x in (0.19 * 24 ** (p / 2) for p in range(3)):
                for k in range(9):
                    angle = 2 ** k * math.asinh(function(x)) / 2
                    expected += [math.sin(angle), math.cos(angle), 0, 1]
            found = rows[names.index(text)]
            for at, (one, other) in enumerate(zip(found, expected)):
                self.assertAlmostEqual(one, other / math.sqrt(54), places=5, msg=f"{text}, {at}")
        for row in read_npy(self.p.dir / "vectors.npy"):
            self.assertAlmostEqual(sum(x * x for x in row), 1, places=5)


if __name__ == "__main__":
    unittest.main()
