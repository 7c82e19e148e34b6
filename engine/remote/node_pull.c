#include "engine/remote/node_pull.h"

#include "engine/remote/remote.h"

void node_note_remote(struct session *s, uint32_t i, const char *what, const struct err *e)
{
    if (!session_interrupted(s))
        progress_note(s->progress, "%s %s the shared cache: %s", s->job->nodes[i].name, what,
                      e->message);
}

bool node_is_shared(struct session *s, uint32_t i, const struct digest *key)
{
    bool there;
    struct err e = {0};
    if (remote_has(&there, s->remote, s->job->nodes[i].op, key, &e))
        node_note_remote(s, i, "cannot be looked up in", &e);
    return there;
}

bool node_pull(struct session *s, uint32_t i, const struct digest *key)
{
    struct pack_result r;
    struct err e = {0};
    if (!s->remote || s->options->check || !node_is_shared(s, i, key))
        return false;
    if (remote_pull(&r, s->remote, s->store, s->job->nodes[i].op, key, &e)) {
        node_note_remote(s, i, "does not come from", &e);
        return false;
    }
    pthread_mutex_lock(&s->mutex);
    s->pulled++;
    s->pulled_bytes += r.bytes;
    pthread_mutex_unlock(&s->mutex);
    return true;
}
