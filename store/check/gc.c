/* Garbage collection; see maintain.h.
 *
 * List: all ids, in nine bytes each (idtable.h). Mark: roots are refs and the newest runs; records
 * of kinds with references are decoded to find them (message_visit_ids); the stack is as deep as
 * collections are. Sweep: unmarked records, actions with an unmarked output, and quarantine.
 * Dictionaries stay: compact drops those that no record needs. References to missing records are
 * left to fsck.
 *
 * The caller holds the store for writing, so nothing is put meanwhile; readers keep their
 * snapshots. Whenever the sweep is killed, the remaining entries refer only to existing ones:
 * actions go first, then records in stages, referring ones before those that they refer to (enum
 * stage). */
#include "store/maintain.h"

#include "action.pb-c.h"
#include "store/check/idtable.h"
#include "store/internal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum { REMOVALS_AT_ONCE = 1000 };
enum { MARKED = 1, LINKED = 2, STAGE_SHIFT = 2 }; /* the rest is the stage */

/* Records are removed from the last stage to the first. Each stage refers to lower ones, and only
 * the last to its own; it is small and is removed in one commit. */
enum stage { STAGE_LEAVES, STAGE_BATCHES, STAGE_VECTORS, STAGE_AT_ONCE };

static const uint8_t stage_of[KIND_END] = {
    [KIND_TOKEN_BATCH] = STAGE_BATCHES,
    [KIND_GRAPH] = STAGE_BATCHES,
    [KIND_LABELS] = STAGE_BATCHES,
    [KIND_EMBEDDING_BATCH] = STAGE_VECTORS,
    [KIND_GENERATION] = STAGE_VECTORS,
    [KIND_COLLECTION] = STAGE_AT_ONCE,
    [KIND_COLLECTION_BLOCK] = STAGE_AT_ONCE,
    [KIND_CHECKPOINT] = STAGE_AT_ONCE,
    [KIND_INDEX] = STAGE_AT_ONCE,
    [KIND_FILE] = STAGE_AT_ONCE,
};

struct marker {
    struct store *store;
    struct id_table ids;
    struct digest *stack;
    size_t n, cap;
    /* Runs are visited job by job, newest first. */
    char job[256];
    unsigned runs_of_job, keep_runs;
};

static enum err_code mark_id(void *arg, const struct digest *id, struct err *e)
{
    struct marker *m = arg;
    uint8_t *flags = id_table_find(&m->ids, id);
    if (!flags || *flags & MARKED)
        return OK;
    *flags |= MARKED;
    if (*flags & LINKED) {
        m->stack = vec_grow(m->stack, &m->cap, m->n + 1, sizeof *m->stack);
        m->stack[m->n++] = *id;
    }
    return OK;
}

static enum err_code mark_ref(void *arg, const char *name, const struct digest *id, struct err *e)
{
    return mark_id(arg, id, e);
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
    struct record r;
    struct err why = {0};
    ProtobufCMessage *message;
    enum err_code code = store_get(&r, m->store, id, a, &why);
    if (code == OK)
        code = canonical_unpack(&message, a, kind_info(r.kind)->descriptor, r.payload, &why);
    if (code == OK)
        return err_up(e, message_visit_ids(message, mark_id, m, e));
    /* Missing or bad: no references to follow. */
    return code == ERR_IO || code == ERR_NOMEM ? err_fail(e, code, "%s", why.message) : OK;
}

static enum err_code list_object(void *arg, struct span key, struct span value, struct err *e)
{
    struct marker *m = arg;
    struct digest id;
    enum record_kind kind;
    uint64_t length;
    uint8_t flags = STAGE_LEAVES << STAGE_SHIFT;
    if (!span_digest(&id, key))
        return OK;
    if (envelope_peek(&kind, &length, value, NULL) == OK) {
        bool linked = message_type_has_ids(kind_info(kind)->descriptor);
        assert(!linked || stage_of[kind] > STAGE_LEAVES);
        flags = (uint8_t)(stage_of[kind] << STAGE_SHIFT);
        flags |= linked ? LINKED : 0;
        flags |= kind == KIND_DICTIONARY ? MARKED : 0;
    }
    id_table_add(&m->ids, &id, flags);
    return OK;
}

static enum err_code mark(struct marker *m, struct err *e)
{
    enum err_code code =
        rocks_each(m->store->rocks, ROCKS_OBJECTS, span_of("", 0), list_object, m, e);
    if (code == OK)
        code = store_each_ref(m->store, "", mark_ref, m, e);
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
    enum stage stage;          /* of the records being removed */
    struct gc_result result;
};

