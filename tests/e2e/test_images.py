"""Pictures of equations: folders of PNG files, hostile ones, cropping, TeX (where it is installed)."""
import json
import os
import random
import shutil
import struct
import unittest
import zlib

from harness import Moments, ProjectTest

JOB = """eqloom: 1
name: bitmaps
nodes:
  pictures: {op: images, files: [arxiv]}
  crops:    {op: crop, images: pictures.images}
"""
RENDER = """eqloom: 1
name: bitmaps
nodes:
  papers:    {op: papers, files: [in]}
  equations: {op: equations, papers: papers}
  pictures:  {op: render, equations: equations}
  crops:     {op: crop, images: pictures.images}
"""
HAS_TEX = shutil.which("pdftex") and shutil.which("dvipng")


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(rows):
    """Grey, 8 bits."""
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data)
            + chunk(b"IEND", b""))


def read_png(data):
    """The rows of a grey PNG without interlacing, filters undone."""
    at, idat = 8, b""
    while at < len(data):
        size, name = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if name == b"IHDR":
            width, height, depth, kind = struct.unpack(">IIBB", body[:10])
            assert (depth, kind) == (8, 0)
        idat += body if name == b"IDAT" else b""
        at += 12 + size
    raw, rows, before = zlib.decompress(idat), [], bytes(width)
    for y in range(height):
        kind, line = raw[y * (width + 1)], bytearray(raw[y * (width + 1) + 1:(y + 1) * (width + 1)])
        for x in range(width):
            left, up = line[x - 1] if x else 0, before[x]
            corner = before[x - 1] if x else 0
            guess = left + up - corner
            paeth = min((left, up, corner), key=lambda v: abs(guess - v))
            line[x] = (line[x] + (0, left, up, (left + up) // 2, paeth)[kind]) & 255
        rows.append(bytes(line))
        before = line
    return rows


class Pictures(ProjectTest):
    def job(self, text):
        self.p.write("bitmaps.yaml", text)

    def run_job(self, *args, expect=0):
        return self.p.eqloom("run", "bitmaps.yaml", *args, expect=expect)

    def records(self, ref):
        out = self.p.eqloom("export", ref, "--format", "jsonl").out
        return [json.loads(line) for line in out.splitlines()]

    def put(self, name, data):
        path = self.p.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


class Folder(Pictures):
    def test_layout(self):
        rng = random.Random(5)
        picture = [[rng.randrange(256) for _ in range(531)] for _ in range(106)]
        self.put("arxiv/1711.11486v2/10.png", png(picture))
        self.put("arxiv/1711.11486v2/2.png", png([[255] * 531] * 106))
        self.put("arxiv/1711.11486v2/10.tex", b"x^2\n")
        self.put("arxiv/1711.11486v2/abstract.tex", "Über Bäume.\n".encode())
        self.put("arxiv/hep-th/1.png", b"\x89PNG\r\n\x1a\nno more")
        self.put("arxiv/hep-th/2.png", png([[0] * 40] * 10))
        self.job(JOB)
        self.run_job()
        whole = self.records("bitmaps/pictures")
        self.assertEqual([(r["place"]["paper"], r["place"]["number"], r["latex"]) for r in whole],
                         [("1711.11486", 2, ""), ("1711.11486", 10, "x^2"), ("hep-th", 2, "")])
        papers = self.records("bitmaps/pictures.papers")
        self.assertEqual([(r["paper"], r["abstract"]) for r in papers],
                         [("1711.11486", "Über Bäume."), ("hep-th", "")])
        refused, = self.records("bitmaps/pictures.refused")
        self.assertIn("arxiv/hep-th/1.png: not a PNG", refused["detail"])
        # the middle, 333 x 32; what is blank is apart; a small picture gets a margin
        crops = self.records("bitmaps/crops")
        self.assertEqual([r["place"]["number"] for r in crops], [10, 2])
        self.assertEqual(len(self.records("bitmaps/crops.blank")), 1)
        self.p.eqloom("show", crops[0]["id"], "-o", "x.png")
        self.assertEqual(read_png((self.p.dir / "x.png").read_bytes()),
                         [bytes(row[99:99 + 333]) for row in picture[37:37 + 32]])
        self.p.eqloom("show", crops[1]["id"], "-o", "x.png")
        small = read_png((self.p.dir / "x.png").read_bytes())
        self.assertEqual(small[16].count(0), 40)
        self.assertEqual(sum(row.count(0) for row in small), 400)
        self.assertEqual(sum(row.count(255) for row in small), 333 * 32 - 400)
        failed = self.p.eqloom("show", "bitmaps/pictures.papers", "-o", "x.png", expect=2)
        self.assertIn("-o writes an image, and this is collection", failed.err)

    def test_labels_by_folder(self):
        self.put("arxiv/bayes/1.png", png([[0] * 400] * 50))
        self.job(JOB.replace("[arxiv]", "[arxiv], folders: label"))
        self.run_job()
        crop, = self.records("bitmaps/crops")
        self.assertEqual((crop["place"]["label"], crop["place"]["paper"]), ("bayes", ""))


class WithoutTex(Pictures):
    def test_says_what_to_install(self):
        self.job(RENDER)
        self.put("in/1501.00001.tex", b"\\begin{document}\\[x\\]\\end{document}")
        environment = self.p.environment
        self.p.environment = lambda: environment() | {"PATH": str(self.p.dir)}
        failed = self.run_job(expect=None)
        self.assertNotEqual(failed.status, 0)
        self.assertIn("apt-get install texlive-latex-base dvipng", failed.err)


@unittest.skipUnless(HAS_TEX, "pdftex or dvipng is not installed: texlive-latex-base, dvipng")
class Render(Pictures):
    def document(self, *displays, preamble=""):
        body = "".join(f"\\[{d}\\]\n" for d in displays)
        self.put("in/1501.00001.tex", (f"\\documentclass{{article}}{preamble}\n\\begin{{document}}"
                                       f"{body}\\end{{document}}").encode())

    def drawn(self):
        return {r["latex"]: r["id"] for r in self.records("bitmaps/pictures")}

    def refused(self):
        return {r["latex"]: (r["refused"], r["detail"])
                for r in self.records("bitmaps/pictures.refused")}

    def test_bad_latex_costs_itself(self):
        good = ["x^2 + 1", "\\norm{y}", "\\frac{a}{b}", "\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}"]
        bad = {"\\frob{x}": ("unknown command", "! Undefined control sequence."),
               "\\begin{frob}x\\end{frob}": ("unknown environment",
                                             "! LaTeX Error: Environment frob undefined."),
               "\\left( x": ("error of TeX", "! Missing \\right."),
               "\\begin{pmatrix} a": ("error of TeX", "! LaTeX Error: \\begin{pmatrix}"),
               "\\begingroup x": ("error of TeX", "! Missing \\endgroup inserted."),
               "\\input{/etc/passwd}": None, "\\openin0=/etc/passwd \\read0 to\\x \\x": None,
               "\\immediate\\write18{touch /tmp/x} \\frob": ("unknown command", "! Undefined"),
               "\\gdef\\frac#1#2{#2} \\frob": ("unknown command", "! Undefined"),
               "\\def\\x{\\x}\\x": ("too long", "! TeX expands macros without end")}
        mixed = list(bad)
        for k, text in enumerate(good):
            mixed.insert(2 * k + 1, text)
        self.job(RENDER)
        self.document(*mixed, preamble="\\newcommand{\\norm}[2][2]{\\left\\|#2\\right\\|_{#1}}")
        self.run_job()
        drawn, refused = self.drawn(), self.refused()
        self.assertEqual([latex for latex in drawn if latex in good], [l for l in mixed if l in good])
        for latex, reason in bad.items():
            if reason and latex in refused:
                self.assertEqual(refused[latex][0], reason[0], latex)
                self.assertTrue(refused[latex][1].startswith(reason[1]), refused[latex])
            else:
                self.assertIsNone(reason, latex)
        # each alone is the same picture, whatever came with it
        for latex in good:
            shutil.rmtree(self.p.dir / ".eqloom")
            self.document(*["z"] * mixed.index(latex), latex,
                          preamble="\\newcommand{\\norm}[2][2]{\\left\\|#2\\right\\|_{#1}}")
            self.run_job()
            self.assertEqual(self.drawn()[latex], drawn[latex], latex)

    def test_ink_is_centred(self):
        self.job(RENDER)
        self.document("x+y=z", "a+b" * 60)
        self.run_job()
        x, long = self.records("bitmaps/crops")
        self.p.eqloom("show", x["id"], "-o", "x.png")
        rows = read_png((self.p.dir / "x.png").read_bytes())
        self.assertEqual((len(rows), len(rows[0])), (32, 333))
        columns = [c for c in range(333) if any(row[c] < 255 for row in rows)]
        self.assertLessEqual(abs(columns[0] - (332 - columns[-1])), 1)
        self.p.eqloom("show", long["id"], "-o", "long.png")
        rows = read_png((self.p.dir / "long.png").read_bytes())
        self.assertTrue(any(row[0] < 255 for row in rows[8:24]) or
                        any(row[1] < 255 for row in rows[8:24]))

    def test_killed_and_resumed(self):
        rng = random.Random(os.environ.get("EQLOOM_TEST_SEED", "11"))
        texts = [f"x_{{{i}}} + \\frac{{{i}}}{{y}}" for i in range(150)]
        self.document(*texts)
        self.job(RENDER)

        def whole():
            self.run_job()
            shutil.rmtree(self.p.dir / ".eqloom")

        moments = Moments(rng, whole)
        while moments.strike(self.p.start("run", "bitmaps.yaml")):
            pass
        killed = self.p.ids()
        shutil.rmtree(self.p.dir / ".eqloom")
        self.run_job("-j1")
        self.assertEqual(killed, self.p.ids())
        self.assertEqual(len(self.drawn()), 150)


if __name__ == "__main__":
    unittest.main()
