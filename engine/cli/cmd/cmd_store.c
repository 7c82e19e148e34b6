/* eqloom gc, fsck, stats, pack, unpack, backup and compact. */
#include "engine/cli/cmd/cmd.h"

#include "base/io/out_file.h"
#include "engine/cli/console/text_table.h"
#include "engine/cli/records/place.h"
#include "engine/cli/records/resolve.h"
#include "engine/export/reflect.h"
#include "store/maintain.h"
#include "store/pack/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

enum err_code cli_gc(int *status, struct cli *c, struct err *e)
{
    uint64_t runs;
    struct gc_options options = {.dry_run = cli_flag(c, "dry-run")};
    struct gc_result r;
    enum err_code code = cli_number(&runs, c, "keep-runs", 3, 0, 1 << 20, e);
    options.keep_runs = (unsigned)runs;
    if (!code)
        code = store_gc(&r, c->store, &options, e);
    if (code)
        return err_up(e, code);
    if (c->json)
        reflect_line(
            c->out, "dry_run:b records_kept:u records_removed:u bytes_removed:u actions_removed:u",
            options.dry_run, r.records_kept, r.records_removed, r.bytes_removed, r.actions_removed);
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
        reflect_line(c->out, "event:s id:s what:s", "bad", id ? hex : NULL, what);
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
        reflect_line(
            c->out,
            "event:s records:u actions:u faults:u bad_records:u missing:u awaited:u quarantined:u",
            "summary", r.records, r.actions, r.faults, r.bad_records, r.missing, r.awaited,
            r.quarantined);
    else
        fprintf(c->out,
                "%" PRIu64 " records, %" PRIu64 " actions: %" PRIu64 " fault%s (%" PRIu64
                " bad records, %" PRIu64 " missing)%s\n",
                r.records, r.actions, r.faults, plural(r.faults), r.bad_records, r.missing, then);
    return OK;
}

static void print_kind(struct cli *c, struct table *t, const char *name, const struct kind_stats *k)
{
    struct arena *a = c->arena;
    double ratio = k->stored ? (double)k->raw / (double)k->stored : 1;
    if (c->json)
        reflect_line(c->out, "kind:s records:u raw_bytes:u stored_bytes:u with_dictionary:u", name,
                     k->records, k->raw, k->stored, k->with_dictionary);
    table_add(t, (const char *[]){name, arena_printf(a, "%" PRIu64, k->records),
                                  arena_printf(a, "%" PRIu64, k->raw),
                                  arena_printf(a, "%" PRIu64, k->stored),
                                  arena_printf(a, "%.2f", ratio),
                                  arena_printf(a, "%" PRIu64, k->with_dictionary)});
}

enum err_code cli_stats(int *status, struct cli *c, struct err *e)
{
    struct store_stats stats;
    enum err_code code = store_stats(&stats, c->store, e);
    if (code)
        return err_up(e, code);
    struct table *t = table_new(c->arena, "kind|records|raw bytes|stored|ratio|with dictionary");
    struct kind_stats all = {0};
    for (int kind = KIND_NONE + 1; kind < KIND_END; kind++) {
        const struct kind_stats *k = &stats.kinds[kind];
        if (!k->records)
            continue;
        print_kind(c, t, kind_info((enum record_kind)kind)->name, k);
        all.records += k->records;
        all.raw += k->raw;
        all.stored += k->stored;
        all.with_dictionary += k->with_dictionary;
    }
    if (c->json) {
        reflect_line(c->out,
                     "event:s records:u raw_bytes:u stored_bytes:u actions:u refs:u runs:u files:u "
                     "quarantined:u disk_bytes:u",
                     "summary", all.records, all.raw, all.stored, stats.actions, stats.refs,
                     stats.runs, stats.files, stats.quarantined, stats.disk_bytes);
        return OK;
    }
    print_kind(c, t, "all", &all);
    table_print(c->out, t);
    fprintf(c->out,
            "%" PRIu64 " actions, %" PRIu64 " refs, %" PRIu64 " runs, %" PRIu64
            " source files, %" PRIu64 " in quarantine; %.1f MB on disk\n",
            stats.actions, stats.refs, stats.runs, stats.files, stats.quarantined,
            (double)stats.disk_bytes / 1e6);
    return OK;
}

