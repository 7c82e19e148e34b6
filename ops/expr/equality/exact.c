/* Comparison by normal form, and fingerprints; see exact.h. */
#include "ops/expr/equality/exact.h"

#include "base/rng.h"

#include <flint/fmpz_mpoly.h>
#include <string.h>

bool exact_applies(const struct language *lang)
{
    return lang_is(lang, &lang_boolean) || lang_is(lang, &lang_polynomial);
}

/* ---- variables ---- */

/* The variables of both terms, including pattern variables, in order of first occurrence. */
struct names {
    const struct expr_node *leaves[EXACT_MAX_VARIABLES];
    size_t n;
};

static size_t find(const struct names *names, const struct expr_node *leaf)
{
    size_t i = 0;
    while (i < names->n && !expr_node_same(names->leaves[i], leaf))
        i++;
    return i;
}

static enum err_code collect(struct names *names, const struct expr *x, struct err *e)
{
    for (uint32_t i = 0; i < x->n; i++) {
        const struct expr_node *node = &x->nodes[i];
        if (node->op > X_VAR && !x->lang->ops[node->op].interpreted)
            return err_fail(e, ERR_LIMIT, "operator '%s' has no meaning",
                            x->lang->ops[node->op].name);
        if ((node->op != X_SYM && node->op != X_VAR) || find(names, node) < names->n)
            continue;
        if (names->n == EXACT_MAX_VARIABLES)
            return err_fail(e, ERR_LIMIT, "more than %d variables", EXACT_MAX_VARIABLES);
        names->leaves[names->n++] = node;
    }
    return OK;
}

/* "?a = " or ", b = " */
static void write_name(struct buf *out, const struct names *names, size_t i)
{
    buf_printf(out, "%s%s%s = ", i ? ", " : "", names->leaves[i]->op == X_VAR ? "?" : "",
               names->leaves[i]->leaf);
}

/* ---- truth tables ---- */

/* 64 rows at a time: bit r of a word is the value in row 64 * block + r, where variable i is bit i
 * of the row's number. */
enum { ROW_BITS = 6 };

static const uint64_t columns[ROW_BITS] = {
    0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc, 0xf0f0f0f0f0f0f0f0,
    0xff00ff00ff00ff00, 0xffff0000ffff0000, 0xffffffff00000000,
};

static uint64_t truth_word(uint16_t op, uint64_t left, uint64_t right)
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

/* Recursion depth is bounded by EXPR_MAX_DEPTH. */
static uint64_t evaluate(const struct expr_node *x, const struct names *names, uint64_t block)
{
    if (x->op == X_SYM || x->op == X_VAR) {
        size_t i = find(names, x);
        return i < ROW_BITS ? columns[i] : block >> (i - ROW_BITS) & 1 ? UINT64_MAX : 0;
    }
    uint64_t left = x->arity ? evaluate(x + 1, names, block) : 0;
    uint64_t right = x->arity == 2 ? evaluate(expr_node_second(x), names, block) : 0;
    return truth_word(x->op, left, right);
}

static const char *describe(struct arena *a, const struct names *names, uint64_t row, bool left)
{
    struct buf b = {0};
    for (size_t i = 0; i < names->n; i++) {
        write_name(&b, names, i);
        buf_puts(&b, row >> i & 1 ? "true" : "false");
    }
    buf_printf(&b, "%s%s against %s", names->n ? ": " : "", left ? "true" : "false",
               left ? "false" : "true");
    return buf_text(&b, a);
}

static void compare_tables(struct exact_result *out, struct arena *a, const struct expr *x,
                           const struct expr *y, const struct names *names)
{
    uint64_t rows = 1ull << names->n, blocks = (rows + 63) / 64;
    uint64_t used = rows < 64 ? (1ull << rows) - 1 : UINT64_MAX;
    *out = (struct exact_result){.equal = true, .points = rows};
    for (uint64_t block = 0; block < blocks && out->equal; block++) {
        uint64_t left = evaluate(x->nodes, names, block);
        uint64_t differ = (left ^ evaluate(y->nodes, names, block)) & used;
        if (!differ)
            continue;
        int row = __builtin_ctzll(differ);
        out->equal = false;
        out->witness = describe(a, names, 64 * block + (uint64_t)row, left >> row & 1);
    }
}

/* ---- polynomials over the integers ---- */

struct expansion {
    fmpz_mpoly_ctx_t ring;
    const struct names *names;
};

/* Recursion depth is bounded by EXPR_MAX_DEPTH. Returns false if the polynomial grows too large. */
static bool expand(fmpz_mpoly_t out, const struct expansion *s, const struct expr_node *node)
{
    if (node->op == X_NUM) {
        fmpz_t c;
        fmpz_init(c);
        fmpz_set_str(c, node->leaf, 10);
        fmpz_mpoly_set_fmpz(out, c, s->ring);
        fmpz_clear(c);
        return true;
    }
    if (node->op <= X_VAR) {
        fmpz_mpoly_gen(out, (slong)find(s->names, node), s->ring);
        return true;
    }
    fmpz_mpoly_t right;
    fmpz_mpoly_init(right, s->ring);
    bool done = expand(out, s, node + 1) && expand(right, s, expr_node_second(node));
    if (done && node->op == X_MUL)
        done = (uint64_t)fmpz_mpoly_length(out, s->ring) *
                   (uint64_t)fmpz_mpoly_length(right, s->ring) <=
               EXACT_MAX_TERMS;
    if (done && node->op == X_ADD)
        fmpz_mpoly_add(out, out, right, s->ring);
    else if (done && node->op == X_SUB)
        fmpz_mpoly_sub(out, out, right, s->ring);
    else if (done)
        fmpz_mpoly_mul(out, out, right, s->ring);
    fmpz_mpoly_clear(right, s->ring);
    return done;
}

