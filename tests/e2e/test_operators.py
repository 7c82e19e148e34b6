"""Operators of one's own: commands, a job from rules to a trained model, what a change of the file costs,
and stores read where the file is not."""
import json
import unittest

from harness import ProjectTest
from test_serve import Server, address

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
  certified:  {op: certify, rules: rules, sampled: true}
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
  asked:      {op: analogies, vocabulary: vocabulary, analogies: ["erf(x) : erf(-x) :: sinc(x) : sin(x)/x"]}
  asked-vectors: {op: embed, batches: asked, checkpoint: model}
  algebra:    {op: evaluate-analogies, analogies: asked-vectors, pool: vectors}
  counted:    {op: tfidf, batches: tokens, fit: tokens}
  distances:  {op: evaluate-distances, embeddings: vectors, other: counted}
  writer:     {op: train, objective: seq2seq, batches: tokens, vocabulary: vocabulary, steps: 2,
               d_model: 16, heads: 2, layers: 1, decoder_layers: 1, d_ff: 16, batch: 8, wrap: true}
  written:    {op: generate, batches: tokens, checkpoint: writer, vocabulary: vocabulary, beam: 2, max_tokens: 8}
  right:      {op: evaluate-generation, generations: written}
  given:      {op: import-vectors, files: [my.operators, theirs.jsonl]}
  theirs:     {op: evaluate-distances, embeddings: given, other: given}
