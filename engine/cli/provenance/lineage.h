/* Where records come from and what was made with them, from the stored actions. The store has no
 * index for this: lineage_open reads every action and every record's kind once. */
#pragma once

#include "engine/cli/console/cli.h"
#include "engine/op.h"
#include "schemas/action.pb-c.h"
#include "store/store.h"

enum { NO_ACT = UINT32_MAX };

struct act {
    struct digest key;
    bool whole;  /* of a source, a task, a whole map or chain; else of an element or a segment */
    bool reused; /* reuses another action's result; the note names the witness */
    int64_t finished_ns;
    const char *op;
};

/* From a record to an action, or to a collection that contains it (by index). */
struct link {
    struct digest from;
    uint32_t to;
};

struct link_list {
    struct link *links; /* sorted by from, then to */
    size_t n, cap;
};

/* `ids` is on the heap. */
struct id_set {
    struct digest *ids;
    size_t n, cap;
};

struct lineage {
    struct cli *c; /* its store is indexed */
    struct arena arena;
    struct digest_map kinds; /* of every record */
    struct act *acts;
    size_t n_acts, cap_acts;
    struct link_list uses, outputs; /* input -> act, output -> act */
    struct id_set collections;      /* outputs of nodes */
    struct link_list members;       /* element -> collection; filled by lineage_members */
    bool has_members;
    struct digest_map names; /* id -> const char *, in the arena */
};

enum err_code lineage_open(struct lineage **out, struct cli *c, struct err *e);
void lineage_close(struct lineage *l); /* NULL is fine */

/* Returns the action that made a record, or NO_ACT. Of several, prefers that of a whole node, else
 * the first that ran. */
uint32_t lineage_act(const struct lineage *l, const struct digest *id);
/* Returns the last action that reused the record, or NO_ACT. */
uint32_t lineage_reuser(const struct lineage *l, const struct digest *id);
enum err_code lineage_action(const Eqloom__Action **out, struct arena *a, struct lineage *l,
                             uint32_t act, struct err *e);

/* Returns the links from a record, *n of them. */
const struct link *link_find(size_t *n, const struct link_list *list, const struct digest *from);
enum err_code lineage_members(struct lineage *l, struct err *e);
/* Finds a collection that contains a record, preferably a source's output; *out is NULL if there is
 * none. */
enum err_code lineage_holder(const struct digest **out, struct lineage *l, const struct digest *id,
                             struct err *e);

/* Finds the action that made a record or, if the record has no action of its own, a collection that
 * contains it. *made is that record or collection; NULL, and *act NO_ACT, if there is none. */
enum err_code lineage_maker(uint32_t *act, const struct digest **made, struct lineage *l,
                            const struct digest *id, struct err *e);

void id_set_add(struct id_set *s, const struct digest *id);
void id_set_sort(struct id_set *s); /* also removes duplicates */
enum err_code id_set_add_elements(struct id_set *s, struct lineage *l,
                                  const struct digest *collection, struct err *e);

enum record_kind lineage_kind(const struct lineage *l, const struct digest *id);
/* Description of a record for display. */
struct lineage_text {
    const char *kind;         /* "file": not in the store (source files, removed records) */
    const char *name;         /* a ref, a file's path, or a label from its content; "" */
    const char *element_kind; /* of a collection, else NULL */
    uint64_t elements;
};
struct lineage_text lineage_describe(struct arena *a, const struct lineage *l,
                                     const struct digest *id);
static inline const struct digest *lineage_id(ProtobufCBinaryData ids, size_t i)
{
    return (const struct digest *)ids.data + i;
}
/* Returns the role of the input that is or contains the record, or NULL. */
const char *lineage_role(const Eqloom__ActionKey *key, const struct digest *id);

/* Prints the tree of a record. */
enum err_code lineage_print(struct cli *c, struct lineage *l, const struct digest *id, bool down,
                            struct err *e);
