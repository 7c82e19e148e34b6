/* Where records come from and what was made with them, from the stored actions. The store has no
 * index for this: lineage_open reads every action and every record's kind once.
 *
 * The answer is a tree of items. An item is a set of records that stand together: one record, a
 * collection, the files of a source, or, downward, all that one op made from the item above. */
#ifndef ENGINE_CLI_LINEAGE_H
#define ENGINE_CLI_LINEAGE_H

#include "engine/op.h"
#include "schemas/action.pb-c.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdio.h>

struct lineage_item {
    const struct digest *ids;
    size_t n;
    enum record_kind kind; /* KIND_NONE: not in the store (source files, removed records) */
    uint64_t elements;     /* of a collection, else 0 */
    const char *element_kind;
    const char *name; /* a ref, a file's path, what the record says of itself; "" */
    /* The input port of the action between this item and the one above, or "element". */
    const char *role;
    /* Up: the action that made it. Down: the action that made it from the item above, the first of
     * `actions`. NULL: none is known. */
    const Eqloom__Action *action;
    struct digest action_key;
    size_t actions;
    bool took_part; /* an element of a side input: see op.took_part */
    bool above;     /* stands further up in the tree, with all that follows from it */
    struct lineage_item **items;
    size_t n_items, cap_items;
};

struct lineage;
enum err_code lineage_open(struct lineage **out, struct store *s, struct err *e);
void lineage_close(struct lineage *l); /* NULL is fine */

/* ---- lineage_walk.c: trees live as long as the arena and the lineage ---- */
enum err_code lineage_down(struct lineage_item **out, struct arena *a, struct lineage *l,
                           const struct digest *id, struct err *e);
/* Shallow: ends at the inputs of the first action. */
enum err_code lineage_up(struct lineage_item **out, struct arena *a, struct lineage *l,
                         const struct digest *id, bool shallow, struct err *e);
/* The op that made a record (of an element without an action of its own: its collection), and when.
 * *op: "" if no action says so. */
enum err_code lineage_maker(const char **op, int64_t *finished_ns, struct lineage *l,
                            const struct digest *id, struct err *e);

/* ---- lineage_print.c ---- */
void lineage_print(FILE *to, const struct lineage_item *root, bool down);
void lineage_dump(FILE *to, const struct lineage_item *root, bool down); /* JSON */

#endif
