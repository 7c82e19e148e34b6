#include "ops/latex/read/latex_names.h"

#include "base/text/words.h"
#include "ops/expr/syntax/lexical.h"
#include "ops/expr/syntax/variable_name.h"

/* ---- letters ---- */

/* Returns the name of a letter as KaTeX spells it: x, \theta, θ; "" if it is none. */
static const char *letter(struct latex_reading *r, const char *s)
{
    size_t n = strlen(s);
    const struct lexical_word typed = lexical_word(s, s + n);
    if (is_letter(*s) && n == 1 && *s != '_')
        return arena_strdup(r->a, s);
    if (typed.n == n && n == 2)
        return typed.text;
    if (*s == '\\' && (lexical_letter(s + 1, n - 1) || word_in("ell hbar omicron", s + 1, n - 1)))
        return arena_strdup(r->a, s + 1);
    return "";
}

/* Returns letters and digits side by side, and \_, as one name; "" if there is anything else. */
static const char *word(struct latex_reading *r, const json_t *body)
{
    struct buf b = {0};
    const json_t *list = latex_inside(r, body);
    bool is_name = json_array_size(list) > 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *node = json_array_get(list, i);
        const char *s = latex_sign(node);
        if (latex_is_digit(node) || !strcmp(s, "\\_"))
            buf_puts(&b, s + (*s == '\\'));
        else
            buf_puts(&b, s = letter(r, s));
        is_name = is_name && *s && (!i || latex_adjacent(json_array_get(list, i - 1), node));
    }
    const char *out = is_name ? arena_strndup(r->a, b.data, b.len) : "";
    buf_free(&b);
    return out;
}

/* The only node of a body; NULL if there are several. */
static const json_t *only(struct latex_reading *r, const json_t *body)
{
    const json_t *list = latex_inside(r, body);
    return json_array_size(list) == 1 ? json_array_get(list, 0) : NULL;
}

const char *latex_name(enum latex_kind *kind, struct latex_reading *r, const json_t *node)
{
    const char *font = latex_field(node, "font");
    const json_t *body = json_object_get(node, "body");
    *kind = LATEX_LETTER;
    if (latex_is_type(node, "mathord textord"))
        return letter(r, latex_sign(node));
    if (latex_is_type(node, "mclass"))
        return latex_is_type(only(r, body), "font") ? latex_name(kind, r, only(r, body)) : "";
    if (latex_is_type(node, "operatorname") || !strcmp(font, "mathrm")) {
        *kind = LATEX_WORD;
        return word(r, body);
    }
    const char *name =
        latex_is_type(node, "font") && only(r, body) ? letter(r, latex_sign(only(r, body))) : "";
    bool italic = word_in("mathnormal mathit", font, strlen(font));
    if (italic && (lang_is_constant(name) || (is_letter(*name) && name[1] && name[0] < 'a')))
        return ""; /* \mathit{e} is no constant, \mathit{\Gamma} no letter */
    return italic || !*name ? name : arena_printf(r->a, "%s_%s", font, name);
}

/* The letters and digits of an index: x_{ij}, x_{12}, x_{\mathrm{max}}. */
static const char *index_name(struct latex_reading *r, const json_t *sub)
{
    struct buf b = {0};
    const json_t *list = latex_inside(r, sub);
    bool is_name = json_array_size(list) > 0;
    for (size_t i = 0; is_name && i < json_array_size(list); i++) {
        const json_t *node = json_array_get(list, i);
        enum latex_kind kind;
        const char *s = latex_is_digit(node)          ? latex_sign(node)
                        : latex_is_type(node, "text") ? word(r, json_object_get(node, "body"))
                        : latex_is_type(node, "op")   ? latex_field(node, "name") + 1
                                                      : latex_name(&kind, r, node);
        buf_puts(&b, s);
        is_name = *s;
    }
    const char *out = is_name ? arena_strndup(r->a, b.data, b.len) : "";
    buf_free(&b);
    return out;
}

