/* Writing trees as LaTeX for people: fractions, roots, sin^2(x), products by juxtaposition where
 * that cannot be misread. Not read back. */
#include "ops/expr/expr.h"

#include <string.h>

/* How much of its surroundings a piece of LaTeX can bear without parentheses. */
enum { SUM = 1, PRODUCT = 2, TALL = 3, ATOM = 4 };

static void write_node(struct buf *out, const struct expr *x, uint32_t i);

static bool is_number(const struct expr_node *node, const char *text)
{
    return node->op == X_NUM && strcmp(node->leaf, text) == 0;
}

static bool is_negation(const struct expr_node *node)
{
    return node->op == X_MUL && is_number(node + 1, "-1");
}

static unsigned strength(const struct expr_node *node)
{
    switch (node->op) {
    case X_NUM: return node->leaf[0] == '-' ? SUM : strchr(node->leaf, '/') ? TALL : ATOM;
    case X_ADD:
    case X_SUB: return SUM;
    case X_MUL: return is_negation(node) ? SUM : PRODUCT;
    case X_D: return PRODUCT;
    case X_DIV:
    case X_POW: return TALL;
    default: return ATOM;
    }
}

static void write_group(struct buf *out, const struct expr *x, uint32_t i, bool parentheses)
{
    if (parentheses)
        buf_puts(out, "\\left(");
    write_node(out, x, i);
    if (parentheses)
        buf_puts(out, "\\right)");
}

static void write_name(struct buf *out, const char *name)
{
    if (strcmp(name, "pi") == 0) {
        buf_puts(out, "\\pi");
        return;
    }
    bool word = name[1] != 0;
    if (word)
        buf_puts(out, "\\mathrm{");
    for (; *name; name++) {
        if (*name == '_')
            buf_putc(out, '\\');
        buf_putc(out, *name);
    }
    if (word)
        buf_putc(out, '}');
}

static void write_number(struct buf *out, const char *number)
{
    const char *bar = strchr(number, '/');
    if (*number == '-')
        buf_putc(out, '-');
    number += *number == '-';
    if (bar)
        buf_printf(out, "\\frac{%.*s}{%s}", (int)(bar - number), number, bar + 1);
    else
        buf_puts(out, number);
}

/* Does the LaTeX of this begin with a digit? Then a product needs a dot before it. */
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

static void write_function(struct buf *out, const struct expr *x, uint32_t i, const char *power)
{
    const struct expr_node *node = &x->nodes[i];
    buf_puts(out, x->lang->ops[node->op].latex);
    if (power)
        buf_printf(out, "^{%s}", power);
    if (node->arity == 0)
        return;
    buf_puts(out, "\\left(");
    uint32_t child = i + 1;
    for (unsigned k = 0; k < node->arity; k++, child += x->nodes[child].size) {
        if (k)
            buf_puts(out, ", ");
        write_node(out, x, child);
    }
    buf_puts(out, "\\right)");
}

static void write_power(struct buf *out, const struct expr *x, uint32_t base, uint32_t exponent)
{
    const struct expr_node *p = &x->nodes[exponent];
    /* sin^{-1} would be read as the inverse, so only exponents from 2 on move to the name. */
    if (is_function(&x->nodes[base]) && p->op == X_NUM && !strchr(p->leaf, '/') &&
        p->leaf[0] != '-' && !is_number(p, "0") && !is_number(p, "1")) {
        write_function(out, x, base, p->leaf);
        return;
    }
    write_group(out, x, base, strength(&x->nodes[base]) < ATOM);
    buf_puts(out, "^{");
    write_node(out, x, exponent);
    buf_putc(out, '}');
}

static void write_product(struct buf *out, const struct expr *x, uint32_t left, uint32_t right)
{
    if (is_number(&x->nodes[left], "-1")) {
        buf_putc(out, '-');
        write_group(out, x, right, strength(&x->nodes[right]) < PRODUCT);
        return;
    }
    bool sign = x->nodes[left].op == X_NUM; /* -4 x */
    write_group(out, x, left, strength(&x->nodes[left]) < PRODUCT && !sign);
    bool group = strength(&x->nodes[right]) < PRODUCT;
    buf_puts(out, !group && begins_with_digit(&x->nodes[right]) ? " \\cdot " : " ");
    write_group(out, x, right, group);
}

/* Connectives: parentheses around every other one inside, for who remembers their order. */
static void write_connective(struct buf *out, const struct expr *x, uint32_t left, uint32_t right,
                             uint16_t op)
{
    const struct op_info *ops = x->lang->ops;
    const struct expr_node *l = &x->nodes[left], *r = &x->nodes[right];
    write_group(out, x, left, l->op > X_VAR && ops[l->op].infix && (l->op != op || ops[op].right));
    buf_printf(out, " %s ", ops[op].latex);
    write_group(out, x, right,
                r->op > X_VAR && ops[r->op].infix && (r->op != op || !ops[op].right));
}

static void write_node(struct buf *out, const struct expr *x, uint32_t i)
{
    const struct expr_node *node = &x->nodes[i];
    uint32_t left = i + 1, right = node->arity == 2 ? left + x->nodes[left].size : 0;
    switch (node->op) {
    case X_NUM: write_number(out, node->leaf); break;
    case X_VAR:
        buf_puts(out, "?");
        write_name(out, node->leaf);
        break;
    case X_SYM: write_name(out, node->leaf); break;
    case X_ADD:
    case X_SUB:
        write_node(out, x, left);
        buf_puts(out, node->op == X_ADD ? " + " : " - ");
        write_group(out, x, right,
                    strength(&x->nodes[right]) == SUM &&
                        (node->op == X_SUB || x->nodes[right].op == X_NUM ||
                         is_negation(&x->nodes[right])));
        break;
    case X_MUL: write_product(out, x, left, right); break;
    case X_DIV:
        buf_puts(out, "\\frac{");
        write_node(out, x, left);
        buf_puts(out, "}{");
        write_node(out, x, right);
        buf_putc(out, '}');
        break;
    case X_POW: write_power(out, x, left, right); break;
    case X_SQRT:
        buf_puts(out, "\\sqrt{");
        write_node(out, x, left);
        buf_putc(out, '}');
        break;
    case X_ABS:
        buf_puts(out, "\\left|");
        write_node(out, x, left);
        buf_puts(out, "\\right|");
        break;
    case X_D:
        buf_puts(out, "\\frac{d}{d");
        write_node(out, x, left);
        buf_putc(out, '}');
        if (is_function(&x->nodes[right]))
            buf_putc(out, ' ');
        write_group(out, x, right, !is_function(&x->nodes[right]));
        break;
    default:
        if (x->lang->ops[node->op].infix)
            write_connective(out, x, left, right, node->op);
        else
            write_function(out, x, i, NULL);
    }
}

void expr_write_latex(struct buf *out, const struct expr *x)
{
    write_node(out, x, 0);
}
