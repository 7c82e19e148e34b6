"""`eqloom variants` and `eqloom simplify`: forms that are equal, each once, in the order asked for."""
import json
import subprocess
import tempfile
import unittest

from harness import BINARY, TIMEOUT_S


def run(*args):
    return subprocess.run([BINARY, *args], capture_output=True, text=True, timeout=TIMEOUT_S)


class Variants(unittest.TestCase):
    def forms(self, *args):
        done = run("variants", "--json", *args)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_the_shortest_come_first_and_all_are_equal(self):
        forms = self.forms("tan(x)", "-n", "40")
        self.assertEqual(len(forms), 40)
        lengths = [form["tokens"] for form in forms]
        self.assertEqual(lengths, sorted(lengths))
        texts = {form["expression"] for form in forms}
        self.assertLessEqual({"1/cot(x)", "sin(x)/cos(x)", "sin(x)*sec(x)"}, texts)
        pairs = "".join(f"tan(x)\t{form['expression']}\n" for form in forms)
        answers = subprocess.run([BINARY, "explain", "-"], input=pairs, capture_output=True,
                                 text=True, timeout=TIMEOUT_S).stdout.splitlines()
        self.assertEqual({json.loads(answer)["verdict"] for answer in answers}, {"proved"})

    def test_orders_groupings_and_signs_count_once(self):
        self.assertEqual(self.forms("a + b", "--max-tokens", "3"), [])
        texts = [form["expression"] for form in self.forms("(x + 1)(x - 1)", "-n", "2")]
        self.assertEqual(texts, ["x*x - 1", "x^2 - 1"])

    def test_different_ones_are_farther(self):
        near = self.forms("sin(2*x)", "-n", "5")
        far = self.forms("sin(2*x)", "-n", "5", "--different")
        self.assertEqual(len(far), 5)
        self.assertGreater(sum(f["tokens"] for f in far), sum(f["tokens"] for f in near))
        self.assertEqual(far, self.forms("sin(2*x)", "-n", "5", "--different"))

    def test_own_rules_that_are_false_are_told(self):
        with tempfile.NamedTemporaryFile("w", suffix=".rules") as rules:
            rules.write("group g\nwrong: sin(?a) -> ?a\n")
            rules.flush()
            done = run("simplify", "--rules", rules.name, "sin(x) + 1")
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("which is not equal: x = ", done.stderr)
            done = run("variants", "--rules", rules.name, "sin(x) + 1")
            self.assertEqual(done.stdout, "")
            self.assertRegex(done.stderr, "left out: g/wrong is false: .a = ")

    def test_boolean_terms(self):
        texts = [f["expression"] for f in self.forms("--language", "boolean", "not(a & b)")]
        self.assertIn("not(a) | not(b)", texts)

    def test_what_has_no_value(self):
        for text in ["1/0", "ln(0)", "x/(x-x)"]:
            done = run("variants", text)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn("no value", done.stderr)

    def test_long_expressions_are_searched_at_their_length(self):
        self.assertEqual(self.forms("sin(" * 300 + "x" + ")" * 300, "--max-nodes", "400"), [])
        self.assertEqual(self.forms("x*y", "--max-tokens", "1"), [])

    def test_limits_and_input(self):
        self.assertEqual(len(self.forms("x^2", "-n", "1")), 1)
        for args, message in [(("variants",), "takes one expression"),
                              (("variants", "x+"), "<expression>:1:3: error"),
                              (("variants", "x", "-n", "0"), "count")]:
            done = run(*args)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(message, done.stderr)


class Simplify(unittest.TestCase):
    def test_results(self):
        for text, simple in [("sin\u00b2x + cos\u00b2x", "1"), ("e^(2 ln x)", "x^2"),
                             ("(x-1)*(x-2)*(x-3) - x^3 + 6x^2 - 11x + 6", "0"),
                             ("d/dx ln(cosh x)", "tanh(x)"), ("2x + 3x", "5*x"), ("x", "x"),
                             ("(y + x)^9", "(y + x)^9"),
                             ("(x^2-1)/(x-1)", "1 + x"), ("sqrt(3+2*sqrt(2))", "1 + sqrt(2)")]:
            with self.subTest(text=text):
                done = run("simplify", text)
                self.assertEqual((done.returncode, done.stdout.strip()), (0, simple), done.stderr)
        self.assertIn("no simpler form", run("simplify", "x").stderr)

    def test_derivatives_are_worked_out(self):
        self.assertNotIn("d(", run("simplify", "d/dx (x^2*sin(x))").stdout)

    def test_steps(self):
        done = run("simplify", "--steps", "sin(x)^2 + cos(x)^2")
        self.assertIn("[trigonometry.pythagorean/sin-cos]", done.stdout)
        answer = json.loads(run("simplify", "--json", "sin(x)^2 + cos(x)^2").stdout)
        self.assertEqual((answer["verdict"], answer["to"]), ("proved", "1"))

    def test_what_has_no_value(self):
        done = run("simplify", "x + 0/0")
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("no value", done.stderr)


if __name__ == "__main__":
    unittest.main()
