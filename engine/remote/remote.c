/* See remote.h. The packs of an op are listed once, at the first lookup; results that others push
 * later in this run are recomputed here and are identical. */
#include "engine/remote/remote.h"

#include "base/buf.h"
#include "base/map.h"
#include "engine/remote/transport.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct listing {
    const char *folder;
    struct name_map packs; /* value 1: the pack exists and has not been found bad */
};

struct remote {
    struct arena arena;
    struct transport transport;
    pthread_mutex_t mutex; /* guards the fields below */
    struct listing *listings;
    size_t n, cap;
    bool broken;
};

enum { PATIENCE_S = 60, MAX_PATIENCE_S = 3600 };

static enum err_code read_patience(unsigned *out, struct err *e)
{
    const char *text = getenv("EQLOOM_REMOTE_PATIENCE");
    char *end;
    *out = PATIENCE_S;
    if (!text || !*text)
        return OK;
    unsigned long value = strtoul(text, &end, 10);
    *out = (unsigned)value;
    return *text >= '0' && *text <= '9' && !*end && value && value <= MAX_PATIENCE_S
               ? OK
               : err_fail(e, ERR_INPUT,
                          "EQLOOM_REMOTE_PATIENCE must be a number of seconds from 1 to %d, not "
                          "'%.40s'",
                          MAX_PATIENCE_S, text);
}

static enum err_code open_transport(struct transport *t, struct arena *a, const char *address,
                                    struct err *e)
{
    if (strncmp(address, "ssh://", 6) == 0)
        return err_up(e, transport_ssh(t, a, address + 6, e));
    if (strncmp(address, "s3://", 5) == 0)
        return err_up(e, transport_s3(t, a, address + 5, e));
    if (strstr(address, "://"))
        return err_fail(e, ERR_INPUT,
                        "%s is not an address of a shared cache: use a folder, ssh://HOST/PATH or "
                        "s3://BUCKET/PREFIX",
                        address);
    return err_up(e, transport_folder(t, a, address, e));
}

enum err_code remote_open(struct session *s, const struct remote_options *o, struct err *e)
{
    struct remote *x = must_calloc(1, sizeof *x);
    struct transport *t = &x->transport;
    enum err_code code = read_patience(&t->patience_s, e);
    pthread_mutex_init(&x->mutex, NULL);
    t->scratch = arena_strdup(&x->arena, o->scratch);
    t->session = s;
    if (!code)
        code = open_transport(t, &x->arena, o->address, e);
    s->remote = x;
    return err_up(e, code);
}

void remote_close(struct remote *x)
{
    if (!x)
        return;
    for (size_t i = 0; i < x->n; i++)
        name_map_free(&x->listings[i].packs);
    free(x->listings);
    pthread_mutex_destroy(&x->mutex);
    arena_free(&x->arena);
    free(x);
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

/* Caller holds the mutex. */
static enum err_code find_listing(struct listing **out, struct remote *x, const struct op *op,
                                  struct err *e)
{
    const char *folder = folder_of(&x->arena, op);
    for (size_t i = 0; i < x->n; i++)
        if (strcmp(x->listings[i].folder, folder) == 0) {
            *out = &x->listings[i];
            return OK;
        }
    struct listing l = {.folder = folder};
    enum err_code code = x->transport.kind->list(&l.packs, &x->transport, folder, e);
    if (code) {
        name_map_free(&l.packs);
        x->broken = true;
        return err_up(e, code);
    }
    x->listings = vec_grow(x->listings, &x->cap, x->n + 1, sizeof *x->listings);
    *out = &x->listings[x->n];
    x->listings[x->n++] = l;
    return OK;
}

bool remote_works(struct remote *x)
{
    pthread_mutex_lock(&x->mutex);
    bool works = !x->broken;
    pthread_mutex_unlock(&x->mutex);
    return works;
}

void remote_note(struct node_run *r, const char *what, const struct err *e)
{
    if (!session_interrupted(r->s))
        progress_note(r->s->progress, "%s %s the shared cache: %s", r->node->name, what,
                      e->message);
}

bool remote_has(struct node_run *r, const struct digest *key)
{
    struct remote *x = r->s->remote;
    struct listing *l = NULL;
    struct arena a = {0};
    struct err e = {0};
    pthread_mutex_lock(&x->mutex);
    if (!x->broken && find_listing(&l, x, r->op, &e))
        remote_note(r, "cannot be looked up in", &e);
    const uint64_t *there = l ? name_map_get(&l->packs, pack_name(&a, key)) : NULL;
    bool has = there && *there;
    pthread_mutex_unlock(&x->mutex);
    arena_free(&a);
    return has;
}

/* Called after a pull or a push. `moved`: the transport succeeded; `good`: the pack is valid.
 * Returns whether that is news: not if the transport failed for another node, too. */
static bool set_state(struct node_run *r, const struct digest *key, bool moved, bool good)
{
    struct remote *x = r->s->remote;
    struct listing *l;
    struct arena a = {0};
    pthread_mutex_lock(&x->mutex);
    bool news = moved || !x->broken;
    if (!moved)
        x->broken = true;
    else if (!find_listing(&l, x, r->op, NULL))
        *name_map_put(&l->packs, pack_name(&a, key), 0, NULL) = good;
    pthread_mutex_unlock(&x->mutex);
    arena_free(&a);
    return news;
}

bool remote_pull(struct node_run *r, const struct digest *key)
{
    struct session *s = r->s;
    struct transport *t;
    struct pack_result packed;
    struct arena a = {0};
    struct err e = {0};
    FILE *from;
    if (!s->remote || s->options->check || !remote_has(r, key))
        return false;
    t = &s->remote->transport;
    const char *name = path_of(&a, r->op, key);
    enum err_code code = t->kind->get(&from, t, name, &e);
    bool moved = code == OK || code == ERR_INPUT;
    if (!code) {
        code = store_unpack(&packed, s->store, from, name, PACK_FOREIGN, &e);
        fclose(from);
    }
    bool news = set_state(r, key, moved, code == OK);
    arena_free(&a);
    if (code && news)
        remote_note(r, "cannot be pulled from", &e);
    if (code)
        return false;
    pthread_mutex_lock(&s->mutex);
    s->pulled++;
    s->pulled_bytes += packed.bytes;
    pthread_mutex_unlock(&s->mutex);
    return true;
}

void remote_push(struct node_run *r, const struct digest *key, const struct pack_contents *what)
{
    struct session *s = r->s;
    struct transport *t = &s->remote->transport;
    struct pack_result packed;
    struct arena a = {0};
    struct err e = {0};
    const char *path = arena_printf(&a, "%s/outgoing.pack", t->scratch);
    enum err_code code = session_pack(&packed, s, path, what, &e);
    if (!code)
        code = t->kind->put(t, path_of(&a, r->op, key), path, &e);
    unlink(path);
    bool news = set_state(r, key, code == OK, true);
    arena_free(&a);
    if (code && news)
        remote_note(r, "cannot be put into", &e);
    s->pushed += code == OK;
    s->pushed_bytes += code ? 0 : packed.bytes;
}
