/* E-graphs made by hand, from lines "CLASS NAME KID..." in the order of classes. Without kids it is
 * a leaf; with "()" instead, an operator without operands. */
#pragma once

#include "base/arena.h"
#include "schemas/egraph/egraph_arrays.h"

#include <stdlib.h>
#include <string.h>

/* `nodes` ends with NULL; `seed` is prefix text. */
static inline Eqloom__EGraph *hand_graph(struct arena *a, const char *const *nodes, uint32_t root,
                                         const char *seed)
{
    enum { MAX = 32 };
    Eqloom__EGraph *m = arena_new(a, Eqloom__EGraph);
    eqloom__egraph__init(m);
    m->root = root;
    m->seed = arena_new(a, Eqloom__Expr);
    eqloom__expr__init(m->seed);
    m->seed->prefix = arena_strdup(a, seed);
    m->operators = arena_array(a, char *, MAX);
    m->arities = arena_array(a, uint32_t, MAX);
    m->leaves = arena_array(a, char *, MAX);
    m->node_ops = arena_array(a, uint32_t, MAX);
    struct egraph_arrays x = {.class_begin = arena_array(a, uint32_t, MAX),
                              .child_begin = arena_array(a, uint32_t, MAX),
                              .child = arena_array(a, uint32_t, 2 * MAX)};
    bool is_leaf[MAX] = {false};
    uint32_t n = 0, kids = 0;
    for (; nodes[n]; n++) {
        char *save, *text = arena_strdup(a, nodes[n]);
        uint32_t class = (uint32_t)atoi(strtok_r(text, " ", &save));
        char *name = strtok_r(NULL, " ", &save), *kid = strtok_r(NULL, " ", &save);
        while (x.n_classes <= class)
            x.class_begin[x.n_classes++] = n;
        x.child_begin[n] = kids;
        if ((is_leaf[n] = !kid)) {
            m->leaves[m->n_leaves] = name;
            m->node_ops[n] = (uint32_t)m->n_leaves++;
            continue;
        }
        m->operators[m->n_operators] = name;
        m->node_ops[n] = (uint32_t)m->n_operators++;
        for (; kid && *kid != '('; kid = strtok_r(NULL, " ", &save))
            x.child[kids++] = (uint32_t)atoi(kid);
        m->arities[m->n_arities++] = kids - x.child_begin[n];
    }
    for (uint32_t i = 0; i < n; i++)
        m->node_ops[i] += is_leaf[i] ? (uint32_t)m->n_operators : 0;
    x.class_begin[x.n_classes] = x.n_nodes = n;
    x.child_begin[n] = kids;
    m->n_node_ops = n;
    egraph_arrays_write(m, a, &x);
    return m;
}
