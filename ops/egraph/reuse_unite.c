/* Traces of many saturations as one; see reuse.h. Whatever matched in one of them is among what
 * matched, whatever stood somewhere in one stands there in all: so a rule that the union refutes is
 * refuted by each, and a result that stands by the union stands by its own trace.
 *
 * The order of the rules that matched is left out: rules are sorted by name, and the digests in the
 * traces contain the names, so that what is unchanged is in the same order. */
#include "ops/egraph/reuse.h"

#include "base/map.h"
#include "egraph.pb-c.h"
#include "schemas/canonical.h"

#include <string.h>

enum { LEAVES_MAX = 128 }; /* beyond it, leaves are not told apart */

struct uniting {
    Eqloom__SaturationTrace all;
    struct arena *arena;
    const Eqloom__SaturationTrace **parts;
    size_t n;
    size_t *token; /* of a part's tokens, in the whole; SIZE_MAX: not named there */
};

static size_t find_name(char *const *names, size_t n, const char *name)
{
    size_t i = 0;
    while (i < n && strcmp(names[i], name) != 0)
        i++;
    return i;
}

static size_t add_name(char **names, size_t n, char *name)
{
    size_t i = find_name(names, n, name);
    names[i] = name;
    return i == n ? n + 1 : n;
}

static enum err_code read_parts(struct uniting *u, const struct span *traces, size_t n,
                                struct err *e)
{
    u->parts = arena_array(u->arena, const Eqloom__SaturationTrace *, n);
    for (u->n = 0; u->n < n; u->n++) {
        ProtobufCMessage *m;
        enum err_code code =
            canonical_unpack(&m, u->arena, &eqloom__saturation_trace__descriptor, traces[u->n], e);
        if (code)
            return err_up(e, code);
        u->parts[u->n] = (const Eqloom__SaturationTrace *)m;
    }
    return OK;
}

/* What a run takes from its rules besides those that matched must be the same. */
static enum err_code check_environment(struct uniting *u, struct err *e)
{
    const ProtobufCBinaryData *first = &u->parts[0]->environment;
    for (size_t i = 0; i < u->n; i++) {
        const ProtobufCBinaryData *x = &u->parts[i]->environment;
        if (x->len != DIGEST_SIZE || first->len != DIGEST_SIZE ||
            memcmp(x->data, first->data, DIGEST_SIZE) != 0)
            return err_fail(e, ERR_FAILED, "the runs took place under different conditions");
    }
    u->all.environment = *first;
    return OK;
}

static enum err_code unite_matched(struct uniting *u, struct err *e)
{
    struct digest_map seen = {0};
    enum err_code code = OK;
    size_t bytes = 0;
    for (size_t i = 0; i < u->n; i++)
        bytes += u->parts[i]->matched.len;
    u->all.matched.data = arena_alloc(u->arena, bytes + 1);
    for (size_t i = 0; i < u->n && !code; i++) {
        const ProtobufCBinaryData *x = &u->parts[i]->matched;
        if (x->len % REUSE_PRINT)
            code = err_fail(e, ERR_CORRUPT, "a trace names half a rule");
        for (size_t k = 0; k < x->len && !code; k += REUSE_PRINT) {
            struct digest d = {0};
            bool added;
            memcpy(d.bytes, x->data + k, REUSE_PRINT);
            digest_map_put(&seen, &d, 0, &added);
            if (!added)
                continue;
            memcpy(u->all.matched.data + u->all.matched.len, d.bytes, REUSE_PRINT);
            u->all.matched.len += REUSE_PRINT;
        }
    }
    digest_map_free(&seen);
    return err_up(e, code);
}

