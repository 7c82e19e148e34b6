#include "ops/latex/read/latex_readings.h"

#include "base/text/words.h"
#include "ops/expr/syntax/lexical.h"
#include "ops/latex/read/latex_names.h"

/* ---- letters of a font ---- */

static bool begins(const char *s, const char *with)
{
    return !strncmp(s, with, strlen(with));
}

static bool is_applied(const char *name)
{
    return begins(name, "mathbb_") || begins(name, "mathcal_") || begins(name, "mathscr_");
}

static bool is_styled(const char *token)
{
    token += *token == '?';
    return is_applied(token) || begins(token, "mathbf_") || begins(token, "boldsymbol_") ||
           begins(token, "mathsf_") || begins(token, "mathfrak_");
}

/* The first such letter that is not `other`; NULL if there is none. */
static const char *styled(struct latex_reading *r, struct latex_value x, const char *other)
{
    for (const char *s = x.text; *s; s += strspn(s, " ")) {
        size_t n = strcspn(s, " ");
        const char *token = arena_strndup(r->a, s, n);
        if (is_styled(token) && (!other || strcmp(token, other)))
            return token;
        s += n;
    }
    return NULL;
}

bool latex_check_product(struct latex_reading *r, const json_t *node, struct latex_value x,
                         struct latex_value y)
{
    const char *first = x.text && y.text ? styled(r, x, NULL) : NULL;
    const char *second = first ? styled(r, y, NULL) : NULL;
    return !second || latex_note(r, node, "%s and %s are read as numbers, whose product commutes",
                                 first, second);
}

bool latex_check_divisor(struct latex_reading *r, const json_t *node, struct latex_value x)
{
    const char *name = x.text ? styled(r, x, NULL) : NULL;
    return !name || latex_note(r, node, "%s is read as a number, which may divide another", name);
}

bool latex_check_raised(struct latex_reading *r, const json_t *node, struct latex_value base,
                        struct latex_value exponent)
{
    const char *first = base.text && exponent.text ? styled(r, base, NULL) : NULL;
    const char *second = first ? styled(r, base, first) : NULL;
    if (first && !second)
        second = styled(r, exponent, NULL);
    return !second || latex_note(r, node, "%s and %s are read as numbers, whose product commutes",
                                 first, second);
}

bool latex_check_bars(struct latex_reading *r, const json_t *node, struct latex_value x)
{
    const char *name = x.text ? styled(r, x, NULL) : NULL;
    return !name ||
           latex_note(r, node, "the bars around %s are read as the absolute value of a number",
                      name);
}

/* ---- brackets and roots ---- */

/* The sign that opens a node's brackets, or "". */
static const char *opening(const json_t *node)
{
    return latex_is_type(node, "leftright") ? latex_field(node, "left") : latex_sign(node);
}

/* Whether all that a bracket holds is a fraction over p or q, often primes. */
static bool is_over_prime(struct latex_reading *r, const json_t *inside, struct latex_value x)
{
    const json_t *over = latex_inside(r, json_object_get(inside, "denom"));
    const char *last = strrchr(x.text, ' ');
    return last && *x.text == '/' && json_array_size(over) == 1 &&
           word_in("p q", last + 1, strcspn(last + 1, "_"));
}

bool latex_check_double(struct latex_reading *r, const json_t *open, const json_t *first,
                        struct latex_value x, bool argument)
{
    const char *outer, *inner, *sign = opening(latex_base(open));
    bool single = x.text && x.kind == LATEX_BRACKETS; /* nothing stands beside what is in it */
    const json_t *inside = latex_base(first);
    if (x.text && *sign == '(' && !argument && !latex_part(open, "sup") &&
        is_over_prime(r, inside, x))
        return latex_usual(r, open,
                           "the bracket is read as a fraction, not as a symbol of Legendre");
    if (single && !argument && latex_is_type(inside, "genfrac"))
        latex_refuse(r, open, "write \\binom{n}{k} alone for the binomial coefficient",
                     "brackets around \\binom may be a multiset coefficient");
    else if (single && *sign != '(' && latex_closing(&outer, sign) &&
             latex_closing(&inner, opening(latex_base(first))) && !strcmp(outer, inner) &&
             (*outer || *opening(latex_base(first)) == *sign))
        latex_refuse(r, open, *outer ? "write |x| for an absolute value" : NULL,
                     "double brackets have a meaning of their own");
    return !r->problem;
}

/* Whether a value of positive variables may be negative. */
static bool may_be_negative(const struct latex_reading *r, struct latex_value x)
{
    static const char signs[] = "+ * / pow sqrt abs";
    for (const char *s = x.text; *s; s += strspn(s, " ")) {
        size_t n = strcspn(s, " ");
        if (*s == '-' || (!word_in(signs, s, n) && lang_find_token(r->lang, s, n) >= 0))
            return true;
        s += n;
    }
    return false;
}

