/* The operators that come with eqloom: their file, values, derivatives and laws; and that one of a
 * user takes the place of its namesake. */
#include "ops/expr/normal/normal.h"
#include "ops/expr/own/operator_files.h"
#include "ops/expr/own/own.h"
#include "tests/ops/terms.h"

#include <string.h>

static const struct language *shipped(struct arena *a, const char *mine)
{
    const struct language *lang = &lang_calculus;
    const struct source_text source = {"my.operators", mine, strlen(mine)};
    struct err e = {0};
    if (own_parse(&lang, a, &source, true, &e) || operators_shipped(&lang, a, &e))
        fail_msg("%s", e.message);
    return lang;
}

/* Nothing that the file states is refuted. */
TEST_IN_ARENA(states_what_is_true)
{
    const struct source_text *f = op_builtins;
    const struct language *lang = &lang_calculus;
    struct err e = {0};
    while (!strstr(f->name, ".operators"))
        f++;
    if (own_parse(&lang, a, f, true, &e))
        fail_msg("%d:%d: %s", e.line, e.column, e.message);
    assert_true(lang->n_ops - X_DECLARED >= 20);
}

TEST_IN_ARENA(has_values)
{
    static const struct {
        const char *text;
        double re, im; /* NaN: undefined */
    } rows[] = {
        {"floor(5/2)", 2, 0},
        {"floor(-5/2)", -3, 0},
        {"floor(7)", 7, 0},
        {"floor(10^20 + 1/2) - 10^20", 0, 0},
        {"ceil(5/2)", 3, 0},
        {"ceil(-5/2)", -2, 0},
        {"ceil(-7)", -7, 0},
        {"floor(sqrt(-1))", NAN, 0},
        {"floor(1/0)", NAN, 0},
        {"sign(-3/7)", -1, 0},
        {"sign(0)", 0, 0},
        {"sign(sqrt(-1))", NAN, 0},
        {"max(2, -3) + 10*min(2, -3)", -28, 0},
        {"max(1, sqrt(-1))", NAN, 0},
        {"atan2(1, 1)", 0.78539816339744831, 0},
        {"atan2(1, -1)", 2.3561944901923449, 0},
        {"atan2(-1, -1)", -2.3561944901923449, 0},
        {"atan2(-1, 1)", -0.78539816339744831, 0},
        {"atan2(0, -2)", 3.1415926535897932, 0},
        {"atan2(0, 0)", NAN, 0},
        {"Re(3 + 4*sqrt(-1))", 3, 0},
        {"Im(3 + 4*sqrt(-1))", 4, 0},
        {"conj(3 + 4*sqrt(-1))", 3, -4},
        {"conj(0)", 0, 0},
        {"arg(-1)", 3.1415926535897932, 0},
        {"arg(-sqrt(-1))", -1.5707963267948966, 0},
        {"arg(0)", NAN, 0},
        {"cbrt(27)", 3, 0},
        {"cbrt(-8)", 1, 1.7320508075688773},
        {"log2(1024)", 10, 0},
        {"log10(1/1000)", -3, 0},
        {"5!", 120, 0},
        {"0!", 1, 0},
        {"(1/2)!", 0.88622692545275801, 0},
        {"(-1)!", NAN, 0},
        {"binomial(10, 3)", 120, 0},
        {"binomial(5, 7)", 0, 0},
        {"binomial(5, -1)", 0, 0},
        {"binomial(-1, 3)", -1, 0},
        {"binomial(-1, -1)", NAN, 0},
        {"binomial(1/2, 2)", -0.125, 0},
        {"binomial(5, 1/2)", 2.58689939247779, 0}, /* of mpmath */
        {"Gamma(1/2)", 1.7724538509055160, 0},
        {"Gamma(-3)", NAN, 0},
        {"digamma(1)", -0.57721566490153286, 0},
        {"polygamma(1, 1)", 1.6449340668482264, 0},
        {"erf(1/2)", 0.52049987781304654, 0},
        {"erfc(1/2)", 0.47950012218695346, 0},
        {"d(x, floor(x))", 0, 0}, /* x is 5/4 */
        {"d(x, floor(4*x))", NAN, 0},
        {"d(x, sign(x - 1))", 0, 0},
        {"d(x, sign(x - 5/4))", NAN, 0},
        {"d(x, max(x, 1))", 1, 0},
        {"d(x, max(x, 5/4))", NAN, 0},
        {"d(x, Re(e^(sqrt(-1)*x)))", -0.94898461935558621, 0}, /* -sin(5/4) */
        {"d(x, Im(e^(sqrt(-1)*x)))", 0.31532236239526867, 0},
        {"d(x, conj(x^2*sqrt(-1)))", 0, -2.5},
        {"d(x, d(x, arg(1 + sqrt(-1)*x)))", -0.38072575847709698, 0}, /* -2 x/(1 + x^2)^2 */
        {"d(x, atan2(x, -1))", -0.39024390243902439, 0},
        {"d(z, conj(z))", NAN, 0}, /* z is 1 + i */
        {"d(z, Re(z))", NAN, 0},
        {"d(z, arg(z))", NAN, 0},
        {"d(z, d(z, Gamma(z)))", -0.433755582341901, -0.187545548005984}, /* of mpmath */
    };
    const struct language *lang = shipped(a, "");
    const char *names[] = {"x", "z"};
    const double re[] = {1.25, 1}, im[] = {0, 1};
    const struct ball_point point = {2, names, re, im};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct expr x = infix_term(a, lang, rows[i].text);
        double real, imaginary;
        bool defined = ball_value(&real, &imaginary, &x, &point);
        bool known = !isnan(rows[i].re);
        if (defined != known || (known && hypot(real - rows[i].re, imaginary - rows[i].im) > 1e-12))
            fail_msg("%s: %s %.15g %.15g", rows[i].text, defined ? "is" : "undefined", real,
                     imaginary);
    }
}

