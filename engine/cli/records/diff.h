/* Differences between two records. */
#pragma once

#include "engine/cli/console/cli.h"
#include "store/store.h"

struct diff {
    struct cli *c;
    uint64_t limit; /* elements listed as added, as removed and as changed, each */
    bool differ;    /* whether a difference was found so far */
};

struct field_change {
    const char *path;           /* "seed.prefix", "values.mrr" */
    const char *before, *after; /* as text; "" if absent */
    bool same;
};
struct field_changes {
    struct arena *arena;
    struct field_change *rows;
    size_t n, cap;
};
/* Compares two messages of one type. Equal fields are left out, except named values (of reports,
 * and the last of each metric), which are shown side by side. */
void diff_fields(struct field_changes *out, struct arena *a, const ProtobufCMessage *before,
                 const ProtobufCMessage *after);

/* Compares two records or collections and prints tables or JSON lines; `of` is their name, or
 * "". */
enum err_code diff_records(struct diff *d, const char *of, const struct digest *before,
                           const struct digest *after, struct err *e);
/* Counts the elements that differ. Returns false if these are not collections or gc removed one. */
bool diff_count(size_t *added, size_t *removed, struct cli *c, const struct digest *before,
                const struct digest *after);