/* ---- variables and constants ---- */

bool latex_is_d(const json_t *node, bool *partial)
{
    const char *sign = latex_sign(node);
    const json_t *body = json_object_get(node, "body");
    while (latex_is_type(body, "ordgroup") && json_array_size(json_object_get(body, "body")) == 1)
        body = json_array_get(json_object_get(body, "body"), 0);
    *partial = word_in("\\partial ∂", sign, strlen(sign));
    return *partial || !strcmp(sign, "d") ||
           (!strcmp(latex_field(node, "font"), "mathrm") && !strcmp(latex_sign(body), "d"));
}

bool latex_is_letter(struct latex_reading *r, const json_t *node, const char *letter)
{
    enum latex_kind kind;
    const char *name = node ? latex_name(&kind, r, node) : "", *font = strrchr(name, '_');
    return !strcmp(font ? font + 1 : name, letter);
}

static struct latex_value refuse_differential(struct latex_reading *r, const json_t *node)
{
    return latex_refuse(r, node, "write \\frac{\\mathrm d}{\\mathrm d x} for a derivative",
                        "a differential cannot be read");
}

static struct latex_value imaginary(struct latex_reading *r, const json_t *node)
{
    if (!latex_usual(r, node, "i is read as \\sqrt{-1}; a variable is \\mathit{i}"))
        return latex_none;
    return (struct latex_value){"sqrt -1", LATEX_TERM};
}

/* sin of sinx and cos2x, d of dx: the operator whose name stands before one letter or a number; -1
 * if there is none. */
static int leading_operator(const struct latex_reading *r, const char *name)
{
    for (size_t n = strlen(name) - 1; n > 0; n--) {
        const char *rest = name + n + strspn(name + n, "0123456789");
        int op = lang_find(r->lang, name, n);
        if (op >= 0 && r->lang->ops[op].arity &&
            (strlen(rest) < 2 || lexical_is_greek(rest, strlen(rest))))
            return op;
    }
    return -1;
}

/* A name of several upright letters, or of one. */
static struct latex_value upright(struct latex_reading *r, const json_t *node, const char *name)
{
    if (!strcmp(name, "i") && lang_has(r->lang, X_POW))
        return imaginary(r, node);
    int op = leading_operator(r, name);
    if (op == X_D)
        return refuse_differential(r, node);
    if (op >= 0 &&
        !latex_note(r, node, "%s is read as the variable %s", latex_typed(r, node), name))
        return latex_none;
    if (!name[1] && strcmp(name, "e") &&
        !latex_note(r, node, "the upright %s is read as the variable %s", name, name))
        return latex_none;
    return (struct latex_value){name, lang_is_constant(name) ? LATEX_LETTER : LATEX_WORD};
}

struct latex_value latex_read_name(struct latex_reading *r, const json_t *node, const json_t *sub,
                                   bool raised)
{
    enum latex_kind kind;
    const char *name = latex_name(&kind, r, node), *index = sub ? index_name(r, sub) : "";
    if (latex_is_type(node, "text"))
        return latex_refuse(r, node, NULL, "words in '%s' are no part of an expression",
                            latex_typed(r, node));
    if (!*name || is_digit(*name))
        return latex_unknown(r, node);
    if (sub && !*index)
        return latex_refuse(r, sub, NULL, "an index consists of letters and digits");
    if (sub)
        return (struct latex_value){arena_printf(r->a, "%s_%s", name, index), kind};
    int op = lexical_is_greek(name, strlen(name)) ? -1 : lang_find(r->lang, name, strlen(name));
    bool is_d = op == X_D;
    if (is_d && kind == LATEX_WORD)
        return refuse_differential(r, node);
    if (op >= 0 && !is_d && r->lang->ops[op].arity)
        return latex_refuse(r, node, NULL, "%s is a function and has no argument here", name);
    if (op >= 0 && !is_d)
        return (struct latex_value){lang_token(r->lang, (unsigned)op), LATEX_TERM};
    if (kind == LATEX_WORD)
        return upright(r, node, name);
    bool special = lang_has(r->lang, X_POW) && !latex_is_type(node, "font");
    if (special && !strcmp(name, "e") && !raised &&
        !latex_usual(r, node, "e is read as Euler's number"))
        return latex_none;
    if (special && !strcmp(name, "i"))
        return imaginary(r, node);
    if (special && !strcmp(name, "I") &&
        !latex_usual(r, node, "I is read as a variable; \\mathit{I} is one, i is \\sqrt{-1}"))
        return latex_none;
    return (struct latex_value){variable_leaf(r->a, r->lang, name, strlen(name)), LATEX_LETTER};
}

