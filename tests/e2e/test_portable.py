"""The kernels that any machine has (EQLOOM_CPU=base), from training to questions on the command
line: the same ids for any number of threads, vectors as on this machine's best kernels, and one
store that serves both without taking the results of one for those of the other."""
import json
import unittest

from harness import Project, ProjectTest

JOB = """eqloom: 1
name: portable
include: [job.yaml]
nodes:
  corpus-tokens: {op: tokenize, clusters: merged, vocabulary: vocabulary}
  encoder:
    op: train
    batches: train-tokens
    vocabulary: vocabulary
    valid: test-tokens
    valid_every: 3
    matrix: {objective: [contrastive, siamese, histogram]}
    optimizer: muon
    attention_bias: true
    activation: gelu
    positions: learned
    pooling: max
    wrap: true
    steps: 6
    segment: 4
    batch: 8
    dropout: 0.1
    d_model: 16
    heads: 2
    layers: 2
    d_ff: 32
  rounded:
    op: train
    batches: train-tokens
    vocabulary: vocabulary
    precision: bf16
    steps: 6
    segment: 6
    batch: 8
    d_model: 16
    heads: 2
    layers: 1
    d_ff: 32
  writer:
    op: train
    objective: seq2seq
    batches: train-tokens
    vocabulary: vocabulary
    decoder_layers: 1
    steps: 6
    segment: 6
    batch: 8
    d_model: 16
    heads: 2
    layers: 1
    d_ff: 32
  corpus-vectors:  {op: embed, batches: corpus-tokens, checkpoint: "encoder@objective=siamese"}
  rounded-vectors: {op: embed, batches: corpus-tokens, checkpoint: rounded, precision: bf16}
  index:           {op: index, embeddings: corpus-vectors, checkpoint: "encoder@objective=siamese"}
  generations:
    op: generate
    batches: test-tokens
    checkpoint: writer
    vocabulary: vocabulary
    beam: 3
    max_tokens: 8
    limit: 3
"""

LEARNT = ("encoder@objective=contrastive", "encoder@objective=siamese",
          "encoder@objective=histogram", "rounded", "writer", "corpus-vectors", "rounded-vectors",
          "generations")


class PortableProject(Project):
    portable = True

    def environment(self):
        return super().environment() | ({"EQLOOM_CPU": "base"} if self.portable else {})


class Portable(ProjectTest):
    def portable_project(self):
        p = PortableProject()
        self.addCleanup(p.close)
        p.write("portable.yaml", JOB)
        return p

    def go(self, p, *args):
        return p.eqloom("run", "portable.yaml", "--json", *args).summary()

    def ask(self, p, *args):
        return [json.loads(line) for line in p.eqloom(*args, "--json").out.splitlines()]

    def answers(self, p):
        """Vectors, similarities of neighbours, and how likely what is written is."""
        asked = ["sin(x)^2", "cos(2*x)", "x"]
        vectors = self.ask(p, "embed", "--model", "portable/encoder@objective=siamese", *asked)
        found = self.ask(p, "search", "--index", "portable/index", "-k", "3", *asked)
        written = self.ask(p, "generate", "--model", "portable/writer", "--max-tokens", "8", *asked)
        return [row["vector"] for row in vectors] + \
            [[n["similarity"] for n in row["neighbours"]] for row in found] + \
            [[a["log_probability"] for a in row["answers"]] for row in written]

    def test_threads(self):
        one, three = self.portable_project(), self.portable_project()
        self.go(one, "-j1")
        self.go(three, "-j3")
        self.assertEqual(one.ids(), three.ids())
        self.assertEqual(self.go(one)["nodes_ran"], 0)

    def test_beside_the_best(self):
        p = self.portable_project()
        self.go(p)
        base = p.ids()
        for node in LEARNT:
            self.assertRegex(p.eqloom("why", base[f"portable/{node}"]).out,
                             r"op \w+ version \d+, cpu-f32-base\n")
        answers = self.answers(p)
        p.portable = False
        self.go(p)
        for x, y in zip(answers, self.answers(p)):
            self.assertEqual(len(x), len(y))
            for a, b in zip(x, y):
                self.assertAlmostEqual(a, b, places=3)
        best = p.ids()
        p.portable = True
        self.assertEqual(self.go(p)["nodes_ran"], 0)  # each has its own results in the store
        self.assertEqual(p.ids(), base)
        p.portable = False
        self.assertEqual(self.go(p)["nodes_ran"], 0)
        self.assertEqual(p.ids(), best)


if __name__ == "__main__":
    unittest.main()
