"""Pictures of equations: folders of PNG files, hostile ones, cropping, TeX (where it is installed)."""
import collections
import itertools
import json
import math
import os
import pathlib
import random
import re
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
ROOT = pathlib.Path(__file__).parents[2]
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
        self.put("arxiv/1711.11486v2/2.tex", b"\xef\xbb\xbfy\r\n")
        self.put("arxiv/hep-th/2.tex", b"x\0y")
        self.job(JOB)
        self.run_job()
        whole = self.records("bitmaps/pictures")
        self.assertEqual([(r["place"]["paper"], r["place"]["number"], r["latex"]) for r in whole],
                         [("1711.11486", 2, "y"), ("1711.11486", 10, "x^2"), ("hep-th", 2, "")])
        papers = self.records("bitmaps/pictures.papers")
        self.assertEqual([(r["paper"], r["abstract"]) for r in papers],
                         [("1711.11486", "Über Bäume."), ("hep-th", "")])
        refused = [(r["refused"], r["detail"]) for r in self.records("bitmaps/pictures.refused")]
        self.assertEqual([why for why, _ in refused], ["not a picture", "not text"])
        self.assertIn("arxiv/hep-th/1.png: not a PNG", refused[0][1])
        self.assertIn("arxiv/hep-th/2.tex: a NUL byte", refused[1][1])
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


