/* See reuse.h. */
#include "ops/egraph/reuse.h"

#include "base/map.h"
#include "ops/egraph/machine.h"
#include "schemas/canonical.h"

#include <stdlib.h>
#include <string.h>

#define NOWHERE UINT32_MAX

struct reuse_rules {
    struct arena arena;
    const struct rules *rules;
    const struct ruleset *compiled;
    struct digest *digests;     /* of the rules without their certificates, in rule-set order */
    uint32_t *index;            /* in rule-set order, by position among the records */
    struct digest_map index_of; /* digest -> index */
    bool ambiguous;             /* two rules are the same or of one name: nothing is proved */
    struct digest environment;  /* of all else that a run takes from its rules */
};

/* ---- rules ---- */

/* What traces know a rule by; zero from REUSE_PRINT on. */
static bool rule_digest(struct digest *out, struct arena *a, const Eqloom__Rule *m)
{
    Eqloom__Rule bare = *m;
    struct span bytes;
    bare.certificate = NULL;
    if (canonical_pack(&bytes, a, &bare.base, NULL))
        return false;
    *out = digest_of(&bytes, 1);
    memset(out->bytes + REUSE_PRINT, 0, DIGEST_SIZE - REUSE_PRINT);
    return true;
}

static void hash_text(struct hasher *h, const char *text)
{
    hasher_add(h, text, strlen(text) + 1);
}

/* Declared operators and variables of the rules' own take part in every run, and so do the mark of
 * unsoundness and how far down the rules look: that decides which nodes a search visits, and with
 * it whether a match is found in this iteration or the next. */
static struct digest environment_of(const struct reuse_rules *r, bool unsound)
{
    struct hasher *h = hasher_new();
    const struct language *lang = r->rules->lang;
    uint8_t reach = (uint8_t)r->compiled->reach;
    hash_text(h, unsound ? "unsound" : "sound");
    hasher_add(h, &reach, 1);
    for (uint16_t i = 0; i < lang->n_ops; i++) {
        uint8_t arity = (uint8_t)lang->ops[i].arity;
        hash_text(h, lang->ops[i].name ? lang->ops[i].name : "");
        hasher_add(h, &arity, 1);
    }
    for (size_t i = 0; i < r->compiled->leaves.n; i++) {
        const struct pattern_leaf *leaf = &r->compiled->leaves.items[i];
        if (leaf->op == X_SYM && strcmp(leaf->text, "pi") != 0 && strcmp(leaf->text, "e") != 0)
            hash_text(h, leaf->text);
    }
    struct digest d = hasher_finish(h);
    hasher_free(h);
    return d;
}

/* Then the order of the rules would not follow from what they are. */
static bool has_name_of(const struct rule *a, const struct rule *b)
{
    return strcmp(a->group, b->group) == 0 && strcmp(a->name, b->name) == 0;
}

