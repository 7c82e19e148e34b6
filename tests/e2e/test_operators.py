"""Operators of one's own: commands, a job from rules to a trained model, what a change of the file costs,
and stores read where the file is not."""
import json
import unittest

from harness import ProjectTest

OPERATORS = r"""# Functions that eqloom does not bring.
operator erf(x) = arb erf
    derivative: 2/sqrt(pi)*e^(-x^2)
operator sinc(x) = sin(x)/x
operator J(n, x) = arb bessel_j
    derivative x: (J(n - 1, x) - J(n + 1, x))/2
"""
RULES = """group own
erf-odd:  erf(-?a) <-> -erf(?a)
sinc-def: sinc(?a) <-> sin(?a)/?a   if nonzero(?a)
sub:      ?a - ?a -> 0
neg:      (-1)*?a + ?a -> 0
commute:  ?a + ?b -> ?b + ?a
zero:     ?a + 0 <-> ?a
"""
FALSE = "group own\nfalse: erf(2*?a) -> 2*erf(?a)\n"
TEMPLATES = """templates: 1
sets: {f: [erf, sinc, sin], n: [2, 3]}
groups:
  simple: {templates: ["{f}(x)", "{f}(-x)", "{f}({n}*x)", "x*{f}(x)", "{f}(x)^{n}"]}
"""
JOB = """eqloom: 1
name: own
nodes:
  rules:      {op: rules, files: [my.operators, my.rules]}
  certified:  {op: certify, rules: rules}
  seeds:      {op: templates, files: [my.operators, my.yaml]}
  egraphs:    {op: saturate, exprs: seeds, rules: certified, iterations: 4, max_nodes: 500}
  clusters:   {op: extract, egraphs: egraphs, max_tokens: 12, per_cluster: 12}
  merged:     {op: merge, clusters: clusters}
  verified:   {op: verify, clusters: merged, rules: certified}
  vocabulary: {op: vocabulary, encoding: placed, clusters: merged}
  tokens:     {op: tokenize, clusters: merged, vocabulary: vocabulary}
  model:      {op: train, batches: tokens, vocabulary: vocabulary, steps: 2, d_model: 16,
               heads: 2, layers: 1, d_ff: 16, batch: 8}
  vectors:    {op: embed, batches: tokens, checkpoint: model}
  index:      {op: index, embeddings: vectors, checkpoint: model}
  report:     {op: report, evaluations: [evaluation], embeddings: vectors, clusters: merged}
  evaluation: {op: evaluate, embeddings: vectors}
  file:       {op: export-corpus, clusters: merged, format: e-gen}
exports: {report.html: report.html}
"""


