/* Where records come from and what was made with them, from the stored actions. The store has no
 * index in this direction: lineage_open looks at every action and at every record's kind once.
 *
 * What is found is a tree of items. An item is a set of records that stand together: one record, a
 * collection, the files of a source, or, downward, all that one op made from the item above. */
#ifndef ENGINE_CLI_LINEAGE_H
#define ENGINE_CLI_LINEAGE_H

#include "action.pb-c.h"
#include "engine/op.h"
#include "store/store.h"

#include <stdio.h>

struct lineage_item {
    const struct digest *ids;
    size_t n;
    enum record_kind kind; /* KIND_NONE: not in the store (source files, things removed) */
    uint64_t elements;     /* of a collection, else 0 */
    const char *element_kind;
    /* A ref, a file's path, what the record says of itself; of several, the named collection that
     * holds them; "" */
    const char *name;
    const char *role; /* up: as what it entered what stands above; down: as what the item above
                         entered; "element" for the step between an element and its collection,
                         "part" for that between a part of a record (a chunk) and the whole */
    /* Up: the action that made it; down: the action that made it from the item above, one of
     * `actions`. NULL: none is known. */
    const Eqloom__Action *action;
    struct digest action_key;
    size_t actions;
    bool part;  /* one of a side input's elements: it took part (op.took_part) */
    bool above; /* stands elsewhere in the tree, with all that hangs on it */
    struct lineage_item **items;
    size_t n_items;
};

struct lineage;
enum err_code lineage_open(struct lineage **out, struct store *s, struct err *e);
void lineage_close(struct lineage *l); /* NULL is fine */

/* Lives as long as the arena and the lineage. */
enum err_code lineage_up(struct lineage_item **out, struct arena *a, struct lineage *l,
                         const struct digest *id, struct err *e);
/* The op that made a record (or, of elements that have no action of their own, the first collection
 * that holds them), and when. *op: "" when nothing says so. */
enum err_code lineage_maker(const char **op, int64_t *finished_ns, struct lineage *l,
                            const struct digest *id, struct err *e);
enum err_code lineage_down(struct lineage_item **out, struct arena *a, struct lineage *l,
                           const struct digest *id, struct err *e);

/* ---- lineage_print.c ---- */
void lineage_print(FILE *to, const struct lineage_item *root, bool down);
void lineage_dump(FILE *to, const struct lineage_item *root, bool down); /* JSON */
void lineage_draw(FILE *to, const struct lineage_item *root, bool down); /* DOT */

#endif
