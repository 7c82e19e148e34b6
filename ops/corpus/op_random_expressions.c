/* The op `random-expressions`: random expressions after Lample and Charton (2019, appendix C).
 * Trees with n operators are uniform over all unary-binary trees with n inner nodes. Of e empty
 * places, the first k become leaves and the next an operator with one or two operands. The number
 * of ways to complete a tree with e empty places and n operators is
 *
 *     D(e, n) = D(e-1, n) + D(e, n-1) + D(e+1, n-1),   D(0, n) = 0, D(e, 0) = 1
 *
 * by which k and the arity are drawn. */
#include "base/map.h"
#include "engine/op.h"
#include "ops/corpus/format/corpus_format.h"
#include "ops/expr/undefined/undefined.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_OPERATORS = 30, MAX_PLACES = MAX_OPERATORS + 2, MAX_NAMES = 64 };

static const char weights_initial[] =
    "add:10,sub:3,mul:10,div:5,sqrt:4,pow2:4,pow3:2,pow4:1,pow5:1,abs:1,ln:4,exp:4,sin:4,cos:4,"
    "tan:4,cot:1,sec:1,csc:1,asin:1,acos:1,atan:1,sinh:1,cosh:1,tanh:1,coth:1,asinh:1,acosh:1,"
    "atanh:1";

struct operators {
    const char *name[MAX_NAMES + 1];
    double weight[MAX_NAMES + 1];
    size_t n;
    double sum;
};

struct generator {
    struct operators by_arity[3]; /* 1 and 2 */
    double ways[MAX_PLACES + MAX_OPERATORS][MAX_OPERATORS + 1];
    double variable;
    uint64_t max_integer;
    bool positive;
    struct rng rng;
};

static enum err_code read_operators(struct generator *g, struct arena *a, const char *text,
                                    struct err *e)
{
    char *list = arena_strdup(a, text), *rest;
    for (char *item = strtok_r(list, ", ", &rest); item; item = strtok_r(NULL, ", ", &rest)) {
        char *colon = strchr(item, ':'), *end = NULL;
        double weight = colon ? strtod(colon + 1, &end) : 1;
        if (colon)
            *colon = '\0';
        struct expr x;
        struct source_text one = {"x", arena_printf(a, "%s x", item), strlen(item) + 2},
                           two = {"x", arena_printf(a, "%s x x", item), strlen(item) + 4};
        unsigned arity = !expr_parse_words(&x, a, &lang_calculus, &one, 0, one.len, false, NULL) ? 1
                         : !expr_parse_words(&x, a, &lang_calculus, &two, 0, two.len, false, NULL)
                             ? 2
                             : 0;
        if (!arity || (colon && (*end || end == colon + 1)) || !(weight > 0 && weight < 1e9))
            return err_fail(e, ERR_INPUT,
                            "'operators': '%s' is not an operator with a weight, such as "
                            "add:10",
                            item);
        struct operators *o = &g->by_arity[arity];
        if (o->n == MAX_NAMES)
            return err_fail(e, ERR_INPUT, "'operators': more than %d", MAX_NAMES);
        o->name[o->n] = item;
        o->weight[o->n++] = weight;
        o->sum += weight;
    }
    return g->by_arity[1].n || g->by_arity[2].n ? OK
                                                : err_fail(e, ERR_INPUT, "'operators' is empty");
}

static void count_ways(struct generator *g)
{
    double unary = g->by_arity[1].n > 0, binary = g->by_arity[2].n > 0;
    size_t most = sizeof g->ways / sizeof *g->ways;
    for (size_t n = 0; n <= MAX_OPERATORS; n++)
        for (size_t e = 1; e + n < most; e++)
            g->ways[e][n] = n == 0 ? 1
                                   : g->ways[e - 1][n] + unary * g->ways[e][n - 1] +
                                         binary * g->ways[e + 1][n - 1];
}

/* Draws the number of the e places that become leaves before the next operator, and its arity. */
static void draw_place(size_t *leaves, unsigned *arity, struct generator *g, size_t e, size_t n)
{
    double at = rng_double(&g->rng) * g->ways[e][n];
    *leaves = 0;
    *arity = g->by_arity[1].n ? 1 : 2;
    for (unsigned k = 1; k <= 2; k++)
        for (size_t i = 0; i < e; i++) {
            double ways = g->by_arity[k].n ? g->ways[e - i + (k - 1)][n - 1] : 0;
            if (ways > 0) {
                *leaves = i;
                *arity = k;
            }
            if ((at -= ways) < 0)
                return;
        }
}

static const char *draw_operator(struct generator *g, unsigned arity)
{
    const struct operators *o = &g->by_arity[arity];
    double at = rng_double(&g->rng) * o->sum;
    size_t i = 0;
    while (i + 1 < o->n && (at -= o->weight[i]) >= 0)
        i++;
    return o->name[i];
}

static void write_leaf(struct buf *out, struct generator *g)
{
    if (rng_double(&g->rng) < g->variable) {
        buf_puts(out, " x");
        return;
    }
    uint64_t value = 1 + rng_below(&g->rng, g->max_integer);
    bool negative = !g->positive && rng_below(&g->rng, 2);
    buf_printf(out, " %s%llu", negative ? "-" : "", (unsigned long long)value);
}

