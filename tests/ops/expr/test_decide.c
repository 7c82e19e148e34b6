/* What values refute, thin and far as the failures may be; and that names change no verdict. */
#include "ops/expr/ball/domain.h"
#include "ops/expr/decide/decide.h"
#include "tests/ops/expr/balls.h"
#include "tests/ops/terms.h"

enum { MAX_DOMAINS = 4 };

struct question {
    const char *domains; /* separated by blanks */
    const char *left, *right;
};

/* Each is false on an open set, however small; of constants, as numbers. */
static const struct question different[] = {
    {"x:real", "sqrt(2 - x)/sqrt(1 - x)", "sqrt((2 - x)/(1 - x))"},
    {"a:real b:real", "ln(a*b)", "ln(a) + ln(b)"},
    {"a:real b:real", "sqrt(a*b)", "sqrt(a)*sqrt(b)"},
    {"", "abs((x - 37/10)*(x - 371/100))", "(x - 37/10)*(x - 371/100)"},
    {"x:real", "abs(x + 1/10^6)", "x + 1/10^6"},
    {"x>-1/1000000", "abs(x)", "x"},
    {"-1/1000<x<1", "asin(x)", "acos(sqrt(1 - x^2))"},
    {"0<x<101/100", "sqrt((1 - x)^2)", "1 - x"},
    {"n:integer", "abs(n - 10)", "10 - n"},
    {"n:integer", "abs(n + 12345)", "n + 12345"},
    {"", "tanh(10^3*x)", "1"},
    {"x>1", "tanh(10^3*x)", "1"},
    {"x>10", "x + e^(-10^8*(x - 30)^2)", "x"},
    {"x:real", "abs(abs(x - 22/7) - 1/10^200) - abs(x - 22/7) + 1/10^200", "0"},
    {"x:real", "x + abs(abs(x^2 - 2) - 1/10^9) - abs(x^2 - 2) + 1/10^9", "x"},
    {"", "ln(x - 1000) + ln(1001 - x)", "ln((x - 1000)*(1001 - x)) + 1"},
    {"x<100", "sqrt((x - 99)^2)", "99 - x"},
    {"", "acos(cos(x))", "x"},
    {"0<x<63/20", "acos(cos(x))", "x"},
    {"-158/100<x<1", "asin(sin(x))", "x"},
    {"x:real y:real", "atan(x) + atan(y)", "atan((x + y)/(1 - x*y))"},
    {"z:complex", "ln(1/z)", "-ln(z)"},
    {"z:complex", "sqrt(z^2)", "z"},
    {"z:complex w:complex", "ln(z*w)", "ln(z) + ln(w)"},
    {"z:complex", "sqrt(z^2 - 1)", "sqrt(z - 1)*sqrt(z + 1)"},
    {"", "e^(pi*sqrt(163))", "262537412640768744"},
    {"", "e^(pi*sqrt(163))/(640320^3 + 744)", "1"},
    {"", "sqrt(10^60 + 1)", "10^30"},
    {"", "ln(10^300 + 1)", "ln(10^300)"},
    {"", "tanh(100)", "1"},
};

static const struct question equal[] = {
    {"x:real", "sqrt(x^2)", "abs(x)"},
    {"a:real b>0", "ln(a*b)", "ln(a) + ln(b)"},
    {"x<1", "sqrt(2 - x)/sqrt(1 - x)", "sqrt((2 - x)/(1 - x))"},
    {"", "tanh(x)", "(e^x - e^(-x))/(e^x + e^(-x))"},
    {"n:integer", "abs(n - 10)", "abs(10 - n)"},
    {"n:integer", "cos(pi*n)", "(-1)^n"},
    {"x:real", "asin(sin(x))^2", "acos(abs(cos(x)))^2"},
    {"z:complex", "sqrt(z)^2", "z"},
    {"z:complex", "asin(z) + acos(z)", "pi/2"},
    {"x:real y:real", "abs(x)*abs(y)", "abs(x*y)"},
    {"", "atan(1/2) + atan(1/3)", "pi/4"},
    {"x:real", "atan(x) + acot(x)", "x/abs(x)*pi/2 + atan(x) + acot(x) - x/abs(x)*pi/2"},
};

