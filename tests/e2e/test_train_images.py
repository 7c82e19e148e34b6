"""Networks on pictures of small papers: what they learn, what is done again after a change, transfer,
and what they say of models and data that do not fit."""
import json
import pathlib
import struct
import unittest
import zlib

from harness import ProjectTest

JOB = """eqloom: 1
name: t
params: {steps: 6, segment: 2, objective: triples, network: small}
nodes:
  pictures: {op: images, files: [in]}
  cropped:  {op: crop, images: pictures.images, ink: 0}
  others:   {op: images, files: [held-out]}
  unseen:   {op: crop, images: others.images, ink: 0}
  model:
    op: train-images
    images: cropped.images
    valid: unseen.images
    objective: "${objective}"
    network: "${network}"
    batch: 6
    lr: 0.002
    steps: "${steps}"
    segment: "${segment}"
    frozen_from: 3
    valid_every: 2
    valid_batches: 2
    log_every: 2
  vectors: {op: embed-images, images: unseen.images, checkpoint: model}
"""
# From symbols to pairs: vectors of labels stay behind.
TRANSFER = """  symbols: {op: image-labels, images: cropped.images, labels: symbols}
  first:
    op: train-images
    images: cropped.images
    labels: symbols.labels
    vocabulary: symbols.vocabulary
    objective: labels
    batch: 12
    lr: 0.002
    steps: 40
    segment: 20
  other:
    op: train-images
    images: cropped.images
    objective: siamese
    init: first
    batch: 4
    steps: 0
"""
SYMBOLS = ["\\alpha", "\\beta", "\\sum", "\\int"]


def png(path, paper, k):
    """Stripes as wide as the paper's number says, moved by k."""
    width, height, period = 340, 40, 3 + 5 * paper
    rows = b"".join(b"\0" + bytes(255 if (x + 3 * k + (y if paper % 2 else 0)) // period % 2 else 0
                                  for x in range(width)) for y in range(height))

    def chunk(name, data):
        return (struct.pack(">I", len(data)) + name + data
                + struct.pack(">I", zlib.crc32(name + data)))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
                     + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def fill(folder):
    (folder / "t.yaml").write_text(JOB)
    for paper in range(4):
        for k in range(4):
            png(folder / "in" / f"1501.{paper:05d}" / f"{k}.png", paper, k)
            (folder / "in" / f"1501.{paper:05d}" / f"{k}.tex").write_text(f"{SYMBOLS[paper]} + x")
            png(folder / "held-out" / f"1502.{paper:05d}" / f"{k}.png", paper, k + 9)


