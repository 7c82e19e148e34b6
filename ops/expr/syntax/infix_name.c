#include "ops/expr/syntax/infix_name.h"

#include "base/text/words.h"
#include "ops/expr/syntax/lexical.h"
#include "ops/expr/syntax/variable_name.h"

#include <ctype.h>
#include <string.h>

/* ---- words that people write, and what to write here ---- */

static const struct {
    const char *words, *hint;
} known_words[] = {
    {"lg", "write log10(...) or log2(...)"},
    {"log_10", "write log10(...)"},
    {"ld lb log_2", "write log2(...)"},
    {"oo inf Inf infinity Infinity infty", "infinity is not a number here"},
    {"nan NaN undefined true false True False None", "this is not a number"},
    {"sh", "write sinh(...)"},
    {"ch", "write cosh(...)"},
    {"th", "write tanh(...)"},
    {"arsh arcsh", "write asinh(...)"},
    {"arch arcch", "write acosh(...)"},
    {"arth arcth", "write atanh(...)"},
    {"lim limit Limit int integral integrate Integral Integrate sum Sum prod Product",
     "limits, integrals, sums and products are not in the language"},
    {"diff Diff Derivative deriv D", "write d(x, f) for the derivative of f by x"},
    {"mod rem Mod", "write x - y*floor(x/y) for the remainder of x by y"},
    {"div", "write floor(x/y)"},
    {"round", "write floor(x + 1/2)"},
    {"trunc", "write sign(x)*floor(abs(x))"},
    {"root", "write sqrt(...), cbrt(...) or (...)^(1/n)"},
    {"deg degree degrees grad", "write 30*pi/180 for 30 degrees"},
    {"fact Factorial", "write n! or factorial(n)"},
    {"choose nCr", "write binomial(n, k)"},
    {"gcd lcm", "divisors are not in the language"},
    {"sup det", "no operator has this name; a file declares operators: --operators FILE"},
    {"plus minus times over divided squared cubed power equals and or not if then else where",
     "write signs: + - * / ^"},
};

static size_t letters_at(const char *s, size_t n)
{
    size_t k = 0;
    while (k < n && isalpha((unsigned char)s[k]))
        k++;
    return k;
}

/* The hint for a word, perhaps with an index: sum_i; or NULL. */
static const char *hint_of_word(struct arena *a, const char *name, size_t n)
{
    size_t letters = letters_at(name, n);
    for (size_t i = 0; i < sizeof known_words / sizeof *known_words; i++)
        if (word_in(known_words[i].words, name, n) ||
            (letters < n && name[letters] == '_' && letters > 1 &&
             word_in(known_words[i].words, name, letters)))
            return known_words[i].hint;
    return n > 4 && memcmp(name, "log_", 4) == 0
               ? arena_printf(a, "write ln(...)/ln(%.*s)", (int)(n < 60 ? n - 4 : 56), name + 4)
               : NULL;
}

/* The operator that the name differs from by capitals only. */
static const char *in_capitals(struct arena *a, const struct language *lang, const char *name,
                               size_t n)
{
    char *lower = arena_strndup(a, name, n);
    for (size_t i = 0; i < n; i++)
        lower[i] = (char)tolower((unsigned char)name[i]);
    bool known = lang_find(lang, lower, n) >= 0 || strcmp(lower, "exp") == 0;
    return known && n > 1 && lang_has(lang, X_POW) ? lower : NULL;
}

enum err_code infix_fail_differential(struct infix *p, const char *name, size_t n)
{
    int shown = (int)(n < 60 ? n : 60);
    enum err_code code = tree_fail(&p->tree, name, "'%.*s' may be a differential", shown, name);
    err_hint(p->tree.e, "write d(x, f) for the derivative of f by x, d*x for a product");
    return code;
}

/* What follows the name, after space. */
static const char *behind(const struct infix *p, const char *name, size_t n)
{
    const char *next = name + n;
    for (size_t space; next < p->end && (space = space_length(next, p->end));)
        next += space;
    return next;
}

/* In a language without functions, "sin x" would parse as a product. */
static enum err_code refuse_foreign(struct infix *p, const char *name, size_t n)
{
    int op = lang_find(&lang_calculus, name, n);
    const char *next = behind(p, name, n);
    bool product = next < p->end && (*next == '(' || is_letter(*next) || is_digit(*next));
    if (!product || lang_is(p->tree.lang, &lang_calculus) || op < X_SQRT ||
        lang_calculus.ops[op].arity != 1)
        return OK;
    enum err_code code = tree_fail(&p->tree, name, "unknown function '%.*s'", (int)n, name);
    err_hint(p->tree.e, "for a product write %.*s*...", (int)n, name);
    return code;
}

