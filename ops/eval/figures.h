/* The report of an evaluation: figures by name, and the same as its first table. */
#ifndef OPS_EVAL_FIGURES_H
#define OPS_EVAL_FIGURES_H

#include "engine/op.h"
#include "report.pb-c.h"

enum { FIGURES_MOST = 20 };

struct figures {
    struct arena *a;
    Eqloom__Value *values[FIGURES_MOST];
    Eqloom__Row *rows[FIGURES_MOST];
    size_t n;
};

/* An empty row with so many cells. */
Eqloom__Row *figures_row(struct arena *a, size_t cells);
/* The name is borrowed. */
void figures_add(struct figures *f, const char *name, double value);
/* Emits the op's "report". Its title is the parameter "label", or else `title`; `more` is a second
 * table, or NULL. */
enum err_code figures_emit(struct op_ctx *ctx, struct figures *f, const char *title,
                           Eqloom__Table *more, struct err *e);

#endif
