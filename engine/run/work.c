/* See work.h. The worker imports the block's inputs from packs into its own store; the scheduler
 * then runs the one node as usual. The worker refuses the block unless it computes the same key:
 * this proves that job file, program and numerics class are those of the master. */
#include "engine/run/work.h"

#include "base/io/in_file.h"
#include "base/io/out_file.h"
#include "base/os.h"
#include "engine/cluster/node_dispatch.h"
#include "engine/run/node_pack.h"
#include "engine/run/run_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define PART ".part"

static char *path_of(struct arena *a, const struct work_order *o, const char *ending)
{
    char hex[DIGEST_HEX];
    return arena_printf(a, "%s/%s%s", o->folder, digest_hex(hex, &o->key), ending);
}

static enum err_code unpack(struct store *s, const char *path, struct err *e)
{
    struct pack_result r;
    FILE *f;
    enum err_code code = in_file_open(&f, AT_FDCWD, path, path, e);
    if (code)
        return err_up(e, code);
    code = store_unpack(&r, s, f, path, PACK_OWN, e);
    fclose(f);
    return err_up(e, code);
}

static enum err_code take_inputs(struct node_run *r, const struct work_order *o, struct err *e)
{
    struct session *s = r->s;
    size_t n = op_count_inputs(r->op);
    struct id_list *given = arena_array(s->arena, struct id_list, n + 1);
    enum err_code code = unpack(s->store, arena_printf(s->arena, "%s/inputs.pack", o->folder), e);
    if (!code && r->op->node == OP_MAP)
        code = unpack(s->store, path_of(s->arena, o, ".in"), e);
    for (size_t p = 0; p < n && !code; p++) {
        size_t most = r->node->inputs[p].n_sources;
        given[p].ids = arena_array(s->arena, struct digest, most + 1);
        while (given[p].n < most &&
               !store_ref(&given[p].ids[given[p].n], s->store,
                          arena_printf(s->arena, ERRAND_INPUT, p, given[p].n), NULL))
            given[p].n++;
    }
    s->worker_inputs = given;
    return err_up(e, code);
}

/* Marks every other node as done. */
static enum err_code set_stage(struct node_run *r, const struct work_order *o, struct err *e)
{
    struct session *s = r->s;
    for (struct node_run *x = s->nodes; x < s->nodes + s->job->n_nodes; x++)
        if (x != r)
            x->phase = x->phase == PHASE_WAITING ? PHASE_DONE : PHASE_UNWANTED;
    node_bind(r);
    enum err_code code = node_make_key(r, op_count_inputs(r->op), e);
    if (code || digest_equal(&r->key.digest, &o->key))
        return err_up(e, code);
    return err_fail(e, ERR_INPUT,
                    "this worker would compute a different key: the job file or the program "
                    "differs, or the machines' numerics differ; this one has %s "
                    "(EQLOOM_CPU=avx2 makes them alike)",
                    s->numerics);
}

static enum err_code write_pack(struct node_run *r, const struct work_order *o, struct err *e)
{
    struct node_pack p;
    struct pack_contents what;
    struct pack_result packed;
    struct digest name;
    bool map = r->op->node == OP_MAP;
    node_pack_open(&p, r);
    enum err_code code = map ? OK : node_pack_name(&name, &p, e);
    if (!code)
        code = node_pack_fill(&what, &p, !map, e);
    what.fast = true;
    if (!code)
        code = session_pack(&packed, r->s, path_of(&p.arena, o, ".pack" PART), &what, e);
    node_pack_close(&p);
    return err_up(e, code);
}

/* A map always writes a pack; the master finds out which elements failed. */
static enum err_code write_result(struct node_run *r, const struct work_order *o, struct err *e)
{
    struct session *s = r->s;
    const char *name = r->node->name;
    if (s->fatal.code) {
        if (e)
            *e = s->fatal;
        return err_up(e, s->fatal.code);
    }
    if (session_interrupted(s) || r->phase != PHASE_DONE)
        return err_fail(e, ERR_CANCELLED, "interrupted");
    if (r->op->node == OP_MAP || r->state != NODE_FAILED)
        return err_up(e, write_pack(r, o, e));
    const char *text = r->failure ? r->failure : name;
    if (!strncmp(text, name, strlen(name)))
        text += strlen(name);
    text += strspn(text, ",: ");
    return err_up(e, out_file_write(path_of(s->arena, o, ".failed" PART), text, strlen(text), e));
}

enum err_code job_work(struct run_result *out, struct arena *a, const struct job *job,
                       struct store *store, const struct run_options *options,
                       const struct work_order *order, struct err *e)
{
    struct session *s = arena_new(a, struct session);
    struct run_options own = *options;
    own.targets = &order->node;
    own.n_targets = 1;
    own.slurm_dir = NULL;
    memset(out, 0, sizeof *out);
    out->nodes = arena_array(a, struct node_result, job->n_nodes);
    enum err_code code = session_open(s, a, job, store, &own, e);
    if (!code)
        code = take_inputs(&s->nodes[order->node], order, e);
    if (!code)
        code = set_stage(&s->nodes[order->node], order, e);
    if (!code)
        sched_start_pool(s);
    if (!code)
        code = sched_run(s, e);
    out->left = s->left;
    if (!code && !s->left)
        code = committer_flush(s->commit, e);
    if (!code && !s->left)
        code = write_result(&s->nodes[order->node], order, e);
    if (!code && !s->left)
        session_fill_result(out, s);
    if (!s->left)
        session_close(s);
    return err_up(e, code);
}

enum err_code work_publish(struct arena *a, const struct work_order *o, struct err *e)
{
    static const char *const endings[] = {".pack", ".failed"};
    for (size_t i = 0; i < 2; i++) {
        const char *to = path_of(a, o, endings[i]);
        if (rename(arena_printf(a, "%s" PART, to), to) && errno != ENOENT)
            return err_fail(e, ERR_IO, "cannot write %s: %s", to, strerror(errno));
    }
    return OK;
}
