"""Files of others: spellings, compressed files, rules for egg, and corpora that are written in pieces. What
is wrong is said with its place; a file of many pairs needs no more memory than one of few."""
import gzip
import json
import os
import subprocess
import unittest

from harness import BINARY, ProjectTest

JOB = """eqloom: 1
name: files
params: {pairs: 0}
nodes:
  read: {op: import-clusters, files: [%s], format: %s, notation: %s, language: %s}
  out: {op: export-corpus, clusters: read, format: %s, notation: %s, pairs: "${pairs}"}
exports: {out.txt: out}
"""


def is_sanitized():
    with open(BINARY, "rb") as f:
        return b"__asan_init" in f.read()


class Files(ProjectTest):
    def job(self, file, read, write, notation="words", language="calculus", wrote=None):
        self.p.write("job.yaml", JOB % (file, read, notation, language, write, wrote or notation))

    def text(self):
        return (self.p.dir / "out/files/out.txt").read_text()

    def compressed(self, name, data):
        (self.p.dir / name).write_bytes(gzip.compress(data))

    def test_words_there_and_back(self):
        eed = ("mul INT+ 5 exp x\tdiv mul INT+ 1 0 exp x INT+ 2\n"
               "add pi ln x\tadd ln x pi\n")
        self.compressed("eed.tsv.gz", eed.encode())
        self.job("eed.tsv.gz", "pairs", "pairs")
        self.p.run()
        lines = self.text().splitlines()
        self.assertEqual(sorted(lines), sorted(eed.splitlines() + ["\t".join(x.split("\t")[::-1])
                                                                   for x in eed.splitlines()]))
        self.job("eed.tsv.gz", "pairs", "expressions", wrote="prefix")
        self.p.run()
        self.assertEqual(self.text(), "* 5 pow e x\n/ * 10 pow e x 2\n+ pi ln x\n+ ln x pi\n")

    def test_latex_of_sympy(self):
        self.p.write("sympy.tsv", "\\log{\\left(x \\right)}^{2}\tx \\left(y + 1\\right) + i d\n")
        self.job("sympy.tsv", "pairs", "expressions", "sympy", wrote="prefix")
        self.p.run()
        self.assertEqual(self.text(), 'pow ln x 2\n+ * x + y 1 * sqrt -1 "d"\n')
        self.job("sympy.tsv", "pairs", "expressions", "latex", wrote="prefix")
        self.assertIn("sympy.tsv:1:1: error: ambiguous: \\log", self.p.eqloom("run", "job.yaml", expect=2).err)

    def test_latex_that_means_something_else(self):
        """What is refused is named by its command, in files and rules as at a prompt."""
        for latex, command in [(r"4 \atop 2", r"'\atop'"), (r"\hat x", r"'\hat'"),
                               (r"x \pmod 3", r"'\pmod'"), (r"x \not= y", r"'\not'"),
                               (r"\begin{cases} 1 \end{cases}", r"'\begin{cases}'")]:
            self.p.write("pairs.tsv", f"{latex}\tx\n")
            self.p.write("my.rules", f"group mine\nfirst: {latex} -> x\n")
            self.job("pairs.tsv", "pairs", "expressions", "latex", wrote="prefix")
            for command_line in [("explain", latex, "x"), ("run", "job.yaml"), ("check-rules", "my.rules")]:
                err = self.p.eqloom(*command_line, expect=2).err
                self.assertIn(f"error: {command} cannot be read as part of an expression\n", err)

    def test_semvec_compressed(self):
        classes = {"q": {"Original": {"Tokens": ["~", "a", ">>", "b"]},
                         "Noise": [{"Tokens": ["a", "|", "b"]}]}}
        self.compressed("bool5.json.gz", json.dumps(classes).encode())
        self.job("bool5.json.gz", "semvec", "e-gen", "prefix", "boolean")
        self.p.run()
        self.assertEqual(self.text(), "implies not a b\nor a b\n")

    def test_places_of_mistakes(self):
        def refused(*wanted):
            made = self.p.eqloom("run", "job.yaml", expect=2)
            for text in wanted:
                self.assertIn(text, made.err)
        self.compressed("bad.gz", b"x\nadd x\n")
        self.job("bad.gz", "expressions", "e-gen")
        refused("bad.gz:2:1", "'add' takes 2 arguments, not 1")
        whole = gzip.compress(b"x\n" * 5000)
        (self.p.dir / "bad.gz").write_bytes(whole[:-20])
        refused("bad.gz: damaged compressed file")
        self.compressed("bad.gz", bytes(100 << 20))
        refused("bad.gz: too large compressed file")
        self.p.write("job.yaml", JOB % ("bad.gz", "pairs", "prefix", "calculus", "pairs",
                                        "prefix, shards: 2, shard: 2"))
        made = self.p.eqloom("run", "job.yaml", expect=2)
        self.assertIn("'shard' counts from 0", made.err)

    def test_rules_for_egg(self):
        self.p.write("math.rs", 'vec![rw!("x/x=1"; "(/ ?x ?x)" => "1" if not_zero("?x")),\n'
                                'rw!("wrong"; "(sqrt (pow ?x 2))" => "?x")]\n')
        made = self.p.eqloom("check-rules", "math.rs", expect=3)
        self.assertIn("math.rs:2:1: refuted: math/wrong", made.out)
        self.assertIn("holds if", made.out)
        self.p.write("math.rs", 'rw!("x"; "(sin ?x)" => "(cos ?y)")')
        self.assertIn("math.rs:1:30", self.p.eqloom("check-rules", "math.rs", expect=2).err)

    def peak(self, pairs):
        """Most memory that a run with so many pairs had, in MiB, and the size of what it wrote."""
        process = self.p.start("run", "job.yaml", "--set", f"pairs={pairs}",
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = status
        self.assertEqual(status, 0)
        return used.ru_maxrss / 1024, (self.p.dir / "out/files/out.txt").stat().st_size

    @unittest.skipIf(is_sanitized(), "sanitizers keep what was freed")
    def test_memory_of_many_pairs(self):
        """92 MB of pairs, three chunks' worth of memory."""
        terms = [[f"+ {'* x ' * 12}x pow x {cluster}{i:03}" for i in range(600)]
                 for cluster in "12"]
        self.p.write("many.txt", "\n\n".join("\n".join(x) for x in terms) + "\n")
        self.job("many.txt", "e-gen", "pairs", "prefix")
        few, size = self.peak(10)
        many, whole = self.peak(0)
        self.assertGreater(whole, 60 << 20)
        with open(self.p.dir / "out/files/out.txt", "rb") as f:
            self.assertEqual(sum(1 for _ in f), 2 * 600 * 599)
        self.assertLess(many, few + 48, f"{few} MiB for {size} bytes, {many} MiB for {whole}")


if __name__ == "__main__":
    unittest.main()