/* ---- identities ---- */

enum domain { POSITIVE, REAL, INTEGER, COMPLEX };
struct pair {
    enum domain domain;
    const char *left, *right;
};

static const struct pair equal[] = {
    {REAL, "floor(x)+ceil(-x)", "0"},
    {REAL, "floor(x+1)", "floor(x)+1"},
    {REAL, "floor(x+7)-floor(x-3)", "10"},
    {REAL, "floor(floor(x))", "floor(x)"},
    {REAL, "ceil(floor(x))", "floor(x)"},
    {REAL, "sign(x)*abs(x)", "x"},
    {REAL, "sign(x)*x", "abs(x)"},
    {REAL, "sign(sign(x))", "sign(x)"},
    {REAL, "sign(-x)", "-sign(x)"},
    {REAL, "sign(x)^3", "sign(x)"},
    {REAL, "sign(x*y)", "sign(x)*sign(y)"},
    {REAL, "sign(x^2+1)", "1"},
    {REAL, "sign(floor(x)-floor(x))", "0"},
    {REAL, "max(x,y)+min(x,y)", "x+y"},
    {REAL, "max(x,y)-min(x,y)", "abs(x-y)"},
    {REAL, "max(x,y)*min(x,y)", "x*y"},
    {REAL, "max(x,y)", "max(y,x)"},
    {REAL, "max(x,x)", "x"},
    {REAL, "max(x,-x)", "abs(x)"},
    {REAL, "max(2*x,2*y)", "2*max(x,y)"},
    {REAL, "max(-x,-y)", "-min(x,y)"},
    {REAL, "max(x+z,y+z)", "max(x,y)+z"},
    {REAL, "max(x^2,-1)", "x^2"},
    {REAL, "max(3,5)", "5"},
    {REAL, "min(3,5)", "3"},
    {POSITIVE, "atan2(y,x)", "atan(y/x)"},
    {REAL, "atan2(0,1)", "0"},
    {REAL, "atan2(0,-1)", "pi"},
    {REAL, "atan2(1,0)", "pi/2"},
    {REAL, "atan2(-1,0)", "-pi/2"},
    {REAL, "atan2(1,1)", "pi/4"},
    {REAL, "atan2(1,-1)", "3*pi/4"},
    {REAL, "atan2(-1,-1)", "-3*pi/4"},
    {REAL, "atan2(-1,1)", "-pi/4"},
    {REAL, "atan2(y,x)", "arg(x+sqrt(-1)*y)"},
    {REAL, "tan(atan2(y,x))", "y/x"},
    {REAL, "cbrt(8)", "2"},
    {REAL, "cbrt(-8)", "1+sqrt(-3)"},
    {REAL, "cbrt(x)^3", "x"},
    {POSITIVE, "cbrt(x^3)", "x"},
    {POSITIVE, "cbrt(x*y)", "cbrt(x)*cbrt(y)"},
    {REAL, "log2(8)", "3"},
    {REAL, "log10(1000)", "3"},
    {REAL, "log10(1/100)", "-2"},
    {POSITIVE, "log2(x*y)", "log2(x)+log2(y)"},
    {POSITIVE, "log2(x^5)", "5*log2(x)"},
    {POSITIVE, "10^log10(x)", "x"},
    {POSITIVE, "log10(x)/log10(2)", "log2(x)"},
    {REAL, "5!", "120"},
    {REAL, "0!", "1"},
    {REAL, "10!/8!", "90"},
    {POSITIVE, "(x+1)!", "(x+1)*x!"},
    {POSITIVE, "x!/(x-1)!", "x"},
    {INTEGER, "n!/(n-2)!", "n*(n-1)"},
    {POSITIVE, "Gamma(x+1)", "x*Gamma(x)"},
    {POSITIVE, "Gamma(x+1)", "x!"},
    {REAL, "Gamma(5)", "24"},
    {REAL, "Gamma(1/2)", "sqrt(pi)"},
    {REAL, "Gamma(7/2)", "15*sqrt(pi)/8"},
    {REAL, "Gamma(-1/2)", "-2*sqrt(pi)"},
    {POSITIVE, "Gamma(x+3)/Gamma(x)", "x*(x+1)*(x+2)"},
    {INTEGER, "binomial(n,k)", "binomial(n,n-k)"},
    {POSITIVE, "binomial(x,0)", "1"},
    {POSITIVE, "binomial(x,1)", "x"},
    {POSITIVE, "binomial(x,2)", "x*(x-1)/2"},
    {INTEGER, "binomial(n,k)+binomial(n,k+1)", "binomial(n+1,k+1)"},
    {INTEGER, "k*binomial(n,k)", "n*binomial(n-1,k-1)"},
    {INTEGER, "binomial(n,k)", "n!/(k!*(n-k)!)"},
    {REAL, "binomial(10,3)", "120"},
    {REAL, "binomial(1/2,2)", "-1/8"},
    {POSITIVE, "erf(x)+erfc(x)", "1"},
    {REAL, "erf(-x)", "-erf(x)"},
    {REAL, "erfc(-x)", "2-erfc(x)"},
    {REAL, "erf(0)", "0"},
    {COMPLEX, "Re(z)+sqrt(-1)*Im(z)", "z"},
    {COMPLEX, "conj(conj(z))", "z"},
    {COMPLEX, "z*conj(z)", "abs(z)^2"},
    {COMPLEX, "Re(z)^2+Im(z)^2", "abs(z)^2"},
    {COMPLEX, "conj(z+w)", "conj(z)+conj(w)"},
    {COMPLEX, "conj(z*w)", "conj(z)*conj(w)"},
    {COMPLEX, "conj(z/w)", "conj(z)/conj(w)"},
    {COMPLEX, "conj(e^z)", "e^conj(z)"},
    {COMPLEX, "conj(sin(z))", "sin(conj(z))"},
    {COMPLEX, "Re(e^z)", "e^Re(z)*cos(Im(z))"},
    {COMPLEX, "Re(sqrt(-1)*z)", "-Im(z)"},
    {COMPLEX, "Im(z^2)", "2*Re(z)*Im(z)"},
    {COMPLEX, "Re(conj(z))", "Re(z)"},
    {COMPLEX, "abs(z)*e^(sqrt(-1)*arg(z))", "z"},
    {COMPLEX, "ln(z)", "ln(abs(z))+sqrt(-1)*arg(z)"},
    {REAL, "arg(-1)", "pi"},
    {REAL, "arg(sqrt(-1))", "pi/2"},
    {REAL, "arg(1-sqrt(-1))", "-pi/4"},
    {REAL, "Re(3+4*sqrt(-1))", "3"},
    {REAL, "Im(3+4*sqrt(-1))", "4"},
    {REAL, "Re(0)", "0"},
    {REAL, "conj(0)", "0"},
    {REAL, "Re(x)", "x"},
    {REAL, "Im(x)", "0"},
    {REAL, "conj(x)", "x"},
    {POSITIVE, "arg(x)", "0"},
    {REAL, "d(x,floor(x))", "0"},
    {REAL, "d(x,ceil(x))", "0"},
    {REAL, "d(x,sign(x))", "0"},
    {REAL, "d(x,erf(x))", "2/sqrt(pi)*e^(-x^2)"},
    {REAL, "d(x,erfc(x))", "-2/sqrt(pi)*e^(-x^2)"},
    {POSITIVE, "d(x,Gamma(x))", "Gamma(x)*digamma(x)"},
    {POSITIVE, "d(x,x!)", "x!*digamma(x+1)"},
    {POSITIVE, "d(x,log2(x))", "1/(x*ln(2))"},
    {POSITIVE, "d(x,log10(x))", "1/(x*ln(10))"},
    {POSITIVE, "d(x,cbrt(x))", "1/(3*cbrt(x)^2)"},
    {REAL, "d(x,max(x,y))", "(1+sign(x-y))/2"},
    {REAL, "d(x,min(x,y))", "(1-sign(x-y))/2"},
    {REAL, "d(y,atan2(y,x))", "x/(x^2+y^2)"},
    {REAL, "d(x,atan2(y,x))", "-y/(x^2+y^2)"},
    {POSITIVE, "d(n,binomial(n,k))", "binomial(n,k)*(digamma(n+1)-digamma(n-k+1))"},
    {REAL, "d(x,Re(e^(sqrt(-1)*x)))", "-sin(x)"},
    {REAL, "d(x,Im(e^(sqrt(-1)*x)))", "cos(x)"},
    {REAL, "d(x,conj(e^(sqrt(-1)*x)))", "-sqrt(-1)*e^(-sqrt(-1)*x)"},
    {REAL, "d(x,arg(1+sqrt(-1)*x))", "1/(1+x^2)"},
    {REAL, "d(x,d(x,erf(x)))", "-4*x*e^(-x^2)/sqrt(pi)"},
    {POSITIVE, "d(x,d(x,Gamma(x)))", "Gamma(x)*(digamma(x)^2+polygamma(1,x))"},
    {INTEGER, "floor(n)", "n"},
    {INTEGER, "ceil(n/1)", "n"},
    {INTEGER, "(-1)^floor(2*n)", "1"},
    {REAL, "floor(sqrt(2)^2)", "2"},
    {REAL, "floor(pi)", "3"},
    {REAL, "ceil(e)", "3"},
    {REAL, "floor(-1/2)", "-1"},
    {REAL, "floor(10^20+1/2)", "10^20"},
    {REAL, "(x+floor(x))*y/(x+floor(x))", "y"},
    {REAL, "(abs(x)+2*x)*y/(abs(x)+2*x)", "y"},
    {REAL, "(floor(x)^2+1)*y/(floor(x)^2+1)", "y"},
};