static enum err_code sweep_key(struct sweeper *w, enum rocks_family family, struct span key,
                               struct err *e)
{
    if (!w->batch)
        return OK;
    store_batch_remove(w->batch, family, key);
    bool at_once = family == ROCKS_OBJECTS && w->stage == STAGE_AT_ONCE;
    if (at_once || store_batch_count(w->batch) < REMOVALS_AT_ONCE)
        return OK;
    return err_up(e, store_batch_commit(w->batch, e));
}

/* One pass for each stage. */
static enum err_code sweep_object(void *arg, struct span key, struct span value, struct err *e)
{
    struct sweeper *w = arg;
    struct digest id;
    const uint8_t *found = span_digest(&id, key) ? id_table_find(&w->marker->ids, &id) : NULL;
    uint8_t flags = found ? *found : 0;
    if (w->stage != (enum stage)(flags >> STAGE_SHIFT)) /* the leaves', if not a record id */
        return OK;
    if (flags & MARKED) {
        w->result.records_kept++;
        return OK;
    }
    w->result.records_removed++;
    w->result.bytes_removed += value.len;
    return err_up(e, sweep_key(w, ROCKS_OBJECTS, key, e));
}

static enum err_code is_marked(void *arg, const struct digest *id, struct err *e)
{
    const uint8_t *flags = id_table_find(&((struct marker *)arg)->ids, id);
    return flags && *flags & MARKED ? OK : ERR_NOTFOUND;
}

static enum err_code sweep_action(void *arg, struct span key, struct span value, struct err *e)
{
    struct sweeper *w = arg;
    struct arena a = {0};
    const Eqloom__Action *action;
    enum err_code code = canonical_unpack(&action, &a, &eqloom__action__descriptor, value, NULL);
    for (size_t i = 0; code == OK && i < action->n_outputs; i++)
        code = message_visit_ids(&action->outputs[i]->base, is_marked, w->marker, NULL);
    arena_free(&a);
    if (code == OK)
        return OK;
    w->result.actions_removed++;
    return sweep_key(w, ROCKS_ACTIONS, key, e);
}

static enum err_code sweep_meta(void *arg, struct span key, struct span value, struct err *e)
{
    struct sweeper *w = arg;
    w->result.bytes_removed += value.len;
    return sweep_key(w, ROCKS_META, key, e);
}

/* Removes traces whose action is missing; those whose action this sweep removes go in the next. */
static enum err_code sweep_trace(void *arg, struct span key, struct span value, struct err *e)
{
    struct sweeper *w = arg;
    struct arena a = {0};
    const Eqloom__Trace *message;
    struct span action;
    bool leads = canonical_unpack(&message, &a, &eqloom__trace__descriptor, value, NULL) == OK;
    if (leads) {
        const ProtobufCBinaryData *k = &message->action_key;
        leads = store_read(&action, w->marker->store, ROCKS_ACTIONS, span_of(k->data, k->len), &a,
                           NULL) == OK;
    }
    arena_free(&a);
    return leads ? OK : sweep_key(w, ROCKS_TRACES, key, e);
}

static enum err_code sweep_family(struct sweeper *w, enum rocks_family family, const char *prefix,
                                  rocks_visit *visit, struct err *e)
{
    struct rocks *r = w->marker->store->rocks;
    return err_up(e, rocks_each(r, family, span_str(prefix), visit, w, e));
}

enum err_code store_gc(struct gc_result *out, struct store *s, const struct gc_options *options,
                       struct err *e)
{
    struct marker m = {.store = s, .keep_runs = options->keep_runs};
    struct sweeper w = {.marker = &m, .batch = options->dry_run ? NULL : store_batch_new(s)};
    enum err_code code = mark(&m, e);
    if (code == OK)
        code = sweep_family(&w, ROCKS_ACTIONS, "", sweep_action, e);
    if (code == OK)
        code = sweep_family(&w, ROCKS_TRACES, "", sweep_trace, e);
    if (code == OK)
        code = sweep_family(&w, ROCKS_META, QUARANTINE_PREFIX, sweep_meta, e);
    for (int stage = STAGE_AT_ONCE; code == OK && stage >= STAGE_LEAVES; stage--) {
        w.stage = (enum stage)stage;
        code = sweep_family(&w, ROCKS_OBJECTS, "", sweep_object, e);
    }
    if (code == OK && w.batch)
        code = store_batch_commit(w.batch, e);
    if (code == OK && w.batch && w.result.bytes_removed)
        rocks_compact(s->rocks, ROCKS_OBJECTS);
    *out = w.result;
    store_batch_free(w.batch);
    id_table_free(&m.ids);
    free(m.stack);
    return err_up(e, code);
}
