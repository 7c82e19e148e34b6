/* Saturation: iterations of searching and applying, and a rebuild, until nothing is new or a budget
 * is spent. Each rule in turn is searched for and what was found applied, so that nothing is
 * searched for when a budget is spent: the last iteration is by far the largest. Matches are made
 * of the nodes with which the iteration began, so no rule runs ahead of the others; what the
 * iteration's own unions hide until the rebuild, the next iteration sees as changed. Rules come in
 * rule-set order, matches in the machine's, so a run is a function of its input. Budgets are
 * exact: no application begins when the graph has max_nodes nodes, and no match beyond max_matches
 * is applied.
 *
 * Backoff (as in egg): a rule that matches more than match_limit times in one iteration loses its
 * matches and rests ban_length iterations; both double each time. */
#include "ops/egraph/join.h"
#include "ops/egraph/machine.h"
#include "ops/egraph/terms.h"

#include <stdlib.h>
#include <string.h>

enum { POLL_EVERY = 256, MAX_ITERATIONS = 60000 };

struct rule_state {
    struct machine_since since;
    uint32_t banned_until, bans;
    size_t found; /* in this iteration */
};

struct saturator {
    struct egraph *g;
    const struct ruleset *rules;
    const struct saturate_options *options;
    struct saturate_result *result;
    struct rule_state *state;
    uint32_t *leaf;          /* by leaf of the rule set */
    struct u32_list matches; /* of the rule at hand */
    uint32_t cells;          /* when this iteration began */
    struct machine_fresh fresh;
    uint32_t *nodes; /* scratch of one application */
    uint64_t spent;  /* matches applied */
    bool out_of_nodes, out_of_matches, changed;
};

static bool cancelled(const struct saturator *s)
{
    return s->options->cancel && __atomic_load_n(s->options->cancel, __ATOMIC_RELAXED);
}

/* ---- search ---- */

static uint64_t ban_threshold(const struct saturator *s, const struct rule_state *r)
{
    if (!s->options->ban_length || r->bans >= 32)
        return UINT64_MAX;
    return (uint64_t)s->options->match_limit << r->bans;
}

static void search_rule(struct saturator *s, size_t i, uint32_t iteration)
{
    struct rule_state *r = &s->state[i];
    r->found = 0;
    s->matches.n = 0;
    if (iteration < r->banned_until)
        return;
    struct machine_since since = r->since;
    since.until = s->cells;
    since.fresh = &s->fresh;
    uint64_t threshold = ban_threshold(s, r), limit = threshold;
    if (threshold < UINT64_MAX)
        limit++;
    size_t found = machine_search(&s->matches, s->g, &s->rules->rules[i], s->leaf, since,
                                  limit > SIZE_MAX ? SIZE_MAX : (size_t)limit);
    s->result->matched[i] += found;
    if (found > threshold) {
        uint64_t rest = (uint64_t)s->options->ban_length << (r->bans < 20 ? r->bans : 20);
        r->banned_until = rest > UINT32_MAX - iteration ? UINT32_MAX : iteration + (uint32_t)rest;
        r->bans++;
        return; /* what it found is still new to it */
    }
    r->found = found;
    r->since = (struct machine_since){.cells = s->cells, .epoch = s->g->epoch};
}

/* ---- application ---- */

/* Builds the right side; *nodes has the nodes in its order. Returns the root. */
static uint32_t instantiate(struct saturator *s, const struct build *b, const uint32_t *vars)
{
    uint32_t kids[256];
    for (uint32_t i = 0; i < b->n; i++) {
        const struct build_node *node = &b->nodes[i];
        if (node->is_leaf) {
            s->nodes[i] = graph_add_leaf(s->g, s->leaf[node->op]);
            continue;
        }
        for (uint32_t k = 0; k < node->arity; k++) {
            uint32_t ref = b->refs[node->ref + k];
            kids[k] = ref < b->n_vars ? vars[ref] : s->nodes[ref - b->n_vars];
        }
        s->nodes[i] = graph_add(s->g, node->op, kids);
    }
    return b->root < b->n_vars ? vars[b->root] : s->nodes[b->root - b->n_vars];
}

