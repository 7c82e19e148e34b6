/* The op `alphabet`: the 256 features of nodes, chosen by frequency. Each part of the list (tags,
 * attributes, characters) is sorted by name and not by count, so that a few more equations seldom
 * change it; its last entry stands for all other names. */
#include "engine/op.h"
#include "ops/latex/graphs/feature_counts.h"
#include "ops/latex/graphs/graph_features.h"
#include "paper.pb-c.h"
#include "token.pb-c.h"

#include <stdlib.h>

enum part { PART_TAG, PART_ATTRIBUTE, PART_CHARACTER, PARTS };
static const size_t sizes[PARTS] = {FEATURE_TAGS, FEATURE_ATTRIBUTES, FEATURE_CHARACTERS};

/* Counts the features of one equation. */
static enum err_code summarize(struct span *out, struct arena *a, struct op_ctx *ctx,
                               const ProtobufCMessage *element, struct err *e)
{
    const Eqloom__MathML *m = (const Eqloom__MathML *)element;
    struct counts counts[PARTS] = {{.a = a}, {.a = a}, {.a = a}};
    struct graph_nodes g = {0};
    if (m->mathml[0] && graph_nodes_of(&g, a, m->mathml))
        return err_fail(e, ERR_CORRUPT, "a MathML record does not hold a MathML tree");
    for (uint32_t i = 0; i < g.n; i++) {
        const struct graph_node *x = &g.nodes[i];
        const char *const names[PARTS] = {x->tag, x->attributes, x->character};
        for (enum part p = 0; p < PARTS; p++)
            if (names[p][0])
                counts_add(&counts[p], names[p], 1);
    }
    struct buf b = {0};
    for (enum part p = 0; p < PARTS; p++) {
        for (size_t i = 0; i < counts[p].n; i++)
            counts_put(&b, p, counts[p].items[i].n, counts[p].items[i].name);
        counts_free(&counts[p]);
    }
    *out = span_of(arena_memdup(a, b.data, b.len), b.len);
    buf_free(&b);
    return OK;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    struct counts counts[PARTS] = {{.a = a}, {.a = a}, {.a = a}};
    uint64_t n = op_count(ctx, "mathml");
    enum err_code code = OK;
    for (uint64_t i = 0; i < n && !code; i++) {
        struct span s;
        code = op_cancelled(ctx) ? err_fail(e, ERR_CANCELLED, "alphabet was interrupted")
                                 : op_summary(&s, ctx, "mathml", i, e);
        unsigned part;
        for (struct named_count x; !code && counts_next(&part, &x, &s);)
            if (part < PARTS)
                counts_add(&counts[part], x.name, x.n);
    }
    Eqloom__Vocabulary v = EQLOOM__VOCABULARY__INIT;
    v.encoding = (char *)"mathml";
    v.tokens = arena_array(a, char *, FEATURES);
    for (enum part p = 0; p < PARTS; p++) {
        char **part = v.tokens + v.n_tokens;
        size_t kept = 0;
        counts_sort(&counts[p]);
        for (; kept < counts[p].n && kept < sizes[p] - 1; kept++)
            part[kept] = (char *)counts[p].items[kept].name;
        qsort(part, kept, sizeof *part, text_compare);
        for (; kept < sizes[p]; kept++)
            part[kept] = (char *)"";
        v.n_tokens += sizes[p];
        counts_free(&counts[p]);
    }
    return code ? err_up(e, code) : err_up(e, op_emit(NULL, ctx, "alphabet", &v.base, e));
}

const struct op op_alphabet = {
    .name = "alphabet",
    .version = 1,
    .node = OP_TASK,
    .doc = "Chooses the 256 features of the nodes of equation graphs: the most frequent tags, "
           "attributes and characters of the MathML.",
    .inputs =
        OP_PORTS({"mathml", KIND_MATHML, OP_COLLECTION, false, "MathML whose nodes are counted."}),
    .outputs = OP_PORTS({"alphabet", KIND_VOCABULARY, OP_ONE, false,
                         "Features by number: 31 tags and all others, 31 attributes and all "
                         "others, 191 characters and all others; \"\" for unused numbers."}),
    .run = run,
    .summarize = summarize,
};
