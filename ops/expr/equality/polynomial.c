/* Polynomials over the integers, expanded: equal if and only if their normal forms are. */
#include "base/rng.h"
#include "ops/expr/equality/exact.h"

#include <flint/fmpz_mpoly.h>

struct expansion {
    fmpz_mpoly_ctx_t ring;
    const struct exact_names *names;
    const struct expr *x;
    uint32_t at;
};

/* Depth is bounded by EXPR_MAX_DEPTH. False: it grows too large. */
static bool expand(fmpz_mpoly_t out, struct expansion *s)
{
    const struct expr_node *node = &s->x->nodes[s->at++];
    if (node->op == X_NUM) {
        fmpz_t c;
        fmpz_init(c);
        fmpz_set_str(c, node->leaf, 10);
        fmpz_mpoly_set_fmpz(out, c, s->ring);
        fmpz_clear(c);
        return true;
    }
    if (node->op <= X_VAR) {
        fmpz_mpoly_gen(out, (slong)exact_find(s->names, node), s->ring);
        return true;
    }
    fmpz_mpoly_t right;
    fmpz_mpoly_init(right, s->ring);
    bool done = expand(out, s) && expand(right, s);
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

/* Small integers at which the polynomials differ: a nonzero one vanishes at few points. */
static const char *find_witness(struct arena *a, struct expansion *s, const fmpz_mpoly_t x,
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
            exact_write_name(&b, s->names, i);
            buf_printf(&b, "%ld", (long)values[i]);
        }
        char *l = fmpz_get_str(NULL, 10, left), *r = fmpz_get_str(NULL, 10, right);
        buf_printf(&b, "%s%s against %s", s->names->n ? ": " : "", l, r);
        flint_free(l);
        flint_free(r);
        text = arena_strndup(a, b.data, b.len);
        buf_free(&b);
        break;
    }
    fmpz_clear(left);
    fmpz_clear(right);
    return text;
}

enum err_code polynomial_compare(struct exact_result *out, struct arena *a, const struct expr *x,
                                 const struct expr *y, struct err *e)
{
    enum err_code code;
    struct exact_names names = {0};
    if ((code = exact_collect(&names, x, e)) || (code = exact_collect(&names, y, e)))
        return err_up(e, code);
    struct expansion s = {.names = &names};
    fmpz_mpoly_t left, right;
    fmpz_mpoly_ctx_init(s.ring, names.n ? (slong)names.n : 1, ORD_LEX);
    fmpz_mpoly_init(left, s.ring);
    fmpz_mpoly_init(right, s.ring);
    *out = (struct exact_result){.points = 1};
    s.x = x;
    bool done = expand(left, &s);
    s.x = y;
    s.at = 0;
    done = done && expand(right, &s);
    if (done) {
        out->equal = fmpz_mpoly_equal(left, right, s.ring);
        if (!out->equal)
            out->witness = find_witness(a, &s, left, right);
    }
    fmpz_mpoly_clear(left, s.ring);
    fmpz_mpoly_clear(right, s.ring);
    fmpz_mpoly_ctx_clear(s.ring);
    return done ? OK
                : err_fail(e, ERR_LIMIT, "a polynomial has more than %d terms", EXACT_MAX_TERMS);
}
