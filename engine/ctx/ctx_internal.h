/* Declarations that the files of op_ctx share: inputs (ctx.c), outputs (ctx_output.c), reuse
 * (ctx_reuse.c), summaries (leaf_summary.c). */
#pragma once

#include "engine/ctx/ctx.h"
#include "engine/session/session.h"
#include "store/collection/collection.h"

struct ctx_port {
    struct collection *reader;        /* collections; NULL: absent */
    pthread_mutex_t mutex;            /* of the reader */
    const ProtobufCMessage **decoded; /* side inputs, by position; NULL until one is read */
    struct summaries *summaries;      /* NULL until first used */
};

/* The elements of an input collection that an earlier version of it lacked. */
struct ctx_difference {
    size_t port;
    struct digest before;
    enum err_code code; /* error of the comparison, or OK */
    uint64_t *positions;
    size_t n, cap;
    struct ctx_difference *next;
};

struct ctx_node {
    struct node_run *r;
    struct ctx_port *ports;
    size_t n_ports;
    pthread_mutex_t mutex; /* guards the fields below, and `decoded` */
    struct arena arena;
    struct ctx_difference *differences;
};

static inline struct store *ctx_store(const struct op_ctx *ctx)
{
    return ctx->shared->r->s->store;
}

enum err_code ctx_port_id(struct digest *id, struct ctx_port *port, uint64_t i, struct err *e);
/* Appends to the outputs of this call. */
void ctx_add_output(struct op_ctx *ctx, size_t output, const struct digest *id);
size_t ctx_port_of(const struct op_ctx *ctx, const char *role);
enum err_code ctx_input_id(struct digest *id, struct op_ctx *ctx, size_t port, uint64_t i,
                           struct err *e);
/* Keeps the message of the first record that is missing from the store although it should be there;
 * returns the code. */
enum err_code ctx_keep_loss(struct op_ctx *ctx, enum err_code code, const struct err *e);
void summaries_free(struct summaries *s); /* accepts NULL */