static void unite_tokens(struct uniting *u)
{
    size_t operators = 0, leaves = 0, most = 0;
    for (size_t i = 0; i < u->n; i++) {
        const Eqloom__SaturationTrace *t = u->parts[i];
        operators += t->n_operators;
        leaves += t->n_leaves;
        most = t->n_operators + t->n_leaves > most ? t->n_operators + t->n_leaves : most;
        u->all.any_leaf = u->all.any_leaf || t->any_leaf;
        u->all.arity = t->arity > u->all.arity ? t->arity : u->all.arity;
    }
    u->token = arena_array(u->arena, size_t, most + 1);
    u->all.operators = arena_array(u->arena, char *, operators + 1);
    u->all.leaves = arena_array(u->arena, char *, leaves + 1);
    for (size_t i = 0; i < u->n; i++) {
        const Eqloom__SaturationTrace *t = u->parts[i];
        for (size_t k = 0; k < t->n_operators; k++)
            u->all.n_operators = add_name(u->all.operators, u->all.n_operators, t->operators[k]);
        for (size_t k = 0; k < t->n_leaves && !u->all.any_leaf; k++) {
            u->all.n_leaves = add_name(u->all.leaves, u->all.n_leaves, t->leaves[k]);
            u->all.any_leaf = u->all.n_leaves > LEAVES_MAX;
        }
    }
    if (u->all.any_leaf)
        u->all.n_leaves = 0;
}

static void map_tokens(struct uniting *u, const Eqloom__SaturationTrace *t)
{
    for (size_t k = 0; k < t->n_operators; k++)
        u->token[k] = find_name(u->all.operators, u->all.n_operators, t->operators[k]);
    for (size_t k = 0; k < t->n_leaves; k++)
        u->token[t->n_operators + k] =
            u->all.any_leaf
                ? SIZE_MAX
                : u->all.n_operators + find_name(u->all.leaves, u->all.n_leaves, t->leaves[k]);
}

static bool has_bit(const ProtobufCBinaryData *bits, size_t i)
{
    return i / 8 < bits->len && bits->data[i / 8] >> (i % 8) & 1;
}

static void set_bit(ProtobufCBinaryData *bits, size_t i)
{
    bits->data[i / 8] |= (uint8_t)(1 << (i % 8));
}

static void new_bits(ProtobufCBinaryData *bits, struct arena *a, size_t n)
{
    *bits = (ProtobufCBinaryData){(n + 7) / 8, arena_zalloc(a, (n + 7) / 8 + 1)};
}

/* A row of tokens. */
static void unite_row(struct uniting *u, ProtobufCBinaryData *all, size_t all_at,
                      const ProtobufCBinaryData *bits, size_t at, size_t tokens)
{
    for (size_t k = 0; k < tokens; k++)
        if (has_bit(bits, at + k) && u->token[k] != SIZE_MAX)
            set_bit(all, all_at + u->token[k]);
}

static void unite_bits(struct uniting *u)
{
    size_t tokens = u->all.n_operators + u->all.n_leaves;
    new_bits(&u->all.under, u->arena, u->all.n_operators * u->all.arity * tokens);
    new_bits(&u->all.under_root, u->arena, u->all.n_operators * u->all.arity * tokens);
    new_bits(&u->all.root, u->arena, tokens);
    for (size_t i = 0; i < u->n; i++) {
        const Eqloom__SaturationTrace *t = u->parts[i];
        size_t mine = t->n_operators + t->n_leaves;
        map_tokens(u, t);
        unite_row(u, &u->all.root, 0, &t->root, 0, mine);
        for (size_t op = 0; op < t->n_operators; op++)
            for (size_t k = 0; k < t->arity; k++) {
                size_t to = (u->token[op] * u->all.arity + k) * tokens;
                size_t from = (op * t->arity + k) * mine;
                unite_row(u, &u->all.under, to, &t->under, from, mine);
                unite_row(u, &u->all.under_root, to, &t->under_root, from, mine);
            }
    }
}

enum err_code reuse_unite(struct span *out, struct arena *a, const struct span *traces, size_t n,
                          struct err *e)
{
    struct arena scratch = {0};
    struct uniting u = {.all = EQLOOM__SATURATION_TRACE__INIT, .arena = &scratch};
    enum err_code code =
        n ? read_parts(&u, traces, n, e) : err_fail(e, ERR_FAILED, "nothing to unite");
    if (!code)
        code = check_environment(&u, e);
    if (!code)
        code = unite_matched(&u, e);
    if (!code) {
        unite_tokens(&u);
        unite_bits(&u);
        u.all.united = true;
        code = canonical_pack(out, a, &u.all.base, e);
    }
    arena_free(&scratch);
    return err_up(e, code);
}
