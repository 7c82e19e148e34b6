/* eqloom query lists the records of a kind that a jq program selects. Filters that need no record
 * contents (job, node, op, time) are applied first. */
#include "engine/cli/cmd/cmd.h"

#include "base/map.h"
#include "engine/cli/provenance/lineage.h"
#include "engine/cli/records/resolve.h"
#include "engine/export/reflect.h"
#include "engine/job/job.h"
#include "schemas/canonical.h"
#include "store/collection/collection.h"

#include <jq.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- a jq program, as a condition on JSON values ---- */

struct jq_filter {
    jq_state *jq;
    struct buf messages; /* of the compiler, which by default writes them to standard error */
};

static void take_message(void *arg, jv message)
{
    struct jq_filter *f = arg;
    buf_printf(&f->messages, "%s%s", f->messages.len ? "\n" : "", jv_string_value(message));
    jv_free(message);
}

/* Fails with the relevant part of a message like "jq: error: syntax error, ... (Unix shell quoting
 * issues?) at <top-level>, line 1:". */
static enum err_code refuse_program(const struct jq_filter *f, struct err *e)
{
    static const char prefix[] = "jq: error: ", advice[] = " (Unix shell quoting issues?)";
    const char *text = f->messages.data ? f->messages.data : "";
    text += strncmp(text, prefix, strlen(prefix)) ? 0 : strlen(prefix);
    size_t line = strcspn(text, "\n");
    const char *end = strstr(text, advice);
    size_t n = end && end < text + line ? (size_t)(end - text) : line;
    enum err_code code = err_fail(e, ERR_INPUT, "jq cannot read the program: %.*s", (int)n, text);
    err_detail(e, text + line + strspn(text + line, "\n"));
    return code;
}

static void jq_filter_free(struct jq_filter *f)
{
    if (!f)
        return;
    jq_teardown(&f->jq);
    buf_free(&f->messages);
    free(f);
}

/* ERR_INPUT with jq's message if the program does not compile. */
static enum err_code jq_filter_new(struct jq_filter **out, const char *program, struct err *e)
{
    struct jq_filter *f = must_calloc(1, sizeof *f);
    f->jq = jq_init();
    if (!f->jq)
        out_of_memory(sizeof *f);
    jq_set_error_cb(f->jq, take_message, f);
    /* Search paths of `import`; jq aborts at an import if they are not set. */
    jq_set_attr(f->jq, jv_string("JQ_LIBRARY_PATH"), JV_ARRAY(jv_string("~/.jq")));
    jq_set_attr(f->jq, jv_string("PROGRAM_ORIGIN"), jv_string("."));
    if (jq_compile(f->jq, program)) {
        *out = f;
        return OK;
    }
    enum err_code code = refuse_program(f, e);
    jq_filter_free(f);
    return code;
}

/* Tells the end of the outputs from an error; `output` is not valid. */
static enum err_code end_of_outputs(jv output, struct err *e)
{
    if (!jv_invalid_has_msg(jv_copy(output))) {
        jv_free(output);
        return OK;
    }
    jv message = jv_invalid_get_msg(output);
    if (jv_get_kind(message) != JV_KIND_STRING) /* error({...}) */
        message = jv_dump_string(message, 0);
    enum err_code code = err_fail(e, ERR_INPUT, "jq: %s", jv_string_value(message));
    jv_free(message);
    return code;
}

/* *yielded is the first output that is neither false nor null, as JSON text in the arena, or NULL
 * if the program does not select the value. ERR_INPUT if the program raises an error. The value is
 * passed as JSON text, because jq has number and string types of its own. */
static enum err_code jq_filter_run(const char **yielded, struct arena *a, struct jq_filter *f,
                                   const json_t *value, struct err *e)
{
    *yielded = NULL;
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    size_t len = text ? strlen(text) : 0;
    if (!text || len > INT_MAX) {
        free(text);
        return err_fail(e, ERR_LIMIT, "the value is too large for jq");
    }
    jq_start(f->jq, jv_parse_sized(text, (int)len), 0);
    free(text);
    jv output = jq_next(f->jq);
    while (jv_get_kind(output) == JV_KIND_FALSE || jv_get_kind(output) == JV_KIND_NULL) {
        jv_free(output);
        output = jq_next(f->jq);
    }
    if (!jv_is_valid(output))
        return err_up(e, end_of_outputs(output, e));
    output = jv_dump_string(output, 0);
    *yielded = arena_strdup(a, jv_string_value(output));
    jv_free(output);
    return OK;
}

/* ---- asking ---- */

/* JSON and jq's values take up to some 40 times the bytes of a record. */
enum { MAX_PAYLOAD = 32 << 20, SHOWN = 60 };

