/* eqloom run: runs the job, writes its exports, and prints the tables of reports that no node
 * reads. */
#include "engine/cli/cmd/cmd_job.h"

#include "base/io/out_file.h"
#include "base/io/terminal.h"
#include "base/os.h"
#include "base/text/html.h"
#include "engine/cli/console/text_table.h"
#include "engine/cli/records/place.h"
#include "engine/export/export.h"
#include "engine/remote/remote.h"
#include "report.pb-c.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A signal handler can access only static data. Two threads may each receive a signal at once. */
static volatile int signals_received;

/* The run ends within a second, or at once after a second signal. If it is blocked longer than this
 * (by a slow disk sync), the process exits; what was committed is kept. */
enum { PATIENCE_S = 20, NO_PATIENCE_S = 1 };

static void end_now(int number)
{
    if (write(STDERR_FILENO, "\n", 1)) /* the line may show progress */
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

/* The reader has closed the pipe (`eqloom run --json JOB | head`): counts as one Ctrl-C, however
 * often the signal is raised. */
static void on_closed_pipe(int number)
{
    int none = 0;
    __atomic_compare_exchange_n(&signals_received, &none, 1, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
}

void cmd_catch_signals(void)
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

enum err_code cmd_run_options(struct run_options *out, struct cli *c, struct err *e)
{
    uint64_t threads;
    *out = (struct run_options){
        .keep_going = !cli_flag(c, "fail-fast"),
        .check = cli_flag(c, "check"),
        .json = c->json,
        .events = c->json ? c->out : c->narration,
        .terminal = !c->json && terminal_is(c->narration),
        .color = c->color,
        .interrupted = &signals_received,
        .leave = true,
        .allow_outside = cli_flag(c, "allow-outside"),
    };
    out->n_sets = cli_values(&out->sets, c, "set");
    if (cli_flag(c, "fail-fast") && cli_flag(c, "keep-going"))
        return err_fail(e, ERR_INPUT, "--keep-going and --fail-fast exclude each other");
    enum err_code code = cli_number(&threads, c, "jobs", 0, 1, 4096, e);
    out->threads = (unsigned)threads;
    return err_up(e, code);
}

/* Precedence: the option, the environment, the job. */
static void find_remote(struct run_options *options, struct cli *c, const struct job *job)
{
    const char *address = cli_value(c, "remote");
    if (!address)
        address = getenv("EQLOOM_REMOTE");
    if ((!address || !*address) && job->remote)
        address =
            strstr(job->remote, "://") ? job->remote : os_join(c->arena, job->dir, job->remote);
    if (!address || !*address || !strcmp(address, "none"))
        return;
    struct remote_options *remote = arena_new(c->arena, struct remote_options);
    *remote = (struct remote_options){.address = address, .scratch = c->store_path};
    options->remote = remote;
}

/* Precedence: the option, the job. */
static enum err_code find_cluster(struct run_options *options, struct cli *c, const struct job *job,
                                  struct err *e)
{
    const char *on = cli_value(c, "on");
    if (on && strcmp(on, "slurm") && strcmp(on, "here"))
        return err_fail(e, ERR_INPUT, "--on takes slurm or here, not '%.40s'", on);
    if (on ? !strcmp(on, "slurm") : job->executor == EXECUTOR_SLURM)
        options->slurm_dir = os_join(c->arena, c->store_path, "slurm");
    return OK;
}

/* ---- exports ---- */

/* A symbolic link in the path would lead the export out of the project. */
static enum err_code check_no_link(struct arena *a, const char *path, const char *base,
                                   struct err *e)
{
    struct stat st;
    for (size_t n = strlen(base) + 1; path[n]; n++) {
        n += strcspn(path + n, "/");
        const char *part = arena_strndup(a, path, n);
        if (!lstat(part, &st) && S_ISLNK(st.st_mode))
            return err_fail(e, ERR_INPUT, "%s is a link: exports are written below %s only", part,
                            base);
        if (!path[n])
            break;
    }
    return OK;
}

/* Returns the modification time in ns of the newest source file of the node and the nodes above it;
 * 0 if there is none. */
static int64_t newest_file(struct arena *a, const struct job *job, uint32_t node)
{
    const bool *above = cmd_nodes_above(a, job, node);
    int64_t newest = 0;
    for (size_t i = 0; i <= node; i++)
        for (size_t f = 0; above[i] && f < job->nodes[i].n_files; f++) {
            struct os_stat st;
            if (!os_stat(&st, job->nodes[i].files[f], NULL) && st.modified_ns > newest)
                newest = st.modified_ns;
        }
    return newest;
}

static void put_job(struct buf *out, struct arena *a, const struct job *job, uint32_t node)
{
    int64_t newest = newest_file(a, job, node);
    time_t seconds = (time_t)(newest / 1000000000);
    struct tm day;
    char text[40];
    buf_puts(out, "<p id=\"job\">Job <b>");
    html_text(out, job->name);
    buf_puts(out, "</b>");
    for (size_t i = 0; i < job->n_params; i++) {
        buf_puts(out, i ? ", " : ": ");
        html_text(out, job->params[i].name);
        buf_putc(out, ' ');
        html_count(out, job->params[i].text);
    }
    if (newest && gmtime_r(&seconds, &day) && strftime(text, sizeof text, "%Y-%m-%d", &day))
        buf_printf(out, "; inputs of <time>%s</time>", text);
    buf_puts(out, "</p>");
}

/* A page names its job. Since records do not depend on names or times, the stored page has a
 * placeholder, which is filled in when the page is exported. */
static enum err_code write_page(FILE *to, struct cli *c, const struct job *job, uint32_t node,
                                const struct digest *id, struct err *e)
{
    static const char place[] = "<p id=\"job\"></p>";
    char *page = NULL;
    size_t len = 0;
    struct buf mark = {0};
    FILE *memory = open_memstream(&page, &len);
    if (!memory)
        return err_fail(e, ERR_NOMEM, "no memory for a page");
    enum err_code code = export_record(memory, NULL, c->store, id, export_format_named("raw"), e);
    if (fclose(memory) && !code)
        code = err_fail(e, ERR_NOMEM, "no memory for a page");
    const char *at = code ? NULL : memmem(page, len, place, strlen(place));
    size_t before = at ? (size_t)(at - page) : len, after = at ? before + strlen(place) : len;
    if (at)
        put_job(&mark, c->arena, job, node);
    if (!code) {
        fwrite(page, 1, before, to);
        fwrite(mark.data, 1, mark.len, to);
        fwrite(page + after, 1, len - after, to);
    }
    free(page);
    buf_free(&mark);
    return err_up(e, code);
}

/* Does not replace a file whose contents would stay the same, so that it keeps its time. */
static enum err_code write_export(struct cli *c, const struct job *job,
                                  const struct job_export *export, const char *path,
                                  const char *base, const struct digest *id, struct err *e)
{
    const char *dot = strrchr(path, '.');
    struct out_file file = {0};
    enum err_code code = check_no_link(c->arena, path, base, e);
    if (!code)
        code = os_mkdirs(os_dirname(c->arena, path), e);
    if (!code)
        code = out_file_open(&file, c->arena, path, e);
    if (code)
        return err_up(e, code);
    code = dot && !strcmp(dot, ".html")
               ? write_page(file.f, c, job, export->target.node, id, e)
               : export_record(file.f, NULL, c->store, id, export_format_named("raw"), e);
    bool same = !code && out_file_is_same(&file);
    code = out_file_close(&file, same ? ERR_CANCELLED : code, e);
    if (code && !same)
        return err_up(e, code);
    if (!c->json)
        fprintf(c->out, "%s\n", place_shown(c->arena, path));
    return OK;
}

static const struct digest *output_of(const struct run_result *r, struct node_source from)
{
    const struct node_result *n = &r->nodes[from.node];
    bool made = n->state != NODE_FAILED && n->state != NODE_SKIPPED && n->state != NODE_WAITING;
    if (!made || !n->outputs || digest_is_zero(&n->outputs[from.output]))
        return NULL;
    return &n->outputs[from.output];
}

/* Where the user sees the store: beside a link to it, not where it leads. */
static char *folder_of_store(struct cli *c)
{
    struct stat st;
    char *folder = os_dirname(c->arena, c->store_path), *real;
    if (!lstat(c->store_path, &st) && S_ISLNK(st.st_mode))
        return os_realpath(&real, c->arena, folder, NULL) ? folder : real;
    return os_realpath(&real, c->arena, c->store_path, NULL) ? folder : os_dirname(c->arena, real);
}

static enum err_code write_exports(struct cli *c, const struct job *job, const struct run_result *r,
                                   struct err *e)
{
    enum err_code code = OK;
    char *base = folder_of_store(c);
    char *dir = os_join(c->arena, base, arena_printf(c->arena, "out/%s", job->name));
    for (size_t i = 0; !code && i < job->n_exports; i++) {
        const struct digest *id = output_of(r, job->exports[i].target);
        if (id)
            code = write_export(c, job, &job->exports[i],
                                os_join(c->arena, dir, job->exports[i].path), base, id, e);
    }
    return err_up(e, code);
}

/* ---- reports ---- */

static bool is_target(const struct run_options *options, uint32_t node)
{
    for (size_t i = 0; i < options->n_targets; i++)
        if (options->targets[i] == node)
            return true;
    return false;
}

/* Whether a node of this run reads it. */
static bool is_read(struct arena *a, const struct job *job, const struct run_result *r,
                    uint32_t node)
{
    for (uint32_t i = node + 1; i < job->n_nodes; i++)
        if (r->nodes[i].outputs && cmd_nodes_above(a, job, i)[node])
            return true;
    return false;
}

/* Returns the node's output if it is a report that is a target or that no other node reads; else
 * NULL. */
static const struct digest *final_report(struct arena *a, const struct job *job,
                                         const struct run_options *options,
                                         const struct run_result *r, uint32_t node)
{
    const struct op_port *first = &job->nodes[node].op->outputs[0];
    if (!first->role || first->kind != KIND_REPORT || first->cardinality != OP_ONE ||
        (!is_target(options, node) && is_read(a, job, r, node)))
        return NULL;
    return output_of(r, (struct node_source){node, 0});
}

enum { REPORT_ROWS = 10, ASKED_ROWS = 20 };

static enum err_code print_reports(struct cli *c, const struct job *job,
                                   const struct run_options *options, const struct run_result *r,
                                   struct err *e)
{
    size_t n = 0;
    for (uint32_t i = 0; i < job->n_nodes; i++)
        n += final_report(c->arena, job, options, r, i) != NULL;
    for (uint32_t i = 0; i < job->n_nodes; i++) {
        const struct digest *id = final_report(c->arena, job, options, r, i);
        const Eqloom__Report *m;
        if (!id)
            continue;
        enum err_code code = store_get_message(&m, c->store, id, KIND_REPORT, c->arena, e);
        if (code)
            return err_up(e, code);
        if (n > 1)
            fprintf(c->out, "== %s\n", job->nodes[i].name);
        table_print_report(
            c->out, c->arena, m, is_target(options, i) ? ASKED_ROWS : REPORT_ROWS,
            arena_printf(c->arena, "eqloom show %s/%s", job->name, job->nodes[i].name));
        fputc('\n', c->out);
    }
    return OK;
}

enum err_code cli_run(int *status, struct cli *c, struct err *e)
{
    struct job *job;
    struct run_options options;
    struct run_result result = {0};
    if (cli_flag(c, "dry-run"))
        return err_up(e, cli_plan(status, c, e));
    enum err_code code = cmd_run_options(&options, c, e);
    if (!code)
        code = cmd_load_job(&job, c, e);
    if (!code)
        code = cmd_targets(&options.targets, &options.n_targets, c, job, e);
    if (!code)
        code = place_open(c, c->arguments[0], CLI_STORE_CREATE, e);
    if (code)
        return err_up(e, code);
    find_remote(&options, c, job);
    if ((code = find_cluster(&options, c, job, e)))
        return err_up(e, code);
    cmd_catch_signals();
    code = job_run(&result, c->arena, job, c->store, &options, e);
    if (result.left) {
        if (code)
            fprintf(c->narration, "eqloom: %s\n", e->message);
        fflush(c->narration);
        fflush(c->out);
        _exit(CLI_INTERRUPTED);
    }
    *status = result.interrupted ? CLI_INTERRUPTED : result.failed ? CLI_FAILED : CLI_DONE;
    if (code || result.interrupted)
        return err_up(e, code);
    if (!c->json)
        code = print_reports(c, job, &options, &result, e);
    if (!code)
        code = write_exports(c, job, &result, e);
    return err_up(e, code);
}
