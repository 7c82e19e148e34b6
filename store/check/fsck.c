/* Checking everything; see maintain.h. Records are looked at in fsck_records.c.
 *
 * 0. The database could be opened as it is, and its log gave back what was acknowledged.
 * 1. Every record: envelope, digest, canonical form, and that what it refers to is there.
 * 2. If any was bad: every reference of a good record leads to a good record; a record with one
 * that does not is broken, and so on until nothing changes.
 * 3. Every action decodes, stands under its own key, and leads to good records; so do refs.
 * 4. Every other family can be read to the end; runs and source files decode.
 *
 * Repair takes bad and broken records away (quarantine) and drops actions that lead nowhere. A ref
 * stays if the next run makes its record again; one to a record that is lost for good is dropped if
 * the caller is told of it. If RocksDB cannot read blocks of its own, the database is rebuilt
 * without them (salvage.c). */
#include "store/check/fsck.h"

#include "action.pb-c.h"
#include "store/marks.h"
#include "store/salvage.h"

#include <stdio.h>
#include <stdlib.h>

static void note_damage(struct fsck *f, const char *what)
{
    if (!f->damaged)
        err_fail(&f->damage, ERR_CORRUPT, "%s", what);
    f->damaged = true;
    fsck_report(f, NULL, what);
}

static void on_unreadable(void *arg, const struct digest *last, const char *why)
{
    struct fsck *f = arg;
    char hex[DIGEST_HEX];
    struct buf what = {0};
    buf_printf(&what, "%s: entries up to key %.16s cannot be read: %s", f->family,
               digest_hex(hex, last), why);
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
    } else if (store_check_action(&a, &id, value, fsck_check_link, f, &why) != OK) {
        what = why.message;
    }
    enum err_code code = fsck_stop_error(f, e);
    if (what && code == OK) {
        fsck_report(f, &id, what);
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

static enum err_code compare_id(void *arg, const uint8_t id[32], struct err *e)
{
    struct made_search *m = arg;
    m->found |= memcmp(m->id.bytes, id, DIGEST_SIZE) == 0;
    return OK;
}

/* Runs come job by job, the newest first. */
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
    if (good && (fsck_check_link(f, id.bytes, NULL) == OK || f->stop != OK))
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
    fsck_report(f, good ? &id : NULL, what.data);
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
    fsck_report(f, NULL, what.data);
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

/* Links are checked as soon as all objects are known. */
static enum err_code scan_families(struct fsck *f, struct err *e)
{
    static const struct {
        enum rocks_family family;
        const char *name;
        rocks_visit *check; /* NULL: that the family can be read is all */
    } scans[] = {
        {ROCKS_OBJECTS, "objects", fsck_check_object},
        {ROCKS_ACTIONS, "actions", check_action},
        {ROCKS_REFS, "refs", check_ref},
        {ROCKS_RUNS, "runs", check_run},
        {ROCKS_FILES, "files", check_source},
        {ROCKS_TRACES, "traces", NULL},
        {ROCKS_META, "meta", NULL},
    };
    enum err_code code = fsck_list_objects(f, e);
    for (size_t i = 0; code == OK && i < sizeof scans / sizeof *scans; i++) {
        f->family = scans[i].name;
        code = store_scan(f->store->rocks, scans[i].family, scans[i].check, on_unreadable, f, e);
        if (code == OK && scans[i].family == ROCKS_OBJECTS)
            code = fsck_check_links(f, e);
        if (f->stop != OK)
            code = fsck_stop_error(f, e);
    }
    return err_up(e, code);
}

static void check_database(struct fsck *f)
{
    struct rocks *r = f->store->rocks;
    if (rocks_is_damaged(r))
        note_damage(f, rocks_damage(r));
}

static enum err_code repair_all(struct fsck *f, struct err *e)
{
    enum err_code code = OK;
    for (size_t i = 0; code == OK && i < f->n_bad; i++) {
        code = store_remove_bad(f->store, &f->bad[i], e);
        f->result.quarantined += code == OK;
    }
    if (code == OK && f->damaged)
        code = store_salvage(f->store, e);
    return err_up(e, code);
}

enum err_code store_fsck(struct fsck_result *out, struct store *s, bool repair,
                         void (*bad)(void *arg, const struct digest *id, const char *what),
                         void *arg, struct err *e)
{
    struct fsck f = {.store = s, .repair = repair, .drop_refs = repair && bad};
    if (repair && rocks_is_read_only(s->rocks))
        return err_fail(e, ERR_INPUT, "a store that is open for reading cannot be repaired");
    if (repair)
        mark_repair_begins(s->path);
    check_database(&f);
    enum err_code code = scan_families(&f, e);
    if (bad) {
        faults_find_makers(&f.faults, s);
        faults_report(&f.faults, bad, arg);
    }
    if (code == OK && repair) {
        code = repair_all(&f, e);
    } else if (f.result.faults) {
        mark_suspect(s->path);
        if (f.damaged)
            mark_damaged(s->path, f.damage.message); /* for the next writer */
    }
    if (repair && code == OK)
        mark_repair_ends(s->path);
    f.result.repairable = f.n_bad || f.result.faults > f.result.missing + f.result.awaited;
    *out = f.result;
    faults_free(&f.faults);
    id_table_free(&f.ids);
    digest_map_free(&f.others);
    free(f.bad);
    return err_up(e, code);
}

enum err_code store_heal(bool *checked, struct fsck_result *out, struct store *s, struct err *e)
{
    *checked = mark_is_suspect(s->path);
    return *checked ? err_up(e, store_fsck(out, s, true, NULL, NULL, e)) : OK;
}
