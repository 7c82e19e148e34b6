"""Exercises for encoders, end to end: what is drawn, what is embedded of it, and the figures."""
import functools
import json
import math
import unittest

from browser import CHROMIUM, Browser
from harness import Project, read_npy


def cosine(x, y):
    return math.fsum(p * q for p, q in zip(x, y)) / (math.hypot(*x) * math.hypot(*y))


def figures(shown):
    return {v["name"]: v.get("value", 0) for v in shown["values"]}


def tree(tokens):
    """(token, arguments) of prefix tokens."""
    token = next(tokens)
    arity = 2 if token in ("+", "-", "*", "/", "pow", "d") else int(token.isalpha()
                                                                  and token not in ("x", "pi", "e"))
    return token, tuple(tree(tokens) for _ in range(arity))


@functools.lru_cache(maxsize=None)
def edits(xs, ys):
    """Between two forests, by what becomes of their last roots."""
    if not xs or not ys:
        return sum(1 + edits(x[1], ()) for x in xs) + sum(1 + edits((), y[1]) for y in ys)
    (p, below_p), (q, below_q) = xs[-1], ys[-1]
    return min(1 + edits(xs[:-1] + below_p, ys), 1 + edits(xs, ys[:-1] + below_q),
               (p != q) + edits(below_p, below_q) + edits(xs[:-1], ys[:-1]))


