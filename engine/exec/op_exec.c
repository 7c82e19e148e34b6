/* The op `exec`: a program of the user's as a node. It runs in a fresh directory that contains its
 * files and, below in/, its inputs in the formats of `eqloom export`; its outputs are the files
 * that it writes below out/. The key holds the names and contents of its files, the inputs, the
 * command and the declared parameters. */
#include "base/buf.h"
#include "base/io/out_file.h"
#include "base/os.h"
#include "base/process/process.h"
#include "base/process/scratch.h"
#include "engine/cache/source_files.h"
#include "engine/ctx/ctx_internal.h"
#include "engine/exec/exec_output.h"
#include "engine/export/export.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_MOST = 2000 };

static const struct op_param params[] = {
    {"command", OP_STRINGS, NULL,
     .doc = "The program and its arguments, of any text; no shell interprets them.",
     .any_text = true},
    {"argument", OP_STRING, "",
     .doc = "One more argument, unless empty; meant as the axis of a matrix."},
    {"as", OP_STRINGS, "",
     .doc = "A file name below in/ for each input; its suffix selects the format, as in 'eqloom "
            "export'."},
    {"version", OP_STRING, "",
     .doc = "Other things that the result depends on, as text: versions of the program and "
            "libraries."},
    {"environment", OP_STRINGS, "",
     .doc = "Environment variables, KEY=VALUE, besides HOME, LANG, PATH and TMPDIR; the user's are "
            "not passed on.",
     .any_text = true},
    {"main", OP_STRING, "", .doc = "The file below out/ that becomes the output `file`."},
    {"time_limit", OP_INT, "0", NULL, 0, 1e9,
     "Seconds after which the program is stopped and the node fails; 0: no limit.",
     .unkeyed = true},
    {"memory", OP_INT, "0", NULL, 0, 1e9,
     "MiB of memory that the program may reserve; 0: no limit.", .unkeyed = true},
    {NULL},
};

/* Returns the names under which the program finds its files. */
static const char *units(struct op_ctx *ctx)
{
    struct buf names = {0};
    for (size_t i = 0; i < ctx->node->n_files; i++)
        buf_printf(&names, "%s%s", i ? ", " : "", ctx->node->file_names[i]);
    return ctx->node->n_files ? buf_text(&names, op_arena(ctx)) : NULL;
}

/* ---- checks when the job is loaded ---- */

/* Accepts "a.jsonl" and "parts/a.jsonl": paths below the directory without hidden components. */
static bool is_inner_path(const char *path)
{
    for (const char *p = path;; p += strcspn(p, "/") + 1) {
        size_t n = strcspn(p, "/");
        if (n == 0 || n > NAME_MAX || *p == '.' || strlen(path) > PATH_MOST)
            return false;
        if (!p[n])
            return true;
    }
}

static enum err_code check(struct op_ctx *ctx, struct err *e)
{
    const char *const *names, *const *variables, *const *command;
    size_t n = op_strings(&names, ctx, "as"),
           n_variables = op_strings(&variables, ctx, "environment");
    size_t n_inputs = ctx->node->inputs[0].n_sources;
    if (!op_strings(&command, ctx, "command"))
        return err_fail(e, ERR_INPUT, "'command' is empty: name a program");
    if (!*command[0])
        return err_fail(e, ERR_INPUT, "'command' names no program");
    if (n != n_inputs)
        return err_fail(e, ERR_INPUT, "there are %zu inputs and %zu names for them in 'as'",
                        n_inputs, n);
    for (size_t i = 0; i < n; i++) {
        if (!is_inner_path(names[i]))
            return err_fail(e, ERR_INPUT, "'as': '%.200s' is not a valid path below in/", names[i]);
        for (size_t k = 0; k < i; k++)
            if (!strcmp(names[i], names[k]))
                return err_fail(e, ERR_INPUT, "'as': two inputs are called '%.200s'", names[i]);
    }
    for (size_t i = 0; i < n_variables; i++)
        if (!strchr(variables[i], '=') || variables[i][0] == '=')
            return err_fail(e, ERR_INPUT, "'environment' takes KEY=VALUE, not '%.100s'",
                            variables[i]);
    const char *main_file = op_string(ctx, "main");
    if (*main_file && !is_inner_path(main_file))
        return err_fail(e, ERR_INPUT, "'main': '%.200s' is not a valid path below out/", main_file);
    return OK;
}

