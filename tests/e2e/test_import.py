"""A model that was made with PyTorch (tests/golden/make_torch_encoder.py): its vectors, its files
in other types, what is said of files that do not fit, and training that goes on from it."""
import json
import pathlib
import shutil
import struct
import unittest

from harness import ProjectTest

GOLDEN = pathlib.Path(__file__).parents[1] / "golden"

JOB = """eqloom: 1
name: torch
params: {tuned-steps: 0}
include: [job.yaml]
nodes:
  imported: {op: import-model, files: [encoder.safetensors, encoder.safetensors.json]}
  tuned:
    op: train
    init: imported
    batches: train-tokens
    vocabulary: vocabulary
    valid: test-tokens
    valid_every: 4
    steps: ${tuned-steps}
    segment: 6
    batch: 8
    d_model: 16
    layers: 2
    heads: 2
    d_ff: 32
    max_length: 24
    positions: learned
    activation: gelu
    pooling: max
    attention_bias: true
    lr: 0.003
"""


def read_tensors(path):
    """name -> (dtype, shape, values)"""
    data = path.read_bytes()
    at = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:at])
    values = data[at:]
    return {name: (t["dtype"], t["shape"], values[slice(*t["data_offsets"])])
            for name, t in header.items() if name != "__metadata__"}


def write_tensors(path, tensors):
    header, values = {}, b""
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [len(values), len(values) + len(data)]}
        values += data
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + values)


def floats(data):
    return struct.unpack(f"<{len(data) // 4}f", data)


class Import(ProjectTest):
    def setUp(self):
        super().setUp()
        for end in ("safetensors", "safetensors.json"):
            shutil.copy(GOLDEN / f"torch-encoder.{end}", self.p.dir / f"encoder.{end}")
        self.file = self.p.dir / "encoder.safetensors"
        self.tensors = read_tensors(self.file)
        self.p.write("torch.yaml", JOB)

    def go(self, *args):
        self.p.eqloom("run", "torch.yaml", *args)
        return self.p.ids()

    def test_its_vectors(self):
        self.go("tuned")
        lines = (GOLDEN / "torch-encoder.jsonl").read_text().splitlines()
        rows = [json.loads(line) for line in lines]
        out = self.p.eqloom("embed", "--model", "torch/tuned", "--json", "--syntax", "prefix",
                            *(row["text"] for row in rows)).out.splitlines()
        self.assertEqual(len(out), len(rows))
        for got, row in zip(map(json.loads, out), rows):
            self.assertEqual(len(got["vector"]), len(row["vector"]))
            for x, y in zip(got["vector"], row["vector"]):
                self.assertLess(abs(x - y), 1e-5)
        error = self.p.eqloom("embed", "--model", "torch/imported", "x", expect=2).err
        self.assertIn("does not say which vocabulary it reads; a `train` of 0 steps", error)

    def test_training_goes_on(self):
        """From PyTorch's weights the loss falls, and what is exported is what was trained."""
        self.go("tuned", "--set", "tuned-steps=60")
        record = json.loads(self.p.eqloom("show", "torch/tuned", "--json").out)["value"]
        self.assertEqual(int(record["step"]), 60)
        losses = [m["value"] for m in record["metrics"] if m["name"] == "loss"]
        self.assertLess(losses[-1], losses[0])
        self.assertEqual(len([m for m in record["metrics"] if m["name"] == "valid_loss"]), 15)
        self.p.eqloom("export", "torch/tuned", "-o", "tuned.safetensors")
        tuned = read_tensors(self.p.dir / "tuned.safetensors")
        self.assertEqual({n: t[:2] for n, t in tuned.items()},
                         {n: t[:2] for n, t in self.tensors.items()})
        for name, (_, _, data) in tuned.items():
            self.assertNotEqual(data, self.tensors[name][2], name)

    def test_types(self):
        """The same numbers in another type are the same model."""
        def rewrite(dtype, convert, f32=lambda x: x):
            write_tensors(self.file, {n: (dtype, s, b"".join(map(convert, floats(d))))
                                      for n, (_, s, d) in self.tensors.items()})
            other = self.go("imported")["torch/imported"]
            write_tensors(self.file, {n: ("F32", s, struct.pack(f"<{len(d) // 4}f",
                                                                *map(f32, floats(d))))
                                      for n, (_, s, d) in self.tensors.items()})
            self.assertEqual(self.go("imported")["torch/imported"], other, dtype)

        def cut(x):
            return struct.unpack("<f", b"\0\0" + struct.pack("<f", x)[2:])[0]

        rewrite("F64", lambda x: struct.pack("<d", x))
        rewrite("BF16", lambda x: struct.pack("<f", x)[2:], cut)
        rewrite("F16", lambda x: struct.pack("<e", x),
                lambda x: struct.unpack("<e", struct.pack("<e", x))[0])
        tiny = {n: (t, s, b"\x01\x80" * (len(d) // 4)) for n, (t, s, d) in self.tensors.items()}
        write_tensors(self.file, {n: ("F16", s, d) for n, (_, s, d) in tiny.items()})
        least = self.go("imported")["torch/imported"]
        write_tensors(self.file, {n: ("F32", s, struct.pack("<f", -2.0 ** -24) * (len(d) // 2))
                                  for n, (_, s, d) in tiny.items()})
        self.assertEqual(self.go("imported")["torch/imported"], least)

    def test_too_long(self):
        """What is too long is shown, and the room that start and end tokens leave."""
        self.p.edit("torch.yaml", "    max_length: 24", "    max_length: 6\n    wrap: true")
        self.p.edit("torch.yaml", "    init: imported\n", "")
        error = self.p.eqloom("run", "torch.yaml", "tuned", expect=1).err
        self.assertRegex(error, r"sequence \d+ \(.+\) has \d+ tokens, more than the 4 that the "
                                "model's max_length leaves room for")

    def refused(self, tensors):
        write_tensors(self.file, tensors)
        return self.p.eqloom("run", "torch.yaml", "imported", expect=2).err

    def test_what_does_not_fit(self):
        name, config = "layers.1.linear1.weight", self.p.dir / "encoder.safetensors.json"
        _, shape, data = self.tensors[name]
        for tensor, message in ((("I64", shape, data * 2), "is of I64; F32, F64, F16 and BF16"),
                                (("F32", shape[::-1], data), "has not the shape of its model"),
                                (("F16", shape, data), "or has not its size"),
                                (("F16", shape, b"\0\x7c" * (len(data) // 4)), "is not finite")):
            self.assertIn(message, self.refused(self.tensors | {name: tensor}))
        more = self.tensors | {"head.weight": ("F32", [1], b"\0" * 4)}
        self.assertIn("tensor 'head.weight' has no place in the model", self.refused(more))
        config.write_text(config.read_text().replace("true", "false"))
        self.assertIn("tensor 'layers.0.self_attn.in_proj_bias' has no place in the model (with "
                      "attention_bias it would)", self.refused(self.tensors))


if __name__ == "__main__":
    unittest.main()
