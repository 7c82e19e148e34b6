/* Writes trees for people, as LaTeX and as presentation MathML, which browsers render natively:
 * fractions, roots, sin^2(x), products by juxtaposition where that is unambiguous. Parentheses show
 * the tree: a + (b + c) is not a + b + c. Names of Greek letters become these letters. */
#include "base/text/words.h"
#include "ops/expr/expr.h"
#include "ops/expr/syntax/lexical.h"
#include "ops/expr/syntax/variable_name.h"

#include <string.h>

/* Text before, between and after the parts. */
struct style {
    bool mathml;
    const char *group[2], *fraction[3], *power[3], *index[3], *root[2], *absolute[2],
        *derivative[2], *floor[2], *ceiling[2], *binomial[3], *factorial;
    const char *number[2], *plus, *minus, *sign, *beside, *times, *comma, *apply;
};

static const struct style latex = {
    .group = {"\\left(", "\\right)"},
    .fraction = {"\\frac{", "}{", "}"},
    .power = {"", "^{", "}"},
    .index = {"", "_{", "}"},
    .root = {"\\sqrt{", "}"},
    .absolute = {"\\left|", "\\right|"},
    .derivative = {"\\frac{d}{d", "}"},
    .floor = {"\\left\\lfloor ", "\\right\\rfloor "},
    .ceiling = {"\\left\\lceil ", "\\right\\rceil "},
    .binomial = {"\\binom{", "}{", "}"},
    .factorial = "!",
    .number = {"", ""},
    .plus = " + ",
    .minus = " - ",
    .sign = "-",
    .beside = " ",
    .times = " \\cdot ",
    .comma = ", ",
    .apply = "",
};

static const struct style mathml = {
    .mathml = true,
    .group = {"<mrow><mo>(</mo>", "<mo>)</mo></mrow>"},
    .fraction = {"<mfrac><mrow>", "</mrow><mrow>", "</mrow></mfrac>"},
    .power = {"<msup><mrow>", "</mrow><mrow>", "</mrow></msup>"},
    .index = {"<msub>", "", "</msub>"},
    .root = {"<msqrt>", "</msqrt>"},
    .absolute = {"<mrow><mo>|</mo>", "<mo>|</mo></mrow>"},
    .derivative = {"<mfrac><mi>d</mi><mrow><mi>d</mi>", "</mrow></mfrac>"},
    .floor = {"<mrow><mo>&#x230A;</mo>", "<mo>&#x230B;</mo></mrow>"},
    .ceiling = {"<mrow><mo>&#x2308;</mo>", "<mo>&#x2309;</mo></mrow>"},
    .binomial = {"<mrow><mo>(</mo><mfrac linethickness=\"0\"><mrow>", "</mrow><mrow>",
                 "</mrow></mfrac><mo>)</mo></mrow>"},
    .factorial = "<mo>!</mo>",
    .number = {"<mn>", "</mn>"},
    .plus = "<mo>+</mo>",
    .minus = "<mo>&#x2212;</mo>",
    .sign = "<mo>&#x2212;</mo>",
    .beside = "<mo>&#x2062;</mo>",
    .times = "<mo>&#x22C5;</mo>",
    .comma = "<mo>,</mo>",
    .apply = "<mo>&#x2061;</mo>",
};

struct writer {
    struct buf *out;
    const struct expr *x;
    const struct style *style;
};

/* Binding strength: the contexts in which a piece needs no parentheses. */
enum { SUM = 1, DERIVATIVE, PRODUCT, TALL, ATOM };

static void write_node(const struct writer *w, uint32_t i);

static unsigned strength(const struct writer *w, const struct expr_node *node)
{
    if (node->op >= X_DECLARED && lang_shape(&w->x->lang->ops[node->op]) == LANG_FACTORIAL)
        return TALL;
    switch (node->op) {
    case X_NUM: return node->leaf[0] == '-' ? SUM : strchr(node->leaf, '/') ? TALL : ATOM;
    case X_ADD:
    case X_SUB: return SUM;
    case X_MUL: return expr_node_is(node + 1, X_NUM, "-1") ? SUM : PRODUCT;
    case X_D: return DERIVATIVE; /* it extends to the end of a product */
    case X_DIV:
    case X_POW: return TALL;
    default: return ATOM;
    }
}

