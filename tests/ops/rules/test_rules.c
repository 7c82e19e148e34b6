/* The rule language: what is read, what is refused and where, and the records. */
#include "schemas/canonical.h"
#include "tests/ops/rules/parsed.h"

static struct rules parse(struct arena *a, const char *text)
{
    return parsed_rules(a, "test.rules", text);
}

static void assert_prefix(struct arena *a, const struct expr *x, const char *text)
{
    assert_string_equal(expr_prefix(a, x), text);
}

TEST_IN_ARENA(reads_rules)
{
    struct rules r = parse(a, "# about\n"
                              "group trig.pythagorean   # the first\n"
                              "sin2-cos2: sin(?a)^2 + cos(?a)^2 -> 1\n"
                              "\n"
                              "group logs\n"
                              "ln-mul: ln(?a*?b) <-> ln(?a)\n"
                              "    + ln(?b)   # continued\n"
                              "    if positive(?a), positive(?b)\n");
    assert_int_equal(r.n, 3);
    assert_string_equal(r.rules[0].group, "trig.pythagorean");
    assert_string_equal(r.rules[0].name, "sin2-cos2");
    assert_int_equal(r.rules[0].line, 3);
    assert_int_equal(r.rules[0].column, 1);
    assert_prefix(a, &r.rules[0].lhs, "+ pow sin ?a 2 pow cos ?a 2");
    assert_prefix(a, &r.rules[0].rhs, "1");
    assert_int_equal(r.rules[0].n_conditions, 0);
    assert_string_equal(r.rules[1].name, "ln-mul");
    assert_string_equal(r.rules[2].name, "ln-mul~");
    assert_prefix(a, &r.rules[2].lhs, "+ ln ?a ln ?b");
    assert_prefix(a, &r.rules[2].rhs, "ln * ?a ?b");
    assert_int_equal(r.rules[2].n_conditions, 2);
    assert_int_equal(r.rules[1].line, 6);
}

