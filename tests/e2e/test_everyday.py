"""Mathematics as people type it and see it: what the command line reads, what it says of a choice, and how
expressions are printed everywhere."""
import json
import unittest

from harness import Project

# typed, and how it is read
PLAIN = {"2x": "2*x", "x²": "x^2", "π": "pi", "√x": "sqrt(x)", "|x|": "abs(x)", "sin x": "sin(x)", "1e3": "1000",
         "3.5·x": "7/2*x", "x⁻¹": "x^(-1)", "2πr": "2*pi*r", "sin²x": "sin(x)^2", "(x + 1)(x - 1)": "(x + 1)*(x - 1)",
         "x y": "x*y", "√(x+1)": "sqrt(x + 1)", "x−1×y÷z": "x - 1*y/z", "sin θ": "sin(theta)", "λ_1 + ω": "lambda_1 + omega",
         "tg x": "tan(x)", "d/dx x²": "d(x, x^2)", "$x^2$": "x^2", r"\(\frac{1}{2}x\)": "1/2*x"}
CHOICES = {"sin 2x": "sin(2*x)", "sin^-1 x": "asin(x)", "√2x": "sqrt(2)*x", "2e-3": "1/500", "e^2x": "e^2*x",
           "λ(x + 1)": "lambda*(x + 1)", "x(y + 1)": "x*(y + 1)"}
REFUSED = {"1/2x": "write (a/b)*c or a/(b*c)", "sinx": "write sin(x)", "log_10(x)": "write log10(...)",
           "lg(x)": "write log10(...) or log2(...)", "zeta(x)": "--operators FILE", ".5": "write 0.5", "x=1": "not an equation",
           "x²!": "write a factorial as (x^2)! or factorial(x)", "f(y + 1)": "for a product write f*(...)"}


class Reading(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.p = Project()
        cls.addClassCleanup(cls.p.close)

    def test_what_is_typed(self):
        for typed, read in PLAIN.items():
            done = self.p.eqloom("read", "--", typed)
            self.assertEqual(done.out.splitlines()[0], f"infix   {read}", typed)
            self.assertEqual(done.err, "", typed)

    def test_a_choice_is_said(self):
        for typed, read in CHOICES.items():
            done = self.p.eqloom("read", "--", typed)
            self.assertIn(f"read as {read}\n", done.err, typed)
            self.assertEqual(done.out.splitlines()[0], f"infix   {read}", typed)
            answer = json.loads(self.p.eqloom("read", "--json", "--", typed).out)
            self.assertTrue(answer["notes"], typed)

    def test_what_is_refused_has_a_hint(self):
        for typed, hint in REFUSED.items():
            done = self.p.eqloom("read", "--", typed, expect=2)
            self.assertIn(hint, done.err, typed)
            self.assertRegex(done.err, r"^<expression>:1:\d+: error: ")


class Printing(unittest.TestCase):
    """Infix unless it is asked for otherwise; JSON has both."""

    @classmethod
    def setUpClass(cls):
        cls.p = Project()
        cls.addClassCleanup(cls.p.close)
        cls.p.eqloom("run", "job.yaml")
        [cls.seeds] = cls.p.eqloom("show", "small/seeds", "--json").events()
        cls.first = cls.p.eqloom("show", cls.seeds["elements"][0], "--json").events()[0]["value"]
        cls.infix, cls.prefix = cls.first["infix"], cls.first["prefix"]
        assert cls.infix != cls.prefix

    def test_records_and_collections(self):
        for option, text in [((), self.infix), (("--prefix",), self.prefix)]:
            lines = self.p.eqloom("show", "small/seeds", "--limit", "1", *option).out.splitlines()
            self.assertEqual(lines[2].split("  ")[-1], text)
            self.assertIn(text + "\n", self.p.eqloom("show", self.seeds["elements"][0], *option).out)
            found = self.p.eqloom("query", "expr", "--job", "small", *option).out
            self.assertIn(f"{self.seeds['elements'][0][:12]}  {text}\n", found)
        latex = json.loads(self.p.eqloom("read", "--json", self.infix).out)["latex"]
        self.assertIn(latex, self.p.eqloom("show", "small/seeds", "--latex", "--limit", "1").out)

    def test_exports(self):
        head, row = self.p.eqloom("export", "small/seeds", "-f", "tsv", "-o", "-").out.splitlines()[:2]
        cells = dict(zip(head.split("\t"), row.split("\t")))
        self.assertLess(head.split("\t").index("infix"), head.split("\t").index("prefix"))
        line = json.loads(self.p.eqloom("export", "small/seeds", "-f", "jsonl", "-o", "-").out.splitlines()[0])
        for have in [cells, line, self.first]:
            self.assertEqual((have["infix"], have["prefix"]), (self.infix, self.prefix))


if __name__ == "__main__":
    unittest.main()
