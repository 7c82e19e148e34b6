/* Writes trees as prefix tokens and infix. Infix has only the parentheses that the parser needs to
 * rebuild the same tree: by precedence and side, and where a number would merge with its neighbour
 * ((3)/2 is a quotient, 3/2 a number). */
#include "ops/expr/expr.h"
#include "ops/expr/syntax/variable_name.h"

#include <string.h>

enum { PREC_SUM = 1, PREC_ATOM = 255 };

static void write_leaf(struct buf *out, const struct expr_node *node)
{
    if (node->op == X_VAR)
        buf_putc(out, '?');
    buf_puts(out, node->leaf);
}

static bool is_leaf(const struct expr_node *node)
{
    return node->op <= X_VAR;
}

void expr_write_prefix(struct buf *out, const struct expr *x)
{
    for (uint32_t i = 0; i < x->n; i++) {
        if (i)
            buf_putc(out, ' ');
        if (is_leaf(&x->nodes[i]))
            write_leaf(out, &x->nodes[i]);
        else
            buf_puts(out, lang_token(x->lang, x->nodes[i].op));
    }
}

static bool is_number(const struct expr_node *node, const char *text)
{
    return node->op == X_NUM && (!text || strcmp(node->leaf, text) == 0);
}

static void write_digits(struct buf *out, const char *digits, const char *end)
{
    bool negative = *digits == '-';
    buf_puts(out, negative ? "INT-" : "INT+");
    for (digits += negative; digits < end; digits++)
        buf_printf(out, " %c", *digits);
}

static void write_words(struct buf *out, const struct expr *x, uint32_t i)
{
    static const char *const words[] = {
        [X_ADD] = "add", [X_SUB] = "sub", [X_MUL] = "mul", [X_DIV] = "div", [X_D] = "derivative"};
    const struct expr_node *node = &x->nodes[i];
    bool calculus = lang_has(x->lang, X_POW);
    const char *end = node->leaf ? node->leaf + strlen(node->leaf) : NULL;
    const char *slash = node->op == X_NUM ? strchr(node->leaf, '/') : NULL;
    uint32_t first = i + 1, second = node->arity == 2 ? first + x->nodes[first].size : 0;
    if (node->op == X_NUM) {
        buf_puts(out, slash ? "div " : "");
        write_digits(out, node->leaf, slash ? slash : end);
        buf_puts(out, slash ? " " : "");
        if (slash)
            write_digits(out, slash + 1, end);
        return;
    }
    if (node->leaf) {
        buf_puts(out, calculus && strcmp(node->leaf, "e") == 0 ? "E" : node->leaf);
        return;
    }
    if (node->op == X_SQRT && is_number(node + 1, "-1")) {
        buf_putc(out, 'I');
        return;
    }
    bool exponential = node->op == X_POW && node[1].leaf && strcmp(node[1].leaf, "e") == 0;
    buf_puts(out, exponential                      ? "exp"
                  : !calculus && node->op == X_MUL ? "multiply"
                  : !calculus && node->op == X_SUB ? "subtract"
                  : node->op < sizeof words / sizeof *words && words[node->op]
                      ? words[node->op]
                      : x->lang->ops[node->op].name);
    if (node->op == X_D) {
        uint32_t variable = first;
        first = second;
        second = variable;
    }
    for (unsigned k = exponential; k < node->arity; k++) {
        buf_putc(out, ' ');
        write_words(out, x, k ? second : first);
    }
}

void expr_write_words(struct buf *out, const struct expr *x)
{
    write_words(out, x, 0);
}

/* (-1)*x is written -x, unless x is a number, which would absorb the sign. */
static bool is_negation(const struct expr_node *node)
{
    return node->op == X_MUL && is_number(node + 1, "-1") && !is_number(node + 2, NULL);
}

/* The precedence of the text of a node. */
static unsigned precedence(const struct language *lang, const struct expr_node *node)
{
    if (node->op == X_NUM) {
        if (strchr(node->leaf, '/'))
            return lang->ops[X_DIV].precedence;
        return node->leaf[0] == '-' ? LANG_PRECEDENCE_MINUS : PREC_ATOM;
    }
    if (is_leaf(node))
        return PREC_ATOM;
    if (is_negation(node))
        return LANG_PRECEDENCE_MINUS;
    return lang->ops[node->op].infix ? lang->ops[node->op].precedence : PREC_ATOM;
}

