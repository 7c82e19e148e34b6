#include "ops/egraph/reuse/saturation_reuse.h"

#include "base/map.h"
#include "ops/egraph/match/ruleset.h"
#include "ops/egraph/reuse/signature.h"
#include "ops/expr/own/own.h"
#include "schemas/canonical.h"

#include <stdlib.h>
#include <string.h>

#define NOWHERE UINT32_MAX

enum { PRINT = 8 }; /* bytes of a digest stored in a trace: enough to distinguish rules */

struct reuse_rules {
    struct arena arena;
    const struct rules *rules;
    const struct ruleset *compiled;
    struct digest *digests;     /* of the rules without their certificates, in rule-set order */
    uint32_t *index;            /* by position among the records: index in rule-set order */
    struct digest_map index_of; /* digest -> index */
    uint32_t *ascending;        /* the indices, by digest */
    bool ambiguous; /* two rules are equal or have the same name, so nothing can be proved */
    struct digest environment; /* digest of everything else that a run depends on */
};

/* ---- rules ---- */

/* Computes the digest of a rule in traces; the bytes from PRINT on are zero. */
static bool rule_digest(struct digest *out, struct arena *a, const Eqloom__Rule *m)
{
    Eqloom__Rule bare = *m;
    struct span bytes;
    bare.certificate = NULL;
    if (canonical_pack(&bytes, a, &bare.base, NULL))
        return false;
    *out = digest_of(&bytes, 1);
    memset(out->bytes + PRINT, 0, DIGEST_SIZE - PRINT);
    return true;
}

static int compare_digests(const void *x, const void *y, void *digests)
{
    const struct digest *d = digests;
    return digest_compare(&d[*(const uint32_t *)x], &d[*(const uint32_t *)y]);
}

static void hash_text(struct hasher *h, const char *text)
{
    hasher_add(h, text, strlen(text) + 1);
}

/* Every run depends on the declared operators, on the symbols in the rules, on what they rest on,
 * and on the depth of the deepest rule: it decides which nodes a search visits, and so whether a
 * match is found in this iteration or the next. */
static struct digest environment_of(const struct reuse_rules *r, Eqloom__Basis basis)
{
    struct hasher *h = hasher_new();
    const struct language *lang = r->rules->lang;
    uint8_t first[] = {(uint8_t)basis, (uint8_t)r->compiled->reach};
    hasher_add(h, first, sizeof first);
    for (uint16_t i = 0; i < lang->n_ops; i++) {
        uint8_t arity = (uint8_t)lang->ops[i].arity;
        hash_text(h, lang->ops[i].name ? lang->ops[i].name : "");
        if (lang->ops[i].own)
            hash_text(h, lang->ops[i].own->text);
        hasher_add(h, &arity, 1);
    }
    for (size_t i = 0; i < r->compiled->leaves.n; i++) {
        const struct pattern_leaf *leaf = &r->compiled->leaves.items[i];
        if (leaf->op == X_SYM && !lang_is_constant(leaf->text))
            hash_text(h, leaf->text);
    }
    struct digest d = hasher_finish(h);
    hasher_free(h);
    return d;
}

struct reuse_rules *reuse_rules_new(const struct rules *rules, const struct ruleset *compiled,
                                    const Eqloom__Rule *const *records, Eqloom__Basis basis)
{
    struct reuse_rules *r = must_calloc(1, sizeof *r);
    struct arena scratch = {0};
    r->rules = rules;
    r->compiled = compiled;
    r->digests = arena_array(&r->arena, struct digest, rules->n);
    r->index = arena_array(&r->arena, uint32_t, rules->n);
    r->ascending = arena_array(&r->arena, uint32_t, rules->n);
    for (size_t i = 0; i < rules->n; i++) {
        Eqloom__Rule m;
        bool added;
        r->ascending[i] = (uint32_t)i;
        rule_to_message(&m, &scratch, rules, &rules->rules[i]);
        r->ambiguous |= !rule_digest(&r->digests[i], &scratch, &m);
        digest_map_put(&r->index_of, &r->digests[i], i, &added);
        const struct rule *x = &rules->rules[i], *before = x - (i > 0);
        /* the order of two rules with one name would be ambiguous */
        r->ambiguous |= !added || (i && strcmp(x->group, before->group) == 0 &&
                                   strcmp(x->name, before->name) == 0);
        arena_reset(&scratch);
    }
    for (size_t i = 0; i < rules->n; i++) {
        struct digest d;
        uint64_t *at =
            rule_digest(&d, &scratch, records[i]) ? digest_map_get(&r->index_of, &d) : NULL;
        r->index[i] = at ? (uint32_t)*at : NOWHERE;
        arena_reset(&scratch);
    }
    arena_free(&scratch);
    qsort_r(r->ascending, rules->n, sizeof *r->ascending, compare_digests, r->digests);
    r->environment = environment_of(r, basis);
    return r;
}

void reuse_rules_free(struct reuse_rules *r)
{
    if (!r)
        return;
    digest_map_free(&r->index_of);
    arena_free(&r->arena);
    free(r);
}

