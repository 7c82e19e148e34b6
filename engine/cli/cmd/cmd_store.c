/* eqloom stats, pack, unpack, backup and compact. */
#include "engine/cli/console/cli.h"

#include "base/os.h"
#include "engine/cli/console/text_table.h"
#include "engine/cli/records/place.h"
#include "engine/cli/records/reflect.h"
#include "engine/cli/records/resolve.h"
#include "store/maintain.h"
#include "store/pack.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static double ratio(uint64_t raw, uint64_t stored)
{
    return stored ? (double)raw / (double)stored : 1;
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void print_kind(struct cli *c, struct table *t, const char *name, const struct kind_stats *k)
{
    struct arena *a = c->arena;
    if (c->json)
        reflect_dump(c->out,
                     json_pack("{s:s, s:I, s:I, s:I, s:I}", "kind", name, "records",
                               (json_int_t)k->records, "raw_bytes", (json_int_t)k->raw,
                               "stored_bytes", (json_int_t)k->stored, "with_dictionary",
                               (json_int_t)k->with_dictionary));
    else
        table_add(t, (const char *[]){name, arena_printf(a, "%" PRIu64, k->records),
                                      arena_printf(a, "%" PRIu64, k->raw),
                                      arena_printf(a, "%" PRIu64, k->stored),
                                      arena_printf(a, "%.2f", ratio(k->raw, k->stored)),
                                      arena_printf(a, "%" PRIu64, k->with_dictionary)});
}

enum err_code cli_stats(int *status, struct cli *c, struct err *e)
{
    struct store *s;
    char *path;
    struct store_stats stats;
    enum err_code code = err_up(e, place_open(&s, &path, c, NULL, PLACE_READ, e));
    if (code)
        return code;
    code = err_up(e, store_stats(&stats, s, e));
    store_close(s);
    if (code)
        return code;
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

/* Into a file beside the target, which then takes its place. */
static enum err_code write_pack(struct pack_result *r, struct cli *c, struct store *s,
                                const struct pack_root *roots, const char *path, struct err *e)
{
    const char *beside = arena_printf(c->arena, "%s.part", path);
    FILE *to = fopen(beside, "wb");
    if (!to)
        return err_fail(e, ERR_IO, "cannot write %s: %s", beside, strerror(errno));
    enum err_code code = err_up(e, store_pack(r, s, to, roots, c->n_arguments, e));
    if (fclose(to) != 0 && !code)
        code = err_fail(e, ERR_IO, "cannot write %s: %s", beside, strerror(errno));
    if (!code && rename(beside, path) != 0)
        code = err_fail(e, ERR_IO, "cannot write %s: %s", path, strerror(errno));
    if (code)
        unlink(beside);
    return code;
}

enum err_code cli_pack(int *status, struct cli *c, struct err *e)
{
    struct store *s;
    char *path;
    struct pack_result r;
    const char *target = cli_value(c, "output");
    if (!target)
        return err_fail(e, ERR_INPUT, "pack needs -o FILE: eqloom pack -o FILE REF...");
    enum err_code code = err_up(e, place_open(&s, &path, c, NULL, PLACE_READ, e));
    if (code)
        return code;
    struct pack_root *roots = arena_array(c->arena, struct pack_root, c->n_arguments);
    for (size_t i = 0; !code && i < c->n_arguments; i++) {
        struct resolved ref;
        code = err_up(e, resolve(&ref, c, s, c->arguments[i], e));
        if (!code)
            roots[i] = (struct pack_root){ref.name, ref.id};
    }
    if (!code)
        code = write_pack(&r, c, s, roots, target, e);
    store_close(s);
    if (code)
        return code;
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
    struct store *s;
    char *path;
    struct pack_result r;
    const char *name = c->arguments[0];
    FILE *from = fopen(name, "rb");
    if (!from)
        return err_fail(e, ERR_INPUT, "cannot open %s: %s", name, strerror(errno));
    enum err_code code = err_up(e, place_open(&s, &path, c, NULL, PLACE_CREATE, e));
    if (!code) {
        code = err_up(e, store_unpack(&r, s, from, name, e));
        store_close(s);
    }
    fclose(from);
    if (code)
        return code;
    if (c->json)
        reflect_dump(c->out, json_pack("{s:s, s:I, s:I, s:I, s:I}", "pack", name, "records",
                                       (json_int_t)r.records, "added", (json_int_t)r.added, "refs",
                                       (json_int_t)r.refs, "refs_kept", (json_int_t)r.kept));
    else
        fprintf(c->out, "%s: %" PRIu64 " record%s, %" PRIu64 " of them new; %" PRIu64 " ref%s%s\n",
                name, r.records, plural(r.records), r.added, r.refs, plural(r.refs),
                r.kept ? arena_printf(c->arena,
                                      ", of which %" PRIu64 " lead elsewhere here and still do",
                                      r.kept)
                       : "");
    return OK;
}

enum err_code cli_backup(int *status, struct cli *c, struct err *e)
{
    struct store *s;
    char *path;
    enum err_code code = err_up(e, place_open(&s, &path, c, NULL, PLACE_WRITE, e));
    if (code)
        return code;
    code = err_up(e, store_backup(s, c->arguments[0], e));
    store_close(s);
    if (!code)
        fprintf(c->narration, "%s is a store with all of %s\n", c->arguments[0],
                place_shown(c->arena, path));
    return code;
}

enum err_code cli_compact(int *status, struct cli *c, struct err *e)
{
    struct store *s;
    char *path;
    struct store_stats before, after;
    enum err_code code = err_up(e, place_open(&s, &path, c, NULL, PLACE_WRITE, e));
    if (code)
        return code;
    code = err_up(e, store_stats(&before, s, e));
    if (!code)
        code = err_up(e, store_compact(s, e));
    if (!code)
        code = err_up(e, store_stats(&after, s, e));
    store_close(s);
    if (code)
        return code;
    if (c->json)
        reflect_dump(c->out,
                     json_pack("{s:I, s:I}", "disk_bytes_before", (json_int_t)before.disk_bytes,
                               "disk_bytes", (json_int_t)after.disk_bytes));
    else
        fprintf(c->out, "%.1f MB on disk, %.1f MB before\n", (double)after.disk_bytes / 1e6,
                (double)before.disk_bytes / 1e6);
    return OK;
}
