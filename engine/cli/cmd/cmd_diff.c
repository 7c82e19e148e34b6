/* eqloom diff: two records, or two runs. */
#include "engine/cli/cmd/cmd.h"

#include "engine/cli/records/diff.h"
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
    enum err_code code = OK;
    for (size_t i = 0; i < 2 && !code; i++)
        code = run_find(&runs[i], &names[i], d->c, d->c->arguments[i], e);
    if (!code)
        code = diff_runs(d, names[0], runs[0], names[1], runs[1], e);
    if (!code)
        print_summary(d, ": every node made the same");
    return err_up(e, code);
}

static enum err_code compare_records(struct diff *d, struct err *e)
{
    struct resolved refs[2];
    enum err_code code = OK;
    for (size_t i = 0; i < 2 && !code; i++)
        code = resolve(&refs[i], d->c, d->c->arguments[i], e);
    if (!code && !digest_equal(&refs[0].id, &refs[1].id))
        code = diff_records(d, "", &refs[0].id, &refs[1].id, e);
    if (!code)
        print_summary(d, "");
    return err_up(e, code);
}

enum err_code cli_diff(int *status, struct cli *c, struct err *e)
{
    struct diff d = {.c = c};
    enum err_code code = cli_number(&d.limit, c, "limit", 20, 0, 1 << 30, e);
    if (!code && (run_is_name(c, c->arguments[0]) || run_is_name(c, c->arguments[1])))
        code = compare_runs(&d, e);
    else if (!code)
        code = compare_records(&d, e);
    if (!code && d.differ)
        *status = CLI_NEGATIVE;
    return err_up(e, code);
}
