/* MathML; see mathml.h. A node is put into parentheses where its precedence is below what its place
 * asks for. */
#include "ops/eval/report/mathml.h"

#include <string.h>

enum precedence { ANY, SUM, PRODUCT, TIGHT, POWER, ATOM };

void html_text(struct buf *out, const char *s)
{
    for (; *s; s++)
        switch (*s) {
        case '&': buf_puts(out, "&amp;"); break;
        case '<': buf_puts(out, "&lt;"); break;
        case '>': buf_puts(out, "&gt;"); break;
        case '"': buf_puts(out, "&quot;"); break;
        default: buf_putc(out, *s);
        }
}

static enum precedence precedence_of(const struct expr *x, uint32_t i)
{
    const struct expr_node *n = &x->nodes[i];
    if (n->op >= X_DECLARED && lang_is(x->lang, &lang_boolean))
        return n->arity == 2 ? (enum precedence)x->lang->ops[n->op].precedence : ATOM;
    switch (n->op) {
    case X_NUM: return n->leaf[0] == '-' ? SUM : strchr(n->leaf, '/') ? TIGHT : ATOM;
    case X_SYM:
    case X_VAR:
    case X_SQRT:
    case X_ABS: return ATOM;
    case X_ADD:
    case X_SUB: return SUM;
    case X_MUL:
    case X_D: return PRODUCT;
    case X_POW: return POWER;
    default: return TIGHT;
    }
}

static uint32_t write_node(struct buf *out, const struct expr *x, uint32_t i,
                           enum precedence least);

static void write_number(struct buf *out, const char *leaf)
{
    const char *slash = strchr(leaf, '/');
    if (leaf[0] == '-')
        buf_puts(out, "<mo>&#x2212;</mo>");
    leaf += leaf[0] == '-';
    if (slash)
        buf_printf(out, "<mfrac><mn>%.*s</mn><mn>%s</mn></mfrac>", (int)(slash - leaf), leaf,
                   slash + 1);
    else
        buf_printf(out, "<mn>%s</mn>", leaf);
}

static void write_symbol(struct buf *out, const char *name)
{
    buf_puts(out, "<mi>");
    if (strcmp(name, "pi") == 0)
        buf_puts(out, "&#x3C0;");
    else
        html_text(out, name);
    buf_puts(out, "</mi>");
}

/* asin is written arcsin and asinh arsinh. */
static void write_function_name(struct buf *out, const struct expr *x, uint16_t op)
{
    const char *name = x->lang->ops[op].name;
    buf_puts(out, "<mi>");
    if (op >= X_ASIN && op <= X_ACOT)
        buf_printf(out, "arc%s", name + 1);
    else if (op >= X_ASINH && op <= X_ACOTH)
        buf_printf(out, "ar%s", name + 1);
    else
        html_text(out, name);
    buf_puts(out, "</mi><mo>&#x2061;</mo>");
}

static uint32_t write_infix(struct buf *out, const struct expr *x, uint32_t i)
{
    const struct expr_node *n = &x->nodes[i], *left = n + 1;
    bool product = n->op == X_MUL;
    uint32_t at = write_node(out, x, i + 1, product ? PRODUCT : SUM);
    const struct expr_node *right = &x->nodes[at];
    bool juxtaposed = product && left->op == X_NUM && right->op != X_NUM &&
                      !(right->op == X_POW && right[1].op == X_NUM) && !strchr(left->leaf, '/');
    buf_puts(out, n->op == X_ADD   ? "<mo>+</mo>"
                  : n->op == X_SUB ? "<mo>&#x2212;</mo>"
                  : juxtaposed     ? "<mo>&#x2062;</mo>"
                                   : "<mo>&#x22C5;</mo>");
    return write_node(out, x, at, product ? TIGHT : PRODUCT);
}

