"""Every reading command, and libeqloom, beside damage: it gives the right answer, or says that it cannot.
EQLOOM_TEST_FLIPS sets how many bits of its tables are flipped ('all': each of them), EQLOOM_TEST_SEED
which."""
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time
import unittest

from harness import ProjectTest

SEED = int(os.environ.get("EQLOOM_TEST_SEED", time.time_ns() & 0xFFFFFFFF))
FLIPS = os.environ.get("EQLOOM_TEST_FLIPS", "8")
# What each command that reads a store is asked.
READERS = {
    "plan": [["job.yaml"], ["job.yaml", "--json"], ["job.yaml", "--set", "seed=8"]],
    "status": [["job.yaml"]],
    "table": [["job.yaml", "--format", "tsv"]],
    "why": [["job.yaml"], ["best"], ["small/report", "--json"]],
    "show": [["small/clusters"], ["small/seeds", "--json", "--limit", "1000"], ["best"], ["tag/one"],
             ["small/report"]],
    "ls": [[], ["--json"]],
    "export": [["small/clusters", "-f", "jsonl"], ["small/rules", "-f", "tsv"]],
    "log": [["--json"], ["small/1"], ["small"]],
    "lineage": [["small/report"], ["--down", "small/rules"]],
    "query": [["cluster"], ["rule", ".value.name"], ["expr", "--job", "small"],
              ["cluster", "--op", "extract"]],
    "diff": [["small/clusters", "tag/before"], ["small/1", "small/2"], ["small/report", "tag/report"]],
    "stats": [["--json"]],
    "pack": [["small/clusters", "small/report", "-o", "out.pack"]],
    "embed": [["x + 1", "sin(x)", "--model", "best"]],
    "generate": [["sin(x)", "--model", "best", "--max-tokens", "4"]],
    "search": [["sin(x)", "--index", "index", "-k", "3"]],
}
# They write, or they look at no store.
OTHERS = {"run", "tag", "untag", "gc", "fsck", "unpack", "backup", "compact", "work", "ops", "serve",
          "init", "schema", "check-rules", "doctor", "explain", "read", "saturate",
          "simplify", "variants"}
# What libeqloom is asked, each time of a store that it opens anew.
LIBRARY = """
import eqloom, json
questions = {
    "names": lambda s: s.names("small/"),
    "by name": lambda s: s.record("small/report"),
    "a tag": lambda s: s.id("one"),
    "by digits": lambda s: s.id(DIGITS),
    "no name": lambda s: s.id("small/nothing"),
    "no tag": lambda s: s.id("abcdef"),
    "elements": lambda s: [s.record(i) for i in s.elements("small/clusters")],
    "jsonl": lambda s: s.export("small/rules", "jsonl")[0].hex(),
    "npy": lambda s: s.export("small/vectors@pooling=mean", "npy")[1],
    "safetensors": lambda s: s.export("best", "safetensors")[0].hex(),
}
for name, question in questions.items():
    try:
        with eqloom.Store(".eqloom") as store:
            print(json.dumps([name, 0, question(store)]))
    except eqloom.Error as e:
        told = e.kind in ("damaged", "failed")
        print(json.dumps([name, 1 if told else 2, ("error: " if told else "") + str(e)]))
"""