struct query {
    struct cli *c;
    const struct kind_info *kind;
    const char *job, *node; /* NULL: any */
    const char *op;
    int64_t since_ns, until_ns;
    struct jq_filter *filter; /* NULL: all */
    uint64_t limit, found, refs, too_large;
    bool more;
    struct lineage *lineage; /* NULL unless --op, --since or --until is given */
    struct digest_map seen;  /* several nodes may hold the same record */
    struct arena scratch;
};

/* Parses local time: a day, or a day with a time. */
static enum err_code read_time(int64_t *ns, struct cli *c, const char *option, int64_t fallback,
                               struct err *e)
{
    static const char *const formats[] = {"%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"};
    const char *text = cli_value(c, option);
    *ns = fallback;
    if (!text)
        return OK;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct tm t = {0};
        const char *end = strptime(text, formats[i], &t);
        int day = t.tm_mday;
        t.tm_isdst = -1;
        time_t s = end && !*end ? mktime(&t) : -1;
        if (s == -1 || t.tm_mday != day) /* June 31 would become July 1 */
            continue;
        *ns = (int64_t)s * 1000000000;
        return OK;
    }
    return err_fail(e, ERR_INPUT,
                    "--%s takes a time like 2026-11-22 or 2026-11-22T14:30, not '%.40s'", option,
                    text);
}

static void print_match(struct query *q, const struct digest *id, const char *yielded)
{
    struct cli *c = q->c;
    char hex[DIGEST_HEX];
    const char *label = resolve_label(&q->scratch, c, id);
    digest_hex(hex, id);
    if (c->json) {
        reflect_line(c->out, "id:s kind:s label:s yields:o", hex, q->kind->name, label,
                     yielded ? json_loads(yielded, JSON_DECODE_ANY, NULL) : NULL);
        return;
    }
    bool plain = !yielded || !strcmp(yielded, "true");
    fprintf(c->out, "%.12s%s%s%s%.*s%s\n", hex, *label ? "  " : "", label, plain ? "" : "  ",
            plain ? 0 : SHOWN, plain ? "" : yielded,
            !plain && strlen(yielded) > SHOWN ? "..." : "");
}

static enum err_code made_in_time(bool *passes, struct query *q, const struct digest *id,
                                  struct err *e)
{
    const struct digest *made;
    uint32_t maker;
    *passes = true;
    if (!q->lineage)
        return OK;
    enum err_code code = lineage_maker(&maker, &made, q->lineage, id, e);
    const struct act *act = code || maker == NO_ACT ? NULL : &q->lineage->acts[maker];
    int64_t finished_ns = act ? act->finished_ns : 0;
    *passes = !code && (!q->op || (act && !strcmp(act->op, q->op))) && finished_ns >= q->since_ns &&
              finished_ns < q->until_ns;
    return err_up(e, code);
}

/* *yielded: the program's output; NULL without a program. */
static enum err_code run_program(bool *selects, const char **yielded, struct query *q,
                                 const struct digest *id, struct err *e)
{
    struct record r;
    ProtobufCMessage *m;
    char hex[DIGEST_HEX];
    *yielded = NULL;
    *selects = !q->filter;
    if (!q->filter)
        return OK;
    enum err_code code = store_get(&r, q->c->store, id, &q->scratch, e);
    if (code)
        return err_up(e, code);
    digest_hex(hex, id);
    if (r.payload.len > MAX_PAYLOAD) {
        q->too_large++;
        fprintf(q->c->narration, "eqloom: %.12s is skipped: %.0f MB are too large for jq\n", hex,
                (double)r.payload.len / 1e6);
        return OK;
    }
    if ((code = canonical_unpack(&m, &q->scratch, q->kind->descriptor, r.payload, e)))
        return err_up(e, code);
    json_t *record =
        reflect_record(id, &r, m, cli_flag(q->c, "latex") ? REFLECT_LATEX : REFLECT_INFIX);
    code = jq_filter_run(yielded, &q->scratch, q->filter, record, e);
    json_decref(record);
    if (code == ERR_INPUT)
        err_hint(e, "the record is %.12s: 'eqloom show %.12s --json' prints the program's input",
                 hex, hex);
    *selects = *yielded != NULL;
    return err_up(e, code);
}

static enum err_code ask_record(struct query *q, const struct digest *id, struct err *e)
{
    bool added, passes;
    const char *yielded = NULL;
    if (q->more)
        return OK;
    digest_map_put(&q->seen, id, 1, &added);
    if (!added)
        return OK;
    enum err_code code = made_in_time(&passes, q, id, e);
    if (!code && passes)
        code = run_program(&passes, &yielded, q, id, e);
    if (!code && passes && q->found == q->limit) {
        q->more = true;
    } else if (!code && passes) {
        print_match(q, id, yielded);
        q->found++;
    }
    arena_reset(&q->scratch);
    return err_up(e, code);
}

static enum err_code take_record(void *arg, const struct digest *id, enum record_kind kind,
                                 uint64_t stored, struct err *e)
{
    struct query *q = arg;
    return kind == q->kind->kind ? err_up(e, ask_record(q, id, e)) : OK;
}