/* ---- products of letters ---- */

/* What the name of a constant is here: pi, e, sqrt(-1) for i; NULL if it is none. */
static const char *constant_of(const struct language *lang, const char *name, size_t n)
{
    if (!lang_has(lang, X_POW))
        return lexical_is(name, n, "e") ? "e" : lexical_is(name, n, "pi") ? "pi" : NULL;
    return word_in("i I", name, n)        ? "sqrt(-1)"
           : word_in("pi Pi PI", name, n) ? "pi"
           : lexical_is(name, n, "e")     ? "e"
                                          : NULL;
}

struct part {
    size_t at, n;
    bool function;
};

/* Whether a name that stands alone would mean more than its letters. */
static bool has_meaning(struct part *part, const struct language *lang, const char *s)
{
    int op = lang_find(lang, s, part->n);
    bool exponential = lexical_is(s, part->n, "exp") && lang_has(lang, X_POW);
    part->function = op >= X_POW || exponential;
    return (op >= 0 && (part->n > 1 || op >= X_DECLARED)) || exponential ||
           (part->n > 1 && (lexical_is_greek(s, part->n) || constant_of(lang, s, part->n)));
}

/* Finds a longest first part of the name, not in its index, that means something by itself: sin in
 * xsiny. */
static bool find_part(struct part *part, const struct language *lang, const char *name, size_t n)
{
    for (size_t i = 0; i < n && (i == 0 || name[i - 1] != '_'); i++)
        for (size_t k = n - i; k > 0; k--) {
            *part = (struct part){.at = i, .n = k};
            if (has_meaning(part, lang, name + i))
                return true;
        }
    return false;
}

/* Writes the factors around a part: x*sin(y) for xsiny, 2*pi*r. */
static char *apart(struct arena *a, const char *name, size_t n, struct part part)
{
    struct buf b = {0};
    const char *rest = name + part.at + part.n, *end = name + n;
    rest += rest < end && *rest == '_';
    if (part.at)
        buf_printf(&b, "%.*s*", (int)part.at, name);
    buf_add(&b, name + part.at, part.n);
    if (part.function)
        buf_printf(&b, rest < end ? "(%.*s)" : "(...)", (int)(end - rest), rest);
    else if (rest < end)
        buf_printf(&b, "*%.*s", (int)(end - rest), rest);
    return buf_text(&b, a);
}

/* x*y_1 of xy_1 */
static char *letter_by_letter(struct arena *a, const char *name, size_t n)
{
    struct buf b = {0};
    size_t letters = letters_at(name, n);
    for (size_t i = 0; i < letters; i++)
        buf_printf(&b, i ? "*%c" : "%c", name[i]);
    buf_add(&b, name + letters, n - letters);
    return buf_text(&b, a);
}

/* Reports a name before a bracket that is not a function. */
static enum err_code fail_function(struct infix *p, const char *at, const char *name, size_t n)
{
    struct arena *a = p->tree.a;
    const struct language *lang = p->tree.lang;
    const char *near = tree_nearest_operator(lang, name, n), *same = in_capitals(a, lang, name, n);
    const char *hint = hint_of_word(a, name, n);
    int shown = (int)(n < 60 ? n : 60);
    bool symbol = n == 1 || variable_is_plain(lang, name, n) || constant_of(lang, name, n);
    struct part part;
    enum err_code code = tree_fail(&p->tree, at, "unknown function '%.*s'", shown, name);
    if (hint)
        err_hint(p->tree.e, "%s", hint);
    else if (n < 60 && find_part(&part, lang, name, n) && part.at && part.at + part.n == n)
        err_hint(p->tree.e, "write %s", apart(a, name, n, part));
    else if (!symbol && (same || near))
        err_hint(p->tree.e, "did you mean '%s'?", same ? same : near);
    else if (lang_has(lang, X_MUL) && (symbol ? n < 30 : n < 5))
        err_hint(p->tree.e,
                 "for a product write %s*(...); a file declares functions: --operators FILE",
                 symbol ? arena_strndup(a, name, n) : letter_by_letter(a, name, n));
    else
        err_hint(p->tree.e, "a file declares functions of your own: --operators FILE");
    return code;
}

