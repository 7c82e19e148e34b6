/* Token vocabularies and the encoding of expressions in them. Sequences have no start or end token;
 * ops that need them add them.
 *
 *   e-gen   operators, symbols, INT+ INT- and ten digits: -12 is INT- 1 2, 3/2 is / INT+ 3 INT+ 2
 *   plain   the integers -99..99 are tokens of their own; longer ones as in e-gen
 *   trees   as plain, but longer integers are sums: 128 is + * 12 10 8
 *   placed  as plain, and the name of each operand of a binary operator also has that operator, and
 *           the operand's number if operands do not commute: / sin x cos x is
 *           / sin@/1 x cos@/2 x, and + x 2 is + x@+ 2@+; digits have no place */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "cluster.pb-c.h"
#include "token.pb-c.h"

#define TOKEN_PLACE "@" /* separates a token's name from its place */
enum { TOKEN_PAD, TOKEN_START, TOKEN_END, TOKEN_SPECIALS };

/* Allocates in the arena, but borrows the given names. `encoding` is "e-gen", "plain", "trees" or
 * "placed"; `more` adds symbols and operators. ERR_INPUT for a name that is invalid or already in
 * the vocabulary. */
enum err_code vocabulary_make(Eqloom__Vocabulary *out, struct arena *a, const char *encoding,
                              const char *const *more, size_t n_more, struct err *e);

struct encoder {
    struct name_map ids;
    const Eqloom__Vocabulary *vocabulary; /* borrowed */
};
void encoder_init(struct encoder *c, const Eqloom__Vocabulary *vocabulary);
void encoder_free(struct encoder *c);
/* Encodes an expression given in prefix tokens; ERR_INPUT names a token that is not in it. */
enum err_code encode_prefix(uint32_t **ids, size_t *n, struct arena *a, const struct encoder *c,
                            const char *prefix, struct err *e);

/* Encodes expressions given in prefix tokens as one batch in the arena, each in a cluster of its
 * own. The texts are borrowed. */
enum err_code token_batch_pack(Eqloom__TokenBatch *out, struct arena *a, const struct encoder *c,
                               char *const *texts, size_t n, struct err *e);
/* Encodes the first max_members members, in order, as one batch in the arena. All have one cluster
 * number; the cluster's seed determines the class of the batch. */
enum err_code token_batch_make(Eqloom__TokenBatch *out, struct arena *a, const struct encoder *c,
                               const Eqloom__Cluster *cluster, uint32_t max_members, struct err *e);
