/* See small.h. */
#include "small.h"

#include "schemas/expr.pb-c.h"

void small_graph(struct graph *g, const char *lines, const char *names)
{
    graph_init(g, "small");
    graph_add(g, "seeds", "lines", "", lines);
    graph_add(g, "names", "names", "", names);
    graph_add(g, "upper", "upper", "repeat=2", "exprs=seeds names=names");
    graph_add(g, "first", "first", "", "exprs=upper");
    graph_add(g, "joined", "join", "", "exprs=first");
    graph_add(g, "model", "fold", "steps=3", "expr=joined");
}

const char *text_of(struct place *p, const struct digest *id)
{
    struct err e = {0};
    Eqloom__Expr *m;
    check(store_get_message(&m, p->store, id, KIND_EXPR, &p->arena, &e), &e);
    return m->prefix;
}
