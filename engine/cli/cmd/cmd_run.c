/* eqloom run: the job, its exports, and the tables of reports that nothing else reads. */
#include "engine/cli/console/cli.h"

#include "base/os.h"
#include "checkpoint.pb-c.h"
#include "engine/cli/cmd/cmd_job.h"
#include "engine/cli/console/text_table.h"
#include "engine/cli/records/place.h"
#include "engine/cli/records/runs.h"
#include "report.pb-c.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { MAX_FILE = 1 << 30 };

/* A signal handler can reach nothing else. Two signals may come at once, to a thread each. */
static volatile int signals_received;

/* The run ends by itself within a second, or at once after a second signal; where something else
 * is in its way (a disk that takes long to sync), the process ends without asking. Nothing that was
 * committed is lost by that. */
enum { PATIENCE_S = 20, NO_PATIENCE_S = 1 };

static void end_now(int number)
{
    if (write(STDERR_FILENO, "\n", 1)) /* progress may stand there */
        _exit(CLI_INTERRUPTED);
    _exit(CLI_INTERRUPTED);
}

static void on_signal(int number)
{
    int n = __atomic_add_fetch(&signals_received, 1, __ATOMIC_RELAXED);
    if (n > 2)
        end_now(number);
    alarm(n > 1 ? NO_PATIENCE_S : PATIENCE_S);
}

/* Nobody reads any more (`eqloom run --json JOB | head`): the same as one Ctrl-C, however often it
 * comes. */