/* Boolean terms keep the order of their connectives' precedences, from 1 on. */
static uint32_t write_connective(struct buf *out, const struct expr *x, uint32_t i)
{
    static const char *const signs[X_BOOLEAN_END] = {
        [X_TRUE] = "<mi>&#x22A4;</mi>",    [X_FALSE] = "<mi>&#x22A5;</mi>",
        [X_NOT] = "<mo>&#xAC;</mo>",       [X_AND] = "<mo>&#x2227;</mo>",
        [X_XOR] = "<mo>&#x2295;</mo>",     [X_OR] = "<mo>&#x2228;</mo>",
        [X_IMPLIES] = "<mo>&#x21D2;</mo>",
    };
    const struct expr_node *n = &x->nodes[i];
    const struct op_info *info = &x->lang->ops[n->op];
    uint32_t at = i + 1;
    if (n->arity == 2)
        at = write_node(out, x, at, info->precedence + info->right);
    buf_puts(out, signs[n->op]);
    if (n->arity == 2)
        at = write_node(out, x, at, info->precedence + !info->right);
    return n->arity == 1 ? write_node(out, x, at, ATOM) : at;
}

static uint32_t write_call(struct buf *out, const struct expr *x, uint32_t i)
{
    uint32_t at = i + 1;
    write_function_name(out, x, x->nodes[i].op);
    buf_puts(out, "<mrow><mo>(</mo>");
    for (uint16_t k = 0; k < x->nodes[i].arity; k++) {
        if (k)
            buf_puts(out, "<mo>,</mo>");
        at = write_node(out, x, at, ANY);
    }
    buf_puts(out, "<mo>)</mo></mrow>");
    return at;
}

static uint32_t write_inside(struct buf *out, const struct expr *x, uint32_t i)
{
    const struct expr_node *n = &x->nodes[i];
    uint32_t at;
    if (n->op >= X_DECLARED && lang_is(x->lang, &lang_boolean))
        return write_connective(out, x, i);
    switch (n->op) {
    case X_NUM: write_number(out, n->leaf); return i + 1;
    case X_SYM:
    case X_VAR: write_symbol(out, n->leaf); return i + 1;
    case X_ADD:
    case X_SUB:
    case X_MUL: return write_infix(out, x, i);
    case X_DIV:
        buf_puts(out, "<mfrac>");
        at = write_node(out, x, write_node(out, x, i + 1, ANY), ANY);
        buf_puts(out, "</mfrac>");
        return at;
    case X_POW:
        buf_puts(out, "<msup>");
        at = write_node(out, x, write_node(out, x, i + 1, ATOM), ANY);
        buf_puts(out, "</msup>");
        return at;
    case X_SQRT:
        buf_puts(out, "<msqrt>");
        at = write_node(out, x, i + 1, ANY);
        buf_puts(out, "</msqrt>");
        return at;
    case X_ABS:
        buf_puts(out, "<mo>|</mo>");
        at = write_node(out, x, i + 1, ANY);
        buf_puts(out, "<mo>|</mo>");
        return at;
    case X_D:
        buf_puts(out, "<mfrac><mi>d</mi><mrow><mi>d</mi>");
        at = write_node(out, x, i + 1, ATOM);
        buf_puts(out, "</mrow></mfrac>");
        return write_node(out, x, at, TIGHT);
    default: return write_call(out, x, i);
    }
}

static uint32_t write_node(struct buf *out, const struct expr *x, uint32_t i, enum precedence least)
{
    bool parentheses = precedence_of(x, i) < least;
    buf_puts(out, parentheses ? "<mrow><mo>(</mo>" : "<mrow>");
    uint32_t at = write_inside(out, x, i);
    buf_puts(out, parentheses ? "<mo>)</mo></mrow>" : "</mrow>");
    return at;
}

void mathml_write(struct buf *out, const struct expr *x)
{
    buf_puts(out, "<math displaystyle=\"true\">");
    write_node(out, x, 0, ANY);
    buf_puts(out, "</math>");
}
