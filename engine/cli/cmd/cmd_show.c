/* eqloom show: one record, or the beginning of a collection. */
#include "engine/cli/console/cli.h"

#include "engine/cli/console/text_table.h"
#include "engine/cli/records/place.h"
#include "engine/cli/records/reflect.h"
#include "engine/cli/records/resolve.h"
#include "schemas/canonical.h"
#include "store/collection.h"

#include <inttypes.h>
#include <string.h>

enum { SHOWN = 20, AT_ONCE = 1024 };

static void print_heading(struct cli *c, const struct resolved *ref, const char *kind)
{
    char hex[DIGEST_HEX];
    fprintf(c->out, "%s %s%s%s\n", kind, digest_hex(hex, &ref->id), ref->name ? "  " : "",
            ref->name ? ref->name : "");
}

static json_t *id_json(const struct digest *id)
{
    char hex[DIGEST_HEX];
    return json_string(digest_hex(hex, id));
}

static enum err_code collection_json(struct cli *c, const struct resolved *ref,
                                     struct collection *list, struct err *e)
{
    const struct kind_info *kind = kind_info(collection_element_kind(list));
    uint64_t count = collection_count(list);
    struct digest *ids = arena_array(c->arena, struct digest, AT_ONCE);
    json_t *elements = json_array();
    for (uint64_t i = 0; i < count; i += AT_ONCE) {
        uint64_t n = count - i < AT_ONCE ? count - i : AT_ONCE;
        enum err_code code = err_up(e, collection_ids(ids, list, i, n, e));
        if (code) {
            json_decref(elements);
            return code;
        }
        for (uint64_t k = 0; k < n; k++)
            json_array_append_new(elements, id_json(&ids[k]));
    }
    reflect_dump(c->out, json_pack("{s:o, s:s, s:I, s:s, s:o}", "id", id_json(&ref->id), "kind",
                                   "collection", "count", (json_int_t)count, "element_kind",
                                   kind ? kind->name : "?", "elements", elements));
    return OK;
}

static enum err_code collection_text(struct cli *c, struct store *s, const struct resolved *ref,
                                     struct collection *list, uint64_t limit, struct err *e)
{
    const struct kind_info *kind = kind_info(collection_element_kind(list));
    uint64_t count = collection_count(list), n = count < limit ? count : limit;
    print_heading(c, ref, "collection");
    fprintf(c->out, "%" PRIu64 " of %s\n", count, kind ? kind->name : "?");
    struct digest *ids = arena_array(c->arena, struct digest, n);
    enum err_code code = n ? err_up(e, collection_ids(ids, list, 0, n, e)) : OK;
    for (uint64_t i = 0; !code && i < n; i++) {
        char hex[DIGEST_HEX];
        const char *label = resolve_label(c->arena, s, &ids[i]);
        fprintf(c->out, "%6" PRIu64 "  %.12s%s%s\n", i, digest_hex(hex, &ids[i]),
                *label ? "  " : "", label);
    }
    if (!code && n < count)
        fprintf(c->out, "        ... %" PRIu64 " more (--limit)\n", count - n);
    return code;
}

/* Tables as tables; the figures once more by name, as queries know them. */
static void print_report(struct cli *c, const Eqloom__Report *report, uint64_t limit)
{
    if (*report->title)
        fprintf(c->out, "%s\n\n", report->title);
    table_print_report(c->out, c->arena, report, limit, "--limit");
    struct table *values = table_new(c->arena, "value|");
    for (size_t i = 0; i < report->n_values; i++)
        table_add(values,
                  (const char *const[]){report->values[i]->name,
                                        arena_printf(c->arena, "%.6g", report->values[i]->value)});
    if (report->n_values) {
        fputs(report->n_tables ? "\n" : "", c->out);
        table_print(c->out, values);
    }
    for (size_t i = 0; i < report->n_plots; i++)
        fprintf(c->out, "%splot: %s (%s)\n", i ? "" : "\n", report->plots[i]->title,
                report->plots[i]->kind);
}

static enum err_code show_record(struct cli *c, const struct resolved *ref, const struct record *r,
                                 uint64_t limit, struct err *e)
{
    const struct kind_info *kind = kind_info(r->kind);
    ProtobufCMessage *m;
    enum err_code code = err_up(e, canonical_unpack(&m, c->arena, kind->descriptor, r->payload, e));
    if (code)
        return code;
    if (c->json) {
        reflect_dump(c->out, reflect_record(&ref->id, r, m));
        return OK;
    }
    print_heading(c, ref, kind->name);
    if (r->kind == KIND_REPORT)
        print_report(c, (const Eqloom__Report *)m, limit);
    else
        reflect_print(c->out, m, limit);
    return OK;
}

static enum err_code show(struct cli *c, struct store *s, uint64_t limit, struct err *e)
{
    struct resolved ref;
    struct record r;
    enum err_code code = err_up(e, resolve(&ref, c, s, c->arguments[0], e));
    if (!code)
        code = err_up(e, store_get(&r, s, &ref.id, c->arena, e));
    if (code)
        return code;
    if (cli_flag(c, "raw")) {
        fwrite(r.payload.data, 1, r.payload.len, c->out);
        return OK;
    }
    if (!kind_info(r.kind))
        return err_fail(e, ERR_UNSUPPORTED, "a record of a kind (%d) that is not known", r.kind);
    if (r.kind != KIND_COLLECTION)
        return err_up(e, show_record(c, &ref, &r, limit, e));
    struct collection *list;
    if ((code = err_up(e, collection_open(&list, s, &ref.id, e))))
        return code;
    code = c->json ? err_up(e, collection_json(c, &ref, list, e))
                   : err_up(e, collection_text(c, s, &ref, list, limit, e));
    collection_close(list);
    return code;
}

enum err_code cli_show(int *status, struct cli *c, struct err *e)
{
    struct store *s;
    char *path;
    uint64_t limit;
    enum err_code code = err_up(e, cli_number(&limit, c, "limit", SHOWN, 0, 1 << 30, e));
    if (!code)
        code = err_up(e, place_open(&s, &path, c, NULL, PLACE_READ, e));
    if (code)
        return code;
    code = err_up(e, show(c, s, limit, e));
    store_close(s);
    return code;
}
