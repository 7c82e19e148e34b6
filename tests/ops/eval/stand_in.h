/* A stand-in for the engine, of ops without pool: inputs in memory, parameters at "" and 8, and the
 * last output. */
#pragma once

#include "engine/op.h"
#include "report.pb-c.h"

struct op_ctx {
    struct arena a; /* to be freed; outputs live there */
    struct {
        const char *role;
        ProtobufCMessage *const *all;
        size_t n;
    } inputs[4];
    const char *match; /* the parameter of that name */
    ProtobufCMessage *output;
    size_t n_outputs;
};

/* Of the report that was emitted; NaN if it has no such figure. */
const Eqloom__Report *stand_in_report(const struct op_ctx *ctx);
double stand_in_figure(const struct op_ctx *ctx, const char *name);