static void put(const struct writer *w, const char *text)
{
    buf_puts(w->out, text);
}

static void write_group(const struct writer *w, uint32_t i, bool parentheses)
{
    put(w, parentheses ? w->style->group[0] : "");
    write_node(w, i);
    put(w, parentheses ? w->style->group[1] : "");
}

/* Fonts of a single letter, as LaTeX and MathML name them: mathcal_L is the name of \mathcal{L}. */
static const struct font {
    const char *latex, *mathml;
} fonts[] = {
    {"mathcal", "script"},       {"mathscr", "script"},         {"mathbf", "bold"},
    {"mathbb", "double-struck"}, {"mathfrak", "fraktur"},       {"mathsf", "sans-serif"},
    {"mathtt", "monospace"},     {"boldsymbol", "bold-italic"},
};

/* Returns the font of a name, and sets *length to that of font and letter; NULL if it has none. */
static const struct font *font_of(size_t *length, const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof fonts / sizeof *fonts; i++) {
        size_t at = strlen(fonts[i].latex) + 1, letter = 0;
        if (at >= n || strncmp(name, fonts[i].latex, at - 1) || name[at - 1] != '_')
            continue;
        while (at + letter < n && name[at + letter] != '_')
            letter++;
        if (letter != 1 && !lexical_letter(name + at, letter))
            return NULL;
        *length = at + letter;
        return &fonts[i];
    }
    return NULL;
}

/* Writes a letter, or several upright ones. */
static void write_symbol(const struct writer *w, const char *name, size_t n)
{
    size_t length = 0;
    const struct font *font = font_of(&length, name, n);
    bool is_mathml = w->style->mathml;
    font = length == n ? font : NULL;
    size_t skip = font ? strlen(font->latex) + 1 : 0;
    unsigned code = lexical_letter(name + skip, n - skip);
    if (is_mathml)
        buf_printf(w->out, font ? "<mi mathvariant=\"%s\">" : "<mi>", font ? font->mathml : "");
    else if (font || (n > 1 && !code))
        buf_printf(w->out, "\\%s{", font ? font->latex : "mathrm");
    if (is_mathml && code)
        buf_printf(w->out, "&#x%X;", code);
    else if (code)
        put(w, "\\");
    for (size_t i = skip; i < n && !(is_mathml && code); i++)
        if (is_mathml && strchr("<>&\"", name[i]))
            buf_printf(w->out, "&#%d;", name[i]);
        else
            buf_printf(w->out, "%s%c", name[i] == '_' && !is_mathml ? "\\" : "", name[i]);
    put(w, is_mathml ? "</mi>" : font || (n > 1 && !code) ? "}" : "");
}

static void write_digits(const struct writer *w, const char *digits, size_t n);

/* The length of a name without its index: all of it if what follows is none. */
static size_t base_length(const char *name, size_t n)
{
    const char *bar = memchr(name, '_', n);
    size_t at = bar ? (size_t)(bar - name) : n;
    if (font_of(&at, name, n) && at == n)
        return n;
    bool index = at > 0 && at + 1 < n && !memchr(name + at + 1, '_', n - at - 1);
    return index ? at : n;
}

/* a_b is written with an index. */
static void write_name(const struct writer *w, const char *leaf)
{
    size_t n;
    const char *name = variable_of(&n, leaf);
    size_t at = base_length(name, n);
    if (at == n) {
        write_symbol(w, name, n);
        return;
    }
    put(w, w->style->index[0]);
    write_symbol(w, name, at);
    put(w, w->style->index[1]);
    if (strspn(name + at + 1, "0123456789") == n - at - 1)
        write_digits(w, name + at + 1, n - at - 1);
    else
        write_symbol(w, name + at + 1, n - at - 1);
    put(w, w->style->index[2]);
}