/* ---- before the program ---- */

static enum err_code write_files(struct op_ctx *ctx, const char *dir, struct err *e)
{
    const struct node *node = ctx->node;
    struct arena *a = op_arena(ctx);
    struct source_files files;
    enum err_code code = source_scan(&files, a, node, ctx_store(ctx), NULL, e);
    if (!code)
        code = source_load(&files, a, e);
    for (size_t i = 0; !code && i < files.n; i++) {
        char *path = os_join(a, dir, node->file_names[i]);
        code = os_mkdirs(os_dirname(a, path), e);
        if (!code)
            code = out_file_write(path, files.files[i].text.text, files.files[i].text.len, e);
        if (!code && chmod(path, 0700))
            code = err_fail(e, ERR_IO, "cannot change the mode of %.200s", path);
    }
    return err_up(e, code);
}

static enum err_code write_input(struct op_ctx *ctx, const char *dir, const char *name, size_t i,
                                 struct err *e)
{
    struct arena *a = op_arena(ctx);
    struct store *s = ctx_store(ctx);
    struct digest id = op_input_id(ctx, "inputs", i);
    struct out_file file, index = {0};
    struct record record;
    enum err_code code = ctx_keep_loss(ctx, store_get(&record, s, &id, a, e), e);
    if (code)
        return err_up(e, code);
    const struct export_format *format = export_format_of(name, record.kind);
    if (!format)
        return err_fail(e, ERR_INPUT,
                        "'%.100s': the suffix must name a format: " EXPORT_FORMATS_TEXT, name);
    const char *ending = export_format_index(format);
    char *path = os_join(a, dir, arena_printf(a, "in/%s", name));
    code = os_mkdirs(os_dirname(a, path), e);
    if (!code)
        code = out_file_open(&file, a, path, e);
    if (code)
        return err_up(e, code);
    if (ending)
        code = out_file_open(&index, a, arena_printf(a, "%s.%s", path, ending), e);
    if (!code)
        code = ctx_keep_loss(ctx, export_record(file.f, index.f, s, &id, format, e), e);
    code = out_file_close(&index, code, e);
    code = out_file_close(&file, code, e);
    if (!code && record.kind == KIND_FILE && chmod(path, 0700))
        code = err_fail(e, ERR_IO, "cannot change the mode of %.200s", path);
    return err_up(e, code);
}

/* ---- the program ---- */

static bool is_cancelled(void *arg)
{
    return op_cancelled(arg);
}

static void on_line(void *arg, const char *line)
{
    op_progress(arg, 0, 0, line);
}

/* Variables of the job come first: if a name occurs twice, programs use the first. */
static const char *const *environment(struct op_ctx *ctx, const char *dir)
{
    struct arena *a = op_arena(ctx);
    const char *const *own;
    size_t n = op_strings(&own, ctx, "environment"), k = n;
    const char **env = arena_array(a, const char *, n + 6);
    if (n)
        memcpy(env, own, n * sizeof *env);
    env[k++] = arena_printf(a, "HOME=%s", dir);
    env[k++] = "LANG=C.UTF-8";
    env[k++] = "PATH=/usr/local/bin:/usr/bin:/bin";
    env[k++] = arena_printf(a, "TMPDIR=%s/tmp", dir);
    env[k++] = "PYTHONHASHSEED=0"; /* a reproducible order of Python's sets */
    return env;
}

/* Searches PATH of the program's environment. Returns NULL if the program is not found. */
static const char *find_program(struct arena *a, const char *name, const char *const *env)
{
    const char *path = "";
    if (strchr(name, '/'))
        return name;
    for (; *env; env++)
        if (!*path && strncmp(*env, "PATH=", 5) == 0)
            path = *env + 5;
    for (size_t n; *path; path += n + (path[n] == ':')) {
        n = strcspn(path, ":");
        const char *found = os_join(a, arena_strndup(a, path, n), name);
        if (n && access(found, X_OK) == 0)
            return found;
    }
    return NULL;
}

