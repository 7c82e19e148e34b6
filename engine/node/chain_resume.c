/* Finds the segments of a chain that are stored; see chain_node.h. */
#include "engine/node/chain_resume.h"

#include "engine/cache/trace.h"

#include <stdlib.h>
#include <string.h>

static const struct op *op_of(const struct chain *c)
{
    return c->w->s->job->nodes[c->node].op;
}

enum err_code chain_open(struct chain *c, struct worker *w, uint32_t i, struct digest *outputs,
                         struct err *e)
{
    struct node_run *r = &w->s->nodes[i];
    const struct node *node = &w->s->job->nodes[i];
    struct arena a = {0};
    struct op_ctx ctx;
    *c = (struct chain){.w = w, .node = i, .outputs = outputs, .damaged = r->damaged};
    ctx_init(&ctx, r->shared, node, &a, NULL);
    enum err_code code = node->op->segments(&c->n, &ctx, e);
    arena_free(&a);
    if (code)
        return err_up(e, code);
    c->segments = calloc(c->n + 1, sizeof *c->segments);
    c->made = calloc(c->n + 1, sizeof *c->made);
    if (!c->segments || !c->made)
        abort(); /* as small allocations do */
    return OK;
}

void chain_close(struct chain *c)
{
    chain_index_free(&c->index);
    free(c->segments);
    free(c->made);
}

void chain_step(struct chain *c, const struct action_result *made)
{
    for (size_t r = 0; r < op_count_outputs(op_of(c)); r++)
        c->outputs[r] = made->outputs[r].n ? made->outputs[r].ids[0] : (struct digest){0};
    c->previous = c->outputs[0];
    c->has_previous = true;
}

/* ---- keys ---- */

enum err_code chain_key(struct key *key, struct op_segment *segment, const struct chain *c,
                        struct arena *a, uint64_t index, struct err *e)
{
    struct session *s = c->w->s;
    const struct node *node = &s->job->nodes[c->node];
    struct op_ctx ctx;
    ctx_init(&ctx, s->nodes[c->node].shared, node, a, NULL);
    memset(segment, 0, sizeof *segment);
    segment->index = index;
    enum err_code code = node->op->segment(segment, &ctx, index, e);
    if (code)
        return err_up(e, code);
    struct key_spec spec = {.node = node,
                            .numerics = s->host.numerics,
                            .inputs = s->nodes[c->node].key_inputs,
                            .n_inputs = op_count_inputs(node->op),
                            .segment = segment->key,
                            .previous = c->has_previous ? &c->previous : NULL};
    return err_up(e, key_make(key, a, &spec, e));
}

/* The same, with what is read of the inputs for the inputs. `reads` NULL: that part is left out. */
static enum err_code reads_key(struct digest *out, const struct chain *c, struct arena *a,
                               const struct op_segment *segment, const struct digest *reads,
                               struct err *e)
{
    struct session *s = c->w->s;
    struct key_input input = {"@reads", reads, 1};
    struct key_spec spec = {.node = &s->job->nodes[c->node],
                            .numerics = s->host.numerics,
                            .inputs = &input,
                            .n_inputs = reads != NULL,
                            .segment = segment->key,
                            .previous = reads && c->has_previous ? &c->previous : NULL};
    struct key key;
    enum err_code code = key_make(&key, a, &spec, e);
    if (!code)
        *out = key.digest;
    return err_up(e, code);
}

void chain_read(const char **reason, struct chain *c, const struct op_segment *segment,
                struct arena *a)
{
    struct session *s = c->w->s;
    const struct op *op = op_of(c);
    struct digest reads, *out = &c->segments[segment->index].reads;
    struct op_ctx ctx;
    struct err e = {0};
    *reason = "";
    if (!op->reads || node_prepare(c->w, c->node, &e))
        return;
    ctx_init(&ctx, s->nodes[c->node].shared, &s->job->nodes[c->node], a, NULL);
    ctx.segment = segment->index;
    if (op->reads(&reads, reason, &ctx, s->nodes[c->node].op_state, &e) ||
        ctx.loss.input != LOST_NONE || reads_key(out, c, a, segment, &reads, &e))
        *out = (struct digest){0};
    ctx_finish(&ctx);
}

/* ---- traces ---- */

