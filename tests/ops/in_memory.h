/* A stand-in for the engine behind which ops run on inputs in memory, without a pool. */
#pragma once

#include "engine/op.h"
#include "report.pb-c.h"

enum { MEMORY_OUTPUTS = 16 };

struct op_ctx {
    const struct op *op;
    const char *name, *value; /* of a parameter that is not the default; or NULL */
    struct arena a;           /* to be freed; outputs live there */
    struct {
        const char *role;
        ProtobufCMessage *const *all;
        size_t n;
    } inputs[4];
    /* What was emitted, as copies, and the inputs that were passed. */
    ProtobufCMessage *outputs[MEMORY_OUTPUTS];
    size_t n_outputs;
};

/* Of the report that was emitted last; NaN if it has no such figure. */
const Eqloom__Report *report_emitted(const struct op_ctx *ctx);
double figure_emitted(const struct op_ctx *ctx, const char *name);
