#include "schemas/egraph/egraph_text.h"

#include "schemas/egraph/egraph_arrays.h"

static const char *label(const Eqloom__EGraph *m, uint32_t node)
{
    uint32_t op = m->node_ops[node], n = (uint32_t)m->n_operators;
    return op < n ? m->operators[op] : m->leaves[op - n];
}

/* Labels are tokens, which need no escaping. */
enum err_code egraph_write_dot(struct buf *out, const Eqloom__EGraph *m, struct err *e)
{
    struct arena a = {0};
    struct egraph_arrays x;
    enum err_code code = egraph_arrays_read(&x, &a, m, e);
    if (!code)
        buf_puts(out, "digraph egraph {\n  compound=true; rankdir=TB;\n"
                      "  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n");
    for (uint32_t class = 0; !code && class < x.n_classes; class ++) {
        buf_printf(out,
                   "  subgraph cluster_%u {\n    style=\"dashed,rounded\"; label=\"e%u\"; "
                   "penwidth=%d;\n   ",
                   class, class, class == m->root ? 3 : 1);
        for (uint32_t n = x.class_begin[class]; n < x.class_begin[class + 1]; n++)
            buf_printf(out, " n%u [label=\"%s\"];", n, label(m, n));
        buf_puts(out, "\n  }\n");
    }
    for (uint32_t class = 0; !code && class < x.n_classes; class ++)
        for (uint32_t n = x.class_begin[class]; n < x.class_begin[class + 1]; n++)
            for (uint32_t k = x.child_begin[n]; k < x.child_begin[n + 1]; k++) {
                uint32_t to = x.child[k];
                buf_printf(out, "  n%u -> n%u", n, x.class_begin[to]);
                if (to != class) /* Graphviz draws no edge from a box to the same box */
                    buf_printf(out, " [lhead=cluster_%u]", to);
                buf_puts(out, ";\n");
            }
    if (!code)
        buf_puts(out, "}\n");
    arena_free(&a);
    return err_up(e, code);
}

static void write_rule(struct buf *out, const Eqloom__EGraph *m, const struct egraph_arrays *x,
                       uint32_t class)
{
    buf_printf(out, "e%u ->", class);
    for (uint32_t n = x->class_begin[class]; n < x->class_begin[class + 1]; n++) {
        bool leaf = x->child_begin[n] == x->child_begin[n + 1];
        buf_printf(out, "%s %s%s", n > x->class_begin[class] ? " |" : "", leaf ? "" : "[",
                   label(m, n));
        for (uint32_t k = x->child_begin[n]; k < x->child_begin[n + 1]; k++)
            buf_printf(out, " e%u", x->child[k]);
        buf_puts(out, leaf ? "" : "]");
    }
    buf_putc(out, '\n');
}

enum err_code egraph_write_grammar(struct buf *out, const Eqloom__EGraph *m, struct err *e)
{
    struct arena a = {0};
    struct egraph_arrays x;
    enum err_code code = egraph_arrays_read(&x, &a, m, e);
    if (!code)
        write_rule(out, m, &x, m->root);
    for (uint32_t class = 0; !code && class < x.n_classes; class ++)
        if (class != m->root)
            write_rule(out, m, &x, class);
    arena_free(&a);
    return err_up(e, code);
}
