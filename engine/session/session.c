/* Queries of the run's state; see session.h. After a signal nothing new starts. Work in flight may
 * end within GRACE_MS; then op_cancelled returns true. */
#include "engine/session/session.h"

#include "base/io/out_file.h"
#include "base/os.h"

enum { GRACE_MS = 300 };

struct node_result session_view(const struct node_run *r)
{
    struct node_result view = {.state = r->phase == PHASE_DONE ? r->state : NODE_SKIPPED,
                               .outputs = r->outputs,
                               .elements = r->elements,
                               .ran = r->ran,
                               .cached = r->cached,
                               .reused = r->reused,
                               .failed = r->failed,
                               .wall_ns = r->wall_ns,
                               .why = r->why,
                               .failure = r->failure};
    if (r->has_key)
        view.key = r->key.digest;
    return view;
}

int session_signals(const struct session *s)
{
    return s->options->interrupted ? __atomic_load_n(s->options->interrupted, __ATOMIC_RELAXED) : 0;
}

bool session_interrupted(const struct session *s)
{
    return atomic_load(&s->stop) || atomic_load(&s->lost) || session_signals(s) >= 1;
}

uint64_t session_ms_since_signal(const struct session *s)
{
    uint64_t since = atomic_load(&s->signal_ns);
    return since ? (os_monotonic_ns() - since) / 1000000 : 0;
}

bool session_cancelled(const struct session *s)
{
    return atomic_load(&s->stop) || session_signals(s) >= 2 ||
           session_ms_since_signal(s) > GRACE_MS || session_late(s);
}

/* Uses processor time, which does not depend on the machine's load. */
bool session_late(const struct session *s)
{
    return s->deadline_ns != UINT64_MAX && os_process_ns() >= s->deadline_ns;
}

void session_fail(struct session *s, const struct err *e)
{
    pthread_mutex_lock(&s->mutex);
    if (!s->fatal.code)
        s->fatal = *e;
    pthread_mutex_unlock(&s->mutex);
    atomic_store(&s->stop, true);
}

void session_drop_batch(struct worker *w)
{
    store_batch_free(w->batch);
    w->batch = store_batch_new(w->s->store);
}

enum err_code session_pack(struct pack_result *out, const struct session *s, const char *path,
                           const struct pack_contents *what, struct err *e)
{
    struct arena a = {0};
    struct out_file file = {0};
    enum err_code code = out_file_open(&file, &a, path, e);
    if (!code)
        code = store_pack(out, s->store, file.f, what, e);
    code = out_file_close(&file, code, e);
    arena_free(&a);
    return err_up(e, code);
}
