/* See graph_nodes.h. The root is what stands in <math>, or <math> itself where that is several. */
#include "ops/latex/graphs/graph_nodes.h"

#include <string.h>

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
    uint32_t *place = arena_array(a, uint32_t, t.n); /* index + 1 of a node in the graph */
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
