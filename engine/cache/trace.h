/* Traces: shortcuts from a digest (of an element, of what is read) to the action that made the
 * result, and to the witness that its op left. One that is missing, old or leads nowhere costs no
 * more than the work that it would have saved. */
#pragma once

#include "engine/cache/action.h"

struct trace {
    struct digest action;
    struct digest made_by; /* the action that ran, under which the witness is stored; zero: none */
    struct span witness;   /* in the arena */
};

/* False: there is none that can be understood. */
bool trace_read(struct trace *out, struct arena *a, struct store *s, const struct digest *at);
bool trace_parse(struct trace *out, struct arena *a, struct span bytes);
enum err_code trace_write(struct store_batch *b, struct arena *a, const struct digest *at,
                          const struct trace *trace, struct err *e);
/* The action that it leads to, if that is stored. */
bool trace_follow(struct action_result *out, struct arena *a, struct store *s, const struct op *op,
                  const struct digest *at);
