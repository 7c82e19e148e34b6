/* Makes keys; reads and writes actions and traces; see action.h. The number of elements of a whole
 * map or chain is stored in the action's note ("elements=412"), so that a run in which nothing
 * changed need not open a collection to count them. */
#include "engine/cache/action.h"

#include "base/isa.h"
#include "schemas/canonical.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- keys. Segments of a chain use a name that no op can declare ("@segment"), so their keys
 * never collide with that of a whole node. ---- */

static int compare_params(const void *a, const void *b)
{
    return strcmp((*(Eqloom__KeyParam *const *)a)->name, (*(Eqloom__KeyParam *const *)b)->name);
}

static int compare_inputs(const void *a, const void *b)
{
    return strcmp((*(Eqloom__KeyInput *const *)a)->role, (*(Eqloom__KeyInput *const *)b)->role);
}

static Eqloom__KeyParam *new_param(struct arena *a, const char *name, const char *value)
{
    Eqloom__KeyParam *p = arena_new(a, Eqloom__KeyParam);
    eqloom__key_param__init(p);
    p->name = (char *)name;
    p->value = (char *)value;
    return p;
}

static Eqloom__KeyInput *new_input(struct arena *a, const char *role, const struct digest *ids,
                                   size_t n)
{
    Eqloom__KeyInput *in = arena_new(a, Eqloom__KeyInput);
    eqloom__key_input__init(in);
    in->role = (char *)role;
    in->input_ids.data = (uint8_t *)ids;
    in->input_ids.len = n * DIGEST_SIZE;
    return in;
}