/* False, or without a value, on an open set at least. */
static const struct pair different[] = {
    {REAL, "floor(x)", "x"},
    {REAL, "floor(x+1/2)", "floor(x)"},
    {REAL, "floor(2*x)", "2*floor(x)"},
    {REAL, "floor(x)+floor(y)", "floor(x+y)"},
    {REAL, "floor(x^2)", "floor(x)^2"},
    {REAL, "floor(-x)", "-floor(x)"},
    {REAL, "ceil(x)", "floor(x)"},
    {REAL, "floor(x+1/1000)", "floor(x)"},
    {INTEGER, "floor(n/2)", "n/2"},
    {INTEGER, "ceil(n)", "floor(n)+1"},
    {INTEGER, "floor(n/3)+floor(2*n/3)", "n"},
    {REAL, "floor(x)/floor(x)", "2"},
    {POSITIVE, "floor(x)/floor(x)", "1"}, /* 0/0 for x < 1 */
    {POSITIVE, "floor(x)*floor(x)^(-1)", "1"},
    {POSITIVE, "floor(x)^(1/2)*floor(x)^(-1/2)", "1"},
    {POSITIVE, "e^ln(floor(x))", "floor(x)"},
    {POSITIVE, "((-1)^floor(x)-1)*y/((-1)^floor(x)-1)", "y"},
    {POSITIVE, "x*erf(floor(x))/erf(floor(x))", "x"},
    {REAL, "(sign(x)+1)*x/(sign(x)+1)", "x"},
    {REAL, "(abs(x)+abs(y)-x-y)*y/(abs(x)+abs(y)-x-y)", "y"},
    {REAL, "(max(x,y)-x)/(max(x,y)-x)", "1"},
    {REAL, "(ceil(x)-floor(x)-1)/(ceil(x)-floor(x)-1)", "1"},
    {REAL, "sign(x)", "1"},
    {REAL, "sign(x)^2", "x"},
    {REAL, "sign(x+y)", "sign(x)+sign(y)"},
    {REAL, "sign(x-100)", "-1"},
    {REAL, "sign(x-abs(x))^2", "1"},
    {REAL, "sign(floor(x))^2", "1"},
    {REAL, "abs(sign(floor(x)))", "1"},
    {COMPLEX, "sign(z)*abs(z)", "z"},
    {COMPLEX, "Re(z)", "z"},
    {COMPLEX, "conj(z)", "z"},
    {COMPLEX, "conj(z)", "-z"},
    {COMPLEX, "Im(z)", "0"},
    {COMPLEX, "Re(z*w)", "Re(z)*Re(w)"},
    {COMPLEX, "abs(z+w)", "abs(z)+abs(w)"},
    {COMPLEX, "conj(ln(z))", "-ln(conj(z))"},
    {COMPLEX, "arg(z*w)", "arg(z)+arg(w)"},
    {COMPLEX, "arg(conj(z))", "arg(z)"},
    {COMPLEX, "arg(z^2)", "2*arg(z)"},
    {COMPLEX, "arg(-z)", "arg(z)+pi"},
    {COMPLEX, "arg(1/z)", "arg(z)"},
    {COMPLEX, "ln(z*conj(z))", "ln(abs(z))"},
    {COMPLEX, "Re(z^2)", "Re(z)^2"},
    {COMPLEX, "conj(z^2)", "z^2"},
    {COMPLEX, "cbrt(z^3)", "z"},
    {COMPLEX, "cbrt(z*w)", "cbrt(z)*cbrt(w)"},
    {COMPLEX, "log2(z*w)", "log2(z)+log2(w)"},
    {COMPLEX, "erf(z)", "erf(conj(z))"},
    {REAL, "max(x,y)", "x"},
    {REAL, "max(x,y)", "x+y"},
    {REAL, "max(x*z,y*z)", "z*max(x,y)"},
    {REAL, "max(-x,-y)", "-max(x,y)"},
    {REAL, "max(x,y)^2", "max(x^2,y^2)"},
    {REAL, "max(x,0)", "x"},
    {REAL, "min(x,y)", "max(x,y)"},
    {COMPLEX, "max(z,w)", "max(w,z)"},
    {REAL, "atan2(y,x)", "atan(y/x)"},
    {REAL, "atan2(x,y)", "atan2(y,x)"},
    {REAL, "atan2(-y,x)", "atan2(y,x)"},
    {REAL, "atan2(y,x)+atan2(x,y)", "pi/2"},
    {REAL, "atan2(0,x)", "0"},
    {REAL, "atan2(2*y,2*x)", "2*atan2(y,x)"},
    {REAL, "atan2(1,-1)", "-pi/4"},
    {REAL, "atan2(-1,-1)", "pi/4"},
    {REAL, "cbrt(x^3)", "x"},
    {REAL, "cbrt(-8)", "-2"},
    {REAL, "cbrt(-x)", "-cbrt(x)"},
    {REAL, "log2(x^2)", "2*log2(x)"},
    {POSITIVE, "log10(x+y)", "log10(x)+log10(y)"},
    {POSITIVE, "(x+1)!", "x!+1"},
    {POSITIVE, "(2*x)!", "2*x!"},
    {POSITIVE, "(x*y)!", "x!*y!"},
    {POSITIVE, "(x+y)!", "x!+y!"},
    {POSITIVE, "x!^2", "(x^2)!"},
    {REAL, "0!", "0"},
    {REAL, "3!", "3"},
    {POSITIVE, "Gamma(x+1)", "Gamma(x)"},
    {POSITIVE, "Gamma(2*x)", "2*Gamma(x)"},
    {POSITIVE, "Gamma(x+1)", "(x+1)*Gamma(x)"},
    {REAL, "Gamma(5)", "120"},
    {REAL, "Gamma(1/2)", "pi"},
    {INTEGER, "binomial(n,k)", "binomial(k,n)"},
    {INTEGER, "binomial(n,k)", "n/k"},
    {INTEGER, "binomial(n,2)", "n^2/2"},
    {INTEGER, "binomial(n,k)+binomial(n,k+1)", "binomial(n+1,k)"},
    {REAL, "binomial(4,2)", "2"},
    {REAL, "binomial(5,2)", "5"},
    {REAL, "binomial(-1,2)", "-1"},
    {REAL, "erf(x)", "x"},
    {REAL, "erf(2*x)", "2*erf(x)"},
    {REAL, "erf(x)+erfc(x)", "2"},
    {REAL, "erf(x)", "erfc(x)"},
    {REAL, "erf(x)^2", "1"},
    {REAL, "erf(1000)", "1"},
    {REAL, "d(x,floor(x))", "1"},
    {REAL, "d(x,sign(x))", "sign(x)"},
    {REAL, "d(x,abs(x))", "1"},
    {REAL, "d(x,max(x,y))", "1"},
    {REAL, "d(x,erf(x))", "e^(-x^2)"},
    {POSITIVE, "d(x,Gamma(x))", "Gamma(x)"},
    {POSITIVE, "d(x,x!)", "x*(x-1)!"},
    {POSITIVE, "d(x,log2(x))", "1/x"},
    {POSITIVE, "d(x,log10(x))", "1/x"},
    {COMPLEX, "d(z,conj(z))", "1"},
    {COMPLEX, "d(z,Re(z))", "1"},
    {COMPLEX, "d(z,Im(z))", "0"},
    {COMPLEX, "d(z,abs(z))", "1"},
    {COMPLEX, "d(z,arg(z))", "0"},
    {COMPLEX, "d(z,conj(z))", "0"},
    {REAL, "d(y,atan2(y,x))", "x"},
    {REAL, "d(x,floor(x)*x)", "x"},
    {REAL, "d(x,x*sign(x))", "1"},
    {REAL, "2^floor(x)", "2^x"},
    {REAL, "floor(x)*floor(1/x)", "1"},
    {REAL, "floor(abs(x))", "abs(floor(x))"},
    {REAL, "floor(sin(x))", "0"},
    {REAL, "ceil(sin(x))", "1"},
    {REAL, "sign(sin(x))", "1"},
    {REAL, "floor(x)-floor(x-1/2)", "1"},
    {REAL, "floor(x+10^(-9))-floor(x)", "1"},
    {REAL, "sign(x-10^6)", "1"},
    {REAL, "max(x,10^6)", "x"},
    {REAL, "Re(x+sqrt(-1))", "x+1"},
    {REAL, "conj(sqrt(x))", "-sqrt(x)"},
    {REAL, "conj(sqrt(x))", "sqrt(x)"},
    {REAL, "conj(ln(x))", "ln(x)"},
    {REAL, "Im(ln(x))", "0"},
    {REAL, "arg(x)", "0"},
    {REAL, "Re(sqrt(x))", "sqrt(x)"},
    {REAL, "sqrt(conj(x))", "-conj(sqrt(x))"},
    {COMPLEX, "sqrt(conj(z))", "-conj(sqrt(z))"},
    {COMPLEX, "sqrt(z*conj(z))", "z"},
};