/* Whether x is a product or quotient that is written with a leading sign: -3*x. */
static bool begins_with_minus(const struct expr_node *node)
{
    while (node->op == X_MUL || node->op == X_DIV) {
        if (is_negation(node))
            return true;
        node++;
    }
    return node->op == X_NUM && node->leaf[0] == '-';
}

static void write_infix(struct buf *out, const struct expr *x, uint32_t i);

static void write_group(struct buf *out, const struct expr *x, uint32_t i, bool parentheses)
{
    if (parentheses)
        buf_putc(out, '(');
    write_infix(out, x, i);
    if (parentheses)
        buf_putc(out, ')');
}

static void write_binary(struct buf *out, const struct expr *x, uint32_t i)
{
    const struct expr_node *node = &x->nodes[i];
    const struct op_info *info = &x->lang->ops[node->op];
    uint32_t left = i + 1, right = left + x->nodes[left].size;
    const struct expr_node *l = &x->nodes[left], *r = &x->nodes[right];
    unsigned mine = info->precedence;
    unsigned pl = precedence(x->lang, l), pr = precedence(x->lang, r);
    bool around_left = info->right ? pl <= mine : pl < mine;
    bool around_right = info->right ? pr < mine : pr <= mine;
    /* A sign after an operator is legal but unusual. */
    if (begins_with_minus(r))
        around_right = true;
    const struct expr_node *power = is_negation(r) ? r + 2 : r;
    if (node->op == X_POW && l->op == X_SYM && power->leaf &&
        variable_is_marked(l->leaf, power->leaf))
        around_left = true; /* (A)^T is no transpose */
    if (node->op == X_DIV && l->op == X_NUM && (strchr(l->leaf, '/') || is_number(r, NULL)))
        around_left = true;
    write_group(out, x, left, around_left);
    if (mine == PREC_SUM || node->op >= X_DECLARED) /* a + b, p & q, but a*b */
        buf_printf(out, " %s ", info->infix);
    else
        buf_puts(out, info->infix);
    write_group(out, x, right, around_right);
}

static void write_infix(struct buf *out, const struct expr *x, uint32_t i)
{
    const struct expr_node *node = &x->nodes[i];
    const struct op_info *info = &x->lang->ops[node->op];
    if (is_leaf(node)) {
        if (node->op == X_SYM)
            variable_write_infix(out, x->lang, node->leaf);
        else
            write_leaf(out, node);
        return;
    }
    if (is_negation(node)) {
        buf_putc(out, '-');
        write_group(out, x, i + 2, precedence(x->lang, node + 2) <= LANG_PRECEDENCE_MINUS);
        return;
    }
    if (info->infix) {
        write_binary(out, x, i);
        return;
    }
    buf_puts(out, info->name);
    if (node->arity == 0)
        return;
    buf_putc(out, '(');
    uint32_t child = i + 1;
    for (unsigned k = 0; k < node->arity; k++, child += x->nodes[child].size) {
        if (k)
            buf_puts(out, ", ");
        write_infix(out, x, child);
    }
    buf_putc(out, ')');
}

void expr_write_infix(struct buf *out, const struct expr *x)
{
    write_infix(out, x, 0);
}

/* ---- as strings ---- */

static char *text_of(struct arena *a, const struct expr *x,
                     void (*write)(struct buf *out, const struct expr *x))
{
    struct buf b = {0};
    write(&b, x);
    return buf_text(&b, a);
}

char *expr_prefix(struct arena *a, const struct expr *x)
{
    return text_of(a, x, expr_write_prefix);
}

char *expr_infix(struct arena *a, const struct expr *x)
{
    return text_of(a, x, expr_write_infix);
}

char *expr_latex(struct arena *a, const struct expr *x)
{
    return text_of(a, x, expr_write_latex);
}
