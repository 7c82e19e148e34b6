/* Saturation: each iteration searches the dirty nodes, applies the matches, and rebuilds, until
 * nothing is new or a budget is spent. Nodes are searched in id order, with a large node budget in
 * passes (dirty_set.h). At each node all rules are searched for at once, and the matches are
 * applied in rule-set order before the next node. So no search is wasted when a budget runs out in
 * the middle of an iteration (the last one is by far the largest), and no group of rules takes the
 * whole budget. Only nodes that existed when the iteration began are matched, so all rules advance
 * at the same pace. Congruence is restored after each node. Matches that the unions of the
 * iteration hide until the rebuild are found in the next one, where their classes count as changed.
 * A run is a function of its input. Budgets are exact: no match is applied once the graph has
 * max_nodes nodes, and no more than max_matches in total. */
#include "ops/egraph/explain/explanation.h"
#include "ops/egraph/graph/node_index.h"
#include "ops/egraph/match/ematch.h"
#include "ops/egraph/run/apply.h"
#include "ops/egraph/run/dirty_set.h"
#include "ops/egraph/run/form_merge.h"

#include <stdlib.h>
#include <string.h>

enum {
    POLL_EVERY = 256,
    MAX_ITERATIONS = 60000,
    MOST_BANS = 32,    /* after this many bans a rule has no limit any more */
    MOST_DOUBLED = 20, /* after this many bans, bans stop growing */
};

/* Backoff (after egg's): a rule that has applied match_limit matches in one iteration and finds
 * another is banned for ban_length iterations, and then continues at the node where it stopped.
 * Both numbers double with each ban. */
struct backoff {
    uint32_t until; /* the rule is banned before this iteration */
    uint32_t times;
};

struct saturator {
    struct egraph *g;
    const struct ruleset *rules;
    const struct saturate_options *options;
    struct saturate_result *result;
    struct arena *arena;
    struct ematch ematch;
    struct ematch_rule *state; /* by rule */
    struct backoff *backoff;   /* by rule */
    struct applier applier;
    struct moment now; /* the start of this iteration */
    uint32_t pinned;   /* nodes below this keep their ids, since callers may hold them */
    struct dirty_set dirty;
    struct form_merger forms;
    uint64_t spent;  /* matches applied */
    uint64_t ask_at; /* check budgets and cancellation when `spent` reaches this */
    bool out_of_nodes, out_of_matches, is_cancelled, changed;
    struct saturate_iteration seen; /* of this iteration, for options->observe */
};

static bool cancelled(const struct saturator *s)
{
    return s->options->cancelled && s->options->cancelled(s->options->cancelled_arg);
}

/* ---- the dirty set ---- */

/* Adds a rule. One that has never completed an iteration searches all nodes from its cursor on
 * anyway. */
static void widen(struct dirty_set *v, uint64_t kinds, const struct ematch_rule *r)
{
    uint32_t cells = r->cursor > r->since[1].cells ? r->cursor : r->since[1].cells;
    uint32_t never = r->cursor ? r->since[0].epoch : UINT32_MAX;
    dirty_set_widen(v, kinds, cells, r->since[1].cells ? r->since[1].epoch : never);
}

/* ---- application ---- */

/* `rule` is the one whose match caused the contradiction, or NULL. */
static enum err_code fail_contradiction(struct saturator *s, const struct rule *rule, struct err *e)
{
    return err_up(e, contradiction_fail(s->arena, s->g, s->rules, rule, e));
}

static bool at_goal(struct saturator *s)
{
    const eclass_id *goal = s->options->goal;
    return s->options->has_goal && graph_find(s->g, goal[0]) == graph_find(s->g, goal[1]);
}

/* Checks max_matches and cancellation before match s->spent + 1. */
static bool may_go_on(struct saturator *s)
{
    uint64_t most = s->options->max_matches;
    s->out_of_matches = most && s->spent >= most;
    s->is_cancelled = !s->out_of_matches && (s->spent + 1) % POLL_EVERY == 0 && cancelled(s);
    uint64_t poll = (s->spent + 1) / POLL_EVERY * POLL_EVERY + POLL_EVERY - 1;
    s->ask_at = most > s->spent && most < poll ? most : poll;
    return !s->out_of_matches && !s->is_cancelled;
}

