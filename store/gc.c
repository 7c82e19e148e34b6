/* Garbage collection; see maintain.h.
 *
 * Mark: refs and the newest runs are roots; every record reached is asked for the ids it refers to
 * (message_visit_ids). Sweep: records not reached, actions with an output not reached, and what is
 * in quarantine. The caller holds the store for writing, so nothing is put meanwhile; readers go on
 * seeing what they have open. A reference to something that is not there is no fault here: fsck
 * reports those. Whatever moment the sweep is killed at, what an action or a collection that is
 * still there leads to is there: actions go first, then collections, then all else. */
#include "store/maintain.h"

#include "action.pb-c.h"
#include "store/internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { REMOVALS_AT_ONCE = 1000 };

struct marker {
    struct store *store;
    struct digest_map marked;
    struct digest *stack;
    size_t n, cap;
    bool unknown_model; /* a record needs one that was not found: copies of models stay */
    /* Runs come job by job, the newest first. */
    char job[256];
    unsigned runs_of_job, keep_runs;
};

static enum err_code mark_id(void *arg, const uint8_t bytes[32], struct err *e)
{
    struct marker *m = arg;
    struct digest id;
    bool added;
    (void)e;
    memcpy(id.bytes, bytes, DIGEST_SIZE);
    digest_map_put(&m->marked, &id, 1, &added);
    if (added) {
        m->stack = vec_grow(m->stack, &m->cap, m->n + 1, sizeof *m->stack);
        m->stack[m->n++] = id;
    }
    return OK;
}

static enum err_code mark_ref(void *arg, const char *name, const struct digest *id, struct err *e)
{
    (void)name;
    return mark_id(arg, id->bytes, e);
}

static enum err_code mark_run(void *arg, const char *run, struct span value, struct err *e)
{
    struct marker *m = arg;
    const char *slash = strrchr(run, '/');
    size_t n = (size_t)(slash - run);
    if (n != strlen(m->job) || memcmp(run, m->job, n) != 0) {
        snprintf(m->job, sizeof m->job, "%.*s", (int)n, run);
        m->runs_of_job = 0;
    }
    if (m->runs_of_job++ >= m->keep_runs)
        return OK;
    struct arena a = {0};
    ProtobufCMessage *message;
    enum err_code code = canonical_unpack(&message, &a, &eqloom__run__descriptor, value, e);
    if (code == OK)
        code = message_visit_ids(message, mark_id, m, e);
    arena_free(&a);
    return err_up(e, code);
}

static enum err_code mark_children(struct marker *m, const struct digest *id, struct arena *a,
                                   struct err *e)
{
    struct rocks_value v;
    enum record_kind kind;
    uint64_t length;
    enum err_code code = rocks_get(&v, m->store->rocks, ROCKS_OBJECTS, digest_span(id), NULL);
    if (code == OK)
        code = envelope_peek(&kind, &length, v.bytes, NULL);
    struct digest dictionary;
    if (code == OK && dictionaries_needed(&dictionary, &m->store->dictionaries, v.bytes))
        mark_id(m, dictionary.bytes, NULL);
    else if (code == OK && envelope_dictionary(v.bytes).len)
        m->unknown_model = true;
    rocks_value_free(&v);
    if (code == OK && message_type_has_ids(kind_info(kind)->descriptor)) {
        ProtobufCMessage *message;
        code = store_get_message(&message, m->store, id, kind, a, NULL);
        if (code == OK)
            return err_up(e, message_visit_ids(message, mark_id, m, e));
    }
    /* Absent or bad: nothing to follow. */
    return code == ERR_IO || code == ERR_NOMEM ? err_fail(e, code, "cannot read the store") : OK;
}

/* Those that new records are going to use. */
static void mark_model(void *arg, const struct digest *id)
{
    mark_id(arg, id->bytes, NULL);
}

static enum err_code mark(struct marker *m, struct err *e)
{
    dictionaries_each_current(&m->store->dictionaries, mark_model, m);
    enum err_code code = store_each_ref(m->store, "", mark_ref, m, e);
    if (code == OK)
        code = store_each_run(m->store, NULL, mark_run, m, e);
    struct arena a = {0};
    while (code == OK && m->n) {
        struct digest id = m->stack[--m->n];
        code = mark_children(m, &id, &a, e);
        arena_reset(&a);
    }
    arena_free(&a);
    return err_up(e, code);
}

struct sweeper {
    struct marker *marker;
    struct store_batch *batch; /* NULL: dry run */
    struct digest *later;      /* records to remove when no collection holds them any more */
    size_t n_later, cap_later;
    struct gc_result result;
};

static enum err_code sweep_key(struct sweeper *w, enum rocks_family family, struct span key,
                               struct err *e)
{
    if (!w->batch)
        return OK;
    store_batch_remove(w->batch, family, key);
    return store_batch_count(w->batch) < REMOVALS_AT_ONCE ? OK : store_batch_commit(w->batch, e);
}

static bool is_of_collection(struct span value)
{
    enum record_kind kind;
    uint64_t length;
    return envelope_peek(&kind, &length, value, NULL) == OK &&
           (kind == KIND_COLLECTION || kind == KIND_COLLECTION_BLOCK);
}

static enum err_code sweep_object(struct sweeper *w, struct span key, struct span value,
                                  struct err *e)
{
    struct digest id = {0};
    if (key.len == DIGEST_SIZE)
        memcpy(id.bytes, key.data, DIGEST_SIZE);
    if (digest_map_get(&w->marker->marked, &id)) {
        w->result.records_kept++;
        return OK;
    }
    w->result.records_removed++;
    w->result.bytes_removed += value.len;
    if (!w->batch || key.len != DIGEST_SIZE || is_of_collection(value))
        return sweep_key(w, ROCKS_OBJECTS, key, e);
    w->later = vec_grow(w->later, &w->cap_later, w->n_later + 1, sizeof *w->later);
    w->later[w->n_later++] = id;
    return OK;
}

