/* Lookups by name: actions and traces, refs, source files and runs, each one key and one value in a
 * column family of its own (docs/format.md, sections 5 and 6); and records, all of them or those
 * whose id begins with given digits. */
#include "store/internal.h"
#include "store/marks.h"

#include "action.pb-c.h"

#include <ctype.h>
#include <stdio.h>

enum { NAME_MAX_BYTES = 255, MIN_PREFIX = 4 };

/* ---- records ---- */

struct record_visit {
    store_visit_record *visit;
    void *arg;
};

static enum err_code visit_record(void *arg, struct span key, struct span value, struct err *e)
{
    struct record_visit *v = arg;
    enum record_kind kind;
    uint64_t length;
    struct digest id;
    if (!span_digest(&id, key))
        return err_fail(e, ERR_CORRUPT, "an object with a key of %zu bytes", key.len);
    enum err_code code = envelope_peek(&kind, &length, value, e);
    return code ? err_name_record(e, code, &id) : v->visit(v->arg, &id, kind, value.len, e);
}

enum err_code store_each_record(struct store *s, store_visit_record *visit, void *arg,
                                struct err *e)
{
    struct record_visit v = {visit, arg};
    enum err_code code = rocks_each(s->rocks, ROCKS_OBJECTS, span_of("", 0), visit_record, &v, e);
    if (code == ERR_CORRUPT)
        mark_suspect(s->path);
    return err_up(e, code);
}

/* Collects the ids that begin with these digits, up to a maximum. */
struct search {
    const char *hex;
    struct digest *ids;
    size_t digits, found, max;
};

static enum err_code take_key(void *arg, struct span key, struct span value, struct err *e)
{
    struct search *s = arg;
    struct digest id;
    char hex[DIGEST_HEX];
    if (!span_digest(&id, key) || strncasecmp(digest_hex(hex, &id), s->hex, s->digits) != 0)
        return OK;
    if (s->found < s->max)
        s->ids[s->found] = id;
    s->found++;
    return OK;
}

enum err_code store_resolve_prefix(struct digest *ids, size_t *n, size_t max, struct store *s,
                                   const char *hex, struct err *e)
{
    struct search found = {.hex = hex, .ids = ids, .digits = strlen(hex), .max = max};
    size_t good = strspn(hex, "0123456789abcdefABCDEF");
    uint8_t begin[DIGEST_SIZE];
    *n = 0;
    if (found.digits < MIN_PREFIX || found.digits > 2 * DIGEST_SIZE)
        return err_fail(e, ERR_INPUT,
                        "'%.80s' is not a prefix of an id: %d to %d hexadecimal digits", hex,
                        MIN_PREFIX, 2 * DIGEST_SIZE);
    if (good < found.digits)
        return err_fail(e, ERR_INPUT,
                        "'%.80s' is not a prefix of an id: '%c' is not a hexadecimal digit", hex,
                        hex[good]);
    for (size_t i = 0; i < found.digits / 2; i++)
        sscanf(hex + 2 * i, "%2hhx", &begin[i]);
    enum err_code code =
        rocks_each(s->rocks, ROCKS_OBJECTS, span_of(begin, found.digits / 2), take_key, &found, e);
    *n = found.found < max ? found.found : max;
    if (code == ERR_CORRUPT) {
        struct err why = e ? *e : (struct err){0};
        mark_suspect(s->path);
        err_clear(e);
        return err_fail(e, ERR_CORRUPT, "cannot look up record %s: %.400s", hex, why.message);
    }
    if (code != OK)
        return err_up(e, code);
    if (found.found == 0)
        return err_fail(e, ERR_NOTFOUND, "no record's id begins with '%s'", hex);
    if (found.found > 1)
        return err_fail(e, ERR_AMBIGUOUS, "'%s' is ambiguous: %zu records' ids begin with it", hex,
                        found.found);
    return OK;
}

/* ---- actions ---- */

struct digest action_key(struct span preimage)
{
    struct span parts[] = {
        {(const uint8_t *)"eqloom-action/1", sizeof "eqloom-action/1"},
        preimage,
    };
    return digest_of(parts, 2);
}

enum err_code store_batch_action(struct store_batch *b, const struct digest *key,
                                 struct span action, struct err *e)
{
    store_batch_write(b, ROCKS_ACTIONS, digest_span(key), action);
    return OK;
}

void store_batch_forget(struct store_batch *b, const struct digest *key, bool trace)
{
    store_batch_remove(b, trace ? ROCKS_TRACES : ROCKS_ACTIONS, digest_span(key));
}

enum err_code store_action(struct span *out, struct store *s, const struct digest *key,
                           struct arena *a, struct err *e)
{
    return err_up(e, store_read(out, s, ROCKS_ACTIONS, digest_span(key), a, e));
}