/* Applies one match. Returns false if the run ends; why_ended returns the reason. */
static bool apply(struct saturator *s, uint32_t rule, const uint32_t *record)
{
    struct egraph *g = s->g;
    struct rule_profile *p = s->options->profile;
    if (g->n_nodes >= s->options->max_nodes) {
        s->out_of_nodes = true;
        return false;
    }
    if (s->spent >= s->ask_at && !may_go_on(s))
        return false;
    s->spent++;
    uint32_t cells = g->n_cells, nodes = g->n_nodes;
    if (__builtin_expect(p != NULL, 0))
        p[rule].applied += apply_conditions_hold(&s->applier, rule, record);
    if (apply_match(&s->applier, rule, record)) {
        s->result->applied[rule]++;
        s->changed = true;
    }
    /* new nodes count even if folding made the whole right-hand side an existing term */
    s->changed |= g->n_cells != cells;
    if (__builtin_expect(p != NULL, 0))
        p[rule].nodes += g->n_nodes - nodes;
    return !g->conflict && !at_goal(s);
}

/* Returns the error that ended the run, or OK if it was a budget or the goal. */
static enum err_code why_ended(struct saturator *s, uint32_t rule, struct err *e)
{
    if (s->is_cancelled)
        return err_fail(e, ERR_CANCELLED, "saturation was cancelled");
    return s->g->conflict ? fail_contradiction(s, s->rules->rules[rule].rule, e) : OK;
}

static enum err_code search_and_apply(struct saturator *s, uint32_t node, bool *go_on,
                                      struct err *e)
{
    struct ematch *m = &s->ematch;
    enum err_code code;
    ematch_search(m, node);
    s->seen.searched++;
    s->seen.matches += m->n_matches;
    for (size_t i = 0; i < m->n_matches && *go_on; i++) {
        const struct ematch_match *match = &m->matches[i];
        const uint32_t *record = m->records.items + match->record;
        *go_on = apply(s, match->rule, record);
        if (!*go_on && (code = why_ended(s, match->rule, e)))
            return err_up(e, code);
    }
    graph_restore_congruence(s->g);
    return s->g->conflict ? fail_contradiction(s, NULL, e) : OK; /* not caused by one rule alone */
}

/* Applies the kept matches whose conditions hold now. */
static enum err_code retry(struct saturator *s, bool *go_on, struct err *e)
{
    enum err_code code;
    struct u32_list *w = &s->applier.waiting;
    size_t n = w->n, kept = 0;
    for (size_t i = 0, size; i < n; i += size) {
        uint32_t rule = w->items[i];
        size = 1 + ematch_record(s->g, &s->rules->rules[rule].lhs);
        if (*go_on && apply_conditions_hold(&s->applier, rule, w->items + i + 1)) {
            *go_on = apply(s, rule, w->items + i + 1);
            if (!*go_on && (code = why_ended(s, rule, e)))
                return err_up(e, code);
            continue;
        }
        memmove(w->items + kept, w->items + i, size * sizeof *w->items);
        kept += size;
    }
    w->n = kept;
    graph_restore_congruence(s->g); /* or matches would depend on the search order */
    return s->g->conflict ? fail_contradiction(s, NULL, e) : OK;
}

/* ---- backoff ---- */

/* Returns how many matches the rule may apply in an iteration. */
static uint64_t backoff_limit(const struct backoff *r, const struct saturate_options *o)
{
    if (!o->ban_length || r->times >= MOST_BANS)
        return UINT64_MAX;
    return (uint64_t)o->match_limit << r->times;
}

/* Bans a rule that found more matches than its limit in this iteration. */
static void backoff_ban(struct backoff *r, const struct saturate_options *o, uint32_t iteration)
{
    uint32_t times = r->times < MOST_DOUBLED ? r->times : MOST_DOUBLED;
    uint64_t length = (uint64_t)o->ban_length << times;
    r->until = length > UINT32_MAX - iteration ? UINT32_MAX : iteration + (uint32_t)length;
    r->times++;
}

/* Called if nothing changed before iteration `next`. Returns whether a rule whose ban ended is
 * active in it. If only banned rules are left, shortens all bans until the first one ends. */
static bool backoff_shorten(struct backoff *backoff, size_t n, uint32_t next)
{
    uint32_t first = UINT32_MAX;
    bool any_active = false;
    for (size_t i = 0; i < n; i++) {
        if (backoff[i].until > next && backoff[i].until < first)
            first = backoff[i].until;
        any_active |= backoff[i].until == next && next > 0 && backoff[i].times;
    }
    if (first == UINT32_MAX || any_active)
        return any_active;
    for (size_t i = 0; i < n; i++)
        if (backoff[i].until > next)
            backoff[i].until -= first - next;
    return true;
}

