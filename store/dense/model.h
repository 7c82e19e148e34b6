/* The dense form of records of one kind: coded under a model that has learnt from samples of that
 * kind, so that one record alone is small. A model is a function of its content, which is stored as
 * a `dictionary` record. Thread-safe. docs/format.md, section 3.1. */
#ifndef STORE_DENSE_MODEL_H
#define STORE_DENSE_MODEL_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"
#include "schemas/kinds.h"

enum {
    DENSE_MAX_PAYLOAD = 16 << 20, /* longer payloads have no dense form */
    /* Nor are these given one: a message of many short parts takes thirty times its payload's bytes
     * of memory, once coded and once read back. */
    DENSE_MAX_WRITTEN = 4 << 20,
    DENSE_SAMPLES = 64 << 10, /* bytes of payloads that a model learns from */
};

struct dense_model;

/* Whether records of this kind have a dense form at all. */
bool dense_serves(enum record_kind kind);
/* Whether a dictionary's content is that of a model. */
bool dense_is_model(struct span content);
/* The content of a model that learns from these payloads, in this order. */
void dense_content(struct buf *out, enum record_kind kind, const struct span *samples, size_t n);

/* Learns: takes tens of milliseconds. ERR_CORRUPT for what dense_content did not write. */
enum err_code dense_model_new(struct dense_model **out, struct span content, struct err *e);
void dense_model_free(struct dense_model *m);
enum record_kind dense_model_kind(const struct dense_model *m);
/* Of the content that it has learnt from. */
size_t dense_model_bytes(const struct dense_model *m);

/* Appends the dense form of a canonical payload of the model's kind. ERR_LIMIT when it is too long.
 */
enum err_code dense_write(struct buf *out, struct dense_model *m, struct span payload,
                          struct err *e);
/* The payload of `length` bytes, in the arena. Anything may come in; what comes out is canonical,
 * and right if its digest is. */
enum err_code dense_read(struct span *out, struct dense_model *m, struct span body, size_t length,
                         struct arena *a, struct err *e);

#endif
