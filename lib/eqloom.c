#include "lib/eqloom.h"

#include "engine/cli/console/cli.h"
#include "engine/export/export.h"
#include "engine/export/reflect.h"
#include "engine/job/job.h"
#include "schemas/canonical.h"
#include "store/collection/collection.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct eql_store {
    struct store *store;
};

/* ---- errors and memory ---- */

static enum eql_status tell(struct eql_error *out, enum err_code code, const struct err *e)
{
    if (out)
        snprintf(out->message, sizeof out->message, "%s", e->message);
    switch (code) {
    case OK: return EQL_OK;
    case ERR_NOTFOUND: return EQL_NOT_FOUND;
    case ERR_INPUT:
    case ERR_AMBIGUOUS: return EQL_BAD_INPUT;
    case ERR_CORRUPT: return EQL_DAMAGED;
    case ERR_IO:
    case ERR_BUSY:
    case ERR_LIMIT:
    case ERR_NOMEM:
    case ERR_CANCELLED:
    case ERR_UNSUPPORTED:
    case ERR_FAILED: break;
    }
    return EQL_FAILED;
}

/* What was read by its id is verified. Any other answer, 'not found' as well, may be wrong if
 * something could not be read. */
static enum eql_status answer(struct eql_error *out, struct eql_store *s, bool verified,
                              enum err_code code, struct err *e)
{
    bool doubtful =
        code ? code == ERR_NOTFOUND || code == ERR_INPUT || code == ERR_AMBIGUOUS : !verified;
    const char *trouble = doubtful ? store_trouble(s->store) : NULL;
    if (trouble) {
        err_clear(e);
        code = err_fail(e, ERR_CORRUPT,
                        "the answer may be wrong, since not all could be read: %.400s", trouble);
    }
    return tell(out, code, e);
}

static struct digest digest_from(const unsigned char *id)
{
    struct digest d;
    memcpy(d.bytes, id, DIGEST_SIZE);
    return d;
}

/* Copies to the heap and appends a NUL. */
static void *copy_out(const void *data, size_t n)
{
    char *copy = must_calloc(n + 1, 1);
    if (n)
        memcpy(copy, data, n);
    return copy;
}

void eql_free(void *what)
{
    free(what);
}

const char *eql_version(void)
{
    return EQLOOM_VERSION;
}

/* ---- stores ---- */

enum eql_status eql_open(struct eql_store **out, const char *directory, struct eql_error *e)
{
    struct err why = {0};
    struct store_options options = {.path = directory, .read_only = true};
    struct store *store;
    *out = NULL;
    enum err_code code = store_open(&store, &options, &why);
    if (code)
        return tell(e, code, &why);
    *out = must_calloc(1, sizeof **out);
    (*out)->store = store;
    return EQL_OK;
}

void eql_close(struct eql_store *s)
{
    if (s)
        store_close(s->store);
    free(s);
}

static enum err_code find(struct digest *id, struct store *s, const char *name, struct err *e)
{
    struct arena a = {0};
    struct digest found[2];
    size_t n;
    enum err_code code = store_ref(id, s, name, NULL);
    if (code)
        code = store_ref(id, s, arena_printf(&a, JOB_TAGS "%s", name), NULL);
    if (code) {
        code = store_resolve_prefix(found, &n, 2, s, name, NULL);
        if (code == ERR_AMBIGUOUS)
            err_fail(e, code, "several records have ids that begin with %.64s", name);
        else if (code)
            code = err_fail(e, ERR_NOTFOUND, "the store has nothing named %.200s", name);
        else
            *id = found[0];
    }
    arena_free(&a);
    return code;
}

enum eql_status eql_find(unsigned char id[EQL_ID_BYTES], struct eql_store *s, const char *name,
                         struct eql_error *e)
{
    struct err why = {0};
    struct digest found = {0};
    enum err_code code = find(&found, s->store, name, &why);
    memcpy(id, found.bytes, DIGEST_SIZE);
    return answer(e, s, false, code, &why);
}

/* ---- records ---- */

enum eql_status eql_record(const char **kind, unsigned char **payload, size_t *n,
                           struct eql_store *s, const unsigned char id[EQL_ID_BYTES],
                           struct eql_error *e)
{
    struct arena a = {0};
    struct err why = {0};
    struct record r;
    struct digest d = digest_from(id);
    enum err_code code = store_get(&r, s->store, &d, &a, &why);
    if (!code) {
        *kind = kind_info(r.kind)->name;
        *payload = copy_out(r.payload.data, r.payload.len);
        *n = r.payload.len;
    }
    arena_free(&a);
    return answer(e, s, true, code, &why);
}

