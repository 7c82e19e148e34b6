/* Finds the segments of a chain that are stored; see chain.h. */
#include "engine/node/chain.h"

#include "engine/remote/remote.h"

void chain_step(struct chain *c, const struct action_result *made)
{
    for (size_t r = 0; r < op_count_outputs(c->r->op); r++)
        c->outputs[r] = made->outputs[r].n ? made->outputs[r].ids[0] : (struct digest){0};
    c->previous = &c->outputs[0];
}

/* ---- keys ---- */

static enum err_code key_of(struct key *key, const struct chain *c, const struct key_input *inputs,
                            size_t n_inputs, const struct op_segment *segment,
                            const struct digest *after, struct arena *a, struct err *e)
{
    struct key_spec spec = {.node = c->r->node,
                            .numerics = c->r->s->numerics,
                            .inputs = inputs,
                            .n_inputs = n_inputs,
                            .segment = segment->key,
                            .after = after};
    return err_up(e, key_make(key, a, &spec, e));
}

enum err_code chain_key(struct key *key, struct op_segment *segment, struct chain *c,
                        struct arena *a, uint64_t index, struct err *e)
{
    struct op_ctx ctx;
    struct chain_segment *x = &c->segments[index];
    ctx_init(&ctx, c->r, a, NULL);
    *segment = (struct op_segment){.index = index};
    enum err_code code = c->r->op->segment(segment, &ctx, index, e);
    if (!code)
        code = key_of(key, c, c->r->inputs, op_count_inputs(c->r->op), segment,
                      index ? &x[-1].key : NULL, a, e);
    if (!code)
        x->key = key->digest;
    return err_up(e, code);
}

/* The same with what is read of the inputs for the inputs. False: the op cannot tell. */
static bool find_reads(struct chain *c, uint64_t index, struct arena *a)
{
    const struct op *op = c->r->op;
    struct chain_segment *x = &c->segments[index];
    struct op_segment segment = {.index = index};
    struct digest reads;
    struct key_input input = {"@reads", &reads, 1};
    struct op_ctx ctx;
    struct key key;
    struct err e = {0};
    ctx_init(&ctx, c->r, a, NULL);
    ctx.segment = index;
    bool told = !op->segment(&segment, &ctx, index, &e) &&
                !op->reads(&reads, &x->reason, &ctx, c->r->op_state, &e) && !ctx.lost[0] &&
                !key_of(&key, c, &input, 1, &segment, index ? &x[-1].reads : NULL, a, &e);
    ctx_finish(&ctx);
    if (!told)
        return false;
    x->reads = key.digest;
    x->reason = arena_strdup(&c->r->work, x->reason);
    return true;
}

/* ---- what is stored ---- */

/* What the segment gave, if all of it is there. */
static bool read_segment(struct action_result *made, const struct chain *c, struct arena *a,
                         uint64_t index, bool by_reads)
{
    const struct chain_segment *x = &c->segments[index];
    const struct op *op = c->r->op;
    struct store *s = c->r->s->store;
    if (by_reads && digest_is_zero(&x->reads))
        return false;
    bool there = by_reads ? trace_follow(made, a, s, op, &x->reads)
                          : !action_read(made, a, s, op, &x->key, NULL);
    return there && made->outputs[0].n == 1 && action_is_whole(s, op, made);
}

/* The same of one that only the shared cache has. */
static bool pull_segment(struct action_result *made, const struct chain *c, struct arena *a,
                         uint64_t index)
{
    return remote_pull(c->r, &c->segments[index].key) && read_segment(made, c, a, index, false);
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

enum err_code chain_open(struct chain *c, struct node_run *r, struct err *e)
{
    struct session *s = r->s;
    struct arena a = {0};
    struct op_ctx ctx;
    *c = (struct chain){.r = r,
                        .outputs = arena_array(&r->work, struct digest, op_count_outputs(r->op))};
    ctx_init(&ctx, r, &a, NULL);
    enum err_code code = r->op->segments(&c->n, &ctx, e);
    if (!code) {
        c->segments = arena_array(&r->work, struct chain_segment, c->n);
        code = find_keys(c, e);
    }
    if (!code)
        find_end(c, false);
    /* Where the past is not asked, a plan need not prepare the op. */
    bool looks_back = !code && c->done < c->n && r->op->reads &&
                      (!s->planning || s->history.made[r->index]) && !node_prepare(r, NULL);
    for (uint64_t k = 0; looks_back && k < c->n && find_reads(c, k, &a); k++)
        arena_reset(&a);
    if (looks_back && !s->options->check)
        find_end(c, true);
    arena_free(&a);
    return err_up(e, code);
}

/* ---- what is written ---- */

enum err_code chain_write(struct store_batch *b, struct chain *c, uint64_t index,
                          const struct key *key, const struct action_result *made, struct arena *a,
                          struct err *e)
{
    struct trace trace = {.action = key->digest};
    enum err_code code = action_write(b, a, c->r->op, key, made, e);
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
        made.run = c->r->s->run;
        made.note = arena_printf(&a, WITNESS_NOTE "%s", c->segments[k].reason);
        code = chain_write(b, c, k, &key, &made, &a, e);
    }
    arena_free(&a);
    return err_up(e, code);
}