/* Whether the name is letters, the last perhaps with digits or an index, and ends with no
 * differential. */
static bool is_product(const struct language *lang, const char *name, size_t n)
{
    size_t letters = letters_at(name, n);
    if (letters < 2 ||
        (letters < n && !variable_is_plain(lang, name + letters - 1, n - letters + 1)))
        return false;
    for (size_t i = 0; i + 1 < letters; i++)
        if (name[i] == 'd')
            return false;
    return true;
}

static enum err_code fail_symbol(struct infix *p, const char *name, size_t n, const char *hint)
{
    enum err_code code =
        tree_fail(&p->tree, name, "unknown symbol '%.*s'", (int)(n < 60 ? n : 60), name);
    if (n < 60)
        err_hint(p->tree.e, "%s", hint);
    return code;
}

/* Refuses a name that has no usual reading as a product. */
static enum err_code check_product(struct infix *p, const char *name, size_t n)
{
    struct arena *a = p->tree.a;
    const struct language *lang = p->tree.lang;
    const char *hint = hint_of_word(a, name, n), *same = in_capitals(a, lang, name, n);
    struct part part;
    const char *next = behind(p, name, n);
    if (next < p->end && *next == '(')
        return err_up(p->tree.e, fail_function(p, name, name, n));
    if (hint)
        return err_up(p->tree.e, fail_symbol(p, name, n, hint));
    if (same)
        return err_up(p->tree.e,
                      fail_symbol(p, name, n, arena_printf(a, "did you mean '%s'?", same)));
    if (*name == 'd' && variable_is_plain(lang, name + 1, n - 1))
        return err_up(p->tree.e, infix_fail_differential(p, name, n));
    if (find_part(&part, lang, name, n))
        return err_up(p->tree.e, fail_symbol(p, name, n,
                                             arena_printf(a, "write %s", apart(a, name, n, part))));
    if (!is_product(lang, name, n))
        return err_up(
            p->tree.e,
            fail_symbol(p, name, n,
                        arena_printf(a, "write \"%.*s\" for one variable, else its factors", (int)n,
                                     name)));
    return OK;
}

/* Sets *n to the bytes at `name`, an identifier of n bytes, that are one symbol: the whole of a
 * name that is declared or plain, else the first letter of a product. */
static enum err_code name_length(size_t *n, struct infix *p, const char *name)
{
    enum err_code code;
    struct arena *a = p->tree.a;
    const struct language *lang = p->tree.lang;
    size_t whole = *n;
    if (name >= p->letters_end) {
        if ((code = refuse_foreign(p, name, whole)))
            return err_up(p->tree.e, code);
        if ((whole == 1 && *name != '_') || lang_has_name(lang, name, whole) ||
            constant_of(lang, name, whole) || variable_is_plain(lang, name, whole))
            return OK;
        if ((code = check_product(p, name, whole)))
            return err_up(p->tree.e, code);
        p->letters_end = name + whole;
        infix_choose_between(
            p, name, arena_printf(a, "'%.*s' may be a product or one variable", (int)whole, name),
            letter_by_letter(a, name, whole),
            arena_printf(a, "\"%.*s\" for one variable", (int)whole, name));
    }
    bool last = whole == 1 || !isalpha((unsigned char)name[1]);
    *n = last ? whole : 1;
    return OK;
}

const char *infix_derivative(const struct infix *p, const char **x, size_t *n)
{
    const char *s = behind(p, p->at, 1);
    if (s == p->end || *s != '/')
        return NULL;
    s = behind(p, s, 1);
    if (s == p->end || *s != 'd')
        return NULL;
    *x = s + 1;
    const struct lexical_word greek = lexical_word(*x, p->end);
    bool letter = greek.text && lexical_is_greek(greek.text, strlen(greek.text));
    const char *index = *x + (letter ? greek.n : 0);
    size_t n_index = identifier_length(index, p->end);
    *n = (size_t)(index - *x) + n_index;
    if (letter)
        return arena_printf(p->tree.a, "%s%.*s", greek.text, (int)n_index, index);
    return n_index && *index != '_' ? arena_strndup(p->tree.a, *x, n_index) : NULL;
}

/* ---- symbols ---- */

/* Whether the bracket that opens here holds what only a function has: f(2), f(x, y + 1). */
static bool at_arguments(const struct infix *p, const char *open)
{
    const char *s = open + 1;
    while (s < p->end && (is_space(*s) || *s == '-'))
        s++;
    while (s < p->end && !strchr("+-*/^()|, ", *s))
        s++;
    return s < p->end && (*s == ')' || *s == ',');
}

