/* Domains of variables in records and as an op parameter. */
#pragma once

#include "engine/op.h"
#include "expr.pb-c.h"
#include "ops/expr/ball/ball.h"

struct domains {
    const struct ball_domain *all;
    size_t n;
};

/* Reads the op parameter `domains`. The result is in the arena. */
enum err_code domains_read(struct domains *out, struct arena *a, struct op_ctx *ctx, struct err *e);
/* The given domains (may be NULL), then those of the record's other variables (may be NULL).
 * Borrows the names. */
struct domains domains_of(struct arena *a, const Eqloom__Expr *of, const struct domains *given);
/* Stores the domains in the record. */
void domains_store(Eqloom__Expr *out, struct arena *a, const struct domains *domains);

/* An entry for an op's parameter table. */
#define DOMAINS_PARAM                                                                              \
    {                                                                                              \
        "domains", OP_STRINGS, "", NULL, 0, 0,                                                     \
            "Domains of variables: 'x:real', 'n:integer', 'x>1', '0<x<1'. Other variables keep "   \
            "the domain that the input states, or are positive."                                   \
    }
