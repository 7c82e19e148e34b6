#include "engine/exec/exec_key.h"

#include "engine/cache/source_files.h"

#include <string.h>

enum err_code exec_bind(struct worker *w, uint32_t i, struct err *e)
{
    struct node_run *r = &w->s->nodes[i];
    const struct node *node = &w->s->job->nodes[i];
    size_t n = op_count_inputs(node->op);
    struct source_files files;
    enum err_code code = source_scan(&files, &r->arena, node, w->s->store, w->batch, e);
    if (code)
        return err_up(e, code);
    struct key_input *all = arena_array(&r->arena, struct key_input, n + 1);
    struct digest *ids = arena_array(&r->arena, struct digest, files.n);
    for (size_t k = 0; k < files.n; k++)
        ids[k] = files.files[k].id;
    memcpy(all, r->key_inputs, n * sizeof *all);
    all[n] = (struct key_input){"files", ids, files.n};
    r->key_inputs = all;
    return OK;
}
