/* The variables of two terms; see exact.h. */
#include "ops/expr/equality/exact.h"

#include <string.h>

size_t exact_find(const struct exact_names *names, const struct expr_node *leaf)
{
    size_t i = 0;
    while (i < names->n &&
           (names->leaves[i]->op != leaf->op || strcmp(names->leaves[i]->leaf, leaf->leaf) != 0))
        i++;
    return i;
}

enum err_code exact_collect(struct exact_names *names, const struct expr *x, struct err *e)
{
    for (uint32_t i = 0; i < x->n; i++) {
        const struct expr_node *node = &x->nodes[i];
        if (node->op > X_VAR && !x->lang->ops[node->op].interpreted)
            return err_fail(e, ERR_LIMIT, "operator '%s' has no meaning",
                            x->lang->ops[node->op].name);
        if ((node->op != X_SYM && node->op != X_VAR) || exact_find(names, node) < names->n)
            continue;
        if (names->n == EXACT_MAX_VARIABLES)
            return err_fail(e, ERR_LIMIT, "more than %d variables", EXACT_MAX_VARIABLES);
        names->leaves[names->n++] = node;
    }
    return OK;
}

void exact_write_name(struct buf *out, const struct exact_names *names, size_t i)
{
    buf_printf(out, "%s%s%s = ", i ? ", " : "", names->leaves[i]->op == X_VAR ? "?" : "",
               names->leaves[i]->leaf);
}
