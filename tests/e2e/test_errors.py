"""Bad input: one error with file:line:column and a caret, exit status 2, nothing changed."""
import json
import re
import unittest

from harness import ProjectTest


class Errors(ProjectTest):
    def assert_refused(self, message, place=None, command=("run", "job.yaml")):
        before = self.p.ids() if (self.p.dir / ".eqloom").exists() else {}
        result = self.p.eqloom(*command, expect=2)
        self.assertRegex(result.err, message)
        if place:
            self.assertRegex(result.err, place + r":\d+:\d+")
            self.assertRegex(result.err, r"(?m)^[ \t|]*\^")
        self.assertEqual(len(re.findall(r"(?m)error", result.err)), 1, result.err)
        after = self.p.ids() if (self.p.dir / ".eqloom").exists() else {}
        self.assertEqual(before, after)

    def refused_after_edit(self, name, old, new, message, place=None):
        original = (self.p.dir / name).read_text()
        self.p.edit(name, old, new)
        self.assert_refused(message, place)
        (self.p.dir / name).write_text(original)

    def test_job_errors(self):
        self.p.run("seeds")
        e = self.refused_after_edit
        e("job.yaml", "op: saturate", "op: satturate", "saturate", "job.yaml")
        e("job.yaml", "iterations: 4", "itterations: 4", "iterations", "job.yaml")
        e("job.yaml", "iterations: 4", "iterations: four", "iterations", "job.yaml")
        e("job.yaml", "iterations: 4", "iterations: -4", "iterations", "job.yaml")
        e("job.yaml", "exprs: seeds", "exprs: seed", "seeds", "job.yaml")
        e("job.yaml", "exprs: seeds", "exprs: rules", "expr", "job.yaml")
        e("job.yaml", "rules/*.rules", "rulez/*.rules", "rulez", "job.yaml")
        e("job.yaml", "rules/*.rules", "/etc/passwd", "outside", "job.yaml")
        e("job.yaml", "clusters: parts.train", "clusters: parts.trian", "train", "job.yaml")
        e("job.yaml", "exprs: seeds,", "exprs: seeds, exprs: seeds,", "exprs", "job.yaml")
        e("job.yaml", "egraphs: egraphs", "egraphs: merged", "egraph|cycle", "job.yaml")
        e("job.yaml", "${seed}", "${sed}", "seed", "job.yaml")
        e("job.yaml", "eqloom: 1", "eqloom: 99", "99", "job.yaml")
        e("job.yaml", "refs: {best", "refs: [best", "error", "job.yaml")

    def test_files_of_neighbours(self):
        """Folders beside the job's whose names begin with its name, or are as long as it."""
        rules = (self.p.dir / "rules/algebra.rules").read_text()
        for folder in ("job", "jobs", "jab"):
            self.p.write(f"{folder}/x/a.rules", rules)
            self.p.write("job/job.yaml", "eqloom: 1\nname: n\nnodes:\n"
                                         "  rules: {op: rules, files: [../%s/x/a.rules]}\n" % folder)
            if folder == "job":
                self.p.eqloom("plan", "job/job.yaml")
            else:
                self.assert_refused(f"'.*{folder}/x/a.rules' is outside", "job.yaml", ("plan", "job/job.yaml"))
                self.p.eqloom("plan", "job/job.yaml", "--allow-outside")

    def test_cycle(self):
        self.p.write("job.yaml", "eqloom: 1\nname: c\nnodes:\n"
                                 "  a: {op: merge, clusters: b}\n  b: {op: merge, clusters: a}\n")
        self.assert_refused("cycle", "job.yaml")

    def test_rule_errors(self):
        self.p.run("seeds")
        e = self.refused_after_edit
        name = "rules/algebra.rules"
        e(name, "sin(?a) / cos(?a)", "sinn(?a) / cos(?a)", "sin", "algebra.rules")
        e(name, "sin(?a) / cos(?a)", "sin(?a / cos(?a)", r"\)|parenthes", "algebra.rules")
        e(name, "sin(?a) / cos(?a)", "sin(?a, ?a) / cos(?a)", "argument", "algebra.rules")
        e(name, "<-> 1 / cos(?a)", "-> 1 / cos(?b)", r"\?b", "algebra.rules")
        e(name, "sec-def", "tan-def", "tan-def", "algebra.rules")
        e(name, "<-> 1 / cos(?a)", "-> 1 / cos(?a) if nonzerro(?a)", "nonzero", "algebra.rules")

    def test_false_rule_is_not_used(self):
        self.p.edit("rules/algebra.rules", "sec(?a)         <-> 1 / cos(?a)",
                    "sec(?a)         <-> 1 / sin(?a)")
        result = self.p.eqloom("run", "job.yaml", expect=1)
        self.assertIn("sec-def", result.err)
        self.assertNotIn("small/egraphs", self.p.ids())
        self.p.edit("job.yaml", "points: 8", "points: 8, allow_unsound: true")
        # The clusters are checked against their seeds all the same.
        self.p.eqloom("run", "job.yaml", "egraphs")

    def test_usage(self):
        for args in (("runn", "job.yaml"), ("run",), ("run", "nosuch.yaml"),
                     ("run", "job.yaml", "nosuch"), ("run", "job.yaml", "--jbos"),
                     ("run", "job.yaml", "-j", "x"), ("show", "zz"), ("run", "job.yaml", "--set", "x")):
            result = self.p.eqloom(*args, expect=2)
            self.assertNotEqual(result.err, "", args)

    def test_misuse(self):
        """Nothing, too much, too large, no number: one error each, and nothing printed but that."""
        wide, deep = "+".join(["sin(x)"] * 3000), "(" * 2000 + "x" + ")" * 2000
        self.p.run("seeds")
        commands = [[c, *words] for c in ("variants", "simplify", "explain", "search")
                    for words in ([], [""], [wide], ["x", "y", "z"])]
        commands += [["table"], ["table", ""], ["table", "nosuch.yaml"], ["table", "job.yaml", "nosuch"],
                     ["table", "job.yaml", "--metric", "nosuch"], ["init"], ["init", "job.yaml"], ["init", "/proc/x"],
                     ["serve", ""], ["serve", "--port", "99999"], ["serve", "--port", "x"], ["variants", "-n", "0", "x"],
                     ["variants", "-n", "99999999999", "x"], ["variants", deep], ["simplify", "0^0"], ["variants", "x/0"],
                     ["simplify", "x", "--rules", "nosuch"], ["search", "-k", "0", "x"], ["explain", wide, "x"],
                     ["explain", "x", deep], ["explain", "x=", "x"], ["simplify", "∞"]]
        for command in commands:
            with self.subTest(command=[word[:20] for word in command]):
                result = self.p.eqloom(*command, expect=None)
                self.assertIn(result.status, (1, 2))
                self.assertEqual(result.err.count("error:"), 1, result.err)
                self.assertEqual(result.out, "")

    def test_files_of_another_kind(self):
        """What the file looks like, and which command reads it."""
        self.p.write("my.operators", "operator erf(x) = arb erf\n")
        self.p.write("mine.txt", "group g\na: x + 0 -> x\n")
        self.p.write("terms.txt", "sin(x)\ncos(x)\n")
        self.p.write("empty", "")
        self.p.run("seeds")
        self.p.write("wrong.rules", "group g\na: x + -> x\n")
        self.assertNotIn("looks like", self.p.eqloom("check-rules", "wrong.rules", expect=2).err)
        for command, said in [
                ("run rules/algebra.rules", "looks like rules, which 'eqloom check-rules' tests"),
                ("plan mine.txt", "looks like rules, which 'eqloom check-rules' tests"),
                ("run my.operators", "looks like operators, which commands read by --operators"),
                ("run templates/small.yaml", "looks like templates, which a job reads by {op: templates"),
                ("run terms.txt", "a job begins with 'eqloom: 1'; 'eqloom init DIR' writes one"),
                ("run empty", "a job begins with 'eqloom: 1'"),
                ("run .eqloom", "this is a store: 'eqloom ls' shows what it holds"),
                ("run rules", "a job is a file"),
                ("check-rules job.yaml", "looks like a job, which 'eqloom run' and 'eqloom plan' read"),
                ("check-rules templates/small.yaml", "looks like templates"),
                ("simplify --rules my.operators x", "looks like operators"),
                ("read --operators rules/algebra.rules x", "looks like rules"),
                ("read --operators job.yaml x", "looks like a job")]:
            with self.subTest(command=command):
                result = self.p.eqloom(*command.split(), expect=2)
                self.assertIn(said, result.err)
                self.assertEqual(result.err.count("error:"), 1, result.err)

    def test_ambiguous_prefix_lists_candidates(self):
        # Among 1,600 ids some two share their first four digits (all but surely: 1e-8).
        self.p.write("templates/small.yaml",
                     "templates: 1\nsets: {a: [1..40]}\n"
                     "groups: {g: {templates: ['{a}*x + sin({a.2}*x)']}}\n")
        self.p.run("seeds")
        ids = {}
        for line in self.p.eqloom("query", "expr", "--json").out.splitlines():
            item = json.loads(line)["id"]
            ids.setdefault(item[:4], []).append(item)
        prefix, candidates = next((k, v) for k, v in ids.items() if len(v) > 1)
        result = self.p.eqloom("show", prefix, expect=2)
        for candidate in candidates:
            self.assertIn(candidate[:12], result.out + result.err)
        shown = self.p.eqloom("show", candidates[0], "--json")
        self.assertIn("sin", json.loads(shown.out)["value"]["prefix"])


if __name__ == "__main__":
    unittest.main()