struct reuse_rules *reuse_rules_new(const struct rules *rules, const struct ruleset *compiled,
                                    const Eqloom__Rule *const *records, bool unsound)
{
    struct reuse_rules *r = calloc(1, sizeof *r);
    struct arena scratch = {0};
    if (!r)
        abort();
    r->rules = rules;
    r->compiled = compiled;
    r->digests = arena_array(&r->arena, struct digest, rules->n);
    r->index = arena_array(&r->arena, uint32_t, rules->n);
    for (size_t i = 0; i < rules->n; i++) {
        Eqloom__Rule m;
        bool added;
        rule_to_message(&m, &scratch, rules, &rules->rules[i]);
        r->ambiguous |= !rule_digest(&r->digests[i], &scratch, &m);
        digest_map_put(&r->index_of, &r->digests[i], i, &added);
        r->ambiguous |= !added || (i && has_name_of(&rules->rules[i], &rules->rules[i - 1]));
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
    r->environment = environment_of(r, unsound);
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

/* ---- the signature: bits by (operator, argument, token below it) ---- */

static void set_bit(uint8_t *bits, size_t i)
{
    bits[i / 8] |= (uint8_t)(1 << (i % 8));
}

static bool has_bit(const ProtobufCBinaryData *bits, size_t i)
{
    return i / 8 < bits->len && bits->data[i / 8] >> (i % 8) & 1;
}

struct signing {
    struct egraph *g;
    uint32_t searched,
        roots;               /* nodes from here on do not count, unless they are leaves; as roots */
    uint32_t *token;         /* of each operator, then of each leaf; NOWHERE: not in the graph */
    uint32_t *begin, *nodes; /* of each class, by its id: nodes[begin[c] .. begin[c + 1]) */
};

static uint32_t *token_of(struct signing *s, uint32_t node)
{
    uint32_t op = graph_op(s->g, node);
    return &s->token[op & OP_LEAF ? s->g->lang->n_ops + (op & ~OP_LEAF) : op];
}

/* A search looks at no node from `searched` on, but sees where any leaf stands, however new. Dead
 * nodes count, too: they stood there. */
static bool is_node(const struct signing *s, uint32_t cell)
{
    uint32_t op = s->g->cells[cell].op;
    return op != OP_CONT && (cell < s->searched || op & OP_LEAF);
}

static void sort_by_class(struct signing *s, struct arena *a)
{
    struct egraph *g = s->g;
    s->begin = arena_array(a, uint32_t, g->n_cells + 2u);
    s->nodes = arena_array(a, uint32_t, g->n_cells + 1u);
    for (uint32_t n = 0; n < g->n_cells; n++)
        if (is_node(s, n))
            s->begin[graph_find(g, n) + 2]++;
    for (uint32_t c = 2; c < g->n_cells + 2; c++)
        s->begin[c] += s->begin[c - 1];
    for (uint32_t n = 0; n < g->n_cells; n++)
        if (is_node(s, n))
            s->nodes[s->begin[graph_find(g, n) + 1]++] = n;
}

static void name_tokens(Eqloom__SaturationTrace *t, struct arena *a, struct signing *s)
{
    struct egraph *g = s->g;
    size_t n_ops = g->lang->n_ops, n = n_ops + g->n_leaves;
    s->token = arena_array(a, uint32_t, n + 1);
    memset(s->token, 0xff, (n + 1) * sizeof *s->token);
    for (uint32_t i = 0; i < g->n_cells; i++)
        if (is_node(s, i))
            *token_of(s, i) = 0;
    t->operators = arena_array(a, char *, n_ops);
    t->leaves = arena_array(a, char *, g->n_leaves);
    for (size_t i = 0; i < n; i++) {
        if (s->token[i] == NOWHERE)
            continue;
        s->token[i] = (uint32_t)(t->n_operators + t->n_leaves);
        if (i >= n_ops) {
            t->leaves[t->n_leaves++] = g->leaves[i - n_ops].text;
            continue;
        }
        t->operators[t->n_operators++] = (char *)g->lang->ops[i].name;
        if (g->lang->ops[i].arity > t->arity)
            t->arity = g->lang->ops[i].arity;
    }
}

static ProtobufCBinaryData new_bits(struct arena *a, size_t n)
{
    ProtobufCBinaryData bits = {.len = (n + 7) / 8};
    bits.data = arena_alloc(a, bits.len + 1);
    memset(bits.data, 0, bits.len + 1);
    return bits;
}

static ProtobufCBinaryData write_under(const Eqloom__SaturationTrace *t, struct arena *a,
                                       struct signing *s, uint32_t until)
{
    struct egraph *g = s->g;
    size_t tokens = t->n_operators + t->n_leaves;
    ProtobufCBinaryData bits = new_bits(a, t->n_operators * t->arity * tokens);
    for (uint32_t n = 0; n < until; n++) {
        if (!is_node(s, n))
            continue;
        size_t op = *token_of(s, n);
        for (uint32_t k = 0; k < graph_arity(g, graph_op(g, n)); k++) {
            uint32_t class = graph_find(g, *graph_kid(g, n, k));
            for (uint32_t i = s->begin[class]; i < s->begin[class + 1]; i++)
                set_bit(bits.data, (op * t->arity + k) * tokens + *token_of(s, s->nodes[i]));
        }
    }
    return bits;
}

/* Of the nodes before cell `searched` and of all leaves, in the classes of the end: a superset of
 * what any search of the run could see, since the last one looked at no later nodes and classes
 * only merge. The last iteration is mostly by far the largest, and cut short: at most of its nodes
 * no search began, so roots are told apart. */
static void write_signature(Eqloom__SaturationTrace *t, struct arena *a,
                            const struct saturate_result *result, struct egraph *g)
{
    struct signing s = {.g = g, .searched = result->searched, .roots = result->roots};
    name_tokens(t, a, &s);
    sort_by_class(&s, a);
    t->under = write_under(t, a, &s, s.searched);
    t->under_root = write_under(t, a, &s, s.roots);
    t->root = new_bits(a, t->n_operators + t->n_leaves);
    for (uint32_t n = 0; n < g->n_cells; n++)
        if (is_node(&s, n) && (n < s.roots || g->cells[n].op & OP_LEAF))
            set_bit(t->root.data, *token_of(&s, n));
}

static size_t find_token(const Eqloom__SaturationTrace *t, const struct language *lang,
                         const struct expr_node *node)
{
    char **table = node->leaf ? t->leaves : t->operators;
    const char *name = node->leaf ? node->leaf : lang->ops[node->op].name;
    size_t n = node->leaf ? t->n_leaves : t->n_operators;
    for (size_t i = 0; i < n; i++)
        if (strcmp(table[i], name) == 0)
            return node->leaf ? t->n_operators + i : i;
    return SIZE_MAX;
}

/* Whether the signature leaves it possible that the pattern matched somewhere. */
static bool may_match(const Eqloom__SaturationTrace *t, const struct expr *x)
{
    size_t tokens = t->n_operators + t->n_leaves;
    for (uint32_t i = 0; i < x->n; i++) {
        const struct expr_node *node = &x->nodes[i];
        const ProtobufCBinaryData *under = i == 0 ? &t->under_root : &t->under;
        if (node->leaf && t->any_leaf)
            continue;
        size_t op = node->op == X_VAR ? 0 : find_token(t, x->lang, node);
        if (op == SIZE_MAX || (i == 0 && node->op != X_VAR && !has_bit(&t->root, op)))
            return false;
        uint32_t at = i + 1;
        for (uint32_t k = 0; k < node->arity; at += x->nodes[at].size, k++) {
            const struct expr_node *kid = &x->nodes[at];
            if (kid->leaf && t->any_leaf)
                continue;
            size_t token = kid->op == X_VAR ? 0 : find_token(t, x->lang, kid);
            if (token == SIZE_MAX)
                return false;
            if (kid->op != X_VAR &&
                (k >= t->arity || !has_bit(under, (op * t->arity + k) * tokens + token)))
                return false;
        }
    }
    return true;
}

/* ---- traces ---- */

enum err_code reuse_trace(struct span *out, struct arena *a, const struct reuse_rules *r,
                          const struct saturate_result *result, struct egraph *g,
                          const Eqloom__EGraph *m, struct err *e)
{
    *out = (struct span){0};
    if (r->ambiguous)
        return OK;
    Eqloom__SaturationTrace t = EQLOOM__SATURATION_TRACE__INIT;
    t.whole =
        egraph_count_classes(g) + 1 == m->n_class_begin && egraph_count_nodes(g) == m->n_node_op;
    t.matched.data = arena_alloc(a, r->rules->n * REUSE_PRINT + 1);
    for (size_t i = 0; i < r->rules->n; i++)
        if (result->matched[i]) {
            memcpy(t.matched.data + t.matched.len, r->digests[i].bytes, REUSE_PRINT);
            t.matched.len += REUSE_PRINT;
        }
    t.environment.data = (uint8_t *)r->environment.bytes;
    t.environment.len = DIGEST_SIZE;
    write_signature(&t, a, result, g);
    return err_up(e, canonical_pack(out, a, &t.base, e));
}

/* Marks the rules that matched; false unless all are there, in their order. (Rules are sorted by
 * name, so that the order is what it was; of several runs together there is none.) */
static bool find_matched(bool *is_matched, const struct reuse_rules *r,
                         const Eqloom__SaturationTrace *t)
{
    uint64_t next = 0;
    if (t->matched.len % REUSE_PRINT)
        return false;
    for (size_t i = 0; i < t->matched.len; i += REUSE_PRINT) {
        struct digest d = {0};
        memcpy(d.bytes, t->matched.data + i, REUSE_PRINT);
        const uint64_t *at = digest_map_get(&r->index_of, &d);
        if (!at || (*at < next && !t->united))
            return false;
        is_matched[*at] = true;
        next = *at + 1;
    }
    return true;
}

/* Which of these rules match anywhere in a whole graph? Counts, by rule; it stops at the first. */
static bool any_matches(uint64_t *matched, struct arena *a, struct egraph *g,
                        const struct ruleset *set, const uint32_t *rules, size_t n)
{
    uint32_t *leaf = arena_array(a, uint32_t, set->leaves.n + 1);
    struct machine_rule *state = arena_array(a, struct machine_rule, set->n + 1);
    struct machine m;
    for (size_t i = 0; i < set->leaves.n; i++)
        leaf[i] = graph_leaf(g, set->leaves.items[i].op, set->leaves.items[i].text);
    machine_init(&m, g, set, leaf, state, matched);
    m.alike = false;
    for (size_t i = 0; i < set->n; i++)
        state[i].asleep = true;
    for (size_t i = 0; i < n; i++) {
        state[rules[i]].asleep = false;
        m.left[rules[i]] = UINT64_MAX;
    }
    machine_begin(&m, g->n_cells);
    for (uint32_t node = 0; node < g->n_cells && m.n_matches == 0; node++)
        machine_visit(&m, node);
    bool any = m.n_matches > 0;
    machine_free(&m);
    return any;
}

/* Of the rules in question, those that the signature does not refute, by matching. */
static enum err_code match_rest(struct reuse_answer *out, struct arena *a,
                                const struct reuse_rules *r, const uint32_t *rest, size_t n,
                                const struct reuse_question *q, struct err *e)
{
    const Eqloom__EGraph *m;
    struct egraph *g;
    eclass_id root;
    if (err_up(e, q->load(q->arg, &m, e)) ||
        err_up(e, egraph_from_message(&g, &root, r->rules->lang, m, e)))
        return ERR_FAILED;
    uint64_t *matched = arena_array(a, uint64_t, r->rules->n);
    out->stands = !any_matches(matched, a, g, r->compiled, rest, n);
    out->by_matching = out->stands ? n : 0;
    egraph_free(g);
    return OK;
}

enum err_code reuse_decide(struct reuse_answer *out, struct arena *a, const struct reuse_rules *r,
                           const struct reuse_question *q, struct err *e)
{
    ProtobufCMessage *message;
    *out = (struct reuse_answer){0};
    if (r->ambiguous || r->compiled->too_large || !q->trace.data)
        return OK;
    enum err_code code =
        canonical_unpack(&message, a, &eqloom__saturation_trace__descriptor, q->trace, e);
    if (code)
        return err_up(e, code);
    const Eqloom__SaturationTrace *t = (const Eqloom__SaturationTrace *)message;
    bool *is_matched = arena_array(a, bool, r->rules->n);
    if (t->environment.len != DIGEST_SIZE ||
        memcmp(t->environment.data, r->environment.bytes, DIGEST_SIZE) != 0 ||
        !find_matched(is_matched, r, t))
        return OK;
    uint32_t *rest = arena_array(a, uint32_t, q->n);
    size_t n = 0;
    for (size_t i = 0; i < q->n; i++) {
        uint32_t rule = q->positions[i] < r->rules->n ? r->index[q->positions[i]] : NOWHERE;
        if (rule == NOWHERE)
            return OK;
        if (is_matched[rule])
            continue; /* only its certificate is new */
        if (may_match(t, &r->rules->rules[rule].lhs))
            rest[n++] = rule;
        else
            out->by_signature++;
    }
    out->stands = true;
    bool matching = t->whole && q->load;
    if (n && !matching)
        out->stands = false;
    return n && matching ? err_up(e, match_rest(out, a, r, rest, n, q, e)) : OK;
}
