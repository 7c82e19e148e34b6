/* See remote.h. The packs of an op are listed once, when the first is asked for: what others push
 * later in this run is made here again, and is the same. */
#include "engine/remote/remote.h"

#include "base/buf.h"
#include "base/map.h"
#include "engine/remote/transport.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct listing {
    const char *folder;
    struct name_map packs; /* value 1: it is there and has not been found bad */
};

struct remote {
    struct arena arena;
    struct transport transport;
    pthread_mutex_t mutex; /* of what follows */
    struct listing *listings;
    size_t n, cap;
    bool broken;
};

enum err_code remote_open(struct remote **out, const struct remote_options *o, struct err *e)
{
    struct remote *r = must_calloc(1, sizeof *r);
    struct transport *t = &r->transport;
    enum err_code code;
    pthread_mutex_init(&r->mutex, NULL);
    t->scratch = arena_strdup(&r->arena, o->scratch);
    t->cancelled = o->cancelled;
    t->arg = o->arg;
    if (strncmp(o->address, "ssh://", 6) == 0)
        code = transport_ssh(t, &r->arena, o->address + 6, e);
    else if (strncmp(o->address, "s3://", 5) == 0)
        code = transport_s3(t, &r->arena, o->address + 5, e);
    else if (strstr(o->address, "://"))
        code = err_fail(e, ERR_INPUT,
                        "%s is no address of a shared cache: a folder, ssh://HOST/PATH or "
                        "s3://BUCKET/PREFIX",
                        o->address);
    else
        code = transport_folder(t, &r->arena, o->address, e);
    *out = code ? NULL : r;
    if (code)
        remote_close(r);
    return err_up(e, code);
}

void remote_close(struct remote *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->n; i++)
        name_map_free(&r->listings[i].packs);
    free(r->listings);
    pthread_mutex_destroy(&r->mutex);
    arena_free(&r->arena);
    free(r);
}

static const char *folder_of(struct arena *a, const struct op *op)
{
    return arena_printf(a, "%s-%u", op->name, op->version);
}

static const char *pack_name(struct arena *a, const struct digest *key)
{
    char hex[DIGEST_HEX];
    return arena_printf(a, "%s.pack", digest_hex(hex, key));
}

static const char *path_of(struct arena *a, const struct op *op, const struct digest *key)
{
    return arena_printf(a, "%s/%s", folder_of(a, op), pack_name(a, key));
}

static void add_name(void *arg, const char *name)
{
    name_map_put(&((struct listing *)arg)->packs, name, 1, NULL);
}

/* Under the mutex. */
static enum err_code find_listing(struct listing **out, struct remote *r, const struct op *op,
                                  struct err *e)
{
    const char *folder = folder_of(&r->arena, op);
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->listings[i].folder, folder) == 0) {
            *out = &r->listings[i];
            return OK;
        }
    struct listing l = {.folder = folder};
    enum err_code code = r->transport.list(&r->transport, folder, add_name, &l, e);
    if (code) {
        name_map_free(&l.packs);
        r->broken = true;
        return err_up(e, code);
    }
    r->listings = vec_grow(r->listings, &r->cap, r->n + 1, sizeof *r->listings);
    *out = &r->listings[r->n];
    r->listings[r->n++] = l;
    return OK;
}

bool remote_works(struct remote *r)
{
    pthread_mutex_lock(&r->mutex);
    bool works = !r->broken;
    pthread_mutex_unlock(&r->mutex);
    return works;
}

enum err_code remote_has(bool *out, struct remote *r, const struct op *op, const struct digest *key,
                         struct err *e)
{
    struct listing *l;
    struct arena a = {0};
    *out = false;
    pthread_mutex_lock(&r->mutex);
    enum err_code code = r->broken ? OK : find_listing(&l, r, op, e);
    if (!code && !r->broken) {
        const uint64_t *there = name_map_get(&l->packs, pack_name(&a, key));
        *out = there && *there;
    }
    pthread_mutex_unlock(&r->mutex);
    arena_free(&a);
    return err_up(e, code);
}

/* After a pull or a push: `moved` says whether the pack could be carried, `good` what it is. */
static void set_state(struct remote *r, const struct op *op, const struct digest *key, bool moved,
                      bool good)
{
    struct listing *l;
    struct arena a = {0};
    pthread_mutex_lock(&r->mutex);
    if (!moved)
        r->broken = true;
    else if (!find_listing(&l, r, op, NULL))
        *name_map_put(&l->packs, pack_name(&a, key), 0, NULL) = good;
    pthread_mutex_unlock(&r->mutex);
    arena_free(&a);
}

enum err_code remote_pull(struct pack_result *out, struct remote *r, struct store *s,
                          const struct op *op, const struct digest *key, struct err *e)
{
    struct arena a = {0};
    FILE *from;
    const char *name = path_of(&a, op, key);
    enum err_code code = r->transport.get(&from, &r->transport, name, e);
    bool moved = code == OK;
    if (moved) {
        code = store_unpack(out, s, from, name, e);
        fclose(from);
    }
    set_state(r, op, key, moved, code == OK);
    arena_free(&a);
    return err_up(e, code);
}

enum err_code remote_push(struct pack_result *out, struct remote *r, struct store *s,
                          const struct op *op, const struct digest *key,
                          const struct pack_contents *what, struct err *e)
{
    struct arena a = {0};
    const char *path = arena_printf(&a, "%s/outgoing.pack", r->transport.scratch);
    FILE *f = fopen(path, "wbe");
    enum err_code code = f ? OK : err_fail(e, ERR_IO, "cannot write %s: %s", path, strerror(errno));
    if (!code)
        code = store_pack(out, s, f, what, e);
    if (f && fclose(f) && !code)
        code = err_fail(e, ERR_IO, "cannot write %s: %s", path, strerror(errno));
    if (!code)
        code = r->transport.put(&r->transport, path_of(&a, op, key), path, e);
    unlink(path);
    set_state(r, op, key, code == OK, true);
    arena_free(&a);
    return err_up(e, code);
}
