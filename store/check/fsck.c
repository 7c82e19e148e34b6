/* Checking everything; see maintain.h.
 *
 * 0. The database could be opened without repair, and its log replayed all acknowledged writes.
 * 1. Every record: envelope, digest, canonical form, and that its references exist.
 * 2. If any was bad: every reference of a good record leads to a good record; a record with one
 * that does not is broken, and so on until nothing changes.
 * 3. Every action decodes, has its own key, and leads to good records; so do refs.
 * 4. Every other family can be read to the end; runs and source files decode.
 *
 * Repair quarantines bad and broken records and drops actions that lead nowhere. A ref stays if the
 * next run makes its record again; one to a record that is lost for good is dropped if the caller
 * takes reports. If RocksDB cannot read blocks of its own, the database is rebuilt without them
 * (salvage.c). */
#include "action.pb-c.h"
#include "store/check/faults.h"
#include "store/check/idtable.h"
#include "store/internal.h"
#include "store/maintain.h"
#include "store/marks.h"
#include "store/salvage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fsck {
    struct store *store;
    bool repair, drop_refs;
    bool damaged;       /* files of the database are bad; */
    struct err damage;  /* the first of them */
    const char *family; /* being scanned */
    struct faults faults;
    struct fsck_result result;
    struct id_table ids;      /* of all records, in order; flags: their state */
    struct digest_map others; /* id -> the same, for ids that the scan did not reach */
    struct digest *bad;       /* records to quarantine */
    size_t n_bad, cap_bad;
    enum err_code stop; /* reading the store failed for another reason than damage */
    struct err why_stop;
};

/* ---- records: listed, checked, rejected, and their references ---- */

/* LINKED: its kind refers to other records. */
enum state { UNKNOWN, GOOD, BAD, ABSENT, STATE = 3, LINKED = 4 };

/* The id is NULL if the fault concerns no single record. */
static void report(struct fsck *f, const struct digest *id, const char *what)
{
    f->result.faults++;
    faults_add(&f->faults, id, what);
}

/* OK unless the check itself has failed. */
static enum err_code stop_error(const struct fsck *f, struct err *e)
{
    return f->stop == OK
               ? OK
               : err_fail(e, f->stop, "cannot check the store: %.400s", f->why_stop.message);
}

/* A failing device or a lack of memory does not show that records are bad: the check itself has
 * failed, and no record may be rejected for it. */
static bool is_damage(struct fsck *f, enum err_code code, const struct err *why)
{
    if (code != ERR_IO && code != ERR_NOMEM && code != ERR_BUSY)
        return true;
    if (f->stop == OK) {
        f->stop = code;
        f->why_stop = *why;
    }
    return false;
}

static enum state state_of(const struct fsck *f, const struct digest *id)
{
    const uint8_t *flags = id_table_find(&f->ids, id);
    const uint64_t *other = flags ? NULL : digest_map_get(&f->others, id);
    return flags ? (enum state)(*flags & STATE) : other ? (enum state) * other : UNKNOWN;
}

static void set_state(struct fsck *f, const struct digest *id, enum state state)
{
    uint8_t *flags = id_table_find(&f->ids, id);
    if (flags)
        *flags = (uint8_t)((*flags & ~STATE) | state);
    else
        *digest_map_put(&f->others, id, state, NULL) = state;
}

static void reject(struct fsck *f, const struct digest *id)
{
    set_state(f, id, BAD);
    f->bad = vec_grow(f->bad, &f->cap_bad, f->n_bad + 1, sizeof *f->bad);
    f->bad[f->n_bad++] = *id;
}

static enum err_code check_link(void *arg, const struct digest *id, struct err *e);

/* Checks envelope, digest and canonical form, then the references. */
static enum err_code check_content(struct fsck *f, const struct digest *id, struct span value,
                                   struct err *e)
{
    struct arena a = {0};
    struct record record;
    ProtobufCMessage *message;
    struct coder *c = store_coder_take(f->store);
    enum err_code code = envelope_verify(&record, c, id, value, &a, e);
    store_coder_give(f->store, c);
    const struct kind_info *kind = code == OK ? kind_info(record.kind) : NULL;
    if (kind && message_type_has_ids(kind->descriptor)) {
        code = canonical_unpack(&message, &a, kind->descriptor, record.payload, e);
        if (code == OK && message_visit_ids(message, check_link, f, NULL) != OK)
            code = ERR_NOTFOUND;
    } else if (kind) {
        code = canonical_check(kind->descriptor, record.payload, e);
    }
    arena_free(&a);
    return code;
}