class Told(ProjectTest):
    def test_no_command_is_forgotten(self):
        listed = re.findall(r"^  ([a-z-]+) {2,}[A-Z]", self.p.eqloom("--help").out, re.M)
        self.assertGreater(len(listed), 20)
        self.assertEqual(set(listed), READERS.keys() | OTHERS)

    def build(self):
        """Two runs that differ, with a model that writes and an index."""
        self.p.edit("job.yaml", "    layers: 1\n", "    layers: 1\n    decoder_layers: 1\n"
                    "    objective: seq2seq\n    wrap: true\n")
        self.p.edit("job.yaml", "\nrefs: {", """
  index: {op: index, embeddings: vectors, checkpoint: "model@pooling=mean"}
refs: {index: "index@pooling=mean", """)
        self.p.run("--set", "seed=8")
        self.p.eqloom("tag", "before", "small/clusters")
        self.p.eqloom("tag", "report", "small/report")
        self.p.eqloom("compact")
        self.p.run()
        self.p.eqloom("tag", "one", "small/seeds")
        self.p.eqloom("backup", "copy")  # flushes
        shutil.rmtree(self.p.dir / "copy")

    def ask(self):
        """(command, status, what was said, what was written)"""
        out = self.p.dir / "out.pack"
        for name, questions in READERS.items():
            for question in questions:
                out.unlink(missing_ok=True)
                seen = self.p.eqloom(name, *question, expect=None)
                said = re.sub(r"[0-9.]+ ms", "", seen.out + seen.err)
                yield ((name, *question), seen.status, said,
                       out.read_bytes() if out.exists() else b"")

        root = pathlib.Path(__file__).resolve().parents[2]
        env = self.p.environment() | {"PYTHONPATH": str(root / "lib"), "EQLOOM_LIBRARY":
                                      os.path.abspath(os.environ.get("BUILD_ROOT", "build")) + "/lib/libeqloom.so"}
        made = subprocess.run([sys.executable, "-c", LIBRARY.replace("DIGITS", repr(self.digits))],
                              cwd=self.p.dir, env=env, capture_output=True, text=True, check=True)
        for name, status, said in map(json.loads, made.stdout.splitlines()):
            yield ("libeqloom", name), status, said, b""

    def test_the_first_block_of_each_table(self):
        """Also where an iterator goes on from one table of a level to the next."""
        self.build()
        questions = [["ls"], ["log"], ["stats"], ["query", "cluster"]]
        wanted = {tuple(q): self.p.eqloom(*q).out for q in questions}
        told = 0
        for table in sorted((self.p.dir / ".eqloom/db").glob("*.sst")):
            whole = table.read_bytes()
            table.write_bytes(whole[:20] + bytes([whole[20] ^ 4]) + whole[21:])
            with self.subTest(table=table.name):
                seen = [self.p.eqloom(*q, expect=None) for q in questions]
                for made, right in zip(seen, wanted.values()):
                    if made.status == 0:
                        self.assertEqual(made.out, right)
                told += any(made.status == 1 for made in seen)
            table.write_bytes(whole)
        self.assertGreater(told, 5)

    def test_flipped_bits(self):
        print(f"seed {SEED}, {FLIPS} flips")
        rng = random.Random(SEED)
        self.build()
        self.digits = self.p.ids()["small/clusters"][:16]
        store, whole = self.p.dir / ".eqloom", self.p.dir / "whole"
        shutil.copytree(store, whole)
        wanted = {command: rest for command, *rest in self.ask()}
        for command, (status, said, _) in wanted.items():
            self.assertIn(status, (2,) if command[1:2] in (("no name",), ("no tag",)) else (0, 3),
                          (command, said))
        tables = {t.name: t.read_bytes() for t in sorted((whole / "db").glob("*.sst"))}
        self.assertGreater(len(tables), 5)
        if FLIPS == "all":
            flips = [(t, bit) for t, data in tables.items() for bit in range(8 * len(data))]
        else:  # as many in a small table as in a large one
            names = rng.sample(sorted(tables), len(tables))
            flips = [(t, rng.randrange(8 * len(tables[t])))
                     for t in (names[i % len(names)] for i in range(int(FLIPS)))]
        told = right = 0
        for table, bit in flips:
            flipped = bytearray(tables[table])
            flipped[bit // 8] ^= 1 << bit % 8
            (store / "db" / table).write_bytes(flipped)
            for command, status, said, written in self.ask():
                with self.subTest(table=table, bit=bit, of=8 * len(flipped), command=command):
                    if status == 1:
                        self.assertIn("error: ", said)
                        told += 1
                    else:
                        self.assertEqual([status, said, written], wanted[command])
                        right += 1
            shutil.rmtree(store)
            shutil.copytree(whole, store)
        print(f"told of damage {told} times, right {right} times")


if __name__ == "__main__":
    unittest.main()