exports: {report.html: report.html}
"""


class Operators(ProjectTest):
    def setUp(self):
        super().setUp()
        self.p.write("my.operators", OPERATORS)
        self.p.write("my.rules", RULES)
        self.p.write("my.yaml", TEMPLATES)
        self.p.write("own.yaml", JOB)
        self.p.write("theirs.jsonl", "".join(
            json.dumps({"source": text, "text": text, "vector": [i, 1]}) + "\n"
            for i, text in enumerate(["erf/1 x", "erf/1 y", "- J/2 1 x sinc/1 x"])))

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
        self.assertEqual("sinc(x)\n", self.run_ok("simplify", *own, "erf(x) - erf(x) + sinc(x)"))
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
        self.assertIn("did you mean 'arg'?", r.err)
        self.p.write("my.operators", OPERATORS.replace("2/sqrt(pi)", "2/pi"))
        r = self.p.eqloom("read", "--operators", "my.operators", "x", expect=None)
        self.assertIn("my.operators:3:17: error: this is not the derivative of erf: at x = 1.25", r.err)

    def test_values(self):
        """What is said of values is used by rules, normal forms and conditions, and checked."""
        own = ("--operators", "values.operators")
        with_values = ("operator erf(x) = arb erf\n  values: -1<erf<1\noperator erfc(x) = 1 - erf(x)\n"
                       "operator J/1\n  values: J>0\n")
        self.p.write("values.operators", with_values)
        asked = [("J(x)/J(x)", "1"), ("abs(J(x))", "J(x)"), ("sqrt(erfc(x)^2)", "erfc(x)")]
        for a, b in asked:
            self.assertIn("proved", self.run_ok("explain", "--verdict", *own, a, b))
        for part in ("(abs(J(x)-1)-J(x)+1)", "J(ln(floor(x)))"): # zero, or without values, on open sets
            r = self.p.eqloom("explain", "--verdict", *own, f"{part}/{part}", "1", expect=None)
            self.assertEqual(r.status, 4, r.out)
        self.assertEqual("1 + J(x)\n", self.run_ok("simplify", *own, "J(x)/J(x) + abs(J(x))"))
        self.p.write("guarded.rules", "group own\nroot: sqrt(erfc(?a)^2) -> erfc(?a)  if positive(erfc(?a))\n")
        r = self.p.eqloom("check-rules", "--json", *own, "guarded.rules", expect=None)
        self.assertEqual((r.status, r.summary()["certified"]), (0, 1), r.err)
        saturated = self.p.eqloom("simplify", *own, "--sampled", "--rules", "guarded.rules", "sqrt(erfc(x)^2)")
        self.assertEqual("erfc(x)\n", saturated.out)
        self.assertIn("where own/root is not proved", saturated.err)
        self.p.write("values.operators", with_values.replace("  values: -1<erf<1\n", "").replace("  values: J>0\n", ""))
        for a, b in asked:
            self.assertNotIn("proved", self.p.eqloom("explain", "--verdict", *own, a, b, expect=None).out)
        self.assertNotEqual("erfc(x)\n", self.run_ok("simplify", *own, "--rules", "guarded.rules", "sqrt(erfc(x)^2)"))
        for said, place in [("0<erf<1", ":2:11: error: erf has other values than these: at x = "),
                            ("1<erf<0", ":2:11: error: a domain is"), ("erg<1", ":2:11: error: expected at most 3"),
                            ("", ":2:9: error: expected ':' and text")]:
            self.p.write("values.operators", with_values.replace("-1<erf<1", said))
            r = self.p.eqloom("read", *own, "x", expect=2)
            self.assertIn("values.operators" + place, r.err)

    def test_a_change_of_values_is_seen(self):
        """They stand in the records of what uses the operator: rules and seeds, and no others."""
        self.p.write("my.operators", OPERATORS.replace("operator sinc", "    values: erf:real\noperator sinc"))
        self.run_ok("run", "own.yaml", "clusters")
        self.p.write("my.operators", OPERATORS.replace("operator sinc", "    values: -1<erf<1\noperator sinc"))
        r = self.p.eqloom("run", "--json", "own.yaml", "clusters", expect=None)
        ran = {x["node"] for x in r.events() if x["event"] == "node_done" and x["state"] == "ran"}
        self.assertIn("egraphs", ran)
        self.p.write("my.operators", OPERATORS.replace("operator J", "operator K(x) = arb erf\n    values: K:real\noperator J"))
        self.run_ok("run", "own.yaml", "clusters")
        seed = json.loads(self.run_ok("show", "--json", "own/seeds"))["elements"][0]
        self.assertNotIn("\\n values", self.run_ok("show", "--json", seed))

    def test_a_domain(self):
        """An operator has no value outside: verdicts, certificates, and what a job makes say so."""
        own = ("--operators", "half.operators")
        self.p.write("half.operators", "operator half(x) = sqrt(x)\n    domain: x>=1\n"
                                       "operator log2(x, b) = ln(x)/ln(b)\n    domain: x>0, b>1\n")
        self.assertIn("proved", self.run_ok("explain", "--verdict", *own, "half(x)^2", "x"))
        r = self.p.eqloom("explain", *own, "half(1/2)", "sqrt(1/2)", expect=None)
        self.assertEqual(r.status, 5, r.out)
        self.assertIn("no value: the first expression has none", r.out)
        r = self.p.eqloom("explain", *own, "log2(x, 1/2)", "-ln(x)/ln(2)", expect=None)
        self.assertIn("no value", r.out)
        self.assertIn("proved", self.run_ok("explain", "--verdict", *own, "log2(x^2, 2)", "2*log2(x, 2)"))
        self.p.write("my.operators", OPERATORS.replace("sin(x)/x", "sin(x)/x\n    domain: x>0"))
        self.run_ok("run", "own.yaml", "merged")
        seeds = json.loads(self.run_ok("show", "--json", "own/seeds"))["elements"]
        self.assertTrue(any("domain: 0<x" in self.run_ok("show", "--json", s) for s in seeds[-8:]))
        self.p.write("half.operators", "operator half(x) = sqrt(x)\n    domain: x>1, y:real\n")
        self.assertIn("half.operators:2:18: error: 'y' is not an argument of half",
                      self.p.eqloom("read", *own, "x", expect=2).err)

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
        # the model's vocabulary says what they mean
        for own in [("--operators", "my.operators"), ()]:
            out = self.run_ok("search", *own, "erf(-x)")
            self.assertRegex(out, r"proved +-erf\(x\)")
        self.assertIn("erf(x)", self.run_ok("embed", "--model", "own/model", "erf(x)"))
        self.run_ok("generate", "--model", "own/writer", "erf(x)")
        self.assertIn("erf", (self.p.dir / "out/own/report.html").read_text())

    def shown(self, name):
        return json.loads(self.run_ok("show", "--json", name))

    def figures(self, node):
        return {v["name"]: v["value"] for v in self.shown("own/" + node)["value"]["values"]}

    def test_evaluations(self):
        """Each knows from its records what the operators mean."""
        self.run_ok("run", "own.yaml")
        [asked] = self.shown("own/asked")["elements"]
        batch = self.shown(asked)["value"]
        self.assertEqual(batch["text"], ["erf/1 x", "erf/1 * -1 x", "sinc/1 x", "/ sin x x"])
        self.assertIn("operator sinc/1 = sin(x)/x", batch["language"])
        self.assertNotIn("J/2", batch["language"])
        for node, text in [("algebra", "erf(-x)"), ("distances", "sinc("), ("theirs", "J(1, x) - sinc(x)")]:
            self.assertIn(text, json.dumps(self.shown("own/" + node)), node)
        self.assertGreater(self.figures("right")["inputs"], 10)
        # y2 is the only one that is no input; it equals x2, by the definition of sinc
        self.p.write("own.yaml", JOB.replace(", pool: vectors}", "}"))
        self.run_ok("run", "own.yaml", "algebra")
        self.assertEqual(self.figures("algebra")["accuracy@1"], 1)

    def test_imports_and_pages(self):
        """A corpus of others with own operators, and serve, which is told of them once."""
        self.p.write("theirs.tsv.jsonl", json.dumps({"seed": "erf/1 x", "members": ["- * -1 erf/1 * -1 x 0", "erf/1 x"]}) + "\n")
        self.p.write("import.yaml", "eqloom: 1\nname: theirs\nnodes:\n"
                     "  theirs: {op: import-clusters, files: [my.operators, theirs.tsv.jsonl], format: jsonl}\n")
        self.run_ok("run", "import.yaml")
        line = json.loads(self.run_ok("export", "theirs/theirs", "-f", "jsonl", "-o", "-"))
        self.assertEqual(line["seed"]["infix"], "erf(x)")
        [cluster] = json.loads(self.run_ok("show", "--json", "theirs/theirs"))["elements"]
        self.assertIn("operator erf/1 = arb erf", self.run_ok("show", "--json", cluster))
        server = Server(self.p, "--operators", "my.operators")
        try:
            status, _, body = server.ask(address("/explain", a="x*sinc(x)", b="sin(x)"))
            self.assertEqual(status, 200)
            self.assertIn("proved", body)
            self.assertIn("erf", server.ask(address("/read", a="erf(x)"))[2])
        finally:
            server.close()

    def test_what_is_printed_as_latex_is_read(self):
        for text in ["floor(x + 1)^2", "ceil(x/2)", "factorial(n)", "factorial(factorial(n))", "factorial(n)^2", "factorial(-n)",
                     "factorial(sin(x))", "factorial(n^2)", "2*factorial(n)*x", "x^factorial(n)", "binomial(n, k + 1)^2",
                     "binomial(n, k)/2", "Gamma(x + 1)", "Gamma*gamma", "Gamma + 1", "Re(z) + Im(z)", "arg(conj(z))",
                     "max(x, min(y, z))", "atan2(y, x)", "log2(x)", "log10(x + 1)", "cbrt(x)", "sign(x)", "erf(erfc(x))",
                     "polygamma(1, digamma(x))", "d(x, floor(x))", "sin(floor(x))", "abs(floor(x))", "floor(abs(x))"]:
            latex = self.run_ok("read", "--json", text)
            latex = json.loads(latex)["latex"]
            self.assertIn(f"infix   {text}\n", self.run_ok("read", "--syntax", "latex", latex), latex)

    def test_shipped_ones_need_no_option(self):
        self.p.write("t.yaml", "templates: 1\ngroups: {a: {templates: ['floor(x)^2 + x!', 'sin(x)']}}\n")
        self.p.write("t.rules", "group g\nshift: floor(?a + 1) -> floor(?a) + 1   if real(?a)\n")
        self.p.write("t.jsonl", json.dumps({"source": "floor/1 x", "text": "floor/1 x", "vector": [1, 2]}) + "\n")
        self.p.write("t.yaml.job", """eqloom: 1