static struct decided ask(struct arena *a, const struct question *q, const char *from,
                          const char *const to[])
{
    struct ball_domain domains[MAX_DOMAINS];
    size_t n = 0;
    const char *terms[] = {q->domains, q->left, q->right};
    for (int i = 0; i < 3; i++) { /* single letters, which no function is called */
        struct buf b = {0};
        for (const char *c = terms[i]; *c; c++) {
            bool alone = (c == terms[i] || !strchr("abcdefghijklmnopqrstuvwxyz", c[-1])) &&
                         (!c[1] || !strchr("abcdefghijklmnopqrstuvwxyz", c[1]));
            const char *at = alone && *c ? strchr(from, *c) : NULL;
            if (at)
                buf_puts(&b, to[at - from]);
            else
                buf_putc(&b, *c);
        }
        terms[i] = buf_text(&b, a);
    }
    char *save = NULL, *text = arena_strdup(a, terms[0]);
    for (char *d = strtok_r(text, " ", &save); d; d = strtok_r(NULL, " ", &save))
        assert_int_equal(domain_parse(&domains[n++], a, d, NULL), OK);
    struct decide_options options = {domains, n, false, false};
    struct expr x = infix_term(a, &lang_calculus, terms[1]);
    struct expr y = infix_term(a, &lang_calculus, terms[2]);
    struct decided out;
    decide_equality(&out, a, &x, &y, &options);
    return out;
}

static const char letters[] = "abnwxyz";
static const char *const same[] = {"a", "b", "n", "w", "x", "y", "z"};

TEST_IN_ARENA(values_refute)
{
    for (size_t i = 0; i < sizeof different / sizeof *different; i++) {
        const struct question *q = &different[i];
        struct decided d = ask(a, q, letters, same);
        if (d.verdict != DECIDED_REFUTED || !strstr(d.witness, " against "))
            fail_msg("%s: %s = %s: %d", q->domains, q->left, q->right, (int)d.verdict);
    }
}

TEST_IN_ARENA(values_do_not_refute)
{
    for (size_t i = 0; i < sizeof equal / sizeof *equal; i++) {
        const struct question *q = &equal[i];
        struct decided d = ask(a, q, letters, same);
        if (d.verdict != DECIDED_PROVED && (d.verdict != DECIDED_OPEN || !d.compare.points))
            fail_msg("%s: %s = %s: %d", q->domains, q->left, q->right, (int)d.verdict);
    }
}

/* In whatever order the names are. */
TEST_IN_ARENA(names_change_no_verdict)
{
    static const char *const names[][7] = {
        {"z", "y", "x", "w", "n", "b", "a"},
        {"p", "q", "m", "v", "t", "s", "u"},
        {"k", "a", "j", "z", "b", "x", "y"},
    };
    const struct {
        const struct question *all;
        size_t n;
    } lists[] = {{different, sizeof different / sizeof *different},
                 {equal, sizeof equal / sizeof *equal}};
    for (size_t l = 0; l < 2; l++)
        for (size_t i = 0; i < lists[l].n; i++) {
            const struct question *q = &lists[l].all[i];
            struct decided d = ask(a, q, letters, same);
            for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
                struct decided other = ask(a, q, letters, names[k]);
                if (d.verdict != other.verdict || d.compare.points != other.compare.points)
                    fail_msg("%s = %s: %d, and renamed %d", q->left, q->right, (int)d.verdict,
                             (int)other.verdict);
                if (d.witness)
                    assert_string_equal(strstr(d.witness, " against "),
                                        strstr(other.witness, " against "));
            }
        }
}

TESTS_AROUND(NULL, balls_clean)