/* ---- iterations ---- */

static void halve_epochs(struct saturator *s)
{
    s->ematch.since.epoch /= 2;
    for (size_t i = 0; i < s->rules->n; i++)
        for (int k = 0; k < 2; k++)
            s->state[i].since[k].epoch /= 2;
}

/* Sets the state of each rule in this iteration, and the dirty set. */
static void begin_rules(struct saturator *s, uint32_t iteration)
{
    struct ematch *m = &s->ematch;
    dirty_set_clear(&s->dirty);
    if (m->uniform)
        widen(&s->dirty, s->rules->kinds, &(struct ematch_rule){.since = {m->since, m->since}});
    for (size_t i = 0; i < s->rules->n; i++)
        m->left[i] = backoff_limit(&s->backoff[i], s->options);
    for (size_t i = 0; i < s->rules->n && !m->uniform; i++) {
        struct ematch_rule *r = &s->state[i];
        r->banned = iteration < s->backoff[i].until;
        r->exceeded = false;
        if (!r->banned)
            widen(&s->dirty, s->rules->rules[i].kinds, r);
    }
    dirty_set_fill(&s->dirty, s->g);
}

static void begin_iteration(struct saturator *s, uint32_t iteration)
{
    struct egraph *g = s->g;
    if (graph_begin_epoch(g))
        halve_epochs(s);
    s->now = (struct moment){g->n_cells, g->epoch};
    g->frozen = g->n_cells;
    begin_rules(s, iteration);
    s->dirty.passes = 1;
    if (s->ematch.uniform) /* a rule that continues at its cursor needs id order */
        dirty_set_order(&s->dirty, g, s->options->max_nodes);
    ematch_begin(&s->ematch, g->n_cells);
    s->result->searched = g->n_cells;
    s->seen = (struct saturate_iteration){.nodes = g->n_nodes};
    s->changed = false;
}

/* Bans the rules that exceeded their limit; the others have searched everything up to now. */
static void end_iteration(struct saturator *s, uint32_t iteration)
{
    ematch_settle(&s->ematch);
    s->ematch.since = s->now;
    for (size_t i = 0; i < s->rules->n && !s->ematch.uniform; i++) {
        struct ematch_rule *r = &s->state[i];
        if (r->banned)
            continue;
        r->since[0] = s->now;
        if (!r->exceeded) {
            r->since[1] = s->now;
            r->cursor = 0;
            continue;
        }
        if (s->dirty.passes > 1)
            r->cursor = 0; /* with several passes, younger nodes were searched before the one at
                              which it stopped */
        backoff_ban(&s->backoff[i], s->options, iteration);
    }
    if (s->options->observe)
        s->options->observe(s->options->observe_arg, &s->seen);
}

/* Compacts the graph and renames the nodes that the run refers to. */
static void compact(struct saturator *s)
{
    struct egraph *g = s->g;
    struct compaction c;
    struct u32_list *w = &s->applier.waiting;
    for (size_t i = 0, size; i < w->n && !g->proofs; i += size) {
        size = 1 + ematch_record(g, &s->rules->rules[w->items[i]].lhs);
        for (size_t k = 1; k < size; k++) /* without proofs a match refers to classes */
            w->items[i + k] = graph_find(g, w->items[i + k]);
    }
    graph_compact(&c, g, s->pinned);
    for (size_t i = 0, size; i < w->n; i += size) {
        size = 1 + ematch_record(g, &s->rules->rules[w->items[i]].lhs);
        for (size_t k = 1; k < size; k++)
            w->items[i + k] = compaction_map(&c, w->items[i + k]);
    }
    s->ematch.since.cells = compaction_map(&c, s->ematch.since.cells);
    /* searched nodes may be gone, with younger ones in their place */
    s->result->searched = s->result->roots = g->n_cells;
    for (size_t i = 0; i < s->rules->n; i++) {
        struct ematch_rule *r = &s->state[i];
        r->since[0].cells = compaction_map(&c, r->since[0].cells);
        r->since[1].cells = compaction_map(&c, r->since[1].cells);
        r->cursor = compaction_map(&c, r->cursor);
    }
    compaction_free(&c);
}