/* Writes an expression with n operators in words. */
static void draw(struct buf *out, struct generator *g, size_t n)
{
    const char *nodes[2 * MAX_OPERATORS + 2] = {NULL};
    size_t length = 1, waiting = 1, passed = 0;
    for (; n > 0; n--) {
        size_t leaves, place = 0;
        unsigned arity;
        draw_place(&leaves, &arity, g, waiting, n);
        passed += leaves;
        waiting += arity - 1 - leaves;
        for (size_t seen = 0; nodes[place] || seen++ < passed; place++)
            ;
        memmove(nodes + place + 1 + arity, nodes + place + 1, (length - place - 1) * sizeof *nodes);
        nodes[place] = draw_operator(g, arity);
        for (unsigned k = 1; k <= arity; k++)
            nodes[place + k] = NULL;
        length += arity;
    }
    buf_clear(out);
    for (size_t i = 0; i < length; i++)
        if (nodes[i])
            buf_printf(out, " %s", nodes[i]);
        else
            write_leaf(out, g);
}

static enum err_code check(struct op_ctx *ctx, struct err *e)
{
    struct generator *g = arena_new(op_arena(ctx), struct generator);
    if (op_int(ctx, "min_operators") > op_int(ctx, "max_operators"))
        return err_fail(e, ERR_INPUT, "'min_operators' is more than 'max_operators'");
    return err_up(e, read_operators(g, op_arena(ctx), op_string(ctx, "operators"), e));
}

static bool has_variable(const struct expr *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (x->nodes[i].op == X_SYM && !strcmp(x->nodes[i].leaf, "x"))
            return true;
    return false;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx), work = {0};
    struct generator *g = arena_new(a, struct generator);
    uint64_t count = (uint64_t)op_int(ctx, "count"), least = (uint64_t)op_int(ctx, "min_operators");
    uint64_t most = (uint64_t)op_int(ctx, "max_operators");
    struct name_map seen = {0};
    struct buf text = {0};
    g->variable = op_real(ctx, "variable");
    g->max_integer = (uint64_t)op_int(ctx, "max_integer");
    g->positive = op_bool(ctx, "positive");
    enum err_code code = read_operators(g, a, op_string(ctx, "operators"), e);
    count_ways(g);
    for (uint64_t i = 0; i < count && !code; i++) {
        /* Each expression depends on its number alone, so that a larger count only adds
         * expressions. */
        g->rng = rng_new((uint64_t)op_int(ctx, "seed"), i);
        draw(&text, g, least + rng_below(&g->rng, most - least + 1));
        struct source_text source = {"<random>", text.data, text.len};
        struct expr x;
        const char *why;
        bool added = false;
        arena_reset(&work);
        code = expr_parse_words(&x, &work, &lang_calculus, &source, 0, source.len, false, e);
        if (code || !has_variable(&x) || expr_is_undefined(&why, &work, &x, NULL, 0))
            continue;
        char *prefix = corpus_prefix(a, &x);
        name_map_put(&seen, prefix, 0, &added);
        Eqloom__Expr message = EQLOOM__EXPR__INIT;
        message.prefix = prefix;
        if (added)
            code = op_emit(NULL, ctx, "exprs", &message.base, e);
        if (op_cancelled(ctx))
            code = err_fail(e, ERR_CANCELLED, "cancelled");
    }
    ball_thread_cleanup();
    name_map_free(&seen);
    buf_free(&text);
    arena_free(&work);
    return err_up(e, code);
}

const struct op op_random_expressions = {
    .name = "random-expressions",
    .version = 2,
    .node = OP_TASK,
    .doc =
        "Draws random expressions of x after Lample and Charton: uniform over unary-binary trees, "
        "with weighted operators, and leaves that are x or integers. Expressions without x or "
        "without a value anywhere, and duplicates, are left out.",
    .params = OP_PARAMS(
        {"count", OP_INT, "10000", NULL, 1, 1e8,
         "The number of expressions drawn; duplicates are "
         "then left out."},
        {"min_operators", OP_INT, "1", NULL, 0, MAX_OPERATORS, "The minimum number of operators."},
        {"max_operators", OP_INT, "5", NULL, 0, MAX_OPERATORS,
         "The maximum number of operators; all numbers are equally likely."},
        {"operators", OP_STRING, weights_initial, NULL, 0, 0,
         "Operators in words, each with its weight (docs/formats.md)."},
        {"variable", OP_REAL, "0.75", NULL, 0.01, 1,
         "The probability that a leaf is x; otherwise it is an integer."},
        {"max_integer", OP_INT, "10", NULL, 1, 1e6, "The maximum absolute value of integers."},
        {"positive", OP_BOOL, "false", NULL, 0, 0, "Whether integers are always positive."},
        {"seed", OP_INT, "0", NULL, 0, 9007199254740992.0, "Seed of the draw."}),
    .outputs = OP_PORTS({"exprs", KIND_EXPR, OP_COLLECTION, false,
                         "Expressions of x, no two of them the same tree."}),
    .check = check,
    .run = run,
};
