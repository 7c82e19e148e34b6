#include "ops/latex/graphs/graph_features.h"

#include <string.h>

/* ---- nodes ---- */

static size_t character_bytes(const char *s)
{
    size_t n = 1;
    while (n < 4 && ((unsigned char)s[n] & 0xc0) == 0x80)
        n++;
    return n;
}

static size_t count_characters(const char *s)
{
    size_t n = 0;
    for (; *s; s += character_bytes(s))
        n++;
    return n;
}

static struct graph_node *add(struct graph_nodes *g, uint32_t parent, uint32_t position,
                              const struct mathml_node *x, const char *character)
{
    struct graph_node *out = &g->nodes[g->n++];
    *out = (struct graph_node){parent, position, x->tag, x->attributes, ""};
    if (character)
        memcpy(out->character, character, character_bytes(character));
    return out;
}

/* The root is the only child of <math>, or <math> itself if it has several. */
const char *graph_nodes_of(struct graph_nodes *out, struct arena *a, const char *mathml)
{
    struct mathml_tree t;
    size_t most = 0;
    const char *why = mathml_tree_parse(&t, a, mathml, strlen(mathml));
    if (why)
        return why;
    for (uint32_t i = 0; i < t.n; i++)
        most += 1 + count_characters(t.nodes[i].text);
    out->nodes = arena_array(a, struct graph_node, most);
    out->n = 0;
    uint32_t *place = arena_array(a, uint32_t, t.n); /* index + 1 of the node in the graph */
    uint32_t from = t.n > 1 && t.nodes[0].children == 1;
    for (uint32_t i = from; i < t.n; i++) {
        const struct mathml_node *x = &t.nodes[i];
        size_t n = count_characters(x->text);
        add(out, i == from ? 0 : place[x->parent], x->position, x, n == 1 ? x->text : NULL);
        place[i] = out->n;
        uint32_t position = 0;
        for (const char *s = x->text; n > 1 && *s; s += character_bytes(s))
            add(out, place[i], position++, x, s)->attributes = "";
    }
    return NULL;
}

/* ---- features ---- */

static const uint32_t sizes[] = {FEATURE_TAGS, FEATURE_ATTRIBUTES, FEATURE_CHARACTERS};

enum err_code graph_features_init(struct graph_features *out, const Eqloom__Vocabulary *v,
                                  const struct digest *id, struct err *e)
{
    *out = (struct graph_features){.id = *id};
    if (strcmp(v->encoding, "mathml") || v->n_tokens != FEATURES)
        return err_fail(e, ERR_INPUT, "the vocabulary is not a MathML alphabet");
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

/* 0 if there is no name; the last feature for names that are not in the alphabet. */
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
        return err_fail(e, ERR_CORRUPT, "a MathML record does not hold a MathML tree");
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
