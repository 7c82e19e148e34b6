"""docs/embed.py: it encodes expressions as every encoding does, which needs none of its libraries;
and, where these are there, finds the vectors of all kinds of models."""
import contextlib
import importlib.util
import json
import pathlib
import subprocess
import sys
import types
import unittest

from harness import TIMEOUT_S, ProjectTest

EXAMPLE = pathlib.Path(__file__).parents[2] / "docs" / "embed.py"
LIBRARIES = ("numpy", "torch", "safetensors")

FEW = """* / 3 2 x
/ * 3 x 2

- -12 / 345 d x pow x -105
+ - 7 2 3
- 1 pow sin / x 2 - 2 3
abs ln + acoth x 99
* pi e
- * J/2 n erf/1 x / erf/1 y 2 J/2 - x 1 y
"""
OPERATORS = "operator erf(x) = arb erf\noperator J(n, x) = arb bessel_j\n"

JOB = """eqloom: 1
name: python
include: [job.yaml]
nodes:
  few: {op: import-clusters, files: [own.operators, few.txt]}
  words:
    op: vocabulary
    tokens: [erf/1, J/2]
    matrix: {encoding: [e-gen, plain, placed]}
  few-tokens: {op: tokenize, clusters: few, vocabulary: words}
  all-tokens: {op: tokenize, clusters: merged, vocabulary: "words@encoding=placed"}
  encoder:
    op: train
    batches: all-tokens
    vocabulary: "words@encoding=placed"
    matrix: {pooling: [mean, max], wrap: [false, true]}
    steps: 3
    segment: 3
    batch: 8
    d_model: 16
    heads: 2
    layers: 1
    d_ff: 32
  writer:
    op: train
    objective: seq2seq
    batches: all-tokens
    vocabulary: "words@encoding=placed"
    steps: 3
    segment: 3
    batch: 8
    d_model: 16
    heads: 2
    layers: 2
    decoder_layers: 1
    d_ff: 32
    wrap: true
    positions: learned
    activation: gelu
    attention_bias: true
  encoder-vectors: {op: embed, batches: all-tokens, checkpoint: encoder}
  writer-vectors:  {op: embed, batches: all-tokens, checkpoint: writer}
"""


@contextlib.contextmanager
def stand_ins():
    """Modules that do nothing, for those that the example begins by importing."""
    names = [*LIBRARIES, "safetensors.torch", "torch.nn"]
    before = {name: sys.modules.get(name) for name in names}
    made = {name: types.ModuleType(name) for name in names}
    made["torch.nn"].Module = object
    made["torch"].nn = made["torch.nn"]
    made["torch"].no_grad = lambda: lambda f: f
    made["safetensors.torch"].load_file = None
    sys.modules.update(made)
    try:
        yield
    finally:
        for name, module in before.items():
            if module:
                sys.modules[name] = module
            else:
                del sys.modules[name]


def example():
    with stand_ins():
        spec = importlib.util.spec_from_file_location("embed", EXAMPLE)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


class Python(ProjectTest):
    def setUp(self):
        super().setUp()
        self.p.write("few.txt", FEW)
        self.p.write("own.operators", OPERATORS)
        self.p.write("python.yaml", JOB)

    def export(self, node):
        lines = self.p.eqloom("export", f"python/{node}", "-f", "jsonl", "-o", "-").out
        return [json.loads(line) for line in lines.splitlines()]

    def test_encodings(self):
        self.p.eqloom("run", "python.yaml", "few-tokens", "all-tokens")
        module, found = example(), 0
        for encoding in ("e-gen", "plain", "placed"):
            vocabulary = self.export(f"words@encoding={encoding}")[0]["tokens"]
            nodes = [f"few-tokens@encoding={encoding}"]
            for node in nodes + (["all-tokens"] if encoding == "placed" else []):
                for wrap in (False, True):
                    encoder = module.Encoder.__new__(module.Encoder)
                    encoder.encoding, encoder.wrap = encoding, wrap
                    encoder.ids = {token: i for i, token in enumerate(vocabulary)}
                    for batch in self.export(node):
                        ends = batch["offset"]
                        for text, a, b in zip(batch["text"], ends, ends[1:]):
                            wanted = batch["tokens"][a:b]
                            wanted = [1, *wanted, 2] if wrap else wanted
                            self.assertEqual(encoder.tokens(text), wanted, (encoding, text))
                            found += 1
        self.assertGreater(found, 100)

    def test_models(self):
        if not all(map(importlib.util.find_spec, LIBRARIES)):
            self.skipTest("needs numpy, torch and safetensors")
        self.p.eqloom("run", "python.yaml")
        kinds = [f"@pooling={pooling},wrap={wrap}" for pooling in ("mean", "max")
                 for wrap in ("false", "true")]
        for model, kind in [("encoder", kind) for kind in kinds] + [("writer", "")]:
            self.p.eqloom("export", f"python/{model}{kind}", "-o", "model.safetensors")
            self.p.eqloom("export", f"python/{model}-vectors{kind}", "-o", "vectors.npy")
            done = subprocess.run([sys.executable, EXAMPLE, "model.safetensors", "vectors.npy"],
                                  cwd=self.p.dir, text=True, capture_output=True, check=False,
                                  timeout=TIMEOUT_S)
            self.assertEqual(done.returncode, 0, f"{model}{kind}: {done.stdout}{done.stderr}")
            self.assertIn(" vectors, the greatest difference is", done.stdout)


if __name__ == "__main__":
    unittest.main()
