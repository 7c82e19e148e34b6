/* See faults.h. Makers are found through the remaining actions: an action's outputs name the
 * record, and its run shows which nodes have its op. */
#include "store/check/faults.h"

#include "action.pb-c.h"
#include "store/internal.h"

#include <stdlib.h>

enum { NODES_NAMED = 3 };

void faults_free(struct faults *f)
{
    arena_free(&f->arena);
    digest_map_free(&f->by_id);
    free(f->list);
    *f = (struct faults){0};
}

void faults_add(struct faults *f, const struct digest *id, const char *what)
{
    f->list = vec_grow(f->list, &f->cap, f->n + 1, sizeof *f->list);
    if (id)
        digest_map_put(&f->by_id, id, f->n, NULL);
    struct fault *fault = &f->list[f->n++];
    *fault = (struct fault){.has_id = id != NULL, .what = arena_strdup(&f->arena, what)};
    if (id)
        fault->id = *id;
}

/* "node clusters (extract) of quickstart/3" */
static const char *name_maker(struct faults *f, struct store *s, const Eqloom__Action *action)
{
    struct arena a = {0};
    struct buf nodes = {0};
    struct span bytes;
    const Eqloom__Run *message;
    size_t n = 0;
    const char *op = action->key ? action->key->op : "an unknown op";
    if (store_run(&bytes, s, action->run, &a, NULL) == OK &&
        canonical_unpack(&message, &a, &eqloom__run__descriptor, bytes, NULL) == OK) {
        const Eqloom__Run *run = message;
        for (size_t i = 0; i < run->n_nodes; i++)
            if (strcmp(run->nodes[i]->op, op) == 0 && n++ < NODES_NAMED)
                buf_printf(&nodes, "%s%s", n > 1 ? " or " : "", run->nodes[i]->name);
    }
    const char *maker = n ? arena_printf(&f->arena, "node %s%s (%s) of %s", nodes.data,
                                         n > NODES_NAMED ? " or others" : "", op, action->run)
                          : arena_printf(&f->arena, "op %s in %s", op, action->run);
    arena_free(&a);
    buf_free(&nodes);
    return maker;
}

struct finder {
    struct faults *faults;
    struct store *store;
    const Eqloom__Action *action;
    const char *maker; /* NULL: found in no action's outputs */
};

static enum err_code find_output(void *arg, const struct digest *id, struct err *e)
{
    struct finder *f = arg;
    const uint64_t *index = digest_map_get(&f->faults->by_id, id);
    if (index && !f->maker)
        f->maker = name_maker(f->faults, f->store, f->action);
    if (index)
        f->faults->list[*index].maker = f->maker;
    return OK;
}

static enum err_code name_outputs(void *arg, struct span key, struct span value, struct err *e)
{
    struct finder *f = arg;
    struct arena a = {0};
    f->maker = NULL;
    /* Summaries of leaves have no run and made no record. */
    if (canonical_unpack(&f->action, &a, &eqloom__action__descriptor, value, NULL) == OK)
        for (size_t i = 0; *f->action->run && i < f->action->n_outputs; i++)
            message_visit_ids(&f->action->outputs[i]->base, find_output, f, NULL);
    arena_free(&a);
    return OK;
}

void faults_find_makers(struct faults *f, struct store *s)
{
    struct finder finder = {.faults = f, .store = s};
    if (f->by_id.n)
        rocks_each(s->rocks, ROCKS_ACTIONS, span_of("", 0), name_outputs, &finder, NULL);
}

void faults_report(const struct faults *f,
                   void (*visit)(void *arg, const struct digest *id, const char *what), void *arg)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct fault *fault = &f->list[i];
        struct buf what = {0};
        buf_puts(&what, fault->what);
        if (fault->maker)
            buf_printf(&what, "; made by %s", fault->maker);
        visit(arg, fault->has_id ? &fault->id : NULL, what.data);
        buf_free(&what);
    }
}