enum err_code store_check_action(struct arena *a, const struct digest *key, struct span action,
                                 message_visit *has, void *arg, struct err *e)
{
    const Eqloom__Action *x;
    struct span preimage;
    struct digest found = *key;
    enum err_code code = canonical_unpack(&x, a, &eqloom__action__descriptor, action, e);
    if (code != OK)
        return err_up(e, code);
    if (x->key && canonical_pack(&preimage, a, &x->key->base, NULL) == OK)
        found = action_key(preimage);
    if (!digest_equal(&found, key))
        return err_fail(e, ERR_CORRUPT, "an action that does not belong to its key");
    for (size_t i = 0; i < x->n_outputs; i++)
        if (message_visit_ids(&x->outputs[i]->base, has, arg, NULL) != OK)
            return err_fail(e, ERR_NOTFOUND, "an action with missing outputs");
    return OK;
}

struct key_visit {
    store_visit_key *visit;
    void *arg;
};

static enum err_code visit_key(void *arg, struct span key, struct span value, struct err *e)
{
    struct key_visit *v = arg;
    struct digest id;
    return span_digest(&id, key) ? v->visit(v->arg, &id, value, e) : OK; /* fsck reports it */
}

enum err_code store_each_action(struct store *s, store_visit_key *visit, void *arg, struct err *e)
{
    struct key_visit v = {visit, arg};
    return err_up(e, rocks_each(s->rocks, ROCKS_ACTIONS, span_of("", 0), visit_key, &v, e));
}

enum err_code store_each_trace(struct store *s, store_visit_key *visit, void *arg, struct err *e)
{
    struct key_visit v = {visit, arg};
    return err_up(e, rocks_each(s->rocks, ROCKS_TRACES, span_of("", 0), visit_key, &v, e));
}

enum err_code store_batch_trace(struct store_batch *b, const struct digest *key, struct span trace,
                                struct err *e)
{
    store_batch_write(b, ROCKS_TRACES, digest_span(key), trace);
    return OK;
}

enum err_code store_trace(struct span *out, struct store *s, const struct digest *key,
                          struct arena *a, struct err *e)
{
    return err_up(e, store_read(out, s, ROCKS_TRACES, digest_span(key), a, e));
}

/* ---- refs ---- */

enum err_code store_check_ref_name(const char *name, struct err *e)
{
    size_t n = strlen(name), part = 0;
    bool good = n > 0 && n <= NAME_MAX_BYTES;
    for (size_t i = 0; good && i <= n; i++) {
        char c = name[i];
        if (c == '/' || c == 0) {
            size_t len = i - part;
            good = len > 0 && !(len == 1 && name[part] == '.') &&
                   !(len == 2 && name[part] == '.' && name[part + 1] == '.');
            part = i + 1;
        } else {
            good = isalnum((unsigned char)c) || strchr("._@=,+-", c);
        }
    }
    if (!good)
        return err_fail(e, ERR_INPUT,
                        "'%.100s' cannot be a ref: names are parts of letters, digits and ._@=,+- "
                        "separated by '/', at most %d bytes",
                        name, NAME_MAX_BYTES);
    return OK;
}

enum err_code store_batch_ref(struct store_batch *b, const char *name, const struct digest *id,
                              struct err *e)
{
    enum err_code code = store_check_ref_name(name, e);
    if (code)
        return err_up(e, code);
    store_batch_write(b, ROCKS_REFS, span_str(name), digest_span(id));
    return OK;
}

enum err_code store_batch_ref_delete(struct store_batch *b, const char *name, struct err *e)
{
    enum err_code code = store_check_ref_name(name, e);
    if (code)
        return err_up(e, code);
    store_batch_remove(b, ROCKS_REFS, span_str(name));
    return OK;
}

static enum err_code read_ref(struct digest *id, const char *name, struct span value, struct err *e)
{
    return span_digest(id, value)
               ? OK
               : err_fail(e, ERR_CORRUPT, "ref %s: %zu bytes are not a record id", name, value.len);
}

enum err_code store_ref(struct digest *id, struct store *s, const char *name, struct err *e)
{
    struct rocks_value v;
    enum err_code code = rocks_get(&v, s->rocks, ROCKS_REFS, span_str(name), e);
    if (code == ERR_NOTFOUND) {
        err_clear(e);
        return err_fail(e, ERR_NOTFOUND, "there is no ref '%.200s'", name);
    }
    if (code != OK)
        return err_up(e, code);
    code = read_ref(id, name, v.bytes, e);
    rocks_value_free(&v);
    return code;
}

/* For refs, source files and runs. */
struct name_visit {
    store_visit_ref *ref;
    store_visit_named *source;
    void *arg;
    struct buf name;
};

