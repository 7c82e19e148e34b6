/* A stand-in for the engine, of ops without pool: inputs in memory, parameters at "" and 8, and the
 * last output. */
#pragma once

#include "engine/op.h"

struct op_ctx {
    struct arena a; /* to be freed; outputs live there */
    struct {
        const char *role;
        ProtobufCMessage *const *all;
        size_t n;
    } inputs[2];
    ProtobufCMessage *output;
    size_t n_outputs;
};