static size_t domains_of(struct ball_domain *out, enum domain domain)
{
    static const char *const names[] = {"x", "y", "z", "w", "n", "k"};
    static const char *const words[] = {"positive", "real", "integer", "complex"};
    for (size_t i = 0; i < 6; i++)
        out[i] = (struct ball_domain){names[i], words[domain]};
    return 6;
}

/* Normal forms prove each of them, and values do not refute it. */
TEST_IN_ARENA(equal_terms_are_proved)
{
    const struct language *lang = shipped(a, "");
    for (size_t i = 0; i < sizeof equal / sizeof *equal; i++) {
        struct ball_domain domains[6];
        struct ball_options options = {.domains = domains};
        struct ball_compare compare;
        const char *way;
        options.n_domains = domains_of(domains, equal[i].domain);
        struct expr x = infix_term(a, lang, equal[i].left), y = infix_term(a, lang, equal[i].right);
        if (!normal_equal(&way, &x, &y, domains, options.n_domains))
            fail_msg("%s = %s is not proved", equal[i].left, equal[i].right);
        ball_compare(&compare, &x, &y, &options);
        if (compare.verdict == BALL_DIFFERENT)
            fail_msg("%s = %s: %s", equal[i].left, equal[i].right, compare.witness);
    }
}

/* A complex variable stays one where its value is real. */
TEST_IN_ARENA(complex_variables_have_no_real_derivatives)
{
    static const char *const left[] = {"d(z,conj(z))", "d(z,Re(z))", "d(z,abs(z))",
                                       "d(z,d(z,arg(z)))"};
    const struct language *lang = shipped(a, "");
    struct ball_domain domains[6];
    for (int k = 0; k < 2; k++) {
        struct ball_options options = {.points = 13, .domains = domains};
        options.n_domains = domains_of(domains, k ? REAL : COMPLEX);
        for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
            struct ball_compare compare;
            struct expr x = infix_term(a, lang, left[i]), y = infix_term(a, lang, "7");
            ball_compare(&compare, &x, &y, &options);
            if ((compare.verdict == BALL_DIFFERENT) != k)
                fail_msg("%s, %s", left[i], k ? "real" : "complex");
        }
    }
}

