"""A graph network on the equations of small papers: what it learns, what is done again after a
change, and what it says of models and data that do not fit."""
import html
import json
import math
import pathlib
import re
import struct
import unittest

from harness import ProjectTest, read_npy
from test_serve import Server, address

JOB = """eqloom: 1
name: t
params: {steps: 12, segment: 4, objective: histogram+masking, valid: 0.3}
nodes:
  papers:    {op: papers, files: [in]}
  equations: {op: equations, papers: papers}
  mathml:    {op: mathml, equations: equations}
  alphabet:  {op: alphabet, mathml: mathml}
  graphs:    {op: graphs, mathml: mathml, alphabet: alphabet}
  parts:     {op: split-papers, graphs: graphs, valid: "${valid}", test: 0}
  model:
    op: train-graphs
    graphs: parts.train
    alphabet: alphabet
    papers: papers
    valid: parts.valid
    objective: "${objective}"
    d: 16
    out: 8
    batch: 16
    lr: 0.01
    steps: "${steps}"
    segment: "${segment}"
    valid_every: 4
    log_every: 4
  vectors:   {op: embed-graphs, graphs: graphs, checkpoint: model}
  index:     {op: index, embeddings: vectors, checkpoint: model, graphs: graphs, mathml: mathml, papers: papers}
"""
# Each topic has words of its own, from which its papers' equations are made.
TOPICS = [["\\frac{x}{y}", "\\sqrt{x}", "x^2"], ["\\sum_i a_i", "\\prod_j b_j", "\\int f"],
          ["\\alpha\\cup\\beta", "A\\cap B", "\\emptyset"], ["\\mathbf v", "\\hat u", "\\nabla\\phi"]]


def paper(k):
    words = TOPICS[k % len(TOPICS)]
    displays = [f"\\[{words[i % 3]} = {words[(i + k) % 3]} + {i}\\]" for i in range(5)]
    cited = f"arXiv:1501.{(k + 4) % 24:05d}"
    return (f"\\documentclass{{article}}\\title{{Paper {k} <b>}}\\begin{{document}}\\section{{One}}\n" + "\n".join(displays[:3])
            + "\n\\section{Two}\n" + "\n".join(displays[3:])
            + "\\begin{thebibliography}{9}\\bibitem{a} " + cited
            + "\\end{thebibliography}\\end{document}\n")


def read_safetensors(path):
    """Of each tensor its numbers, and the shape."""
    data = pathlib.Path(path).read_bytes()
    n = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:n])
    out = {}
    for name, t in header.items():
        if name != "__metadata__":
            begin, end = t["data_offsets"]
            out[name] = struct.unpack(f"<{(end - begin) // 4}f", data[n + begin:n + end]), t["shape"]
    return out