enum eql_status eql_json(char **text, struct eql_store *s, const unsigned char id[EQL_ID_BYTES],
                         struct eql_error *e)
{
    struct arena a = {0};
    struct err why = {0};
    struct record r;
    ProtobufCMessage *m;
    struct digest d = digest_from(id);
    enum err_code code = store_get(&r, s->store, &d, &a, &why);
    if (!code)
        code = canonical_unpack(&m, &a, kind_info(r.kind)->descriptor, r.payload, &why);
    if (!code) {
        json_t *json = reflect_record(&d, &r, m, REFLECT_INFIX);
        *text = json_dumps(json, JSON_COMPACT);
        json_decref(json);
        if (!*text)
            code = err_fail(&why, ERR_NOMEM, "no memory for the record's text");
    }
    arena_free(&a);
    return answer(e, s, true, code, &why);
}

enum eql_status eql_elements(unsigned char **ids, size_t *n, struct eql_store *s,
                             const unsigned char id[EQL_ID_BYTES], struct eql_error *e)
{
    struct arena a = {0};
    struct err why = {0};
    struct record r;
    struct collection_head all;
    struct digest d = digest_from(id);
    enum err_code code = store_get(&r, s->store, &d, &a, &why);
    if (!code && r.kind != KIND_COLLECTION)
        code = err_fail(&why, ERR_INPUT, "a record of kind %s is not a collection",
                        kind_info(r.kind)->name);
    if (!code)
        code = collection_read(&all, s->store, &d, UINT64_MAX, &a, &why);
    if (!code) {
        *ids = copy_out(all.ids, all.n * DIGEST_SIZE);
        *n = all.n;
    }
    arena_free(&a);
    return answer(e, s, true, code, &why);
}

/* Opens a file in memory: npy seeks back to its header, which open_memstream does not support. */
static FILE *open_memory(void)
{
    int fd = memfd_create("eqloom", MFD_CLOEXEC);
    FILE *f = fd >= 0 ? fdopen(fd, "w+b") : NULL;
    if (!f && fd >= 0)
        close(fd);
    return f;
}

/* Returns the complete content on the heap, or NULL if it could not be written or read. Closes the
 * file. */
static char *take_all(size_t *n, FILE *f)
{
    struct stat st;
    char *data = NULL;
    if (f && !fflush(f) && !ferror(f) && !fstat(fileno(f), &st)) {
        rewind(f);
        *n = (size_t)st.st_size;
        data = must_calloc(*n + 1, 1);
        if (fread(data, 1, *n, f) != *n) {
            free(data);
            data = NULL;
        }
    }
    if (f)
        fclose(f);
    return data;
}

enum eql_status eql_export(char **data, size_t *n, char **index, struct eql_store *s,
                           const unsigned char id[EQL_ID_BYTES], const char *format,
                           struct eql_error *e)
{
    struct err why = {0};
    struct digest d = digest_from(id);
    size_t index_bytes;
    const struct export_format *f = export_format_named(format);
    *data = *index = NULL;
    if (!f) {
        err_fail(&why, ERR_INPUT, "'%.40s' is not a format: the formats are " EXPORT_FORMATS_TEXT,
                 format);
        return tell(e, ERR_INPUT, &why);
    }
    FILE *to = open_memory(), *beside = open_memory();
    enum err_code code = to && beside ? export_record(to, beside, s->store, &d, f, &why)
                                      : err_fail(&why, ERR_IO, "cannot make a file in memory");
    *data = take_all(n, to);
    *index = take_all(&index_bytes, beside);
    if (!code && !(*data && *index))
        code = err_fail(&why, ERR_NOMEM, "no memory for the export");
    enum eql_status status = answer(e, s, false, code, &why);
    if (status) {
        free(*data);
        *data = NULL;
    }
    if (status || !export_format_index(f)) {
        free(*index);
        *index = NULL;
    }
    return status;
}

/* ---- commands ---- */

static pthread_mutex_t command_mutex = PTHREAD_MUTEX_INITIALIZER;

/* Commands that catch signals, or may leave threads that outlive them. */
static bool owns_its_process(const char *command)
{
    return !strcmp(command, "run") || !strcmp(command, "serve");
}

enum eql_status eql_command(int *status, char **out, char **err, int n, const char *const *words,
                            struct eql_error *e)
{
    struct arena a = {0};
    struct err why = {0};
    size_t out_bytes, err_bytes;
    if (n < 1 || owns_its_process(words[0])) {
        err_fail(&why, ERR_INPUT,
                 n < 1 ? "there is no command"
                       : "'eqloom %.40s' needs a process of its own: start the program",
                 n < 1 ? "" : words[0]);
        return tell(e, ERR_INPUT, &why);
    }
    char **argv = arena_array(&a, char *, (size_t)n + 2);
    argv[0] = arena_strdup(&a, "eqloom");
    for (int i = 0; i < n; i++)
        argv[i + 1] = arena_strdup(&a, words[i]);
    FILE *to = open_memstream(out, &out_bytes), *narration = open_memstream(err, &err_bytes);
    if (!to || !narration)
        abort();
    pthread_mutex_lock(&command_mutex);
    *status = cli_main(n + 1, argv, to, narration);
    pthread_mutex_unlock(&command_mutex);
    fclose(to);
    fclose(narration);
    arena_free(&a);
    return EQL_OK;
}