static struct reason record_proof(struct saturator *s, size_t rule, const uint32_t *record,
                                  size_t size)
{
    struct proofs *p = s->g->proofs;
    if (!p)
        return (struct reason){REASON_RULE, 0};
    const struct compiled_rule *r = &s->rules->rules[rule];
    size_t n = 1 + size + r->rhs.n;
    p->matches = vec_grow(p->matches, &p->matches_cap, p->n_matches + n, sizeof *p->matches);
    uint32_t *m = p->matches + p->n_matches;
    m[0] = (uint32_t)rule;
    memcpy(m + 1, record, size * sizeof *m);
    memcpy(m + 1 + size, s->nodes, r->rhs.n * sizeof *m);
    struct reason why = {REASON_RULE, (uint32_t)p->n_matches};
    p->n_matches += n;
    return why;
}

static bool apply_match(struct saturator *s, size_t rule, const uint32_t *record, size_t size)
{
    const struct compiled_rule *r = &s->rules->rules[rule];
    const uint32_t *vars = record + 1;
    for (size_t i = 0; i < r->n_conditions; i++)
        if (!graph_condition_holds(s->g, &r->conditions[i], vars, s->leaf))
            return false;
    uint32_t root = instantiate(s, &r->rhs, vars);
    struct proofs *p = s->g->proofs;
    if (graph_find(s->g, root) == graph_find(s->g, record[0]) &&
        !(p && proofs_want(p, record[0], root, REASON_RULE, (uint32_t)rule)))
        return false;
    struct reason why = record_proof(s, rule, record, size);
    return graph_union(s->g, record[0], root, why);
}

static enum err_code fail_contradiction(struct saturator *s, const struct rule *rule, struct err *e)
{
    struct egraph *g = s->g;
    struct buf a = {0}, b = {0}, fa = {0}, fb = {0};
    g->pending.n = g->doubtful.n = 0; /* the graph is read from here on, never used again */
    terms_write_node(&a, g, g->conflict_a);
    terms_write_node(&b, g, g->conflict_b);
    facts_write(&fa, g, g->conflict_fact_a);
    facts_write(&fb, g, g->conflict_fact_b);
    err_fail(e, ERR_FAILED,
             "contradiction: %.120s (%.60s) and %.120s (%.60s) would be equal%s%s%s%s", a.data,
             fa.data, b.data, fb.data, rule ? " by rule " : "", rule ? rule->group : "",
             rule ? "/" : "", rule ? rule->name : "");
    buf_free(&a);
    buf_free(&b);
    buf_free(&fa);
    buf_free(&fb);
    return ERR_FAILED;
}

static bool at_goal(struct saturator *s)
{
    const eclass_id *goal = s->options->goal;
    return s->options->has_goal && graph_find(s->g, goal[0]) == graph_find(s->g, goal[1]);
}

static enum err_code apply_rule(struct saturator *s, size_t i, struct err *e)
{
    const struct compiled_rule *r = &s->rules->rules[i];
    size_t size = machine_record(s->g, &r->lhs);
    for (size_t k = 0; k < s->state[i].found; k++) {
        if (s->g->n_nodes >= s->options->max_nodes) {
            s->out_of_nodes = true;
            return OK;
        }
        if (s->options->max_matches && s->spent >= s->options->max_matches) {
            s->out_of_matches = true;
            return OK;
        }
        s->spent++;
        if (s->spent % POLL_EVERY == 0 && cancelled(s))
            return err_fail(e, ERR_CANCELLED, "saturation was told to stop");
        if (apply_match(s, i, s->matches.items + k * size, size)) {
            s->result->applied[i]++;
            s->changed = true;
        }
        if (s->g->conflict)
            return fail_contradiction(s, r->rule, e);
        if (at_goal(s))
            return OK;
    }
    return OK;
}

/* ---- iterations ---- */

/* When only resting rules could go on, time passes until the first of them wakes. */
static bool wake_rules(struct saturator *s, uint32_t next)
{
    uint32_t first = UINT32_MAX;
    for (size_t i = 0; i < s->rules->n; i++)
        if (s->state[i].banned_until > next && s->state[i].banned_until < first)
            first = s->state[i].banned_until;
    bool awake_later = false;
    for (size_t i = 0; i < s->rules->n; i++)
        awake_later |= s->state[i].banned_until == next && next > 0 && s->state[i].bans;
    if (first == UINT32_MAX)
        return awake_later;
    if (awake_later)
        return true;
    for (size_t i = 0; i < s->rules->n; i++)
        if (s->state[i].banned_until > next)
            s->state[i].banned_until -= first - next;
    return true;
}

static bool is_spent(struct saturator *s)
{
    return s->out_of_nodes || s->out_of_matches || at_goal(s);
}

