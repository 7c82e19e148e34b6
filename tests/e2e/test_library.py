"""libeqloom and its Python module, as 'meson install' brings them: what they read of a store is what
the program prints."""
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from harness import ProjectTest, read_npy

READER = r"""
#include <eqloom.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    struct eql_store *store;
    struct eql_error e;
    unsigned char id[EQL_ID_BYTES], *ids, *payload;
    const char *kind, *words[] = {"explain", "--json", "x + x", "2 * x"};
    char *text, *err;
    size_t n, bytes;
    int status;
    if (eql_open(&store, "nowhere", &e) != EQL_NOT_FOUND || eql_open(&store, argv[1], &e))
        return puts(e.message), 1;
    if (eql_find(id, store, argv[2], &e) || eql_elements(&ids, &n, store, id, &e) ||
        eql_record(&kind, &payload, &bytes, store, ids, &e) || eql_json(&text, store, ids, &e))
        return puts(e.message), 1;
    printf("%zu %s\n%s\n", n, kind, text);
    eql_free(payload);
    eql_free(text);
    eql_free(ids);
    if (eql_find(id, store, "nothing", NULL) != EQL_NOT_FOUND ||
        eql_command(&status, &text, &err, 4, words, &e))
        return 1;
    printf("%d %s", status, text);
    eql_free(text);
    eql_free(err);
    eql_close(store);
    return 0;
}
"""


