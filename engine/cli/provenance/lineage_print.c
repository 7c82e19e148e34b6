/* Trees of lineage.h as text and JSON.
 *
 *     quickstart/model  checkpoint 2e0763b826c7  <- train steps=20 seed=42
 *       batches: quickstart/train-tokens  259 of token-batch 322468e104bc  <- tokenize
 *     quickstart/rules  1379 of rule b3f926509227
 *       certify rules -> quickstart/certified  1379 of rule b48ba20b43af */
#include "engine/cli/provenance/lineage.h"

#include "base/buf.h"
#include "engine/cli/records/reflect.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_INPUTS = 12, SHOWN_IDS = 4, SHOWN_TEXT = 40 };

static const char *short_id(char hex[DIGEST_HEX], const struct digest *id)
{
    digest_hex(hex, id)[12] = 0;
    return hex;
}

static const char *kind_name(const struct lineage_item *item)
{
    const struct kind_info *kind = kind_info(item->kind);
    return kind ? kind->name : "file";
}

static void put_what(struct buf *b, const struct lineage_item *item)
{
    char hex[DIGEST_HEX];
    if (item->n > 1) {
        buf_printf(b, "%zu of %s", item->n, kind_name(item));
        for (size_t i = 0; i < item->n && i < SHOWN_IDS; i++)
            buf_printf(b, "%s%s", i ? ", " : ": ", short_id(hex, &item->ids[i]));
        if (item->n > SHOWN_IDS)
            buf_puts(b, ", ...");
        return;
    }
    if (*item->name)
        buf_printf(b, "%s  ", item->name);
    if (item->element_kind)
        buf_printf(b, "%" PRIu64 " of %s", item->elements, item->element_kind);
    else
        buf_puts(b, kind_name(item));
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

static void print_item(FILE *to, const struct lineage_item *item, bool down, int depth)
{
    struct buf b = {0};
    if (down && item->action) {
        put_op(&b, item->action->key);
        buf_printf(&b, " (%s) -> ", item->role);
        put_what(&b, item);
    } else {
        if (depth)
            buf_printf(&b, "%s: ", item->role);
        put_what(&b, item);
        if (item->action && !item->above) {
            buf_puts(&b, "  <- ");
            put_op(&b, item->action->key);
        }
    }
    fprintf(to, "%*s%s%s\n", 2 * depth, "", b.data, item->above ? "  (above)" : "");
    buf_free(&b);
    size_t shown = 0, n = item->n_items;
    for (size_t i = 0; i < n; i++) {
        /* Files of a source and rules that matched can be many. */
        bool small = !item->items[i]->n_items || item->items[i]->took_part;
        if (small && n > SHOWN_INPUTS && ++shown > SHOWN_INPUTS)
            continue;
        print_item(to, item->items[i], down, depth + 1);
    }
    if (shown > SHOWN_INPUTS)
        fprintf(to, "%*s... and %zu more\n", 2 * depth + 2, "", shown - SHOWN_INPUTS);
}

void lineage_print(FILE *to, const struct lineage_item *root, bool down)
{
    print_item(to, root, down, 0);
    if (!root->n_items && !root->action)
        fprintf(to, "  %s\n",
                down ? "nothing was made with it" : "the store has no action that made it");
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

static void dump_item(FILE *to, const struct lineage_item *item, bool down, int depth)
{
    json_t *ids = json_array();
    for (size_t i = 0; i < item->n; i++)
        json_array_append_new(ids, id_json(&item->ids[i]));
    json_t *line = json_pack("{s:i, s:s, s:s, s:s, s:o, s:I, s:b}", "depth", depth, "role",
                             item->role, "kind", kind_name(item), "name", item->name, "ids", ids,
                             "elements", (json_int_t)item->elements, "above", item->above);
    if (item->action)
        json_object_set_new(line, down ? "by" : "made_by", action_json(item));
    reflect_dump(to, line);
    for (size_t i = 0; i < item->n_items; i++)
        dump_item(to, item->items[i], down, depth + 1);
}

void lineage_dump(FILE *to, const struct lineage_item *root, bool down)
{
    dump_item(to, root, down, 0);
}
