/* eqloom diff: two artifacts, or two runs. */
#include "engine/cli/records/diff.h"

#include "engine/cli/records/place.h"
#include "engine/cli/records/reflect.h"
#include "engine/cli/records/resolve.h"

static void print_summary(struct diff *d, const char *what)
{
    if (d->c->json)
        reflect_dump(d->c->out, json_pack("{s:s, s:b}", "event", "summary", "same", !d->differ));
    else if (!d->differ)
        fprintf(d->c->out, "the same%s\n", what);
}

static enum err_code compare_runs(struct diff *d, struct err *e)
{
    const Eqloom__Run *runs[2];
    const char *names[2];
    for (size_t i = 0; i < 2; i++) {
        enum err_code code =
            err_up(e, run_find(&runs[i], &names[i], d->c, d->store, d->c->arguments[i], e));
        if (code)
            return code;
    }
    enum err_code code = err_up(e, diff_runs(d, names[0], runs[0], names[1], runs[1], e));
    if (!code)
        print_summary(d, ": every node made the same");
    return code;
}

static enum err_code compare_artifacts(struct diff *d, struct err *e)
{
    struct resolved refs[2];
    for (size_t i = 0; i < 2; i++) {
        enum err_code code = err_up(e, resolve(&refs[i], d->c, d->store, d->c->arguments[i], e));
        if (code)
            return code;
    }
    if (!digest_equal(&refs[0].id, &refs[1].id)) {
        enum err_code code = err_up(e, diff_records(d, "", &refs[0].id, &refs[1].id, e));
        if (code)
            return code;
    }
    print_summary(d, "");
    return OK;
}

enum err_code cli_diff(int *status, struct cli *c, struct err *e)
{
    struct diff d = {.c = c};
    char *path;
    enum err_code code = err_up(e, cli_number(&d.limit, c, "limit", 20, 0, 1 << 30, e));
    if (!code)
        code = err_up(e, place_open(&d.store, &path, c, NULL, PLACE_READ, e));
    if (code)
        return code;
    bool runs = run_is_name(c->arena, d.store, c->arguments[0]) ||
                run_is_name(c->arena, d.store, c->arguments[1]);
    code = runs ? err_up(e, compare_runs(&d, e)) : err_up(e, compare_artifacts(&d, e));
    store_close(d.store);
    if (!code && d.differ)
        *status = CLI_NEGATIVE;
    return code;
}