class Examine(unittest.TestCase):
    JOB = """eqloom: 1
name: examine
include: [job.yaml]
nodes:
  questions: {op: questions, clusters: parts.test, per_cluster: 3, distance: 2, seed: "${seed}"}
  question-tokens: {op: tokenize-exercises, exercises: questions, vocabulary: vocabulary}
  question-vectors: {op: embed, batches: question-tokens, checkpoint: "model@pooling=mean"}
  question-tfidf:   {op: tfidf, batches: question-tokens, fit: train-tokens}
  understanding: {op: evaluate-questions, questions: questions, embeddings: question-vectors}
  tfidf-understanding:
    {op: evaluate-questions, questions: questions, embeddings: question-tfidf, label: tf-idf}
  derivations: {op: derivations, clusters: parts.test, rules: certified, per_cluster: 4, steps: 2, wrong: 0.6}
  calibration: {op: derivations, clusters: parts.train, rules: certified, per_cluster: 3, steps: 2}
  derivation-tokens:   {op: tokenize-exercises, exercises: derivations, vocabulary: vocabulary}
  calibration-tokens:  {op: tokenize-exercises, exercises: calibration, vocabulary: vocabulary}
  derivation-vectors:  {op: embed, batches: derivation-tokens, checkpoint: "model@pooling=mean"}
  calibration-vectors: {op: embed, batches: calibration-tokens, checkpoint: "model@pooling=mean"}
  mistakes:
    op: evaluate-derivations
    derivations: derivations
    embeddings: derivation-vectors
    calibration: calibration
    calibration_embeddings: calibration-vectors
  distances:
    op: evaluate-distances
    embeddings: "vectors@pooling=mean"
    other: "vectors@pooling=max"
    queries: 12
  picture:
    op: plot-classes
    embeddings: "vectors@pooling=mean"
    other: "vectors@pooling=max"
    other_name: maximum
    by: cluster
    picture: t-sne
    query: 3 + 2*x
    nearest: 3
  page: {op: report, evaluations: [distances, mistakes, understanding, tfidf-understanding]}
  page-of-a-page: {op: report, evaluations: page}
"""

    @classmethod
    def setUpClass(cls):
        cls.p = Project()
        cls.addClassCleanup(cls.p.close)
        cls.p.write("examine.yaml", cls.JOB)
        cls.nodes = ["understanding", "tfidf-understanding", "mistakes", "distances", "page", "picture"]
        cls.summary = cls.p.eqloom("run", "examine.yaml", "--json", *cls.nodes).summary()

    def show(self, node):
        return json.loads(self.p.eqloom("show", f"examine/{node}", "--json").out)["value"]

    def test_figures_follow_from_the_answers(self):
        for node, title in ("understanding", "questions"), ("tfidf-understanding", "tf-idf"):
            shown = self.show(node)
            values = figures(shown)
            rows = [row["cells"] for row in shown["tables"][1]["rows"]]
            self.assertEqual(shown["title"], title)
            self.assertGreater(values["questions"], 3)
            self.assertEqual(len(rows), min(50, values["questions"]))
            self.assertAlmostEqual(values["random"], 1 / 7)
            self.assertAlmostEqual(
                values["accuracy"] + values["like_query"] + values["like_answer"], 1)
            for query, answer, chosen, of_answer, of_chosen in rows:
                self.assertNotEqual(query, answer)
                self.assertEqual(bool(chosen), bool(of_chosen))
                if chosen:
                    self.assertGreaterEqual(float(of_chosen), float(of_answer))

    def test_explain_agrees(self):
        rows = [row["cells"] for row in self.show("understanding")["tables"][1]["rows"]]
        wrong = [row for row in rows if row[2]][:2]
        self.assertTrue(wrong)
        for query, answer, chosen, *_ in wrong:
            self.assertIn(self.p.eqloom("explain", query, answer, expect=None).status, (0, 4))
            self.p.eqloom("explain", query, chosen, expect=3)

    def steps(self, exercises, vectors):
        """(cosine, whether it is wrong) of each step, by derivation."""
        lines = self.p.eqloom("export", f"examine/{exercises}", "-f", "jsonl", "-o", "-").out
        self.p.eqloom("export", f"examine/{vectors}", "-o", f"{vectors}.npy")
        rows = read_npy(self.p.dir / f"{vectors}.npy")
        found, at = [], 0
        for terms in (json.loads(line)["terms"] for line in lines.splitlines()):
            mine = rows[at:at + len(terms)]
            at += len(terms)
            found.append([(cosine(x, y), t["wrong"])
                          for x, y, t in zip(mine, mine[1:], terms[1:])])
        self.assertEqual(at, len(rows))
        return found

    def test_mistakes(self):
        """Every figure, computed again from what is exported."""
        values = figures(self.show("mistakes"))
        calibration = self.steps("calibration", "calibration-vectors")
        right = [[c for c, wrong in d if not wrong] for d in calibration]
        least = [min(cosines) for cosines in right if cosines]
        threshold = values["threshold"]
        self.assertAlmostEqual(threshold, sum(least) / len(least), places=4)
        derivations = self.steps("derivations", "derivation-vectors")
        steps = [step for d in derivations for step in d]
        self.assertEqual((values["derivations"], values["steps"]), (len(derivations), len(steps)))
        self.assertEqual(values["mistakes"], sum(wrong for _, wrong in steps))
        self.assertGreater(values["mistakes"], 0)
        self.assertTrue(all(len(d) >= 2 and sum(w for _, w in d) <= 1 for d in derivations))
        shown = [row["cells"] for row in self.show("mistakes")["tables"][1]["rows"]]
        first = [step for d in derivations[:10] for step in d]
        self.assertEqual(len(shown), len(first))
        for (_, step, reason, of, taken), (c, wrong) in zip(shown, first):
            self.assertIn(" = ", step)
            self.assertEqual(reason == "a mistake", wrong)
            self.assertAlmostEqual(float(of), c, delta=1e-3)
            if abs(c - threshold) > 1e-3:
                self.assertEqual(taken == "a mistake", c < threshold)
        for name, kind in ("mistake", True), ("no_mistake", False):
            # A step that is on the threshold but for rounding may count either way.
            found = [[w == kind for c, w in steps if ((c < threshold + slack) == kind)]
                     for slack in (-1e-5, 1e-5)]
            precisions = [sum(f) / len(f) if f else 0 for f in found]
            recalls = [sum(f) / max(1, sum(w == kind for _, w in steps)) for f in found]
            for figure, bounds in ("precision", precisions), ("recall", recalls):
                self.assertGreaterEqual(values[f"{name}_{figure}"], min(bounds) - 1e-9)
                self.assertLessEqual(values[f"{name}_{figure}"], max(bounds) + 1e-9)

    def test_distances(self):
        """The nearest of every query shown, and how far it is."""
        shown = self.show("distances")
        values = figures(shown)
        rows, texts = [], []
        for pooling in "mean", "max":
            name = f"examine/vectors@pooling={pooling}"
            self.p.eqloom("export", name, "-o", f"{pooling}.npy")
            rows.append(read_npy(self.p.dir / f"{pooling}.npy"))
            index = (self.p.dir / f"{pooling}.npy.jsonl").read_text().splitlines()
            texts.append([json.loads(line)["text"] for line in index])
        self.assertEqual(*texts)
        texts = texts[0]
        self.assertEqual((values["queries"], values["pool"]), (12, len(texts)))
        closer = [0, 0]
        cells = [row["cells"] for row in shown["tables"][1]["rows"]]
        self.assertEqual(len(cells), 12 * 5)
        prefix = self.prefixes(sorted({text for row in cells for text in (row[0], row[1], row[4]) if text}))
        for i in range(0, 12 * 5, 5):
            at = texts.index(prefix[cells[i][0]])
            self.assertFalse(any(row[0] or row[2] for row in cells[i + 1:i + 5]))
            for column, vectors in (1, rows[0]), (4, rows[1]):  # the five nearest, in order
                best = sorted((cosine(vectors[at], v) for v, text in zip(vectors, texts) if text != texts[at]),
                              reverse=True)
                for row, near in zip(cells[i:i + 5], best):
                    found = vectors[texts.index(prefix[row[column]])]
                    self.assertAlmostEqual(cosine(vectors[at], found), near, places=5)
        for query, mine, raw, _, other, other_raw, _ in cells[::5]:
            at = texts.index(prefix[query])
            for answer, distance, vectors in (mine, raw, rows[0]), (other, other_raw, rows[1]):
                best = max(cosine(vectors[at], v)
                           for v, text in zip(vectors, texts) if text != texts[at])
                found = vectors[texts.index(prefix[answer])]
                self.assertAlmostEqual(cosine(vectors[at], found), best, places=5)
                self.assertNotEqual(answer, query)
                self.assertEqual(int(distance), edits((tree(iter(texts[at].split())),),
                                                      (tree(iter(prefix[answer].split())),)))
            closer[0] += int(raw) < int(other_raw)
            closer[1] += int(other_raw) < int(raw)
        self.assertEqual([values["closer"], values["other_closer"]], closer)
        self.assertEqual(values["as_close"], 12 - sum(closer))
        self.assertEqual(values["core_closer"] + values["core_other_closer"]
                         + values["core_as_close"], 12)
        self.assertLessEqual(values["core_distance"], values["distance"])

    def test_picture(self):
        """A panel of each model; the query's nearest, found here once more."""
        shown = self.show("picture")
        cells = [row["cells"] for row in shown["tables"][1]["rows"]]
        self.assertEqual(shown["tables"][1]["columns"], ["one model", "cosine", "maximum", "cosine"])
        page = self.p.eqloom("export", "examine/picture.html", "-f", "raw", "-o", "-").out
        for i, pooling in (0, "mean"), (2, "max"):
            self.p.eqloom("export", f"examine/vectors@pooling={pooling}", "-o", "picture.npy")
            rows = read_npy(self.p.dir / "picture.npy")
            index = (self.p.dir / "picture.npy.jsonl").read_text().splitlines()
            texts = [json.loads(line)["text"] for line in index]
            query = rows[texts.index("+ 3 * 2 x")]
            best = sorted((cosine(query, v) for v, t in zip(rows, texts) if t != "+ 3 * 2 x"), reverse=True)
            prefix = self.prefixes([row[i] for row in cells])
            self.assertEqual(len(cells), 3)
            for row, near in zip(cells, best):
                self.assertAlmostEqual(cosine(query, rows[texts.index(prefix[row[i]])]), near, places=5)
                self.assertAlmostEqual(float(row[i + 1]), near, delta=1e-3)
            self.assertEqual(page.count("<circle"), 2 * len(texts))
        self.assertEqual((page.count("<svg"), page.count("<text"), page.count('type="checkbox"')), (2, 2, 4))
        if CHROMIUM:
            self.zoom("picture.html", page)
        self.p.write("none.yaml", self.JOB.replace("3 + 2*x", "sinh(x)"))
        said = self.p.eqloom("run", "none.yaml", "picture", expect=1).err
        self.assertIn("'embeddings' does not contain the query, sinh(x)", said)

    def zoom(self, name, page):
        """The wheel enlarges what it points at; a double click shows all again."""
        self.p.write(name, page)
        b = Browser()
        self.addCleanup(b.close)
        b.open((self.p.dir / name).as_uri())
        whole = b.run("document.querySelector('svg').getAttribute('viewBox')")
        spot = b.run("""(() => { const r = document.querySelector('svg').getBoundingClientRect();
            return {x: r.left + r.width / 4, y: r.top + r.height / 2}; })()""")
        for _ in range(2):
            b.call("Input.dispatchMouseEvent", type="mouseWheel", deltaX=0, deltaY=-100, **spot)
        b.until("document.querySelector('svg').getAttribute('viewBox').split(' ')[2] < 340")
        x, y, w, h = map(float, b.run("document.querySelector('svg').getAttribute('viewBox')").split())
        all_w, all_h = map(float, whole.split()[2:])
        self.assertAlmostEqual(w / all_w, 0.64)
        self.assertAlmostEqual(h / all_h, 0.64)
        self.assertAlmostEqual((all_w / 4 - x) / w, 1 / 4, places=2)
        self.assertAlmostEqual((all_h / 2 - y) / h, 1 / 2, places=2)
        b.run("document.querySelector('svg').dispatchEvent(new MouseEvent('dblclick'))")
        self.assertEqual(b.run("document.querySelector('svg').getAttribute('viewBox')"), whole)
        self.assertEqual(b.problems(), [])

    def test_the_page_has_all_figures(self):
        """A table for each kind of evaluation; figures by name are those of the evaluations."""
        shown = self.show("page")
        self.assertEqual([t["title"] for t in shown["tables"]],
                         ["Semantic understanding", "Mistake detection", "Distance analysis"])
        self.assertEqual([row["cells"][0] for row in shown["tables"][0]["rows"]],
                         ["questions", "tf-idf"])
        values = figures(shown)
        for node, kind in (("understanding", "understanding.questions"),
                           ("tfidf-understanding", "understanding.tf-idf"),
                           ("mistakes", "mistakes.derivations"),
                           ("distances", "distances.distances")):
            for name, value in figures(self.show(node)).items():
                self.assertEqual(values[f"{kind}.{name}"], value)
        page = self.p.eqloom("export", "examine/page.html", "-f", "raw", "-o", "-").out
        for title in "Semantic understanding", "Mistake detection", "Distance analysis":
            self.assertIn(f"<h2>{title}</h2>", page)
        self.assertIn("<summary>Questions: tf-idf</summary>", page)
        done = self.p.eqloom("run", "examine.yaml", "page-of-a-page", expect=1)
        self.assertIn("is not from an evaluation", done.err)

    def prefixes(self, expressions):
        """By the infix text that tables show."""
        self.p.eqloom("embed", "--model", "examine/model@pooling=mean", "-o", "shown.npy",
                      "--", *expressions)
        index = (self.p.dir / "shown.npy.jsonl").read_text().splitlines()
        return dict(zip(expressions, (json.loads(line)["text"] for line in index)))

    def test_a_second_run_draws_nothing(self):
        again = self.p.eqloom("run", "examine.yaml", "--json", *self.nodes).summary()
        self.assertEqual((again["nodes_ran"], again["elements_ran"]), (0, 0))

    def test_any_number_of_threads_draws_the_same(self):
        other = Project()
        self.addCleanup(other.close)
        other.write("examine.yaml", self.JOB)
        other.eqloom("run", "examine.yaml", "-j1", *self.nodes)
        for node in self.nodes:
            mine, theirs = (json.loads(p.eqloom("show", f"examine/{node}", "--json").out)["id"]
                            for p in (self.p, other))
            self.assertEqual(mine, theirs)

    def test_vectors_of_something_else(self):
        self.p.write("wrong.yaml", self.JOB.replace(
            "embeddings: question-vectors}", 'embeddings: "vectors@pooling=mean"}'))
        done = self.p.eqloom("run", "wrong.yaml", "understanding", expect=1)
        self.assertIn("exercises in 'questions', but", done.err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
