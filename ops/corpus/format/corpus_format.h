/* Corpora of equivalent expressions as others write them.
 *
 *   e-gen     a line of prefix tokens for each expression, `-4` one token, a fraction `/ 3 2`; the
 *             seed first; an empty line between clusters
 *   pairs     two expressions separated by a tab, equal ones (also EED's `in\tout`)
 *   triplets  three: the first two are equal, the third is not
 *   jsonl     {"seed": "...", "members": ["...", ...]} on each line, prefix tokens; what
 *             `eqloom export` writes is read too
 *   semvec    one JSON object: {"...": {"Original": {"Tokens": [...]}, "Noise": [{"Tokens":
 * ...}]}}, infix tokens
 *   expressions  expressions that are equal to nothing, one or several a line, separated by tabs:
 * EED's held-out files; Lample and Charton's, whose lines begin with `12|` and `sub Y'`
 *
 * Prefix tokens may be in words (expr_parse_words). An expression with a backslash or a brace is
 * LaTeX in all of them; what is ambiguous is refused. What is read is not believed: members have
 * the standing UNKNOWN. Pairs with an expression in common are one cluster. */
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
    "e-gen|pairs|triplets|semvec|expressions"            /* jsonl is `eqloom export`'s */
enum corpus_format corpus_format_find(const char *name); /* CORPUS_FORMATS: none */

/* Clusters that are being read; begin with `a` and `lang` set and all else zero. */
struct corpus {
    struct arena *a;
    const struct language *lang;
    struct latex_reader *latex;
    bool words; /* prefix tokens are */
    Eqloom__Cluster **clusters;
    size_t n, cap;
    /* Lines that cannot be read, a line each as "FILE:LINE:COLUMN: why"; NULL: they are errors. */
    struct buf *malformed;
    /* Expressions of pairs, each once, joined by union-find; roots come first. */
    struct corpus_pairs {
        struct name_map index;
        struct corpus_paired {
            struct expr x;
            uint32_t parent;
        } * all;
        size_t n, cap;
    } pairs;
};

/* Appends one file. Errors carry the place. Pairs wait for corpus_finish,
 * since another file may join them. */
enum err_code corpus_read(struct corpus *c, enum corpus_format format,
                          const struct source_text *source, struct err *e);
/* After the last file: pairs become clusters. After an error, too: frees what is in no arena. */
void corpus_finish(struct corpus *c);

struct corpus_write_options {
    uint32_t per_cluster; /* pairs and triplets: ordered pairs drawn from each cluster; 0: all */
    uint64_t seed;        /* of the draw */
    bool words;           /* prefix tokens are; not semvec's */
    bool json;            /* pairs and triplets: an object a line */
    /* Every `shards`-th cluster, from number `shard` on; 0: all. */
    size_t shard, shards;
    /* Takes what there is and clears it, each time that it is long; NULL: all stays. */
    enum err_code (*flush)(void *arg, struct buf *out, struct err *e);
    void *arg;
};
/* A format of CORPUS_WRITTEN_NAMES. */
enum err_code corpus_write(struct buf *out, enum corpus_format format,
                           Eqloom__Cluster *const *clusters, size_t n,
                           const struct corpus_write_options *options, struct err *e);

/* The prefix form, with the fractions that corpora write as `/ 3 2` read as numbers again. */
char *corpus_prefix(struct arena *a, const struct expr *x);
