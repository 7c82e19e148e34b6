"""EED's data and SemEmb's models, small: random expressions, uniform over trees; forms that are verified; parts
in which no expression stands twice; two models that write and are judged."""
import collections
import json
import math
import pathlib
import shutil
import statistics
import unittest

from harness import ProjectTest, read_npy

JOBS = pathlib.Path(__file__).resolve().parents[2] / "jobs"
SMALL = ("--set", "count=60", "--set", "steps=2", "--set", "d_model=16", "--set", "d_ff=32", "--set",
         "heads=2", "--set", "layers=1", "--set", "batch=8", "--set", "classes=20")

OPERATORS = set("+ - * / pow sqrt abs ln sin cos tan cot sec csc asin acos atan acot asec acsc sinh cosh tanh coth "
                "sech csch asinh acosh atanh acoth asech acsch".split())

SHAPES = """eqloom: 1
name: shapes
nodes:
  drawn: {op: random-expressions, count: 6000, operators: "sqrt:1,add:1", min_operators: 2, max_operators: 2,
          variable: 0.5, max_integer: 1000000, positive: true, seed: 3}
"""


class Eed(ProjectTest):
    def members(self, ref):
        lines = self.p.eqloom("export", ref, "--format", "jsonl").out.splitlines()
        return [[m for m in json.loads(line)["members"]] for line in lines]

    def test_trees_are_uniform(self):
        """There are six trees of two inner nodes; copies and trees without x are left out."""
        self.p.write("job.yaml", SHAPES)
        self.p.run()
        found = collections.Counter()
        for line in self.p.eqloom("export", "shapes/drawn", "--format", "jsonl").out.splitlines():
            tokens = json.loads(line)["prefix"].split()
            found["".join(t if t in ("sqrt", "+") else "." for t in tokens)] += 1
        self.assertEqual(set(found), {"sqrtsqrt.", "sqrt+..", "+sqrt..", "+.sqrt.", "++...", "+.+.."})
        self.assertEqual(found["sqrtsqrt."], 1)
        for shape, n in found.items():
            leaves = shape.count(".")
            if leaves > 1:
                wanted = 1000 * (1 - 2 * 0.5 ** leaves) + 1
                self.assertLess(abs(n - wanted), 110, shape)

    def test_mistakes(self):
        for given, wanted in (("operators: 'ad:1'", "'ad' is not an operator"),
                              ("operators: 'add:x'", "'add' is not an operator with a weight"),
                              ("operators: 'add:'", "'add' is not an operator with a weight"),
                              ("operators: 'add:1x'", "'add' is not an operator with a weight"),
                              ("operators: 'add:0'", "'add' is not an operator with a weight"),
                              ("operators: 'sin:1,add:-1'", "'add' is not an operator with a weight"),
                              ("operators: 'add:1e9'", "'add' is not an operator with a weight"),
                              ("operators: 'x:1'", "'x' is not an operator with a weight"),
                              ("operators: ', '", "'operators' is empty"),
                              ("operators: '%s'" % ",".join(["sin"] * 65), "'operators': more than 64"),
                              ("min_operators: 9", "'min_operators' is more")):
            self.p.write("job.yaml", "eqloom: 1\nname: x\nnodes:\n"
                                     "  x: {op: random-expressions, %s}\n" % given)
            self.assertIn(wanted, self.p.eqloom("plan", "job.yaml", expect=2).err)

    def test_weights_and_leaves(self):
        """Operators by their weights, 1 without one; integers by their bound and sign; few operators, or
        those of one arity, are enough; a larger count only adds expressions."""
        def drawn(parameters):
            self.p.write("job.yaml", "eqloom: 1\nname: w\nnodes:\n"
                                     "  x: {op: random-expressions, %s}\n" % parameters)
            self.p.run()
            return [json.loads(line)["prefix"].split()
                    for line in self.p.eqloom("export", "w/x", "--format", "jsonl").out.splitlines()]
        one = "min_operators: 1, max_operators: 1, max_integer: 1000000, variable: 0.5"
        terms = drawn(one + ", count: 4000, operators: 'add,mul:3'")
        sums = sum(t[0] == "+" for t in terms)
        self.assertLess(abs(sums / len(terms) - 0.25), 0.04)
        signs = [t.startswith("-") for x in terms for t in x[1:] if t.lstrip("-").isdigit()]
        self.assertLess(abs(sum(signs) / len(signs) - 0.5), 0.05)
        self.assertEqual(drawn(one + ", count: 400, operators: 'add,mul:3'"),
                         terms[:len(drawn(one + ", count: 400, operators: 'add,mul:3'"))])
        small = drawn("max_operators: 1, min_operators: 1, max_integer: 3, positive: true, operators: 'add'")
        self.assertEqual({t for x in small for t in x}, {"+", "x", "1", "2", "3"})
        self.assertEqual(len(small), 7)
        self.assertEqual(drawn("min_operators: 0, max_operators: 0"), [["x"]])
        unary = drawn("operators: 'sin,cos', min_operators: 2, max_operators: 2, variable: 1")
        self.assertEqual(sorted(" ".join(t) for t in unary),
                         ["cos cos x", "cos sin x", "sin cos x", "sin sin x"])
        binary = drawn("operators: 'add', min_operators: 2, max_operators: 2, variable: 1")
        self.assertEqual(sorted(" ".join(t) for t in binary), ["+ + x x x", "+ x + x x"])
        by_size = collections.Counter(sum(t in OPERATORS for t in x) for x in drawn(
            "operators: 'add', min_operators: 2, max_operators: 4, max_integer: 1000000, count: 3000"))
        self.assertEqual(set(by_size), {2, 3, 4})
        self.assertLess(max(by_size.values()) - min(by_size.values()), 250)

    def test_forms_of_other_languages(self):
        """`rewrite-forms` is of the calculus, and its transformations are named."""
        self.p.write("mine.rules", "language boolean\ngroup g\nr: ?a & ?b -> ?b & ?a\n")
        self.p.write("mine.yaml", "templates: 1\ngroups: {g: {templates: ['x + 1']}}\n")
        self.p.write("f.yaml", "eqloom: 1\nname: f\nparams: {forms: [expand]}\nnodes:\n"
                               "  rules: {op: rules, files: [mine.rules]}\n"
                               "  certified: {op: certify, rules: rules}\n"
                               "  seeds: {op: templates, files: [mine.yaml]}\n"
                               "  forms: {op: rewrite-forms, exprs: seeds, rules: certified, forms: \"${forms}\"}\n")
        failed = self.p.eqloom("run", "f.yaml", expect=None)
        self.assertIn("the rules must be of the calculus", failed.err)
        self.assertNotEqual(failed.status, 0)
        failed = self.p.eqloom("plan", "f.yaml", "--set", "forms=expnd", expect=2)
        self.assertIn("unknown transformation 'expnd'", failed.err)
        self.assertIn("did you mean 'expand'?", failed.err)

    def test_the_job(self):
        shutil.copytree(JOBS, self.p.dir / "jobs")
        self.p.eqloom("run", "jobs/eed.yaml", *SMALL)
        standings = collections.Counter(m["standing"] for c in self.members("eed/verified") for m in c)
        self.assertEqual(set(standings), {"PROVED"})
        self.assertGreater(standings["PROVED"], 100)
        parts = [{m["prefix"] for c in self.members(f"eed/parts{part}") for m in c}
                 for part in ("", ".valid", ".test")]
        self.assertEqual(len(set.union(*parts)), sum(map(len, parts)))
        pairs = (self.p.dir / "out/eed/train.tsv").read_text().splitlines()
        words = {x for line in pairs for x in line.split("\t")}
        self.assertTrue(words & {x for x in words if x.startswith("add ")})
        self.assertFalse([x for x in words if x.startswith("+")])
        test = (self.p.dir / "out/eed/test.txt").read_text().splitlines()
        self.assertEqual(len(test), len(parts[2]))
        self.assertFalse(words & set(test))
        page = (self.p.dir / "out/eed/classes.html").read_text()
        self.assertEqual(page.count("<svg"), 2)
        figures = json.loads(self.p.eqloom("export", "eed/classes", "--format", "jsonl").out)
        values = {v["name"]: v["value"] for v in figures["values"]}
        self.assertEqual(page.count("<circle"), 2 * values["expressions"])
        self.assertTrue(0 < values["share_1"] + values["share_2"] <= 1)
        self.statistics()
        self.nearest()
        self.printed()

    def printed(self):
        """Ten queries, with five of the training set by each model."""
        report = json.loads(self.p.eqloom("export", "eed/nearest", "--format", "jsonl").out)
        rows = [row["cells"] for row in report["tables"][1]["rows"]]
        queries = {row[0] for row in rows if row[0]}
        self.assertEqual((len(rows), len(queries)), (50, 10))
        self.assertIn("4*x^2*cos(3*x - 1)", queries)
        train = {m["infix"] for c in self.members("eed/parts") for m in c}
        self.assertLessEqual({row[i] for row in rows for i in (1, 4)}, train)

    def statistics(self):
        """The table of operators and lengths, counted here once more."""
        members = [m for c in self.members("eed/parts") for m in c]
        operators = [sum(t in OPERATORS for t in m["prefix"].split()) for m in members]
        lengths = [m["tokens"] for m in members]
        report = json.loads(self.p.eqloom("export", "eed/train-statistics", "--format", "jsonl").out)
        values = {v["name"]: v["value"] for v in report["values"]}
        for name, wanted in (("operators per expression", statistics.mean(operators)),
                             ("their deviation", statistics.pstdev(operators)),
                             ("mean length", statistics.mean(lengths)),
                             ("its deviation", statistics.pstdev(lengths))):
            self.assertAlmostEqual(values["corpus." + name], wanted, places=6, msg=name)
        kinds = sum(values[f"corpus.operators of {n}"]
                    for n in ("one kind", "2 kinds", "3 kinds", "4 kinds"))
        self.assertEqual(kinds, sum(n > 0 for n in operators))

    def nearest(self):
        """The first query's neighbour, found among all vectors of the training set."""
        def vectors(ref):
            self.p.eqloom("export", ref, "-o", "vectors.npy")
            rows = [json.loads(line) for line in (self.p.dir / "vectors.npy.jsonl").read_text().splitlines()]
            return {r["text"]: v for r, v in zip(rows, read_npy(self.p.dir / "vectors.npy"))}

        queries = vectors("eed/query-vectors@objective=seq2seq")
        pool = vectors("eed/pool-vectors@objective=seq2seq")
        shown = {m["prefix"]: m["infix"] for part in ("", ".test")
                 for c in self.members("eed/parts" + part) for m in c}
        report = json.loads(self.p.eqloom("export", "eed/distances", "--format", "jsonl").out)
        values = {v["name"]: v["value"] for v in report["values"]}
        self.assertEqual(values["pool"], len(pool))
        first = report["tables"][1]["rows"][0]["cells"]
        query = next(v for text, v in queries.items() if shown[text] == first[0])

        def cosine(x, y):
            return sum(a * b for a, b in zip(x, y)) / (math.hypot(*x) * math.hypot(*y))
        best = max(pool, key=lambda text: cosine(query, pool[text]))
        self.assertEqual(shown[best], first[1])


if __name__ == "__main__":
    unittest.main()