/* Appends the last whole lines of the program's output that fit, as valid text. */
static void add_output_tail(struct err *e, struct arena *a, const char *output)
{
    enum { MOST = 2800 };
    size_t n = strlen(output);
    const char *end = n > MOST ? strchr(output + n - MOST, '\n') : NULL;
    const char *text = exec_shown(a, end ? end + 1 : n > MOST ? output + n - MOST : output);
    if (*text)
        err_detail(e, text);
}

static enum err_code judge(struct arena *a, const char *name, const struct process_end *end,
                           struct err *e)
{
    enum err_code code;
    if (end->status == 0)
        return OK;
    if (end->status > 128)
        code = err_fail(e, ERR_FAILED, "%.200s was killed by signal %d (%s)", name,
                        end->status - 128, sigdescr_np(end->status - 128));
    else
        code = err_fail(e, ERR_FAILED, "%.200s ended with status %d", name, end->status);
    if (e)
        add_output_tail(e, a, end->errors);
    return code;
}

static enum err_code run_program(struct op_ctx *ctx, const char *dir, struct err *e)
{
    struct arena *a = op_arena(ctx);
    const char *const *command, *more = op_string(ctx, "argument"), *const * env;
    size_t n = op_strings(&command, ctx, "command");
    const char **argv = arena_array(a, const char *, n + 2);
    struct process_end end;
    env = environment(ctx, dir);
    memcpy(argv, command, n * sizeof *argv);
    argv[0] = find_program(a, command[0], env);
    if (!argv[0])
        return err_fail(e, ERR_INPUT, "there is no program '%.200s'", command[0]);
    if (*more)
        argv[n] = more;
    struct process p = {.argv = argv,
                        .env = env,
                        .dir = dir,
                        .in = -1,
                        .out_is_errors = true,
                        .tree = true,
                        .said = on_line,
                        .limit_bytes = EXEC_FILE_MOST,
                        .limit_memory = (uint64_t)op_int(ctx, "memory") << 20,
                        .limit_ms = (uint64_t)op_int(ctx, "time_limit") * 1000,
                        .cancelled = is_cancelled,
                        .arg = ctx};
    enum err_code code = process_run(&end, a, &p, e);
    return err_up(e, code ? code : judge(a, command[0], &end, e));
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    const char *const *names;
    size_t n = op_strings(&names, ctx, "as");
    struct scratch place;
    enum err_code code = scratch_open(&place, "exec", e);
    if (code)
        return err_up(e, code);
    const char *dir = place.path;
    code = write_files(ctx, dir, e);
    for (const char *const *sub = (const char *const[]){"in", "out", "tmp", NULL}; !code && *sub;
         sub++)
        code = os_mkdirs(os_join(a, dir, *sub), e);
    for (size_t i = 0; !code && i < n; i++)
        code = write_input(ctx, dir, names[i], i, e);
    if (!code)
        code = run_program(ctx, dir, e);
    if (!code)
        code = exec_take_output(ctx, dir, e);
    scratch_close(&place);
    return err_up(e, code);
}

const struct op op_exec = {
    .name = "exec",
    .version = 2,
    .node = OP_EXEC,
    .doc = "Runs a program: a Python script, a training in PyTorch. It starts in a fresh directory "
           "with the node's files, its inputs below in/, and an empty out/ for its outputs; see "
           "docs/job-file.md. It runs again when its files, inputs or parameters change.",
    .params = params,
    .inputs = OP_PORTS({"inputs", KIND_NONE, OP_LIST, true, "Records or collections of any kind."}),
    .outputs = OP_PORTS({"files", KIND_FILE, OP_COLLECTION, false,
                         "All files that the program wrote below out/, by name. Sources read them "
                         "with `from: NODE`."},
                        {"file", KIND_FILE, OP_ONE, true, "The file that `main` names."}),
    .check = check,
    .units = units,
    .run = run,
};
