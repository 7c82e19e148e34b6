"""jobs/papers.yaml from papers to figures, against the same figures computed here from the graphs and
texts: held-out papers, labelled equations, and a search by queries with keywords. Prints its seed."""
import json
import math
import os
import pathlib
import random
import re
import shutil
import unittest

from harness import ProjectTest

JOBS = pathlib.Path(__file__).resolve().parents[2] / "jobs"
SEED = int(os.environ.get("EQLOOM_TEST_SEED", "1"))
TOPICS = {  # words of sections -> what their equations are made of
    "We study the kullback-leibler divergence.": ["p(x)", "\\log", "\\sum_x", "\\frac{p}{q}"],
    "An eigenvalue of the matrix.": ["\\lambda", "A v", "\\det(A)", "v^T"],
    "Of no relevance here.": ["\\int_0^1", "f(t)", "\\partial", "\\nabla u"],
    "Kulback-Leibler, misspelt.": ["p(x)", "\\sum_x", "\\lambda", "\\nabla u"],
}
TITLES = ["Some bounds", "Spectra of operators", "An example", "Of it"]
QUERIES = [("\\sum_x p(x) \\log \\frac{p}{q}", ["Kullback-Leibler"]),
           ("A v = \\lambda v", ["eigenvalue", "matrix"]),
           ("\\int_0^1 f(t)", ["nowhere"])]


def paper(rng):
    body = ""
    for words, parts in rng.sample(sorted(TOPICS.items()), 3):
        body += f"\\section{{{rng.choice(TITLES)}}} {words}\n"
        for _ in range(rng.randint(1, 4)):
            body += "\\[ " + " = ".join(rng.choices(parts, k=rng.randint(1, 4))) + " \\]\n"
    return f"\\documentclass{{article}}\\begin{{document}}\n{body}\\end{{document}}\n"


def lines(objects):
    return "".join(json.dumps(x) + "\n" for x in objects)


def near(keyword, text):
    """Whether it stands in the text; beyond ten characters with one of them changed."""
    keyword, text = keyword.lower(), text.lower()
    if keyword in text:
        return True
    row = list(range(len(keyword) + 1))
    for c in text:
        before, row[0] = row[0], 0
        for j in range(1, len(row)):
            before, row[j] = row[j], min(before + (c != keyword[j - 1]), row[j] + 1, row[j - 1] + 1)
        if len(keyword) > 10 and row[-1] < 2:
            return True
    return False


def mix(x):
    """SplitMix64's finaliser."""
    x = (x + 0x9e3779b97f4a7c15) % 2**64
    x = ((x ^ x >> 30) * 0xbf58476d1ce4e5b9) % 2**64
    x = ((x ^ x >> 27) * 0x94d049bb133111eb) % 2**64
    return x ^ x >> 31


def draw(places, titles, texts, most, half, seed, least_relevant, most_relevant):
    """The queries that are drawn: (row, keywords), by row. places: (paper, section, number)."""
    turns = {}
    for row, (paper, section, number) in enumerate(places):
        mark = number
        for c in paper.encode():
            mark = mix(mark ^ c)
        if mix(mark) % 2 == half:
            turns.setdefault(source(paper), []).append((mix(mix(mix(seed)) ^ mark), row))
    queue = []
    for folder in turns.values():
        first = min(r for r, p in enumerate(places) if source(p[0]) == source(places[folder[0][1]][0]))
        queue += [(k, first, row) for k, (_, row) in enumerate(sorted(folder))]
    out = []
    for _, _, row in sorted(queue):
        paper, section, _ = places[row]
        words = [w for w in re.findall("[a-z]+", titles[paper][section].lower()) if len(w) >= 4]
        shares = {w: sum(near(w, texts[p][s]) for p, s, _ in places) / len(places) for w in words}
        keywords = [w for w in words if least_relevant <= shares[w] <= most_relevant]
        if keywords and len(out) < most:
            out.append((row, keywords))
    return sorted(out)


