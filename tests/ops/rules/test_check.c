/* Certification: false rules are refuted with a witness and, where a guard is missing, with the
 * guard; true ones are certified; and what cannot be judged is said to be so. */
#include "base/os.h"
#include "base/rng.h"
#include "ops/rules/check/certify.h"
#include "ops/rules/check/proof.h"
#include "tests/ops/expr/balls.h"
#include "tests/ops/rules/parsed.h"

static const struct rule_check_options options = {.points = 64};

static Eqloom__Certificate check(struct arena *a, const struct rule *r)
{
    Eqloom__Certificate c;
    struct err e = {0};
    if (rule_check(&c, a, r, &options, &e))
        fail_msg("%s: %s", r->name, e.message);
    return c;
}

static Eqloom__Certificate check_in(struct arena *a, const char *language, const char *rule)
{
    const char *text = arena_printf(a, "language %s\noperator f/1\nr: %s\n", language, rule);
    return check(a, &parsed_rules(a, "test.rules", text).rules[0]);
}

static Eqloom__Certificate check_text(struct arena *a, const char *rule)
{
    const char *text = arena_printf(a, "operator i/2\nr: %s\n", rule);
    return check(a, &parsed_rules(a, "test.rules", text).rules[0]);
}

TEST_IN_ARENA(refutes_every_false_rule)
{
    struct err e = {0};
    struct span text;
    assert_int_equal(os_read_file(&text, a, FALSE_RULES, RULES_MAX_FILE, &e), OK);
    struct rules rules = parsed_rules(a, "false.rules", (const char *)text.data);
    assert_true(rules.n >= 120);
    for (size_t i = 0; i < rules.n; i += CASES(1, 5)) {
        Eqloom__Certificate c = check(a, &rules.rules[i]);
        if (c.verdict != EQLOOM__VERDICT__REFUTED)
            fail_msg("false.rules:%d: %s is not refuted", rules.rules[i].line, rules.rules[i].name);
        assert_non_null(strstr(c.witness, " against "));
    }
}

/* Rules that are false by little, at one place, or just within the border of a condition. */
TEST_IN_ARENA(certifies_no_false_rule)
{
    static const char *const bases[] = {"?a", "sin(?a)", "?a^2 + 1", "ln(?a)", "abs(?a)", "e^?a"};
    enum { RULES = CASES(300, 60) };
    struct rng r = rng_new(test_seed(3), 0);
    unsigned refuted = 0;
    for (int i = 0; i < RULES; i++) {
        const char *f = bases[rng_below(&r, sizeof bases / sizeof *bases)];
        int digits = 1 + (int)rng_below(&r, 250);
        char *c = arena_printf(a, "%d/%d", 1 + (int)rng_below(&r, 10000000),
                               1 + (int)rng_below(&r, 100000));
        const char *rule = NULL;
        switch (i % 5) {
        case 0:
            rule = arena_printf(a,
                                "%s -> %s + abs(abs(?a - %s) - 1/10^%d) - abs(?a - %s) + 1/10^%d "
                                "if real(?a)",
                                f, f, c, digits, c, digits);
            break;
        case 1: rule = arena_printf(a, "%s -> %s + 1/10^%d", f, f, digits); break;
        case 2: rule = arena_printf(a, "%s -> (%s)*(1 + 1/10^%d)", f, f, digits); break;
        case 3: rule = arena_printf(a, "%s -> %s + e^(-%d)", f, f, 2 * digits); break;
        default:
            rule = arena_printf(a,
                                "atan(?a) + atan(?b) -> atan((?a + ?b)/(1 - ?a*?b)) if "
                                "positive(?a), positive(?b), less(?a*?b, 1%0*d/1%0*d)",
                                1 + digits % 6, 1, 1 + digits % 6, 0);
        }
        Eqloom__Certificate certificate = check_text(a, rule);
        if (certificate.verdict == EQLOOM__VERDICT__CERTIFIED)
            fail_msg("certified (%s): %s", certificate.proof[0] ? certificate.proof : "sampled",
                     rule);
        refuted += certificate.verdict == EQLOOM__VERDICT__REFUTED;
    }
    print_message("%u of %d refuted\n", refuted, RULES);
    assert_true(refuted > RULES * 9 / 10);
}