enum err_code cli_pack(int *status, struct cli *c, struct err *e)
{
    struct pack_result r;
    struct out_file file;
    const char *target = cli_value(c, "output");
    struct pack_root *roots = arena_array(c->arena, struct pack_root, c->n_arguments);
    enum err_code code = OK;
    if (!target)
        return err_fail(e, ERR_INPUT, "pack needs -o FILE: eqloom pack -o FILE REF...");
    for (size_t i = 0; !code && i < c->n_arguments; i++) {
        struct resolved ref;
        code = resolve(&ref, c, c->arguments[i], e);
        roots[i] = (struct pack_root){ref.name, ref.id};
    }
    if (code || (code = out_file_open(&file, c->arena, target, e)))
        return err_up(e, code);
    struct pack_contents what = {.roots = roots, .n_roots = c->n_arguments};
    code = store_pack(&r, c->store, file.f, &what, e);
    if ((code = out_file_close(&file, code, e)))
        return err_up(e, code);
    if (c->json)
        reflect_line(c->out, "pack:s records:u refs:u bytes:u", target, r.records, r.refs, r.bytes);
    else
        fprintf(c->out, "%s: %" PRIu64 " record%s, %" PRIu64 " ref%s, %.1f MB\n", target, r.records,
                plural(r.records), r.refs, plural(r.refs), (double)r.bytes / 1e6);
    return OK;
}

/* Opens a pack that the user named, a pipe too, but waits for no writer. */
static enum err_code open_pack(FILE **out, const char *name, struct err *e)
{
    int fd = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    *out = fd >= 0 ? fdopen(fd, "rb") : NULL;
    if (!*out)
        return err_fail(e, ERR_INPUT, "cannot open %s: %s", name, strerror(errno));
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    return OK;
}

enum err_code cli_unpack(int *status, struct cli *c, struct err *e)
{
    struct pack_result r;
    const char *name = c->arguments[0];
    FILE *from;
    enum err_code code = open_pack(&from, name, e);
    if (code)
        return err_up(e, code);
    code = place_open(c, NULL, CLI_STORE_CREATE, e);
    if (!code)
        code = store_unpack(&r, c->store, from, name, PACK_FOREIGN, e);
    fclose(from);
    if (code)
        return err_up(e, code);
    if (c->json)
        reflect_line(c->out, "pack:s records:u added:u actions:u refs:u refs_kept:u", name,
                     r.records, r.added, r.actions, r.refs, r.kept);
    else
        fprintf(c->out,
                "%s: %" PRIu64 " record%s, %" PRIu64 " of them new; %s%" PRIu64 " ref%s%s\n", name,
                r.records, plural(r.records), r.added,
                r.actions ? arena_printf(c->arena,
                                         "%" PRIu64 " result%s that 'run --check' would check; ",
                                         r.actions, plural(r.actions))
                          : "",
                r.refs, plural(r.refs),
                r.kept ? arena_printf(c->arena,
                                      ", of which %" PRIu64 " name other records here and are "
                                      "kept",
                                      r.kept)
                       : "");
    return OK;
}

enum err_code cli_backup(int *status, struct cli *c, struct err *e)
{
    enum err_code code = store_backup(c->store, c->arguments[0], e);
    if (!code)
        fprintf(c->narration, "%s is a copy of %s\n", c->arguments[0],
                place_shown(c->arena, c->store_path));
    return err_up(e, code);
}

enum err_code cli_compact(int *status, struct cli *c, struct err *e)
{
    struct store_stats before, after;
    enum err_code code = store_stats(&before, c->store, e);
    if (!code)
        code = store_compact(c->store, e);
    if (!code)
        code = store_stats(&after, c->store, e);
    if (code)
        return err_up(e, code);
    if (c->json)
        reflect_line(c->out, "disk_bytes_before:u disk_bytes:u", before.disk_bytes,
                     after.disk_bytes);
    else
        fprintf(c->out, "%.1f MB on disk, %.1f MB before\n", (double)after.disk_bytes / 1e6,
                (double)before.disk_bytes / 1e6);
    return OK;
}