static enum err_code check_object(void *arg, struct span key, struct span value, struct err *e)
{
    struct fsck *f = arg;
    struct digest id;
    struct err why = {0};
    f->result.records++;
    enum err_code code = ERR_CORRUPT;
    if (!span_digest(&id, key))
        err_fail(&why, ERR_CORRUPT, "its key is not a record id");
    else
        code = check_content(f, &id, value, &why);
    if (f->stop != OK || !is_damage(f, code, &why))
        return err_fail(e, f->stop, "%s", f->why_stop.message);
    if (code == OK) {
        set_state(f, &id, GOOD);
        return OK;
    }
    if (code != ERR_NOTFOUND) { /* what is missing has been reported */
        f->result.bad_records++;
        report(f, &id, why.message);
    }
    reject(f, &id);
    return OK;
}

static enum err_code list_object(void *arg, struct span key, struct span value, struct err *e)
{
    struct fsck *f = arg;
    struct digest id;
    enum record_kind kind;
    uint64_t length;
    bool linked = envelope_peek(&kind, &length, value, NULL) == OK &&
                  message_type_has_ids(kind_info(kind)->descriptor);
    /* GOOD until it is checked. */
    if (span_digest(&id, key))
        id_table_add(&f->ids, &id, GOOD | (linked ? LINKED : 0));
    return OK;
}

/* Called first. The scan that checks reports unreadable entries. */
static enum err_code list_objects(struct fsck *f, struct err *e)
{
    return err_up(e, rocks_scan(f->store->rocks, ROCKS_OBJECTS, NULL, list_object, NULL, f, e));
}

/* For message_visit_ids: ERR_NOTFOUND unless the record is good as far as checked. Reports a
 * missing record once. */
static enum err_code check_link(void *arg, const struct digest *id, struct err *e)
{
    struct fsck *f = arg;
    enum state state = state_of(f, id);
    if (state != UNKNOWN)
        return state == GOOD ? OK : ERR_NOTFOUND;
    /* Missing, or in an unreadable range, where it may have been put again. */
    set_state(f, id, ABSENT);
    struct rocks_value v;
    struct err why = {0};
    enum err_code code = rocks_get(&v, f->store->rocks, ROCKS_OBJECTS, digest_span(id), &why);
    if (code == OK) {
        code = check_object(f, digest_span(id), v.bytes, &why);
        is_damage(f, code, &why);
    } else if (!is_damage(f, code, &why)) {
        /* Its state stays unknown. */
    } else if (code == ERR_NOTFOUND) {
        f->result.missing++;
        report(f, id, "missing, though something refers to it");
    } else {
        f->result.bad_records++;
        report(f, id, why.message);
        reject(f, id);
    }
    rocks_value_free(&v);
    return state_of(f, id) == GOOD ? OK : ERR_NOTFOUND;
}

/* Checks the references of a good record again. */
static enum err_code check_links_of(void *arg, struct span key, struct span value, struct err *e)
{
    struct fsck *f = arg;
    struct digest id;
    struct err why = {0};
    const uint8_t *flags = span_digest(&id, key) ? id_table_find(&f->ids, &id) : NULL;
    if (!flags || *flags != (GOOD | LINKED))
        return OK;
    enum err_code code = check_content(f, &id, value, &why);
    if (f->stop != OK || !is_damage(f, code, &why))
        return err_fail(e, f->stop, "%s", f->why_stop.message);
    if (code != OK)
        reject(f, &id);
    return OK;
}

/* After all records have been checked: rejects records that refer to rejected ones, until nothing
 * changes. */
static enum err_code check_links(struct fsck *f, struct err *e)
{
    enum err_code code = OK;
    for (size_t before = 0; code == OK && before < f->n_bad;) {
        before = f->n_bad;
        code = rocks_scan(f->store->rocks, ROCKS_OBJECTS, NULL, check_links_of, NULL, f, e);
    }
    return err_up(e, code);
}

/* ---- everything else ---- */

static void note_damage(struct fsck *f, const char *what)
{
    if (!f->damaged)
        err_fail(&f->damage, ERR_CORRUPT, "%s", what);
    f->damaged = true;
    report(f, NULL, what);
}