static enum err_code iterate(struct saturator *s, uint32_t iteration, struct err *e)
{
    s->changed = false;
    machine_freshen(&s->fresh, s->g, s->cells, s->g->epoch);
    s->cells = s->g->frozen = s->g->n_cells;
    s->result->searched_before = s->result->searched;
    s->result->searched = s->cells;
    graph_begin_epoch(s->g);
    for (size_t i = 0; i < s->rules->n && !is_spent(s); i++) {
        if (cancelled(s))
            return err_fail(e, ERR_CANCELLED, "saturation was told to stop");
        search_rule(s, i, iteration);
        s->result->n_searched = i + 1;
        if (err_up(e, apply_rule(s, i, e)))
            return e->code;
    }
    egraph_rebuild(s->g);
    return s->g->conflict ? fail_contradiction(s, NULL, e) : OK;
}

static enum err_code run(struct saturator *s, struct err *e)
{
    struct saturate_result *out = s->result;
    uint32_t limit = s->options->iterations;
    if (limit > MAX_ITERATIONS)
        return err_fail(e, ERR_INPUT, "at most %d iterations, not %u", MAX_ITERATIONS, limit);
    egraph_rebuild(s->g);
    if (s->g->conflict)
        return fail_contradiction(s, NULL, e);
    out->stop = EQLOOM__STOP_REASON__ITERATION_LIMIT;
    for (uint32_t i = 0; i < limit; i++) {
        if (err_up(e, iterate(s, i, e)))
            return e->code;
        out->iterations = i + 1;
        if (at_goal(s)) {
            out->stop = EQLOOM__STOP_REASON__GOAL_REACHED;
            break;
        }
        if (s->out_of_nodes || s->g->n_nodes >= s->options->max_nodes) {
            out->stop = EQLOOM__STOP_REASON__NODE_LIMIT;
            break;
        }
        if (s->out_of_matches) {
            out->stop = EQLOOM__STOP_REASON__MATCH_LIMIT;
            break;
        }
        if (!s->changed && !wake_rules(s, i + 1)) {
            out->stop = EQLOOM__STOP_REASON__SATURATED;
            break;
        }
    }
    return OK;
}

enum err_code egraph_saturate(struct saturate_result *out, struct egraph *g,
                              const struct ruleset *rules, const struct saturate_options *options,
                              struct arena *a, struct err *e)
{
    if (rules->too_large)
        return err_fail(e, rules->problem.code, "%s", rules->problem.message);
    if (options->explain && !g->proofs)
        return err_fail(e, ERR_INPUT,
                        "proofs are kept from the first term on: see "
                        "egraph_keep_proofs");
    *out = (struct saturate_result){.matched = arena_array(a, uint64_t, rules->n),
                                    .applied = arena_array(a, uint64_t, rules->n)};
    struct saturator s = {.g = g, .rules = rules, .options = options, .result = out};
    s.state = calloc(rules->n + 1, sizeof *s.state);
    s.leaf = calloc(rules->leaves.n + 1, sizeof *s.leaf);
    size_t longest = 1;
    unsigned levels = 0;
    for (size_t i = 0; i < rules->n; i++) {
        const struct compiled_rule *r = &rules->rules[i];
        longest = r->rhs.n > longest ? r->rhs.n : longest;
        if (r->levels != LEVELS_ALWAYS && r->levels > levels + 1)
            levels = r->levels - 1u;
    }
    s.nodes = calloc(longest, sizeof *s.nodes);
    s.fresh.by_op = calloc(g->lang->n_ops, sizeof *s.fresh.by_op);
    if (!s.state || !s.leaf || !s.nodes || !s.fresh.by_op)
        abort();
    for (size_t i = 0; i < rules->leaves.n; i++)
        s.leaf[i] = graph_leaf(g, rules->leaves.items[i].op, rules->leaves.items[i].text);
    g->stamp_levels = levels;
    g->node_limit = options->max_nodes;
    if (g->epoch >
        UINT16_MAX - MAX_ITERATIONS - 1) { /* stamps of earlier runs would be met again */
        memset(g->stamp, 0, (size_t)g->n_cells * STAMPS * sizeof *g->stamp);
        g->epoch = 0;
    }
    enum err_code code = run(&s, e);
    free(s.state);
    free(s.leaf);
    free(s.nodes);
    free(s.matches.items);
    for (uint32_t op = 0; op < g->lang->n_ops; op++)
        free(s.fresh.by_op[op].nodes.items);
    free(s.fresh.by_op);
    joins_release(g->joins);
    g->frozen = 0;
    return code;
}
