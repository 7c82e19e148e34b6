"""`eqloom saturate`: what a run did, and what each rule cost. Times are there, but nothing is said of
them: counts are the same on any machine."""
import json
import pathlib
import subprocess
import tempfile
import unittest

from harness import BINARY, TIMEOUT_S

SUMS = """group g
comm: ?a + ?b -> ?b + ?a
assoc: ?a + (?b + ?c) <-> (?a + ?b) + ?c
never: sin(?a) -> cos(?a)
"""


def saturate(*args):
    return subprocess.run([BINARY, "saturate", *args], capture_output=True, text=True, timeout=TIMEOUT_S)


def answer(*args):
    done = saturate("--json", *args)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def without_times(x):
    if isinstance(x, dict):
        return {k: without_times(v) for k, v in x.items() if not k.endswith("ms")}
    return [without_times(v) for v in x] if isinstance(x, list) else x


class Saturate(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.rules = pathlib.Path(self.folder.name) / "my.rules"
        self.rules.write_text(SUMS)

    def tearDown(self):
        self.folder.cleanup()

    def sums(self, *args):
        return answer("--rules", str(self.rules), "a + (b + (c + f))", *args)

    def test_sums_saturate(self):
        told = self.sums("--iterations", "30")
        self.assertEqual(told["stop"], "saturated")
        self.assertEqual(told["classes"], 15)  # of every sum of some of four terms
        self.assertEqual(told["nodes"], 54)
        self.assertEqual(told["rules_in_all"], 4)
        # there is no sine
        self.assertEqual(sorted((r["rule"], r["direction"]) for r in told["rules"]),
                         [("g/assoc", "backwards"), ("g/assoc", "forwards"), ("g/comm", "forwards")])
        last = told["iterations"][-1]
        self.assertEqual((last["nodes"], last["classes"]), (54, 15))
        for r in told["rules"]:
            self.assertGreaterEqual(r["matched"], r["applied"])
            self.assertGreaterEqual(r["applied"], r["effective"])
            self.assertGreater(r["searched"], 0)
            self.assertGreater(r["steps"], 0)
        # all begin at sums
        self.assertEqual(len({r["searched"] for r in told["rules"]}), 1)

    def test_rules_and_iterations_add_up(self):
        told = answer("sin(2*x+5)^(-8)", "--max-nodes", "3000", "--match-limit", "50")
        banned = sum(r["banned"] for r in told["rules"])
        self.assertGreater(banned, 0)
        # the match at which a rule stops is told of the rule, and found again when it goes on
        self.assertEqual(sum(r["matched"] for r in told["rules"]) - banned,
                         sum(i["matched"] for i in told["iterations"]))
        self.assertEqual(told["stop"], "e-node limit")
        self.assertEqual(told["iterations"][-1]["nodes"], told["nodes"])

    def test_counts_are_the_same_again(self):
        args = ("--sort", "steps", "--max-nodes", "2000", "d(x, cot(5*x))", "cosh(3*x)^2 - 4")
        told = answer(*args)
        self.assertEqual(without_times(told), without_times(answer(*args)))
        self.assertEqual(told["expressions"], ["d(x, cot(5*x))", "cosh(3*x)^2 - 4"])

    def test_order_and_number_of_rules(self):
        for key in ("searched", "steps", "matched", "applied", "effective", "nodes", "banned"):
            values = [r[key] for r in self.sums("--sort", key)["rules"]]
            self.assertEqual(values, sorted(values, reverse=True), key)
        done = saturate("--rules", str(self.rules), "--top", "1", "--sort", "matched", "a + (b + (c + f))")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 more rules (--top 3 shows all)", done.stdout)
        self.assertIn("1 of 4 rules were never searched for", done.stdout)
        self.assertIn("54 e-nodes, 15 classes, ", done.stdout)

    def test_budgets_end_a_run(self):
        self.assertEqual(self.sums("--iterations", "1")["stop"], "iteration limit")
        self.assertEqual(self.sums("--max-matches", "2")["stop"], "match limit")
        self.assertEqual(self.sums("--max-nodes", "12")["stop"], "e-node limit")

    def test_other_languages(self):
        told = answer("--language", "boolean", "not(a & b)")
        self.assertEqual(told["language"], "boolean")
        self.assertIn("boolean.de-morgan", " ".join(r["rule"] for r in told["rules"]))

    def test_contradictions_are_explained(self):
        self.rules.write_text("group g\nwrong: ?a + ?b -> ?a\nfold: 0 + 1 -> 1\n")
        done = saturate("--rules", str(self.rules), "0 + 1")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("contradiction", done.stderr)
        self.assertIn("g/wrong", done.stderr)

    def test_errors(self):
        for args, words in [((), "saturate takes one or more expressions"),
                            (("x", "--sort", "name"), "--sort takes searched"),
                            (("x", "--top", "many"), "--top takes a number from 0 to"),
                            (("x", "--iterations", "0"), "--iterations takes a number from 1 to"),
                            (("x", "sin(x"), "<expression 2>:1:"),
                            (("x", "1/(x-x)"), "'1/(x-x)' has no value: 1/(x - x), where x - x is 0"),
                            (("x", "--rules", "/nowhere.rules"), "/nowhere.rules"),
                            (("x", "--nodes", "5"), "--nodes"),
                            (("x", "--language", "boolen"), "did you mean 'boolean'?")]:
            done = saturate(*args)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertIn(words, done.stderr)
            self.assertEqual(done.stdout, "")


    def test_picture_and_grammar(self):
        """E-Gen's (x + 8) - 8: as it begins, and when its root holds x."""
        rules = self.rules.with_name("cancel.rules")
        rules.write_text("group g\nassoc: (?a + ?b) - ?c -> ?a + (?b - ?c)\nzero: ?a + 0 -> ?a\n")

        def printed(*args):
            done = saturate("--rules", str(rules), *args, "(x + 8) - 8")
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout
        self.assertEqual(printed("--grammar", "--iterations", "0").splitlines()[0].split(" -> ")[1][:3], "[- ")
        lines = printed("--grammar").splitlines()
        rule = dict(line.split(" -> ") for line in lines)
        root = rule[lines[0].split(" -> ")[0]].split(" | ")
        self.assertIn("x", root)
        self.assertEqual(len(root), 3)
        named = {word.strip("[]") for text in rule.values() for word in text.split() if word.startswith("e")}
        self.assertLessEqual(named, set(rule))
        dot = printed("--dot")
        self.assertEqual(dot.count("subgraph cluster_"), len(lines))
        self.assertEqual(dot.count("penwidth=3"), 1)
        self.assertEqual(dot.count(" -> "), sum(text.count("e") for text in rule.values()))
        self.assertTrue(dot.startswith("digraph egraph {") and dot.endswith("}\n"))
        self.assertEqual(dot.count("{"), dot.count("}"))


if __name__ == "__main__":
    unittest.main()
