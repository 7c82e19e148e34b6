"""`eqloom embed` and `eqloom search`: vectors of expressions, neighbours with verdicts, and what is
said when there is no model or no index."""
import importlib.util
import json
import math
import os
import pathlib
import subprocess
import sys
import unittest

from harness import BINARY, TIMEOUT_S, Project, read_npy

INDEX = """
  corpus-tokens:  {op: tokenize, clusters: merged, vocabulary: vocabulary}
  corpus-vectors: {op: embed, batches: corpus-tokens, checkpoint: "model@pooling=mean"}
  index:          {op: index, embeddings: corpus-vectors, checkpoint: "model@pooling=mean"}
refs:"""


def dot(x, y):
    return sum(a * b for a, b in zip(x, y))


class Search(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.p = Project()
        cls.addClassCleanup(cls.p.close)
        cls.p.edit("job.yaml", "\nrefs:", INDEX)
        cls.p.eqloom("run", "job.yaml")
        cls.p.eqloom("export", "small/corpus-vectors", "-f", "npy", "-o", "corpus.npy")
        cls.vectors = read_npy(cls.p.dir / "corpus.npy")
        rows = (cls.p.dir / "corpus.npy.jsonl").read_text().splitlines()
        cls.texts = [json.loads(row)["text"] for row in rows]

    def lines(self, *args):
        return [json.loads(line) for line in self.p.eqloom(*args, "--json").out.splitlines()]

    def ask(self, text, **kwargs):
        return subprocess.run([os.path.abspath(BINARY), *text], cwd=self.p.dir, text=True,
                              env=self.p.environment(), capture_output=True, timeout=TIMEOUT_S, **kwargs)

    def test_vectors_are_those_of_the_corpus(self):
        some = list(range(0, len(self.texts), 7))
        texts = [self.texts[i] for i in some]
        rows = self.lines("embed", "--syntax", "prefix", *texts)
        self.assertEqual([row["prefix"] for row in rows], texts)
        for i, row in zip(some, rows):
            for a, b in zip(row["vector"], self.vectors[i]):
                self.assertAlmostEqual(a, b, places=6)

    def test_units_of_bf16_are_in_the_key(self):
        self.p.write("bf16.yaml", """eqloom: 1
name: bf16
include: [job.yaml]
nodes:
  rounded: {op: embed, batches: corpus-tokens, checkpoint: "model@pooling=mean", precision: bf16}
""")
        self.p.eqloom("run", "bf16.yaml", "rounded")
        ids = self.p.ids()
        exact, rounded = ids["small/corpus-vectors"], ids["bf16/rounded"]
        made = r"op embed version \d+, cpu-f32-\w+"
        self.assertRegex(self.p.eqloom("why", exact).out, made + r"\n")
        if exact != rounded:  # there are units for bf16
            self.assertRegex(self.p.eqloom("why", rounded).out,
                             made + r", (tiles|avx512-bf16)\n")
        self.p.eqloom("export", "bf16/rounded", "-f", "npy", "-o", "rounded.npy")
        for x, y in zip(self.vectors, read_npy(self.p.dir / "rounded.npy")):
            self.assertGreater(dot(x, y), 0.999)

    ANALOGIES = """eqloom: 1
name: algebra
include: [job.yaml]
nodes:
  asked:
    op: analogies
    vocabulary: vocabulary
    analogies: ["sin(x) : cos(x) :: csc(x) : sec(x)", "x : x^2 :: sin(x) : sin(x)*sin(x)"]
  asked-vectors: {op: embed, batches: asked, checkpoint: "model@pooling=mean"}
  algebra: {op: evaluate-analogies, analogies: asked-vectors, pool: corpus-vectors, label: few}
"""

    def test_analogies(self):
        """Every analogy has an answer that is no input; the figures follow from the answers."""
        self.p.write("algebra.yaml", self.ANALOGIES)
        self.p.eqloom("run", "algebra.yaml", "algebra")
        shown = json.loads(self.p.eqloom("show", "algebra/algebra", "--json").out)["value"]
        values = {v["name"]: v.get("value", 0) for v in shown["values"]}
        rows = [row["cells"] for row in shown["tables"][1]["rows"]]
        self.assertEqual(rows[0][:4], ["sin(x)", "cos(x)", "csc(x)", "sec(x)"])
        self.assertEqual(rows[1][3], "sin(x)*sin(x)")
        self.assertEqual((values["analogies"], values["pool"]), (2, len(self.texts)))
        for name, places in ("accuracy@1", ("1",)), ("accuracy@5", ("1", "2", "3", "4", "5")):
            self.assertEqual(values[name], sum(row[5] in places for row in rows) / 2)
        for row in rows:
            self.assertNotIn(row[4], row[:3])
            self.assertTrue(row[4])

    def test_families(self):
        """Each pair of a family is to each other one as in an analogy, after the analogies given."""
        pairs = ["sin(x) : -sin(-x)", "cos(x) : cos(-x)", "tan(x) : -tan(-x)"]
        related = [f"{a} :: {b}" for a in pairs for b in pairs if a != b]
        families = '    families: ["%s", "x : x^2; cos(x) : cos(x)^2"]\n' % "; ".join(pairs)
        self.p.write("families.yaml", self.ANALOGIES.replace("  asked-vectors:", families + "  asked-vectors:"))
        self.p.eqloom("run", "families.yaml", "algebra")
        shown = json.loads(self.p.eqloom("show", "algebra/algebra", "--json").out)["value"]
        rows = [row["cells"] for row in shown["tables"][1]["rows"]]
        texts = ["%s : %s :: %s : %s" % tuple(row[:4]) for row in rows]
        self.assertEqual(texts[2:], related + ["x : x^2 :: cos(x) : cos(x)^2", "cos(x) : cos(x)^2 :: x : x^2"])

    def test_an_analogy_has_four_terms(self):
        self.p.write("three.yaml", self.ANALOGIES.replace(" : sec(x)", ""))
        done = self.p.eqloom("run", "three.yaml", "asked", expect=1)
        self.assertIn("'sin(x) : cos(x) :: csc(x)' is not an analogy", done.err)
        self.assertIn("an analogy is written 'x1 : y1 :: x2 : y2'", done.err)

    def test_an_error_names_the_analogy(self):
        self.p.write("open.yaml", self.ANALOGIES.replace("sin(x)*sin(x)", "sin("))
        done = self.p.eqloom("run", "open.yaml", "asked", expect=1)
        self.assertIn("analogy 2:1:25: the expression ends too early", done.err)

    def test_vectors_in_files(self):
        self.p.eqloom("embed", "x", "sin(x)", "-o", "two.npy")
        self.p.eqloom("embed", "x", "sin(x)", "-o", "two.jsonl")
        rows = [json.loads(line) for line in (self.p.dir / "two.jsonl").read_text().splitlines()]
        self.assertEqual([row["expression"] for row in rows], ["x", "sin(x)"])
        for a, b in zip(read_npy(self.p.dir / "two.npy"), rows):
            self.assertEqual(len(a), len(b["vector"]))
            self.assertTrue(all(abs(x - y) < 1e-7 for x, y in zip(a, b["vector"])))
        index = (self.p.dir / "two.npy.jsonl").read_text().splitlines()
        self.assertEqual(json.loads(index[1])["text"], "sin x")
        self.assertIn("in .npy or .jsonl",
                      self.p.eqloom("embed", "x", "-o", "two.txt", expect=2).err)

    def test_python_reproduces_the_vectors(self):
        """docs/embed.py, where its libraries are there; what it reads is checked in any case."""
        self.p.eqloom("export", "best", "-o", "encoder.safetensors")
        config = json.loads((self.p.dir / "encoder.safetensors.json").read_text())
        self.assertEqual(config["architecture"]["d_model"], 16)
        self.assertIs(config["architecture"]["attention_bias"], False)
        self.assertEqual(config["step"], 6)
        self.assertEqual(config["encoding"], "e-gen")
        self.assertEqual(config["tokens"][:4], ["<pad>", "<start>", "<end>", "+"])
        if not all(map(importlib.util.find_spec, ("numpy", "torch", "safetensors"))):
            self.skipTest("needs numpy, torch and safetensors")
        example = pathlib.Path(__file__).parents[2] / "docs" / "embed.py"
        done = subprocess.run([sys.executable, example, "encoder.safetensors", "corpus.npy"],
                              cwd=self.p.dir, text=True, capture_output=True, timeout=TIMEOUT_S)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"{len(self.texts)} vectors, the greatest difference is", done.stdout)

    def test_words(self):
        done = self.p.eqloom("embed", "sin(x)^2", "cos(2*x)")
        self.assertIn("best, step 6: 16 dimensions", done.err)
        self.assertRegex(done.err, r"[0-9] vectors? in [0-9.]+ ms")
        self.assertIn("cosine of sin(x)^2 and cos(2*x): ", done.err)
        names, vectors = zip(*(line.split("\t") for line in done.out.splitlines()))
        self.assertEqual(names, ("sin(x)^2", "cos(2*x)"))
        for vector in vectors:
            self.assertAlmostEqual(math.hypot(*map(float, vector.split())), 1, places=4)
        raw = self.p.eqloom("embed", "--raw", "x").out.split("\t")[1].split()
        self.assertGreater(abs(math.hypot(*map(float, raw)) - 1), 1e-3)

    def test_neighbours_are_the_nearest(self):
        i = len(self.texts) // 2
        answer = self.lines("search", "-k", "12", "--syntax", "prefix", self.texts[i])[0]
        best = sorted((-dot(self.vectors[i], v), j) for j, v in enumerate(self.vectors))[:12]
        found = answer["neighbours"]
        self.assertEqual(len(found), 12)
        for got, (similarity, _) in zip(found, best):
            self.assertAlmostEqual(got["similarity"], -similarity, places=5)
        mine = [f for f in found if f["prefix"] == self.texts[i]]
        self.assertEqual(mine[0]["verdict"], "proved")
        self.assertEqual(mine[0]["why"], "the same expression")
        self.assertGreater(answer["ms"], 0)

    def test_one_of_each_cluster(self):
        found = self.lines("search", "-k", "4", "--per-cluster", "1", "sin(x)")[0]["neighbours"]
        self.assertEqual(len({f["cluster"] for f in found}), len(found))

    def test_a_verdict_of_every_neighbour(self):
        """The verdicts of all members of the corpus are those of `eqloom explain`, or kinder: a
        cluster carries proofs further than one e-graph."""
        seed = self.lines("search", "-k", "1", "x")[0]["neighbours"][0]["seed"]
        found = self.lines("search", "-k", "1000", f"({seed}) + 0")[0]["neighbours"]
        verdicts = {f["verdict"] for f in found}
        self.assertIn("proved", verdicts)
        self.assertIn("refuted", verdicts)
        for f in found:
            if f["seed"] == seed:
                self.assertEqual(f["verdict"], "proved", f)

    def test_domains(self):
        """abs(x) - x is zero for positive x, which is what the seeds say, and for real x it is not."""
        seed = self.lines("search", "-k", "1", "x")[0]["neighbours"][0]["seed"]
        question = f"{seed} + abs(x) - x"

        def verdicts(*more):
            answer = self.lines("search", "-k", "1000", question, *more)[0]
            return answer.get("assumed"), {n["expression"]: n["verdict"] for n in answer["neighbours"]}

        for more, said in (([], None), (["--domain", "x:positive"], "x:positive"),
                           (["--domain", "x>1", "--real"], "x>1, real values")):
            assumed, found = verdicts(*more)
            self.assertEqual(found[seed], "proved", more)
            self.assertEqual(assumed, said)
        for more in (["--domain", "x:real"], ["--domain", "x<-1"], ["--domain", "x:complex"]):
            self.assertEqual(verdicts(*more)[1][seed], "refuted", more)
        self.assertIn(", for x:real\n", self.p.eqloom("search", "--domain", "x:real", "x").out)
        self.assertIn("a domain is x:real", self.p.eqloom("search", "--domain", "x:big", "x", expect=2).err)

    def test_questions_on_standard_input(self):
        done = self.ask(["search", "-k", "2", "-", "tan(x)"], input="sin(x)\n\n cos(x) \n")
        self.assertEqual(done.returncode, 0, done.stderr)
        heads = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
        self.assertEqual(heads, ["sin(x)", "cos(x)", "tan(x)"])
        wrong = self.ask(["search", "-k", "2", "-"], input="sin(x)\nsin(\nx\ty\ncos(x)\n")
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("<standard input>:2:5: error:", wrong.stderr)
        self.assertIn("<standard input>:3:2: error: a tab", wrong.stderr)
        self.assertIn("2 of 4 lines could not be read", wrong.stderr)
        self.assertIn("\ncos(x)\n", wrong.stdout)  # it went on

    def test_latex(self):
        for more in ([], ["--syntax", "latex"]):
            latex = self.lines("search", "--latex", "-k", "3", "\\sin^2 x", *more)[0]
            infix = self.lines("search", "-k", "3", "sin(x)^2")[0]
            self.assertEqual(latex["question"], "\\sin^{2}\\left(x\\right)")
            self.assertEqual([n["prefix"] for n in latex["neighbours"]],
                             [n["prefix"] for n in infix["neighbours"]])
        latex, infix = (self.lines("embed", *args)[0]
                        for args in (["--latex", "\\sqrt{x}"], ["sqrt(x)"]))
        self.assertEqual(latex.pop("expression"), "\\sqrt{x}")
        self.assertEqual(infix.pop("expression"), "sqrt(x)")
        self.assertEqual(latex, infix)

    def test_errors_say_what_to_do(self):
        def refused(status, *args):
            return self.p.eqloom(*args, expect=status).err

        self.assertIn("did you mean 'sin'?", refused(2, "embed", "sni(x)"))
        self.assertIn("'w' of '* x w' is not in the vocabulary", refused(2, "embed", "x*w"))
        self.assertIn("no expressions are given", refused(2, "search"))
        self.assertIn("did you mean 'infix'?", refused(2, "search", "x", "--syntax", "infx"))
        self.assertIn("--neighbours takes a number from 1 to 1000", refused(2, "search", "x", "-k", "0"))
        self.assertIn("is not a trained model but a record of kind 'collection'",
                      refused(2, "embed", "--model", "small/vectors@pooling=mean", "x"))
        long = "+".join(["x"] * 200)
        self.assertIn("the model's max_length allows 256",
                      refused(1, "embed", long))


class Choice(unittest.TestCase):
    def setUp(self):
        self.p = Project()
        self.addCleanup(self.p.close)

    def test_without_a_model(self):
        error = self.p.eqloom("embed", "x", expect=2).err
        self.assertIn("there is no store", error)
        self.p.eqloom("run", "job.yaml", "merged")
        self.assertIn("the store has no checkpoint", self.p.eqloom("embed", "x", expect=2).err)
        error = self.p.eqloom("search", "x", expect=2).err
        self.assertIn("the store has no index", error)
        self.assertIn("jobs/quickstart.yaml", error)

    def test_several_models(self):
        self.p.edit("job.yaml", "refs: {best: \"model@pooling=mean\"}", "")
        self.p.eqloom("run", "job.yaml", "model@pooling=mean", "model@pooling=max")
        error = self.p.eqloom("embed", "x", expect=2).err
        self.assertIn("by --model REF", error)
        self.assertIn("small/model@pooling=max", error)
        self.p.eqloom("embed", "x", "--model", "model@pooling=max")


if __name__ == "__main__":
    unittest.main()