static void on_closed_pipe(int number)
{
    int none = 0;
    __atomic_compare_exchange_n(&signals_received, &none, 1, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
}

static void catch_signals(void)
{
    signals_received = 0;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    action.sa_handler = end_now;
    sigaction(SIGALRM, &action, NULL);
    action.sa_handler = on_closed_pipe;
    sigaction(SIGPIPE, &action, NULL);
}

static enum err_code read_options(struct run_options *out, struct cli *c, struct err *e)
{
    uint64_t threads;
    *out = (struct run_options){
        .keep_going = !cli_flag(c, "fail-fast"),
        .check = cli_flag(c, "check"),
        .json = c->json,
        .events = c->json ? c->out : c->narration,
        .terminal = !c->json && os_is_terminal(fileno(c->narration)),
        .color = c->color,
        .interrupted = &signals_received,
        .leave = true,
    };
    if (cli_flag(c, "fail-fast") && cli_flag(c, "keep-going"))
        return err_fail(e, ERR_INPUT, "--keep-going and --fail-fast exclude each other");
    if (err_up(e, cli_number(&threads, c, "jobs", 0, 1, 4096, e)) ||
        err_up(e, cli_bytes(&out->memory, c, "memory", 0, e)))
        return ERR_INPUT;
    out->threads = (unsigned)threads;
    return OK;
}

/* ---- exports ---- */

static enum err_code file_bytes(struct span *out, struct arena *a, struct store *s,
                                const struct digest *id, struct err *e)
{
    ProtobufCMessage *m;
    enum err_code code = err_up(e, store_get_message(&m, s, id, KIND_FILE, a, e));
    if (code)
        return code;
    const Eqloom__File *file = (const Eqloom__File *)m;
    *out = span_of(file->data.data, file->data.len);
    if (!file->chunk_ids.len)
        return OK;
    size_t len = 0, n = file->chunk_ids.len / DIGEST_SIZE;
    struct span *parts = arena_array(a, struct span, n);
    for (size_t i = 0; i < n; i++) {
        struct digest chunk;
        memcpy(chunk.bytes, file->chunk_ids.data + i * DIGEST_SIZE, DIGEST_SIZE);
        if ((code = err_up(e, store_get_message(&m, s, &chunk, KIND_CHUNK, a, e))))
            return code;
        parts[i] = span_of(((Eqloom__Chunk *)m)->data.data, ((Eqloom__Chunk *)m)->data.len);
        len += parts[i].len;
    }
    uint8_t *bytes = arena_try_alloc(a, len + 1, 1);
    if (!bytes)
        return err_fail(e, ERR_NOMEM, "no memory for a file of %zu bytes", len);
    *out = span_of(bytes, len);
    for (size_t i = 0; i < n; bytes += parts[i++].len)
        memcpy(bytes, parts[i].data, parts[i].len);
    return OK;
}

static bool is_same_file(struct arena *a, const char *path, struct span bytes)
{
    struct span old;
    return !os_read_file(&old, a, path, MAX_FILE, NULL) && span_equal(old, bytes);
}

static enum err_code write_export(struct cli *c, struct store *s, const char *dir,
                                  const struct job_export *x, const struct digest *id,
                                  struct err *e)
{
    struct arena a = {0};
    struct span bytes = {0};
    char *path = os_join(&a, dir, x->path);
    enum err_code code = err_up(e, file_bytes(&bytes, &a, s, id, e));
    if (!code && !is_same_file(&a, path, bytes)) {
        code = err_up(e, os_mkdirs(os_dirname(&a, path), e));
        if (!code)
            code = err_up(e, os_write_file(path, bytes.data, bytes.len, e));
    }
    if (!code && !c->json)
        fprintf(c->out, "%s\n", place_shown(c->arena, path));
    arena_free(&a);
    return code;
}

static const struct digest *output_of(const struct run_result *r, struct node_source from)
{
    const struct node_result *n = &r->nodes[from.node];
    bool made = n->state != NODE_FAILED && n->state != NODE_SKIPPED && n->state != NODE_WAITING;
    if (!made || !n->outputs || digest_is_zero(&n->outputs[from.output]))
        return NULL;
    return &n->outputs[from.output];
}

static enum err_code write_exports(struct cli *c, const struct job *job, struct store *s,
                                   const char *store_path, const struct run_result *r,
                                   struct err *e)
{
    char *real;
    if (os_realpath(&real, c->arena, store_path, NULL))
        real = arena_strdup(c->arena, store_path);
    char *dir =
        os_join(c->arena, os_dirname(c->arena, real), arena_printf(c->arena, "out/%s", job->name));
    for (size_t i = 0; i < job->n_exports; i++) {
        const struct digest *id = output_of(r, job->exports[i].target);
        enum err_code code = id ? err_up(e, write_export(c, s, dir, &job->exports[i], id, e)) : OK;
        if (code)
            return code;
    }
    return OK;
}

/* ---- reports ---- */

static bool is_read(const struct job *job, uint32_t node)
{
    for (size_t i = 0; i < job->n_nodes; i++)
        for (size_t k = 0; job->nodes[i].op->inputs && job->nodes[i].op->inputs[k].role; k++)
            for (size_t n = 0; n < job->nodes[i].inputs[k].n_sources; n++)
                if (job->nodes[i].inputs[k].sources[n].node == node)
                    return true;
    return false;
}

/* The output of a report that nobody else looks at; NULL if it is none. */
static const struct digest *final_report(const struct job *job, const struct run_result *r,
                                         uint32_t node)
{
    const struct op_port *first = &job->nodes[node].op->outputs[0];
    if (!first->role || first->kind != KIND_REPORT || first->cardinality != OP_ONE ||
        is_read(job, node))
        return NULL;
    return output_of(r, (struct node_source){node, 0});
}

enum { REPORT_ROWS = 10 };

static enum err_code print_reports(struct cli *c, const struct job *job, struct store *s,
                                   const struct run_result *r, struct err *e)
{
    size_t n = 0;
    for (uint32_t i = 0; i < job->n_nodes; i++)
        n += final_report(job, r, i) != NULL;
    for (uint32_t i = 0; i < job->n_nodes; i++) {
        const struct digest *id = final_report(job, r, i);
        if (!id)
            continue;
        ProtobufCMessage *m;
        enum err_code code = err_up(e, store_get_message(&m, s, id, KIND_REPORT, c->arena, e));
        if (code)
            return code;
        if (n > 1)
            fprintf(c->out, "== %s\n", job->nodes[i].name);
        table_print_report(
            c->out, c->arena, (const Eqloom__Report *)m, REPORT_ROWS,
            arena_printf(c->arena, "eqloom show %s/%s", job->name, job->nodes[i].name));
        fputc('\n', c->out);
    }
    return OK;
}

enum err_code cli_run(int *status, struct cli *c, struct err *e)
{
    if (cli_flag(c, "dry-run"))
        return err_up(e, cli_plan(status, c, e));
    struct job *job;
    struct store *s = NULL;
    struct run_options options;
    struct run_result result = {0};
    char *path;
    enum err_code code = err_up(e, read_options(&options, c, e));
    if (!code)
        code = err_up(e, cmd_load_job(&job, c, e));
    if (!code)
        code = err_up(e, cmd_targets(&options.targets, &options.n_targets, c, job, e));
    if (!code)
        code = err_up(e, place_open(&s, &path, c, c->arguments[0], PLACE_CREATE, e));
    if (code)
        return code;
    catch_signals();
    code = err_up(e, job_run(&result, c->arena, job, s, &options, e));
    if (result.left) {
        if (code)
            fprintf(stderr, "eqloom: %s\n", e->message);
        fflush(c->out);
        _exit(CLI_INTERRUPTED);
    }
    if (code)
        goto out;
    *status = result.interrupted ? CLI_INTERRUPTED : result.failed ? CLI_FAILED : CLI_DONE;
    if (result.interrupted)
        goto out;
    if (!c->json)
        code = err_up(e, print_reports(c, job, s, &result, e));
    if (!code)
        code = err_up(e, write_exports(c, job, s, path, &result, e));
out:
    store_close(s);
    return code;
}
