/* eqloom show prints a record or the beginning of a collection. eqloom export writes for other
 * programs, element by element, to a temporary file that then replaces the target. */
#include "engine/cli/cmd/cmd.h"

#include "base/io/out_file.h"
#include "base/io/picture.h"
#include "engine/cli/console/text_table.h"
#include "engine/cli/records/resolve.h"
#include "engine/export/export.h"
#include "engine/export/reflect.h"
#include "image.pb-c.h"
#include "report.pb-c.h"
#include "schemas/canonical.h"
#include "schemas/egraph/egraph_text.h"
#include "store/collection/collection.h"

#include <inttypes.h>
#include <string.h>

enum { SHOWN = 20 };

static void print_heading(struct cli *c, const struct resolved *ref, const char *kind)
{
    char hex[DIGEST_HEX];
    fprintf(c->out, "%s %s%s%s\n", kind, digest_hex(hex, &ref->id), ref->name ? "  " : "",
            ref->name ? ref->name : "");
}

static void dump_collection(struct cli *c, const struct resolved *ref,
                            const struct collection_head *list)
{
    char hex[DIGEST_HEX];
    json_t *elements = json_array(), *labels = cli_flag(c, "limit") ? json_array() : NULL;
    for (size_t i = 0; i < list->n; i++) {
        json_array_append_new(elements, json_string(digest_hex(hex, &list->ids[i])));
        if (labels)
            json_array_append_new(labels, json_string(resolve_label(c->arena, c, &list->ids[i])));
    }
    reflect_line(c->out, "id:s kind:s count:u element_kind:s elements:o labels:o",
                 digest_hex(hex, &ref->id), "collection", list->count,
                 kind_info(list->element)->name, elements, labels);
}

static void print_collection(struct cli *c, const struct resolved *ref,
                             const struct collection_head *list)
{
    print_heading(c, ref, "collection");
    fprintf(c->out, "%" PRIu64 " of %s\n", list->count, kind_info(list->element)->name);
    for (size_t i = 0; i < list->n; i++) {
        char hex[DIGEST_HEX];
        const char *label = resolve_label(c->arena, c, &list->ids[i]);
        fprintf(c->out, "%6zu  %.12s%s%s\n", i, digest_hex(hex, &list->ids[i]), *label ? "  " : "",
                label);
    }
    if (list->n < list->count)
        fprintf(c->out, "        ... %" PRIu64 " more (--limit)\n", list->count - list->n);
}

static enum err_code show_collection(struct cli *c, const struct resolved *ref, uint64_t limit,
                                     struct err *e)
{
    struct collection_head list;
    limit = c->json && !cli_flag(c, "limit") ? UINT64_MAX : limit;
    enum err_code code = collection_read(&list, c->store, &ref->id, limit, c->arena, e);
    if (!code && c->json)
        dump_collection(c, ref, &list);
    else if (!code)
        print_collection(c, ref, &list);
    return err_up(e, code);
}

/* Prints the tables, then the values by the names that queries use. */
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
    enum reflect_expressions as = cli_flag(c, "latex")                ? REFLECT_LATEX
                                  : !c->json && cli_flag(c, "prefix") ? REFLECT_PREFIX
                                                                      : REFLECT_INFIX;
    ProtobufCMessage *m;
    if (!kind)
        return err_fail(e, ERR_UNSUPPORTED, "the record is of an unknown kind (%d)", r->kind);
    enum err_code code = canonical_unpack(&m, c->arena, kind->descriptor, r->payload, e);
    if (code)
        return err_up(e, code);
    if (c->json) {
        reflect_dump(c->out, reflect_record(&ref->id, r, m, as));
        return OK;
    }
    print_heading(c, ref, kind->name);
    if (r->kind == KIND_REPORT)
        print_report(c, (const Eqloom__Report *)m, limit);
    else
        reflect_print(c->out, m, as, limit);
    return OK;
}

/* Writes the image to --output. */
static enum err_code write_image(struct cli *c, const struct record *r, struct err *e)
{
    const char *path = cli_value(c, "output");
    const Eqloom__Image *image;
    struct span png;
    if (r->kind != KIND_IMAGE)
        return err_fail(e, ERR_INPUT, "-o writes an image, and this is %s: see 'eqloom export'",
                        kind_info(r->kind) ? kind_info(r->kind)->name : "of an unknown kind");
    enum err_code code =
        canonical_unpack(&image, c->arena, &eqloom__image__descriptor, r->payload, e);
    if (code)
        return err_up(e, code);
    struct picture p = {image->width, image->height, image->pixels.data};
    if (*image->refused)
        return err_fail(e, ERR_INPUT, "the record has no picture: %s", image->refused);
    if (image->pixels.len != (uint64_t)p.width * p.height)
        return err_fail(e, ERR_CORRUPT, "%zu pixels are not %u x %u", image->pixels.len, p.width,
                        p.height);
    if ((code = picture_write_png(&png, c->arena, &p, e)) ||
        (code = out_file_write(path, png.data, png.len, e)))
        return err_up(e, code);
    fprintf(c->narration, "wrote %s\n", path);
    return OK;
}