def source(paper):
    return paper.split("/")[0]


class Equations(ProjectTest):
    def setUp(self):
        super().setUp()
        rng = random.Random(SEED)
        print("seed", SEED)
        self.folder = pathlib.Path(self.p.dir)
        shutil.copy(JOBS / "papers.yaml", self.folder)
        shutil.copytree(JOBS / "equations", self.folder / "equations")
        (self.folder / "in").mkdir()
        for k in range(30):
            (self.folder / "in" / f"p{k:02}.tex").write_text(paper(rng))
        self.labelled = self.folder / "other.json"
        self.labelled.write_text(lines(
            [{"label": k % 5, "latex": " ".join(rng.choices(sorted(TOPICS.values())[k % 4], k=3))}
             for k in range(24)] + [{"label": "alone", "mathml": "<math><mi>x</mi></math>"},
                                    {"latex": "y"}]))
        (self.folder / "queries.jsonl").write_text(
            lines({"latex": x, "keywords": k} for x, k in QUERIES))

    def run_job(self, *nodes, expect=0):
        return self.p.eqloom("run", "papers.yaml", *nodes, "--set", "papers=in", "--set",
                             f"labelled={self.labelled}", "--set", "queries=queries.jsonl", "--set",
                             "steps=2", "--set", "d=16", "--set", "out=16", "--set", "batch=8", expect=expect)

    def values(self, node):
        r = self.p.eqloom("show", "papers/" + node, "--json")
        return {v["name"]: v.get("value", 0) for v in json.loads(r.out)["value"]["values"]}

    def graphs(self, node):
        """(place, vector of length 1) of each equation, in order."""
        records = {}
        for line in self.p.eqloom("query", "graph", ".value", "--json").out.splitlines():
            x = json.loads(line)
            records[x["id"]] = x["yields"]
        order = json.loads(self.p.eqloom("show", "papers/" + node, "--json", "--limit", "1000").out)
        out = []
        for i in order["elements"]:
            g, bag = records[i], [0] * 256
            for tag, attribute, character in zip(g["tag"], g["attribute"], g["character"]):
                bag[tag] += 1
                bag[31 + attribute] += attribute > 0
                bag[63 + character] += character > 0
            length = math.sqrt(sum(x * x for x in bag))
            out.append((g["place"], [x / length for x in bag]))
        self.assertEqual(len(out), order["count"])
        return out

    def check_ranking(self, values, graphs, group):
        cosine = [[sum(a * b for a, b in zip(x, y)) for _, y in graphs] for _, x in graphs]
        groups = [group(place, k) for k, (place, _) in enumerate(graphs)]
        wrong = triples = 0
        for i, row in enumerate(cosine):
            same = [s for j, s in enumerate(row) if j != i and groups[j] == groups[i]]
            for j, s in enumerate(row):
                if groups[j] != groups[i]:
                    triples += len(same)
                    wrong += sum(1 if s > x + 1e-6 else 0.5 if s > x - 1e-6 else 0 for x in same)
        # equal cosines may differ in their last bit there
        self.assertAlmostEqual(values["ranking_error"], wrong / triples, delta=0.002)
        return triples

    def test_figures(self):
        self.run_job()
        # held-out papers, with bounds
        v, graphs = self.values("bag-evaluation"), self.graphs("parts.test")
        papers = {place["paper"] for place, _ in graphs}
        self.assertEqual((v["papers"], v["equations"]), (len(papers), len(graphs)))
        self.assertTrue(2 <= len(papers) < 15)
        self.assertEqual(v["triples"], self.check_ranking(v, graphs, lambda p, k: p["paper"]))
        largest = max(sum(p["paper"] == name for p, _ in graphs) for name in papers)
        bound = 3 * math.sqrt(largest * math.log(1 / 0.05) / (2 * len(graphs)))
        self.assertAlmostEqual(v["ranking_bound"], v["ranking_error"] + bound, places=9)
        self.assertAlmostEqual(v["sampled_error"], v["ranking_error"], delta=0.02)
        # labels: what has none is a label of its own
        v, graphs = self.values("bag-labelled-evaluation"), self.graphs("labelled-graphs")
        self.check_ranking(v, graphs, lambda p, k: p["label"] or k)
        self.assertEqual((v["categories"], v["equations"]), (6, 26))
        self.assertEqual({p["label"] for p, _ in graphs}, {"0", "1", "2", "3", "4", "alone", ""})
        # the network's figures stand beside these
        v = self.values("report")
        for name in ("papers.graph network.ranking_error", "labelled.graph network.accuracy",
                     "search.graph network.umap", "search.bag of features.umap"):
            self.assertIn(name, v)

    def test_search(self):
        self.run_job()
        papers = {}
        for line in self.p.eqloom("query", "paper", ".value", "--json").out.splitlines():
            x = json.loads(line)["yields"]
            papers[x["paper"]] = [s["title"] + " " + s["text"] for s in x["sections"]]
        corpus, queries = self.graphs("graphs"), self.graphs("query-graphs")
        mean = {"precision@10": 0, "precision@100": 0, "umap": 0, "chance": 0}
        lists = []
        for (_, q), (_, keywords) in zip(queries, QUERIES):
            found = sorted((-round(sum(a * b for a, b in zip(q, x)), 5), k)
                           for k, (_, x) in enumerate(corpus))
            hits = [any(near(w, papers[p["paper"]][p["section"]]) for w in keywords)
                    for p in (corpus[k][0] for _, k in found)]
            lists.append(hits)
            precise = [sum(hits[:k + 1]) / (k + 1) for k in range(len(hits))]
            for name, value in {"precision@10": precise[9], "precision@100": precise[99],
                                "umap": sum(p for p, h in zip(precise, hits) if h),
                                "chance": precise[-1]}.items():
                mean[name] += value / len(QUERIES)
        self.assertTrue(any(lists[0]) and any(lists[1]) and not any(lists[2]))
        v = self.values("bag-search")
        self.assertAlmostEqual(v["chance"], mean["chance"], places=9)
        for name, value in mean.items():  # equal cosines may be ordered otherwise
            self.assertAlmostEqual(v[name], value, delta=0.02 * max(1, value), msg=name)
        page = (self.folder / "out/papers/search.html").read_text()
        self.assertEqual(page.count("<article>"), len(QUERIES))
        self.assertGreaterEqual(page.count("<math>"), 11 * len(QUERIES))

    def test_drawn_queries(self):
        """Both halves against a draw, a search and standard errors computed here."""
        (self.folder / "in/folder").mkdir()
        for k in range(4):
            (self.folder / f"in/p{k:02}.tex").rename(self.folder / f"in/folder/p{k:02}.tex")
        job = (self.folder / "papers.yaml").read_text()
        node = ("\n  drawn{0}: {{op: evaluate-search, graphs: graphs, embeddings: bags, mathml: mathml, "
                "papers: papers, draw: 25, half: {0}, seed: 3, least_relevant: 0.1, most_relevant: "
                "0.7, baseline: vectors}}\n")
        (self.folder / "papers.yaml").write_text(
            job.replace("\nexports:", node.format(0) + node.format(1) + "\nexports:"))
        self.run_job("drawn0", "drawn1")
        titles, texts, pages = {}, {}, []
        for line in self.p.eqloom("query", "paper", ".value", "--json").out.splitlines():
            x = json.loads(line)["yields"]
            titles[x["paper"]] = [s["title"] for s in x["sections"]]
            texts[x["paper"]] = [s["title"] + " " + s["text"] for s in x["sections"]]
        corpus = self.graphs("graphs")
        places = [(p["paper"], p["section"], p["number"]) for p, _ in corpus]
        for half in (0, 1):
            asked = draw(places, titles, texts, 25, half, 3, 0.1, 0.7)
            pages.append({places[row] for row, _ in asked})
            precise, chance = [], 0
            for row, keywords in asked:
                others = [k for k, p in enumerate(places) if source(p[0]) != source(places[row][0])]
                hit = {k: any(near(w, texts[places[k][0]][places[k][1]]) for w in keywords)
                       for k in others}
                found = sorted((-round(sum(a * b for a, b in zip(corpus[row][1], corpus[k][1])), 5), k)
                               for k in others)
                precise.append(sum(hit[k] for _, k in found[:10]) / 10)
                chance += sum(hit.values()) / len(others) / len(asked)
            v = self.values(f"drawn{half}")
            self.assertEqual((v["queries"], len(asked)), (25, 25))
            self.assertAlmostEqual(v["chance"], chance, places=9)
            mean = sum(precise) / 25
            self.assertAlmostEqual(v["precision@10"], mean, delta=0.02)
            sums = {}
            for (row, _), p in zip(asked, precise):
                name = source(places[row][0])
                sums[name] = sums.get(name, 0) + p - mean
            error = math.sqrt(sum(x * x for x in sums.values()) * len(sums) / (len(sums) - 1)) / 25
            self.assertLess(len(sums), 25)
            self.assertAlmostEqual(v["precision@10_error"], error, delta=0.01)
            self.assertIn("precision@10_gain_error", v)
        self.assertFalse(pages[0] & pages[1])

    def test_nothing_labelled(self):
        self.labelled.write_text("")
        self.run_job("bag-labelled-evaluation")
        self.assertEqual(self.values("bag-labelled-evaluation"),
                         {"categories": 0, "equations": 0, "dimensions": 0})

    def test_citations(self):
        """Positives are of cited papers; equations of the own one are no negatives."""
        rng = random.Random(SEED)
        cites = {f"1501.{k:05}": {f"1501.{(k * k + i) % 12:05}" for i in (1, 4)} for k in range(12)}
        shutil.rmtree(self.folder / "in")
        (self.folder / "in").mkdir()
        for name, cited in cites.items():
            books = "".join(f"\\bibitem{{a}} arXiv:{x}\n" for x in sorted(cited))
            (self.folder / "in" / f"{name}.tex").write_text(paper(rng).replace(
                "\\end{document}", "\\begin{thebibliography}{9}" + books +
                "\\end{thebibliography}\\end{document}"))
        with (self.folder / "papers.yaml").open("a") as job:
            job.write("\n  cited: {op: evaluate-equations, graphs: graphs, embeddings: bags, "
                      "positives: citation, papers: papers, confidence: 0.05, sample: 20000}\n")
        text = (self.folder / "papers.yaml").read_text()
        end = text.index("\nexports:")
        cut = text.index("\n  cited:")
        (self.folder / "papers.yaml").write_text(text[:end] + text[cut:] + text[end:cut])
        self.run_job("cited")
        v, graphs = self.values("cited"), self.graphs("graphs")
        wrong = triples = 0
        for p, x in graphs:
            others = [(q["paper"], sum(a * b for a, b in zip(x, y))) for q, y in graphs
                      if q["paper"] != p["paper"]]
            near = [s for q, s in others if q in cites[p["paper"]]]
            far = [s for q, s in others if q not in cites[p["paper"]]]
            triples += len(near) * len(far)
            wrong += sum(1 if f > n + 1e-6 else 0.5 if f > n - 1e-6 else 0 for n in near for f in far)
        self.assertEqual(v["triples"], triples)
        self.assertAlmostEqual(v["ranking_error"], wrong / triples, delta=0.002)
        self.assertAlmostEqual(v["sampled_error"], v["ranking_error"], delta=0.02)
        self.assertGreater(v["ranking_bound_triples"], v["ranking_error"])
        self.assertEqual(v["citations"], sum(len(c - {n}) for n, c in cites.items()))

    def test_transformer(self):
        """The job of docs/papers.md, with a small transformer that is not trained."""
        page = (JOBS.parent / "docs/papers.md").read_text()
        block = page[page.index("    eqloom: 1\n    name: transformer"):]
        job = block[:block.index("\n\n")].replace("\n    ", "\n").strip()
        (self.folder / "transformer.yaml").write_text(job + "\n")
        (self.folder / "in" / "p00.tex").write_text(
            "\\documentclass{article}\\newcommand{\\half}[1]{\\frac{#1}{2}}\\begin{document}"
            "\\[ E = m c^2. \\] \\[ \\half{x+y} \\] \\[ a = b = c \\] \\[ \\int f \\]\\end{document}")
        (self.folder / "first.yaml").write_text("""eqloom: 1
name: first
nodes:
  seeds: {op: import-clusters, files: [seeds.txt]}
  words: {op: vocabulary, encoding: placed}
  tokens: {op: tokenize, clusters: seeds, vocabulary: words}
  model: {op: train, batches: tokens, vocabulary: words, steps: 0, d_model: 16, heads: 2, layers: 1, d_ff: 16}
""")
        (self.folder / "seeds.txt").write_text("sin x\n* 1 sin x\n\ncos x\n* 1 cos x\n\n")
        self.assertEqual(self.p.eqloom("run", "first.yaml").status, 0)
        self.p.eqloom("export", "first/model", "-o", "quickstart.safetensors")
        r = self.p.eqloom("run", "transformer.yaml", "left-out", "comparison", "--set", "papers=in",
                          "--set", "steps=2", "--set", "d=16", "--set", "out=16", "--set", "batch=8")
        self.assertEqual(r.status, 0, r.err)
        values = json.loads(self.p.eqloom("show", "transformer/left-out", "--json").out)["value"]
        refused = {v["name"]: v.get("value", 0) for v in values["values"]}
        texts = [json.loads(x)["text"] for x in
                 self.p.eqloom("export", "transformer/expressions", "-f", "jsonl").out.splitlines()]
        self.assertIn(["- x * y pow z 2"], texts)
        self.assertIn(["/ + x y 2"], texts)
        self.assertNotIn(["a"], texts)
        all_equations = json.loads(self.p.eqloom("show", "transformer/equations", "--json").out)["count"]
        self.assertEqual(refused["equations.refused"], all_equations - len(texts), refused)
        counts = {n: {v["name"]: v.get("value", 0) for v in json.loads(
            self.p.eqloom("show", f"transformer/{n}-evaluation", "--json").out)["value"]["values"]}
                  for n in ("transformer", "network", "bags")}
        self.assertEqual(len({c["equations"] for c in counts.values()}), 1)
        self.assertEqual(counts["transformer"]["dimensions"], 16)
        self.assertTrue(0 < counts["bags"]["equations"] < len(texts))

    def test_approximate_index(self):
        self.run_job("bag-search")
        exact = self.values("bag-search")
        job = (self.folder / "papers.yaml").read_text()
        (self.folder / "papers.yaml").write_text(
            job.replace("op: evaluate-search\n", "op: evaluate-search\n    approximate_from: 10\n"))
        self.run_job("bag-search")
        v = self.values("bag-search")
        self.assertNotIn("recall", exact)
        self.assertGreater(v["recall"], 0.95)
        self.assertAlmostEqual(v["umap"], exact["umap"], delta=0.05 * exact["umap"])

    def test_query_without_keywords(self):
        (self.folder / "queries.jsonl").write_text('{"latex": "x"}\n')
        r = self.run_job("bag-search", expect=1)
        self.assertIn("query 1 of 'queries.jsonl' has no keywords", r.err)


if __name__ == "__main__":
    unittest.main()
