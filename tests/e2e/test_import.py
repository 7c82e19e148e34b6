"""A model that was made with PyTorch (tests/golden/make_torch_encoder.py): its vectors, what is said
of files that do not fit, and training that goes on from it."""
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
  imported: {op: import-model, files: [encoder.safetensors]}
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
    """name -> (dtype, shape, values), and the metadata"""
    data = path.read_bytes()
    at = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:at])
    values = data[at:]
    return {name: (t["dtype"], t["shape"], values[slice(*t["data_offsets"])])
            for name, t in header.items() if name != "__metadata__"}, header["__metadata__"]


def write_tensors(path, tensors, metadata):
    header, values = {"__metadata__": metadata}, b""
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [len(values), len(values) + len(data)]}
        values += data
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + values)


class Import(ProjectTest):
    def setUp(self):
        super().setUp()
        self.file = self.p.dir / "encoder.safetensors"
        shutil.copy(GOLDEN / "torch-encoder.safetensors", self.file)
        self.tensors, self.metadata = read_tensors(self.file)
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
        self.assertIn("does not name its vocabulary; a `train` of 0 steps", error)

    def test_training_goes_on(self):
        """From PyTorch's weights the loss falls, and what is exported is what was trained."""
        self.go("tuned", "--set", "tuned-steps=60")
        record = json.loads(self.p.eqloom("show", "torch/tuned", "--json").out)["value"]
        self.assertEqual(int(record["step"]), 60)
        losses = [m["value"] for m in record["metrics"] if m["name"] == "loss"]
        self.assertLess(losses[-1], losses[0])
        self.assertEqual(len([m for m in record["metrics"] if m["name"] == "valid_loss"]), 15)
        self.p.eqloom("export", "torch/tuned", "-o", "tuned.safetensors")
        tuned, _ = read_tensors(self.p.dir / "tuned.safetensors")
        self.assertEqual({n: t[:2] for n, t in tuned.items()},
                         {n: t[:2] for n, t in self.tensors.items()})
        for name, (_, _, data) in tuned.items():
            self.assertNotEqual(data, self.tensors[name][2], name)

    def test_too_long(self):
        """What is too long is shown, and the room that start and end tokens leave."""
        self.p.edit("torch.yaml", "    max_length: 24", "    max_length: 6\n    wrap: true")
        self.p.edit("torch.yaml", "    init: imported\n", "")
        error = self.p.eqloom("run", "torch.yaml", "tuned", expect=1).err
        self.assertRegex(error, r"sequence \d+ \(.+\) has \d+ tokens; the model's max_length "
                                "allows 4")

    def refused(self, tensors, metadata=None):
        write_tensors(self.file, tensors, self.metadata if metadata is None else metadata)
        return self.p.eqloom("run", "torch.yaml", "imported", expect=2).err

    def refused_with(self, edit, values=None):
        """The file with its header's text and its values changed."""
        data = self.file.read_bytes()
        at = 8 + struct.unpack("<Q", data[:8])[0]
        text = edit(data[8:at])
        self.file.write_bytes(struct.pack("<Q", len(text)) + text + (values or (lambda x: x))(data[at:]))
        error = self.p.eqloom("run", "torch.yaml", "imported", expect=2).err
        self.file.write_bytes(data)
        return error

    def test_places_of_tensors(self):
        """The format leaves no byte without a tensor, none with two, and no key twice."""
        write_tensors(self.file, self.tensors, self.metadata)
        same = lambda text: text
        first = list(self.tensors)[0]
        moved = lambda by: lambda text: json.dumps({
            name: t if name == "__metadata__" else t | {"data_offsets": [x + by for x in t["data_offsets"]]}
            for name, t in json.loads(text).items()}).encode()

        def place(name, *offsets):
            return lambda text: json.dumps({k: t | {"data_offsets": list(offsets)} if k == name else t
                                            for k, t in json.loads(text).items()}).encode()
        size = len(self.tensors[first][2])
        again = json.dumps({first: {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})[1:-1].encode()
        for edit, values, message in [
                (same, lambda x: x + b"\0" * 7, "7 bytes after the last tensor"),
                (same, lambda x: x[:-4], "is outside the file"),
                (moved(8), lambda x: bytes(8) + x, f"8 bytes before tensor '{first}' belong to none"),
                (place(first, 0, size + 4), None, f"overlaps '{first}'"),
                (place(first, 0, size - 4), None, "4 bytes before tensor"),
                (place(first, 0, 2 ** 62), None, f"'{first}' is outside the file"),
                (place(first, 0.0, size), None, f"'{first}' has no place in the file"),
                (place(first, size, 0), None, f"'{first}' has no place in the file"),
                (place(first, -4, size - 4), None, f"'{first}' has no place in the file"),
                (place(first, 0, size, size), None, f"'{first}' has no place in the file"),
                (place(first), None, f"'{first}' has no place in the file"),
                (lambda text: text[:-1] + b", " + again + b"}", None, "a key of the header occurs twice"),
                (lambda text: text[:-1], None, "the header is not JSON")]:
            with self.subTest(message=message):
                self.assertIn(message, self.refused_with(edit, values))
        self.assertNotIn("error", self.p.eqloom("run", "torch.yaml", "imported").err)

    def test_what_does_not_fit(self):
        name = "layers.1.linear1.weight"
        _, shape, data = self.tensors[name]
        for tensor, message in ((("F16", shape, data[::2]), "is of type F16; only F32 is supported"),
                                (("F32", shape[::-1], data), "has the wrong shape for its model"),
                                (("F32", shape, data + data), "has the wrong size for its shape"),
                                (("F32", shape, b"\0\0\x80\x7f" * (len(data) // 4)),
                                 "is not finite")):
            self.assertIn(message, self.refused(self.tensors | {name: tensor}))
        more = self.tensors | {"head.weight": ("F32", [1], b"\0" * 4)}
        self.assertIn("the model has no tensor 'head.weight'", self.refused(more))
        without = {"architecture": self.metadata["architecture"].replace("true", "false")}
        self.assertIn("the model has no tensor 'layers.0.self_attn.in_proj_bias' (with "
                      "attention_bias it would)", self.refused(self.tensors, without))
        self.assertIn("its metadata has no 'architecture'", self.refused(self.tensors, {}))


if __name__ == "__main__":
    unittest.main()