name: t
nodes:
  rules:     {op: rules, files: [t.rules, "builtin:operators/standard"]}
  certified: {op: certify, rules: rules}
  seeds:     {op: templates, files: [t.yaml]}
  egraphs:   {op: saturate, exprs: seeds, rules: certified, iterations: 3, max_nodes: 300}
  clusters:  {op: extract, egraphs: egraphs, max_tokens: 10, per_cluster: 5}
""")
        self.p.eqloom("run", "t.yaml.job")
        seeds = json.loads(self.run_ok("show", "--json", "t/seeds"))["elements"]
        texts = "".join(self.run_ok("show", "--json", seed) for seed in seeds)
        self.assertIn("operator floor/1 = arb floor", texts)
        self.assertNotIn("operator ceil/1", texts)

    def test_rules_cannot_take_their_names(self):
        self.p.write("t.rules", "operator floor/1\ngroup g\na: floor(?a) -> ?a\n")
        r = self.p.eqloom("check-rules", "t.rules", expect=None)
        self.assertEqual(r.status, 2)
        self.assertIn("operator 'floor' comes with eqloom and has a meaning", r.err)

    def test_two_arguments_in_latex(self):
        own = ("--operators", "my.operators", "--syntax", "latex")
        for latex in [r"\operatorname{J}(1, x)^2", r"\operatorname{J}_{1}\left(x\right)^{2}",
                      r"\operatorname{J}^2\left(1, x\right)"]:
            self.assertIn("J(1, x)^2\n", self.run_ok("read", *own, latex))
        latex = json.loads(self.run_ok("read", "--json", *own[:2], "2*J(n + 1, x)^2"))["latex"]
        self.assertIn("2*J(n + 1, x)^2\n", self.run_ok("read", *own, latex))
        for latex, said in [(r"\operatorname{J} x", "{J} needs its arguments in brackets"),
                            (r"\operatorname{J}(x)", "this function has two arguments"),
                            (r"\operatorname{J}\left(1, x, y\right)", "does not close after two arguments"),
                            (r"\operatorname{J}(1, x", "does not close after two arguments"),
                            (r"\operatorname{J}^2(1, x)^3", "two exponents")]:
            r = self.p.eqloom("read", *own, latex, expect=2)
            self.assertIn(said, r.err)

    def test_cutoff(self):
        """What nobody uses costs nothing; what is used costs what uses it."""
        self.run_ok("run", "own.yaml")
        self.p.write("my.operators", "# other\n" + OPERATORS.replace("J(n, x)", "J(k, t)")
                     .replace("(J(n - 1, x) - J(n + 1, x))", "(J(k - 1, t) - J(k + 1, t))")
                     .replace("derivative x", "derivative t") + "operator g(x) = arb gamma\n")
        r = self.p.eqloom("run", "--json", "own.yaml", expect=None)
        ran = {x["node"] for x in r.events() if x["event"] == "node_done" and x["state"] == "ran"}
        self.assertEqual(ran, set())
        self.p.write("my.operators", OPERATORS.replace("sin(x)/x", "sin(x)/(1*x)"))
        r = self.p.eqloom("run", "--json", "own.yaml", expect=None)
        self.assertEqual(r.status, 0, r.err)
        ran = {x["node"] for x in r.events() if x["event"] == "node_done" and x["state"] == "ran"}
        self.assertLessEqual({"rules", "seeds", "egraphs", "vocabulary"}, ran)

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