/* Writes the e-graph as --dot or --grammar. */
static enum err_code write_egraph(struct cli *c, const struct record *r, struct err *e)
{
    const Eqloom__EGraph *m;
    struct buf text = {0};
    if (r->kind != KIND_EGRAPH)
        return err_fail(e, ERR_INPUT, "--dot and --grammar write an egraph, and this is %s",
                        kind_info(r->kind) ? kind_info(r->kind)->name : "of an unknown kind");
    enum err_code code = canonical_unpack(&m, c->arena, &eqloom__egraph__descriptor, r->payload, e);
    if (!code)
        code = (cli_flag(c, "dot") ? egraph_write_dot : egraph_write_grammar)(&text, m, e);
    if (!code)
        fwrite(text.data, 1, text.len, c->out);
    buf_free(&text);
    return err_up(e, code);
}

enum err_code cli_show(int *status, struct cli *c, struct err *e)
{
    uint64_t limit;
    struct resolved ref;
    struct record r;
    enum err_code code = cli_number(&limit, c, "limit", SHOWN, 0, 1 << 30, e);
    if (!code)
        code = resolve(&ref, c, c->arguments[0], e);
    if (!code)
        code = store_get(&r, c->store, &ref.id, c->arena, e);
    if (code)
        return err_up(e, code);
    if (cli_value(c, "output"))
        code = write_image(c, &r, e);
    else if (cli_flag(c, "dot") || cli_flag(c, "grammar"))
        code = write_egraph(c, &r, e);
    else if (cli_flag(c, "raw"))
        fwrite(r.payload.data, 1, r.payload.len, c->out);
    else if (r.kind == KIND_COLLECTION)
        code = show_collection(c, &ref, limit, e);
    else
        code = show_record(c, &ref, &r, limit, e);
    return err_up(e, code);
}

/* ---- export ---- */

/* Returns the format of --format, else that of the path's extension. */
static enum err_code choose_format(const struct export_format **out, struct cli *c,
                                   const char *path, struct err *e)
{
    const char *name = cli_value(c, "format");
    *out = name ? export_format_named(name) : export_format_of(path, KIND_NONE);
    if (*out)
        return OK;
    if (!name)
        return err_fail(e, ERR_INPUT,
                        "which format? Give --format jsonl, tsv, npy, safetensors or raw");
    enum err_code code = err_fail(e, ERR_INPUT, "there is no format '%.40s'", name);
    err_hint(e, "formats are " EXPORT_FORMATS_TEXT);
    return err_suggest(code, name, export_format_names, EXPORT_FORMATS, e);
}

static enum err_code export_to_file(struct cli *c, const struct digest *id,
                                    const struct export_format *format, const char *path,
                                    struct err *e)
{
    struct arena *a = c->arena;
    struct out_file file, index = {0};
    const char *ending = export_format_index(format);
    const char *index_path = ending ? arena_printf(a, "%s.%s", path, ending) : "";
    enum err_code code = out_file_open(&file, a, path, e);
    if (code)
        return err_up(e, code);
    if (ending)
        code = out_file_open(&index, a, index_path, e);
    if (!code)
        code = export_record(file.f, index.f, c->store, id, format, e);
    code = out_file_close(&index, code, e);
    code = out_file_close(&file, code, e);
    if (!code)
        fprintf(c->narration, "wrote %s%s%s\n", path, ending ? " and " : "", index_path);
    return err_up(e, code);
}

enum err_code cli_export(int *status, struct cli *c, struct err *e)
{
    const char *path = cli_value(c, "output");
    const struct export_format *format;
    struct resolved ref;
    bool to_stdout = !path || !strcmp(path, "-");
    enum err_code code = choose_format(&format, c, to_stdout ? "" : path, e);
    if (!code && to_stdout && export_format_index(format))
        code = err_fail(e, ERR_INPUT, "%s needs a file: -o PATH", cli_value(c, "format"));
    if (!code)
        code = resolve(&ref, c, c->arguments[0], e);
    if (!code)
        code = to_stdout ? export_record(c->out, NULL, c->store, &ref.id, format, e)
                         : export_to_file(c, &ref.id, format, path, e);
    return err_up(e, code);
}