class TrainImages(ProjectTest):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.p.dir)
        fill(self.folder)

    def make(self, *args):
        r = self.p.eqloom("run", "t.yaml", "--json", *args)
        self.assertEqual(r.status, 0, r.err)
        return {e["node"]: e for e in r.events() if e["event"] == "node_done"}

    def model(self, name="t/model"):
        return json.loads(self.p.eqloom("show", name, "--json").out)["value"]

    def metrics(self, name):
        return [m.get("value", 0) for m in self.model()["metrics"] if m["name"] == name]

    def test_learns(self):
        for objective in ("triples", "siamese"):
            nodes = self.make("--set", "steps=60", "--set", "segment=30", "--set", f"objective={objective}")
            self.assertGreaterEqual(nodes["model"]["ran"], 2)  # the first weights are those of any
            self.assertLess(self.metrics("loss")[-1], 0.7 * self.metrics("loss")[0])
        self.assertGreater(self.metrics("valid_accuracy")[-1], 0.7)
        self.assertIn("architecture=images\nnetwork=small", self.model()["architecture"])

    def test_all_negatives(self):
        """Each image says something of all others: fewer steps, and no draws but of anchors."""
        job = JOB.replace("    batch: 6\n", "    batch: 6\n    negatives: all\n    swap_from: 20\n")
        for objective in ("triples", "siamese"):
            (self.folder / "t.yaml").write_text(job)
            self.make("--set", "steps=60", "--set", "segment=20", "--set", f"objective={objective}")
            self.assertLess(self.metrics("loss")[-1], 0.7 * self.metrics("loss")[0])
        # Which images are of one paper counts, not what the papers are called; frozen_from does not
        # concern the small network's segments before it.
        last = self.p.ids()["t/model"]
        self.make("--set", "steps=60", "--set", "segment=20", "--set", "objective=siamese",
                  "--set", "model.negatives=one")
        self.assertNotEqual(self.p.ids()["t/model"], last)
        error = self.p.eqloom("run", "t.yaml", "--set", "model.negatives=frequent", expect=1).err
        self.assertIn("'negatives: frequent' needs 'objective: labels'", error)
        labels = TRANSFER.replace("objective: labels\n", "objective: labels\n    negatives: all\n")
        (self.folder / "t.yaml").write_text(JOB + labels)
        self.make("first")
        losses = [m["value"] for m in self.model("t/first")["metrics"] if m["name"] == "loss"]
        self.assertLess(losses[-1], losses[0])
        weights = set()
        for negatives in ("one", "frequent", "all"):
            self.make("first", "--set", f"first.negatives={negatives}")
            weights.add(self.p.ids()["t/first"])
        self.assertEqual(len(weights), 3)

    def test_epochs(self):
        """16 images, 6 a step: three epochs are eight steps; decay_every and frozen_from count epochs."""
        job = JOB.replace('    steps: "${steps}"\n', "    steps: 8\n    decay_every: 3\n")
        (self.folder / "t.yaml").write_text(job)
        self.make("--set", "network=large")
        steps = self.p.ids()["t/model"]
        job = job.replace("steps: 8", "epochs: 3").replace("decay_every: 3", "decay_every: 1")
        (self.folder / "t.yaml").write_text(job.replace("frozen_from: 3", "frozen_from: 1"))
        plan = self.p.eqloom("plan", "t.yaml", "--set", "network=large")
        self.assertEqual(self.make("--set", "network=large")["model"]["ran"], 0, plan.out)
        self.assertEqual(self.p.ids()["t/model"], steps)
        # A picture more is a step more, which a plan knows before anything has run.
        png(self.folder / "in" / "1501.00003" / "9.png", 3, 9)
        for k in range(6):
            png(self.folder / "in" / "1501.00004" / f"{k}.png", 4, k)
        self.make("cropped")
        plan = json.loads(self.p.eqloom("plan", "t.yaml", "--json").out.splitlines()[-1])
        self.assertGreater(self.make()["model"]["ran"], 0, plan)
        self.assertEqual(self.model()["step"], 12)
        both = self.p.eqloom("run", "t.yaml", "--set", "model.steps=5", expect=2)
        self.assertRegex(both.err, r"t.yaml:\d+:\d+: .*'steps' and 'epochs' both set the length of the training")

    def test_what_is_done_again(self):
        self.assertEqual(self.make("--set", "network=large", "--set", "steps=4")["model"]["ran"], 3)
        first = self.p.ids()["t/model"]
        self.assertEqual(self.make("--set", "network=large", "--set", "steps=4")["model"]["ran"], 0)
        # Threads do not matter to what is learnt.
        other = self.project()
        fill(pathlib.Path(other.dir))
        self.assertEqual(other.eqloom("run", "t.yaml", "-j", "1", "--set", "network=large",
                                      "--set", "steps=4").status, 0)
        self.assertEqual(other.ids()["t/model"], first)
        other.close()
        # More steps go on from the last ones.
        self.assertEqual(self.make("--set", "network=large", "--set", "steps=6")["model"]["ran"], 1)
        r = self.p.eqloom("run", "t.yaml", "--check", "--set", "network=large")
        self.assertEqual(r.status, 0, r.err)

    def test_transfer(self):
        (self.folder / "t.yaml").write_text(JOB + TRANSFER)
        self.make()
        first, other = self.model("t/first"), self.model("t/other")
        losses = [m["value"] for m in first["metrics"] if m["name"] == "loss"]
        self.assertLess(losses[-1], losses[0])
        self.assertEqual([t["name"] for t in first["tensors"]][8:9], ["labels.weight"])
        # All but their vectors, as they are.
        self.assertEqual(other["tensors"], first["tensors"][:8])
        self.assertIn("labels=0", other["architecture"])
        r = self.p.eqloom("run", "t.yaml", "--set", "other.network=large", expect=1)
        self.assertIn("init: its model has 'network=small', but this training has 'network=large'", r.err)

    def test_messages(self):
        self.make()
        r = self.p.eqloom("embed", "--model", "t/model", "x + 1", expect=2)
        self.assertIn("the model reads images of equations, not expressions", r.err)
        r = self.p.eqloom("run", "t.yaml", "--set", "objective=labels", expect=1)
        self.assertIn("objective labels needs the inputs 'labels' and 'vocabulary'", r.err)
        r = self.p.eqloom("run", "t.yaml", "--set", "cropped.width=300", expect=1)
        self.assertIn("a picture has 300 x 32 pixels, but the network reads 333 x 32: see op crop", r.err)


if __name__ == "__main__":
    unittest.main()