static enum err_code sweep_later(struct sweeper *w, struct err *e)
{
    enum err_code code = OK;
    for (size_t i = 0; i < w->n_later && code == OK; i++)
        code = sweep_key(w, ROCKS_OBJECTS, digest_span(&w->later[i]), e);
    return err_up(e, code);
}

static enum err_code is_marked(void *arg, const uint8_t bytes[32], struct err *e)
{
    (void)e;
    struct digest id;
    memcpy(id.bytes, bytes, DIGEST_SIZE);
    return digest_map_get(&((struct marker *)arg)->marked, &id) ? OK : ERR_NOTFOUND;
}

static enum err_code sweep_action(struct sweeper *w, struct span key, struct span value,
                                  struct err *e)
{
    struct arena a = {0};
    ProtobufCMessage *message;
    enum err_code code = canonical_unpack(&message, &a, &eqloom__action__descriptor, value, NULL);
    const Eqloom__Action *action = (const Eqloom__Action *)message;
    for (size_t i = 0; code == OK && i < action->n_outputs; i++)
        code = message_visit_ids(&action->outputs[i]->base, is_marked, w->marker, NULL);
    arena_free(&a);
    if (code == OK)
        return OK;
    w->result.actions_removed++;
    return sweep_key(w, ROCKS_ACTIONS, key, e);
}

static enum err_code sweep_meta(struct sweeper *w, struct span key, struct span value,
                                struct err *e)
{
    struct span prefix = span_str(QUARANTINE_PREFIX);
    if (key.len < prefix.len || memcmp(key.data, prefix.data, prefix.len) != 0)
        return OK;
    w->result.bytes_removed += value.len;
    return sweep_key(w, ROCKS_META, key, e);
}

/* Last of all, so that whatever has not been removed yet can be read. */
static enum err_code sweep_copy(struct sweeper *w, struct span key, struct span value,
                                struct err *e)
{
    struct span prefix = span_str(DICTIONARY_COPY_PREFIX);
    struct digest id;
    if (w->marker->unknown_model || key.len != prefix.len + DIGEST_SIZE ||
        memcmp(key.data, prefix.data, prefix.len) != 0)
        return OK;
    memcpy(id.bytes, key.data + prefix.len, DIGEST_SIZE);
    if (digest_map_get(&w->marker->marked, &id))
        return OK;
    w->result.bytes_removed += value.len;
    return sweep_key(w, ROCKS_META, key, e);
}

/* Traces whose action has gone; those that lose it in this sweep go in the next. */
static enum err_code sweep_trace(struct sweeper *w, struct span key, struct span value,
                                 struct err *e)
{
    struct arena a = {0};
    ProtobufCMessage *message;
    struct span action;
    bool leads = canonical_unpack(&message, &a, &eqloom__trace__descriptor, value, NULL) == OK;
    if (leads) {
        const ProtobufCBinaryData *k = &((const Eqloom__Trace *)message)->action_key;
        leads = store_read(&action, w->marker->store, ROCKS_ACTIONS, span_of(k->data, k->len), &a,
                           NULL) == OK;
    }
    arena_free(&a);
    return leads ? OK : sweep_key(w, ROCKS_TRACES, key, e);
}

static enum err_code sweep_family(struct sweeper *w, enum rocks_family family,
                                  enum err_code (*visit)(struct sweeper *w, struct span key,
                                                         struct span value, struct err *e),
                                  struct err *e)
{
    struct rocks_iter *it = rocks_iter_new(w->marker->store->rocks, family);
    enum err_code code = OK;
    for (rocks_iter_seek(it, span_of("", 0)); code == OK && rocks_iter_valid(it);
         rocks_iter_next(it))
        code = visit(w, rocks_iter_key(it), rocks_iter_value(it), e);
    if (code == OK)
        code = rocks_iter_error(it, e);
    rocks_iter_free(it);
    return err_up(e, code);
}

enum err_code store_gc(struct gc_result *out, struct store *s, const struct gc_options *options,
                       struct err *e)
{
    struct marker m = {.store = s, .keep_runs = options->keep_runs};
    struct sweeper w = {.marker = &m, .batch = options->dry_run ? NULL : store_batch_new(s)};
    /* Actions first: between the two commits nothing may lead to a record that has gone. */
    enum err_code code = mark(&m, e);
    if (code == OK)
        code = sweep_family(&w, ROCKS_ACTIONS, sweep_action, e);
    if (code == OK)
        code = sweep_family(&w, ROCKS_TRACES, sweep_trace, e);
    if (code == OK)
        code = sweep_family(&w, ROCKS_META, sweep_meta, e);
    if (code == OK)
        code = sweep_family(&w, ROCKS_OBJECTS, sweep_object, e);
    if (code == OK)
        code = sweep_later(&w, e);
    if (code == OK)
        code = sweep_family(&w, ROCKS_META, sweep_copy, e);
    if (code == OK && w.batch)
        code = store_batch_commit(w.batch, e);
    if (code == OK && w.batch && w.result.bytes_removed)
        rocks_compact(s->rocks, ROCKS_OBJECTS);
    *out = w.result;
    store_batch_free(w.batch);
    digest_map_free(&m.marked);
    free(m.stack);
    free(w.later);
    return err_up(e, code);
}
