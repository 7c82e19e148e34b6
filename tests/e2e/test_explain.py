"""`eqloom explain`: proofs that read well, refutations with a witness, and an honest 'undecided'."""
import json
import subprocess
import tempfile
import unittest

from harness import BINARY, TIMEOUT_S


def explain(*args):
    return subprocess.run([BINARY, "explain", *args], capture_output=True, text=True, timeout=TIMEOUT_S)


class Explain(unittest.TestCase):
    def proves(self, a, b, most, *more):
        done = explain("--json", *((a, b) if not more else (a, b, *more)))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["verdict"], "proved")
        self.assertLessEqual(len(answer["steps"]), most, done.stdout)
        self.assertEqual(answer["steps"][-1]["term"], answer["to"])
        self.assertTrue(all(step["rule"] for step in answer["steps"]))

    def test_proofs_are_short(self):
        self.proves("sin(x)^4 - cos(x)^4", "1 - 2*cos(x)^2", 2)
        self.proves("d(x, cot(5*x))", "-5*csc(5*x)^2", 9)
        self.proves("tanh(a+b)", "(tanh(a)+tanh(b))/(1+tanh(a)*tanh(b))", 2)
        self.proves("sin(2*x)", "2*sin(x)*cos(x)", 2)
        self.proves("cos(2*x)", "1 - 2*sin(x)^2", 2)
        self.proves("d(x, ln(cosh(x)))", "tanh(x)", 6)
        self.proves("(x+1)^3", "x^3 + 3*x^2 + 3*x + 1", 6)

    def test_a_proof_in_words_names_its_rules(self):
        done = explain("x^2 - 1", "(x+1)*(x-1)")
        self.assertEqual(done.returncode, 0)
        self.assertIn("proved in 2 steps", done.stdout)
        self.assertIn("[arithmetic.products/square-minus-one]", done.stdout)
        self.assertNotIn("~", done.stdout)

    def test_refuted_with_a_witness(self):
        for a, b in [("tanh(a+b)", "(tan(a)+tan(b))/(1-tan(a)*tan(b))"),
                     ("d(x, cot(5*x))", "-csc(x)^2")]:
            done = explain(a, b)
            self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
            self.assertIn("refuted: at ", done.stdout)
            answer = json.loads(explain("--json", a, b).stdout)
            self.assertEqual(answer["verdict"], "refuted")
            self.assertTrue(answer["witness"])

    def test_values_have_the_digits_that_tell_them_apart(self):
        done = explain("e^(pi*sqrt(163))", "262537412640768744")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stdout, "refuted: 262537412640768743.99999999999925 against "
                                      "262537412640768744.00000000000000\n")

    def test_mixed_derivatives(self):
        self.proves("d(x, d(y, x*y))", "1", 4)
        self.proves("d(x, d(y, x^2*y^3))", "6*x*y^2", 40)
        for a, b in [("d(x, d(y, sin(x*y)))", "cos(x*y)"), ("d(x, d(y, x^y))", "d(x, d(x, x^y))")]:
            done = explain(a, b)
            self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
            self.assertIn("y = ", done.stdout)
        done = explain("--iterations", "1", "d(x, d(y, sin(x*y)))", "cos(x*y) - x*y*sin(x*y)")
        self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
        self.assertRegex(done.stdout, "both agree to [23][0-9] digits at 16 points")

    def test_the_fewest_steps_are_said_to_be(self):
        answer = json.loads(explain("--json", "(x+1)^3", "x^3 + 3*x^2 + 3*x + 1").stdout)
        self.assertIs(answer["shortest"], True)
        self.assertIn("steps, the fewest\n", explain("x^2 - 1", "(x+1)*(x-1)").stdout)

    def test_undecided_says_how_far_it_looked(self):
        # true, but out of reach of one iteration
        args = ("--iterations", "1", "(x+1)^5", "x^5 + 5*x^4 + 10*x^3 + 10*x^2 + 5*x + 1")
        done = explain(*args)
        self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
        self.assertIn("undecided: both agree to ", done.stdout)
        answer = json.loads(explain("--json", *args).stdout)
        self.assertEqual(answer["verdict"], "undecided")
        self.assertGreater(answer["digits"], 20)
        self.assertEqual(answer["iterations"], 1)

    def test_other_languages(self):
        self.proves("--language=boolean", "not(a & b)", 1, "not(a) | not(b)")
        done = explain("--language", "polynomial", "--iterations", "1", "(a+b)*(a+b)*(a+b)",
                       "a*a*a + 3*a*a*b + 3*a*b*b + b*b*b")
        self.assertEqual((done.returncode, done.stdout),
                         (0, "proved: both expand to the same polynomial\n"))
        done = explain("--language", "boolean", "--json", "a => b", "b => a")
        self.assertEqual(done.returncode, 3)
        answer = json.loads(done.stdout)
        self.assertEqual((answer["verdict"], answer["language"], answer["witness"]),
                         ("refuted", "boolean", "a = true, b = false: false against true"))
        done = explain("--language", "bolean", "a", "b")
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean 'boolean'?", done.stderr)

    def test_a_false_rule_is_found_in_the_derivation(self):
        with tempfile.NamedTemporaryFile("w", suffix=".rules") as file:
            file.write("group good\ncomm: ?a + ?b -> ?b + ?a\n"
                       "group bad\nsum: sin(?a + ?b) -> sin(?a) + sin(?b)\n")
            file.flush()
            args = ("--rules", file.name, "sin(y + x)", "sin(x) + sin(y)")
            done = explain(*args)
            self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
            self.assertIn("but the rules derive it", done.stdout)
            self.assertIn("? = ", done.stdout)
            self.assertIn("[bad/sum]   false", done.stdout)
            steps = json.loads(explain("--json", *args).stdout)["steps"]
            self.assertEqual([step["rule"] for step in steps if "false" in step], ["bad/sum"])

    def test_rules_that_contradict_themselves_prove_nothing(self):
        with tempfile.NamedTemporaryFile("w", suffix=".rules") as file:
            file.write("group good\nzero: ?a - ?a -> 0\ngroup bad\none: ?a - ?b -> 1\n")
            file.flush()
            done = explain("--rules", file.name, "ln(x - x + 2)", "ln(3 - 1) + 0*x")
            self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
            for words in ("they prove nothing", "one derivation", "[good/zero]",
                          "[bad/one]   false", "its value: 0", "its value: 1"):
                self.assertIn(words, done.stdout)

    def test_a_contradiction_is_told_in_infix(self):
        with tempfile.NamedTemporaryFile("w", suffix=".rules") as rules:
            rules.write("group c\na: ?x*0 -> 0\nb: cos(?x) -> cot(?x)*sin(?x)\n"
                        "c: sin(0) -> 0\nd: cos(0) -> 1\n")
            rules.flush()
            done = explain("--rules", rules.name, "cos(0)", "0")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stdout, r"contradiction: .*cot\(0\)\*.* would be equal by rule c/")

    def test_what_has_no_value_is_named(self):
        for a, b, words in (("1/0", "1", "the first expression never has a value"),
                            ("1", "ln(x - x)", "the second expression never has a value"),
                            ("ln(0)", "1/0", "neither expression has a value"),
                            ("acosh(x) + 1/sqrt(sin(x)^2)", "1/0 + x", "the second expression")):
            done = explain(a, b)
            self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
            self.assertIn(f"undecided: {words}", done.stdout)
            self.assertEqual(len(done.stdout.splitlines()), 1, done.stdout)
            self.assertEqual(json.loads(explain("--json", a, b).stdout)["points"], 0)

    def test_wrong_input(self):
        done = explain("sin(x", "x")
        self.assertEqual(done.returncode, 2)
        self.assertIn("first expression", done.stderr)
        self.assertEqual(explain("x").returncode, 2)


if __name__ == "__main__":
    unittest.main()
