/* The index behind lineage.h: actions, and links between records and actions. */
#ifndef ENGINE_CLI_LINEAGE_INDEX_H
#define ENGINE_CLI_LINEAGE_INDEX_H

#include "base/map.h"
#include "engine/cli/provenance/lineage.h"

enum { NO_ACT = UINT32_MAX };

enum act_class {
    ACT_NODE,    /* a source, a task, a whole map or chain */
    ACT_ELEMENT, /* of a map */
    ACT_SEGMENT, /* of a chain */
};

struct act {
    struct digest key;
    enum act_class class;
    bool reused; /* took over another action's result: the note says by which witness */
    int64_t finished_ns;
    const char *op;
};

/* From a record to an action, or to a collection that holds it (by index). */
struct link {
    struct digest from;
    uint32_t to;
};

struct link_list {
    struct link *links; /* sorted by from, then to */
    size_t n, cap;
};

/* Ids on the heap. */
struct id_set {
    struct digest *ids;
    size_t n, cap;
};

struct lineage {
    struct store *store;
    struct arena arena;
    struct digest_map kinds; /* of every record */
    struct act *acts;
    size_t n_acts, cap_acts;
    struct link_list uses, outputs; /* input -> act, output -> act */
    struct id_set collections;      /* that nodes gave */
    struct link_list members;       /* element -> collection; filled by lineage_members */
    bool has_members;
    struct digest_map names; /* id -> index into name_list */
    const char **name_list;
    size_t n_names, cap_names;
};

/* The action that made a record: of several a whole node's, else the first that ran; NO_ACT: none.
 */
uint32_t lineage_act(const struct lineage *l, const struct digest *id);
/* The last that took it over from another action; NO_ACT: none. */
uint32_t lineage_reuser(const struct lineage *l, const struct digest *id);
enum err_code lineage_action(const Eqloom__Action **out, struct arena *a, struct lineage *l,
                             uint32_t act, struct err *e);

/* All links from a record. */
const struct link *link_find(size_t *n, const struct link_list *list, const struct digest *from);
enum err_code lineage_members(struct lineage *l, struct err *e);
/* The collection that holds a record, best one that a source gave; NULL: none. */
enum err_code lineage_holder(const struct digest **out, struct lineage *l, const struct digest *id,
                             struct err *e);

void id_set_add(struct id_set *s, const struct digest *id);
void id_set_sort(struct id_set *s); /* and drops duplicates */
enum err_code id_set_add_elements(struct id_set *s, struct lineage *l,
                                  const struct digest *collection, struct err *e);

enum record_kind lineage_kind(const struct lineage *l, const struct digest *id);
/* A ref or a path; NULL: none. */
const char *lineage_name(const struct lineage *l, const struct digest *id);
struct digest lineage_id(ProtobufCBinaryData ids, size_t i);

#endif