static void write_digits(const struct writer *w, const char *digits, size_t n)
{
    buf_printf(w->out, "%s%.*s%s", w->style->number[0], (int)n, digits, w->style->number[1]);
}

static void write_number(const struct writer *w, const char *number)
{
    const char *bar = strchr(number, '/');
    put(w, *number == '-' ? w->style->sign : "");
    number += *number == '-';
    if (!bar) {
        write_digits(w, number, strlen(number));
        return;
    }
    put(w, w->style->fraction[0]);
    write_digits(w, number, (size_t)(bar - number));
    put(w, w->style->fraction[1]);
    write_digits(w, bar + 1, strlen(bar + 1));
    put(w, w->style->fraction[2]);
}

/* Whether the text begins with a digit: then a product needs a dot before it. */
static bool begins_with_digit(const struct expr_node *node)
{
    while (node->op == X_MUL || node->op == X_POW || node->op == X_ADD || node->op == X_SUB)
        node++;
    return node->op == X_NUM;
}

static bool is_function(const struct expr_node *node)
{
    return node->op >= X_LN && node->op < X_DECLARED;
}

/* MathML writes "\operatorname{arsinh}" as arsinh and "\land" as its character. */
static void write_operator(const struct writer *w, uint16_t op)
{
    static const char *const signs[X_BOOLEAN_END] = {
        [X_TRUE] = "<mi>&#x22A4;</mi>",    [X_FALSE] = "<mi>&#x22A5;</mi>",
        [X_NOT] = "<mo>&#xAC;</mo>",       [X_AND] = "<mo>&#x2227;</mo>",
        [X_XOR] = "<mo>&#x2295;</mo>",     [X_OR] = "<mo>&#x2228;</mo>",
        [X_IMPLIES] = "<mo>&#x21D2;</mo>",
    };
    const char *name = w->x->lang->ops[op].latex, *brace = strchr(name, '{');
    if (!w->style->mathml) {
        buf_printf(w->out, w->x->lang->ops[op].infix ? " %s " : "%s", name);
    } else if (lang_is(w->x->lang, &lang_boolean) && op < X_BOOLEAN_END && signs[op]) {
        put(w, signs[op]);
    } else if (brace && brace[-1] == '_') { /* \log_{10} */
        buf_printf(w->out, "<msub><mi>%.*s</mi><mn>%.*s</mn></msub>", (int)(brace - name - 2),
                   name + 1, (int)strcspn(brace + 1, "}"), brace + 1);
    } else {
        name = brace ? brace + 1 : name + (*name == '\\');
        size_t n = strcspn(name, "}");
        unsigned letter = lexical_letter(name, n);
        if (letter)
            buf_printf(w->out, "<mi>&#x%X;</mi>", letter);
        else
            buf_printf(w->out, "<mi>%.*s</mi>", (int)n, name);
    }
}

static void write_function(const struct writer *w, uint32_t i, const char *power)
{
    const struct expr_node *node = &w->x->nodes[i];
    put(w, power ? w->style->power[0] : "");
    write_operator(w, node->op);
    if (power) {
        put(w, w->style->power[1]);
        write_number(w, power);
        put(w, w->style->power[2]);
    }
    if (node->arity == 0)
        return;
    put(w, w->style->apply);
    put(w, w->style->group[0]);
    uint32_t child = i + 1;
    for (unsigned k = 0; k < node->arity; k++, child += w->x->nodes[child].size) {
        put(w, k ? w->style->comma : "");
        write_node(w, child);
    }
    put(w, w->style->group[1]);
}

