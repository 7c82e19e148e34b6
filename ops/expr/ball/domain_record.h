/* Domains of variables in records, and as a parameter of ops. */
#pragma once

#include "engine/op.h"
#include "expr.pb-c.h"
#include "ops/expr/ball/ball.h"

struct domains {
    const struct ball_domain *all;
    size_t n;
};

/* The op's parameter `domains`. Lives in the arena. */
enum err_code domains_read(struct domains *out, struct arena *a, struct op_ctx *ctx, struct err *e);
/* Those that are given (or NULL), then those of the other variables of a record (or NULL). Borrows
 * the names. */
struct domains domains_of(struct arena *a, const Eqloom__Expr *of, const struct domains *given);
/* The record with these domains. */
void domains_store(Eqloom__Expr *out, struct arena *a, const struct domains *domains);

/* Of an op's table of parameters. */
#define DOMAINS_PARAM                                                                              \
    {                                                                                              \
        "domains", OP_STRINGS, "", NULL, 0, 0,                                                     \
            "Of variables: 'x:real', 'n:integer', 'x>1', '0<x<1'; else those of the input, or "    \
            "positive."                                                                            \
    }
