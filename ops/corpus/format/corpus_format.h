/* Formats of other programs for corpora of equivalent expressions.
 *
 *   e-gen     one expression per line in prefix tokens, `-4` one token, a fraction `/ 3 2`; the
 *             seed first; an empty line between clusters
 *   pairs     two equal expressions per line, separated by a tab (also EED's `in\tout`)
 *   triplets  three expressions per line: the first two are equal, the third is not
 *   jsonl     {"seed": "...", "members": ["...", ...]} on each line; the output of `eqloom export`
 *             is read, too
 *   semvec    one JSON object, infix tokens:
 *             {"...": {"Original": {"Tokens": [...]}, "Noise": [{"Tokens": ...}]}}
 *   expressions  unrelated expressions, one or several per line, separated by tabs: EED's held-out
 *             files; Lample and Charton's, whose lines begin with `12|` and `sub Y'`
 *
 * Instead of prefix tokens, expressions may be words (expr_parse_words), infix or LaTeX; in all
 * formats LaTeX is found by latex_is. What has several readings is refused.
 * Pairs, triplets and expressions may be columns of a table with a header (base/io/columns.h).
 * Equality is not taken on trust: members have the standing UNKNOWN. Pairs with an expression in
 * common form one cluster. */
#pragma once

#include "base/buf.h"
#include "base/map.h"
#include "cluster.pb-c.h"
#include "ops/latex/read/latex.h"

enum corpus_format {
    CORPUS_E_GEN,
    CORPUS_PAIRS,
    CORPUS_TRIPLETS,
    CORPUS_JSONL,
    CORPUS_SEMVEC,
    CORPUS_EXPRESSIONS,
    CORPUS_FORMATS
};
#define CORPUS_FORMAT_NAMES "e-gen|pairs|triplets|jsonl|semvec|expressions"
#define CORPUS_WRITTEN_NAMES                                                                       \
    "e-gen|pairs|triplets|semvec|expressions"            /* `eqloom export` writes jsonl */
enum corpus_format corpus_format_find(const char *name); /* CORPUS_FORMATS if unknown */

enum corpus_notation {
    CORPUS_PREFIX,
    CORPUS_WORDS,
    CORPUS_INFIX,
    CORPUS_LATEX,
    CORPUS_SYMPY,
    CORPUS_NOTATIONS
};
#define CORPUS_NOTATION_NAMES "prefix|words|infix|latex|sympy"
enum corpus_notation corpus_notation_find(const char *name); /* CORPUS_NOTATIONS if unknown */

/* The number of expressions in a line of the format; 0: any number, 1: lines are no rows. */
size_t corpus_columns(enum corpus_format format);

/* Clusters being read; the caller sets `a`, `lang` and the options, and all else to zero. */
struct corpus {
    struct arena *a;
    const struct language *lang;
    struct latex_reader *latex;
    enum corpus_notation notation;
    const char *const *columns; /* names in the header; n_columns 0: there is no header */
    size_t n_columns;
    bool skip; /* leave out malformed lines; else they are errors */
    Eqloom__Cluster **clusters;
    size_t n, cap;
    /* Malformed lines, and the first of them as "FILE:LINE:COLUMN: why\n". */
    size_t n_malformed;
    struct buf malformed;
    struct arena line; /* of one line */
    /* Distinct expressions of pairs, joined by union-find; a root precedes its set. */
    struct corpus_pairs {
        struct name_map index;
        struct corpus_paired {
            struct expr x;
            uint32_t parent;
        } * all;
        size_t n, cap;
    } pairs;
};

/* Appends one file. Errors have a position. Pairs become clusters only in corpus_finish, since
 * another file may join them. */
enum err_code corpus_read(struct corpus *c, enum corpus_format format,
                          const struct source_text *source, struct err *e);
/* Turns pairs into clusters after the last file and frees all but `malformed`; also called after an
 * error. */
void corpus_finish(struct corpus *c);

struct corpus_write_options {
    uint32_t per_cluster; /* pairs and triplets: ordered pairs drawn from each cluster; 0: all */
    uint64_t seed;        /* of the draw */
    bool words;           /* prefix tokens are words; not for semvec */
    bool json;            /* pairs and triplets: one object per line */
    /* Writes every `shards`-th cluster from number `shard` on; shards 0: all. */
    size_t shard, shards;
    /* Consumes and clears `out` whenever it is long; NULL: all stays in `out`. */
    enum err_code (*flush)(void *arg, struct buf *out, struct err *e);
    void *arg;
};
/* `format` is one of CORPUS_WRITTEN_NAMES. */
enum err_code corpus_write(struct buf *out, enum corpus_format format,
                           Eqloom__Cluster *const *clusters, size_t n,
                           const struct corpus_write_options *options, struct err *e);

/* The prefix form, with fractions written as `/ 3 2` turned back into numbers. */
char *corpus_prefix(struct arena *a, const struct expr *x);