enum { TRIES = 10000, SPREAD = 7 };

/* Finds small integers at which the polynomials differ: a nonzero polynomial vanishes at few
 * points. */
static const char *find_witness(struct arena *a, const struct expansion *s, const fmpz_mpoly_t x,
                                const fmpz_mpoly_t y)
{
    fmpz values[EXACT_MAX_VARIABLES], *pointers[EXACT_MAX_VARIABLES];
    const char *text = "their normal forms differ";
    fmpz_t left, right;
    fmpz_init(left);
    fmpz_init(right);
    for (uint64_t k = 0; k < TRIES; k++) {
        for (size_t i = 0; i < s->names->n; i++) {
            values[i] = (slong)(rng_at(1, i, k) % (SPREAD + k)) - (slong)(SPREAD + k) / 2;
            pointers[i] = &values[i];
        }
        if (!fmpz_mpoly_evaluate_all_fmpz(left, x, pointers, s->ring) ||
            !fmpz_mpoly_evaluate_all_fmpz(right, y, pointers, s->ring) || fmpz_equal(left, right))
            continue;
        struct buf b = {0};
        for (size_t i = 0; i < s->names->n; i++) {
            write_name(&b, s->names, i);
            buf_printf(&b, "%ld", (long)values[i]);
        }
        char *l = fmpz_get_str(NULL, 10, left), *r = fmpz_get_str(NULL, 10, right);
        buf_printf(&b, "%s%s against %s", s->names->n ? ": " : "", l, r);
        flint_free(l);
        flint_free(r);
        text = buf_text(&b, a);
        break;
    }
    fmpz_clear(left);
    fmpz_clear(right);
    return text;
}

static enum err_code compare_expanded(struct exact_result *out, struct arena *a,
                                      const struct expr *x, const struct expr *y,
                                      const struct names *names, struct err *e)
{
    struct expansion s = {.names = names};
    fmpz_mpoly_t left, right;
    fmpz_mpoly_ctx_init(s.ring, names->n ? (slong)names->n : 1, ORD_LEX);
    fmpz_mpoly_init(left, s.ring);
    fmpz_mpoly_init(right, s.ring);
    *out = (struct exact_result){.points = 1};
    bool done = expand(left, &s, x->nodes) && expand(right, &s, y->nodes);
    out->equal = done && fmpz_mpoly_equal(left, right, s.ring);
    if (done && !out->equal)
        out->witness = find_witness(a, &s, left, right);
    fmpz_mpoly_clear(left, s.ring);
    fmpz_mpoly_clear(right, s.ring);
    fmpz_mpoly_ctx_clear(s.ring);
    return done ? OK
                : err_fail(e, ERR_LIMIT, "a polynomial has more than %d terms", EXACT_MAX_TERMS);
}

enum err_code exact_compare(struct exact_result *out, struct arena *a, const struct expr *x,
                            const struct expr *y, struct err *e)
{
    enum err_code code;
    struct names names = {0};
    if ((code = collect(&names, x, e)) || (code = collect(&names, y, e)))
        return err_up(e, code);
    if (!lang_is(x->lang, &lang_boolean))
        return err_up(e, compare_expanded(out, a, x, y, &names, e));
    compare_tables(out, a, x, y, &names);
    return OK;
}

/* ---- fingerprints ---- */

/* The arithmetic is modulo 2^64: a ring for polynomials, 64 rows of a truth table for Boolean
 * terms. */
static uint64_t leaf_word(const struct expr_node *node)
{
    uint64_t word = 0;
    const char *s = node->leaf;
    if (node->op == X_NUM) {
        for (const char *digit = s + (*s == '-'); *digit; digit++)
            word = 10 * word + (uint64_t)(*digit - '0');
        return *s == '-' ? -word : word;
    }
    for (; *s; s++)
        word = rng_mix(word ^ (unsigned char)*s);
    return rng_mix(word + node->op);
}

uint64_t exact_word(const struct language *lang, uint16_t op, uint64_t left, uint64_t right)
{
    if (lang_is(lang, &lang_boolean))
        return truth_word(op, left, right);
    return op == X_ADD ? left + right : op == X_SUB ? left - right : left * right;
}

static uint64_t word_of(const struct language *lang, const struct expr_node *x)
{
    if (x->op <= X_VAR)
        return leaf_word(x);
    uint64_t left = x->arity ? word_of(lang, x + 1) : 0;
    uint64_t right = x->arity == 2 ? word_of(lang, expr_node_second(x)) : 0;
    return exact_word(lang, x->op, left, right);
}

uint64_t exact_fingerprint(const struct expr *x)
{
    return word_of(x->lang, x->nodes);
}
