#include "ops/latex/graphs/graph_features.h"

#include "ops/latex/graphs/graph_nodes.h"

static const uint32_t sizes[] = {FEATURE_TAGS, FEATURE_ATTRIBUTES, FEATURE_CHARACTERS};

enum err_code graph_features_init(struct graph_features *out, const Eqloom__Vocabulary *v,
                                  const struct digest *id, struct err *e)
{
    *out = (struct graph_features){.id = *id};
    if (strcmp(v->encoding, "mathml") || v->n_tokens != FEATURES)
        return err_fail(e, ERR_INPUT, "the vocabulary is no alphabet of MathML");
    for (uint32_t p = 0, from = 0; p < 3; from += sizes[p++])
        for (uint32_t i = 0; i + 1 < sizes[p]; i++)
            if (v->tokens[from + i][0])
                name_map_put(&out->parts[p], v->tokens[from + i], i + 1, NULL);
    return OK;
}

void graph_features_free(struct graph_features *f)
{
    for (size_t p = 0; p < 3; p++)
        name_map_free(&f->parts[p]);
}

/* 0 for none; the last one for what the alphabet does not have. */
static uint32_t feature(const struct graph_features *f, uint32_t part, const char *name)
{
    const uint64_t *found = name[0] ? name_map_get(&f->parts[part], name) : NULL;
    return !name[0] ? 0 : found ? (uint32_t)*found : sizes[part];
}

enum err_code graph_features_of(Eqloom__Graph *out, struct arena *a, const struct graph_features *f,
                                const char *mathml, uint32_t max_nodes, struct err *e)
{
    struct graph_nodes nodes;
    if (graph_nodes_of(&nodes, a, mathml))
        return err_fail(e, ERR_CORRUPT, "a record of MathML is none");
    if (nodes.n > max_nodes)
        return err_fail(e, ERR_LIMIT, "the equation has %u nodes, at most %u", nodes.n, max_nodes);
    uint32_t *arrays = arena_array(a, uint32_t, 5 * (size_t)nodes.n);
    eqloom__graph__init(out);
    out->vocabulary_id = (ProtobufCBinaryData){DIGEST_SIZE, (uint8_t *)f->id.bytes};
    out->n_parent = out->n_position = out->n_tag = out->n_attribute = out->n_character = nodes.n;
    out->parent = arrays;
    out->position = arrays + nodes.n;
    out->tag = arrays + 2 * (size_t)nodes.n;
    out->attribute = arrays + 3 * (size_t)nodes.n;
    out->character = arrays + 4 * (size_t)nodes.n;
    for (uint32_t i = 0; i < nodes.n; i++) {
        const struct graph_node *node = &nodes.nodes[i];
        out->parent[i] = node->parent;
        out->position[i] = node->position;
        out->tag[i] = feature(f, 0, node->tag) - 1;
        out->attribute[i] = feature(f, 1, node->attributes);
        out->character[i] = feature(f, 2, node->character);
    }
    return OK;
}