/* ---- changes ---- */

/* A new or edited rule, and why it cannot have matched. */
struct added_rule {
    uint32_t rule;
    bool refuted; /* a removed rule has the same pattern, and no rule with this pattern matched */
    const struct digest *twin; /* an unchanged rule with the same pattern, or NULL; this rule did
                                  not match if the twin did not */
};

struct reuse_change {
    struct arena arena;
    const struct reuse_rules *now;
    bool unknown; /* nothing can be proved */
    struct rules gone;
    struct ruleset *gone_compiled;
    struct digest *gone_digests;
    struct added_rule *added;
    size_t n_added;
};

static bool same_pattern(const struct expr *x, const struct expr *y)
{
    if (x->n != y->n)
        return false;
    for (uint32_t i = 0; i < x->n; i++) {
        const struct expr_node *a = &x->nodes[i], *b = &y->nodes[i];
        if (a->op != b->op || a->arity != b->arity || !a->leaf != !b->leaf)
            return false;
        if (a->op != X_VAR && a->leaf && strcmp(a->leaf, b->leaf) != 0)
            return false;
        for (uint32_t k = 0; a->op == X_VAR && k < i; k++)
            if (x->nodes[k].op == X_VAR && (strcmp(x->nodes[k].leaf, a->leaf) == 0) !=
                                               (strcmp(y->nodes[k].leaf, b->leaf) == 0))
                return false;
    }
    return true;
}

/* If y did not match, neither did x. A deeper pattern could have matched an iteration earlier. */
static bool is_twin(const struct compiled_rule *x, const struct compiled_rule *y)
{
    return x->levels[0] <= y->levels[0] && x->levels[1] <= y->levels[1] &&
           same_pattern(&x->rule->lhs, &y->rule->lhs);
}

/* Reads the removed rules. A rule that differs only in its certificate is not removed; its digest
 * is added to `same`. */
static void read_gone(struct reuse_change *c, struct digest_map *same,
                      const Eqloom__Rule *const *records, size_t n)
{
    struct arena *a = &c->arena;
    c->gone = (struct rules){.lang = c->now->rules->lang, .rules = arena_array(a, struct rule, n)};
    c->gone_digests = arena_array(a, struct digest, n);
    for (size_t i = 0; i < n && !c->unknown; i++) {
        struct digest *d = &c->gone_digests[c->gone.n];
        if (!rule_digest(d, a, records[i]))
            c->unknown = true;
        else if (digest_map_get(&c->now->index_of, d))
            digest_map_put(same, d, 0, NULL);
        else if (rule_from_message(&c->gone.rules[c->gone.n], &c->gone.lang, a, records[i], NULL))
            c->unknown = true; /* the meaning of an operator changed */
        else
            c->gone.n++;
    }
    c->gone_compiled = ruleset_new(&c->gone);
    c->unknown |= c->gone_compiled->too_large;
}

static void find_twin(struct reuse_change *c, struct added_rule *x, const bool *is_new)
{
    const struct reuse_rules *now = c->now;
    const struct compiled_rule *rule = &now->compiled->rules[x->rule];
    for (size_t i = 0; i < c->gone.n && !x->refuted; i++)
        x->refuted = is_twin(rule, &c->gone_compiled->rules[i]);
    for (size_t i = 0; i < now->rules->n && !x->refuted && !x->twin; i++)
        if (!is_new[i] && is_twin(rule, &now->compiled->rules[i]))
            x->twin = &now->digests[i];
}

static void read_added(struct reuse_change *c, const struct digest_map *same,
                       const uint64_t *positions, size_t n)
{
    const struct reuse_rules *now = c->now;
    bool *is_new = arena_array(&c->arena, bool, now->rules->n);
    c->added = arena_array(&c->arena, struct added_rule, n);
    for (size_t i = 0; i < n && !c->unknown; i++) {
        uint32_t rule = positions[i] < now->rules->n ? now->index[positions[i]] : NOWHERE;
        c->unknown = rule == NOWHERE;
        if (c->unknown || digest_map_get(same, &now->digests[rule]))
            continue;
        c->added[c->n_added++].rule = rule;
        is_new[rule] = true;
    }
    for (size_t i = 0; i < c->n_added && !c->unknown; i++)
        find_twin(c, &c->added[i], is_new);
}

struct reuse_change *reuse_change_new(const struct reuse_rules *now, const uint64_t *added,
                                      size_t n_added, const Eqloom__Rule *const *gone,
                                      size_t n_gone)
{
    struct reuse_change *c = must_calloc(1, sizeof *c);
    struct digest_map same = {0};
    c->now = now;
    c->unknown = now->ambiguous || now->compiled->too_large;
    read_gone(c, &same, gone, n_gone);
    read_added(c, &same, added, n_added);
    digest_map_free(&same);
    return c;
}

void reuse_change_free(struct reuse_change *c)
{
    if (!c)
        return;
    ruleset_free(c->gone_compiled);
    arena_free(&c->arena);
    free(c);
}

/* ---- traces ---- */

