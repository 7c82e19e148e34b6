/* Initial expressions from declarative templates: the file format of docs/templates.md. */
#pragma once

#include "expr.pb-c.h"
#include "ops/expr/expr.h"

struct templates_options {
    uint64_t seed;                   /* which expressions 'take' and `limit` choose */
    uint64_t limit;                  /* maximum number of expressions; 0: no limit */
    const struct language *calculus; /* with user-defined operators; NULL: without */
};

struct templates {
    struct expr *exprs; /* in the order of the files; no two are the same tree */
    size_t n;
    struct templates_domain {
        const char *name, *domain;
        struct templates_domain *next;
    } * domains; /* of variables */
};

/* Results are stored in the arena. */
enum err_code templates_expand(struct templates *out, struct arena *a,
                               const struct source_text *sources, size_t n_sources,
                               const struct templates_options *options, struct err *e);
void templates_to_message(Eqloom__Expr *out, struct arena *a, const struct templates *t, size_t i);