static void write_power(const struct writer *w, uint32_t base, uint32_t exponent)
{
    const struct expr_node *b = &w->x->nodes[base], *p = &w->x->nodes[exponent];
    /* sin^{-1} would be read as the inverse, so only exponents from 2 on move to the name. */
    if (is_function(b) && p->op == X_NUM && !strchr(p->leaf, '/') && p->leaf[0] != '-' &&
        !expr_node_is(p, X_NUM, "0") && !expr_node_is(p, X_NUM, "1")) {
        write_function(w, base, p->leaf);
        return;
    }
    put(w, w->style->power[0]);
    bool marked =
        !w->style->mathml && b->op == X_SYM && p->leaf && variable_is_marked(b->leaf, p->leaf);
    write_group(w, base, strength(w, b) < ATOM || marked);
    put(w, w->style->power[1]);
    write_node(w, exponent);
    put(w, w->style->power[2]);
}

/* The leaf at an end of a product: its name, or NULL if it is a number or something else. */
static const char *name_at_end(const struct expr_node *node, bool last)
{
    while (node->op == X_MUL || node->op == X_POW)
        node = last && node->op == X_MUL ? node + 1 + node[1].size : node + 1;
    return node->op == X_SYM || node->op == X_VAR ? node->leaf : NULL;
}

/* Whether a name is written in several upright letters, which beside a factor look like a unit. */
static bool is_word(const char *leaf)
{
    size_t font, n = 0;
    const char *name = leaf ? variable_of(&n, leaf) : NULL;
    n = n ? base_length(name, n) : 0;
    return n > 1 && !lexical_letter(name, n) && !font_of(&font, name, n);
}

/* Whether the product needs a sign: 2 \cdot 3^x, f \cdot (x + 1). */
static bool needs_dot(const struct writer *w, const struct expr_node *l, const struct expr_node *r,
                      bool group)
{
    const char *before = name_at_end(l, true), *after = group ? NULL : name_at_end(r, false);
    bool call = group && before, words = is_word(before) || is_word(after);
    static const char *const applied[] = {"mathbb_", "mathcal_", "mathscr_", "D_"};
    bool acts = before && word_in("Delta delta Sigma Pi", before, strcspn(before, "_"));
    for (size_t i = 0; before && i < sizeof applied / sizeof *applied; i++)
        acts |= !strncmp(before, applied[i], strlen(applied[i]));
    words = words || (acts && after); /* no difference, derivative or expectation */
    return (!group && begins_with_digit(r)) || (!w->style->mathml && (call || words));
}

static void write_product(const struct writer *w, uint32_t left, uint32_t right)
{
    const struct expr_node *l = &w->x->nodes[left], *r = &w->x->nodes[right];
    bool group = strength(w, r) <= PRODUCT;
    if (expr_node_is(l, X_NUM, "-1")) {
        put(w, w->style->sign);
        write_group(w, right, strength(w, r) < DERIVATIVE);
        return;
    }
    write_group(w, left, strength(w, l) < PRODUCT && l->op != X_NUM /* -4 x */);
    put(w, needs_dot(w, l, r, group) ? w->style->times : w->style->beside);
    write_group(w, right, group);
}

/* Nested connectives of another kind get parentheses, for readers who do not know their precedence.
 */
static void write_connective(const struct writer *w, uint32_t left, uint32_t right, uint16_t op)
{
    const struct op_info *ops = w->x->lang->ops;
    const struct expr_node *l = &w->x->nodes[left], *r = &w->x->nodes[right];
    write_group(w, left, l->op > X_VAR && ops[l->op].infix && (l->op != op || ops[op].right));
    write_operator(w, op);
    write_group(w, right, r->op > X_VAR && ops[r->op].infix && (r->op != op || !ops[op].right));
}

static void write_between(const struct writer *w, const char *const around[2], uint32_t i)
{
    put(w, around[0]);
    write_node(w, i);
    put(w, around[1]);
}

static void write_fraction(const struct writer *w, const char *const around[3], uint32_t top,
                           uint32_t bottom)
{
    put(w, around[0]);
    write_node(w, top);
    write_between(w, &around[1], bottom);
}

/* Whether it is written in brackets of its own. */
static bool has_brackets(const struct writer *w, const struct expr_node *node)
{
    return node->op >= X_DECLARED && lang_shape(&w->x->lang->ops[node->op]) == LANG_BINOMIAL;
}