enum err_code reuse_trace(struct span *out, struct arena *a, const struct reuse_rules *r,
                          const struct saturate_result *result, struct egraph *g, struct err *e)
{
    *out = (struct span){0};
    if (r->ambiguous)
        return OK;
    Eqloom__SaturationTrace t = EQLOOM__SATURATION_TRACE__INIT;
    t.matched.data = arena_alloc(a, r->rules->n * PRINT + 1);
    for (size_t i = 0; i < r->rules->n; i++) {
        if (!result->matched[r->ascending[i]])
            continue;
        memcpy(t.matched.data + t.matched.len, r->digests[r->ascending[i]].bytes, PRINT);
        t.matched.len += PRINT;
    }
    t.environment.data = (uint8_t *)r->environment.bytes;
    t.environment.len = DIGEST_SIZE;
    signature_write(&t, a, result, g);
    return err_up(e, canonical_pack(out, a, &t.base, e));
}

/* Sets *out to NULL without an error if the trace can prove nothing. */
static enum err_code read_trace(const Eqloom__SaturationTrace **out, struct arena *a,
                                struct span trace, struct err *e)
{
    const Eqloom__SaturationTrace *t;
    *out = NULL;
    if (!trace.data)
        return OK;
    enum err_code code = canonical_unpack(&t, a, &eqloom__saturation_trace__descriptor, trace, e);
    if (code)
        return err_up(e, code);
    if (t->environment.len == DIGEST_SIZE && t->matched.len % PRINT == 0 && t->arity <= UINT8_MAX)
        *out = t;
    return OK;
}

static int compare_prints(const void *x, const void *y)
{
    return memcmp(x, y, PRINT);
}

static bool has_matched(const Eqloom__SaturationTrace *t, const struct digest *rule)
{
    return t->matched.len &&
           bsearch(rule->bytes, t->matched.data, t->matched.len / PRINT, PRINT, compare_prints);
}

static ProtobufCBinaryData unite_matched(struct arena *a,
                                         const Eqloom__SaturationTrace *const *traces, size_t n)
{
    ProtobufCBinaryData all = {0};
    size_t total = 0, kept = 0;
    for (size_t i = 0; i < n; i++)
        total += traces[i]->matched.len;
    all.data = arena_alloc(a, total + 1);
    for (size_t i = 0; i < n; i++) {
        if (traces[i]->matched.len)
            memcpy(all.data + all.len, traces[i]->matched.data, traces[i]->matched.len);
        all.len += traces[i]->matched.len;
    }
    qsort(all.data, all.len / PRINT, PRINT, compare_prints);
    for (size_t i = 0; i < all.len; i += PRINT)
        if (kept == 0 || compare_prints(all.data + i, all.data + kept - PRINT) != 0) {
            memmove(all.data + kept, all.data + i, PRINT);
            kept += PRINT;
        }
    all.len = kept;
    return all;
}

enum err_code reuse_unite(struct span *out, struct arena *a, const struct span *traces, size_t n,
                          struct err *e)
{
    struct arena scratch = {0};
    const Eqloom__SaturationTrace **read =
        arena_array(&scratch, const Eqloom__SaturationTrace *, n);
    enum err_code code = OK;
    bool known = n > 0;
    *out = (struct span){0};
    for (size_t i = 0; i < n && known; i++) {
        code = read_trace(&read[i], &scratch, traces[i], e);
        known = !code && read[i] &&
                memcmp(read[i]->environment.data, read[0]->environment.data, DIGEST_SIZE) == 0;
    }
    if (known) {
        Eqloom__SaturationTrace t = EQLOOM__SATURATION_TRACE__INIT;
        t.environment = read[0]->environment;
        t.matched = unite_matched(&scratch, read, n);
        signature_unite(&t, &scratch, read, n);
        code = canonical_pack(out, a, &t.base, e);
    }
    arena_free(&scratch);
    return err_up(e, code);
}

/* ---- decisions ---- */

static bool keeps_matched(const struct reuse_change *c, const Eqloom__SaturationTrace *t)
{
    if (memcmp(t->environment.data, c->now->environment.bytes, DIGEST_SIZE) != 0)
        return false;
    for (size_t i = 0; i < c->gone.n; i++)
        if (has_matched(t, &c->gone_digests[i]))
            return false;
    return true;
}

enum err_code reuse_decide(struct reuse_answer *out, struct arena *a, struct span trace,
                           const struct reuse_change *c, struct err *e)
{
    const Eqloom__SaturationTrace *t;
    *out = (struct reuse_answer){0};
    if (c->unknown)
        return OK;
    enum err_code code = read_trace(&t, a, trace, e);
    if (code)
        return err_up(e, code);
    if (!t || !keeps_matched(c, t))
        return OK;
    for (size_t i = 0; i < c->n_added; i++) {
        const struct added_rule *x = &c->added[i];
        if (x->refuted || (x->twin && !has_matched(t, x->twin)))
            out->by_pattern++;
        else if (!signature_may_match(t, &c->now->rules->rules[x->rule].lhs))
            out->by_signature++;
        else
            return OK;
    }
    out->stands = true;
    return OK;
}
