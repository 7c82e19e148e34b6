/* The index behind lineage.h. */
#ifndef ENGINE_CLI_LINEAGE_INTERNAL_H
#define ENGINE_CLI_LINEAGE_INTERNAL_H

#include "base/map.h"
#include "engine/cli/provenance/lineage.h"

enum act_class {
    ACT_NODE,    /* a source, a task, a whole map or chain */
    ACT_ELEMENT, /* of a map */
    ACT_SEGMENT, /* of a chain */
};

struct act {
    struct digest key;
    enum act_class class;
    bool reused; /* an earlier result was proved to stand: another action made it */
    int64_t finished_ns;
    uint32_t op; /* in lineage.ops */
};

/* A record and what it entered: an action (by index) or a collection (by index). */
struct link {
    struct digest from;
    uint32_t to;
};

struct link_list {
    struct link *links; /* sorted by from, then to */
    size_t n, cap;
};

struct lineage {
    struct store *store;
    struct arena arena;
    struct digest_map kinds; /* of every record */
    struct act *acts;
    size_t n_acts, cap_acts;
    const char **ops;
    size_t n_ops, cap_ops;
    struct digest_map makers;  /* output -> 1 + index of the act that stands for it */
    struct digest_map firsts;  /* output -> 1 + index of the act that ran and gave it first */
    struct digest_map reusers; /* output -> 1 + index of an act that reused it, the last one */
    struct link_list uses;     /* input -> act */
    /* Element -> collection, filled when first asked for. */
    struct digest *collections;
    size_t n_collections, cap_collections;
    struct link_list members;
    bool has_members;
    struct digest_map names; /* id -> index into name_list */
    const char **name_list;
    size_t n_names, cap_names;
};

/* All links from a record. */
const struct link *link_find(size_t *n, const struct link_list *list, const struct digest *from);
enum err_code lineage_members(struct lineage *l, struct err *e);
enum record_kind lineage_kind(const struct lineage *l, const struct digest *id);
/* An item of these records, described. */
struct lineage_item *lineage_item_new(struct arena *a, struct lineage *l, const struct digest *ids,
                                      size_t n, const char *role);
enum err_code lineage_action(const Eqloom__Action **out, struct arena *a, struct lineage *l,
                             uint32_t act, struct err *e);

/* ---- lineage_whole.c ---- */

/* Of a chunk, a block or an index's vectors: what it is a part of. Reads all records that may be.
 */
enum err_code lineage_whole(struct digest *whole, bool *found, struct lineage *l,
                            const struct digest *part, struct err *e);

/* ---- lineage_parts.c ---- */

/* Of what one op's actions made, the elements in which one of these records took part, sorted, in
 * the arena. The op has a hook took_part; the records entered under the role. */
enum err_code lineage_with_part(struct digest **out, size_t *n, struct arena *a, struct lineage *l,
                                const uint32_t *acts, size_t n_acts, const struct digest *parts,
                                size_t n_parts, const char *role, struct err *e);
/* The elements of a side input that took part in one element's output, in the collection's order.
 */
enum err_code lineage_parts_of(struct digest **out, size_t *n, struct arena *a, struct lineage *l,
                               const struct op *op, const struct digest *output, const char *role,
                               const struct digest *collection, struct err *e);

#endif
