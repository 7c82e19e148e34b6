/* Bits under a model: an adaptive binary arithmetic coder whose predictions are mixed from several
 * contexts. Encoder and decoder are one: each call takes the value when writing and returns it when
 * reading, so that whoever models a structure writes its walk once. Integer arithmetic only: the
 * same bytes on every machine. docs/format.md, section 3.1, is complete.
 *
 * A context is a 64-bit hash of whatever the caller takes for relevant; for each the model keeps a
 * line of fifteen probabilities, the inner nodes of a binary tree over one symbol of four bits. */
#ifndef STORE_DENSE_BITS_H
#define STORE_DENSE_BITS_H

#include "base/buf.h"
#include "base/span.h"

#include <stdbool.h>
#include <stdint.h>

enum { BITS_CONTEXTS = 6, BITS_MIXERS = 32 };

struct bits;
/* NULL when the system has no memory. */
struct bits *bits_new(void);
/* A copy of what a model has learnt; NULL as above. */
struct bits *bits_copy(const struct bits *from);
void bits_free(struct bits *b);

/* From here on what is learnt lasts until bits_forget, which restores what was known here. */
void bits_remember(struct bits *b);
void bits_forget(struct bits *b);

/* One stream: written to `out`, or read from `in`. */
void bits_write_begin(struct bits *b, struct buf *out);
void bits_write_end(struct bits *b);
void bits_read_begin(struct bits *b, struct span in);
bool bits_reading(const struct bits *b);
/* The stream has been read past its end: it is no stream of this model. */
bool bits_overrun(const struct bits *b);

/* Four bits in up to BITS_CONTEXTS contexts; `mixer` chooses among BITS_MIXERS sets of weights. */
unsigned bits_nibble(struct bits *b, const uint64_t *contexts, unsigned n, unsigned mixer,
                     unsigned value);
/* One bit. */
bool bits_flag(struct bits *b, const uint64_t *contexts, unsigned n, unsigned mixer, bool value);
/* Any number below 2^32: its length in bits, then its bits from the top. */
uint32_t bits_number(struct bits *b, const uint64_t *contexts, unsigned n, unsigned mixer,
                     uint32_t value);
/* Bits that no context helps with; count <= 16. */
uint32_t bits_plain(struct bits *b, unsigned count, uint32_t value);

/* Contexts within contexts: each takes up what has been coded since. */
void bits_narrow(uint64_t *contexts, unsigned n, uint64_t by);

static inline uint64_t bits_hash(uint64_t a, uint64_t b)
{
    uint64_t h = (a ^ (b + 0x9e3779b97f4a7c15u)) * 0xff51afd7ed558ccdu;
    return h ^ (h >> 32);
}

#endif
