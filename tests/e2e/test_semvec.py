"""The jobs that make SemVec's data: classes of equal Boolean terms and polynomials from a grammar and
rules, unseen classes and unseen expressions held out; checked by values computed here."""
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


class SemVec(ProjectTest):
    def run_job(self, name, *numbers):
        for folder in ("rules/semvec", "templates"):
            shutil.copytree(JOBS / folder, self.p.dir / folder, dirs_exist_ok=True)
        shutil.copy(JOBS / (name + ".yaml"), self.p.dir / "job.yaml")
        summary = self.p.run("--set", "limit=60", "--set", "per_cluster=20")
        self.assertEqual(summary["failed"], 0)
        self.assertEqual(self.p.run("--set", "limit=60", "--set", "per_cluster=20")["elements_ran"], 0)
        classes, members = {}, 0
        for part in ("train", "unseen"):
            data = json.loads((self.p.dir / "out" / name / (part + ".json")).read_text())
            self.assertGreater(len(data), 1)
            for entry in data.values():
                lists = [entry["Original"]["Tokens"]] + [n["Tokens"] for n in entry["Noise"]]
                found = {values(tokens, numbers) for tokens in lists}
                self.assertEqual(len(found), 1, lists)
                self.assertNotIn(found, classes.values(), "one class twice: %s" % lists[0])
                classes[part, str(lists[0])] = found
                members += len(lists)
        self.assertGreater(members, 4 * len(classes))

    def test_boolean(self):
        self.run_job("semvec-boolean", 0, 1)
        lines = self.p.eqloom("export", "semvec-boolean/unseen-tokens", "--format", "jsonl").out
        self.assertTrue(lines)

    def test_polynomial(self):
        self.run_job("semvec-polynomial", -7, 2, 3, 11)

    def test_parts_share_no_expression(self):
        self.run_job("semvec-boolean", 0, 1)
        seen = set()
        for part in ("seen", "seen.valid", "seen.test"):
            out = self.p.eqloom("export", "semvec-boolean/" + part, "--format", "jsonl").out
            for line in out.splitlines():
                for member in json.loads(line)["members"]:
                    self.assertNotIn(member["prefix"], seen)
                    seen.add(member["prefix"])
        self.assertGreater(len(seen), 50)


if __name__ == "__main__":
    unittest.main()
