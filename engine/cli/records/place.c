/* Finding and opening the store; see place.h. */
#include "engine/cli/records/place.h"

#include "base/os.h"

#include <stdlib.h>
#include <string.h>

static const char store_name[] = ".eqloom";

static char *current_dir(struct arena *a)
{
    char *here = NULL;
    return os_realpath(&here, a, ".", NULL) ? arena_strdup(a, "/") : here;
}

static char *start_dir(struct cli *c, const char *job)
{
    char *dir;
    if (!job || os_realpath(&dir, c->arena, os_dirname(c->arena, job), NULL))
        return current_dir(c->arena);
    return dir;
}

char *place_find_store(struct cli *c, const char *job)
{
    if (c->store_named)
        return arena_strdup(c->arena, c->store_named);
    for (char *dir = start_dir(c, job);; dir = os_dirname(c->arena, dir)) {
        char *path = os_join(c->arena, dir, store_name);
        struct os_stat st;
        if (!os_stat(&st, path, NULL) && st.is_dir) {
            c->store_foreign = !st.is_mine;
            return path;
        }
        if (!strcmp(dir, "/"))
            return NULL;
    }
}

static bool is_below(const char *path, const char *dir)
{
    size_t n = strcmp(dir, "/") ? strlen(dir) : 0;
    return !strncmp(path, dir, n) && (path[n] == '/' || !path[n]);
}

char *place_new_store(struct cli *c, const char *job)
{
    char *dir = start_dir(c, job), *here = current_dir(c->arena);
    return os_join(c->arena, is_below(dir, here) ? here : dir, store_name);
}

static enum err_code wait_seconds(double *out, const struct cli *c, struct err *e)
{
    const char *text = cli_value(c, "wait");
    *out = 0;
    if (!text)
        return OK;
    char *end;
    *out = *text ? strtod(text, &end) : -1;
    if (*text && (*end || end == text || !(*out >= 0)))
        return err_fail(e, ERR_INPUT, "--wait takes seconds, not '%.40s'", text);
    return OK;
}

/* Reports which process it waits for, or how to wait. The wait includes the first attempt. */
static enum err_code open_store(struct cli *c, struct store_options *options, struct err *e)
{
    double wait_s = options->wait_s;
    struct err busy = {0};
    uint64_t start = os_monotonic_ns();
    options->wait_s = 0;
    enum err_code code = store_open(&c->store, options, &busy);
    double waited_s = (double)(os_monotonic_ns() - start) * 1e-9;
    if (code == ERR_BUSY && (wait_s < 0 || wait_s > waited_s)) {
        fprintf(c->narration, "eqloom: %s; waiting\n", busy.message);
        fflush(c->narration);
        options->wait_s = wait_s < 0 ? wait_s : wait_s - waited_s;
        return err_up(e, store_open(&c->store, options, e));
    }
    if (code == ERR_BUSY && wait_s == 0)
        err_hint(&busy, "--wait waits until it is free; commands that only read need not wait");
    if (e)
        *e = busy;
    return err_up(e, code);
}

enum err_code place_open(struct cli *c, const char *job, enum cli_store use, struct err *e)
{
    if (c->store)
        return OK;
    struct store_options options = {
        .read_only = use == CLI_STORE_READ,
        .create = use == CLI_STORE_CREATE,
        .durable = cli_flag(c, "durable"),
        .command = c->line,
    };
    enum err_code code = wait_seconds(&options.wait_s, c, e);
    if (code)
        return err_up(e, code);
    c->store_path = place_find_store(c, job);
    if (!c->store_path && use == CLI_STORE_CREATE)
        c->store_path = place_new_store(c, job);
    if (!c->store_path) {
        code = err_fail(e, ERR_NOTFOUND, "there is no store here or above");
        err_hint(e, "'eqloom run JOB' makes one; --store DIR names one");
        return code;
    }
    if (c->store_foreign) {
        code = err_fail(e, ERR_INPUT, "%s belongs to another user", c->store_path);
        err_hint(e, "'--store %s' uses it anyway", c->store_path);
        return code;
    }
    options.path = c->store_path;
    code = open_store(c, &options, e);
    if (code)
        c->store = NULL;
    else if (store_notice(c->store))
        fprintf(c->narration, "eqloom: %s\n", store_notice(c->store));
    return err_up(e, code);
}

void place_close(struct cli *c)
{
    if (c->store)
        store_close(c->store);
    c->store = NULL;
}

const char *place_shown(struct arena *a, const char *path)
{
    char *here = current_dir(a);
    if (is_below(path, here) && strlen(path) > strlen(here) + 1)
        return path + (strcmp(here, "/") ? strlen(here) + 1 : 1);
    return path;
}
