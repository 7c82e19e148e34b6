"""Benchmark `semvec`: the nodes of jobs/semvec.yaml on SemVec's five small sets, with few steps, beside
what is published (SemEmb's Table 4): score_5 of unseen classes, and how much there is to learn from.

    semvec.py [--sets SIMPPOLY5,...] [--steps N] [--eqnet-steps N] [--threads N]

The published ones were trained for 50,000 steps of 512 and more, on other draws of unseen classes, so
that only orders of magnitude compare. Fails if EqNet is not ahead of tf-idf on SIMPPOLY8."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[2]
BINARY = os.path.abspath(os.environ.get("EQLOOM", "build/eqloom"))
MOST_PAIRS = 100000
MODELS = ["eqnet", "eqnet-l", "structemb", "sememb", "tfidf"]
# score_5 of EqNet, EqNet-L, StructEmb and SemEmb; expressions and pairs to learn from
PUBLISHED = {
    "SIMPPOLY5": ("65.6", "56.3", "28.1", "20.8", 156, 882),
    "POLY5": ("55.3", "-", "5.7", "45.2", 352, 1350),
    "BOOL5": ("65.8", "73.7", "36.4", "57.7", 712, 17934),
    "ONEV-POLY10": ("81.3", "80.0", "59.8", "74.1", 767, 25590),
    "SIMPPOLY8": ("98.9", "98.0", "47.6", "98.9", 1934, 113660),
}


class Semvec:
    def __init__(self, store, settings):
        self.base = [BINARY, "--store", store]
        self.settings = [x for s in settings for x in ("--set", s)]

    def eqloom(self, *args):
        run = subprocess.run([*self.base, *args], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        if run.returncode:
            sys.exit("%s: exit status %d" % (" ".join(args), run.returncode))
        return run.stdout

    def run(self, threads):
        nodes = [m + "-eval" for m in MODELS]
        self.eqloom("run", "-j%d" % threads, "jobs/semvec.yaml", *nodes, *self.settings)

    def score(self, model, name):
        lines = self.eqloom("table", "jobs/semvec.yaml", model + "-eval@set=" + name, "--format", "jsonl",
                            "--metric", "precision@5", *self.settings).splitlines()
        return 100 * json.loads(lines[0])["metrics"]["precision@5"]

    def sizes(self, name):
        lines = self.eqloom("export", "semvec/seen@set=" + name, "--format", "jsonl", "-o", "-").splitlines()
        counts = [len(json.loads(line)["members"]) for line in lines]
        return sum(counts), sum(min(MOST_PAIRS, n * (n - 1)) for n in counts)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--sets", default=",".join(PUBLISHED))
    p.add_argument("--steps", type=int, default=100)
    p.add_argument("--eqnet-steps", type=int, default=300)
    p.add_argument("--threads", type=int, default=2)
    args = p.parse_args()
    names = args.sets.split(",")
    with tempfile.TemporaryDirectory() as store:
        s = Semvec(store, ["sets=[%s]" % ", ".join(names), "steps=%d" % args.steps, "batch=128",
                           "eqnet-steps=%d" % args.eqnet_steps])
        s.run(args.threads)
        print("score_5, published / here: EqNet, EqNet-L, StructEmb, SemEmb, tf-idf; expressions; pairs")
        scores = {}
        for name in names:
            scores[name] = [s.score(m, name) for m in MODELS]
            expressions, pairs = s.sizes(name)
            *published, their_expressions, their_pairs = PUBLISHED[name]
            cells = ["%5s / %5.1f" % x for x in zip([*published, "-"], scores[name])]
            print("%-12s" % name, *cells, "%6d / %6d  %7d / %7d" % (their_expressions, expressions, their_pairs,
                                                                  pairs))
    if "SIMPPOLY8" in scores and scores["SIMPPOLY8"][0] <= scores["SIMPPOLY8"][4]:
        sys.exit("EqNet is not ahead of tf-idf on SIMPPOLY8")


if __name__ == "__main__":
    main()