static void add_params(Eqloom__ActionKey *m, struct arena *a, const struct key_spec *spec)
{
    const struct op_param *declared = spec->node->op->params;
    size_t n = 0;
    while (declared && declared[n].name)
        n++;
    m->params = arena_array(a, Eqloom__KeyParam *, n + 1);
    if (spec->segment) {
        char hex[DIGEST_HEX];
        const char *text = spec->segment;
        if (spec->after)
            text = arena_printf(a, "%s\nafter=%s\n", text, digest_hex(hex, spec->after));
        m->params[m->n_params++] = new_param(a, "@segment", text);
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (!spec->node->params[i].param->unkeyed)
            m->params[m->n_params++] =
                new_param(a, spec->node->params[i].param->name, spec->node->params[i].value);
    qsort(m->params, m->n_params, sizeof *m->params, compare_params);
}

enum err_code key_make(struct key *out, struct arena *a, const struct key_spec *spec, struct err *e)
{
    Eqloom__ActionKey *m = arena_new(a, Eqloom__ActionKey);
    eqloom__action_key__init(m);
    m->op = (char *)spec->node->op->name;
    m->version = spec->node->op->version;
    const char *numerics = spec->node->op->numerics ? spec->numerics : NULL;
    const char *units = spec->node->units;
    if (numerics || units)
        m->numerics = numerics && units ? arena_printf(a, "%s, %s", numerics, units)
                                        : (char *)(numerics ? numerics : units);
    add_params(m, a, spec);
    m->inputs = arena_array(a, Eqloom__KeyInput *, spec->n_inputs + 1);
    for (size_t i = 0; i < spec->n_inputs; i++) {
        const struct key_input *in = &spec->inputs[i];
        if (in->n)
            m->inputs[m->n_inputs++] = new_input(a, in->role, in->ids, in->n);
    }
    qsort(m->inputs, m->n_inputs, sizeof *m->inputs, compare_inputs);
    out->message = m;
    struct span bytes;
    enum err_code code = canonical_pack(&bytes, a, &m->base, e);
    if (code)
        return err_up(e, code);
    out->digest = action_key(bytes);
    return OK;
}

enum err_code key_of_input(struct key *out, struct arena *a, const struct node *node,
                           const char *numerics, const char *role, const struct digest *id,
                           struct err *e)
{
    struct key_input input = {role, id, 1};
    struct key_spec spec = {.node = node, .numerics = numerics, .inputs = &input, .n_inputs = 1};
    return err_up(e, key_make(out, a, &spec, e));
}

const char *key_numerics(void)
{
    const char *isa = cpu_isa();
    if (strcmp(isa, "amx") == 0 || strcmp(isa, "avx512") == 0)
        return "cpu-f32-avx512"; /* AMX tiles are used for bf16 only */
    return strcmp(isa, "avx2") == 0 ? "cpu-f32-avx2" : "cpu-f32-base";
}

/* ---- actions ---- */

enum err_code action_read(struct action_result *out, struct arena *a, struct store *s,
                          const struct op *op, const struct digest *key, struct err *e)
{
    struct span bytes;
    const Eqloom__Action *action;
    enum err_code code = store_action(&bytes, s, key, a, e);
    if (code == ERR_CORRUPT)
        return ERR_NOTFOUND; /* unreadable: treated as absent, so the work is redone */
    if (code)
        return code;
    if (canonical_unpack(&action, a, &eqloom__action__descriptor, bytes, NULL))
        return ERR_NOTFOUND;
    size_t n = op_count_outputs(op);
    *out = (struct action_result){.key = action->key};
    out->outputs = arena_array(a, struct id_list, n);
    out->cost_ns = action->cost_ns;
    out->finished_ns = action->finished_ns;
    out->run = action->run;
    out->foreign = action->foreign;
    if (sscanf(action->note, "elements=%" SCNu64, &out->elements) != 1)
        out->elements = 0;
    for (size_t i = 0; i < action->n_outputs; i++) {
        const Eqloom__ActionOutput *o = action->outputs[i];
        const struct op_port *port = op_find_port(op->outputs, o->role);
        if (!port || o->output_ids.len % DIGEST_SIZE)
            return ERR_NOTFOUND;
        size_t r = (size_t)(port - op->outputs);
        out->outputs[r].n = o->output_ids.len / DIGEST_SIZE;
        out->outputs[r].ids = (struct digest *)o->output_ids.data;
        if (!o->from && !o->count)
            continue;
        if (out->outputs[r].n != 1)
            return ERR_NOTFOUND;
        if (!out->slices)
            out->slices = arena_array(a, struct slice, n);
        out->slices[r] = (struct slice){out->outputs[r].ids[0], o->from, o->count};
    }
    return OK;
}

bool action_is_complete(struct store *s, const struct op *op, const struct action_result *made)
{
    size_t n = op_count_outputs(op);
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < made->outputs[r].n; i++)
            if (!store_has(s, &made->outputs[r].ids[i]))
                return false;
    return true;
}

bool action_find(struct action_result *out, struct arena *a, struct store *s, const struct op *op,
                 const struct digest *key)
{
    return !action_read(out, a, s, op, key, NULL) && action_is_complete(s, op, out);
}

static int compare_outputs(const void *a, const void *b)
{
    return strcmp((*(Eqloom__ActionOutput *const *)a)->role,
                  (*(Eqloom__ActionOutput *const *)b)->role);
}

enum err_code action_write(struct store_batch *b, struct arena *a, const struct op *op,
                           const struct key *key, const struct action_result *made, struct err *e)
{
    size_t n = op_count_outputs(op);
    Eqloom__Action m = EQLOOM__ACTION__INIT;
    m.key = key->message;
    m.outputs = arena_array(a, Eqloom__ActionOutput *, n + 1);
    m.n_outputs = n;
    for (size_t r = 0; r < n; r++) {
        Eqloom__ActionOutput *o = m.outputs[r] = arena_new(a, Eqloom__ActionOutput);
        eqloom__action_output__init(o);
        o->role = (char *)op->outputs[r].role;
        o->output_ids.data = (uint8_t *)made->outputs[r].ids;
        o->output_ids.len = made->outputs[r].n * DIGEST_SIZE;
        o->from = made->slices ? made->slices[r].from : 0;
        o->count = made->slices ? made->slices[r].n : 0;
    }
    qsort(m.outputs, n, sizeof *m.outputs, compare_outputs);
    m.cost_ns = made->cost_ns;
    m.finished_ns = made->finished_ns;
    m.run = (char *)made->run;
    m.foreign = made->foreign;
    if (made->elements)
        m.note = arena_printf(a, "elements=%" PRIu64, made->elements);
    else if (made->note)
        m.note = (char *)made->note;
    struct span bytes;
    enum err_code code = canonical_pack(&bytes, a, &m.base, e);
    if (!code)
        code = store_batch_action(b, &key->digest, bytes, e);
    return err_up(e, code);
}

