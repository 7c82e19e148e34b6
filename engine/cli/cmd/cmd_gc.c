/* eqloom gc and fsck. */
#include "engine/cli/cmd/cmd.h"

#include "engine/cli/records/place.h"
#include "engine/export/reflect.h"
#include "store/maintain.h"

#include <inttypes.h>

enum { KEPT_RUNS = 3 };

enum err_code cli_gc(int *status, struct cli *c, struct err *e)
{
    uint64_t runs;
    struct gc_options options = {.dry_run = cli_flag(c, "dry-run")};
    struct gc_result r;
    enum err_code code = cli_number(&runs, c, "keep-runs", KEPT_RUNS, 0, 1 << 20, e);
    options.keep_runs = (unsigned)runs;
    if (!code)
        code = store_gc(&r, c->store, &options, e);
    if (code)
        return err_up(e, code);
    if (c->json)
        reflect_dump(c->out, json_pack("{s:b, s:I, s:I, s:I, s:I}", "dry_run", options.dry_run,
                                       "records_kept", (json_int_t)r.records_kept,
                                       "records_removed", (json_int_t)r.records_removed,
                                       "bytes_removed", (json_int_t)r.bytes_removed,
                                       "actions_removed", (json_int_t)r.actions_removed));
    else
        fprintf(c->out,
                "%s %" PRIu64 " records (%.1f MB) and %" PRIu64 " actions; %" PRIu64
                " records kept\n",
                options.dry_run ? "would remove" : "removed", r.records_removed,
                (double)r.bytes_removed / 1e6, r.actions_removed, r.records_kept);
    return OK;
}

static void print_bad(void *arg, const struct digest *id, const char *what)
{
    struct cli *c = arg;
    char hex[DIGEST_HEX] = "";
    if (id)
        digest_hex(hex, id);
    if (c->json)
        reflect_dump(c->out, json_pack("{s:s, s:s*, s:s}", "event", "bad", "id", id ? hex : NULL,
                                       "what", what));
    else
        fprintf(c->out, "%.16s%s%s\n", hex, id ? "  " : "", what);
}

enum err_code cli_fsck(int *status, struct cli *c, struct err *e)
{
    struct fsck_result r;
    bool repair = cli_flag(c, "repair");
    enum err_code code = place_open(c, NULL, repair ? CLI_STORE_WRITE : CLI_STORE_READ, e);
    if (!code)
        code = store_fsck(&r, c->store, repair, print_bad, c, e);
    if (code)
        return err_up(e, code);
    *status = !r.faults || repair ? CLI_DONE : CLI_FAILED;
    const char *then = !r.faults       ? ""
                       : !r.repairable ? "; the next run makes again what is missing"
                       : repair        ? "; set aside: the next run makes again what is missing"
                                       : "; --repair sets them aside";
    if (c->json)
        reflect_dump(c->out, json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "event",
                                       "summary", "records", (json_int_t)r.records, "actions",
                                       (json_int_t)r.actions, "faults", (json_int_t)r.faults,
                                       "bad_records", (json_int_t)r.bad_records, "missing",
                                       (json_int_t)r.missing, "awaited", (json_int_t)r.awaited,
                                       "quarantined", (json_int_t)r.quarantined));
    else
        fprintf(c->out,
                "%" PRIu64 " records, %" PRIu64 " actions: %" PRIu64 " fault%s (%" PRIu64
                " bad records, %" PRIu64 " missing)%s\n",
                r.records, r.actions, r.faults, r.faults == 1 ? "" : "s", r.bad_records, r.missing,
                then);
    return OK;
}
