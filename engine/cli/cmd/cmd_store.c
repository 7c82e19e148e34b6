/* eqloom stats, pack, unpack, backup and compact. */
#include "engine/cli/cmd/cmd.h"

#include "base/io/out_file.h"
#include "engine/cli/console/text_table.h"
#include "engine/cli/records/place.h"
#include "engine/cli/records/resolve.h"
#include "engine/export/reflect.h"
#include "store/maintain.h"
#include "store/pack/pack.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void print_kind(struct cli *c, struct table *t, const char *name, const struct kind_stats *k)
{
    struct arena *a = c->arena;
    double ratio = k->stored ? (double)k->raw / (double)k->stored : 1;
    if (c->json)
        reflect_dump(c->out, json_pack("{s:s, s:I, s:I, s:I, s:I}", "kind", name, "records",
                                       (json_int_t)k->records, "raw_bytes", (json_int_t)k->raw,
                                       "stored_bytes", (json_int_t)k->stored, "with_dictionary",
                                       (json_int_t)k->with_dictionary));
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
        reflect_dump(c->out,
                     json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "event",
                               "summary", "records", (json_int_t)all.records, "raw_bytes",
                               (json_int_t)all.raw, "stored_bytes", (json_int_t)all.stored,
                               "actions", (json_int_t)stats.actions, "refs", (json_int_t)stats.refs,
                               "runs", (json_int_t)stats.runs, "files", (json_int_t)stats.files,
                               "quarantined", (json_int_t)stats.quarantined, "disk_bytes",
                               (json_int_t)stats.disk_bytes));
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
        reflect_dump(c->out, json_pack("{s:s, s:I, s:I, s:I}", "pack", target, "records",
                                       (json_int_t)r.records, "refs", (json_int_t)r.refs, "bytes",
                                       (json_int_t)r.bytes));
    else
        fprintf(c->out, "%s: %" PRIu64 " record%s, %" PRIu64 " ref%s, %.1f MB\n", target, r.records,
                plural(r.records), r.refs, plural(r.refs), (double)r.bytes / 1e6);
    return OK;
}

enum err_code cli_unpack(int *status, struct cli *c, struct err *e)
{
    struct pack_result r;
    const char *name = c->arguments[0];
    FILE *from = fopen(name, "rb");
    if (!from)
        return err_fail(e, ERR_INPUT, "cannot open %s: %s", name, strerror(errno));
    enum err_code code = place_open(c, NULL, CLI_STORE_CREATE, e);
    if (!code)
        code = store_unpack(&r, c->store, from, name, e);
    fclose(from);
    if (code)
        return err_up(e, code);
    if (c->json)
        reflect_dump(c->out, json_pack("{s:s, s:I, s:I, s:I, s:I}", "pack", name, "records",
                                       (json_int_t)r.records, "added", (json_int_t)r.added, "refs",
                                       (json_int_t)r.refs, "refs_kept", (json_int_t)r.kept));
    else
        fprintf(c->out, "%s: %" PRIu64 " record%s, %" PRIu64 " of them new; %" PRIu64 " ref%s%s\n",
                name, r.records, plural(r.records), r.added, r.refs, plural(r.refs),
                r.kept ? arena_printf(c->arena,
                                      ", of which %" PRIu64 " name other records here and stay",
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
        reflect_dump(c->out,
                     json_pack("{s:I, s:I}", "disk_bytes_before", (json_int_t)before.disk_bytes,
                               "disk_bytes", (json_int_t)after.disk_bytes));
    else
        fprintf(c->out, "%.1f MB on disk, %.1f MB before\n", (double)after.disk_bytes / 1e6,
                (double)before.disk_bytes / 1e6);
    return OK;
}
