"""`eqloom explain`: proofs that read well, refutations with a witness, and an honest 'undecided'."""
import json
import subprocess
import unittest

from harness import BINARY


def explain(*args):
    return subprocess.run([BINARY, "explain", *args], capture_output=True, text=True, timeout=120)


class Explain(unittest.TestCase):
    def proves(self, a, b, most):
        done = explain("--json", a, b)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["verdict"], "proved")
        self.assertLessEqual(len(answer["steps"]), most, done.stdout)
        self.assertEqual(answer["steps"][-1]["term"], answer["to"])
        self.assertTrue(all(step["rule"] for step in answer["steps"]))

    def test_proofs_are_short(self):
        self.proves("sin(x)^4 - cos(x)^4", "1 - 2*cos(x)^2", 2)
        self.proves("d(x, cot(5*x))", "-5*csc(5*x)^2", 8)
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

    def test_wrong_input(self):
        done = explain("sin(x", "x")
        self.assertEqual(done.returncode, 2)
        self.assertIn("first expression", done.stderr)
        self.assertEqual(explain("x").returncode, 2)


if __name__ == "__main__":
    unittest.main()