static enum err_code visit_name(void *arg, struct span key, struct span value, struct err *e)
{
    struct name_visit *v = arg;
    struct digest id;
    buf_clear(&v->name);
    buf_add(&v->name, key.data, key.len);
    if (v->source)
        return err_up(e, v->source(v->arg, v->name.data, value, e));
    enum err_code code = read_ref(&id, v->name.data, value, e);
    return err_up(e, code ? code : v->ref(v->arg, v->name.data, &id, e));
}

enum err_code store_each_ref(struct store *s, const char *prefix, store_visit_ref *visit, void *arg,
                             struct err *e)
{
    struct name_visit v = {.ref = visit, .arg = arg};
    struct span begin = span_str(prefix ? prefix : "");
    enum err_code code = rocks_each(s->rocks, ROCKS_REFS, begin, visit_name, &v, e);
    buf_free(&v.name);
    return err_up(e, code);
}

/* ---- source files ---- */

enum err_code store_batch_source(struct store_batch *b, const char *path, struct span value,
                                 struct err *e)
{
    store_batch_write(b, ROCKS_FILES, span_str(path), value);
    return OK;
}

enum err_code store_source(struct span *out, struct store *s, const char *path, struct arena *a,
                           struct err *e)
{
    return err_up(e, store_read(out, s, ROCKS_FILES, span_str(path), a, e));
}

enum err_code store_each_source(struct store *s, store_visit_named *visit, void *arg, struct err *e)
{
    struct name_visit v = {.source = visit, .arg = arg};
    enum err_code code = rocks_each(s->rocks, ROCKS_FILES, span_of("", 0), visit_name, &v, e);
    buf_free(&v.name);
    return err_up(e, code);
}

/* ---- runs: job \0, number of digits, digits ---- */

static enum err_code run_key(struct buf *key, const char *run, struct err *e)
{
    const char *slash = strrchr(run, '/');
    size_t digits = slash ? strspn(slash + 1, "0123456789") : 0;
    if (!slash || slash == run || digits == 0 || slash[1 + digits] || digits > NAME_MAX_BYTES)
        return err_fail(e, ERR_INPUT, "'%.200s' is not a run: runs are named JOB/NUMBER", run);
    buf_add(key, run, (size_t)(slash - run));
    buf_putc(key, 0);
    buf_putc(key, (char)digits);
    buf_puts(key, slash + 1);
    return OK;
}

/* Writes the name of a run; returns false if the key is not one. */
static bool run_name(struct buf *name, struct span key)
{
    const uint8_t *end = key.len ? memchr(key.data, 0, key.len) : NULL;
    size_t job = end ? (size_t)(end - key.data) : 0;
    if (!end || key.len < job + 2 || key.data[job + 1] != key.len - job - 2)
        return false;
    buf_clear(name);
    buf_add(name, key.data, job);
    buf_putc(name, '/');
    buf_add(name, key.data + job + 2, key.len - job - 2);
    return true;
}

enum err_code store_batch_run(struct store_batch *b, const char *run, struct span value,
                              struct err *e)
{
    struct buf key = {0};
    enum err_code code = run_key(&key, run, e);
    if (code == OK)
        store_batch_write(b, ROCKS_RUNS, span_of(key.data, key.len), value);
    buf_free(&key);
    return err_up(e, code);
}

enum err_code store_run(struct span *out, struct store *s, const char *run, struct arena *a,
                        struct err *e)
{
    struct buf key = {0};
    enum err_code code = run_key(&key, run, e);
    if (code == OK)
        code = store_read(out, s, ROCKS_RUNS, span_of(key.data, key.len), a, e);
    buf_free(&key);
    return err_up(e, code);
}

static enum err_code visit_run(void *arg, struct span key, struct span value, struct err *e)
{
    struct name_visit *v = arg;
    return run_name(&v->name, key) ? v->source(v->arg, v->name.data, value, e)
                                   : err_fail(e, ERR_CORRUPT, "a run whose key cannot be read");
}

enum err_code store_each_run(struct store *s, const char *job, store_visit_named *visit, void *arg,
                             struct err *e)
{
    /* Backwards, starting after the last run of the job, or of all jobs. */
    struct buf first = {0}, last = {0};
    if (job) {
        buf_add(&first, job, strlen(job) + 1);
        buf_add(&last, job, strlen(job));
        buf_putc(&last, 1);
    } else {
        buf_puts(&first, "");
        buf_putc(&last, (char)0xff);
    }
    struct name_visit v = {.source = visit, .arg = arg};
    enum err_code code = rocks_each_back(s->rocks, ROCKS_RUNS, span_of(first.data, first.len),
                                         span_of(last.data, last.len), visit_run, &v, e);
    buf_free(&first);
    buf_free(&last);
    buf_free(&v.name);
    return err_up(e, code);
}
