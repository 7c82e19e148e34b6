"""Rules that prove what cannot be: through the binary, a run stops at a contradiction and says which
two derivations collide; a wrong member is refuted."""
import json
import unittest

from harness import ProjectTest

JOB = """eqloom: 1
name: bad
nodes:
  rules: {op: rules, files: [my.rules]}
  certified: {op: certify, rules: rules, allow_unsound: true}
  seeds: {op: templates, files: [my.yaml]}
  egraphs: {op: saturate, exprs: seeds, rules: certified, iterations: 6, max_nodes: 2000}
  clusters: {op: extract, egraphs: egraphs, max_tokens: 11, per_cluster: 40, seed: 1}
"""
GOOD = """group ring
add: ?a + ?b -> ?b + ?a
zero: ?a + 0 -> ?a
self: ?a - ?a -> 0
"""


class Contradiction(ProjectTest):
    def prepare(self, rules, terms):
        self.p.write("my.rules", rules)
        self.p.write("my.yaml", "templates: 1\ngroups: {g: {templates: %s}}" % json.dumps(terms))
        self.p.write("job.yaml", JOB)

    def test_two_derivations_collide(self):
        self.prepare(GOOD + "group bad\none: ?a - ?b -> 1\n", ["ln(x + 0 - x + 3)", "sin(x)"])
        result = self.p.eqloom("run", "job.yaml", expect=1)
        said = result.out + result.err
        for words in ("contradiction: ", "by rule ", "  one derivation\n", "  another derivation from the same",
                      "[ring/zero]", "[ring/self]", "[bad/one]   false", "its value: 0",
                      "its value: 1"):
            self.assertIn(words, said)
        self.assertIn("1 failed", said)
        self.assertNotIn("assert", said)
        # what does not contradict itself is done, and the failure comes again, the same
        again = self.p.eqloom("run", "job.yaml", expect=1)
        self.assertIn("its value: 1", again.out + again.err)

    def test_plan_of_a_rule_that_contradicts(self):
        self.prepare(GOOD, ["ln(x + 0 - x + 3)", "sin(x)"])
        self.p.eqloom("run", "job.yaml")
        self.prepare(GOOD + "group bad\none: ?a - ?b -> 1\n", ["ln(x + 0 - x + 3)", "sin(x)"])
        self.assertIn("egraphs", self.p.eqloom("plan", "job.yaml").out)
        self.assertIn("egraphs", self.p.eqloom("run", "-n", "job.yaml").out)

    def test_equations_between_facts_that_cannot_meet(self):
        self.prepare("group bad\nminus: exp(?a) -> -exp(?a)\n", ["x*exp(x)"])
        result = self.p.eqloom("run", "job.yaml", expect=1)
        said = result.out + result.err
        self.assertIn("[bad/minus]   false", said)
        self.assertIn("its value: (0.99", said)
        self.assertIn("its value: (-inf,-0.99", said)

    def test_what_varies_is_no_number(self):
        self.prepare("group bad\nlog: ln(?a) -> 2\n", ["sqrt(ln(x))"])
        result = self.p.eqloom("run", "job.yaml", expect=1)
        self.assertIn("    its value: (-inf,inf) nonzero (not constant)\n", result.out + result.err)

    def test_a_refuted_member_fails_its_element(self):
        self.prepare(GOOD + "group bad\nlie: cos(?a) + ?b -> sin(?a) + ?b\n", ["y + cos(x)", "x + 2"])
        result = self.p.eqloom("run", "job.yaml", expect=1)
        said = result.out + result.err
        for words in ("is not equal to the seed 'y + cos(x)': y = ", "a rule is false", "1 failed"):
            self.assertIn(words, said)


if __name__ == "__main__":
    unittest.main()
