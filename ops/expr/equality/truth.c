/* Truth tables, 64 rows at a time: bit r of a word is the value in row 64 * block + r, where
 * variable i is bit i of the row's number. */
#include "ops/expr/equality/exact.h"

enum { ROW_BITS = 6 };

static const uint64_t columns[ROW_BITS] = {
    0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc, 0xf0f0f0f0f0f0f0f0,
    0xff00ff00ff00ff00, 0xffff0000ffff0000, 0xffffffff00000000,
};

uint64_t truth_word(uint16_t op, uint64_t left, uint64_t right)
{
    switch ((enum boolean_op)op) {
    case X_TRUE: return UINT64_MAX;
    case X_FALSE: return 0;
    case X_NOT: return ~left;
    case X_AND: return left & right;
    case X_XOR: return left ^ right;
    case X_OR: return left | right;
    case X_IMPLIES: return ~left | right;
    case X_BOOLEAN_END: break;
    }
    return 0; /* declared operators have no meaning */
}

/* Depth is bounded by EXPR_MAX_DEPTH. *at moves behind the term. */
static uint64_t evaluate(const struct expr *x, const struct exact_names *names, uint64_t block,
                         uint32_t *at)
{
    const struct expr_node *node = &x->nodes[(*at)++];
    if (node->op == X_SYM || node->op == X_VAR) {
        size_t i = exact_find(names, node);
        return i < ROW_BITS ? columns[i] : block >> (i - ROW_BITS) & 1 ? UINT64_MAX : 0;
    }
    uint64_t args[2] = {0};
    for (unsigned i = 0; i < node->arity; i++)
        args[i] = evaluate(x, names, block, at);
    return truth_word(node->op, args[0], args[1]);
}

static const char *describe(struct arena *a, const struct exact_names *names, uint64_t row,
                            bool left)
{
    struct buf b = {0};
    for (size_t i = 0; i < names->n; i++) {
        exact_write_name(&b, names, i);
        buf_puts(&b, row >> i & 1 ? "true" : "false");
    }
    buf_printf(&b, "%s%s against %s", names->n ? ": " : "", left ? "true" : "false",
               left ? "false" : "true");
    return buf_text(&b, a);
}

enum err_code truth_compare(struct exact_result *out, struct arena *a, const struct expr *x,
                            const struct expr *y, struct err *e)
{
    enum err_code code;
    struct exact_names names = {0};
    if ((code = exact_collect(&names, x, e)) || (code = exact_collect(&names, y, e)))
        return err_up(e, code);
    uint64_t rows = 1ull << names.n, blocks = (rows + 63) / 64;
    uint64_t used = rows < 64 ? (1ull << rows) - 1 : UINT64_MAX;
    *out = (struct exact_result){.equal = true, .points = rows};
    for (uint64_t block = 0; block < blocks; block++) {
        uint32_t i = 0, k = 0;
        uint64_t left = evaluate(x, &names, block, &i);
        uint64_t differ = (left ^ evaluate(y, &names, block, &k)) & used;
        if (!differ)
            continue;
        int row = __builtin_ctzll(differ);
        out->equal = false;
        out->witness = describe(a, &names, 64 * block + (uint64_t)row, left >> row & 1);
        break;
    }
    return OK;
}