/* ---- traces ---- */

bool trace_read(struct trace *out, struct arena *a, struct store *s, const struct digest *at)
{
    struct span bytes;
    return !store_trace(&bytes, s, at, a, NULL) && trace_parse(out, a, bytes);
}

bool trace_parse(struct trace *out, struct arena *a, struct span bytes)
{
    const Eqloom__Trace *t;
    if (canonical_unpack(&t, a, &eqloom__trace__descriptor, bytes, NULL))
        return false;
    if (t->action_key.len != DIGEST_SIZE || (t->made_by.len && t->made_by.len != DIGEST_SIZE))
        return false;
    *out = (struct trace){.witness = span_of(t->witness.data, t->witness.len),
                          .foreign = t->foreign};
    memcpy(out->action.bytes, t->action_key.data, DIGEST_SIZE);
    if (t->made_by.len)
        memcpy(out->made_by.bytes, t->made_by.data, DIGEST_SIZE);
    return true;
}

enum err_code trace_write(struct store_batch *b, struct arena *a, const struct digest *at,
                          const struct trace *trace, struct err *e)
{
    struct span bytes;
    Eqloom__Trace m = EQLOOM__TRACE__INIT;
    m.action_key = (ProtobufCBinaryData){DIGEST_SIZE, (uint8_t *)trace->action.bytes};
    if (!digest_is_zero(&trace->made_by))
        m.made_by = (ProtobufCBinaryData){DIGEST_SIZE, (uint8_t *)trace->made_by.bytes};
    m.witness = (ProtobufCBinaryData){trace->witness.len, (uint8_t *)trace->witness.data};
    m.foreign = trace->foreign;
    enum err_code code = canonical_pack(&bytes, a, &m.base, e);
    if (!code)
        code = store_batch_trace(b, at, bytes, e);
    return err_up(e, code);
}

bool trace_follow(struct action_result *out, struct arena *a, struct store *s, const struct op *op,
                  const struct digest *at)
{
    struct trace t;
    if (!trace_read(&t, a, s, at) || action_read(out, a, s, op, &t.action, NULL))
        return false;
    out->foreign = out->foreign || t.foreign;
    return true;
}

/* ---- claims of packs ---- */

struct forgetting {
    struct store_batch *batch;
    const struct op *op;
    struct arena arena;
};

static enum err_code forget_action(void *arg, const struct digest *key, struct span value,
                                   struct err *e)
{
    struct forgetting *f = arg;
    const Eqloom__Action *action;
    arena_reset(&f->arena);
    if (!canonical_unpack(&action, &f->arena, &eqloom__action__descriptor, value, NULL) &&
        action->foreign && action->key && strcmp(action->key->op, f->op->name) == 0)
        store_batch_forget(f->batch, key, false);
    return OK;
}

static enum err_code forget_trace(void *arg, const struct digest *key, struct span value,
                                  struct err *e)
{
    struct forgetting *f = arg;
    struct trace t;
    arena_reset(&f->arena);
    if (trace_parse(&t, &f->arena, value) && t.foreign)
        store_batch_forget(f->batch, key, true);
    return OK;
}

enum err_code action_forget_claims(struct store *s, const struct op *op, struct err *e)
{
    struct forgetting f = {.batch = store_batch_new(s), .op = op};
    enum err_code code = store_each_action(s, forget_action, &f, e);
    if (!code)
        code = store_each_trace(s, forget_trace, &f, e);
    if (!code)
        code = store_batch_commit(f.batch, e);
    store_batch_free(f.batch);
    arena_free(&f.arena);
    return err_up(e, code);
}