def rake(text, stop):
    """The keywords of RAKE as Rose et al. describe it, in the plainest way."""
    runs, run = [], []
    for token in re.findall(r"[^\W_](?:[-'.]?[^\W_])*|\s+|.", text.lower(), re.S):
        if token.isspace():
            continue
        if not token[0].isalnum() or token in stop or re.fullmatch(r"[-0-9.]*", token):
            runs, run = runs + [run], []
        else:
            run.append(token)
    runs = [r for r in runs + [run] if r]
    words = {w for r in runs for w in r}
    score = {w: sum(len(r) * r.count(w) for r in runs) / sum(r.count(w) for r in runs)
             for w in words}
    phrases = {" ".join(r): sum(score[w] for w in r) for r in runs}
    best = sorted(phrases, key=lambda p: (-phrases[p], p.encode()))
    return best[:(len(words) + 2) // 3]


class Labels(Pictures):
    STOP = ("the", "of", "and", "a", "in", "is", "we", "for", "with", "over")

    def test_keywords_are_rakes(self):
        rng = random.Random(os.environ.get("EQLOOM_TEST_SEED", "3"))
        words = ["deep", "learning", "über-fit", "graph", "kernel", "rank", "bound", "2019", "x.y",
                 *self.STOP]
        abstracts = {}
        for k in range(30):
            text = "".join(rng.choice(words) + rng.choice([" "] * 8 + [", ", ". ", "; ", " - "])
                           for _ in range(rng.randrange(1, 60)))
            abstracts[f"1501.{k:05}"] = text
            self.put(f"arxiv/1501.{k:05}/1.png", png([[0] * 400] * 50))
            self.put(f"arxiv/1501.{k:05}/abstract.tex", text.encode())
        self.job(JOB + "  labels: {op: image-labels, images: crops, papers: pictures.papers, "
                       "labels: keywords, most: 20, least: 3}\n")
        self.run_job()
        vocabulary, = self.records("bitmaps/labels.vocabulary")
        found = {paper: rake(text, self.STOP) for paper, text in abstracts.items()}
        counts = collections.Counter(p for phrases in found.values() for p in phrases)
        common = sorted((p for p in counts if counts[p] >= 3),
                        key=lambda p: (-counts[p], p.encode()))[:20]
        self.assertEqual(vocabulary["tokens"], common)
        for record in self.records("bitmaps/labels"):
            wanted = sorted(common.index(p) for p in found[record["place"]["paper"]]
                            if p in common)
            self.assertEqual(record["labels"], wanted)

    def test_symbols(self):
        texts = [r"\frac{12}{x_{\alpha}} \left( \label{eq:long} y \right)", r"x + \text{ü}",
                 r"\begin{pmatrix} x & 12 \end{pmatrix}"]
        for k, text in enumerate(texts):
            self.put(f"arxiv/a/{k}.png", png([[0] * 400] * 50))
            self.put(f"arxiv/a/{k}.tex", text.encode())
        self.job(JOB + "  labels: {op: image-labels, images: crops, least: 1}\n"
                       "  again: {op: image-labels, images: crops, vocabulary: labels.vocabulary}\n")
        self.run_job()
        vocabulary, = self.records("bitmaps/labels.vocabulary")
        names = vocabulary["tokens"]
        self.assertEqual(names[:2], ["x", "12"])
        shown = [{names[i] for i in r["labels"]} for r in self.records("bitmaps/labels")]
        self.assertEqual(shown, [{"\\frac", "12", "x", "\\alpha", "(", "y", ")"}, {"x", "+", "ü"},
                                 {"x", "12"}])
        ids = self.p.ids()
        self.assertEqual(ids["bitmaps/again"], ids["bitmaps/labels"])


class Evaluation(Pictures):
    def test_the_rows_of_the_tables(self):
        rng = random.Random(os.environ.get("EQLOOM_TEST_SEED", "7"))
        vectors, labels = [], []
        for k in range(24):
            rows = [[rng.randrange(256) for _ in range(6)] for _ in range(4)]
            self.put(f"arxiv/label{k % 5}/{k:02}.png", png(rows))
        self.job("""eqloom: 1
name: bitmaps
nodes:
  pictures:   {op: images, files: [arxiv], folders: label}
  parts:      {op: split-images, images: pictures, valid: 0, test: 0}
  ink:        {op: pixels, images: parts.train}
  evaluation: {op: evaluate-images, images: parts.train, embeddings: ink, queries: 3}
  near:       {op: evaluate-images, images: parts.train, embeddings: ink, approximate_from: 2}
  report:     {op: report, evaluations: [evaluation]}
exports: {page.html: evaluation.page, near.html: near.page, report.html: report.html}
""")
        self.run_job()
        for r in self.records("bitmaps/pictures"):
            ink = [(255 - p) / 255 for p in bytes.fromhex(r["pixels"])]
            norm = math.sqrt(sum(p * p for p in ink))
            vectors.append([p / norm for p in ink])
            labels.append(r["place"]["label"])
        n = len(vectors)
        s = [[sum(a * b for a, b in zip(x, y)) for y in vectors] for x in vectors]
        nearest = [max((j for j in range(n) if j != i), key=lambda j: s[i][j]) for i in range(n)]
        wrong, hinge, pair = [], [], []
        for i in range(n):
            for j in (j for j in range(n) if j != i and labels[j] == labels[i]):
                for k in (k for k in range(n) if labels[k] != labels[i]):
                    wrong.append(s[i][k] > s[i][j])
                    hinge.append(max(0, 1 - s[i][j] + max(s[i][k], s[j][k])))
                    pair.append((max(0, 1 - s[i][j]) + max(0, 1 + s[i][k])) / 2)
        report, = self.records("bitmaps/evaluation")
        got = {v["name"]: v["value"] for v in report["values"]}
        mean = lambda x: sum(x) / len(x)
        self.assertAlmostEqual(got["accuracy"], mean([labels[j] == labels[i] for i, j in
                                                      enumerate(nearest)]), places=6)
        self.assertAlmostEqual(got["ranking_error"], mean(wrong), places=6)
        self.assertAlmostEqual(got["triple_hinge"], mean(hinge), places=5)
        self.assertAlmostEqual(got["siamese_loss"], mean(pair), places=5)
        self.assertEqual((got["categories"], got["equations"]), (5, n))
        page = (self.p.dir / "out/bitmaps/page.html").read_text()
        self.assertEqual(page.count("<img "), 3 * 6)
        self.assertEqual(page.count("<path "), 2 * (n - 1))
        shown = [[p["from"] for p in x["pictures"]] for x in report["pictures"]]
        self.assertEqual([x[:2] for x in shown],
                         [[labels[i], labels[nearest[i]]] for i in (0, n // 3, 2 * n // 3)])
        images = re.compile('<img alt="[^"]*" src="data:image/png;base64,[^"]+"/>')
        self.assertEqual(images.findall((self.p.dir / "out/bitmaps/report.html").read_text()),
                         images.findall(page))
        self.assertEqual(len(images.findall(page)), 3 * 6)
        near = (self.p.dir / "out/bitmaps/near.html").read_text()
        self.assertEqual(near.count("<img "), 10 * 6)


def mix(x):
    """base/rng.h's rng_mix."""
    x = (x + 0x9e3779b97f4a7c15) % 2**64
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 % 2**64
    x = (x ^ x >> 27) * 0x94d049bb133111eb % 2**64
    return x ^ x >> 31


def glyphs(rows):
    """What op glyphs reads, by merging the pieces that touch until none do."""
    pieces = [{(y, x)} for y, row in enumerate(rows) for x, grey in enumerate(row) if grey < 200]
    merged = True
    while merged:
        merged = False
        for i, j in itertools.combinations(range(len(pieces)), 2):
            if any(abs(y - v) < 2 and abs(x - u) < 2 for y, x in pieces[i] for v, u in pieces[j]):
                pieces[i] |= pieces.pop(j)
                merged = True
                break
    tokens = []
    for piece in sorted(pieces, key=min):
        top, left = (min(p[k] for p in piece) for k in (0, 1))
        height, width = (max(p[k] for p in piece) + 1 - first for k, first in ((0, top), (1, left)))
        value, word = mix(height << 32 | width), 1
        for y, x in itertools.product(range(height), range(width)):
            word = word << 1 | ((top + y, left + x) in piece)
            if word >> 63:
                value, word = mix(value ^ word), 1
        tokens.append(0 if height <= 2 and width >= 32 else 1 + mix(value ^ word) % 1023)
    return tokens


class Glyphs(Pictures):
    JOB = """eqloom: 1
name: bitmaps
nodes:
  pictures: {op: images, files: [arxiv], folders: label}
  glyphs:   {op: glyphs, images: pictures.images}
  bags:     {op: tfidf, batches: glyphs, fit: glyphs}
  ink:      {op: pixels, images: pictures.images}
  both:     {op: join-vectors, embeddings: ink, beside: bags, length: 2}
"""

    def test_pieces_of_ink(self):
        rng = random.Random(os.environ.get("EQLOOM_TEST_SEED", "15"))
        for k in range(12):
            rows = [[0 if rng.random() < 0.05 * k else rng.randrange(190, 256) for _ in range(20)]
                    for _ in range(14)]
            self.put(f"arxiv/random/{k:02}.png", png(rows))
        letter = {(0, 1), (1, 0), (1, 2), (2, 0), (2, 1), (3, 2)}  # diagonals hold it together
        white = [[255] * 80 for _ in range(16)]
        for k, places in enumerate([[(1, 1), (9, 60), (3, 30)], [(5, 40)], []]):
            rows = [list(row) for row in white]
            for y, x in places:
                for v, u in letter:
                    rows[y + v][x + u] = 0
            rows[14 if k else 8][0:33 + 20 * k] = [0] * (33 + 20 * k)  # rules of any width are alike
            self.put(f"arxiv/letters/{k}.png", png(rows))
        self.job(self.JOB)
        self.run_job()
        pictures, read = self.records("bitmaps/pictures"), self.records("bitmaps/glyphs")
        for picture, tokens in zip(pictures, read, strict=True):
            grey, width = bytes.fromhex(picture["pixels"]), picture["width"]
            rows = [grey[i:i + width] for i in range(0, len(grey), width)]
            self.assertEqual(tokens["tokens"], glyphs(rows))
            self.assertEqual(tokens["offset"], [0, len(tokens["tokens"])])
        first, second, third = (t["tokens"] for p, t in zip(pictures, read)
                                if p["place"]["label"] == "letters")
        one = (set(first) - {0}).pop()
        self.assertEqual(sorted(first), [0, one, one, one])
        self.assertEqual((second, third), ([one, 0], [0]))

    def test_join(self):
        """Parts have the lengths 1 and 2, or are 0 where there is nothing."""
        self.put("arxiv/a/0.png", png([[0, 255, 7], [255, 255, 0]]))
        self.put("arxiv/a/1.png", png([[255] * 3] * 2))
        self.job(self.JOB)
        self.run_job()
        length = lambda x: math.sqrt(sum(a * a for a in x))
        vectors = lambda name: [struct.unpack(f"<{r['dim']}f", bytes.fromhex(r["values"]))
                                for r in self.records(f"bitmaps/{name}")]
        for ink, bag, both in zip(*map(vectors, ("ink", "bags", "both")), strict=True):
            want = [k * x / (length(part) or 1) for k, part in ((1, ink), (2, bag)) for x in part]
            self.assertEqual(len(both), len(want))
            for x, y in zip(both, want):
                self.assertAlmostEqual(x, y, places=6)
        self.job(self.JOB.replace("beside: bags", "beside: none")
                 + "  others: {op: images, files: [arxiv/a/0.png], folders: label}\n"
                   "  none:   {op: pixels, images: others.images}\n")
        self.assertIn("'embeddings' has 2 elements, but 'beside' has 1", self.run_job(expect=None).err)


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

    def test_a_letter_is_one_glyph_wherever_it_stands(self):
        self.job(RENDER.replace("pictures.images}", "pictures.images, ink: 0}")
                 + "  glyphs: {op: glyphs, images: crops}\n")
        self.document("x + y", "yy = x + 2", "x", "X", "\\frac{x + y}{zzzzzzz}")
        self.run_job()
        read = dict(zip((r["latex"] for r in self.records("bitmaps/crops")),
                        (collections.Counter(r["tokens"]) for r in self.records("bitmaps/glyphs"))))
        self.assertEqual(len(read), 5)
        sum_of_two = read["x + y"]
        (x, once), = read["x"].items()
        self.assertEqual((once, sum_of_two[x], sum_of_two.total(), read["X"][x]), (1, 1, 3, 0))
        self.assertEqual(sum_of_two - read["yy = x + 2"], collections.Counter())
        fraction = read["\\frac{x + y}{zzzzzzz}"]
        self.assertEqual(sum_of_two - fraction, collections.Counter())
        # A rule, and each piece of each z.
        self.assertEqual(collections.Counter((fraction - sum_of_two).values())[1], 1)
        self.assertEqual(set((fraction - sum_of_two).values()), {1, 7})

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

    def test_saved_commands(self):
        """A command that is saved by \\let before it gets another meaning is TeX's own."""
        self.job(RENDER)
        pictures = []
        for preamble in ("", "\\let\\oldneg\\neg \\renewcommand{\\neg}{\\ensuremath{\\oldneg}}"):
            self.document("\\neg A", preamble=preamble)
            self.run_job()
            pictures.append(self.drawn())
        self.assertEqual(self.records("bitmaps/equations")[0]["macros"][0]["body"][:7], "\\ensure")
        self.assertEqual(pictures[0], pictures[1])
        self.assertIn("\\neg A", pictures[0])

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
        texts = [f"x_{{{i}}} + \\frac{{{i}}}{{y}}" for i in range(60)]
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
        self.assertEqual(len(self.drawn()), 60)

    def test_the_job(self):
        """jobs/bitmaps.yaml, of few equations, and again."""
        shutil.copytree(ROOT / "jobs", self.p.dir / "jobs")
        labelled = self.p.dir / "jobs/equations/labelled.jsonl"
        labelled.write_text("".join(labelled.read_text().splitlines(True)[:8]))
        few = ["--set", "epochs=2", "--set", "pair_epochs=1", "--set", "batch=4"]
        self.p.eqloom("run", "jobs/bitmaps.yaml", *few)
        values = {v["name"] for v in self.records("bitmaps/labelled-evaluation")[0]["values"]}
        self.assertLessEqual({"accuracy", "ranking_error", "triple_hinge", "siamese_loss"}, values)
        self.assertIn("data:image/png", (self.p.dir / "out/bitmaps/labelled.html").read_text())
        learnt = self.records("bitmaps/abstract-triples-labelled-evaluation@network=large")[0]
        self.assertIn("accuracy", {v["name"] for v in learnt["values"]})
        again = self.p.eqloom("run", "jobs/bitmaps.yaml", *few)
        self.assertIn("nothing ran", again.err + again.out)


if __name__ == "__main__":
    unittest.main()