def times(w, x):
    """W x, W being (rows, len(x))."""
    return [sum(a * b for a, b in zip(w[r * len(x):(r + 1) * len(x)], x)) for r in range(len(w) // len(x))]


def filled(m, g, hidden):
    """Probabilities of a node's character that is hidden, by the formulas of ops/nn/graph."""
    first, d = m["first.weight"][0], m["first.bias"][1][0]
    n = len(g["parent"])

    def around(rows):
        out = [list(r) for r in rows]
        for i, p in enumerate(g["parent"]):
            if p:
                out[i] = [a + b for a, b in zip(out[i], rows[p - 1])]
                out[p - 1] = [a + b for a, b in zip(out[p - 1], rows[i])]
        return [[max(0, a) for a in r] for r in out]

    h = []
    for i in range(n):
        features = [] if i == hidden else [g["tag"][i]] + [31 + a for a in g["attribute"][i:i + 1] if a] \
            + [63 + c for c in g["character"][i:i + 1] if c]
        angles = [g["position"][i] * 10000 ** (-(k - k % 2) / d) for k in range(d)]
        h.append([m["first.bias"][0][k] + sum(first[f * d + k] for f in features)
                  + m["alpha"][0][0] * (math.cos if k % 2 else math.sin)(angles[k]) for k in range(d)])
    h = around(h)
    for layer in range(3):
        if layer % 2 == 0:
            mean, variance = (m[f"norms.{layer // 2}.running_{x}"][0] for x in ("mean", "var"))
            h = [[(x - a) / math.sqrt(v + 1e-5) for x, a, v in zip(r, mean, variance)] for r in h]
        w, b = (m[f"layers.{layer}.{x}"][0] for x in ("weight", "bias"))
        h = around([[x + y for x, y in zip(times(w, r), b)] for r in h])
    logits = [x + y for x, y in zip(times(m["characters.weight"][0], h[hidden]), m["characters.bias"][0])]
    most = max(logits)
    total = sum(math.exp(x - most) for x in logits)
    return [math.exp(x - most) / total for x in logits]


def scaled(x):
    length = math.sqrt(sum(a * a for a in x))
    return [a / length for a in x]


def moments(rows):
    n, d = len(rows), len(rows[0])
    mean = [sum(x[i] for x in rows) / n for i in range(d)]
    return mean, [[sum((x[i] - mean[i]) * (x[k] - mean[k]) for x in rows) / n for k in range(d)]
                  for i in range(d)]


def greatest_share(covariance):
    """Of the variance, how much the greatest direction has, by power iteration."""
    d = len(covariance)
    v = [1 + i / d for i in range(d)]
    for _ in range(300):
        v = scaled([sum(a * b for a, b in zip(row, v)) for row in covariance])
    most = sum(v[i] * sum(a * b for a, b in zip(covariance[i], v)) for i in range(d))
    return most / sum(covariance[i][i] for i in range(d))


class TrainGraphs(ProjectTest):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.p.dir)
        (self.folder / "t.yaml").write_text(JOB)
        (self.folder / "in").mkdir()
        for k in range(24):
            (self.folder / "in" / f"1501.{k:05d}.tex").write_text(paper(k))

    def make(self, *args):
        r = self.p.eqloom("run", "t.yaml", "--json", *args)
        self.assertEqual(r.status, 0, r.err)
        return {e["node"]: e for e in r.events() if e["event"] == "node_done"}

    def model(self):
        return json.loads(self.p.eqloom("show", "t/model", "--json").out)["value"]

    def metrics(self, name):
        return [m.get("value", 0) for m in self.model()["metrics"] if m["name"] == name]

    def test_learns(self):
        nodes = self.make("--set", "steps=120", "--set", "segment=60", "--set", "objective=histogram")
        self.assertEqual(nodes["model"]["ran"], 3)
        self.assertEqual(nodes["vectors"]["ran"], 120)
        self.assertLess(self.metrics("loss")[-1], 0.7 * self.metrics("loss")[0])
        # Papers cite those of their topic, so held-out ones can be told apart.
        self.assertGreater(self.metrics("valid_accuracy")[-1], 0.8)

    def test_what_is_done_again(self):
        self.assertEqual(self.make()["model"]["ran"], 4)
        first = self.p.ids()["t/model"]
        self.assertEqual(self.make()["model"]["ran"], 0)
        # Threads and segments do not matter to what is learnt.
        other = self.project()
        (other.dir / "t.yaml").write_text(JOB)
        (other.dir / "in").mkdir()
        for k in range(24):
            (other.dir / "in" / f"1501.{k:05d}.tex").write_text(paper(k))
        self.assertEqual(other.eqloom("run", "t.yaml", "-j", "1").status, 0)
        self.assertEqual(other.ids()["t/model"], first)
        other.close()
        # A comment changes no graph; another paper changes no draw of the first weights.
        path = self.folder / "in" / "1501.00003.tex"
        path.write_text(paper(3) + "% more\n")
        self.assertEqual(self.make()["model"]["ran"], 0)
        (self.folder / "in" / "1501.00099.tex").write_text(paper(5))
        after = self.make()["model"]
        self.assertEqual(after["ran"] + after["cached"] + after["reused"], 4)
        self.assertGreaterEqual(after["reused"], 1)
        r = self.p.eqloom("run", "t.yaml", "--check")
        self.assertEqual(r.status, 0, r.err)

    def test_objectives(self):
        for objective in ("triplet", "masking", "triplet+masking"):
            self.make("--set", f"objective={objective}", "--set", "steps=40")
            losses = self.metrics("loss")
            self.assertLess(losses[-1], losses[0])
        self.assertIn("architecture=graph", self.model()["architecture"])

    def test_whitening(self):
        """power 0 centres and scales; 0.5 gives all directions with variance one variance."""
        job = (self.folder / "t.yaml").read_text()
        (self.folder / "t.yaml").write_text(job + "".join(f"""
  network{k}:  {{op: whiten-graphs, checkpoint: model, embeddings: vectors, power: {power}}}
  whitened{k}: {{op: embed-graphs, graphs: graphs, checkpoint: network{k}}}
""" for k, power in ((0, 0), (1, 0.25), (2, 0.5))))
        self.make()
        rows = {}
        for name in ("vectors", "whitened0", "whitened1", "whitened2"):
            self.p.eqloom("export", f"t/{name}", "-o", "v.npy")
            rows[name] = read_npy(self.folder / "v.npy")
        mean, covariance = moments(rows["vectors"])
        by = sum(covariance[i][i] for i in range(8)) ** -0.5
        for x, y in zip(rows["vectors"], rows["whitened0"]):
            for a, b, m in zip(x, y, mean):
                self.assertAlmostEqual(b, (a - m) * by, delta=1e-4)
        shares = [greatest_share(covariance)]
        for name in ("whitened1", "whitened2"):
            mean, covariance = moments(rows[name])
            self.assertLess(max(map(abs, mean)), 1e-3)
            self.assertAlmostEqual(sum(covariance[i][i] for i in range(8)), 1, delta=1e-3)
            shares.append(greatest_share(covariance))
        self.assertTrue(shares[0] > 1.2 * shares[1] > 1.44 * shares[2], shares)
        self.assertLess(shares[2], 0.3)

    def test_counts(self):
        """A second part: bags of features of length 1, centred, and with a power whitened."""
        job = (self.folder / "t.yaml").read_text()
        (self.folder / "t.yaml").write_text(job + "\n  bags: {op: bag-of-features, graphs: graphs}\n"
                                            + "".join(f"""
  network{k}: {{op: whiten-graphs, checkpoint: model, embeddings: vectors, power: {power}{counts}}}
  vectors{k}: {{op: embed-graphs, graphs: graphs, checkpoint: network{k}}}
""" for k, power, counts in ((0, 0, ", counts: bags"), (1, 0.25, ", counts: bags"), (2, 0.25, ""))))
        self.make()
        rows = {}
        for name in ("bags", "vectors0", "vectors1", "vectors2"):
            self.p.eqloom("export", f"t/{name}", "-o", "v.npy")
            rows[name] = read_npy(self.folder / "v.npy")
        bags = [scaled(x) for x in rows["bags"]]
        mean = [sum(x[c] for x in bags) / len(bags) for c in range(256)]
        for bag, zero, some, alone in zip(bags, *(rows[f"vectors{k}"] for k in range(3))):
            self.assertEqual(len(zero), 8 + 256)
            for x, y in zip(zero[8:], scaled([b - m for b, m in zip(bag, mean)])):
                self.assertAlmostEqual(x, y, delta=1e-5)
            for x, y in zip(some[:8], scaled(alone)):
                self.assertAlmostEqual(x, y, delta=1e-5)
            self.assertAlmostEqual(sum(x * x for x in some[8:]), 1, delta=1e-5)
        used = [c for c in range(256) if any(x[c] for x in rows["bags"])]
        shares = [greatest_share(moments([[x[8 + c] for c in used] for x in rows[f"vectors{k}"]])[1])
                  for k in (0, 1)]
        self.assertGreater(shares[0], 1.2 * shares[1])
        (self.folder / "t.yaml").write_text((self.folder / "t.yaml").read_text() + """
  again: {op: whiten-graphs, checkpoint: network0, embeddings: vectors0, power: 0}
""")
        r = self.p.eqloom("run", "t.yaml", "again", expect=1)
        self.assertIn("the network's vectors already have a second part", r.err)

    def test_search(self):
        """Equations of the corpus, asked for as LaTeX: what brute force finds by the job's vectors."""
        self.make()
        self.p.eqloom("export", "t/vectors", "-o", "v.npy")
        rows = [scaled(x) for x in read_npy(self.folder / "v.npy")]
        self.p.eqloom("export", "t/mathml", "-o", "m.jsonl")
        known = [json.loads(x) for x in (self.folder / "m.jsonl").read_text().splitlines()]
        known = [x.get("value", x) for x in known]
        for i in (0, 7, 50, 119):
            r = self.p.eqloom("search", "--json", "-k", "5", known[i]["latex"])
            found = r.events()[0]["neighbours"]
            cosines = sorted((sum(a * b for a, b in zip(rows[i], x)) for x in rows), reverse=True)
            for x, cosine in zip(found, cosines):
                self.assertAlmostEqual(x["similarity"], cosine, places=5)
            self.assertIn(known[i]["latex"], [x["latex"] for x in found if x["similarity"] > 0.99999])
            for x in found:
                self.assertEqual((x["title"], x["section_title"]),
                                 (f"Paper {int(x['paper'][5:])} <b>", "One" if x["equation"] < 4 else "Two"))
                self.assertIn((x["latex"], x["paper"], x["equation"]),
                              [(m["latex"], m["place"]["paper"], m["place"].get("number", 0) + 1) for m in known])
            vector = self.p.eqloom("embed", "--json", "$" + known[i]["latex"] + "$").events()[0]["vector"]
            for a, b in zip(vector, rows[i]):
                self.assertAlmostEqual(a, b, places=5)
        # What is no LaTeX by its looks is an expression if it can be one, and is shown as LaTeX.
        r = self.p.eqloom("search", "-k", "1", "sqrt(x)/2")
        self.assertEqual(r.out.splitlines()[0], "\\frac{\\sqrt{x}}{2}")
        self.assertEqual(self.p.eqloom("embed", "x = y").out.split("\t")[0], "x = y")
        self.assertIn("not an expression, so read as LaTeX", self.p.eqloom("embed", "x = y").err)

    def test_page(self):
        """`serve`: what the command finds, as formulas, with paper and section."""
        self.make()
        server = Server(self.p)
        self.addCleanup(server.close)
        query = "\\sum_i a_i = \\frac{x}{y}"
        status, _, body = server.ask(address("/search", q=query, neighbours="4"))
        self.assertEqual(status, 200)
        [answer] = self.p.eqloom("search", "--json", "-k", "4", query).events()
        rows = re.findall(r"<tr><td>([\d.]+)</td><td>(<math>.*?</math>)</td><td>(.*?) <small>(.*?)</small></td>"
                          r"<td>(\w+) <small>(\d+)</small></td><td>(\d+)</td></tr>", body)
        self.assertEqual([(*r[:2], html.unescape(r[2]), *r[3:]) for r in rows],
                         [(f"{x['similarity']:.4f}", x["mathml"], x["title"], x["paper"],
                           x["section_title"], str(x["section"]), str(x["equation"]))
                          for x in answer["neighbours"]])
        self.assertEqual(len(rows), 4)
        self.assertIn("<h2>Nearest to " + answer["mathml"], body)
        _, _, body = server.ask(address("/search", q="\\frac{x"))
        self.assertIn("KaTeX rejects it", body)

    def test_masking(self):
        """What hidden characters are taken for, against the network computed here."""
        (self.folder / "t.yaml").write_text(JOB + "  masking: {op: evaluate-masking, graphs: graphs, "
                                            "checkpoint: model, alphabet: alphabet, hidden: 0.001, sample: 20}\n")
        self.make("--set", "steps=60", "--set", "segment=60")
        self.p.eqloom("export", "t/model", "-o", "m.safetensors")
        m = read_safetensors(self.folder / "m.safetensors")
        names = json.loads(self.p.eqloom("show", "t/alphabet", "--json").out)["value"]["tokens"][63:]
        names = ["none"] + names[1:192] + ["a rare one"]  # 63 + character
        graphs = {}
        for line in self.p.eqloom("query", "graph", ".value", "--json").out.splitlines():
            g = json.loads(line)["yields"]
            graphs["".join(names[c] for c in g["character"] if c)] = g
        report = json.loads(self.p.eqloom("show", "t/masking", "--json").out)["value"]
        rows = [r["cells"] for r in report["tables"][1]["rows"]]
        right = 0
        for text, hidden, guesses in rows:
            g = graphs[text.replace("\u25a0", hidden)]
            node = [i for i, c in enumerate(g["character"]) if c][text.index("\u25a0")]
            p = filled(m, g, node)
            for guess in guesses.split(", "):
                name, value = guess.rsplit(" ", 1)
                self.assertAlmostEqual(p[names.index(name)], float(value), delta=0.0051)
            self.assertAlmostEqual(float(guesses.split(", ")[0].rsplit(" ", 1)[1]), max(p), delta=0.0051)
            right += p.index(max(p)) == names.index(hidden)
        values = {v["name"]: v.get("value", 0) for v in report["values"]}
        self.assertEqual((values["hidden_nodes"], values["equations"]), (20, 20))
        self.assertEqual(values["hidden_characters"], len(rows))
        self.assertGreater(len(rows), 5)
        self.assertAlmostEqual(values["character_accuracy"], right / len(rows), places=9)

    def test_export_and_import(self):
        """What export writes is the same network again: with an alphabet, the same vectors."""
        self.make("--set", "steps=8")
        self.p.eqloom("export", "t/model", "-o", "m.safetensors")
        (self.folder / "t.yaml").write_text(JOB + """  again: {op: import-model, files: [m.safetensors]}
  going-on:
    {op: train-graphs, init: again, graphs: parts.train, alphabet: alphabet, d: 16, out: 8, steps: 0}
  as-before: {op: embed-graphs, graphs: graphs, checkpoint: again}
  same:      {op: embed-graphs, graphs: graphs, checkpoint: going-on}
""")
        self.make("--set", "steps=8")
        ids = self.p.ids()
        self.assertEqual(ids["t/vectors"], ids["t/as-before"])
        self.assertEqual(ids["t/vectors"], ids["t/same"])
        vectors = [self.p.eqloom("embed", "--model", m, "--json", "x^2").out for m in ("t/model", "t/going-on")]
        self.assertEqual(*vectors)
        r = self.p.eqloom("embed", "--model", "t/again", "x^2", expect=2)
        self.assertIn("does not name its alphabet", r.err)
        data = (self.folder / "m.safetensors").read_bytes()
        for old, new, why in ((b"d=16", b"d=15", "has the wrong shape for its model"),
                              (b"layers=3", b"layers=0", "all dimensions of a graph network must be positive"),
                              (b"out=8", b"outs8", "invalid architecture of a graph network")):
            self.assertIn(old, data)
            (self.folder / "m.safetensors").write_bytes(data.replace(old, new, 1))
            self.assertIn(why, self.p.eqloom("run", "t.yaml", "again", expect=2).err)

    def test_messages(self):
        self.make("--set", "valid=0.0001")  # of no paper: nothing is validated
        self.assertEqual(self.metrics("valid_loss"), [])
        r = self.p.eqloom("run", "t.yaml", "--set", "valid=0.0001", "--set", "model.patience=2", expect=1)
        self.assertIn("patience needs the input 'valid': equations of at least two papers are needed; "
                      "valid has 0", r.err)
        r = self.p.eqloom("generate", "--model", "t/model", "x + 1", expect=2)
        self.assertIn("the model reads graphs of equations, not expressions", r.err)
        for command in ("search", "embed"):
            for text, why in (("\\nosuch{x}", "KaTeX rejects it: unknown command"), ("x^{", "KaTeX rejects it: "),
                              (" ", "the equation is empty"), ("$$ $$", "the equation is empty")):
                r = self.p.eqloom(command, text, expect=2)
                self.assertRegex(r.err, "<expression( 1)?>: " + why)
                self.assertEqual(len([x for x in r.err.splitlines() if "error" in x]), 1)
        r = self.p.eqloom("search", "--domain", "x>0", "x", expect=2)
        self.assertIn("--domain cannot be used: t/index is an index of equations", r.err)
        r = self.p.eqloom("run", "t.yaml", "--set", "valid=1", expect=1)
        self.assertIn("equations of at least two papers are needed; graphs has 0", r.err)


if __name__ == "__main__":
    unittest.main()
