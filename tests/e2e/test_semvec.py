"""The jobs that make SemVec's data and learn from it: classes of equal Boolean terms and polynomials of a
grammar, unseen classes and unseen expressions held out; checked by values computed here."""
import itertools
import json
import pathlib
import shutil
import unittest

from harness import ProjectTest

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
    """All terms in a, b, c of at most so many nodes, in sets of equal ones of more than one."""
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
    return {frozenset(c) for c in classes.values() if len(c) > 1}


class SemVec(ProjectTest):
    def run_job(self, name, numbers, operators):
        shutil.copy(JOBS / (name + ".yaml"), self.p.dir / "job.yaml")
        args = ("--set", "max_nodes=5", "--set", "steps=2", "--set", "max_members=2000",
                "--set", "operators=" + json.dumps(operators))
        summary = self.p.run(*args)
        self.assertEqual(summary["failed"], 0)
        self.assertEqual(self.p.run(*args)["nodes_ran"], 0)
        classes = {}
        for part in ("train", "unseen"):
            data = json.loads((self.p.dir / "out" / name / (part + ".json")).read_text())
            self.assertGreater(len(data), 1)
            for entry in data.values():
                lists = [entry["Original"]["Tokens"]] + [n["Tokens"] for n in entry["Noise"]]
                found = {values(tokens, numbers) for tokens in lists}
                self.assertEqual(len(found), 1, lists)
                self.assertNotIn(found, classes.values(), "one class twice: %s" % lists[0])
                classes[part, str(lists[0])] = found
        lines = self.p.eqloom("export", name + "/classes", "--format", "jsonl", "-o", "-").out
        made = [json.loads(line)["members"] for line in lines.splitlines()]
        self.assertEqual({frozenset(m["prefix"] for m in members) for members in made},
                         grammar(operators, numbers, 5))
        figures = self.p.eqloom("show", name + "/unseen-eval").out
        self.assertIn("precision@5", figures)

    def test_boolean(self):
        self.run_job("semvec-boolean", (0, 1), ["not", "and", "or", "xor", "implies"])

    def test_polynomial(self):
        self.run_job("semvec-polynomial", (-7, 2, 3, 11), ["+", "-", "*"])

    def test_parts_share_no_expression(self):
        self.run_job("semvec-boolean", (0, 1), ["not", "and", "or"])
        seen = set()
        for part in ("seen", "seen.valid", "seen.test"):
            out = self.p.eqloom("export", "semvec-boolean/" + part, "--format", "jsonl").out
            for line in out.splitlines():
                for member in json.loads(line)["members"]:
                    self.assertNotIn(member["prefix"], seen)
                    seen.add(member["prefix"])
        self.assertGreater(len(seen), 50)

    def test_failure_of_a_task_says_why(self):
        shutil.copy(JOBS / "semvec-boolean.yaml", self.p.dir / "job.yaml")
        for setting, reason in (
                ("operators=[nand]", "the boolean language has no operator 'nand' with arguments"),
                ("operators=[not, not]", "operator 'not' is named twice"),
                ("variables=[a, and]", "'and' is not a variable")):
            said = self.p.eqloom("run", "job.yaml", "classes", "--set", setting, expect=1).err
            self.assertEqual(said.count("FAILED classes: " + reason), 1, said)


if __name__ == "__main__":
    unittest.main()
