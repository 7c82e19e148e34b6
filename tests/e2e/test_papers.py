"""Papers: archives as arXiv gives them and worse ones, what a change costs, hostile LaTeX."""
import gzip
import io
import json
import os
import pathlib
import random
import sys
import tarfile
import unittest

from harness import ProjectTest

JOB = """eqloom: 1
name: papers
params: {papers: in}
nodes:
  papers:     {op: papers, files: "${papers}"}
  equations:  {op: equations, papers: papers}
  mathml:     {op: mathml, equations: equations}
  alphabet:   {op: alphabet, mathml: mathml}
  graphs:     {op: graphs, mathml: mathml, alphabet: alphabet}
  statistics: {op: equation-statistics, mathml: mathml, papers: papers}
"""


def document(*displays, preamble=""):
    body = "".join(f"\\[{d}\\]\n" for d in displays)
    return ("\\documentclass{article}" + preamble + "\\begin{document}\\section{One}\n" + body
            + "\\end{document}").encode()


def tar(members, mode="w"):
    """members: name -> bytes, or a TarInfo without data."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as t:
        for name, data in members.items():
            info = data if isinstance(data, tarfile.TarInfo) else tarfile.TarInfo(name)
            info.name = name
            if isinstance(data, bytes):
                info.size = len(data)
            t.addfile(info, io.BytesIO(data) if isinstance(data, bytes) else None)
    return out.getvalue()


def special(kind, link=""):
    info = tarfile.TarInfo()
    info.type, info.linkname = kind, link
    return info


class Papers(ProjectTest):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.p.dir)
        (self.folder / "papers.yaml").write_text(JOB)
        (self.folder / "in").mkdir()

    def put(self, files):
        for name, data in files.items():
            path = self.folder / "in" / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)

    def make(self):
        r = self.p.eqloom("run", "papers.yaml", "--json")
        self.assertEqual(r.status, 0, r.err)
        return {e["node"]: e for e in r.events() if e["event"] == "node_done"}

    def values(self):
        r = self.p.eqloom("show", "papers/statistics", "--json")
        self.assertEqual(r.status, 0, r.err)
        return {v["name"]: v.get("value", 0) for v in json.loads(r.out)["value"]["values"]}

    def test_archives(self):
        one = document("x")
        self.put({
            "1501.00001.gz": gzip.compress(one),
            "1501.00002.tar.gz": tar({"a.tex": document("x") + b"%", "b/c.sty": b""}, "w:gz"),
            "bulk.tar": tar({"9901/hep-th9901001.gz": gzip.compress(document("z", "w")),
                             "9901/hep-th9901002.gz": gzip.compress(tar({"m.tex": one})),
                             "9901/hep-th9901003.pdf": b"%PDF", "9901/1501.00009.pdf": b"%PDF"}),
            "bad/links.tar": tar({"l": special(tarfile.SYMTYPE, "/etc/passwd"),
                                  "h": special(tarfile.LNKTYPE, "l"),
                                  "d": special(tarfile.CHRTYPE), "p": special(tarfile.FIFOTYPE),
                                  "../up.tex": one, "/abs.tex": one, "ok.tex": one}),
            "bad/bomb.gz": gzip.compress(b"x" * (100 << 20)),
            "bad/cut.tar.gz": tar({"a.tex": one * 1000}, "w:gz")[:100],
            "bad/garbage.gz": b"\x1f\x8b" + bytes(range(256)),
            "bad/nested.tar": tar({"a.tar": tar({"b.tar": tar({"c.tar": tar({"d.tex": one})})})}),
            "bad/binary.tex": b"\\documentclass\0",
            "bad/pdf.tar": tar({"x.pdf": b"%PDF"}),
        })
        self.make()
        v = self.values()
        self.assertEqual(v["papers.equations"], 6)
        self.assertEqual(v["papers.papers"], v["papers.papers with equations"])
        self.assertEqual(v["equations.converted"], 6)
        for reason, n in {"link": 2, "not a file": 2, "unsafe name": 2, "too large": 1,
                          "damaged archive": 2, "archive in archive": 1, "binary": 1,
                          "no document": 1}.items():
            self.assertEqual(v.get("problem." + reason), n, f"{reason}: {v}")

    def test_what_a_change_costs(self):
        def paper(k, b):
            return document("\\a x_%d" % k, "\\b y_%d" % k, "z_%d" % k,
                            preamble="\\def\\a{A}\\def\\b{%s}" % b)
        for k in range(5):
            self.put({f"p{k}.tex": paper(k, "B")})
        for k in range(5, 8):
            self.put({f"1501.0000{k}.gz": gzip.compress(paper(k, "B"))})
        for k in range(8, 10):
            self.put({f"p{k}/p.tex": document("\\a_%d" % k, preamble="\\input{../m}"),
                      "m.tex": b"\\def\\a{A}"})

        def costs():
            nodes = self.make()
            self.assertEqual(nodes["papers"]["elements"], 10)
            return [nodes[n]["ran"] for n in ("papers", "equations", "mathml")]
        self.assertEqual(costs(), [10, 10, 26])
        self.assertEqual(sum(n["ran"] for n in self.make().values()), 0)
        self.put({"p3.tex": paper(3, "C")})  # one macro: one paper, and the equation that uses it
        self.assertEqual(costs(), [1, 1, 1])
        self.put({"p4.tex": paper(4, "B") + b"% comment"})
        self.assertEqual(costs(), [1, 0, 0])
        self.put({"1501.00006.gz": gzip.compress(paper(6, "C"))})  # one archive
        self.assertEqual(costs(), [1, 1, 1])
        self.put({"m.tex": b"\\def\\a{B}"})  # what two papers read
        self.assertEqual(costs(), [2, 2, 2])
        self.put({"p8/more.tex": b"read by nobody"})
        self.assertEqual(costs(), [0, 0, 0])

    def test_a_display_that_moves(self):
        """Where an equation stands is no part of what its conversion depends on."""
        many = ["x_{%d}" % k for k in range(300)]
        self.put({"p.tex": document(*many)})
        self.assertEqual(self.make()["mathml"]["ran"], 300)
        self.put({"p.tex": document("y", *many)})
        self.assertEqual(self.make()["mathml"]["ran"], 1)
        self.put({"p.tex": document(*many[::-1]).replace(b"{One}", b"{Two}")})
        self.assertEqual(self.make()["mathml"]["ran"], 0)
        ids = self.p.eqloom("show", "papers/mathml", "--json").out
        fresh = self.p.eqloom("--store", "fresh", "run", "papers.yaml", "mathml")
        self.assertEqual(fresh.status, 0, fresh.err)
        self.assertEqual(json.loads(ids)["id"], json.loads(
            self.p.eqloom("--store", "fresh", "show", "papers/mathml", "--json").out)["id"])

    def test_what_is_a_document(self):
        """\\documentclass and \\begin{document} may stand in inputs; what no document reads is counted."""
        self.put({"main.tex": b"\\input{preamble}\\input{text}", "preamble.tex": b"\\documentclass{article}",
                  "text.tex": b"\\begin{document}\\[x\\]\\iffalse\\[y\\]\\fi\\end{document}\\[z\\]",
                  "lost.tex": b"\\[a\\]$$b$$",
                  "page.html": b"<!-- <math><mi>n</mi></math> --><span class='katex'><math><mi>&alpha;</mi></math></span>"})
        self.make()
        v = self.values()
        self.assertEqual((v["papers.papers"], v["papers.equations"], v["equations.converted"]), (2, 2, 2))
        self.assertEqual({k[8:]: n for k, n in v.items() if k.startswith("untaken.")}, {
            "in a branch that is not taken": 1, "behind the end of the document": 1,
            "in a file that no document reads": 2, "in a comment or a script": 1})

    def test_edits_are_as_made_from_scratch(self):
        """What is taken over of earlier runs makes no difference."""
        seed = int(os.environ.get("EQLOOM_TEST_SEED") or random.randrange(1 << 32))
        print("EQLOOM_TEST_SEED=%d" % seed, file=sys.stderr)
        rng = random.Random(seed)
        names = ["a.tex", "b.tex", "m.tex", "s.sty", "a.bbl", "x.bib", "f/a.tex", "f/m.tex", "f/c.bbl",
                 "g.gz", "l.jsonl", "noext"]

        def text(name):
            reads = "".join(rng.choice(["\\input{m}", "\\input{a}", "\\input{f/a}", "\\usepackage{s}",
                                        "\\bibliography{x}\\cite{k}", "\\include{none}"])
                            for _ in range(rng.randrange(4)))
            macro = "\\def\\q{%d}" % rng.randrange(3)
            if name == "l.jsonl":
                return json.dumps({"latex": "x_%d" % rng.randrange(3)}).encode()
            if name.endswith(("bbl", "bib")):
                return b"@a{k, arXiv:1501.0000%d}" % rng.randrange(3)
            if rng.random() < 0.1:
                return b"\0binary"
            whole = document("\\q x", preamble=reads + macro)
            return gzip.compress(whole) if name == "g.gz" else rng.choice(
                [whole, (reads + macro).encode(), b"\\[y\\]" + reads.encode()])
        for step in range(int(os.environ.get("EQLOOM_TEST_EDITS") or 12)):
            for name in rng.sample(names, 3 if step else len(names)):
                path = self.folder / "in" / name
                if step and path.exists() and rng.random() < 0.3:
                    path.unlink()
                else:
                    self.put({name: text(name)})
            if not any((self.folder / "in").rglob("*.*")):
                continue
            ids = []
            for store in ("kept", "fresh%d" % step):
                self.p.eqloom("--store", store, "run", "papers.yaml", "papers")
                shown = self.p.eqloom("--store", store, "show", "papers/papers", "--json").out
                ids.append(json.loads(shown)["id"])
            self.assertEqual(ids[0], ids[1], "step %d" % step)

    def test_folder_as_the_shell_means_it(self):
        """--set papers=DIR: from the job's folder, else from the current one."""
        self.p.write("elsewhere/papers.yaml", JOB)
        self.put({"a.tex": document("x")})
        self.p.eqloom("run", "elsewhere/papers.yaml", "--set", "papers=in")
        self.assertEqual(self.values()["papers.equations"], 1)
        (self.folder / "more.jsonl").write_text('{"latex": "y"}\n')
        self.p.eqloom("run", "elsewhere/papers.yaml", "--set", "papers=[in, more.jsonl]")
        self.assertEqual(self.values()["papers.equations"], 2)
        r = self.p.eqloom("run", "elsewhere/papers.yaml", expect=2)
        self.assertIn("no file matches 'elsewhere/in'", r.err)

    def test_subjects(self):
        """Of old ids, of new ones by metadata, which are no papers; and of the rest."""
        one = document("x")
        metadata = [{"id": "1501.00001", "categories": "cs.LG stat.ML", "title": "T"},
                    {"id": "1501.00002", "categories": "hep-ph"}, {"id": "1501.00001", "categories": "math.CO"},
                    {"id": "hep-th/9901001", "categories": "gr-qc"}, {"id": "1501.00003", "categories": "cs.CL"}]
        metadata += [{"id": f"1502.{k:05}", "categories": "cs.AI"} for k in range(2500)]
        self.put({"1501.00001v2.gz": gzip.compress(one), "bulk.tar": tar({
                      "1501/1501.00002.gz": gzip.compress(one), "hep-th9901001.gz": gzip.compress(one)}),
                  "1501.00003/main.tex": one, "1501.00009.tex": one, "note.tex": one.replace(b"\\end{d", b"\\begin{thebibliography}{9}\\bibitem"
                                                  b"{a} arXiv:1501.00001\\end{thebibliography}\\end{d"),
                  "metadata.jsonl": b"".join(json.dumps(x).encode() + b"\n" for x in metadata)})
        self.make()
        shown = self.p.eqloom("show", "papers/statistics", "--json").out
        [figure] = [t for t in json.loads(shown)["value"]["tables"] if t["title"].startswith("Figure 1")]
        self.assertEqual({r["cells"][0]: int(r["cells"][1]) for r in figure["rows"]},
                         {"cs": 2, "hep-ph": 1, "hep-th": 1, "unknown": 2})
        v = self.values()
        self.assertEqual((v["papers.papers"], v["papers.equations"]), (6, 6))
        self.assertEqual((v["papers.papers that cite arXiv ids"], v["papers.arXiv ids cited"]), (1, 1))
        self.assertFalse([name for name in v if name.startswith("problem.")])

    def test_labelled(self):
        mathml = "<math><mi>x</mi></math>"
        lines = [{"label": "a", "latex": " $\\frac12$\n"}, {"label": "a", "latex": "\\[\\frac12\\]"}, {"label": "b", "mathml": mathml},
                 {"label": "c"}, {"label": "d", "mathml": "<math><mi>"}]
        self.put({"l.jsonl": b"".join(json.dumps(x).encode() + b"\n" for x in lines) + b"nonsense\n",
                  "p.html": f"<p>{mathml} and {mathml}</p>".encode()})
        self.make()
        v = self.values()
        self.assertEqual((v["equations.converted"], v["refused.not MathML"]), (5, 1))
        self.assertEqual(v["problem.not an equation"], 2)
        self.assertIn("l.jsonl:6: not an equation (",
                      self.p.eqloom("show", "papers/statistics").out)
        graphs = self.p.eqloom("query", "graph", ".value.place.label", "--json").out
        self.assertIn('"a"', graphs)

    def test_hostile_latex(self):
        """200 texts: an answer for each, without a crash."""
        units = ["{", "}", "\\frac", "\\frac{", "x^", "x_{", "\\sqrt[", "\\left(", "\\right)", "&",
                 "\\\\", "\\begin{array}{c}", "\\end{array}", "\\begin{", "$", "\\text{", "#", "~",
                 "\\def\\a{\\a\\a}\\a", "\\def\\a#1{\\a{#1#1}}\\a{x}", "\\let\\a\\b\\let\\b\\a\\a",
                 "\\newcommand\\a[9]{#1}\\a", "\\csname", "\\expandafter", "\\char\"110000 ", "\\kern",
                 "\\rule{9e9em}{9e9em}", "\\hspace{99999999em}", "\\xymatrix{\\ar", "\\tag{", "\\gdef",
                 "\\href{javascript:x}{y}", "\\includegraphics{/etc/passwd}", "\\input{/etc/passwd}",
                 "\\write18{ls}", "\\verb|", "\u202e", "\U0001d54f", "\\'", "\\limits"]
        texts = [u * n for u in units for n in (1, 3, 50, 1000, 8000)]
        self.assertGreaterEqual(len(texts), 200)
        self.put({"h.jsonl": b"".join(json.dumps({"latex": t}).encode() + b"\n" for t in texts)})
        nodes = self.make()
        self.assertEqual(nodes["mathml"]["ran"], len(texts))
        v = self.values()
        self.assertEqual(v.get("equations.converted", 0) + v["equations.refused"], len(texts))


if __name__ == "__main__":
    unittest.main()