/* ---- functions ---- */

/* Returns the declared operator that LaTeX writes like this, or -1: \Gamma, \operatorname{erf}. */
static int declared(const struct language *lang, const char *latex)
{
    for (int op = X_DECLARED; op < lang->n_ops; op++)
        if (lang->ops[op].token && lang->ops[op].arity && !strcmp(lang->ops[op].latex, latex) &&
            lang_shape(&lang->ops[op]) == LANG_FUNCTION)
            return op;
    return -1;
}

/* Returns the function of this name, or -1. */
static int named(const struct language *lang, const char *name)
{
    static const char *const hyperbolic[][2] = {{"sh", "sinh"}, {"ch", "cosh"}, {"th", "tanh"}};
    if (!strcmp(name, "exp") && lang_has(lang, X_POW))
        return LATEX_EXP;
    for (size_t i = 0; i < sizeof hyperbolic / sizeof *hyperbolic; i++)
        if (!strcmp(name, hyperbolic[i][0]))
            name = hyperbolic[i][1];
    int op = lang_find(lang, name, strlen(name));
    return op >= 0 && op != X_D && lang->ops[op].arity && !lang->ops[op].infix ? op : -1;
}

int latex_function(struct latex_reading *r, const json_t *node)
{
    enum latex_kind kind = LATEX_WORD;
    const char *sign = latex_is_type(node, "op") ? latex_field(node, "name") : latex_sign(node);
    const char *name = sign + (*sign == '\\');
    if (latex_is_type(node, "operatorname font"))
        name = latex_name(&kind, r, node);
    if (!*name || kind != LATEX_WORD)
        return -1;
    int op = declared(r->lang, sign);
    if (op >= 0 && lexical_is_greek(name, strlen(name)) && !latex_before_bracket(r, node))
        return -1; /* \Gamma is a letter unless it is applied */
    if (op < 0 && (*sign != '\\' || latex_is_type(node, "op")))
        op = declared(r->lang, arena_printf(r->a, "\\operatorname{%s}", name));
    return op < 0 && !*latex_sign(node) ? named(r->lang, name) : op;
}

int latex_logarithm(struct latex_reading *r, const json_t *sub)
{
    return declared(r->lang, arena_printf(r->a, "\\log_{%s}", index_name(r, sub)));
}

const char *latex_token(const struct latex_reading *r, int function)
{
    return function == LATEX_EXP ? "exp" : lang_token(r->lang, (unsigned)function);
}

unsigned latex_arity(const struct latex_reading *r, int function)
{
    return function == LATEX_EXP ? 1 : r->lang->ops[function].arity;
}

int latex_inverse(struct latex_reading *r, const json_t *node, int function)
{
    const char *name = latex_typed(r, node);
    int inverse = function == LATEX_EXP ? -1 : r->lang->ops[function].inverse;
    if (inverse < 0)
        latex_refuse(r, node, NULL, "%s^{-1} may be its inverse or 1/%s", name, name);
    else if (!latex_note(r, node, "%s^{-1} is read as the inverse function %s", name,
                         r->lang->ops[inverse].name))
        return -1;
    return inverse;
}