/* f, g_1, Gamma: letters that name functions. */
static bool is_function_letter(const char *name, size_t n)
{
    static const char letters[] =
        "f g h F G H Gamma gamma Beta beta zeta eta delta Delta theta Theta "
        "phi Phi psi Psi chi xi Xi";
    return word_in(letters, name, letters_at(name, n));
}

enum err_code infix_check_power(struct infix *p, const char *at)
{
    const struct tree *t = &p->tree;
    const struct tree_node *base = &t->nodes[t->nodes[p->power].first];
    if (base->op != X_SYM || !is_function_letter(base->leaf, strlen(base->leaf)))
        return OK;
    enum err_code code = tree_fail(t, at, "%s with a power may be a function", base->leaf);
    err_hint(t->e, "for a product write %s^(...)*(...)", base->leaf);
    return code;
}

void infix_check_marks(struct infix *p, uint32_t base, uint32_t exponent, const char *at)
{
    const struct tree *t = &p->tree;
    const struct tree_node *x = &t->nodes[base], *y = &t->nodes[exponent];
    if (y->op == X_MUL && t->nodes[y->first].op == X_NUM) /* A^-T */
        y = &t->nodes[t->nodes[y->first].next];
    bool quoted = at > p->tree.source->text && strchr(")\"", at[-1]);
    if (x->op == X_SYM && y->leaf && !quoted && variable_is_marked(x->leaf, y->leaf))
        infix_choose_between(p, at, arena_printf(t->a, "%s^%s may be no power", x->leaf, y->leaf),
                             arena_printf(t->a, "(%s)^(%s)", x->leaf, y->leaf), NULL);
}

void infix_check_applied(struct infix *p)
{
    size_t n = (size_t)(p->token_end - p->token);
    if (n == 3 && p->token[0] == 'D' && p->token[1] == '_' && !is_digit(p->token[2]))
        infix_choose_between(p, p->token, "D with an index may be a derivative or a factor",
                             arena_printf(p->tree.a, "%.3s*...", p->token), NULL);
}

void infix_check_functions(struct infix *p, const char *at)
{
    const char *begin = p->tree.source->text, *s = at - 1;
    bool found = false;
    if (s <= begin || *at != '(' || *s != ')')
        return;
    for (s--; s > begin && *s && strchr(" +-*/^fghFGH0123456789", *s); s--)
        found |= is_letter(*s);
    if (found && *s == '(' && (s == begin || (!is_letter(s[-1]) && s[-1] != '_')))
        infix_choose(p, at);
}

/* Accepts a bracket after a symbol, perhaps after a space, or refuses it as the argument of a
 * function: the product is the usual reading of x(x + 1), but f(x) and x(2) have none. */
static enum err_code before_bracket(struct infix *p, const char *at, const char *name, size_t n)
{
    bool adjacent = p->at < p->end && *p->at == '(';
    if (!infix_at(p, '('))
        return OK;
    if (lexical_is(name, n, "pi") && lang_has(p->tree.lang, X_POW)) { /* pi(x) may count primes */
        const char *within = behind(p, p->at, 1);
        if (adjacent && at_arguments(p, p->at) && within < p->end && is_letter(*within))
            infix_choose(p, at);
        return OK;
    }
    size_t letters = letters_at(name, n);
    bool letter = letters == 1 || lexical_is_greek(name, letters);
    bool product = lang_has(p->tree.lang, X_MUL);
    if (!product || is_function_letter(name, n) ||
        (adjacent && (!letter || at_arguments(p, p->at))))
        return err_up(p->tree.e, fail_function(p, at, name, n));
    infix_choose(p, at);
    return OK;
}

/* i is the imaginary unit and Pi is pi to most people, and variables to some. */
static enum err_code constant(uint32_t *out, struct infix *p, const char *value, const char *name,
                              size_t n)
{
    struct tree *t = &p->tree;
    enum err_code code;
    if (!lexical_is(name, n, value))
        infix_choose_between(p, name,
                             arena_printf(t->a, "'%.*s' may be %s or a variable", (int)n, name,
                                          *value == 's' ? "the imaginary unit" : "the number pi"),
                             value, arena_printf(t->a, "\"%.*s\" for the variable", (int)n, name));
    if (*value != 's')
        return err_up(t->e, tree_leaf(out, t, X_SYM, value, name));
    code = tree_leaf(out, t, X_NUM, "-1", name);
    return err_up(t->e, code ? code : tree_apply(out, t, X_SQRT, out, 1, name));
}

