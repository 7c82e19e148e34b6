"""Variants of a matrix: told apart by their parameters in tables, reports, queries and names, and
side by side in `eqloom table`."""
import json
import unittest

from harness import Project

SWEEP = """eqloom: 1
name: sweep
include: job.yaml
nodes:
  sized:
    op: train
    batches: train-tokens
    vocabulary: vocabulary
    steps: 3
    d_ff: 32
    matrix: {pooling: [mean, max], d_model: [32, 64]}
  sized-vectors: {op: embed, batches: test-tokens, checkpoint: sized}
  sized-eval:    {op: evaluate, embeddings: sized-vectors, label: encoder}
  plain-eval:    {op: evaluate, embeddings: sized-vectors}
  all-sizes:     {op: report, evaluations: [sized-eval]}
"""
VARIANTS = [("mean", 32), ("mean", 64), ("max", 32), ("max", 64)]


class Table(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.p = Project()
        cls.addClassCleanup(cls.p.close)
        cls.p.eqloom("init", "sweeps")
        cls.p.write("sweeps/sweep.yaml", SWEEP)
        cls.p.edit("sweeps/job.yaml", '"builtin:*.rules"', "builtin:trigonometry, builtin:arithmetic")
        cls.ran = cls.p.eqloom("run", "sweeps/sweep.yaml", "--set", "steps=3", "sized-eval")
        cls.p.eqloom("run", "sweeps/sweep.yaml", "--set", "steps=3")

    def table(self, *args, expect=0):
        return self.p.eqloom("table", "sweeps/sweep.yaml", "--set", "steps=3", *args, expect=expect)

    def rows(self, *args):
        return self.table("--json", *args).events()

    def stored(self, node):
        report = json.loads(self.p.eqloom("show", f"sweep/{node}", "--json").out)["value"]
        return {value["name"]: value["value"] for value in report["values"]}

    def test_rows_are_what_the_store_has(self):
        rows = self.rows("sized-eval")
        self.assertEqual([(row["params"]["pooling"], row["params"]["d_model"]) for row in rows],
                         VARIANTS)
        for row in rows:
            self.assertEqual(row["metrics"], self.stored(row["node"]))
        everything = {row["node"] for row in self.rows()}
        self.assertEqual(len(everything), 9)  # two evaluations of four variants, and job.yaml's

    def test_parameters_of_nodes_above(self):
        for row in self.rows("sized-eval", "--param", "sized.steps", "--param", "iterations"):
            self.assertEqual(row["params"], {"sized.steps": 3, "iterations": 8})
        lr = self.rows("sized-eval", "--param", "lr", "--metric", "mrr")
        self.assertEqual(set(lr[0]["metrics"]), {"mrr"})
        self.assertIn("write ", self.table("--param", "files", expect=2).err)
        self.assertIn("no node above has a parameter 'lrr'",
                      self.table("--param", "lrr", expect=2).err)

    def test_best(self):
        rows = self.rows("sized-eval")
        for metric, choose in [("mrr", max), ("ranking_error", min)]:
            best = choose(row["metrics"][metric] for row in rows)
            found = self.rows("sized-eval", f"--best={metric}")
            self.assertEqual([row["metrics"][metric] for row in found], [best])
            self.assertEqual(self.rows("sized-eval", "--metric", metric, "--best")[0]["node"],
                             found[0]["node"])
            by_pooling = self.rows("sized-eval", f"--best={metric}", "--param", "pooling")
            for row in by_pooling:
                self.assertEqual(row["metrics"][metric], choose(
                    r["metrics"][metric] for r in rows
                    if r["params"]["pooling"] == row["params"]["pooling"]))
            self.assertEqual([row["params"]["pooling"] for row in by_pooling], ["mean", "max"])
        self.assertIn("--best needs a score", self.table("--best=clusters", expect=2).err)
        self.assertIn("did you mean 'mrr'?", self.table("--metric", "mr", expect=2).err)

    def test_formats(self):
        args = ("sized-eval", "--metric", "mrr", "--metric", "clusters")
        rows = self.rows(*args)
        lines = self.table(*args, "-f", "tsv").out.splitlines()
        self.assertEqual(lines[0], "node\tpooling\td_model\tmrr\tclusters")
        for line, row in zip(lines[1:], rows, strict=True):
            cells = line.split("\t")
            self.assertEqual(cells[:3], [row["node"], *map(str, row["params"].values())])
            self.assertEqual(list(map(float, cells[3:])), list(row["metrics"].values()))
        text = self.table(*args).out.splitlines()
        self.assertEqual(text[0].split(), ["pooling", "d_model", "mrr", "clusters"])
        self.assertEqual(len(text), 5)
        latex = self.table(*args, "-f", "latex").out
        self.assertEqual(latex.count("\\\\"), 5)
        self.assertIn("pooling & d\\_model & mrr & clusters \\\\", latex)
        best = max(row["metrics"]["mrr"] for row in rows)
        self.assertIn(f"\\textbf{{{best:.4f}}}", latex)
        self.assertIn("text, tsv, jsonl or latex", self.table("-f", "xml", expect=2).err)

    def test_what_is_out_of_date_has_no_row(self):
        stale = self.table("sized-eval", "--set", "sized.steps=4", expect=2)
        self.assertIn("sized-eval@pooling=mean,d_model=32 is not made, or out of date: "
                      "sized@pooling=mean,d_model=32: param steps: 3 -> 4\n", stale.err)
        self.assertIn("no evaluation of job 'sweep' is up to date", stale.err)
        self.assertIn("is not an evaluation", self.table("clusters", expect=2).err)

    def test_variants_are_named_by_their_parameters(self):
        for pooling, size in VARIANTS:  # at the end of the run that asked for them
            self.assertIn(f"encoder pooling={pooling} d_model={size}\n", self.ran.out)
        self.assertNotIn("== evaluation", self.ran.out)
        report = self.p.eqloom("show", "sweep/all-sizes").out
        page = self.p.eqloom("export", "sweep/all-sizes.html", "-f", "raw").out
        for pooling, size in VARIANTS:
            self.assertIn(f"encoder pooling={pooling} d_model={size}", report)
            self.assertIn(f"encoder pooling={pooling} d_model={size}", page)
        self.assertIn("\npooling=mean d_model=32\n",
                      self.p.eqloom("show", "sweep/plain-eval@pooling=mean,d_model=32").out)
        found = self.p.eqloom("query", "report", "--node", "sized-eval@d_model=64",
                              "--job", "sweep").out
        self.assertEqual(sorted(line[14:] for line in found.splitlines()),
                         ["encoder pooling=max d_model=64", "encoder pooling=mean d_model=64"])
        one = self.p.eqloom("show", "sweep/sized-eval@d_model=64,pooling=max").out
        self.assertIn("sized-eval@pooling=max,d_model=64", one)
        self.assertIn("has variants: name one of them",
                      self.p.eqloom("show", "sized-eval@d_model=64", expect=2).err)
        self.assertIn("sized-eval@pooling=max,d_model=64", self.p.eqloom("log", "sweep/1").out)

    def test_names_of_nodes_are_no_part_of_results(self):
        self.p.write("sweeps/renamed.yaml", SWEEP.replace("sized-eval", "shaped-eval")
                     .replace("name: sweep", "name: renamed"))
        done = self.p.eqloom("run", "sweeps/renamed.yaml", "--set", "steps=3", "--json").summary()
        self.assertEqual(done["elements_ran"], 0, done)


if __name__ == "__main__":
    unittest.main()