bool latex_check_root(struct latex_reading *r, const json_t *node, struct latex_value x,
                      struct latex_value index)
{
    bool even = index.text && index.kind == LATEX_NUMBER &&
                (index.text[strlen(index.text) - 1] - '0') % 2 == 0;
    return !x.text || !index.text || even || !may_be_negative(r, x) ||
           latex_usual(r, node,
                       "the root is read as the principal one, complex for negative numbers");
}

/* ---- side by side ---- */

static bool refuse(struct latex_reading *r, const json_t *node, const char *hint, const char *what)
{
    latex_refuse(r, node, hint, "%s", what);
    return false;
}

/* Whether the bracket at the list's position holds a sum, and so no argument but a factor. */
static bool holds_sum(const struct latex_list *l)
{
    const json_t *node = latex_base(latex_next(l)), *body = json_object_get(node, "body");
    const char *function, *close = latex_closing(&function, latex_sign(node));
    for (size_t i = body ? 0 : l->at + 1, depth = 0;; i++) {
        const json_t *item = json_array_get(body ? body : l->items, i);
        const char *sign = latex_sign(latex_base(item));
        if (!item || (!body && !depth && !strcmp(sign, close)))
            return false;
        if (!depth && i > (body ? 0 : l->at + 1) && (latex_is_minus(sign) || !strcmp(sign, "+")))
            return true;
        depth += latex_opens(sign);
        depth -= depth && latex_is_close(sign);
    }
}

/* Whether the bracket at the list's position holds a single letter. */
static bool holds_letter(struct latex_reading *r, const struct latex_list *l)
{
    enum latex_kind kind;
    const json_t *body = json_object_get(latex_base(latex_next(l)), "body");
    const json_t *list = body ? body : l->items;
    size_t first = body ? 0 : l->at + 1;
    const json_t *behind = json_array_get(list, first + 1);
    return *latex_name(&kind, r, latex_base(json_array_get(list, first))) &&
           (body ? !behind : latex_is_close(latex_sign(latex_base(behind))));
}

/* f(x), x(y + 1), f^{-1}(x), \pi(x); f (x) is taken for a product, as in infix. */
static bool check_call(struct latex_reading *r, const struct latex_list *l, struct latex_value last,
                       const json_t *before)
{
    bool raised = last.kind == LATEX_RAISED;
    const char *power = raised ? last.text + strlen("pow ") : last.text;
    const char *name = arena_strndup(r->a, power, strcspn(power, " "));
    const char *letter = arena_strndup(r->a, name, strcspn(name, "_"));
    bool gap = latex_after_space(r, latex_next(l));
    bool function =
        last.kind == LATEX_WORD ||
        (!gap && (!holds_sum(l) || word_in("f g h F G H Gamma zeta psi", letter, strlen(letter))));
    if (lang_is_constant(name) && !raised)
        return strcmp(name, "pi") || gap || !holds_letter(r, l) ||
               latex_usual(r, before, "%s before a bracket is read as a factor",
                           latex_shown(r, last));
    if (!function)
        return latex_usual(r, before, "%s before a bracket is read as a factor",
                           latex_shown(r, last));
    latex_refuse(
        r, before,
        last.kind == LATEX_WORD
            ? "functions that are not declared cannot be read"
            : arena_printf(r->a, "for the product write %s \\cdot (...)", latex_typed(r, before)),
        "%s%s(...) may be a product or a function", name, raised ? "^..." : "");
    return false;
}

/* Whether this is a fraction of integers, as in 2\frac12. */
static bool is_numeric(struct latex_reading *r, const json_t *base)
{
    static const char *const parts[] = {"numer", "denom"};
    for (size_t k = 0; k < 2; k++) {
        const json_t *list = latex_inside(r, json_object_get(base, parts[k]));
        for (size_t i = 0; i < json_array_size(list); i++)
            if (!latex_is_digit(json_array_get(list, i)))
                return false;
    }
    return latex_is_type(base, "genfrac");
}

static bool is_upright(struct latex_reading *r, const json_t *base)
{
    enum latex_kind kind;
    return latex_is_type(base, "font operatorname") && *latex_name(&kind, r, base) &&
           kind == LATEX_WORD && strcmp(latex_name(&kind, r, base), "e");
}

/* Whether all letters of what was in a bracket are names of functions: (f + g)(x). */
static bool holds_functions(const struct latex_reading *r, const char *text)
{
    bool found = false;
    for (size_t n; *text; text += n + (text[n] == ' ')) {
        n = strcspn(text, " ");
        bool function = word_in("f g h F G H", text, n);
        if (!function && !is_digit(*text) && lang_find_token(r->lang, text, n) < 0)
            return false;
        found |= function;
    }
    return found;
}