/* A proof says how; what is only sampled says nothing. */
TEST_IN_ARENA(true_rules_are_proved_where_they_can_be)
{
    static const struct {
        const char *rule, *proof;
    } cases[] = {
        {"(?a + ?b)^2 -> ?a^2 + 2*?a*?b + ?b^2", "expansion"},
        {"sin(2*?a) -> 2*sin(?a)*cos(?a)", "exponentials"},
        {"sqrt(?a)*sqrt(?b) -> sqrt(?a*?b) if positive(?a)", "exponentials"},
        {"d(?x, sin(?a)) -> cos(?a)*d(?x, ?a)", "exponentials"},
        {"d(?x, ?a*?b) -> ?a*d(?x, ?b) + d(?x, ?a)*?b", "expansion"},
        {"sin(pi*?n) -> 0 if integer(?n)", "exponentials"},
        {"atan(?a) + atan(1/?a) -> pi/2 if positive(?a)", "exponentials"},
        {"2*atan(sqrt(?a)) -> acos((1 - ?a)/(1 + ?a)) if positive(?a)", "derivatives"},
        {"cos(pi/5) -> (1 + sqrt(5))/4", "exact numbers"},
        {"abs(?a*?b) -> abs(?a)*abs(?b)", "exponentials"},
        {"abs(sinh(?a)) -> sinh(abs(?a)) if real(?a)", "exponentials"},
        {"(?a - ?b)^?n -> -(?b - ?a)^?n if odd(?n)", "exponentials"},
        {"asinh(-?a) -> -asinh(?a)", "exponentials"},
        {"abs(sqrt(?a)) -> sqrt(abs(?a))", "exponentials"},
        {"ln(sqrt(?a)) -> ln(?a)/2", "exponentials"},
        {"asinh(?a) -> atanh(?a/sqrt(1 + ?a^2)) if real(?a)", "exponentials"},
        {"d(?x, acosh(?f)) -> d(?x, ?f)/sqrt(?f^2 - 1) if less(1, ?f)", "exponentials"},
        {"d(?x, abs(?f)) -> ?f/abs(?f)*d(?x, ?f) if nonzero(?f), real(?f)", "exponentials"},
        {"cosh(atanh(?a)) -> 1/sqrt(1 - ?a^2) if less(abs(?a), 1)", "exponentials"},
        {"asin(?a) -> atan(?a/sqrt(1 - ?a^2)) if less(abs(?a), 1)", "exponentials"},
        {"atan(tan(?a)) -> ?a if less(abs(?a), pi/2)", "exponentials"},
        {"acos(cos(?a)) -> ?a if nonnegative(?a), less_equal(?a, pi)", "exponentials"},
        {"acosh(cosh(?a)) -> abs(?a) if real(?a)", "exponentials"},
        {"2*acosh(?a) -> acosh(2*?a^2 - 1) if nonnegative(?a)", "derivatives"},
        {"atan(?a) + atan(?b) -> atan((?a + ?b)/(1 - ?a*?b)) if real(?a), real(?b), "
         "less(?a*?b, 1)",
         "derivatives"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Eqloom__Certificate c = check_text(a, cases[i].rule);
        if (c.verdict != EQLOOM__VERDICT__CERTIFIED || strcmp(c.proof, cases[i].proof) != 0)
            fail_msg("%s: %d, %s", cases[i].rule, (int)c.verdict, c.proof);
    }
}

/* By themselves, without values that would refute: what holds on a segment does not hold in the
 * disc around it. */
TEST_IN_ARENA(proves_no_false_rule)
{
    static const char *const rules[] = {
        "sqrt(?a^4) -> ?a^2 if less(abs(?a), 1)",
        "sqrt((1 - ?a^2)^4) -> (1 - ?a^2)^2 if less(abs(?a), 1)",
        "sqrt((1 - ?a^2)^3) -> (1 - ?a^2)*sqrt(1 - ?a^2) if less(abs(?a), 1)",
        "abs(1 - ?a) -> 1 - ?a if less(abs(?a), 1)",
        "abs(sqrt(1 - ?a^2)) -> sqrt(1 - ?a^2) if less(abs(?a), 1)",
        "ln((1 + ?a^2)^4) -> 4*ln(1 + ?a^2) if less(abs(?a), 1)",
        "sqrt(cos(?a)^4) -> cos(?a)^2 if less(abs(?a), pi/2)",
        "acos(cos(?a)) -> ?a if less(abs(?a), pi/2)",
        "atan(?a) + atan(?b) -> atan((?a + ?b)/(1 - ?a*?b)) if real(?a), less(?a*?b, 1)",
        ("acot(?a) + acot(?b) -> acot((?a*?b - 1)/(?a + ?b)) if real(?a), real(?b), less(1, "
         "?a*?b), "
         "real(?a*?b)"),
        "2*asin(?a) -> asin(2*?a*sqrt(1 - ?a^2)) if less(abs(?a), 1)",
        /* a variable named as a coefficient might be */
        "d(?x, d(?x, ?a)) + ?a_2 -> 3*?a_2 if free_of(?a_2, ?x)",
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const char *way, *text = arena_printf(a, "r: %s\n", rules[i]);
        struct rules parsed = parsed_rules(a, "test.rules", text);
        if (rule_prove(&way, a, &parsed.rules[0]))
            fail_msg("%s is proved by %s", rules[i], way);
    }
}

TEST_IN_ARENA(suggests_the_missing_guard)
{
    static const struct {
        const char *rule, *guard;
    } cases[] = {
        {"ln(?a*?b) -> ln(?a) + ln(?b)", "nonnegative(?a)"},
        {"atan(?a) + atan(?b) -> atan((?a + ?b)/(1 - ?a*?b))",
         "real(?a), real(?b), less(?a*?b, 1)"},
        {"sqrt(?a^2) -> ?a", "nonnegative(?a)"},
        {"sqrt(?a^2) -> abs(?a)", "real(?a)"},
        {"ln(e^?a) -> ?a", "real(?a)"},
        {"(?a*?b)^?c -> ?a^?c*?b^?c", "nonnegative(?a)"},
        {"(?a^?b)^?c -> ?a^(?b*?c)", "integer(?c)"},
        {"((-1)*?a)^?n -> ?a^?n if integer(?n)", "even(?n)"},
        {"ln(?a^?b) -> ?b*ln(?a)", "positive(?a), real(?b)"},
        {"atan(?a) - atan(?b) -> atan((?a - ?b)/(1 + ?a*?b))",
         "real(?a), real(?b), less(-1, ?a*?b)"},
        {"acot(?a) + acot(?b) -> acot((?a*?b - 1)/(?a + ?b))",
         "real(?a), real(?b), less(1, ?a*?b)"},
        {"asin(sin(?a)) -> ?a", "less_equal(abs(?a), pi/2)"},
        {"acos(cos(?a)) -> ?a if real(?a)", "nonnegative(?a), less_equal(?a, pi)"},
        {"sin(?a/2) -> sqrt((1 - cos(?a))/2)", "nonnegative(?a), less_equal(?a, 2*pi)"},
        {"atanh(?a) + atanh(?b) -> atanh((?a + ?b)/(1 + ?a*?b)) if real(?a), real(?b)",
         "less(abs(?a), 1), less(abs(?b), 1)"},
        /* A positive factor is enough. */
        {"ln(cos(?a)*cos(?b)) -> ln(cos(?a)) + ln(cos(?b))", "real(?a), less(abs(?a), 1)"},
        {"asinh(?a) + asinh(?b) -> asinh(?a*sqrt(1 + ?b^2) + ?b*sqrt(1 + ?a^2))",
         "real(?a), real(?b)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Eqloom__Certificate c = check_text(a, cases[i].rule);
        assert_int_equal(c.verdict, EQLOOM__VERDICT__REFUTED);
        assert_non_null(strstr(c.witness, " against "));
        if (strcmp(c.guard, cases[i].guard) != 0)
            fail_msg("%s: holds if %s", cases[i].rule, c.guard);
    }
}

TEST_IN_ARENA(gives_the_right_verdict)
{
    static const struct {
        const char *rule;
        Eqloom__Verdict verdict;
    } cases[] = {
        {"ln(?a*?b) -> ln(?a) + ln(?b) if positive(?a)", EQLOOM__VERDICT__CERTIFIED},
        {"?a/?a -> 1 if nonzero(?a)", EQLOOM__VERDICT__CERTIFIED},
        {"cos(pi) -> -1", EQLOOM__VERDICT__CERTIFIED},
        {"?x^?n -> ?x*?x^(?n - 1) if symbol(?x), integer(?n)", EQLOOM__VERDICT__CERTIFIED},
        {"d(?x, sin(?f)) -> cos(?f)*d(?x, ?f)", EQLOOM__VERDICT__CERTIFIED},
        {"d(?x, ?c) -> 0 if constant_or_other_symbol(?c, ?x)", EQLOOM__VERDICT__CERTIFIED},
        {"abs(?a - 50) -> 50 - ?a if real(?a), less(?a, 50)", EQLOOM__VERDICT__CERTIFIED},
        {"abs(?a - 50) -> 50 - ?a if real(?a), less(?a, 51)", EQLOOM__VERDICT__REFUTED},
        {"ln(?a*0) -> 1", EQLOOM__VERDICT__UNDECIDED},
        {"?a -> 2*?a if positive(?a), negative(?a)", EQLOOM__VERDICT__VACUOUS},
        {"?a -> 2*?a if less(abs(?a), 0)", EQLOOM__VERDICT__VACUOUS},
        {"?a -> 2*?a if less(?a, 1/3), less_equal(1/3, ?a)", EQLOOM__VERDICT__VACUOUS},
        {"?a -> ?a + 1 if less_equal(?a, 1/3), less_equal(1/3, ?a)", EQLOOM__VERDICT__REFUTED},
        {"?a -> ?a + 1 if less(49/100000, ?a), less(?a, 5/10000)", EQLOOM__VERDICT__REFUTED},
        {"abs(?a - 1234567/1000) -> 1234567/1000 - ?a if less(1234, ?a)", EQLOOM__VERDICT__REFUTED},
        {"?a^?n -> 2*?a if even(?n), odd(?n)", EQLOOM__VERDICT__VACUOUS},
        {"?a -> 2*?a if nonnegative(?a), nonpositive(?a), nonzero(?a)", EQLOOM__VERDICT__VACUOUS},
        {"?a -> ?a + 1 if positive(?a), less(?a^3, -1)", EQLOOM__VERDICT__UNDECIDED},
        {"i(1, ?x) -> ?x", EQLOOM__VERDICT__UNCHECKED},
        {"?a/?a -> 1 if maybe_nonzero(?a)", EQLOOM__VERDICT__UNDECIDED},
        {"?a/?a -> 2 if maybe_nonzero(?a)", EQLOOM__VERDICT__REFUTED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Eqloom__Certificate c = check_text(a, cases[i].rule);
        if (c.verdict != cases[i].verdict)
            fail_msg("%s: verdict %d: %s%s", cases[i].rule, c.verdict, c.witness, c.remark);
    }
}

/* Only what is proved counts as proved; claims and samples say so. */
TEST_IN_ARENA(says_what_it_rests_on)
{
    static const struct {
        const char *rule;
        Eqloom__Basis basis;
        const char *text;
    } cases[] = {
        {"?a + ?b -> ?b + ?a", EQLOOM__BASIS__PROOF, NULL},
        {"?a -> 2*?a if positive(?a), negative(?a)", EQLOOM__BASIS__PROOF, NULL},
        {"i(1, ?x) -> ?x", EQLOOM__BASIS__CLAIM, " is a claim"},
        {"abs(e^?a - ?a) -> e^?a - ?a if real(?a)", EQLOOM__BASIS__SAMPLE, " is not proved: "},
        {"?a/?a -> 1 if maybe_nonzero(?a)", EQLOOM__BASIS__SAMPLE, " is undecided: "},
        {"ln(?a*0) -> 1", EQLOOM__BASIS__SAMPLE, " is undecided: no instance was found at which"},
        {"?a -> ?a + 1", EQLOOM__BASIS__FALSEHOOD, " is false: ?a = "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Eqloom__Certificate c = check_text(a, cases[i].rule);
        struct rule named = {.group = "g", .name = "r"};
        if (c.basis != cases[i].basis)
            fail_msg("%s: basis %d", cases[i].rule, c.basis);
        if (cases[i].text && !strstr(rule_basis_text(a, &named, &c), cases[i].text))
            fail_msg("%s: %s", cases[i].rule, rule_basis_text(a, &named, &c));
    }
}

/* A rule that makes an undefined term out of a defined one is true, but remarked. */
TEST_IN_ARENA(remarks_lost_values)
{
    Eqloom__Certificate c = check_text(a, "cos(?a) -> cot(?a)*sin(?a)");
    assert_int_equal(c.verdict, EQLOOM__VERDICT__CERTIFIED);
    assert_string_equal(c.remark, "only the left side has a value at ?a = 0");
    c = check_text(a, "cos(?a) -> cot(?a)*sin(?a) if nonzero(sin(?a))");
    assert_int_equal(c.verdict, EQLOOM__VERDICT__CERTIFIED);
    assert_string_equal(c.remark, "");
}

TEST_IN_ARENA(witness_is_exact)
{
    Eqloom__Certificate c = check_text(a, "abs(?a) -> (-1)*?a if positive(?a)");
    assert_string_equal(c.witness, "?a = 1: 1.0000000 against -1.0000000");
    c = check_text(a, "sqrt(?a) -> sqrt((-1)*?a) if negative(?a)");
    assert_string_equal(c.witness, "?a = -1: 1.0000000*i against 1.0000000");
}

TEST_IN_ARENA(exact_languages_are_proved)
{
    static const struct {
        const char *language, *rule;
        Eqloom__Verdict verdict;
        const char *witness;
    } cases[] = {
        {"boolean", "?a => ?b -> not(?b) => not(?a)", EQLOOM__VERDICT__CERTIFIED, ""},
        {"boolean", "?a => ?b -> ?b => ?a", EQLOOM__VERDICT__REFUTED,
         "?a = true, ?b = false: false against true"},
        {"boolean", "(?a => ?b) => ?c -> ?a => (?b => ?c)", EQLOOM__VERDICT__REFUTED, NULL},
        {"boolean", "?a ^ ?b -> ?a | ?b", EQLOOM__VERDICT__REFUTED, NULL},
        {"boolean", "true -> false", EQLOOM__VERDICT__REFUTED, "true against false"},
        {"boolean", "f(?a) -> ?a", EQLOOM__VERDICT__UNCHECKED, ""},
        {"polynomial", "(?a + ?b)*(?a - ?b) -> ?a*?a - ?b*?b", EQLOOM__VERDICT__CERTIFIED, ""},
        {"polynomial", "(?a + e)*?a -> ?a*?a + e*?a", EQLOOM__VERDICT__CERTIFIED, ""},
        {"polynomial", "(?a + ?b)*(?a + ?b) -> ?a*?a + ?b*?b", EQLOOM__VERDICT__REFUTED, NULL},
        {"polynomial", "?a*?a*?a -> ?a", EQLOOM__VERDICT__REFUTED, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Eqloom__Certificate c = check_in(a, cases[i].language, cases[i].rule);
        if (c.verdict != cases[i].verdict)
            fail_msg("%s: verdict %d: %s", cases[i].rule, c.verdict, c.witness);
        if (cases[i].witness)
            assert_string_equal(c.witness, cases[i].witness);
        else
            assert_non_null(strstr(c.witness, " against "));
    }
}

TESTS_AROUND(NULL, balls_clean)
