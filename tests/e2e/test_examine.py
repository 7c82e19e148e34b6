"""Exercises for encoders, end to end: what is drawn, what is embedded of it, and the figures."""
import json
import unittest

from harness import Project


def figures(shown):
    return {v["name"]: v.get("value", 0) for v in shown["values"]}


class Examine(unittest.TestCase):
    JOB = """eqloom: 1
name: examine
include: [job.yaml]
nodes:
  questions: {op: questions, clusters: parts.test, per_cluster: 3, distance: 2, seed: ${seed}}
  question-tokens: {op: tokenize-exercises, exercises: questions, vocabulary: vocabulary}
  question-vectors: {op: embed, batches: question-tokens, checkpoint: "model@pooling=mean"}
  question-tfidf:   {op: tfidf, batches: question-tokens, fit: train-tokens}
  understanding: {op: evaluate-questions, questions: questions, embeddings: question-vectors}
  tfidf-understanding:
    {op: evaluate-questions, questions: questions, embeddings: question-tfidf, label: tf-idf}
"""

    @classmethod
    def setUpClass(cls):
        cls.p = Project()
        cls.addClassCleanup(cls.p.close)
        cls.p.write("examine.yaml", cls.JOB)
        cls.nodes = ["understanding", "tfidf-understanding"]
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