/* \mathbb{E} X, D_x y: letters that are applied as often as they multiply. */
static bool check_applied(struct latex_reading *r, struct latex_value last, const json_t *before)
{
    bool name = last.kind == LATEX_LETTER || last.kind == LATEX_RAISED;
    const char *letter = last.text + (last.kind == LATEX_RAISED ? strlen("pow ") : 0);
    size_t n = strcspn(letter, " "), index = n > 2 ? n - 2 : 0;
    bool by = !strncmp(letter, "D_", 2) &&
              ((index == 1 && is_letter(letter[2])) || lexical_is_greek(letter + 2, index));
    return !name || (!by && !is_applied(letter)) ||
           latex_usual(r, before, "%s beside a factor is read as a factor, not as an operator",
                       arena_strndup(r->a, letter, n));
}

bool latex_check_beside(struct latex_reading *r, const struct latex_list *l,
                        struct latex_value last, const json_t *before, bool over)
{
    const json_t *node = latex_next(l), *base = latex_base(node);
    const char *sign = latex_sign(base);
    if (!strcmp(sign, "\\times") && is_styled(last.text))
        return refuse(r, node, "write \\cdot for a product of numbers",
                      "\\times after a letter of this font may be a cross product");
    if (latex_is_times(sign) || latex_is_over(sign))
        return true;
    if (over)
        return refuse(r, node, "write \\frac{a}{b} c, or \\frac{a}{b c}",
                      "a/b c may be (a/b)*c or a/(b*c)");
    bool name = last.kind == LATEX_LETTER || last.kind == LATEX_WORD || last.kind == LATEX_RAISED;
    if (name && latex_is_open(base))
        return check_call(r, l, last, before);
    if ((last.kind == LATEX_BRACKETS || last.kind == LATEX_POWER) && latex_is_open(base) &&
        holds_functions(r, last.text))
        return latex_usual(r, node, "%s before a bracket is read as a factor",
                           latex_shown(r, last));
    if (last.kind == LATEX_WORD && latex_is_type(before, "operatorname"))
        return refuse(r, before, NULL,
                      arena_printf(r->a, "no function has the name %s", last.text));
    if (last.kind == LATEX_NUMBER && (is_numeric(r, base) || latex_is_digit(base)))
        return refuse(r, node, "write \\cdot or one number",
                      "two numbers side by side may be a product or a mixed number");
    if (latex_is_digit(base) && !(latex_part(node, "sup") && !latex_adjacent(before, node)))
        return refuse(r, node, "write \\cdot before it", "a number follows a factor");
    if (last.kind == LATEX_NUMBER && is_upright(r, base) && !latex_is_type(base, "operatorname"))
        return refuse(r, node, "write \\cdot for a product",
                      "upright letters after a number are a unit, not a factor");
    if (last.kind == LATEX_WORD || (is_upright(r, base) && latex_function(r, base) < 0))
        return latex_note(r, node, "upright letters beside a factor are read as a factor");
    if (!check_applied(r, last, before))
        return false;
    const char *letter = last.text + (last.kind == LATEX_RAISED ? strlen("pow ") : 0);
    letter += *letter == '"';
    size_t n = strcspn(letter, "_ \"");
    if (name && ((word_in("Delta delta", letter, n) && latex_is_type(base, "mathord")) ||
                 word_in("Sigma Pi", letter, n)))
        return refuse(r, before, "write \\cdot for a product",
                      arena_printf(r->a, "\\%.*s here may be a factor or a %s", (int)n, letter,
                                   *letter == 'D' || *letter == 'd' ? "difference"
                                   : *letter == 'S'                 ? "sum"
                                                                    : "product"));
    if (!strcmp(last.text, "\"d\"") && latex_is_type(base, "mathord"))
        return latex_usual(r, before, "d %s is read as a product, not as a differential",
                           latex_typed(r, base));
    if (l->bar && last.kind != LATEX_BRACKETS && !strcmp(sign, "|"))
        return latex_note(r, node, "the bars before are read as a pair");
    return true;
}

bool latex_ends_product(struct latex_reading *r, const json_t *node, const char *stop,
                        bool argument)
{
    const json_t *base = latex_base(node);
    const char *function, *sign = latex_sign(base);
    if (!node || !strcmp(latex_field(base, "family"), "rel") || latex_is_minus(sign) ||
        word_in("+ ,", sign, strlen(sign)) || latex_is_close(sign) ||
        (*stop && !strcmp(sign, stop)))
        return true;
    bool bracket = latex_is_type(base, "leftright") || latex_closing(&function, sign);
    return argument &&
           (latex_function(r, base) >= 0 || latex_is_times(sign) || latex_is_over(sign) || bracket);
}