/* ---- what nodes hold ---- */

/* Whether the ref "job/node", "job/node.role" or "job/node@variant" matches --job and --node. */
static bool matches_node(const struct query *q, const char *ref)
{
    const char *slash = strchr(ref, '/');
    if (!slash)
        return false;
    size_t n = (size_t)(slash - ref);
    if (q->job && (strlen(q->job) != n || strncmp(q->job, ref, n)))
        return false;
    if (!q->node || job_name_fits(slash + 1, q->node))
        return true;
    const char *role = strrchr(slash, '.');
    char node[512];
    if (!role || role[1 + strspn(role + 1, "abcdefghijklmnopqrstuvwxyz-")])
        return false;
    snprintf(node, sizeof node, "%.*s", (int)(role - slash - 1), slash + 1);
    return job_name_fits(node, q->node);
}

static enum err_code ask_collection(struct query *q, const struct digest *id, struct err *e)
{
    struct collection_head all;
    struct arena a = {0};
    enum err_code code = collection_read(&all, q->c->store, id, UINT64_MAX, &a, e);
    for (size_t i = 0; !code && all.element == q->kind->kind && i < all.n; i++)
        code = ask_record(q, &all.ids[i], e);
    arena_free(&a);
    return err_up(e, code);
}

static enum err_code take_ref(void *arg, const char *name, const struct digest *id, struct err *e)
{
    struct query *q = arg;
    struct record r;
    if (!matches_node(q, name))
        return OK;
    q->refs++;
    enum err_code code = store_get(&r, q->c->store, id, &q->scratch, e);
    arena_reset(&q->scratch);
    if (code == ERR_NOTFOUND)
        return OK; /* removed: the next run makes it again */
    if (!code && r.kind == q->kind->kind)
        code = ask_record(q, id, e);
    else if (!code && r.kind == KIND_COLLECTION)
        code = ask_collection(q, id, e);
    return err_up(e, code);
}

static enum err_code query(struct query *q, struct err *e)
{
    bool by_name = q->job || q->node;
    enum err_code code = by_name ? store_each_ref(q->c->store, "", take_ref, q, e)
                                 : store_each_record(q->c->store, take_record, q, e);
    if (code)
        return err_up(e, code);
    if (by_name && !q->refs) {
        code = err_fail(e, ERR_INPUT, "no node is called %.100s/%.100s", q->job ? q->job : "*",
                        q->node ? q->node : "*");
        err_hint(e, "'eqloom ls' lists the nodes of jobs");
        return code;
    }
    if (q->more)
        fputs("... and more (--limit)\n", q->c->narration);
    else if (!q->found)
        fprintf(q->c->narration, "no %s was found\n", q->kind->name);
    return OK;
}

static enum err_code find_kind(const struct kind_info **out, const char *name, struct err *e)
{
    const char *names[KIND_END];
    size_t n = 0;
    struct buf list = {0};
    *out = kind_by_name(name);
    if (*out)
        return OK;
    for (int k = KIND_NONE + 1; k < KIND_END; k++)
        if (kind_info(k)) {
            names[n] = kind_info(k)->name;
            buf_printf(&list, "%s%s", n ? ", " : "kinds are ", names[n]);
            n++;
        }
    enum err_code code = err_fail(e, ERR_INPUT, "there is no kind '%.60s'", name);
    err_hint(e, "%s", list.data);
    buf_free(&list);
    return err_suggest(code, name, names, n, e);
}

static enum err_code read_options(struct query *q, struct err *e)
{
    struct cli *c = q->c;
    const struct op *op;
    enum err_code code = find_kind(&q->kind, c->arguments[0], e);
    q->job = cli_value(c, "job");
    q->node = cli_value(c, "node");
    q->op = cli_value(c, "op");
    if (!code && q->op)
        code = find_op(&op, q->op, e);
    if (!code)
        code = read_time(&q->since_ns, c, "since", INT64_MIN, e);
    if (!code)
        code = read_time(&q->until_ns, c, "until", INT64_MAX, e);
    if (!code)
        code = cli_number(&q->limit, c, "limit", UINT64_MAX, 1, UINT64_MAX, e);
    if (!code && c->n_arguments > 1)
        code = jq_filter_new(&q->filter, c->arguments[1], e);
    return err_up(e, code);
}

enum err_code cli_query(int *status, struct cli *c, struct err *e)
{
    struct query q = {.c = c};
    enum err_code code = read_options(&q, e);
    if (!code && (q.op || cli_flag(c, "since") || cli_flag(c, "until")))
        code = lineage_open(&q.lineage, c, e);
    if (!code)
        code = query(&q, e);
    if (q.too_large)
        *status = CLI_FAILED;
    arena_free(&q.scratch);
    digest_map_free(&q.seen);
    jq_filter_free(q.filter);
    lineage_close(q.lineage);
    return err_up(e, code);
}