TEST_IN_ARENA(different_terms_are_not)
{
    const struct language *lang = shipped(a, "");
    size_t refuted = 0, n = sizeof different / sizeof *different;
    for (size_t i = 0; i < n; i++) {
        const struct pair *p = &different[i];
        struct ball_domain domains[6];
        struct ball_options options = {.domains = domains};
        struct ball_compare compare;
        const char *way;
        options.n_domains = domains_of(domains, p->domain);
        struct expr x = infix_term(a, lang, p->left), y = infix_term(a, lang, p->right);
        ball_compare(&compare, &x, &y, &options);
        refuted += compare.verdict == BALL_DIFFERENT;
        if (compare.meet && normal_equal(&way, &x, &y, domains, options.n_domains))
            fail_msg("%s = %s is proved by %s", p->left, p->right, way);
    }
    assert_true(refuted > n * 4 / 5);
}

/* ---- those of a user ---- */

TEST_IN_ARENA(a_users_operator_takes_the_place_of_its_namesake)
{
    const struct language *lang =
        shipped(a, "operator floor(x) = x/2\noperator Gamma(x, y) = x*y\noperator sgn(x) = 2*x\n");
    struct expr x = infix_term(a, lang, "floor(6) + Gamma(5, 7) + sgn(4) + sign(4) + 3!");
    double re, im;
    assert_true(ball_value(&re, &im, &x, &(struct ball_point){0}));
    assert_true(re == 3 + 35 + 8 + 1 + 6);
    char *text = language_text_of(a, &x, 1);
    assert_non_null(strstr(text, "operator floor/1 = x/2\n"));
    assert_null(strstr(text, "ceil"));
}

TEST_IN_ARENA(what_derivatives_need_has_no_namesake)
{
    const struct language *lang = &lang_calculus;
    const struct source_text source = {"my.operators", "operator polygamma(n, x) = n + x\n", 33};
    struct err e = {0};
    assert_int_equal(own_parse(&lang, a, &source, true, &e), OK);
    assert_int_equal(operators_shipped(&lang, a, &e), ERR_INPUT);
}

/* A term without them has the language text and the operator numbers of the calculus. */
TEST_IN_ARENA(terms_without_them_do_not_change)
{
    const struct language *lang = shipped(a, "");
    struct expr x = infix_term(a, lang, "sin(x)^2 + gamma*Gamma/2"),
                y = infix_term(a, &lang_calculus, "sin(x)^2 + gamma*Gamma/2");
    assert_string_equal(language_text_of(a, &x, 1), "");
    assert_string_equal(expr_prefix(a, &x), expr_prefix(a, &y));
}