/* What the segment gave, if its action is there: by its key, or by what it reads. */
static bool read_segment(struct action_result *made, struct chain *c, struct arena *a,
                         uint64_t index)
{
    const struct chain_segment *segment = &c->segments[index];
    struct store *s = c->w->s->store;
    bool there = segment->reused ? trace_follow(made, a, s, op_of(c), &segment->reads)
                                 : !action_read(made, a, s, op_of(c), &segment->key, NULL);
    return there && made->outputs[0].n == 1;
}

enum err_code chain_remember(struct store_batch *b, struct chain *c, uint64_t index,
                             const struct digest *action, struct arena *a, struct err *e)
{
    const struct digest *reads = &c->segments[index].reads;
    chain_index_add(&c->index, action, &c->made[index]);
    chain_index_add(&c->index, reads, &c->made[index]);
    struct trace trace = {.action = *action};
    enum err_code code = digest_is_zero(reads) ? OK : trace_write(b, a, reads, &trace, e);
    if (!code)
        code = chain_index_write(b, &c->index, action, e);
    return err_up(e, code);
}

/* ---- the end of what is done ---- */

/* Whether the chain index has a record for the segment. The record itself may be gone. */
static bool is_indexed(struct chain *c, struct arena *a, const struct op_segment *segment)
{
    uint64_t index = segment->index;
    struct chain_segment *x = &c->segments[index];
    struct action_result made;
    const struct digest *output = chain_index_find(&c->index, &x->key);
    const char *reason;
    if (read_segment(&made, c, a, index))
        output = &made.outputs[0].ids[0];
    if (!output && c->index.n && !c->w->s->options->check) {
        chain_read(&reason, c, segment, a);
        output = digest_is_zero(&x->reads) ? NULL : chain_index_find(&c->index, &x->reads);
        x->reused = output != NULL;
        if (output)
            c->reason = arena_strdup(&c->w->s->nodes[c->node].work, reason);
    }
    if (output)
        c->made[index] = *output;
    return output != NULL;
}

/* Follows the keys as far as the index has segments' records. */
static enum err_code follow(uint64_t *n, struct chain *c, struct err *e)
{
    struct arena a = {0};
    struct op_segment segment;
    struct digest begin;
    struct key key;
    enum err_code code = OK;
    for (*n = 0; *n < c->n; ++*n) {
        arena_reset(&a);
        code = chain_key(&key, &segment, c, &a, *n, e);
        if (!code && *n == 0)
            code = reads_key(&begin, c, &a, &segment, NULL, e);
        if (code)
            break;
        if (*n == 0)
            chain_index_load(&c->index, c->w->s->store, &begin);
        c->segments[*n].key = key.digest;
        if (!is_indexed(c, &a, &segment))
            break;
        chain_index_add(&c->index, &key.digest, &c->made[*n]);
        c->previous = c->made[*n];
        c->has_previous = true;
    }
    arena_free(&a);
    return err_up(e, code);
}

enum err_code chain_find_end(uint64_t *done, struct chain *c, struct err *e)
{
    struct arena a = {0};
    struct action_result made;
    enum err_code code = follow(done, c, e);
    c->has_previous = false;
    for (; !code && *done; --*done) {
        arena_reset(&a);
        if (!read_segment(&made, c, &a, *done - 1) ||
            !action_is_whole(c->w->s->store, op_of(c), &made, &a, c->damaged))
            continue;
        chain_step(c, &made);
        break;
    }
    for (uint64_t k = 0; k < *done; k++)
        c->reused += c->segments[k].reused;
    arena_free(&a);
    return err_up(e, code);
}

enum err_code chain_adopt(struct store_batch *b, struct chain *c, uint64_t done, struct err *e)
{
    struct chain at = *c; /* follows along */
    struct arena a = {0};
    struct op_segment segment;
    struct action_result made;
    struct key key;
    enum err_code code = OK;
    for (uint64_t k = 0; k < done && !code; k++) {
        arena_reset(&a);
        at.has_previous = k > 0;
        if (k)
            at.previous = c->made[k - 1];
        if (!c->segments[k].reused || !read_segment(&made, c, &a, k) ||
            !action_is_whole(c->w->s->store, op_of(c), &made, &a, false))
            continue;
        made.run = c->w->s->run;
        made.note = arena_printf(&a, WITNESS_NOTE "%s", c->reason);
        if (!(code = chain_key(&key, &segment, &at, &a, k, e)) &&
            !(code = action_write(b, &a, op_of(c), &key, &made, e)))
            code = chain_remember(b, c, k, &key.digest, &a, e);
    }
    arena_free(&a);
    return err_up(e, code);
}
