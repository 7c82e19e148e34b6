"""The Boolean and polynomial languages from rules to merged clusters, beside an oracle of its own:
truth tables and integer values computed here."""
import itertools
import json
import unittest

from harness import ProjectTest

JOB = """eqloom: 1
name: exact
nodes:
  rules: {op: rules, files: [exact.rules]}
  certified: {op: certify, rules: rules}
  seeds: {op: templates, files: [exact.yaml]}
  egraphs: {op: saturate, exprs: seeds, rules: certified, iterations: 4, max_nodes: 1500}
  clusters: {op: extract, egraphs: egraphs, max_tokens: 11, per_cluster: 20, seed: 1}
  merged: {op: merge, clusters: clusters}
"""
BOOLEAN = """language boolean
group b
commute: ?a & ?b -> ?b & ?a
imply: ?a => ?b <-> not(?a) | ?b
morgan: not(?a & ?b) <-> not(?a) | not(?b)
xor: ?a ^ ?b <-> (?a & not(?b)) | (not(?a) & ?b)
complement: ?a & not(?a) -> false
excluded: ?a | not(?a) -> true
twice: not(not(?a)) -> ?a
"""
POLYNOMIAL = """language polynomial
group p
commute: ?a * ?b -> ?b * ?a
add: ?a + ?b -> ?b + ?a
distribute: ?a * (?b + ?c) <-> ?a * ?b + ?a * ?c
less: ?a * (?b - ?c) <-> ?a * ?b - ?a * ?c
self: ?a - ?a -> 0
"""
OPERATORS = {"and": 2, "or": 2, "xor": 2, "implies": 2, "not": 1, "+": 2, "-": 2, "*": 2}
BITS = {"and": lambda x, y: x & y, "or": lambda x, y: x | y, "xor": lambda x, y: x ^ y,
        "implies": lambda x, y: (1 - x) | y, "not": lambda x: 1 - x,
        "+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y}


def value(tokens, point):
    token = next(tokens)
    if token in OPERATORS:
        return BITS[token](*[value(tokens, point) for _ in range(OPERATORS[token])])
    if token in point:
        return point[token]
    return {"true": 1, "false": 0}[token] if token in ("true", "false") else int(token)


def values(prefix, numbers):
    """The values at all points of a grid: equal for equal terms, and here only for them."""
    return tuple(value(iter(prefix.split()), dict(zip("abe", point)))
                 for point in itertools.product(numbers, repeat=3))


class Languages(ProjectTest):
    def clusters(self, rules, templates):
        self.p.write("exact.rules", rules)
        self.p.write("exact.yaml", templates)
        self.p.write("job.yaml", JOB)
        self.assertEqual(self.p.run()["failed"], 0)
        self.assertEqual(self.p.run()["elements_ran"], 0)
        lines = self.p.eqloom("export", "exact/merged", "--format", "jsonl").out.splitlines()
        return [[member["prefix"] for member in json.loads(line)["members"]] for line in lines]

    def check(self, clusters, numbers):
        seen = set()
        for members in clusters:
            of = {values(member, numbers) for member in members}
            self.assertEqual(len(of), 1, members)
            self.assertFalse(of & seen, "two clusters are equal: " + members[0])
            seen |= of
        self.assertGreater(sum(map(len, clusters)), 3 * len(clusters))

    def test_boolean(self):
        clusters = self.clusters(BOOLEAN, """templates: 1
language: boolean
sets:
  op: ["&", "|", "^", "=>"]
  v: [a, b, not(a), e]
groups:
  g: {templates: ["{v} {op} {v.2}"]}
""")
        self.assertLess(len(clusters), 64)
        self.check(clusters, (0, 1))

    def test_polynomial(self):
        clusters = self.clusters(POLYNOMIAL, """templates: 1
language: polynomial
sets:
  op: ["+", "-", "*"]
  v: [a, b, e, 2]
groups:
  g: {templates: ["{v}*({v.2} {op} {v.3})"], take: 40}
""")
        self.check(clusters, (-7, 2, 3, 11))

    def test_languages_do_not_mix(self):
        self.p.write("exact.rules", POLYNOMIAL)
        self.p.write("exact.yaml", "templates: 1\nlanguage: boolean\ngroups: {g: {templates: [a]}}")
        self.p.write("job.yaml", JOB)
        result = self.p.eqloom("run", "job.yaml", expect=1)
        self.assertIn("this is of the boolean language, the rest is of the "
                      "polynomial language", result.out + result.err)

    def test_a_false_rule_stops_the_job(self):
        self.p.write("exact.rules", BOOLEAN + "wrong: ?a => ?b -> ?b => ?a\n")
        self.p.write("exact.yaml", "templates: 1\nlanguage: boolean\ngroups: {g: {templates: [a]}}")
        self.p.write("job.yaml", JOB)
        result = self.p.eqloom("run", "job.yaml", expect=1)
        self.assertIn("rule b/wrong is false: ?a = true, ?b = false: false against true",
                      result.out + result.err)


if __name__ == "__main__":
    unittest.main()