/* 6.02x10^23: between digits, x may be a sign. */
static enum err_code refuse_times(struct infix *p, const char *s, size_t n)
{
    if (n < 2 || !strchr("xX", *s) || !is_digit(s[1]) || s == p->tree.source->text ||
        !is_digit(s[-1]))
        return OK;
    enum err_code code = tree_fail(&p->tree, s, "x between digits may be a sign or a variable");
    err_hint(p->tree.e, "write 2*10 for a product of numbers, 2*%c10 for the variable %c10", *s,
             *s);
    return code;
}

enum err_code infix_symbol(uint32_t *out, struct infix *p, const char *s, size_t n)
{
    enum err_code code;
    struct tree *t = &p->tree;
    if (n > EXPR_MAX_NAME)
        return tree_fail(t, s, "a name has more than %d characters", EXPR_MAX_NAME);
    if ((code = refuse_times(p, s, n)))
        return err_up(t->e, code);
    if ((code = name_length(&n, p, s)))
        return err_up(t->e, code);
    p->at = s;
    infix_take(p, n);
    const char *value = lang_has_name(t->lang, s, n) ? NULL : constant_of(t->lang, s, n);
    if ((code = before_bracket(p, s, s, n)))
        return err_up(t->e, code);
    if (value)
        return err_up(t->e, constant(out, p, value, s, n));
    if (lexical_is(s, n, "E") && lang_has(t->lang, X_POW) && !lang_has_name(t->lang, s, n))
        infix_choose_between(p, s, "'E' may be Euler's number or a variable", "\"E\"",
                             "e for Euler's number");
    return err_up(t->e, tree_leaf(out, t, X_SYM, variable_leaf(t->a, t->lang, s, n), s));
}

enum err_code infix_quoted(uint32_t *out, struct infix *p)
{
    struct tree *t = &p->tree;
    const char *s = p->at;
    size_t n = identifier_length(s + 1, p->end);
    bool closed = n && s + n + 1 < p->end && s[n + 1] == '"';
    if (!closed || n > EXPR_MAX_NAME || lang_is_constant(arena_strndup(t->a, s + 1, n))) {
        enum err_code code = tree_fail(t, s, "a name in quotes is letters, digits and _");
        err_hint(t->e, "\"speed\" is a variable");
        return code;
    }
    infix_take(p, n + 2);
    if (infix_at(p, '('))
        infix_choose(p, s);
    return err_up(t->e, tree_leaf(out, t, X_SYM, variable_leaf(t->a, t->lang, s + 1, n), s));
}

enum err_code infix_greek(uint32_t *out, struct infix *p, const char *name, const char *at)
{
    enum err_code code;
    struct tree *t = &p->tree;
    size_t up = 0, n = strlen(name);
    bool power = lexical_superscript(t->a, p->at, p->end, &up) != NULL;
    const char *beside = p->at + (power ? up : 0);
    size_t letter = beside < p->end ? identifier_length(beside, p->end) : 0;
    if (letter && (strcmp(name, "Delta") == 0 || strcmp(name, "delta") == 0)) {
        code = tree_fail(t, at, "'%s' before a letter may be a factor or a difference", name);
        if (power)
            err_hint(t->e, "write %s^n*%.*s for a product", name, (int)letter, beside);
        else
            err_hint(t->e, "write %s*%.*s for a product, \"%s%.*s\" for one variable", name,
                     (int)letter, p->at, name, (int)letter, p->at);
        return code;
    }
    const char *next = behind(p, p->at, 0);
    bool factor = next < p->end && (is_letter(*next) || is_digit(*next) || *next == '(' ||
                                    lexical_word(next, p->end).text);
    if (factor && (strncmp(name, "Sigma", 5) == 0 || strncmp(name, "Pi", 2) == 0)) {
        code = tree_fail(t, at, "'%s' before a factor may be a sum or a product", name);
        err_hint(t->e, "sums are not in the language; for a factor write %s*...", name);
        return code;
    }
    if ((code = before_bracket(p, at, name, n)))
        return err_up(t->e, code);
    return err_up(t->e, tree_leaf(out, t, X_SYM, variable_leaf(t->a, t->lang, name, n), at));
}
