"""`eqloom explain`: proofs that read well, refutations with a witness, and an honest 'undecided'."""
import json
import pathlib
import shutil
import re
import subprocess
import tempfile
import unittest

from harness import BINARY, TIMEOUT_S, ProjectTest


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
        self.proves("d(x, d(y, sin(x*y)))", "cos(x*y) - x*y*sin(x*y)", 1, "--iterations=1")

    def test_the_fewest_steps_are_said_to_be(self):
        answer = json.loads(explain("--json", "(x+1)^3", "x^3 + 3*x^2 + 3*x + 1").stdout)
        self.assertIs(answer["shortest"], True)
        self.assertIn("steps, the fewest\n", explain("x^2 - 1", "(x+1)*(x-1)").stdout)

    def test_undecided_says_how_far_it_looked(self):
        # false, but by less than any number of digits shows
        args = ("--iterations", "1", "x + e^(-10^6)", "x")
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

    def test_a_rule_that_is_not_proved_proves_only_where_that_is_accepted(self):
        with tempfile.NamedTemporaryFile("w", suffix=".rules") as file:
            file.write("operator box/1\ngroup g\ncomm: ?a + ?b -> ?b + ?a\nopen: abs(e^?a - ?a) -> e^?a - ?a if real(?a)\n"
                       "box: box(?a) -> ?a\n")
            file.flush()
            args = ("--rules", file.name, "--domain", "x:real", "abs(e^x - x) + 1", "1 + (e^x - x)")
            done = explain(*args)
            self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
            self.assertRegex(done.stdout, r"^undecided: .*the rules derive it, but g/open is not proved: it holds at \d+ points")
            done = explain("--sampled", *args)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertRegex(done.stdout, r"^proved in 2 steps(?s:.*)where g/open is not proved")
            self.assertRegex(json.loads(explain("--json", "--sampled", *args).stdout)["rests_on"], "^g/open is not proved")
            self.assertNotIn("where", explain("--rules", file.name, "a + b", "b + a").stdout)
            variants = subprocess.run([BINARY, "variants", "--rules", file.name, "a + 1"], capture_output=True, text=True)
            self.assertIn("left out: g/open is not proved", variants.stderr)
            self.assertNotIn("comm", variants.stderr)

    def test_rules_of_the_program_are_named(self):
        pythagoras = ("sin(x)^2", "1 - cos(x)^2")
        for name in ("builtin:trigonometry", "builtin:trigonometry.rules"):
            self.assertIn("proved in 1 step", explain("--rules", name, *pythagoras).stdout)
            for command in (("saturate", "--rules", name, "sin(x)^2"), ("check-rules", name),
                            ("simplify", "--rules", name, "sin(x)^2 + cos(x)^2"),
                            ("variants", "--rules", name, "sin(x)^2")):
                done = subprocess.run([BINARY, *command], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, (command, done.stderr))
        self.assertEqual(explain("--rules", "builtin:powers", *pythagoras).returncode, 4)
        done = explain("--rules", "builtin:trigonometri", *pythagoras)
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean 'builtin:trigonometry'?", done.stderr)

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
        for a, b, words in (("1/0", "1", "the first expression has none"),
                            ("1", "ln(x - x)", "the second expression has none"),
                            ("ln(0)", "1/0", "neither expression has one"),
                            ("1/0", "2/0", "neither expression has one"),
                            ("0/0", "0", "the first"), ("0*ln(0)", "0", "the first"),
                            ("(1/0)/(1/0)", "1", "the first"), ("x + 0/0", "x", "the first"),
                            ("(x - x)/0", "0", "the first"),
                            ("acosh(x) + 1/sqrt(sin(x)^2)", "1/0 + x", "the second expression")):
            done = explain(a, b)
            self.assertEqual(done.returncode, 5, done.stdout + done.stderr)
            self.assertIn(f"no value: {words}", done.stdout)
            self.assertEqual(len(done.stdout.splitlines()), 1, done.stdout)
            self.assertEqual(json.loads(explain("--json", a, b).stdout)["verdict"], "no value")

    def test_what_was_not_computed_is_not_without_a_value(self):
        for verdict, a, b in (("proved", "(10^1000 + 1) - 10^1000", "1"), ("proved", "(sqrt(2)^2 - 2)^(1/3)", "0"),
                              ("proved", "cosh(700) - sinh(700)", "e^(-700)"), ("refuted", "sin(10^1000)", "0"),
                              ("refuted", "(10^1000 + 1) - 10^1000", "2"), ("undecided", "sin(10^(10^6))", "0"),
                              ("no value", "1/(sqrt(2) + sqrt(3) - sqrt(5 + 2*sqrt(6)))", "3"),
                              ("no value", "x/(x - (x*(x - x) + x))", "1"), ("no value", "tan(pi/2)", "cot(0)")):
            self.assertRegex(explain("--verdict", a, b).stdout, f"^{verdict}", f"{a} = {b}")

    def test_isolated_exceptions_do_not_refute(self):
        """Values on the cut at x = 3/2 and x = 2 alone, which are likely points."""
        for bump in ("(2*x-3)*(x-2)", "x-1", "(x-1/2)*(x-4)*(x-5/2)*(x-1/4)"):
            done = explain(f"ln(-1 - sqrt(-1)*abs({bump}))",
                           f"ln(1 + sqrt(-1)*abs({bump})) - pi*sqrt(-1)")
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_normal_forms_prove(self):
        for a, b, way in (
                ("(x-1)*(x-2)*(x-3)*(x-4)", "x^4 - 10*x^3 + 35*x^2 - 50*x + 24", "expansion"),
                ("sqrt(3+2*sqrt(2))", "1+sqrt(2)", "exact numbers"),
                ("16*atan(1/5) - 4*atan(1/239)", "pi", "exact numbers"),
                ("cos(pi/7)*cos(2*pi/7)*cos(3*pi/7)", "1/8", "exact numbers"),
                ("tan(3*pi/11) + 4*sin(2*pi/11)", "sqrt(11)", "exact numbers"),
                ("sqrt(5^(1/3) - 4^(1/3))", "(2^(1/3) + 20^(1/3) - 25^(1/3))/3", "exact numbers"),
                ("44*atan(1/57) + 7*atan(1/239) - 12*atan(1/682) + 24*atan(1/12943)", "pi/4",
                 "exact numbers"),
                ("cos(pi*10^6)", "1", "exact numbers"), ("ln(-1)^2", "-pi^2", "exact numbers"),
                ("sin(x)^6 + cos(x)^6", "(5 + 3*cos(4*x))/8", "exponentials"),
                ("abs(x + y*sqrt(-1))", "sqrt(x^2 + y^2)", "exponentials"),
                ("d(x, d(x, abs(x-1)))", "0", "exponentials"),
                ("2*atan(sqrt(x))", "acos((1-x)/(1+x))", "derivatives, for x>0")):
            done = explain("--verdict", a, b)
            self.assertEqual(done.stdout, f"proved by {way}\n", f"{a} = {b}: {done.stderr}")
            self.assertEqual(done.returncode, 0)
        for a, b in (("2*atan(x)", "asin(2*x/(1+x^2))"), ("sqrt(3+2*sqrt(2))", "1+sqrt(2)+1/10^50"),
                     ("tan(3*pi/11) + 4*sin(2*pi/11)", "sqrt(11) + 1/10^200"),
                     ("4*atan(1/5) - atan(1/239)", "pi/4 + 2*pi"), ("acos(-1)", "-pi")):
            self.assertEqual(explain(a, b).returncode, 3)

    def test_long_sums_are_matched_term_by_term(self):
        terms = [f"sqrt(x + {k})*ln({k} + y)" for k in range(1, 41)]
        turned = [f"ln(y + {k})*sqrt({k} + x)" for k in range(40, 0, -1)]
        done = explain("--verdict", " + ".join(terms), " + ".join(turned))
        self.assertTrue(done.stdout.startswith("proved by "), done.stdout)
        turned[7] = turned[7].replace("ln", "2*ln")
        done = explain("--verdict", " + ".join(terms), " + ".join(turned))
        self.assertTrue(done.stdout.startswith("refuted: "), done.stdout)
        terms[7], turned[7] = "sin(z)^2", "ln(y + 33)*sqrt(33 + x)" # one more on each side
        terms.append("ln(y + 8)*sqrt(x + 8)")
        turned.append("1 - cos(z)^2")
        done = explain("--verdict", " + ".join(terms), " + ".join(turned))
        self.assertTrue(done.stdout.startswith("proved by "), done.stdout)

    def test_a_normal_form_is_checked_by_other_means(self):
        for a, b, how in (("(x-1)*(x-2)*(x-3)*(x-4)", "x^4 - 10*x^3 + 35*x^2 - 50*x + 24", "modulo primes"),
                          ("sin(x)^6 + cos(x)^6", "(5 + 3*cos(4*x))/8", "modulo primes"),
                          ("16*atan(1/5) - 4*atan(1/239)", "pi", "separation bound"),
                          ("2*atan(sqrt(x))", "acos((1-x)/(1+x))", "values")):
            self.assertEqual(json.loads(explain("--json", "--verdict", a, b).stdout)["checked"], how)

    def test_a_normal_form_closes_what_rules_begin(self):
        """Rules make the atoms equal, and a normal form the polynomials in them."""
        for a, b in [("(sqrt((1-cos(x))/2) + sqrt((1+cos(x))/2))^2", "1 + 2*abs(sin(x/2))*abs(cos(x/2))"),
                     ("(acosh(cosh(x-y)) + z)^5", "(abs(x-y)^2 + 2*z*abs(x-y) + z^2)^2*(abs(x-y) + z)"),
                     ("1/(atan(tanh(x)) + atan(1/2) + y) - 1/(atan(tanh(x)) + atan(1/2) - y)",
                      "-2*y/(atan((tanh(x) + 1/2)/(1 - tanh(x)/2))^2 - y^2)")]:
            done = explain("--json", a, b)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            answer = json.loads(done.stdout)
            rules = [step["rule"] for step in answer["steps"]]
            self.assertEqual(rules.count("exponentials"), 1, rules)
            self.assertGreater(len(rules), 1)
            self.assertTrue(answer["checked"])
            self.assertEqual(answer["steps"][-1]["term"], answer["to"])
            self.assertIn("[exponentials]\n", explain(a, b).stdout)
            self.assertEqual(explain(a, b + " + 1/10^30").returncode, 3)

    def test_cuts_are_as_documented(self):
        page = pathlib.Path(__file__).parents[2] / "docs/rules.md"
        rows = re.findall(r"^\| `(\w+\(z\))` \| `(.*?)` \| .* \| `(.*?)` = `(.*?)` \|$",
                          page.read_text(encoding="utf-8"), re.M)
        self.assertEqual(len(rows), 12)
        for function, formula, at, value in rows:
            for a, b in ((function, formula), (at, value)):
                done = explain("--domain", "z:complex", a, b)
                self.assertEqual(done.returncode, 0, f"{a} = {b}: {done.stdout}{done.stderr}")

    def test_domains(self):
        for domain, a, b, code in (
                ("x:real", "sqrt(x^2)", "x", 3), ("x:real", "sqrt(x^2)", "abs(x)", 0),
                ("-1<x<1", "atanh(x)", "ln((1+x)/(1-x))/2", 0), ("x>0", "atanh(x)", "ln((1+x)/(1-x))/2", 3),
                ("n:integer", "sin(pi*n)", "0", 0), ("n:real", "sin(pi*n)", "0", 3),
                ("x > 1", "sqrt((x-1)^2)", "x-1", 0), ("x<1", "sqrt((x-1)^2)", "1-x", 0),
                ("x<=1", "sqrt((x-1)^2)", "x-1", 3), ("speed:real", "abs(speed)", "speed", 3),
                ("speed>0", "abs(speed)", '"speed"', 0), ("d:real", "abs(d)", "d", 3), ("i:integer", "sin(pi*i)", "0", 0), ("z:complex", "abs(z)^2", "z^2", 3)):
            done = explain("--domain", domain, a, b)
            self.assertEqual(done.returncode, code, f"{domain}: {a} = {b}: {done.stdout}{done.stderr}")
            if code == 0:
                self.assertIn(f", for {domain}\n", done.stdout)
        self.assertEqual(explain("ln((x-1)*(x-2))", "ln(x-1)+ln(x-2)").returncode, 3)
        self.assertNotEqual(explain("--real", "ln((x-1)*(x-2))", "ln(x-1)+ln(x-2)").returncode, 3)
        for domain in ("x", "x:big", "1<2", "x>1<3", "1<x<1", ":real", "0<x<1<2"):
            self.assertEqual(explain("--domain", domain, "x", "x").returncode, 2, domain)

    def test_signs_that_matter_are_said(self):
        """Variables are positive: a proof names those whose sign it needs, and no others."""
        for a, b, needed in [("sqrt(x^2) + y", "x + y", "x>0"), ("sin(2*x)", "2*sin(x)*cos(x)", None),
                             ("sqrt(x)^2", "x", None), ("abs(x)*abs(y)", "x*y", "x>0, y>0"),
                             ("ln(x*y)", "ln(x) + ln(y)", "y>0"),  # one of the two suffices
                             ("x^2 - y^2", "(x+y)*(x-y)", None), ("abs(x - 1)^2", "(x-1)^2", None)]:
            for more in ([], ["--verdict"]):
                self.assertEqual(json.loads(explain("--json", *more, a, b).stdout).get("assumed"), needed)
        self.assertRegex(explain("sqrt(x^2)", "x").stdout, r"^proved in 1 step, for x>0\n")
        both = explain("--domain", "y:real", "--verdict", "ln(e^y*x^2)", "y + 2*ln(x)")
        self.assertEqual(both.stdout, "proved by exponentials, for y:real, x>0\n")
        self.assertEqual(explain("--domain", "x:real", "abs(x)", "x").returncode, 3)

    def test_rules_under_domains(self):
        rules = ("group g\nroot: sqrt(?a^2) -> ?a\nln: ln(?a*?b) -> ln(?a) + ln(?b)\n"
                 "atan: 2*atan(?a) -> atan(2*?a/(1 - ?a^2))\n")
        cases = (([], {"root", "ln", "atan"}), (["--domain", "a>1"], {"atan"}),
                 (["--domain", "0<a<1"], set()), (["--domain", "?a:real"], {"root", "ln", "atan"}),
                 (["--real"], {"root", "atan"}), (["--domain", "b:positive"], {"root", "atan"}))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "my.rules"
            path.write_text(rules)
            for given, refuted in cases:
                done = subprocess.run([BINARY, "check-rules", "--json", *given, str(path)],
                                      capture_output=True, text=True, timeout=TIMEOUT_S)
                lines = [json.loads(line) for line in done.stdout.splitlines()][:-1]
                self.assertEqual({r["name"] for r in lines if r["verdict"] == "refuted"}, refuted, given)
                self.assertEqual(any("less(1, ?a)" in r["rule"] for r in lines), "a>1" in given)
            done = subprocess.run([BINARY, "check-rules", "--domain", "a:big", str(path)],
                                  capture_output=True, text=True, timeout=TIMEOUT_S)
            self.assertEqual(done.returncode, 2)

    def test_a_stream_of_pairs(self):
        lines = ["sin(x)^2\t1 - cos(x)^2", '{"from": "x + x", "to": "2*x"}', "", "x\tx + 1",
                 "sin(\tx", "1/0\t1", "nonsense", '{"from": "x"}']
        done = subprocess.run([BINARY, "explain", "-"], input="\n".join(lines * 20) + "\n",
                              capture_output=True, text=True, timeout=TIMEOUT_S)
        self.assertEqual(done.returncode, 1, done.stderr)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        verdicts = ["proved", "proved", "refuted", "malformed", "no value", "malformed", "malformed"]
        self.assertEqual([answer["verdict"] for answer in answers], verdicts * 20)
        self.assertEqual([answer["line"] for answer in answers][:7], [1, 2, 4, 5, 6, 7, 8])
        self.assertTrue(all(answer["error"] for answer in answers if answer["verdict"] == "malformed"))
        self.assertIn("40 proved, 20 refuted, 0 undecided, 20 without a value, 60 malformed",
                      done.stderr)
        done = subprocess.run([BINARY, "explain", "-"], input=b"\xff\t1\n", capture_output=True,
                              timeout=TIMEOUT_S)
        self.assertEqual(json.loads(done.stdout)["verdict"], "malformed")

    def test_latex(self):
        for args in (["\\frac{x}{2}"], ["--syntax", "latex", "\\frac12 x"]):
            done = explain("--json", "--latex", *args, "\\frac{2x}{4}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["to"], "\\frac{2 x}{4}")
        self.assertIn("  = 1 - \\cos^{2}", explain("--latex", "sin(x)^2", "1-cos(x)^2").stdout)
        refuted = explain("--latex", "--domain", "x>=1", "--real", "x", "x/2").stdout
        self.assertRegex(refuted, r"refuted: at x = [-0-9.]+: [-0-9.]+ \\neq [-0-9.]+\n")
        self.assertIn("for -1 < x < 1", explain("--latex", "--domain", "-1<x<1", "atanh(x)",
                                                "ln((1+x)/(1-x))/2").stdout)
        lines = ["\\frac{x}{2}\tx/2", json.dumps({"from": "\\log x", "to": "ln(x)"}),
                 "\\frac{f(x)}{2}\tx"] * 50
        done = subprocess.run([BINARY, "explain", "-"], input="\n".join(lines),
                              capture_output=True, text=True, timeout=TIMEOUT_S)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([answer["verdict"] for answer in answers],
                         ["proved", "proved", "malformed"] * 50)
        self.assertIn("write f \\cdot (...)", answers[2]["error"])  # the choices
        self.assertIn("line 2: \\log is read as the natural logarithm", done.stderr)
        self.assertIn("words or latex", explain("--syntax", "tex", "x", "x").stderr)

    def test_identities_of_handbooks_are_proved(self):
        """The same that tests/bench/sympy_peer.py compares with SymPy's simplify."""
        path = pathlib.Path(__file__).parents[1] / "bench/workloads/identities.tsv"
        done = subprocess.run([BINARY, "explain", "-"], input=path.read_text(encoding="utf-8"),
                              capture_output=True, text=True, timeout=TIMEOUT_S)
        for answer in map(json.loads, done.stdout.splitlines()):
            self.assertEqual(answer["verdict"], "proved", answer)

    def test_no_verdict_is_wrong(self):
        """Of true and false equalities, under domains: truth, domains, the two expressions. No verdict is
        wrong, and of the true ones at least 92 in a hundred are proved, of the false ones refuted."""
        path = pathlib.Path(__file__).parents[1] / "bench/workloads/verdicts.tsv"
        groups = {}
        for row in path.read_text(encoding="utf-8").splitlines():
            truth, domains, pair = row.split("\t", 2)
            groups.setdefault(domains, []).append((truth, pair))
        right = {"equal": "proved", "different": "refuted", "no value": "no value"}
        counts = dict.fromkeys(right, 0)
        total = dict(counts)
        for domains, rows in groups.items():
            given = [word for d in domains.split(",") if d for word in ("--domain", d)]
            done = subprocess.run([BINARY, "explain", "--max-nodes", "500", *given, "-"], text=True,
                                  capture_output=True, timeout=TIMEOUT_S,
                                  input="".join(pair + "\n" for _, pair in rows))
            for (truth, _), answer in zip(rows, map(json.loads, done.stdout.splitlines()), strict=True):
                self.assertIn(answer["verdict"], (right[truth], "undecided"), answer)
                counts[truth] += answer["verdict"] == right[truth]
                total[truth] += 1
        for truth in right:
            self.assertGreaterEqual(counts[truth], 0.92 * total[truth], truth)

    def test_wrong_input(self):
        done = explain("sin(x", "x")
        self.assertEqual(done.returncode, 2)
        self.assertIn("first expression", done.stderr)
        self.assertEqual(explain("x").returncode, 2)


PAIRS = """pow sin x 2\t- 1 pow cos x 2
pow sin x 2\t- 1 cos x
sin sin\tx
* x
sqrt pow x 2\tx
pow sin x 2\t/ 0 0
asin sin x\t+ x 0
"""

VERIFY = """eqloom: 1
name: verify
nodes:
  theirs: {op: import-clusters, files: [theirs.tsv], format: pairs, malformed: skip}
  positive: {op: verify, clusters: theirs}
  real: {op: verify, clusters: theirs, domains: ['x:real'], keep: undecided}
  near: {op: verify, clusters: theirs, domains: ['-1<x<1'], keep: proved}
exports: {malformed.txt: theirs.malformed}
"""


DOMAINS = """eqloom: 1
name: domains
params: {real: false, domain: 'a>0'}
nodes:
  rules:     {op: rules, files: [mine.rules]}
  certified: {op: certify, rules: rules, domains: ["${domain}"], real: "${real}", sampled: true}
  seeds:     {op: templates, files: [mine.yaml]}
  egraphs:   {op: saturate, exprs: seeds, rules: certified, domains: ['x>1', 'y:real'], real: "${real}"}
  clusters:  {op: extract, egraphs: egraphs, max_tokens: 12, per_cluster: 20}
"""


class Verify(ProjectTest):
    def test_domains_in_a_job(self):
        self.p.write("mine.rules", "group g\nroot: sqrt(?a^2) -> ?a\n"
                     "less: abs(?a) -> ?a if less(1, ?a)\n")
        self.p.write("mine.yaml", "templates: 1\nvariables: {y: complex}\ngroups: {g: {templates: "
                     "['sqrt(x^2) + abs(x)', 'sqrt(y^2) + abs(x)']}}\n")
        self.p.write("domains.yaml", DOMAINS)
        self.p.eqloom("run", "domains.yaml")
        rule = json.loads(self.p.eqloom("show", "domains/certified", "--json").out)["elements"][1]
        shown = self.p.eqloom("show", rule).out
        self.assertIn("predicate: less", shown) # what was assumed is part of the rule
        ids = json.loads(self.p.eqloom("show", "domains/clusters", "--json").out)["elements"]
        for i, has_root in zip(ids, (False, True)):
            cluster = json.loads(self.p.eqloom("show", i, "--json").out)["value"]
            self.assertIn({"name": "x", "domain": "positive", "low": "1", "high": ""},
                          cluster["seed"]["variables"])
            least = min((m["prefix"] for m in cluster["members"]), key=len)
            self.assertEqual("sqrt" in least, has_root, least) # y is real, not positive
            self.assertNotIn("abs", least)
            self.assertEqual({m["standing"] for m in cluster["members"]}, {"AGREES"})
        failed = self.p.eqloom("run", "domains.yaml", "--set", "domain=a:real", expect=None)
        self.assertNotEqual(failed.status, 0)
        self.assertIn("rule g/root is false", failed.err)
        failed = self.p.eqloom("run", "domains.yaml", "--set", "domain=a>b", expect=None)
        self.assertIn("a domain is x:real", failed.err)

    def test_a_rule_that_is_not_proved_in_a_job(self):
        self.p.write("mine.rules", "group g\nopen: abs(e^?a - ?a) -> e^?a - ?a if real(?a)\n")
        self.p.write("mine.yaml", "templates: 1\ngroups: {g: {templates: ['abs(e^x - x) + 1']}}\n")
        self.p.write("domains.yaml", DOMAINS.replace('domains: ["${domain}"], ', ""))
        self.p.eqloom("run", "domains.yaml")
        clusters = json.loads(self.p.eqloom("show", "domains/clusters", "--json").out)["elements"]
        cluster = json.loads(self.p.eqloom("show", clusters[0], "--json").out)["value"]
        self.assertEqual(cluster["basis"], "SAMPLE")
        self.p.edit("domains.yaml", ", sampled: true", "")
        failed = self.p.eqloom("run", "domains.yaml", expect=1)
        self.assertRegex(failed.err, "rule g/open is not proved: it holds at [0-9]+ points")

    def test_what_certify_lets_pass(self):
        """By rule and parameters: what its certificate says, or why there is none."""
        proved, thin = "sin(2*?a) -> 2*sin(?a)*cos(?a)", "abs(e^?a - ?a) -> e^?a - ?a if real(?a)"
        false, guarded = "sqrt(?a^2) -> ?a", "sqrt(?a^2) -> ?a if "
        many = [f"less(-{n}, ?a)" for n in range(1, 16)]
        for rule, parameters, wanted in (
                (proved, "", ("PROOF", False)), (proved, "real: true", ("PROOF", False)),
                (thin, "sampled: true", ("SAMPLE", False)),
                (thin, "sampled: true, real: true", ("SAMPLE", True)),
                (thin, "", "is not proved"), (thin, "allow_unsound: true", "is not proved"),
                (false, "allow_unsound: true", ("FALSEHOOD", False)),
                (false, "", "is false"), (false, "sampled: true", "is false"),
                (false, "domains: ['a>0']", ("PROOF", False)), (false, "domains: ['b>0']", "is false"),
                (false, "domains: ['0<a<1']", ("PROOF", False)),
                (guarded + ", ".join(many), "domains: ['a>0']", ("PROOF", False)),
                (guarded + ", ".join(many), "domains: ['0<a<1']", "more than 16 conditions"),
                (guarded + ", ".join(many) + ", positive(?a)", "", ("PROOF", False))):
            self.p.write("mine.rules", f"group g\nr: {rule}\n")
            self.p.write("c.yaml", "eqloom: 1\nname: c\nnodes:\n  rules: {op: rules, files: [mine.rules]}\n"
                                   "  checked: {op: certify, rules: rules, %s}\n" % parameters)
            with self.subTest(rule=rule, parameters=parameters):
                if isinstance(wanted, str):
                    self.assertIn(wanted, self.p.eqloom("run", "c.yaml", expect=1).err)
                    continue
                self.p.eqloom("run", "c.yaml")
                rule = json.loads(self.p.eqloom("show", "c/checked", "--json").out)["elements"][0]
                value = json.loads(self.p.eqloom("show", rule, "--json").out)["value"]["certificate"]
                self.assertEqual((value["basis"], value["real_values"]), wanted)

    def test_where_both_sides_are_real(self):
        self.p.write("mine.rules", "group g\nln: ln(?a^2) -> 2*ln(?a)\n")
        self.p.write("mine.yaml", "templates: 1\ngroups: {g: {templates: ['ln(y^2) + ln(x^2)']}}\n")
        self.p.write("domains.yaml", DOMAINS.replace("'a>0'", "'a:real'"))
        failed = self.p.eqloom("run", "domains.yaml", expect=None)
        self.assertIn("rule g/ln is false", failed.err)
        self.p.eqloom("run", "domains.yaml", "--set", "real=true")
        cluster = json.loads(self.p.eqloom("show", "domains/clusters", "--json").out)["elements"][0]
        value = json.loads(self.p.eqloom("show", cluster, "--json").out)["value"]
        self.assertTrue(value["seed"]["real_values"])
        self.assertGreater(len(value["members"]), 1)
        self.assertEqual({m["standing"] for m in value["members"]}, {"AGREES"})
        self.p.write("domains.yaml", DOMAINS.replace("'a>0'", "'a:real'").replace(
            "'y:real'], real: \"${real}\"", "'y:real']"))
        failed = self.p.eqloom("run", "domains.yaml", "--set", "real=true", expect=None)
        self.assertIn("only `saturate` with real: true accepts", failed.err)

    def test_the_shipped_job(self):
        jobs = pathlib.Path(__file__).parents[2] / "jobs"
        shutil.copytree(jobs / "identities", self.p.dir / "identities")
        shutil.copytree(jobs / "rules", self.p.dir / "rules", dirs_exist_ok=True)
        self.p.write("identities.yaml", (jobs / "identities.yaml").read_text())
        self.p.eqloom("run", "identities.yaml", "checked", "pairs", "clusters")
        ids = json.loads(self.p.eqloom("show", "identities/checked", "--json").out)["elements"]
        shown = [json.loads(self.p.eqloom("show", i, "--json").out)["value"] for i in ids]
        standings = [m["standing"] for c in shown for m in c["members"]]
        self.assertEqual({s: standings.count(s) for s in standings},
                         {"PROVED": 43, "REFUTED": 17, "NO_VALUE": 2})
        of = {m["prefix"]: m for c in shown for m in c["members"]}
        self.assertEqual(of["- 1 pow cos x 2"]["standing"], "PROVED")
        self.assertEqual(of["+ abs x abs y"]["standing"], "REFUTED")
        ids = json.loads(self.p.eqloom("show", "identities/clusters", "--json").out)["elements"]
        for i in ids:
            cluster = json.loads(self.p.eqloom("show", i, "--json").out)["value"]
            self.assertEqual([(v["low"], v["high"]) for v in cluster["seed"]["variables"]],
                             [("-1", "1")])
            self.assertEqual({m["standing"] for m in cluster["members"]}, {"AGREES"})

    def standings(self, node):
        """Of the members of all clusters, in order."""
        ids = json.loads(self.p.eqloom("show", f"verify/{node}", "--json").out)["elements"]
        shown = [json.loads(self.p.eqloom("show", i, "--json").out)["value"] for i in ids]
        return [{m["prefix"]: m for m in cluster["members"]} for cluster in shown]

    def test_imported_clusters_get_their_standing(self):
        self.p.write("theirs.tsv", PAIRS)
        self.p.write("verify.yaml", VERIFY)
        self.p.eqloom("run", "verify.yaml")
        listed = (self.p.dir / "out/verify/malformed.txt").read_text().splitlines()
        self.assertEqual(listed[0], "2 malformed")
        self.assertTrue(listed[1].startswith("theirs.tsv:3:5: "), listed)
        self.assertTrue(listed[2].startswith("theirs.tsv:4:1: "), listed)
        sines, roots, inverse = self.standings("positive")
        self.assertEqual([m["standing"] for m in sines.values()],
                         ["PROVED", "PROVED", "REFUTED", "NO_VALUE"])
        self.assertIn(" against ", sines["- 1 cos x"]["witness"])
        self.assertEqual([roots["x"]["standing"], inverse["+ x 0"]["standing"]], ["PROVED", "REFUTED"])
        sines, roots, inverse = self.standings("real")
        self.assertEqual([len(sines), len(roots), len(inverse)], [2, 1, 1])
        self.assertEqual([len(c) for c in self.standings("near")], [2, 1, 2])

    def test_a_malformed_line_is_an_error_unless_it_is_skipped(self):
        self.p.write("theirs.tsv", PAIRS)
        self.p.write("verify.yaml", VERIFY.replace(", malformed: skip", ""))
        failed = self.p.eqloom("run", "verify.yaml", expect=None)
        self.assertNotEqual(failed.status, 0)
        self.assertIn("theirs.tsv:3:5", failed.err)
        self.p.write("verify.yaml", VERIFY.replace("'x:real'", "'x:big'"))
        failed = self.p.eqloom("run", "verify.yaml", expect=None)
        self.assertNotEqual(failed.status, 0)
        self.assertIn("a domain is x:real", failed.err)


if __name__ == "__main__":
    unittest.main()
