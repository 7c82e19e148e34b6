/* The lines of a tree, as text and JSON.
 *
 *     quickstart/model  checkpoint 2e0763b826c7  <- train steps=20 seed=42
 *       batches: quickstart/train-tokens  259 of token-batch 322468e104bc  <- tokenize
 *     quickstart/rules  1379 of rule b3f926509227
 *       certify rules -> quickstart/certified  1379 of rule b48ba20b43af */
#include "engine/cli/provenance/lineage.h"

#include "base/buf.h"
#include "engine/export/reflect.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_IDS = 4, SHOWN_TEXT = 40 };

static const char *short_id(char hex[DIGEST_HEX], const struct digest *id)
{
    digest_hex(hex, id)[12] = 0;
    return hex;
}

static void put_what(struct buf *b, const struct lineage_text *text,
                     const struct lineage_item *item)
{
    char hex[DIGEST_HEX];
    if (item->n > 1) {
        buf_printf(b, "%zu of %s", item->n, text->kind);
        for (size_t i = 0; i < item->n && i < SHOWN_IDS; i++)
            buf_printf(b, "%s%s", i ? ", " : ": ", short_id(hex, &item->ids[i]));
        if (item->n > SHOWN_IDS)
            buf_puts(b, ", ...");
        return;
    }
    buf_printf(b, "%s%s", text->name, *text->name ? "  " : "");
    if (text->element_kind)
        buf_printf(b, "%" PRIu64 " of %s", text->elements, text->element_kind);
    else
        buf_puts(b, text->kind);
    buf_printf(b, " %s", short_id(hex, item->ids));
}

static bool is_initial(const struct op *op, const Eqloom__KeyParam *p)
{
    for (size_t i = 0; op && op->params && op->params[i].name; i++)
        if (!strcmp(op->params[i].name, p->name)) {
            const char *initial = op->params[i].initial;
            if (op->params[i].type == OP_REAL && initial) /* "1e-8" is "1e-08" */
                return strtod(initial, NULL) == strtod(p->value, NULL);
            return initial && !strcmp(initial, p->value);
        }
    return false;
}

/* The op with the parameters that are not its defaults, and the seed in any case. */
static void put_op(struct buf *b, const Eqloom__ActionKey *key)
{
    const struct op *op = op_find(key->op);
    buf_puts(b, key->op);
    for (size_t i = 0; i < key->n_params; i++) {
        const Eqloom__KeyParam *p = key->params[i];
        if (!strcmp(p->name, "@segment") || (strcmp(p->name, "seed") && is_initial(op, p)))
            continue;
        size_t n = strlen(p->value);
        bool quoted = !n || strpbrk(p->value, " \n");
        buf_printf(b, " %s=%s", p->name, quoted ? "'" : "");
        for (size_t k = 0; k < n && k < SHOWN_TEXT; k++)
            buf_putc(b, p->value[k] == '\n' ? ' ' : p->value[k]);
        buf_printf(b, "%s%s", n > SHOWN_TEXT ? "..." : "", quoted ? "'" : "");
    }
}

static void print_text(FILE *to, const struct lineage_text *text, const struct lineage_item *item,
                       bool down, int depth)
{
    struct buf b = {0};
    if (down && item->action) {
        put_op(&b, item->action->key);
        buf_printf(&b, " (%s) -> ", item->role);
        put_what(&b, text, item);
    } else {
        if (depth)
            buf_printf(&b, "%s: ", item->role);
        put_what(&b, text, item);
        if (item->action && !item->above) {
            buf_puts(&b, "  <- ");
            put_op(&b, item->action->key);
        }
    }
    fprintf(to, "%*s%s%s\n", 2 * depth, "", b.data, item->above ? "  (above)" : "");
    buf_free(&b);
}

/* ---- JSON ---- */

static json_t *id_json(const struct digest *id)
{
    char hex[DIGEST_HEX];
    return json_string(digest_hex(hex, id));
}

static json_t *action_json(const struct lineage_item *item)
{
    const Eqloom__ActionKey *key = item->action->key;
    json_t *params = json_object();
    for (size_t i = 0; i < key->n_params; i++)
        json_object_set_new(params, key->params[i]->name, json_string(key->params[i]->value));
    return json_pack("{s:s, s:I, s:o, s:s, s:I, s:o}", "op", key->op, "version",
                     (json_int_t)key->version, "key", id_json(&item->action_key), "run",
                     item->action->run, "actions", (json_int_t)item->actions, "params", params);
}

void lineage_print_item(struct cli *c, const struct lineage *l, const struct lineage_item *item,
                        bool down, int depth)
{
    struct lineage_text text = lineage_describe(c->arena, l, item->ids);
    if (item->n > 1)
        text = (struct lineage_text){.kind = text.kind, .name = ""};
    if (!c->json) {
        print_text(c->out, &text, item, down, depth);
        return;
    }
    json_t *ids = json_array();
    for (size_t i = 0; i < item->n; i++)
        json_array_append_new(ids, id_json(&item->ids[i]));
    reflect_line(c->out,
                 down ? "depth:u role:s kind:s name:s ids:o elements:u above:b by:o"
                      : "depth:u role:s kind:s name:s ids:o elements:u above:b made_by:o",
                 (uint64_t)depth, item->role, text.kind, text.name, ids, text.elements, item->above,
                 item->action ? action_json(item) : NULL);
}
