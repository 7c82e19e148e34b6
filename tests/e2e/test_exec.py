"""The op `exec`: a program of the user's as a node. What it finds and gives, when it runs again, how
it fails and ends."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from harness import BINARY, ProjectTest, TIMEOUT_S

SHORTEST = '''"""Keeps the shortest members of each cluster."""
import json
import sys

keep = int(sys.argv[1])
with open("in/clusters.jsonl") as source, open("out/clusters.jsonl", "w") as target:
    for line in source:
        cluster = json.loads(line)
        texts = [member["prefix"] for member in cluster["members"]]
        texts.sort(key=lambda text: (len(text.split()), text))
        print(json.dumps({"seed": cluster["seed"]["prefix"], "members": texts[:keep]}),
              file=target)
'''
JOB = """eqloom: 1
name: programs
nodes:
  rules:      {op: rules, files: ["builtin:trigonometry"]}
  seeds:      {op: templates, files: [t.yaml]}
  certified:  {op: certify, rules: rules}
  egraphs:    {op: saturate, exprs: seeds, rules: certified}
  clusters:   {op: extract, egraphs: egraphs, max_tokens: 12, per_cluster: 20}
  short:
    op: exec
    command: [python3, scripts/shortest.py]
    argument: 3
    files: [scripts/shortest.py]
    inputs: [clusters]
    as: [clusters.jsonl]
    version: Python 3
  kept: {op: import-clusters, from: short, files: ["*.jsonl"], format: jsonl}
"""
# A network of the user's: the mean of vectors of tokens, and a softmax over clusters. It takes steps of
# descent, and writes what the mean is for each expression, and its parameters.
TRAIN = '''import json
import math
import random
import sys

DIM, RATE = 8, 2.0
steps = int(sys.argv[1])
with open("in/c.jsonl") as source:
    clusters = [json.loads(line) for line in source]
texts = [(i, m["prefix"]) for i, c in enumerate(clusters) for m in c["members"]]
words = sorted({w for _, text in texts for w in text.split()})
bags = [[words.index(w) for w in text.split()] for _, text in texts]
draw = random.Random(5)
start = lambda rows: [[draw.gauss(0, 0.3) for _ in range(DIM)] for _ in range(rows)]
table, weights = start(len(words)), start(len(clusters))


def mean(bag):
    return [sum(table[w][d] for w in bag) / len(bag) for d in range(DIM)]


def in_plain_python():
    for _ in range(steps):
        down = [[0.0] * DIM for _ in table], [[0.0] * DIM for _ in weights]
        for (label, _), bag in zip(texts, bags):
            h = mean(bag)
            p = [math.exp(sum(a * b for a, b in zip(h, row))) for row in weights]
            error = [x / sum(p) - (k == label) for k, x in enumerate(p)]
            for k, e in enumerate(error):
                for d in range(DIM):
                    down[1][k][d] += e * h[d]
                    for w in bag:
                        down[0][w][d] += e * weights[k][d] / len(bag)
        for rows, slopes in zip((table, weights), down):
            for row, slope in zip(rows, slopes):
                row[:] = [x - RATE * s / len(texts) for x, s in zip(row, slope)]
    open("out/model.json", "w").write(json.dumps(table))


def in_pytorch():
    import torch
    torch.set_num_threads(1)
    embed, out = (torch.nn.Parameter(torch.tensor(rows)) for rows in (table, weights))
    optimizer = torch.optim.SGD([embed, out], lr=RATE)
    indices = torch.tensor([w for bag in bags for w in bag])
    offsets = torch.tensor([sum(map(len, bags[:i])) for i in range(len(bags))])
    labels = torch.tensor([label for label, _ in texts])
    for _ in range(steps):
        optimizer.zero_grad()
        hidden = torch.nn.functional.embedding_bag(indices, embed, offsets, mode="mean")
        torch.nn.functional.cross_entropy(hidden @ out.T, labels).backward()
        optimizer.step()
    table[:] = embed.tolist()
    torch.save({"embed": embed.detach()}, "out/model.pt")


{"plain": in_plain_python, "torch": in_pytorch}[open("with").read()]()
with open("out/vectors.jsonl", "w") as target:
    for (label, text), bag in zip(texts, bags):
        print(json.dumps({"source": str(label), "text": text, "vector": mean(bag)}), file=target)
'''
TRAINING = """eqloom: 1
name: training
nodes:
  rules:      {op: rules, files: [rules/algebra.rules]}
  seeds:      {op: templates, files: [t.yaml]}
  certified:  {op: certify, rules: rules}
  egraphs:    {op: saturate, exprs: seeds, rules: certified, iterations: 3}
  clusters:   {op: extract, egraphs: egraphs, max_tokens: 10, per_cluster: 8}
  trained:
    op: exec
    command: [PYTHON, train.py]
    files: [train.py, with]
    inputs: [clusters]
    as: [c.jsonl]
    version: VERSION
    matrix: {argument: ["0", "60"]}
  vectors: {op: import-vectors, from: trained, files: ["*.jsonl"]}
  eval:    {op: evaluate, embeddings: vectors, label: mine}
