/* Differences between two records. */
#pragma once

#include "engine/cli/console/cli.h"
#include "store/store.h"

struct diff {
    struct cli *c;
    uint64_t limit; /* elements listed of each sort */
    bool differ;    /* found so far */
};

struct field_change {
    const char *path;           /* "seed.prefix", "values.mrr" */
    const char *before, *after; /* as text; "" where there is nothing */
    bool same;
};
struct field_changes {
    struct arena *arena;
    struct field_change *rows;
    size_t n, cap;
};
/* Two messages of one type. Equal fields are left out, except values with names (of reports, the
 * last of each metric), which are wanted side by side. */
void diff_fields(struct field_changes *out, struct arena *a, const ProtobufCMessage *before,
                 const ProtobufCMessage *after);

/* Any two records, collections too, as tables or JSON lines; `of` names them, or is "". */
enum err_code diff_records(struct diff *d, const char *of, const struct digest *before,
                           const struct digest *after, struct err *e);
/* How many elements differ; false if these are not collections, or gc removed one. */
bool diff_count(size_t *added, size_t *removed, struct cli *c, const struct digest *before,
                const struct digest *after);
