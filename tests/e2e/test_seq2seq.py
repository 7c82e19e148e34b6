"""Sequence to sequence from a job: training, embedding, generating, evaluating; the same ids on any
number of threads; killed ten times, the same final checkpoint."""
import json
import os
import random
import subprocess
import time
import unittest

from harness import Moments, ProjectTest

MODEL = """    batches: train-tokens
    vocabulary: vocabulary
    segment: 5
    batch: 8
    d_model: 16
    heads: 2
    layers: 1
    decoder_layers: 1
    d_ff: 32
    wrap: true
    lr: 0.003
    dropout: 0.1
    seed: ${seed}
"""

JOB = f"""eqloom: 1
name: seq
include: [job.yaml]
params: {{seq-steps: 12}}
nodes:
  writer:
    op: train
    objective: seq2seq
    steps: ${{seq-steps}}
    valid: test-tokens
    valid_every: 5
    patience: 100
{MODEL}
  copier:
    op: train
    objective: autoencode
    steps: 4
{MODEL}
  writer-vectors: {{op: embed, batches: test-tokens, checkpoint: writer}}
  writer-eval:    {{op: evaluate, embeddings: writer-vectors}}
  generations:
    op: generate
    batches: test-tokens
    checkpoint: writer
    vocabulary: vocabulary
    beam: 6
    max_tokens: 10
    limit: 3
  written: {{op: evaluate-generation, generations: generations, label: writer}}
"""