"""
TEMPLATES = """templates: 1
sets: {f: [sin, cos, tan]}
groups: {a: {templates: ["{f}(x)", "{f}(2*x)"]}}
"""
# Whatever a program may find, as JSON.
LOOK = """import json, os, pathlib, sys
files = {str(p): p.read_text() for p in pathlib.Path(".").rglob("*") if p.is_file()}
json.dump({"files": files, "env": dict(os.environ), "argv": sys.argv, "cwd": os.getcwd(),
           "stdin": sys.stdin.read()},
          open("out/found.json", "w"))
"""

def has_process(marker):
    """Whether a process has this among its arguments."""
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if marker in path.read_text():
                return True
        except OSError:
            continue
    return False

def processes(mark):
    """The numbers of the processes, but for zombies, that have this among their arguments."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark in (path / "cmdline").read_text() and ") Z " not in (path / "stat").read_text():
                found.append(int(path.name))
        except OSError:
            continue
    return found

class Exec(ProjectTest):
    def setUp(self):
        super().setUp()
        self.tmp = self.p.dir / "tmp"
        self.tmp.mkdir()
        self.p.environment_was = self.p.environment
        self.p.environment = lambda: self.p.environment_was() | {"TMPDIR": str(self.tmp),
                                                                 "SECRET": "mine"}

    def tearDown(self):
        self.assertEqual(list(self.tmp.glob("eqloom-exec-*")), [])  # directories do not stay

    def job(self, **nodes):
        body = "".join(f"  {name}: {json.dumps(node)}\n" for name, node in nodes.items())
        self.p.write("p.yaml", f"eqloom: 1\nname: p\nnodes:\n{body}")

    def run_p(self, *args, expect=0):
        return self.p.eqloom("run", "p.yaml", *args, expect=expect)

    def states(self, *args, job="p.yaml"):
        events = self.p.eqloom("run", job, "--json", *args).events()
        return {e["node"]: e["state"] for e in events if e["event"] == "node_done"}

    def file(self, ref):
        return self.p.eqloom("export", ref, "-f", "raw").out

    def test_a_script_between_nodes(self):
        self.p.write("job2.yaml", JOB)
        self.p.write("t.yaml", TEMPLATES)
        self.p.write("scripts/shortest.py", SHORTEST)
        self.assertEqual(self.states(job="job2.yaml")["short"], "ran")
        for name in ["clusters", "kept"]:
            self.p.eqloom("export", f"programs/{name}", "-o", f"{name}.jsonl")
        before, after = ([json.loads(line) for line in
                          (self.p.dir / f"{name}.jsonl").read_text().splitlines()]
                         for name in ["clusters", "kept"])
        self.assertEqual(len(before), len(after))
        for was, now in zip(before, after):
            texts = sorted((m["prefix"] for m in was["members"]),
                           key=lambda text: (len(text.split()), text))
            self.assertEqual([m["prefix"] for m in now["members"]], texts[:3])

        # Cached; again when what it depends on has changed, and only then.
        self.assertEqual({self.states(job="job2.yaml")[n] for n in ["short", "kept"]}, {"cached"})
        self.p.edit("scripts/shortest.py", "Keeps", "Takes")
        self.assertIn("scripts/shortest.py changed",
                      self.p.eqloom("plan", "job2.yaml").out)
        self.assertIn("would run: scripts/shortest.py changed",
                      self.p.eqloom("why", "job2.yaml", "short").out)
        ran = self.states(job="job2.yaml")
        self.assertEqual((ran["short"], ran["kept"]), ("ran", "cached"))  # it gave the same
        self.assertIn("version", self.p.eqloom("plan", "job2.yaml", "--set", "short.version=4").out)
        again = self.states("--set", "short.argument=2", job="job2.yaml")
        self.assertEqual((again["short"], again["kept"]), ("ran", "ran"))
        self.p.edit("t.yaml", ", tan", "")
        self.assertEqual(self.states("--set", "short.argument=2", job="job2.yaml")["short"], "ran")
        self.assertEqual(self.states("--check", job="job2.yaml")["short"], "ran")
        lineage = self.p.eqloom("lineage", "programs/kept").out
        self.assertIn("scripts/shortest.py", lineage)
        self.assertIn("t.yaml", lineage)

    def test_what_a_program_finds(self):
        self.p.write("tools/look.py", LOOK)
        self.p.write("tools/data/n.txt", "seven\n")
        self.job(seeds={"op": "templates", "files": ["templates/small.yaml"]},
                 look={"op": "exec", "command": ["python3", "tools/look.py", "a b", "$HOME"],
                       "argument": "*", "files": ["tools/*.py", "tools/data/n.txt"],
                       "environment": ["N=1", "LANG=C"], "main": "found.json",
                       "inputs": ["seeds", "seeds"], "as": ["one.jsonl", "deep/two.tsv"]})
        self.run_p()
        found = json.loads(self.file("p/look.file"))
        self.assertEqual(sorted(found["files"]), ["in/deep/two.tsv", "in/one.jsonl",
                                                  "tools/data/n.txt", "tools/look.py"])
        self.assertEqual(found["files"]["tools/data/n.txt"], "seven\n")
        self.assertEqual(found["files"]["in/one.jsonl"],
                         self.p.eqloom("export", "p/seeds", "-f", "jsonl").out)
        self.assertEqual(found["argv"], ["tools/look.py", "a b", "$HOME", "*"])
        self.assertEqual(found["stdin"], "")
        env = found["env"]
        self.assertEqual((env["N"], env["HOME"], env["LANG"]), ("1", found["cwd"], "C"))
        self.assertNotIn("SECRET", env)
        self.assertTrue(pathlib.Path(found["cwd"]).name.startswith("eqloom-exec-"))

    def test_all_that_it_writes_is_kept(self):
        script = ("import os; os.makedirs('out/b/c'); open('out/b/c/x.bin', 'wb').write(bytes(range("
                  "256)) * 40000); open('out/a.txt', 'w').write('a'); os.symlink('../../a.txt', "
                  "'out/b/c/link'); open('out/.hidden', 'w').write('h'); "
                  "open('left.txt', 'w').write('not kept')")
        self.job(writes={"op": "exec", "command": ["python3", "-c", script], "main": "b/c/x.bin"})
        self.run_p()
        names = [json.loads(line)["name"] for line in
                 self.p.eqloom("export", "p/writes", "-f", "jsonl").out.splitlines()]
        self.assertEqual(names, ["a.txt", "b/c/link", "b/c/x.bin"])
        self.p.eqloom("export", "p/writes.file", "-f", "raw", "-o", "x.bin")
        self.assertEqual((self.p.dir / "x.bin").read_bytes(), bytes(range(256)) * 40000)
        reads = ("import pathlib; b = pathlib.Path('in/x.bin').read_bytes(); "
                 "pathlib.Path('out/n.txt').write_text(str(len(b)))")
        self.p.write("p.yaml", (self.p.dir / "p.yaml").read_text() + "  reads: " + json.dumps(
            {"op": "exec", "command": ["python3", "-c", reads], "main": "n.txt",
             "inputs": ["writes.file"], "as": ["x.bin"]}) + "\nexports: {n.txt: reads.file}\n")
        self.run_p()
        self.assertEqual((self.p.dir / "out/p/n.txt").read_text(), "10240000")

    def test_a_source_may_read_what_a_program_made(self):
        rules = "print('double: sin(2*?a) -> 2*sin(?a)*cos(?a)', file=open('out/a.rules', 'w'))"
        self.job(made={"op": "exec", "command": ["python3", "-c", rules]},
                 rules={"op": "rules", "from": "made"},
                 certified={"op": "certify", "rules": "rules"})
        self.run_p()
        self.assertIn("double", self.p.eqloom("show", "p/certified").out)
        self.p.edit("p.yaml", "2*sin", "3*sin")
        failed = self.run_p(expect=1)
        self.assertIn("rule main/double is false", failed.err)
        self.p.edit("p.yaml", "3*sin(", "3*son(")
        failed = self.run_p(expect=1)
        self.assertIn("a.rules:1:", failed.err)
        self.p.edit("p.yaml", '"from": "made"', '"from": "made", "files": "*.txt"')
        self.assertIn("no output file of the node matches '*.txt'", self.run_p(expect=1).err)

    VECTORS = """import json, struct
texts = [(i, m["prefix"]) for i, line in enumerate(open("in/c.jsonl")) for m in json.loads(line)["members"]]
at = lambda i: [1.0 if d == i else 0.0 for d in range(64)]
with open("out/a.jsonl", "w") as lines:
    for i, text in texts:
        print(json.dumps({"source": f"cluster {i}", "text": text, "vector": at(i)}), file=lines)
with open("out/b.npy", "wb") as matrix, open("out/b.npy.jsonl", "w") as lines:
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 64), }" % len(texts)
    matrix.write(b"\\x93NUMPY\\x01\\x00" + struct.pack("<H", 118) + head.ljust(117).encode() + b"\\n")
    for i, text in texts:
        matrix.write(struct.pack("<64f", *at(i)))
        print(json.dumps({"source": f"cluster {i}", "text": text}), file=lines)
open("out/plot.svg", "w").write("<svg/>")
"""

    def test_vectors_and_figures_come_back(self):
        self.p.write("job2.yaml", JOB.replace("  kept:", """  made: {op: exec, command: [python3, train.py],
    files: [train.py], inputs: [clusters], as: [c.jsonl], main: plot.svg}
  lines:  {op: import-vectors, from: made, files: [a.jsonl]}
  matrix: {op: import-vectors, from: made, files: ["b.*"]}
  eval:   {op: evaluate, embeddings: lines, label: mine}
  kept:""") + "exports: {plot.svg: made.file}\n")
        self.p.write("t.yaml", TEMPLATES)
        self.p.write("train.py", self.VECTORS)
        self.p.write("scripts/shortest.py", SHORTEST)
        out = self.p.eqloom("run", "job2.yaml", "eval", "matrix", "made").out
        self.assertRegex(out, r"precision@1 +1\b")
        self.assertEqual((self.p.dir / "out/programs/plot.svg").read_text(), "<svg/>")
        ids = self.p.ids()
        self.assertEqual(ids["programs/lines"], ids["programs/matrix"])
        # What eqloom exports it reads: the same vectors, from files.
        self.p.eqloom("export", "programs/matrix", "-o", "there.npy")
        self.job(back={"op": "import-vectors", "files": ["there.npy", "there.npy.jsonl"]})
        self.run_p()
        self.p.eqloom("export", "p/back", "-o", "again.npy")
        self.assertEqual((self.p.dir / "there.npy").read_bytes(), (self.p.dir / "again.npy").read_bytes())
        for name, text, message in [
                ("x.jsonl", '{"source": "a", "vector": [1, "2"]}', "x.jsonl:1:1: error: value 2 of vector 1"),
                ("x.jsonl", '{"source": "a", "vector": [1]}\n{"source": "a", "vector": [1, 2]}',
                 "x.jsonl:2:1: error: a vector of 2 numbers among vectors of 1"),
                ("x.jsonl", '{"source": "a", "vector": [1e39]}', "value 1 of vector 1 is not a finite number"),
                ("x.jsonl", '{"vector": [1]}', 'expected {"source": "c1"'), ("x.jsonl", "{", "not JSON"),
                ("x.npy", "none", "the file x.npy.jsonl, which describes its rows, is missing"),
                ("there.npy.jsonl", "", "0 lines for")]:
            with self.subTest(text=text):
                self.p.write(name, text)
                files = [name] if name[0] == "x" else ["there.npy", name]
                self.job(back={"op": "import-vectors", "files": files})
                self.assertIn(message, self.run_p(expect=2).err)
        self.p.write("x.npy", "none")
        self.p.write("x.npy.jsonl", "")
        self.job(back={"op": "import-vectors", "files": ["x.npy", "x.npy.jsonl"]})
        self.assertIn("x.npy: not a .npy file", self.run_p(expect=2).err)

    def check_training(self, python, way, version, model):
        self.p.write("train.py", TRAIN)
        self.p.write("with", way)
        self.p.write("t.yaml", TEMPLATES)
        self.p.write("training.yaml", TRAINING.replace("PYTHON", python).replace("VERSION", version))
        self.p.eqloom("run", "training.yaml")
        rows = self.p.eqloom("table", "training.yaml", "--metric", "ranking_error", "--json").events()
        error = {row["params"]["argument"]: row["metrics"]["ranking_error"] for row in rows}
        self.assertLess(error[60], 0.8 * error[0])
        files = self.p.eqloom("show", "training/trained@argument=60").out
        self.assertIn(model, files)
        before = self.p.ids()
        self.assertLessEqual(set(self.states(job="training.yaml").values()), {"cached", "read"})
        self.p.eqloom("run", "training.yaml", "--check")   # a training gives the same twice
        self.assertEqual(self.p.ids(), before)
        ran = self.states("--set", "trained.version=other", job="training.yaml")
        self.assertEqual({s for n, s in ran.items() if n.startswith("trained")}, {"ran"})
        self.assertEqual({s for n, s in ran.items() if n.startswith("eval")}, {"cached"})   # as before

    def test_a_training(self):
        self.check_training("python3", "plain", "Python 3", "model.json")

    def test_a_training_in_pytorch(self):
        for python in (os.environ.get("EQLOOM_TORCH_PYTHON"), sys.executable, "/usr/bin/python3"):
            found = python and subprocess.run([python, "-c", "import torch; print(torch.__version__)"],
                                              capture_output=True, text=True)
            if found and found.returncode == 0:
                return self.check_training(python, "torch", "PyTorch " + found.stdout.strip(), "model.pt")
        self.skipTest("no Python here has PyTorch: EQLOOM_TORCH_PYTHON may name one")

    def test_failures(self):
        fail = "import sys; print('out'); sys.exit('a reason')"
        self.job(fails={"op": "exec", "command": ["python3", "-c", fail]},
                 below={"op": "rules", "from": "fails"})
        failed = self.run_p(expect=1)
        self.assertIn("FAILED fails: python3 ended with status 1\na reason\nout\n", failed.err)
        self.assertIn("below: skipped (fails failed)", failed.err)
        for command, more, message in [
                (["nosuchprogram"], {}, "there is no program 'nosuchprogram'"),
                (["scripts/none.sh"], {}, "there is no program scripts/none.sh"),
                (["sh", "-c", "kill -9 $$"], {}, "sh was killed by signal 9 (Killed)"),
                (["python3", "-c", "bytearray(1 << 30)"], {"memory": 200}, "MemoryError"),
                (["sleep", "100"], {"time_limit": 1}, "took longer than 1 s"),
                (["true"], {"main": "a.txt"}, "the program did not write out/a.txt"),
                (["sh", "-c", "yes x | head -c 100000; printf '\\303\\050\\033[31m'; exit 3"], {},
                 "ended with status 3\nx\nx\n")]:
            self.job(fails={"op": "exec", "command": command} | more)
            failed = self.run_p(expect=1)
            self.assertIn(message, failed.err)
            self.assertNotIn("\033", failed.err)
        self.assertIn("?(?[31m", failed.err)

    def test_what_cannot_be_kept(self):
        for script, message in [
                ("ln -s /etc/passwd out/link", "out/link is a link that leads out of out/"),
                ("touch x; ln -s ../x out/link", "out/link is a link that leads out of out/"),
                ("mkdir outer; touch outer/x; ln -s ../outer/x out/link", "leads out of out/"),
                ("ln -s nowhere out/link", "out/link is a link that leads nowhere"),
                ("mkdir out/d; ln -s d out/link", "out/link is no file"),
                ("mkdir out/d; mkfifo out/d/pipe", "out/d/pipe is no file"),
                ("rmdir out; touch out", "out is not a folder"),
                ("rmdir out", "out: No such file"),
                ("rmdir out; ln -s /etc out", "out is not a folder"),
                ("touch \"out/$(printf 'a\\377\\033')\"", "whose name is not UTF-8: out/a??"),
                ("cd out; python3 -c 'import os\nfor _ in range(3000): os.mkdir(\"deep\"), os.chdir(\"deep\")'",
                 "...: File name too long")]:
            with self.subTest(script=script):
                self.job(x={"op": "exec", "command": ["bash", "-c", script]})
                failed = self.run_p(expect=1)
                self.assertIn(message, failed.err)
                self.assertNotIn("eqloom-exec", failed.err)
        if os.geteuid() == 0:  # and as somebody whom permissions stop
            for script, name in [("mkdir -m 0 out/d", "out/d"), ("touch out/f; chmod 0 out/f", "out/f"),
                                 ("mkdir out/d; touch out/d/f; chmod 400 out/d", "out/d/f")]:
                with self.subTest(script=script):
                    self.job(x={"op": "exec", "command": ["sh", "-c", script]})
                    for path in [self.p.dir, *self.p.dir.rglob("*")]:
                        os.chown(path, 65534, 65534)
                    failed = subprocess.run(
                        [os.path.abspath(BINARY), "run", "p.yaml"], cwd=self.p.dir, text=True,
                        env=self.p.environment(), capture_output=True, timeout=TIMEOUT_S,
                        user=65534, group=65534)
                    self.assertEqual(failed.returncode, 1)
                    self.assertRegex(failed.stderr, f"{name}: Permission denied")
                    self.assertEqual(list(self.tmp.glob("eqloom-exec-*")), [])
            for path in [self.p.dir, *self.p.dir.rglob("*")]:
                os.chown(path, 0, 0)

    def test_any_argument_and_any_name(self):
        show = "import json, sys; json.dump(sys.argv[1:], open('out/argv', 'w'))"
        values = [["", "a\nb", "c"], ["", "a", "b\nc"], ["a\nb\nc"], ["a", "b", "c"], ["\\n", "\\", "\\e", ""],
                  [""], [], ["'\"$(x)`", "\t", "ü"]]
        for value in values:
            self.job(x={"op": "exec", "command": ["python3", "-c", show, *value], "main": "argv"})
            self.assertEqual(self.states()["x"], "ran", value)
            self.assertEqual(json.loads(self.file("p/x.file")), value)
        self.job(x={"op": "exec", "command": ["sh", "-c", "printf '%s|' \"$A\" \"$B\" > out/a"],
                    "environment": ["A=a\nb", "B="], "main": "a"})
        self.run_p()
        self.assertEqual(self.file("p/x.file"), "a\nb||")
        longest = "n" * 250 + ".json"
        self.p.write(longest, "given")
        os.chmod(self.p.dir / longest, 0o600)
        self.job(seeds={"op": "templates", "files": ["templates/small.yaml"]},
                 tool={"op": "exec", "command": ["sh", "-c", "printf '#!/bin/sh\\necho $0' > out/tool"],
                       "main": "tool"},
                 x={"op": "exec", "files": [longest],
                    "command": ["sh", "-c", f"cat {longest} in/*.tsv; in/tool; ls -l {longest}; "
                                f"touch out/{longest}"],
                    "inputs": ["seeds", "tool.file"], "as": ["i" * 251 + ".tsv", "tool"]})
        self.run_p()
        self.assertIn(longest, self.p.eqloom("export", "p/x", "-f", "jsonl").out)

    def test_many_files(self):
        """The key of a program with four times as many files takes four times as long, a pattern for all or
        one for each."""
        used = {}
        for n in (1000, 4000):
            for i in range(n):
                self.p.write(f"many{n}/file-with-a-name-{i:05}.txt", str(i))
            for files in ([f"many{n}/*"], [f"many{n}/file-with-a-name-{i:05}.txt" for i in range(n)]):
                self.job(x={"op": "exec", "command": ["true"], "files": files})
                process = self.p.start("plan", "p.yaml", stdout=subprocess.DEVNULL)
                _, process.returncode, usage = os.wait4(process.pid, 0)
                self.assertEqual(process.returncode, 0)
                used[n, len(files) == 1] = usage.ru_utime + usage.ru_stime
        for way in (True, False):
            self.assertLess(used[4000, way], 8 * used[1000, way] + 0.5, used)

    def test_mistakes_in_the_job(self):
        self.p.write("in/a.py", "")
        self.p.write("out", "")
        for more, message in [
                ({"inputs": ["seeds"]}, "there are 1 inputs and 0 names"),
                ({"inputs": ["seeds"], "as": ["../a.jsonl"]}, "is not a valid path below in/"),
                ({"inputs": ["seeds", "seeds"], "as": ["a.tsv", "a.tsv"]}, "two inputs are called"),
                ({"environment": ["N"]}, "takes KEY=VALUE"),
                ({"main": "/etc/passwd"}, "is not a valid path below out/"),
                ({"main": "n" * 256}, "is not a valid path below out/"),
                ({"command": [""]}, "'command' names no program"),
                ({"files": ["in/a.py"]}, "in/ and out/ are reserved"),
                ({"files": ["out"]}, "in/ and out/ are reserved"),
                ({"files": ["builtin:trigonometry"]}, "a program cannot read 'builtin:"),
                ({"files": ["none.py"]}, "no file matches"),
                ({"comand": ["true"]}, "command")]:
            self.job(seeds={"op": "templates", "files": ["templates/small.yaml"]},
                     x={"op": "exec", "command": ["true"]} | more)
            refused = self.p.eqloom("plan", "p.yaml", expect=2).err
            self.assertIn(message, refused)
            self.assertIn("p.yaml:", refused)
        self.job(seeds={"op": "templates", "files": ["templates/small.yaml"]},
                 x={"op": "exec", "command": ["true"], "inputs": ["seeds"], "as": ["a.txt"]})
        self.assertIn("the suffix must name a format", self.run_p(expect=1).err)

    def test_check_finds_what_differs(self):
        self.job(x={"op": "exec", "command": ["sh", "-c", "date +%N > out/now"]})
        self.run_p()
        self.assertIn("is not deterministic", self.run_p("--check", expect=1).err)
        self.job(x={"op": "exec", "command": ["sh", "-c", "echo a > out/now"]})
        self.run_p()
        self.run_p("--check")

    def test_sweep(self):
        self.job(x={"op": "exec", "command": ["sh", "-c", "echo $0 > out/a"], "main": "a",
                    "matrix": {"argument": ["0.1", "0.2"]}})
        self.run_p()
        self.assertEqual(self.file("p/x@argument=0.2.file"), "0.2\n")
        self.assertEqual(self.file("p/x@argument=0.1.file"), "0.1\n")

    def test_an_interrupted_run_ends_what_it_started(self):
        mark = f"31{os.getpid()}"
        self.job(x={"op": "exec", "command": ["sh", "-c", f"sleep {mark} & sleep {mark}"]},
                 deaf={"op": "exec", "command": [
                     "python3", "-c", "import signal, time; signal.signal(15, signal.SIG_IGN); "
                     f"time.sleep({mark})"]})
        process = self.p.start("run", "p.yaml", "-j2", stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
        while not has_process(f"sleep\0{mark}") or not has_process("SIG_IGN"):
            self.assertIsNone(process.poll())
            time.sleep(0.02)
        time.sleep(0.3)  # until Python ignores it
        started = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=TIMEOUT_S)
        self.assertEqual(process.returncode, 130, err)
        while has_process(mark):
            self.assertLess(time.monotonic() - started, TIMEOUT_S)
            time.sleep(0.02)

    def wait_for(self, what):
        started = time.monotonic()
        while not what():
            self.assertLess(time.monotonic() - started, TIMEOUT_S)
            time.sleep(0.02)

    def daemons(self, mark):
        """A command that leaves processes in sessions of their own, one of which ignores SIGTERM."""
        return (f"setsid sleep {mark} & (setsid setsid sleep {mark} &); "
                f"(setsid sh -c 'trap \"\" TERM; sleep {mark}; sleep {mark}' &); sleep {mark} & "
                f"while [ $(pgrep -cf '^sleep {mark}') -lt 4 ]; do sleep 0.05; done; ")

    def test_no_process_is_left(self):
        mark = f"32{os.getpid()}"
        self.job(x={"op": "exec", "command": ["sh", "-c", self.daemons(mark) + "echo > out/a"]})
        self.run_p()
        self.assertEqual(processes(f"sleep\0{mark}"), [])
        self.job(x={"op": "exec", "command": ["sh", "-c", self.daemons(mark) + "exit 3"]})
        self.assertIn("sh ended with status 3", self.run_p(expect=1).err)
        self.assertEqual(processes(f"sleep\0{mark}"), [])
        self.job(x={"op": "exec", "command": ["sh", "-c", self.daemons(mark) + "wait"], "time_limit": 2})
        self.assertIn("took longer than 2 s", self.run_p(expect=1).err)
        self.assertEqual(processes(f"sleep\0{mark}"), [])

    def test_nothing_is_left_of_a_killed_run(self):
        mark = f"33{os.getpid()}"
        (self.tmp / "eqloom-exec-others").symlink_to(self.p.dir)  # not ours
        for _ in range(3):
            self.job(x={"op": "exec", "command": ["sh", "-c", self.daemons(mark) + "touch ready; wait"]},
                     y={"op": "exec", "command": ["sh", "-c", f"mkdir -m 0 tmp/d; exec sleep {mark}"]})
            process = self.p.start("run", "p.yaml", "-j2", stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
            self.wait_for(lambda: len(processes(f"sleep\0{mark}")) >= 5 and
                          list(self.tmp.glob("eqloom-exec-*/ready")))
            process.kill()
            process.wait()
            self.wait_for(lambda: not processes(mark))
            self.assertEqual(len(list(self.tmp.glob("eqloom-exec-*"))), 3)
            # A run beside it takes away what is dead, and only that.
            self.job(x={"op": "exec", "command": ["sh", "-c", f"touch ready; sleep {mark}"]})
            process = self.p.start("--store", "other", "run", "p.yaml", stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
            self.wait_for(lambda: list(self.tmp.glob("eqloom-exec-*/ready")) and
                          len(list(self.tmp.glob("eqloom-exec-*"))) == 2)
            self.job(x={"op": "exec", "command": ["true"]})
            self.run_p()
            self.assertEqual(len(list(self.tmp.glob("eqloom-exec-*"))), 2)
            process.terminate()
            process.wait()
            self.wait_for(lambda: not processes(mark))
            self.assertTrue((self.p.dir / "p.yaml").exists())
        (self.tmp / "eqloom-exec-others").unlink()

    def test_where_temporary_files_are(self):
        self.job(x={"op": "exec", "command": ["sh", "-c", "pwd > out/a; echo $TMPDIR >> out/a"], "main": "a"})
        self.run_p()
        home, tmp = self.file("p/x.file").split()
        self.assertEqual((str(pathlib.Path(home).parent), tmp), (str(self.tmp.resolve()), home + "/tmp"))
        was = self.p.environment
        self.p.environment = lambda: was() | {"TMPDIR": "tmp"}  # relative
        self.job(x={"op": "exec", "command": ["sh", "-c", "echo $HOME > out/a; touch $TMPDIR/x"], "main": "a"})
        self.run_p()
        self.assertEqual(str(pathlib.Path(self.file("p/x.file").strip()).parent), str(self.tmp.resolve()))
        self.p.environment = lambda: was() | {"TMPDIR": str(self.p.dir / "none")}
        self.job(x={"op": "exec", "command": ["false"]})
        self.assertIn("none for temporary files (TMPDIR)", self.run_p(expect=1).err)

if __name__ == "__main__":
    unittest.main()
