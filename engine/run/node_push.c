#include "engine/run/node_push.h"

#include "engine/remote/node_pull.h"
#include "engine/remote/remote.h"
#include "engine/run/parcel.h"

#include <inttypes.h>

static enum err_code push_pack(struct session *s, const struct digest *name, struct parcel *p,
                               struct err *e)
{
    struct pack_contents what;
    struct pack_result packed = {0};
    enum err_code code = parcel_fill(p, true, e);
    if (code)
        return err_up(e, code);
    parcel_contents(&what, p);
    code = remote_push(&packed, s->remote, s->store, s->job->nodes[p->node].op, name, &what, e);
    s->pushed += code == OK;
    s->pushed_bytes += code ? 0 : packed.bytes;
    return err_up(e, code);
}

static void push(struct session *s, uint32_t i)
{
    struct parcel p;
    struct digest name;
    struct err e = {0};
    parcel_open(&p, s, i);
    enum err_code code = parcel_name(&name, &p, &e);
    if (!code && !node_is_shared(s, i, &name))
        code = push_pack(s, &name, &p, &e);
    if (code)
        node_note_remote(s, i, "cannot be put into", &e);
    parcel_close(&p);
}

void nodes_push(struct session *s)
{
    if (!s->remote || s->options->check)
        return;
    for (uint32_t i = 0; i < s->job->n_nodes && remote_works(s->remote) && !session_interrupted(s);
         i++) {
        const struct node_run *r = &s->nodes[i];
        bool made = r->phase == PHASE_DONE && r->state != NODE_FAILED && r->state != NODE_SKIPPED;
        if (made && r->has_key && !r->failed)
            push(s, i);
    }
    if (s->pulled + s->pushed)
        progress_note(
            s->progress,
            "shared cache: %" PRIu64 " results taken (%.1f MB), %" PRIu64 " given (%.1f MB)",
            s->pulled, (double)s->pulled_bytes / 1e6, s->pushed, (double)s->pushed_bytes / 1e6);
}
