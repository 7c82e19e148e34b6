/* rank: a map over exprs (side input names) that gives the text of the names of its first letter
 * and proves that its result stands where those are what they were. Its witness: a bit for the
 * letter, the names that matched. */
#include "graph_build.h"

#include "schemas/expr.pb-c.h"
#include "schemas/rule.pb-c.h"

#include <string.h>

enum { LETTERS = 16 }; /* bytes: a bit for each */

struct rank_state {
    uint64_t n;
    struct digest *ids;
    const Eqloom__Rule **names;
};

static enum err_code rank_prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    enum err_code code;
    struct arena *a = op_arena(ctx);
    struct rank_state *s = arena_new(a, struct rank_state);
    s->n = op_count(ctx, "names");
    s->ids = arena_array(a, struct digest, s->n);
    s->names = arena_array(a, const Eqloom__Rule *, s->n);
    for (uint64_t i = 0; i < s->n; i++) {
        s->ids[i] = op_input_id(ctx, "names", i);
        if ((code = op_get(&s->names[i], ctx, "names", i, e)))
            return err_up(e, code);
    }
    *state = s;
    return OK;
}

static enum err_code rank_run(struct op_ctx *ctx, void *state, struct err *e)
{
    enum err_code code;
    const struct rank_state *s = state;
    struct arena *a = op_arena(ctx);
    uint8_t *trace = arena_zalloc(a, LETTERS + s->n * DIGEST_SIZE);
    Eqloom__Expr *m;
    size_t n = 0;
    atomic_fetch_add(&ops_ran, 1);
    if ((code = op_get(&m, ctx, "exprs", 0, e)))
        return err_up(e, code);
    char *text = arena_strdup(a, m->prefix), letter = text[0];
    for (uint64_t i = 0; i < s->n; i++)
        if (s->names[i]->name[0] == letter) {
            text = arena_printf(a, "%s %s", text, s->names[i]->lhs);
            memcpy(trace + LETTERS + n++ * DIGEST_SIZE, s->ids[i].bytes, DIGEST_SIZE);
        }
    trace[(uint8_t)letter / 8] |= (uint8_t)(1 << letter % 8);
    op_set_witness(ctx, span_of(trace, LETTERS + n * DIGEST_SIZE));
    return toy_emit(ctx, "exprs", text, e);
}

static bool rank_has(const struct rank_state *s, const uint8_t *id)
{
    for (uint64_t i = 0; i < s->n; i++)
        if (memcmp(s->ids[i].bytes, id, DIGEST_SIZE) == 0)
            return true;
    return false;
}

/* Of one element, or of many by the union of their traces. */
static enum err_code rank_reuse(bool *stands, const char **reason, struct op_ctx *ctx, void *state,
                                const struct op_earlier *x, struct err *e)
{
    enum err_code code;
    const struct rank_state *s = state;
    struct span trace = op_earlier_witness(x);
    const uint64_t *added;
    size_t n;
    atomic_fetch_add(&ops_asked, 1);
    if ((code = op_earlier_added(&added, &n, ctx, x, "names", e)))
        return err_up(e, code);
    *stands = true;
    *reason = "no name of its letter changed";
    for (size_t i = LETTERS; i + DIGEST_SIZE <= trace.len; i += DIGEST_SIZE)
        *stands = *stands && rank_has(s, trace.data + i);
    for (size_t i = 0; i < n; i++) {
        uint8_t letter = (uint8_t)s->names[added[i]]->name[0];
        *stands = *stands && !(trace.data[letter / 8] >> letter % 8 & 1);
    }
    return OK;
}

static void add_name(uint8_t *out, size_t *n, const uint8_t *name)
{
    for (size_t i = LETTERS; i < *n; i += DIGEST_SIZE)
        if (memcmp(out + i, name, DIGEST_SIZE) == 0)
            return;
    memcpy(out + *n, name, DIGEST_SIZE);
    *n += DIGEST_SIZE;
}

static enum err_code rank_merge(struct span *out, struct arena *a, const struct span *notes,
                                size_t n, struct err *e)
{
    size_t len = LETTERS, most = LETTERS;
    for (size_t i = 0; i < n; i++)
        most += notes[i].len;
    uint8_t *all = arena_zalloc(a, most);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < LETTERS; k++)
            all[k] |= notes[i].data[k];
        for (size_t k = LETTERS; k < notes[i].len; k += DIGEST_SIZE)
            add_name(all, &len, notes[i].data + k);
    }
    *out = span_of(all, len);
    return OK;
}

static const struct op_port rank_inputs[] = {
    {.role = "exprs", .kind = KIND_EXPR, .cardinality = OP_COLLECTION},
    {.role = "names", .kind = KIND_RULE, .cardinality = OP_COLLECTION},
    {0}};
static const struct op_port rank_outputs[] = {
    {.role = "exprs", .kind = KIND_EXPR, .cardinality = OP_COLLECTION}, {0}};
const struct op toy_rank = {.name = "rank",
                            .version = 1,
                            .node = OP_MAP,
                            .inputs = rank_inputs,
                            .outputs = rank_outputs,
                            .prepare = rank_prepare,
                            .run = rank_run,
                            .reuse = rank_reuse,
                            .merge_witnesses = rank_merge};