/* Whether a derivative without brackets, as of sin(x), ends here: it might go on to what follows.
 */
static bool ends_open(const struct writer *w, const struct expr_node *node)
{
    while (node->op == X_ADD || node->op == X_SUB ||
           (node->op == X_MUL && expr_node_is(node + 1, X_NUM, "-1")))
        node += 1 + node[1].size;
    return node->op == X_D && (is_function(node + 2) || has_brackets(w, node + 2));
}

/* An operator that has a meaning of its own. */
static void write_declared(const struct writer *w, uint32_t i, uint32_t second)
{
    const struct expr_node *child = &w->x->nodes[i + 1];
    switch (lang_shape(&w->x->lang->ops[w->x->nodes[i].op])) {
    case LANG_FUNCTION: write_function(w, i, NULL); break;
    case LANG_FLOOR: write_between(w, w->style->floor, i + 1); break;
    case LANG_CEILING: write_between(w, w->style->ceiling, i + 1); break;
    case LANG_BINOMIAL: write_fraction(w, w->style->binomial, i + 1, second); break;
    case LANG_FACTORIAL: /* sin(x)! may be read as sin(x!) */
        write_group(w, i + 1,
                    !has_brackets(w, child) && (strength(w, child) < ATOM || child->op > X_VAR));
        put(w, w->style->factorial);
        break;
    }
}

/* Whether a letter alone would be read as sqrt(-1), or noted since it may be. */
static bool is_imaginary(const char *leaf)
{
    size_t n;
    const char *name = variable_of(&n, leaf);
    return n == 1 && (*name == 'i' || *name == 'I');
}

static void write_node(const struct writer *w, uint32_t i)
{
    const struct expr_node *node = &w->x->nodes[i];
    uint32_t left = i + 1, right = node->arity == 2 ? left + w->x->nodes[left].size : 0;
    const struct expr_node *r = &w->x->nodes[right];
    switch (node->op) {
    case X_NUM: write_number(w, node->leaf); break;
    case X_VAR:
        put(w, w->style->mathml ? "<mo>?</mo>" : "?");
        write_name(w, node->leaf);
        break;
    case X_SYM:
        if (!w->style->mathml && is_imaginary(node->leaf))
            buf_printf(w->out, "\\mathit{%c}", node->leaf[*node->leaf == '"']);
        else
            write_name(w, node->leaf);
        break;
    case X_ADD:
    case X_SUB:
        write_group(w, left, !w->style->mathml && ends_open(w, &w->x->nodes[left]));
        put(w, node->op == X_ADD ? w->style->plus : w->style->minus);
        write_group(w, right, strength(w, r) == SUM);
        break;
    case X_MUL: write_product(w, left, right); break;
    case X_DIV: write_fraction(w, w->style->fraction, left, right); break;
    case X_POW: write_power(w, left, right); break;
    case X_SQRT: write_between(w, w->style->root, left); break;
    case X_ABS: /* ||x|| may be a norm */
        put(w, w->style->absolute[0]);
        write_group(w, left, w->x->nodes[left].op == X_ABS);
        put(w, w->style->absolute[1]);
        break;
    case X_D:
        write_between(w, w->style->derivative, left);
        put(w, is_function(r) && !w->style->mathml ? " " : "");
        write_group(w, right, !is_function(r) && !has_brackets(w, r));
        break;
    default:
        if (w->x->lang->ops[node->op].infix)
            write_connective(w, left, right, node->op);
        else
            write_declared(w, i, right);
    }
}

void expr_write_latex(struct buf *out, const struct expr *x)
{
    write_node(&(struct writer){out, x, &latex}, 0);
}

void expr_write_mathml(struct buf *out, const struct expr *x)
{
    buf_puts(out, "<math displaystyle=\"true\"><mrow>");
    write_node(&(struct writer){out, x, &mathml}, 0);
    buf_puts(out, "</mrow></math>");
}
