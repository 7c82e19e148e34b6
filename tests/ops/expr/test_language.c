/* The Boolean and polynomial languages: read, written, and compared exactly; truth tables beside
 * evaluation row by row, expanded polynomials beside values at points. */
#include "base/rng.h"
#include "ops/expr/equality/exact.h"
#include "tests/ops/terms.h"

TEST_IN_ARENA(terms_are_written_as_they_are_read)
{
    static const struct {
        const struct language *lang;
        const char *infix, *prefix;
    } cases[] = {
        {&lang_boolean, "a & b | c ^ not(d) => e", "implies or and a b xor c not d e"},
        {&lang_boolean, "(a => b) => c", "implies implies a b c"},
        {&lang_boolean, "a => b => c", "implies a implies b c"},
        {&lang_boolean, "a & (b & c)", "and a and b c"},
        {&lang_boolean, "not(a | b) & true ^ false", "xor and not or a b true false"},
        {&lang_boolean, "exp & d", "and exp d"},
        {&lang_polynomial, "(a + b)*c - 2*e", "- * + a b c * 2 e"},
        {&lang_polynomial, "-a - (b - -3)", "- * -1 a - b -3"},
        {&lang_polynomial, "d*x + \"exp\"", "+ * d x exp"},
        {&lang_polynomial, "\"sin\"*x + \"ln\"", "+ * sin x ln"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct expr x = infix_term(a, cases[i].lang, cases[i].infix), y;
        struct err e = {0};
        assert_string_equal(expr_prefix(a, &x), cases[i].prefix);
        assert_int_equal(expr_from_prefix(&y, a, cases[i].lang, cases[i].prefix, &e), OK);
        assert_true(expr_equal(&x, &y));
        x = infix_term(a, cases[i].lang, expr_infix(a, &y));
        assert_true(expr_equal(&x, &y));
    }
    struct expr x = infix_term(a, &lang_boolean, "a & (b | true) => not(c)");
    assert_string_equal(expr_latex(a, &x),
                        "\\left(a \\land \\left(b \\lor \\top\\right)\\right) \\Rightarrow "
                        "\\neg\\left(c\\right)");
}

TEST_IN_ARENA(what_a_language_lacks_is_refused)
{
    static const struct {
        const struct language *lang;
        const char *text, *message;
    } cases[] = {
        {&lang_boolean, "a & 1", "the boolean language has no numbers"},
        {&lang_boolean, "-a", "unexpected '-'"},
        {&lang_boolean, "a + b", "unexpected '+'"},
        {&lang_boolean, "sin(a)", "unknown function 'sin'"},
        {&lang_boolean, "not a", "'not' is a function and needs ("},
        {&lang_polynomial, "a/b", "unexpected '/'"},
        {&lang_polynomial, "a**2", "unexpected '*'"},
        {&lang_polynomial, "a^2", "unexpected '^'"},
        {&lang_polynomial, "0.5*a", "the numbers of the polynomial language are integers"},
        {&lang_polynomial, "exp(a)", "unknown function 'exp'"},
        {&lang_polynomial, "a + sin x", "unknown function 'sin'"},
        {&lang_polynomial, "2 ln 2", "unknown function 'ln'"},
        {&lang_calculus, "a & b", "unexpected '&'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct expr x;
        struct source_text source = {"<test>", cases[i].text, strlen(cases[i].text)};
        struct err e = {0};
        assert_int_equal(expr_parse_infix(&x, a, cases[i].lang, &source, 0, source.len, true, &e),
                         ERR_INPUT);
        if (strcmp(e.message, cases[i].message) != 0)
            fail_msg("%s: %s", cases[i].text, e.message);
    }
}

/* ---- beside slow references ---- */

enum { N_VARIABLES = 8, N_TERMS = 400 };

static uint32_t random_term(struct expr_node *out, const struct language *lang, uint64_t *seed,
                            int depth)
{
    static const char *const names[N_VARIABLES] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    bool boolean = lang == &lang_boolean;
    uint64_t u = *seed = rng_mix(*seed);
    if (depth == 0 || u % 8 == 0) {
        *out = (struct expr_node){X_SYM, 0, 1, names[u / 8 % N_VARIABLES]};
        if (u / 64 % 8 == 0 && boolean)
            *out = (struct expr_node){u / 512 % 2 ? X_TRUE : X_FALSE, 0, 1, NULL};
        else if (u / 64 % 8 == 0)
            *out = (struct expr_node){X_NUM, 0, 1, u / 512 % 2 ? "-1" : "2"};
        return 1;
    }
    uint16_t op = (uint16_t)(boolean ? X_NOT + u / 8 % 5 : X_ADD + u / 8 % 3);
    uint32_t n = 1;
    for (int i = 0; i < lang->ops[op].arity; i++)
        n += random_term(out + n, lang, seed, depth - 1);
    *out = (struct expr_node){op, lang->ops[op].arity, n, NULL};
    return n;
}

static int64_t value_at(const struct expr_node *x, const int64_t *values)
{
    if (x->op == X_SYM)
        return values[x->leaf[0] - 'a'];
    if (x->op == X_NUM)
        return atoi(x->leaf);
    int64_t l = x->arity > 0 ? value_at(x + 1, values) : 0;
    int64_t r = x->arity > 1 ? value_at(x + 1 + x[1].size, values) : 0;
    switch (x->op) {
    case X_ADD: return (int64_t)((uint64_t)l + (uint64_t)r);
    case X_SUB: return (int64_t)((uint64_t)l - (uint64_t)r);
    case X_MUL: return (int64_t)((uint64_t)l * (uint64_t)r);
    case X_TRUE: return 1;
    case X_NOT: return !l;
    case X_AND: return l && r;
    case X_XOR: return l != r;
    case X_OR: return l || r;
    case X_IMPLIES: return !l || r;
    default: return 0;
    }
}

/* Modulo 2^64, which is exact enough to tell polynomials apart. */
static bool agree(const struct expr *x, const struct expr *y)
{
    bool boolean = x->lang == &lang_boolean;
    for (uint64_t k = 0; k < (boolean ? 1u << N_VARIABLES : 64); k++) {
        int64_t values[N_VARIABLES];
        for (int i = 0; i < N_VARIABLES; i++)
            values[i] = boolean ? (int64_t)(k >> i & 1) : (int64_t)rng_at(3, i, k);
        if (value_at(x->nodes, values) != value_at(y->nodes, values))
            return false;
    }
    return true;
}

TEST_IN_ARENA(comparison_agrees_with_evaluation)
{
    uint64_t seed = test_seed(1);
    static const struct language *const both[] = {&lang_boolean, &lang_polynomial};
    size_t equal[2] = {0};
    for (int l = 0; l < 2; l++)
        for (int k = 0; k < N_TERMS; k++) {
            struct err e = {0};
            struct expr_node left[300], right[300];
            int depth = k % 2 ? 2 : 4;
            struct expr x = {both[l], left, random_term(left, both[l], &seed, depth)};
            struct expr y = {both[l], right, random_term(right, both[l], &seed, depth)};
            if (k % 4 == 0) { /* x & x, x + x - x: equal, but not the same */
                struct expr xx[2] = {x, x};
                y = expr_apply(a, both[l], l ? X_ADD : X_AND, xx, 2);
                struct expr yx[2] = {y, x};
                if (l)
                    y = expr_apply(a, both[l], X_SUB, yx, 2);
            }
            struct exact_result r;
            assert_int_equal(exact_compare(&r, a, &x, &y, &e), OK);
            equal[l] += r.equal;
            if (r.equal != agree(&x, &y))
                fail_msg("%s and %s", expr_infix(a, &x), expr_infix(a, &y));
            assert_true(r.equal == !r.witness);
            assert_true(r.equal == (exact_fingerprint(&x) == exact_fingerprint(&y)));
        }
    assert_true(equal[0] > N_TERMS / 4 && equal[0] < N_TERMS / 2);
    assert_true(equal[1] >= N_TERMS / 4 && equal[1] < N_TERMS / 2);
}

TEST_IN_ARENA(witnesses_and_limits)
{
    struct err e = {0};
    struct exact_result r;
    struct expr x = infix_term(a, &lang_boolean, "?a => b"),
                y = infix_term(a, &lang_boolean, "b => ?a");
    assert_int_equal(exact_compare(&r, a, &x, &y, &e), OK);
    assert_string_equal(r.witness, "?a = true, b = false: false against true");
    assert_int_equal(r.points, 4);
    struct buf many = {0}, power = {0};
    for (int i = 0; i < 17; i++)
        buf_printf(&many, "%sv%d", i ? " & " : "", i);
    x = infix_term(a, &lang_boolean, many.data);
    assert_int_equal(exact_compare(&r, a, &x, &x, &e), ERR_LIMIT);
    for (int i = 0; i < 30; i++)
        buf_printf(&power, "%s(a%d + b%d + c + d + e + f)", i ? "*" : "", i % 4, i % 5);
    x = infix_term(a, &lang_polynomial, power.data);
    assert_int_equal(exact_compare(&r, a, &x, &x, &e), ERR_LIMIT);
    x = infix_term(a, &lang_polynomial, "a*a");
    y = infix_term(a, &lang_polynomial, "a");
    assert_int_equal(exact_compare(&r, a, &x, &y, &e), OK);
    assert_false(r.equal);
    assert_non_null(strstr(r.witness, " against "));
    buf_free(&many);
    buf_free(&power);
}
