/* Token vocabularies and the encoding of expressions in them. Sequences carry neither start nor
 * end: what needs them adds them.
 *
 *   e-gen   operators, symbols, INT+ INT- and ten digits: -12 is INT- 1 2, 3/2 is / INT+ 3 INT+ 2
 *   plain   the integers -99..99 are tokens of their own; longer ones as in e-gen
 *   trees   as plain, but longer integers are sums: 128 is + * 12 10 8
 *   placed  as plain, and each token but digits says where it stands if that is under an operator
 * of two operands, and as which if these do not commute: / sin x cos x is / sin@/1 x cos@/2 x, + x
 * 2 is + x@+ 2@+ */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "cluster.pb-c.h"
#include "token.pb-c.h"

#define TOKEN_PLACE "@" /* ends a token's name and begins its place */
enum { TOKEN_PAD, TOKEN_START, TOKEN_END, TOKEN_SPECIALS };

/* Lives in the arena, but for the names given. `encoding` is "e-gen", "plain", "trees" or "placed";
 * more symbols and operators may be added. ERR_INPUT for a name that is there already or is no
 * name. */
enum err_code vocabulary_make(Eqloom__Vocabulary *out, struct arena *a, const char *encoding,
                              const char *const *more, size_t n_more, struct err *e);

struct encoder {
    struct name_map ids;
    const Eqloom__Vocabulary *vocabulary; /* borrowed */
};
void encoder_init(struct encoder *c, const Eqloom__Vocabulary *vocabulary);
void encoder_free(struct encoder *c);
/* Ids of an expression in prefix tokens; ERR_INPUT names a token that the vocabulary lacks. */
enum err_code encode_prefix(uint32_t **ids, size_t *n, struct arena *a, const struct encoder *c,
                            const char *prefix, struct err *e);

/* These expressions, in prefix tokens, as one batch in the arena; each of a cluster of its own. The
 * texts are borrowed. */
enum err_code token_batch_pack(Eqloom__TokenBatch *out, struct arena *a, const struct encoder *c,
                               char *const *texts, size_t n, struct err *e);
/* The first max_members members, in order, as one batch in the arena; all of one cluster number,
 * and the batch of the class that the cluster's seed names. */
enum err_code token_batch_make(Eqloom__TokenBatch *out, struct arena *a, const struct encoder *c,
                               const Eqloom__Cluster *cluster, uint32_t max_members, struct err *e);