class Library(ProjectTest):
    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="eqloom-library-"))
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        subprocess.run(["meson", "install", "-C", os.environ["BUILD_ROOT"], "--no-rebuild", "--quiet",
                        "--destdir", str(cls.dir)], check=True, stdout=subprocess.DEVNULL)
        cls.library = next(cls.dir.rglob("libeqloom.so"))
        os.environ["EQLOOM_LIBRARY"] = str(cls.library)
        path = next(cls.dir.rglob("eqloom.py"))
        spec = importlib.util.spec_from_file_location("eqloom", path)
        cls.eqloom = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(cls.eqloom)

    def setUp(self):
        super().setUp()
        self.p.run()
        self.store = self.eqloom.Store(self.p.dir / ".eqloom")
        self.addCleanup(self.store.close)

    def test_c(self):
        source, program = self.dir / "reader.c", self.dir / "reader"
        source.write_text(READER)
        pc = next(self.dir.rglob("eqloom.pc"))
        prefix = next(self.dir.rglob("include/eqloom.h")).parents[1]
        flags = subprocess.run(["pkg-config", f"--define-variable=prefix={prefix}", "--cflags",
                                "--libs", str(pc)], capture_output=True, text=True, check=True)
        for compiler in ("cc", "c++"):
            subprocess.run([compiler, "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-x",
                            "c" if compiler == "cc" else "c++", source, "-o", program,
                            *flags.stdout.split(), f"-Wl,-rpath,{self.library.parent}"], check=True)
            made = subprocess.run([program, self.p.dir / ".eqloom", "small/clusters"],
                                  capture_output=True, text=True, check=True)
            head, record, verdict = made.stdout.splitlines()
            shown = self.p.eqloom("show", "small/clusters", "--json").events()[0]
            self.assertEqual(head, f"{shown['count']} cluster")
            self.assertEqual(json.loads(record),
                             self.p.eqloom("show", shown["elements"][0], "--json").events()[0])
            status, _, answer = verdict.partition(" ")
            self.assertEqual((status, json.loads(answer)["verdict"]), ("0", "proved"))

    def test_only_its_own_names_are_public(self):
        listed = subprocess.run(["nm", "-D", "--defined-only", self.library], capture_output=True,
                                text=True, check=True).stdout.split()[2::3]
        self.assertGreater(len(listed), 8)
        self.assertEqual([name for name in listed if not name.startswith("eql_")], [])

    def test_records(self):
        names = self.store.names("small/")
        self.assertEqual(names, {k: v for k, v in self.p.ids().items() if k.startswith("small/")})
        shown = self.p.eqloom("show", "small/clusters", "--json").events()[0]
        self.assertEqual(self.store.elements("small/clusters"), shown["elements"])
        first = shown["elements"][0]
        self.assertEqual(self.store.record(first[:16]),
                         self.p.eqloom("show", first, "--json").events()[0])
        self.assertEqual(self.store.payload(first)[0], "cluster")
        self.assertEqual(self.store.id("best"), self.p.ids()["best"])

    def test_exports(self):
        name = "small/vectors@pooling=mean"
        self.p.eqloom("export", name, "-o", "v.npy")
        data, index = self.store.export(name, "npy")
        self.assertEqual(data, (self.p.dir / "v.npy").read_bytes())
        self.assertEqual(len(index), len(read_npy(self.p.dir / "v.npy")))
        self.p.eqloom("export", "best", "-o", "m.safetensors")
        self.assertEqual(self.store.export("best", "safetensors")[0],
                         (self.p.dir / "m.safetensors").read_bytes())
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed: vectors() was not tried")
        matrix, texts = self.store.vectors(name)
        self.assertEqual((matrix.shape, matrix.dtype), ((len(texts), 16), numpy.float32))

    def test_commands(self):
        self.assertEqual(self.eqloom.explain("sin(2*x)", "2*sin(x)*cos(x)")["verdict"], "proved")
        self.assertEqual(self.eqloom.explain("x", "-x")["verdict"], "refuted")
        self.assertEqual(self.eqloom.explain("-x", "x", "--domain", "x:real")["verdict"], "refuted")
        self.assertEqual([v["tokens"] for v in self.eqloom.variants("x + x", 2)][0], 3)
        self.p.write("own.operators", "operator sinc(x) = sin(x)/x\n")
        own = ("--operators", self.p.dir / "own.operators")
        self.assertEqual(self.eqloom.explain("x*sinc(x)", "sin(x)", *own)["verdict"], "proved")
        self.assertEqual(self.eqloom.simplify("sinc(x) + 0*x", *own)["to"], "sinc(x)")

    def check_refused(self, kind, said, call):
        with self.assertRaises(self.eqloom.Error) as caught:
            call()
        self.assertEqual(caught.exception.kind, kind)
        self.assertIn(said, str(caught.exception))

    def test_refusals(self):
        e, s = self.eqloom, self.store
        self.check_refused("not found", "nothing named nowhere", lambda: s.record("nowhere"))
        self.check_refused("not found", "no store", lambda: e.Store(self.p.dir / "nowhere"))
        self.check_refused("bad input", "is not a collection", lambda: s.elements("best"))
        self.check_refused("bad input", "is not a format", lambda: s.export("best", "csv"))
        self.check_refused("bad input", "ends too early", lambda: e.explain("x +", "x"))
        self.check_refused("bad input", "a process of its own", lambda: e.command("run", "job.yaml"))
        s.close()
        self.check_refused("bad input", "is closed", lambda: s.id("best"))

    def test_damage_is_told(self):
        """Every read verifies: bytes that have changed are never handed out."""
        self.store.close()
        clusters = self.p.eqloom("show", "small/clusters", "--json").events()[0]["elements"]
        for table in sorted((self.p.dir / ".eqloom" / "db").glob("*")):
            if table.suffix in (".sst", ".log"):
                data = bytearray(table.read_bytes())
                for at in range(100, len(data), 997):
                    data[at] ^= 0x10
                table.write_bytes(data)
        try:
            with self.eqloom.Store(self.p.dir / ".eqloom") as store:
                for cluster in clusters:
                    self.assertEqual(store.record(cluster)["id"], cluster)
        except self.eqloom.Error as error:
            self.assertIn(error.kind, ("damaged", "failed", "not found"))
        else:
            self.fail("a damaged store was read without an error")


if __name__ == "__main__":
    sys.exit(unittest.main())
