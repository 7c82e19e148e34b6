/* Resolves a REF of the command line: a ref, a node of one job, or leading digits of an id. */
#pragma once

#include "engine/cli/console/cli.h"
#include "store/store.h"

struct resolved {
    struct digest id;
    const char *name; /* of the ref; NULL if REF is an id */
};

/* If REF is ambiguous, prints its candidates to c->narration and returns ERR_AMBIGUOUS. */
enum err_code resolve(struct resolved *out, struct cli *c, const char *text, struct err *e);

/* Returns a short text that identifies a record: its name or expression (infix unless --latex or
 * --prefix is given), else its title, first text or step; "" if it has none of these. */
const char *resolve_label(struct arena *a, const struct cli *c, const struct digest *id);
