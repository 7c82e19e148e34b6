/* What a REF on the command line stands for: a ref, a node of one job, or digits of an id. */
#pragma once

#include "engine/cli/console/cli.h"
#include "store/store.h"

struct resolved {
    struct digest id;
    const char *name; /* the ref's; NULL for an id */
};

/* An ambiguous REF prints its candidates as narration and fails with ERR_AMBIGUOUS. */
enum err_code resolve(struct resolved *out, struct cli *c, const char *text, struct err *e);

/* A short text that says which record it is: its name or expression (infix unless --latex or
 * --prefix is given), else its title, first text or step; "" when it has nothing of the kind. */
const char *resolve_label(struct arena *a, const struct cli *c, const struct digest *id);