class Operators(ProjectTest):
    def setUp(self):
        super().setUp()
        self.p.write("my.operators", OPERATORS)
        self.p.write("my.rules", RULES)
        self.p.write("my.yaml", TEMPLATES)
        self.p.write("own.yaml", JOB)

    def run_ok(self, *words):
        r = self.p.eqloom(*words, expect=None)
        self.assertEqual(r.status, 0, r.err)
        return r.out

    def test_commands(self):
        own = ("--operators", "my.operators")
        self.assertIn("+ pow erf/1 x 2 J/2 1 x", self.run_ok("read", *own, "erf(x)^2 + J(1, x)"))
        self.assertIn(r"\operatorname{sinc}", self.run_ok("read", *own, r"\operatorname{sinc} x"))
        for a, b in (("d(x, erf(3*x))", "6/sqrt(pi)*e^(-9*x^2)"), ("x*sinc(x)", "sin(x)"),
                     ("d(x, J(1, x))", "(J(0, x) - J(2, x))/2")):
            self.assertIn("proved", self.run_ok("explain", "--verdict", *own, a, b))
        r = self.p.eqloom("explain", *own, "erf(2*x)", "2*erf(x)", expect=None)
        self.assertEqual(r.status, 3)
        self.assertIn("refuted: at x =", r.out)
        self.assertIn("sinc(x)\n", self.run_ok("simplify", *own, "sinc(x)^2/sinc(x)"))
        self.assertIn("erf(x)", self.run_ok("variants", *own, "-n", "3", "erf(x) + erf(x)"))
        r = self.p.eqloom("check-rules", "--json", *own, "my.rules", expect=None)
        self.assertEqual(r.status, 0, r.err + r.out)
        self.assertEqual(r.summary()["certified"], 9)
        self.p.write("false.rules", FALSE)
        r = self.p.eqloom("check-rules", *own, "false.rules", expect=None)
        self.assertEqual(r.status, 3)
        self.assertIn("?a = 1: 0.99532227 against 1.6854016", r.out)

    def test_mistakes_have_a_place(self):
        self.p.write("my.operators", OPERATORS.replace("arb erf", "arb erg"))
        r = self.p.eqloom("run", "own.yaml", expect=None)
        self.assertEqual(r.status, 2)
        self.assertIn("my.operators:2:23: error: Arb has no function 'erg' of 1 argument here", r.err)
        r = self.p.eqloom("read", "--operators", "my.operators", "x", expect=None)
        self.assertEqual(r.status, 2)
        self.assertIn("did you mean 'erf'?", r.err)
        self.p.write("my.operators", OPERATORS.replace("2/sqrt(pi)", "2/pi"))
        r = self.p.eqloom("read", "--operators", "my.operators", "x", expect=None)
        self.assertIn("my.operators:3:17: error: this is not the derivative of erf: at x = 1.25", r.err)

    def test_job(self):
        self.run_ok("run", "own.yaml")
        members = [json.loads(x)["members"] for x in
                   self.run_ok("export", "own/merged", "--format", "jsonl", "-o", "-").splitlines()]
        texts = {m["expression"] if "expression" in m else m["infix"] for c in members for m in c}
        self.assertIn("-erf(x)", texts)
        self.assertIn("sin(x)/x", texts)
        # one cluster has both, though the seeds are of other operators
        both = [c for c in members if "sin(x)/x" in json.dumps(c) and "sinc(x)" in json.dumps(c)]
        self.assertTrue(both)
        vocabulary = json.loads(self.run_ok("show", "--json", "own/vocabulary"))
        tokens = json.dumps(vocabulary)
        self.assertIn("erf/1", tokens)
        self.assertNotIn("J/2", tokens)   # nothing uses it
        out = self.run_ok("search", "--operators", "my.operators", "erf(-x)")
        self.assertRegex(out, r"proved +\S+ +-erf\(x\)|proved.*-erf\(x\)")
        self.assertIn("erf", (self.p.dir / "out/own/report.html").read_text())

    def test_cutoff(self):
        """What nobody uses costs nothing; what is used costs what uses it."""
        self.run_ok("run", "own.yaml")
        self.p.write("my.operators", "# other\n" + OPERATORS.replace("J(n, x)", "J(k, t)")
                     .replace("(J(n - 1, x) - J(n + 1, x))", "(J(k - 1, t) - J(k + 1, t))")
                     .replace("derivative x", "derivative t") + "operator g(x) = arb gamma\n")
        r = self.p.eqloom("run", "--json", "own.yaml", expect=None)
        ran = {x["node"] for x in r.events() if x.get("event") == "node" and x.get("state") == "ran"}
        self.assertLessEqual(ran, {"rules", "seeds"})
        self.p.write("my.operators", OPERATORS.replace("sin(x)/x", "sin(x)/(1*x)"))
        r = self.p.eqloom("run", "--json", "own.yaml", expect=None)
        self.assertEqual(r.status, 0, r.err)

    def test_without_the_file(self):
        self.run_ok("run", "own.yaml")
        before = self.run_ok("export", "own/merged", "--format", "jsonl", "-o", "-")
        (self.p.dir / "my.operators").unlink()
        self.assertEqual(before, self.run_ok("export", "own/merged", "--format", "jsonl", "-o", "-"))
        self.assertIn("erf(x)", self.run_ok("show", "own/seeds"))
        element = json.loads(self.run_ok("show", "--json", "own/seeds"))["elements"][0]
        self.assertIn("operator erf/1 = arb erf", self.run_ok("show", "--json", element))
        self.assertIn("operatorname{erf}", self.run_ok("show", "--latex", element))


if __name__ == "__main__":
    unittest.main()