/* What a rebuild at opening could not read. */
static void report_gone(struct fsck *f)
{
    struct arena a = {0};
    char *lines = arena_strdup(&a, f->store->gone.data ? f->store->gone.data : ""), *save = NULL;
    for (char *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        report(f, NULL, line);
    buf_clear(&f->store->gone);
    arena_free(&a);
}

static void on_unreadable(void *arg, const struct rocks_range *range, const char *why)
{
    struct fsck *f = arg;
    char hex[DIGEST_HEX];
    struct buf what = {0};
    buf_printf(&what, "%s: entries up to key %.16s cannot be read: %s", f->family,
               digest_hex(hex, &range->last), why);
    f->result.bad_records++;
    note_damage(f, what.data);
    buf_free(&what);
}

static enum err_code check_action(void *arg, struct span key, struct span value, struct err *e)
{
    struct fsck *f = arg;
    struct digest id;
    struct arena a = {0};
    struct err why = {0};
    f->result.actions++;
    const char *what = NULL;
    if (!span_digest(&id, key)) {
        what = "an action whose key is not a digest";
    } else if (store_check_action(&a, &id, value, check_link, f, &why) != OK) {
        what = why.message;
    }
    enum err_code code = stop_error(f, e);
    if (what && code == OK) {
        report(f, &id, what);
        if (f->repair) {
            struct rocks_write w = {.family = ROCKS_ACTIONS, .remove = true, .key = key};
            code = err_up(e, rocks_write(f->store->rocks, &w, 1, false, e));
        }
    }
    arena_free(&a);
    return code;
}

struct made_search {
    struct digest id;
    char job[256];
    bool found; /* then job is the one whose last run made it */
};

static enum err_code compare_id(void *arg, const struct digest *id, struct err *e)
{
    struct made_search *m = arg;
    m->found |= digest_equal(&m->id, id);
    return OK;
}

/* Runs are visited job by job, newest first. */
static enum err_code search_run(void *arg, const char *run, struct span value, struct err *e)
{
    struct made_search *m = arg;
    struct arena a = {0};
    ProtobufCMessage *message;
    int n = (int)(strrchr(run, '/') - run);
    if (!m->found && (strncmp(run, m->job, (size_t)n) != 0 || m->job[n])) {
        snprintf(m->job, sizeof m->job, "%.*s", n, run);
        if (canonical_unpack(&message, &a, &eqloom__run__descriptor, value, NULL) == OK)
            message_visit_ids(message, compare_id, m, NULL);
    }
    arena_free(&a);
    return OK;
}

static enum err_code check_ref(void *arg, struct span key, struct span value, struct err *e)
{
    struct fsck *f = arg;
    struct buf what = {0};
    struct digest id;
    enum err_code code = OK;
    bool good = span_digest(&id, value);
    if (good && (check_link(f, &id, NULL) == OK || f->stop != OK))
        return OK;
    struct made_search made = {.id = id};
    if (good)
        store_each_run(f->store, NULL, search_run, &made, NULL);
    bool dropped = !made.found && f->drop_refs;
    buf_printf(&what, "the ref %.*s %s", (int)key.len, (const char *)key.data,
               good ? "leads to this record, which " : "is not a record id");
    if (made.found)
        buf_printf(&what, "the next run of job %s makes again", made.job);
    else
        buf_printf(&what, "%s: %s", good ? "no job's last run made" : "",
                   dropped ? "the ref is dropped" : "--repair drops the ref");
    f->result.awaited += made.found;
    report(f, good ? &id : NULL, what.data);
    if (dropped) {
        struct rocks_write w = {.family = ROCKS_REFS, .remove = true, .key = key};
        code = rocks_write(f->store->rocks, &w, 1, false, e);
    }
    buf_free(&what);
    return err_up(e, code);
}

static void check_decodes(struct fsck *f, const char *name, struct span key, struct span value,
                          const ProtobufCMessageDescriptor *type)
{
    struct err why = {0};
    if (canonical_check(type, value, &why) == OK)
        return;
    struct buf what = {0};
    /* The key of a run: job \0 ... */
    buf_printf(&what, "%s %.*s: %s", name, (int)strnlen((const char *)key.data, key.len),
               (const char *)key.data, why.message);
    f->result.bad_records++;
    report(f, NULL, what.data);
    buf_free(&what);
}

static enum err_code check_run(void *arg, struct span key, struct span value, struct err *e)
{
    check_decodes(arg, "a run of", key, value, &eqloom__run__descriptor);
    return OK;
}

static enum err_code check_source(void *arg, struct span key, struct span value, struct err *e)
{
    check_decodes(arg, "the source file", key, value, &eqloom__source_file__descriptor);
    return OK;
}

/* That it can be read is all. */
static enum err_code accept(void *arg, struct span key, struct span value, struct err *e)
{
    return OK;
}

/* References are checked once all objects are known. */
static enum err_code scan_families(struct fsck *f, struct err *e)
{
    static const struct {
        enum rocks_family family;
        const char *name;
        rocks_visit *check;
    } scans[] = {
        {ROCKS_OBJECTS, "objects", check_object},
        {ROCKS_ACTIONS, "actions", check_action},
        {ROCKS_REFS, "refs", check_ref},
        {ROCKS_RUNS, "runs", check_run},
        {ROCKS_FILES, "files", check_source},
        {ROCKS_TRACES, "traces", accept},
        {ROCKS_META, "meta", accept},
    };
    enum err_code code = list_objects(f, e);
    for (size_t i = 0; code == OK && i < sizeof scans / sizeof *scans; i++) {
        f->family = scans[i].name;
        code = rocks_scan(f->store->rocks, scans[i].family, NULL, scans[i].check, on_unreadable, f, e);
        if (code == OK && scans[i].family == ROCKS_OBJECTS)
            code = check_links(f, e);
        if (f->stop != OK)
            code = stop_error(f, e);
    }
    return err_up(e, code);
}

static enum err_code repair_all(struct fsck *f, struct err *e)
{
    enum err_code code = OK;
    for (size_t i = 0; code == OK && i < f->n_bad; i++) {
        code = store_remove_bad(f->store, &f->bad[i], e);
        f->result.quarantined += code == OK;
    }
    if (code == OK && f->damaged) {
        code = store_salvage(f->store, f->damage.message, e);
        report_gone(f);
    }
    return err_up(e, code);
}

static enum err_code check_all(struct fsck *f, struct err *e)
{
    struct store *s = f->store;
    report_gone(f);
    if (rocks_damage(s->rocks))
        note_damage(f, rocks_damage(s->rocks));
    enum err_code code = scan_families(f, e);
    if (code == OK && f->repair) {
        code = repair_all(f, e);
    } else if (f->result.faults) {
        mark_suspect(s->path);
        if (f->damaged)
            mark_damaged(s->path, f->damage.message); /* for the next writer */
    }
    f->result.repairable = f->n_bad || f->result.faults > f->result.missing + f->result.awaited;
    return err_up(e, code);
}

static void fsck_free(struct fsck *f)
{
    faults_free(&f->faults);
    id_table_free(&f->ids);
    digest_map_free(&f->others);
    free(f->bad);
}

enum err_code store_fsck(struct fsck_result *out, struct store *s, bool repair,
                         void (*bad)(void *arg, const struct digest *id, const char *what),
                         void *arg, struct err *e)
{
    struct fsck f = {.store = s, .repair = repair, .drop_refs = repair && bad};
    struct fsck rest = {.store = s, .repair = repair};
    if (repair && rocks_is_read_only(s->rocks))
        return err_fail(e, ERR_INPUT, "a store that is open for reading cannot be repaired");
    if (repair)
        mark_repair_begins(s->path);
    enum err_code code = check_all(&f, e);
    if (code == OK && repair && f.damaged) { /* what refers to what the rebuild has lost */
        mark_repair_begins(s->path);
        code = check_all(&rest, e);
        f.result.quarantined += rest.result.quarantined;
    }
    if (bad) {
        faults_find_makers(&f.faults, s);
        faults_report(&f.faults, bad, arg);
    }
    if (repair && code == OK)
        mark_repair_ends(s->path);
    *out = f.result;
    fsck_free(&f);
    fsck_free(&rest);
    return err_up(e, code);
}

enum err_code store_heal(bool *checked, struct fsck_result *out, struct store *s, struct err *e)
{
    *checked = mark_is_suspect(s->path);
    return *checked ? err_up(e, store_fsck(out, s, true, NULL, NULL, e)) : OK;
}
