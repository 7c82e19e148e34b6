/* Results that commands share with runs: an element's action under the key that map.c gives it, so
 * that neither does the other's work again. See engine/tool.h. */
#include "engine/cli/cmd/tool_store.h"

#include "base/os.h"
#include "engine/cache/action.h"
#include "engine/cli/records/place.h"
#include "engine/job/job_draft.h"
#include "schemas/canonical.h"
#include "store/collection.h"

#include <string.h>

bool tool_has_store(const struct tool_args *args)
{
    struct os_stat st;
    char *path = args->store ? place_find_store(args->store->cli, NULL) : NULL;
    return path && !os_stat(&st, path, NULL) && st.is_dir;
}

/* The parameters of a node that sets these and no others. */
static const struct node_param *fill_params(struct arena *a, const struct tool_result *r)
{
    const struct op_param *declared = r->op->params;
    size_t n = 0;
    while (declared && declared[n].name)
        n++;
    struct node_param *params = arena_array(a, struct node_param, n);
    for (size_t i = 0; i < n; i++) {
        params[i] = (struct node_param){&declared[i], job_param_initial(a, &declared[i])};
        for (size_t k = 0; k < r->n_params; k++)
            if (!strcmp(r->params[k].option, declared[i].name))
                params[i].value = r->params[k].value;
    }
    return params;
}

static enum err_code key_of(struct key *out, struct arena *a, const struct tool_result *r,
                            struct err *e)
{
    struct span payload;
    enum err_code code = canonical_pack(&payload, a, r->input, e);
    if (code)
        return err_up(e, code);
    struct digest id = record_id(r->op->inputs[0].kind, payload);
    struct node node = {.op = r->op, .params = fill_params(a, r)};
    struct key_input input = {r->op->inputs[0].role, arena_memdup(a, &id, sizeof id), 1};
    struct key_spec spec = {
        .node = &node, .numerics = key_numerics(), .inputs = &input, .n_inputs = 1};
    return err_up(e, key_make(out, a, &spec, e));
}

enum err_code tool_recall(struct tool_result *r, const struct tool_args *args, struct arena *a,
                          struct err *e)
{
    struct key key;
    struct made made;
    ProtobufCMessage *output;
    if (!tool_has_store(args))
        return OK;
    struct err missing = {0};
    enum err_code code = tool_store_open(args->store, &missing);
    if (code == ERR_NOTFOUND)
        return OK; /* a directory that is to become a store */
    if (code) {
        *e = missing;
        return err_up(e, code);
    }
    if (err_up(e, key_of(&key, a, r, e)))
        return e->code;
    /* What is damaged or gone is not known: it is made again. */
    if (!made_read(&made, a, args->store->store, r->op, &key.digest, NULL) &&
        made.outputs[0].n == 1 &&
        !store_get_message(&output, args->store->store, &made.outputs[0].ids[0],
                           r->op->outputs[0].kind, a, NULL)) {
        r->output = output;
        r->known = true;
    }
    return OK;
}

/* ---- keeping ---- */

static enum err_code put_result(struct digest *id, struct store_batch *b,
                                const struct tool_result *r, const char *ref, struct err *e)
{
    struct arena a = {0};
    struct key key;
    enum err_code code = store_batch_put_message(id, b, r->op->outputs[0].kind, r->output, e);
    if (!code && !r->known)
        code = key_of(&key, &a, r, e);
    if (!code && !r->known) {
        struct id_list *outputs = arena_array(&a, struct id_list, op_count_outputs(r->op));
        outputs[0] = (struct id_list){id, 1};
        struct made made = {
            .outputs = outputs, .cost_ns = r->cost_ns, .finished_ns = os_wall_ns(), .run = ref};
        code = made_write(b, &a, r->op, &key, &made, e);
    }
    arena_free(&a);
    return err_up(e, code);
}

/* Fills the batch; *list is the collection of all outputs. */
static enum err_code put_all(struct digest *list, struct store_batch *b, const char *ref,
                             const struct tool_result *results, size_t n, struct err *e)
{
    struct collection_builder *c = collection_builder_new(b, results[0].op->outputs[0].kind);
    enum err_code code = OK;
    for (size_t i = 0; i < n && !code; i++) {
        struct digest id;
        code = put_result(&id, b, &results[i], ref, e);
        if (!code)
            code = collection_builder_add(c, &id, e);
    }
    if (!code)
        code = collection_builder_finish(list, c, e);
    if (!code)
        code = store_batch_ref(b, ref, list, e);
    collection_builder_free(c);
    return err_up(e, code);
}

/* Whether all is known and the name stands for it already. */
static bool is_kept(struct tool_store *t, const char *ref, const struct tool_result *results,
                    size_t n)
{
    struct digest list, held;
    for (size_t i = 0; i < n; i++)
        if (!results[i].known)
            return false;
    if (tool_store_open(t, NULL) || store_ref(&held, t->store, ref, NULL))
        return false;
    struct store_batch *b = store_batch_new(t->store); /* never committed */
    bool same = !put_all(&list, b, ref, results, n, NULL) && digest_equal(&list, &held);
    store_batch_free(b);
    return same;
}

enum err_code tool_keep(const struct tool_args *args, const char *ref,
                        const struct tool_result *results, size_t n, struct err *e)
{
    struct tool_store *t = args->store;
    struct store *writer;
    struct digest list;
    char *path;
    if (n == 0 || !t || (!t->cli->store && !tool_has_store(args)))
        return OK;
    if (tool_has_store(args) && is_kept(t, ref, results, n))
        return OK;
    enum err_code code = place_open(&writer, &path, t->cli, NULL, PLACE_CREATE, e);
    if (code)
        return err_up(e, code);
    struct store_batch *b = store_batch_new(writer);
    code = put_all(&list, b, ref, results, n, e);
    if (!code)
        code = store_batch_commit(b, e);
    store_batch_free(b);
    store_close(writer);
    return err_up(e, code);
}
