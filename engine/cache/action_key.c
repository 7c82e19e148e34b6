/* Action keys; see action_key.h. Segments of a chain use a name that no op can declare
 * ("@segment"), so that they never meet a whole node's key. */
#include "engine/cache/action_key.h"

#include "base/isa.h"

#include "schemas/canonical.h"
#include "store/store.h"

#include <stdlib.h>
#include <string.h>

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
        return "cpu-f32-avx512"; /* tiles multiply bf16 only */
    return strcmp(isa, "avx2") == 0 ? "cpu-f32-avx2" : "cpu-f32-base";
}