/* *last: the node that was searched last. */
static enum err_code search_pass(struct saturator *s, unsigned k, uint32_t *last, bool *go_on,
                                 struct err *e)
{
    enum err_code code;
    size_t words = s->now.cells / 64 + 1;
    for (size_t w = 0; w < words && *go_on; w++) {
        uint64_t bits = dirty_set_word(&s->dirty, w, k);
        if (w % POLL_EVERY == 0 && cancelled(s))
            return err_fail(e, ERR_CANCELLED, "saturation was cancelled");
        for (; bits && *go_on; bits &= bits - 1) {
            *last = (uint32_t)(64 * w + (unsigned)__builtin_ctzll(bits));
            if (ematch_wants(&s->ematch, s->g->kind[*last]) &&
                (code = search_and_apply(s, *last, go_on, e)))
                return err_up(e, code);
        }
    }
    return OK;
}

static enum err_code iterate(struct saturator *s, uint32_t iteration, struct err *e)
{
    enum err_code code;
    bool go_on = true;
    uint32_t node = UINT32_MAX; /* the node searched last */
    begin_iteration(s, iteration);
    if ((code = retry(s, &go_on, e)))
        return err_up(e, code);
    for (unsigned k = 0; k < s->dirty.passes && go_on; k++)
        if ((code = search_pass(s, k, &node, &go_on, e)))
            return err_up(e, code);
    /* an additional rule that begins at nodes of another kind would have searched up to here */
    uint32_t roots = go_on || s->dirty.passes > 1 ? s->now.cells : node + 1;
    s->result->roots = roots > s->result->roots ? roots : s->result->roots;
    s->g->watched = go_on; /* otherwise no search follows */
    egraph_rebuild(s->g);
    end_iteration(s, iteration);
    if (s->g->conflict)
        return fail_contradiction(s, NULL, e);
    if (go_on && graph_wants_compaction(s->g))
        compact(s);
    return OK;
}

static enum err_code run(struct saturator *s, struct err *e)
{
    enum err_code code;
    struct saturate_result *out = s->result;
    uint32_t limit = s->options->iterations;
    if (limit > MAX_ITERATIONS)
        return err_fail(e, ERR_INPUT, "at most %d iterations, not %u", MAX_ITERATIONS, limit);
    egraph_rebuild(s->g);
    if (s->g->conflict)
        return fail_contradiction(s, NULL, e);
    out->stop = EQLOOM__STOP_REASON__ITERATION_LIMIT;
    for (uint32_t i = 0; i < limit; i++) {
        if ((code = iterate(s, i, e)))
            return err_up(e, code);
        out->iterations = i + 1;
        if (!at_goal(s)) {
            s->g->watched = true;
            s->changed |= form_merge(&s->forms);
            if (s->g->conflict)
                return fail_contradiction(s, NULL, e);
        }
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
        if (!s->changed && !backoff_shorten(s->backoff, s->rules->n, i + 1)) {
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
                        "egraph_keep_proofs must be called before the first term is added");
    *out = (struct saturate_result){.matched = arena_array(a, uint64_t, rules->n),
                                    .applied = arena_array(a, uint64_t, rules->n)};
    struct saturator s = {.g = g,
                          .rules = rules,
                          .options = options,
                          .result = out,
                          .arena = a,
                          .pinned = g->n_cells,
                          .applier = {.g = g, .rules = rules},
                          .forms = {.g = g, .options = options}};
    s.state = must_calloc(rules->n + 1, sizeof *s.state);
    s.backoff = must_calloc(rules->n + 1, sizeof *s.backoff);
    s.applier.leaf = ruleset_leaves(a, rules, g);
    s.applier.values = must_calloc(rules->most_values + RULE_FIRST_VARS, sizeof *s.applier.values);
    ematch_init(&s.ematch, g, rules, s.applier.leaf, s.state, out->matched);
    ematch_profile(&s.ematch, options->profile);
    g->stamp_levels = rules->reach ? rules->reach - 1 : 0;
    g->node_limit = options->max_nodes;
    g->watched = true;
    enum err_code code = run(&s, e);
    ematch_settle(&s.ematch); /* for an iteration that failed */
    for (size_t i = 0; i < rules->n && options->profile; i++)
        options->profile[i].banned += s.backoff[i].times;
    free(s.state);
    free(s.applier.values);
    free(s.backoff);
    dirty_set_free(&s.dirty);
    form_merger_free(&s.forms);
    u32_free(&s.applier.waiting);
    ematch_free(&s.ematch);
    g->watched = false;
    node_index_release(g->node_index);
    g->frozen = 0;
    return code;
}