TEST_IN_ARENA(reads_conditions)
{
    static const struct {
        const char *text, *conditions;
    } cases[] = {
        {"positive(?a)", "positive(?a)"},
        {"?a > 0", "positive(?a)"},
        {"?a >= 0", "nonnegative(?a)"},
        {"?a < 0", "negative(?a)"},
        {"?a <= 0", "nonpositive(?a)"},
        {"?a != 0", "nonzero(?a)"},
        {"?a < ?b", "less(?a, ?b)"},
        {"?a > ?b", "less(?b, ?a)"},
        {"abs(?a) <= 1", "less_equal(abs(?a), 1)"},
        {"nonzero(?a + 1)", "nonzero(?a + 1)"},
        {"free_of(?a, x)", "free_of(?a, x)"},
        {"constant_or_other_symbol(?a, ?b)", "constant_or_other_symbol(?a, ?b)"},
        {"even(?a),odd( ?b )", "even(?a) odd(?b)"},
        {"real(?b), real(?a), real(?b)", "real(?a) real(?b)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rules r = parse(a, arena_printf(a, "x: ?a + ?b -> ?b if %s", cases[i].text));
        const char *got = "";
        for (size_t k = 0; k < r.rules[0].n_conditions; k++)
            got = arena_printf(a, "%s%s%s", got, k ? " " : "",
                               rule_condition_text(a, &r.rules[0].conditions[k]));
        assert_string_equal(got, cases[i].conditions);
    }
}

/* Rules in LaTeX are the same rules. */
TEST_IN_ARENA(reads_latex)
{
    static const char infix[] =
        "a: sqrt(?a^2)/2 + sin(?b) <-> ?a*(1/2) + sin(?b) if ?a/2 > 0, real(?b)\n";
    static const char latex[] = "a: \\frac{\\sqrt{?a^2}}{2} + \\sin ?b <-> ?a \\cdot \\frac{1}{2}\n"
                                "  + \\sin{?b} if \\frac{?a}{2} > 0, real(?b)\n";
    struct rules one = parse(a, infix), two = parse(a, latex);
    assert_int_equal(two.n, 2);
    for (size_t i = 0; i < one.n; i++) {
        assert_true(expr_equal(&one.rules[i].lhs, &two.rules[i].lhs));
        assert_true(expr_equal(&one.rules[i].rhs, &two.rules[i].rhs));
        assert_int_equal(two.rules[i].n_conditions, 2);
        for (size_t k = 0; k < 2; k++)
            assert_string_equal(rule_condition_text(a, &one.rules[i].conditions[k]),
                                rule_condition_text(a, &two.rules[i].conditions[k]));
    }
}

TEST_IN_ARENA(declares_operators)
{
    /* used before it is declared, and declared twice */
    struct rules r = parse(a, "one: i(1, ?x) -> ?x\noperator i/2\noperator i/2 # again\n");
    assert_prefix(a, &r.rules[0].lhs, "i/2 1 ?x");
    Eqloom__Rule m;
    rule_to_message(&m, a, &r, &r.rules[0]);
    assert_string_equal(m.language, "operator i/2\n");
    const struct language *lang = &lang_calculus;
    struct rule back;
    struct err e = {0};
    assert_int_equal(rule_from_message(&back, &lang, a, &m, &e), OK);
    assert_prefix(a, &back.lhs, "i/2 1 ?x");
    assert_int_equal(lang->n_ops, lang_calculus.n_ops + 1);
}

static struct span pack_all(struct arena *a, struct rules *r)
{
    struct buf b = {0};
    rules_sort(r);
    for (size_t i = 0; i < r->n; i++) {
        Eqloom__Rule m;
        struct span bytes;
        rule_to_message(&m, a, r, &r->rules[i]);
        assert_int_equal(canonical_pack(&bytes, a, &m.base, NULL), OK);
        buf_add(&b, bytes.data, bytes.len);
    }
    struct span all = span_of(arena_memdup(a, b.data, b.len), b.len);
    buf_free(&b);
    return all;
}

/* Spacing, comments, order of files, rules and conditions leave no mark on the records. */
TEST_IN_ARENA(cosmetic_changes_leave_no_mark)
{
    struct rules r = parse(a, "group g\n"
                              "b: ?x*?y -> ?y*?x if positive(?x), real(?y)\n"
                              "a: ?x/2 + 1 <-> 1 + ?x/2\n"
                              "group f\nc: ?a - ?a -> 0\n");
    struct rules s = parse(a, "# another order\ngroup f\n\n c:?a-?a->0\r\n"
                              "group g\n"
                              "a: ( ?x / 2 ) + 1\n   <-> 1 + ?x/2 # as before\n"
                              "b: ?x * ?y -> ?y*?x   if ?y*1 != 0\n");
    struct rules t = parse(a, "# another order\ngroup f\n\n c:?a-?a->0\r\n"
                              "group g\n"
                              "a: ( ?x / 2 ) + 1\n   <-> 1 + ?x/2 # as before\n"
                              "b: ?x * ?y -> ?y*?x   if real( ?y ),  ?x > 0\n");
    struct span x = pack_all(a, &r), y = pack_all(a, &s), z = pack_all(a, &t);
    assert_true(span_equal(x, z));
    assert_false(span_equal(x, y)); /* another condition does */
}

TEST_IN_ARENA(records_round_trip)
{
    struct rules r = parse(a, "group g\n"
                              "p: (?a^?b)^?c -> ?a^(?b*?c) if integer(?c), less(abs(?a), 3/2)\n");
    Eqloom__Rule m;
    struct rule back;
    struct err e = {0};
    const struct language *lang = &lang_calculus;
    rule_to_message(&m, a, &r, &r.rules[0]);
    assert_int_equal(rule_from_message(&back, &lang, a, &m, &e), OK);
    assert_true(expr_equal(&back.lhs, &r.rules[0].lhs));
    assert_true(expr_equal(&back.rhs, &r.rules[0].rhs));
    assert_int_equal(back.n_conditions, 2);
    for (size_t i = 0; i < 2; i++)
        assert_string_equal(rule_condition_text(a, &back.conditions[i]),
                            rule_condition_text(a, &r.rules[0].conditions[i]));
}

TEST_IN_ARENA(languages_keep_apart)
{
    struct rules r = parse(a, "b: not(?a & ?b) <-> not(?a) | f(?b)\n"
                              "language boolean\noperator f/1\n");
    assert_int_equal(r.n, 2);
    assert_true(lang_is(r.lang, &lang_boolean));
    assert_prefix(a, &r.rules[0].rhs, "or not ?a f/1 ?b");
    struct err e = {0};
    static const char calculus[] = "c: ?a + ?b -> ?b + ?a";
    struct source_text source = {"other.rules", calculus, strlen(calculus)};
    assert_int_equal(rules_parse(&r, a, &source, &e), ERR_INPUT);
    assert_string_equal(e.message, "other.rules: its rules are of the calculus language, those of "
                                   "the other files of the boolean language");
    assert_int_equal(r.n, 2);
    Eqloom__Rule m;
    struct rule back;
    const struct language *none = NULL, *other = &lang_calculus;
    rule_to_message(&m, a, &r, &r.rules[0]);
    assert_string_equal(m.language, "language boolean\noperator f/1\n");
    assert_int_equal(rule_from_message(&back, &none, a, &m, &e), OK);
    assert_true(expr_equal(&back.lhs, &r.rules[0].lhs));
    assert_true(lang_is(none, &lang_boolean));
    assert_int_equal(rule_from_message(&back, &other, a, &m, &e), ERR_INPUT);
    m.language = "klingon";
    none = NULL;
    assert_int_equal(rule_from_message(&back, &none, a, &m, &e), ERR_INPUT);
}

TEST_IN_ARENA(refuses_foreign_records)
{
    static const struct {
        char *lhs, *rhs, *predicate, *argument;
    } cases[] = {
        {"?a", "?b", "real", "?a"},   {"?a", "?a", "real", "?b"},   {"?a", "?a", "shiny", "?a"},
        {"?a", "?a", "less", "?a"},   {"+ ?a", "?a", "real", "?a"}, {"", "?a", "real", "?a"},
        {"?a", "f ?a", "real", "?a"}, {"?a", "?a", "real", "(?a)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err e = {0};
        Eqloom__Condition c = EQLOOM__CONDITION__INIT, *conditions = &c;
        Eqloom__Rule m = EQLOOM__RULE__INIT;
        char *argument = cases[i].argument;
        m.lhs = cases[i].lhs;
        m.rhs = cases[i].rhs;
        m.conditions = &conditions;
        m.n_conditions = 1;
        c.predicate = cases[i].predicate;
        c.arguments = &argument;
        c.n_arguments = 1;
        const struct language *lang = &lang_calculus;
        struct rule out;
        if (rule_from_message(&out, &lang, a, &m, &e) != ERR_INPUT)
            fail_msg("accepted: %s -> %s if %s %s", m.lhs, m.rhs, c.predicate, argument);
        assert_true(e.message[0] != '\0');
    }
}

TEST_IN_ARENA(refuses_with_position)
{
    static const struct {
        const char *text;
        int line, column;
        const char *message, *hint;
    } cases[] = {
        {"a: ?a -> ?b", 1, 10, "?b does not occur on the left side", ""},
        {"a: ?a + ?b <-> ?a", 1, 9, "?b does not occur on the right side", ""},
        {"a: ?a -> ?a if positive(?b)", 1, 25, "?b does not occur on the left side", ""},
        {"a: ?a -> ?a\n\na: ?a -> 1*?a", 3, 1, "already has a rule 'a' (test.rules:1)", ""},
        {"a: ?a -> ?a if postive(?a)", 1, 16, "unknown condition 'postive'", "positive"},
        {"a: ?a -> ?a if less(?a)", 1, 23, "'less' takes 2 arguments", ""},
        {"a: ?a -> ?a if real(?a, 1)", 1, 24, "'real' takes 1 argument", ""},
        {"a: \\frac{?a}{2} -> f(\\sqrt{?a})", 1, 20, "may be a product or a function", "\\cdot"},
        {"a: ?a -> \\log{?a}", 1, 10, "ambiguous: \\log", "explicit"},
        {"a: ?a -> ?a if", 1, 15, "expected a condition", ""},
        {"a: ?a -> ?a if real(?a),", 1, 25, "expected a condition", ""},
        {"a: ?a -> ?a if ?a != 1", 1, 19, "'!=' must be followed by 0", ""},
        {"a: ?a = ?a", 1, 11, "expected '->' or '<->'", ""},
        {"grop trig", 1, 1, "expected 'NAME: TERM -> TERM'", "group"},
        {"group", 1, 6, "expected the name of a group", ""},
        {"group a on", 1, 9, "expected 'off' or the end of the line", ""},
        {"operator f", 1, 10, "expected 'operator NAME/ARITY'", ""},
        {"operator sin/1", 1, 10, "exists already", ""},
        {"operator f/1\noperator f/2", 2, 10, "exists already", ""},
        {"language bolean", 1, 10, "unknown language 'bolean'", "boolean"},
        {"language", 1, 9, "expected the name of a language", ""},
        {"language boolean\nlanguage boolean", 2, 10, "a file can name only one language", ""},
        {"language boolean\na: ?a & 1 -> ?a", 2, 9, "has no numbers", "true"},
        {"language boolean\na: ?a -> ?a | ?a if real(?a)", 2, 18, "have no conditions", ""},
        {"a: ?a & ?b -> ?a\nlanguage polynomial", 1, 7, "unexpected '&'", ""},
        {"language boolean\noperator and/2", 2, 10, "exists already", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rules rules = {.lang = &lang_calculus};
        struct source_text source = {"test.rules", cases[i].text, strlen(cases[i].text)};
        struct err e = {0};
        if (rules_parse(&rules, a, &source, &e) != ERR_INPUT)
            fail_msg("accepted: %s", cases[i].text);
        if (e.line != cases[i].line || e.column != cases[i].column ||
            !strstr(e.message, cases[i].message) || !strstr(e.hint, cases[i].hint))
            fail_msg("%s: got %d:%d: %s (%s)", cases[i].text, e.line, e.column, e.message, e.hint);
        assert_int_equal(rules.n, 0);
    }
}

/* Errors of terms come from the expression parser, at their place in the rule file. */
TEST_IN_ARENA(refuses_bad_terms)
{
    static const char *const cases[] = {
        "a: sin(?a -> ?a",
        "a: ?a) -> ?a",
        "a: snh(?a) -> ?a",
        "a: sin(?a, ?b) -> ?a",
        "a: -> ?a",
        "a: ?a ->",
        "a: 2 3 -> ?a",
        "a: ?a -> ?a if real(?a",
        "a: ?a -> ?a if real(sin)",
        "a: ?a -> ?a -> ?a",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rules rules = {.lang = &lang_calculus};
        const char *text = arena_printf(a, "# first\n%s\n", cases[i]);
        struct source_text source = {"test.rules", text, strlen(text)};
        struct err e = {0};
        if (rules_parse(&rules, a, &source, &e) != ERR_INPUT)
            fail_msg("accepted: %s", cases[i]);
        if (e.line != 2 && e.line != 3)
            fail_msg("%s: line %d: %s", cases[i], e.line, e.message);
    }
}

TEST_IN_ARENA(selects_groups)
{
    static const char *const text = "group a.b\nx: ?a+0 -> ?a\ngroup a.c off\nx: ?a -> ?a+0\n"
                                    "group ab\nx: ?a*1 -> ?a\n";
    static const struct {
        const char *include, *exclude, *kept; /* NULL: nothing is named */
    } cases[] = {
        {NULL, NULL, "a.b ab "}, {"a", NULL, "a.b a.c "}, {"a.c", NULL, "a.c "},
        {NULL, "a", "ab "},      {"a", "a.b", "a.c "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rules r = parse(a, text);
        struct err e = {0};
        assert_int_equal(rules_select(&r, &cases[i].include, cases[i].include != NULL,
                                      &cases[i].exclude, cases[i].exclude != NULL, &e),
                         OK);
        const char *kept = "";
        for (size_t k = 0; k < r.n; k++)
            kept = arena_printf(a, "%s%s ", kept, r.rules[k].group);
        assert_string_equal(kept, cases[i].kept);
    }
    struct rules r = parse(a, text);
    struct err e = {0};
    const char *wrong = "a.bb";
    assert_int_equal(rules_select(&r, &wrong, 1, NULL, 0, &e), ERR_INPUT);
    assert_non_null(strstr(e.hint, "a.b"));
}
