/* Differences between two records or two runs. */
#ifndef ENGINE_CLI_DIFF_H
#define ENGINE_CLI_DIFF_H

#include "engine/cli/console/cli.h"
#include "engine/cli/records/runs.h"
#include "store/store.h"

struct diff {
    struct cli *c;
    uint64_t limit; /* elements listed of each sort */
    bool differ;    /* found so far */
};

/* ---- diff_fields.c ---- */
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
/* As a table with the difference of numbers, or as JSON lines; `of` names the record, or is "". */
void diff_print_fields(struct cli *c, const char *of, const struct field_changes *changes);

/* ---- diff_collection.c ---- */
/* Any two records; collections too. */
enum err_code diff_records(struct diff *d, const char *of, const struct digest *before,
                           const struct digest *after, struct err *e);

/* ---- diff_run.c ---- */
enum err_code diff_runs(struct diff *d, const char *name_before, const Eqloom__Run *before,
                        const char *name_after, const Eqloom__Run *after, struct err *e);

#endif
