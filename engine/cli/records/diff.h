/* Differences between two artifacts or two runs. */
#ifndef ENGINE_CLI_DIFF_H
#define ENGINE_CLI_DIFF_H

#include "engine/cli/console/cli.h"
#include "engine/cli/records/runs.h"
#include "store/store.h"

struct diff {
    struct cli *c;
    struct store *store;
    uint64_t limit; /* elements listed of each sort */
    bool differ;    /* found so far */
};

/* ---- messages: diff_fields.c ---- */
struct field_change {
    const char *path;           /* "seed.prefix", "values.mrr" */
    const char *before, *after; /* as text; "" where there is nothing */
    bool same;
};
struct field_changes {
    struct arena *arena;
    struct field_change *rows;
    size_t n, cap;
    size_t n_changed;
};
/* Two messages of one type. Fields that are the same are left out, but not figures that have names
 * (values of reports, the last of a metric), which are wanted side by side. */
void diff_fields(struct field_changes *out, struct arena *a, const ProtobufCMessage *before,
                 const ProtobufCMessage *after);
/* As a table with the difference of numbers, or as JSON lines; `of` names the artifact, or is "".
 */
void diff_print_fields(struct cli *c, const char *of, const struct field_changes *changes);

/* ---- diff_collection.c ---- */
enum err_code diff_collections(struct diff *d, const struct digest *before,
                               const struct digest *after, struct err *e);
/* Any two records; collections too. */
enum err_code diff_records(struct diff *d, const char *of, const struct digest *before,
                           const struct digest *after, struct err *e);

/* ---- diff_run.c ---- */
enum err_code diff_runs(struct diff *d, const char *name_before, const Eqloom__Run *before,
                        const char *name_after, const Eqloom__Run *after, struct err *e);

#endif