class Seq2seq(ProjectTest):
    def setUp(self):
        super().setUp()
        self.p.write("seq.yaml", JOB)

    def go(self, project, *args):
        return project.eqloom("run", "seq.yaml", "--json", *args).summary()

    def values(self, project, node):
        record = json.loads(project.eqloom("show", f"seq/{node}", "--json").out)["value"]
        return {v["name"]: v["value"] for v in record["values"]}

    def test_whole(self):
        self.go(self.p, "-j1")
        wanted = self.p.ids()
        self.assertEqual(self.go(self.p)["nodes_ran"], 0)
        written = self.values(self.p, "written")
        self.assertGreater(written["inputs"], 0)
        shares = [v for n, v in written.items() if n.startswith("first_")]
        self.assertAlmostEqual(sum(shares) + written["without_result"], 1)
        self.assertTrue(0 <= written["accuracy@1"] <= written["accuracy@5"] <= 1)
        self.assertGreater(self.values(self.p, "writer-eval")["sequences"], 0)
        lines = self.p.eqloom("export", "seq/generations", "--format", "jsonl", "-o", "-").out
        for line in lines.splitlines():
            for one in json.loads(line)["written"]:
                scores = [c["log_probability"] for c in one.get("candidates", [])]
                self.assertEqual(scores, sorted(scores, reverse=True))
        other = self.project()
        other.write("seq.yaml", JOB)
        self.go(other, "-j3")
        self.assertEqual(other.ids(), wanted)

    def answers(self, *args):
        out = self.p.eqloom("generate", "--json", *args).out
        return [json.loads(line) for line in out.splitlines()]

    def test_on_the_command_line(self):
        """`eqloom generate` writes what the op writes, and judges it as `explain` does."""
        self.go(self.p, "generations", "model")
        lines = self.p.eqloom("export", "seq/generations", "--format", "jsonl", "-o", "-").out
        written = [w for line in lines.splitlines() for w in json.loads(line)["written"]][:6]
        common = ("--model", "seq/writer", "--max-tokens", "10", "--syntax", "prefix")
        answers = self.answers("--beams", "6", *common, *(w["input"] for w in written))
        self.assertEqual(len(answers), len(written))
        judged = set()
        for asked, answer in zip(written, answers):
            wanted = asked.get("candidates", [])
            self.assertEqual([x["prefix"] for x in answer["answers"]],
                             [c["prefix"] for c in wanted])
            for x, c in zip(answer["answers"], wanted):
                self.assertAlmostEqual(x["log_probability"], c["log_probability"], places=3)
                judged.add(x["verdict"])
                self.assertEqual("expression" in x, x["verdict"] != "malformed")
                if x["verdict"] in ("proved", "refuted"):
                    status = {"proved": 0, "refuted": 3}[x["verdict"]]
                    self.p.eqloom("explain", answer["question"], x["expression"], expect=status)
        self.assertTrue(judged <= {"same", "proved", "refuted", "undecided", "malformed"}, judged)
        greedy = self.answers("-b", "1", "--precision", "bf16", *common, written[0]["input"])
        self.assertLessEqual(len(greedy[0]["answers"]), 1)
        for args, message in ((("--beams", "0"), "--beams takes a number from 1 to 1024"),
                              (("--precision", "f16"), "--precision is f32, tf32 or bf16"),
                              (("--model", "seq/model@pooling=max"), "the model has no decoder")):
            error = self.p.eqloom("generate", *common, *args, "x", expect=2).err
            self.assertIn(message, error)

    IMPORT = """eqloom: 1
name: back
include: [seq.yaml]
nodes:
  imported: {op: import-model, files: [FILES]}
  imported-vectors: {op: embed, batches: test-tokens, checkpoint: imported}
  imported-generations:
    op: generate
    batches: test-tokens
    checkpoint: imported
    vocabulary: vocabulary
    beam: 6
    max_tokens: 10
    limit: 3
"""

    TUNED = f"""eqloom: 1
name: tuned
include: [seq.yaml]
nodes:
  imported: {{op: import-model, files: [FILES]}}
  tuned:
    op: train
    objective: autoencode
    init: imported
    steps: 0
{MODEL}
  tuned-vectors: {{op: embed, batches: test-tokens, checkpoint: tuned}}
  further:
    op: train
    objective: autoencode
    init: imported
    steps: 3
{MODEL}
"""

    def test_exported_and_imported(self):
        self.go(self.p, "generations", "writer-vectors")
        self.p.eqloom("export", "seq/writer", "-o", "writer.safetensors")
        wanted = self.p.ids()
        self.p.write("back.yaml", self.IMPORT.replace("FILES", "writer.safetensors"))
        self.p.eqloom("run", "back.yaml", "imported-vectors", "imported-generations")
        ids = self.p.ids()
        for node in ("vectors", "generations"):
            mine = f"seq/writer-{node}" if node == "vectors" else "seq/generations"
            self.assertEqual(ids[f"back/imported-{node}"], wanted[mine])
        # Training begins with its weights, and its vectors before the first step are its own.
        tuned = self.TUNED.replace("FILES", "writer.safetensors")
        self.p.write("tuned.yaml", tuned)
        self.p.eqloom("run", "tuned.yaml", "tuned-vectors", "further")
        ids = self.p.ids()
        self.assertEqual(ids["tuned/tuned-vectors"], ids["back/imported-vectors"])
        first = json.loads(self.p.eqloom("show", "tuned/further", "--json").out)["value"]
        self.assertEqual(int(first["step"]), 3)
        self.p.write("tuned.yaml", tuned.replace("d_ff: 32", "d_ff: 48"))
        error = self.p.eqloom("run", "tuned.yaml", "further", expect=1).err
        self.assertIn("init: its model has 'd_ff=32', but this training has 'd_ff=48'", error)
        whole = (self.p.dir / "writer.safetensors").read_bytes()
        self.p.write("back.yaml", self.IMPORT.replace("FILES", "bad.safetensors"))
        for bad, message in ((whole[:7], "shorter than eight bytes"),
                             (whole[:100], "its header would be longer than the file"),
                             (whole[:-4], "is outside the file"),
                             (whole.replace(b"encoder.norm.bias", b"encoder.norm.bios"),
                              "tensor 'encoder.norm.bias' is missing"),
                             (whole.replace(b"layers=1", b"layers=9", 1), "more than the file can hold")):
            (self.p.dir / "bad.safetensors").write_bytes(bad)
            self.assertIn(message, self.p.eqloom("run", "back.yaml", "imported", expect=2).err)

    def test_encoder_cannot_write(self):
        self.p.edit("seq.yaml", "checkpoint: writer\n    vocabulary",
                    "checkpoint: \"model@pooling=mean\"\n    vocabulary")
        events = self.p.eqloom("run", "seq.yaml", "generations", "--json", expect=1).events()
        self.assertEqual([e["failure"] for e in events if "failure" in e],
                         ["generations: the model has no decoder: it can embed, not generate"])

    def test_no_decoder_layers(self):
        self.p.edit("seq.yaml", "    decoder_layers: 1\n", "")
        result = self.p.eqloom("run", "seq.yaml", expect=2)
        self.assertIn("objective seq2seq needs decoder_layers", result.err)

    def test_killed_ten_times(self):
        seed = int(os.environ.get("EQLOOM_TEST_SEED", time.time_ns() & 0xFFFFFFFF))
        print(f"seed {seed}")
        rng = random.Random(seed)
        long = ("writer", "--set", "seq-steps=400")
        self.go(self.p, "train-tokens", "test-tokens")
        moments = Moments(rng, lambda: self.go(self.p, *long))
        wanted = self.p.ids()["seq/writer"]
        kills = 0
        while kills < 10:
            other = self.project()
            other.write("seq.yaml", JOB)
            self.go(other, "train-tokens", "test-tokens")
            moments.length /= 6  # so many fall into one training, about
            while kills < 10:
                process = other.start("run", "seq.yaml", *long, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL)
                if not moments.strike(process):
                    break
                kills += 1
            self.go(other, *long)
            self.assertEqual(other.ids()["seq/writer"], wanted)
            other.eqloom("fsck")


if __name__ == "__main__":
    unittest.main()
