/* Finds the segments of a chain that are stored; see chain_resume.h. */
#include "engine/node/chain_resume.h"

#include "engine/cache/trace.h"
#include "engine/remote/node_pull.h"

#include <stdlib.h>

static const struct op *op_of(const struct chain *c)
{
    return c->w->s->job->nodes[c->node].op;
}

void chain_close(struct chain *c)
{
    free(c->segments);
}

void chain_step(struct chain *c, const struct action_result *made)
{
    for (size_t r = 0; r < op_count_outputs(op_of(c)); r++)
        c->outputs[r] = made->outputs[r].n ? made->outputs[r].ids[0] : (struct digest){0};
    c->previous = c->outputs[0];
    c->has_previous = true;
}

/* ---- keys ---- */

enum err_code chain_key(struct key *key, struct op_segment *segment, struct chain *c,
                        struct arena *a, uint64_t index, struct err *e)
{
    struct session *s = c->w->s;
    const struct node *node = &s->job->nodes[c->node];
    struct op_ctx ctx;
    ctx_init(&ctx, s->nodes[c->node].shared, node, a, NULL);
    *segment = (struct op_segment){.index = index};
    enum err_code code = node->op->segment(segment, &ctx, index, e);
    if (code)
        return err_up(e, code);
    struct key_spec spec = {.node = node,
                            .numerics = s->host.numerics,
                            .inputs = s->nodes[c->node].key_inputs,
                            .n_inputs = op_count_inputs(node->op),
                            .segment = segment->key,
                            .after = index ? &c->segments[index - 1].key : NULL};
    code = key_make(key, a, &spec, e);
    c->segments[index].key = key->digest;
    return err_up(e, code);
}

/* The same with what is read of the inputs for the inputs. False: the op cannot tell. */
static bool find_reads(struct chain *c, uint64_t index, struct arena *a)
{
    struct session *s = c->w->s;
    const struct node *node = &s->job->nodes[c->node];
    struct chain_segment *x = &c->segments[index];
    struct op_segment segment = {.index = index};
    struct digest reads;
    struct op_ctx ctx;
    struct key key;
    struct err e = {0};
    ctx_init(&ctx, s->nodes[c->node].shared, node, a, NULL);
    ctx.segment = index;
    bool told = !node->op->segment(&segment, &ctx, index, &e) &&
                !node->op->reads(&reads, &x->reason, &ctx, s->nodes[c->node].op_state, &e) &&
                !ctx.lost[0];
    ctx_finish(&ctx);
    if (!told)
        return false;
    struct key_input input = {"@reads", &reads, 1};
    struct key_spec spec = {.node = node,
                            .numerics = s->host.numerics,
                            .inputs = &input,
                            .n_inputs = 1,
                            .segment = segment.key,
                            .after = index ? &x[-1].reads : NULL};
    if (key_make(&key, a, &spec, &e))
        return false;
    x->reads = key.digest;
    x->reason = arena_strdup(&s->nodes[c->node].work, x->reason);
    return true;
}

/* ---- what is stored ---- */

/* What the segment gave, if all of it is there. */
static bool read_segment(struct action_result *made, struct chain *c, struct arena *a,
                         uint64_t index, bool by_reads)
{
    const struct chain_segment *x = &c->segments[index];
    struct store *s = c->w->s->store;
    if (by_reads && digest_is_zero(&x->reads))
        return false;
    bool there = by_reads ? trace_follow(made, a, s, op_of(c), &x->reads)
                          : !action_read(made, a, s, op_of(c), &x->key, NULL);
    return there && made->outputs[0].n == 1 && action_is_whole(s, op_of(c), made);
}

/* The same of one that only the shared cache has. */
static bool pull_segment(struct action_result *made, struct chain *c, struct arena *a,
                         uint64_t index)
{
    return node_pull(c->w->s, c->node, &c->segments[index].key) &&
           read_segment(made, c, a, index, false);
}

/* Looks for an end after the last segment found so far. */
static void find_end(struct chain *c, bool by_reads)
{
    struct arena a = {0};
    struct action_result made;
    for (uint64_t k = c->n; k-- > c->done; arena_reset(&a)) {
        if (!read_segment(&made, c, &a, k, by_reads) &&
            (by_reads || !pull_segment(&made, c, &a, k)))
            continue;
        chain_step(c, &made);
        c->reused = by_reads ? k + 1 - c->done : 0;
        c->done = k + 1;
        break;
    }
    arena_free(&a);
}

static enum err_code find_keys(struct chain *c, struct err *e)
{
    struct arena a = {0};
    struct op_segment segment;
    struct key key;
    enum err_code code = OK;
    for (uint64_t k = 0; k < c->n && !code; k++, arena_reset(&a))
        code = chain_key(&key, &segment, c, &a, k, e);
    arena_free(&a);
    return err_up(e, code);
}

enum err_code chain_open(struct chain *c, struct worker *w, uint32_t i, struct digest *outputs,
                         struct err *e)
{
    const struct op *op = w->s->job->nodes[i].op;
    struct arena a = {0};
    struct op_ctx ctx;
    *c = (struct chain){.w = w, .node = i, .outputs = outputs};
    ctx_init(&ctx, w->s->nodes[i].shared, &w->s->job->nodes[i], &a, NULL);
    enum err_code code = op->segments(&c->n, &ctx, e);
    if (code)
        goto out;
    c->segments = must_calloc(c->n + 1, sizeof *c->segments);
    if ((code = find_keys(c, e)))
        goto out;
    find_end(c, false);
    /* Where the past is not asked, a plan need not prepare the op. */
    if (c->done == c->n || !op->reads || (w->s->planning && !w->s->history.made[i]) ||
        node_prepare(w, i, NULL))
        goto out;
    for (uint64_t k = 0; k < c->n && find_reads(c, k, &a); k++)
        arena_reset(&a);
    if (!w->s->options->check)
        find_end(c, true);
out:
    arena_free(&a);
    if (code)
        chain_close(c);
    return err_up(e, code);
}

/* ---- what is written ---- */

enum err_code chain_write(struct store_batch *b, struct chain *c, uint64_t index,
                          const struct key *key, const struct action_result *made, struct arena *a,
                          struct err *e)
{
    struct trace trace = {.action = key->digest};
    enum err_code code = action_write(b, a, op_of(c), key, made, e);
    if (!code && !digest_is_zero(&c->segments[index].reads))
        code = trace_write(b, a, &c->segments[index].reads, &trace, e);
    return err_up(e, code);
}

enum err_code chain_adopt(struct store_batch *b, struct chain *c, struct err *e)
{
    struct arena a = {0};
    struct op_segment segment;
    struct action_result made;
    struct key key;
    uint64_t k = c->done - 1;
    enum err_code code = chain_key(&key, &segment, c, &a, k, e);
    if (!code && read_segment(&made, c, &a, k, true)) {
        made.run = c->w->s->run;
        made.note = arena_printf(&a, WITNESS_NOTE "%s", c->segments[k].reason);
        code = chain_write(b, c, k, &key, &made, &a, e);
    }
    arena_free(&a);
    return err_up(e, code);
}
