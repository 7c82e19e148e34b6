/* An e-graph as a grammar of terms: counting, unranking and drawing them.
 *
 * A filter is a deterministic tree automaton: every term has one *kind* (a bit), computed from its
 * top operator and its children's kinds; a term without a kind is not in the language. The grammar
 * is the product of e-graph and automaton:
 *
 *     alternative  (e-node, kinds that its children may have, kind of the result)
 *     slot         (class, set of kinds, other class): the terms of the class whose kind is in the
 *                  set and none of whose operands is in the other class
 *
 * The alternatives of an e-node exclude each other, and a canonical e-graph is hash-consed, so each
 * term has exactly one derivation: counts are counts of terms. Length is in tokens of the corpora:
 * one per node, three for a fraction. Lengths are bounded, so cycles need no special treatment.
 *
 * Terms with a subterm that is equal, by the e-graph, to its own operand or operand's operand are
 * left out (x+0, |x|, a-(a-x), 1/(1/x), sin(asin(x))); a class that contains a number has no other
 * terms, unless it is the root.
 *
 * Ranks refer to this order of the terms of (slot, length): by alternative (in the order of
 * e-nodes, then of the filter's table), then by the length of the left child, then by the left
 * child's rank, then by the right child's. */
#pragma once

#include "egraph.pb-c.h"
#include "ops/expr/expr.h"

typedef unsigned __int128 count_t;
#define COUNT_MAX (~(count_t)0)
enum { EXTRACT_MAX_TOKENS = 256, GRAMMAR_NONE = UINT32_MAX };

struct grammar_options {
    uint32_t max_tokens;
    uint32_t max_digits; /* maximum for the numerator and denominator of a number; 0: no limit */
};

/* ---- kinds and filters: extract_filter.c ---- */
typedef uint64_t kinds_t;
#define KINDS_ALL (~(kinds_t)0)

struct filter_rule {
    kinds_t child[2]; /* kinds that the children may have; 0 beyond the arity */
    kinds_t kind;     /* kind of the result, one bit */
};
enum { FILTER_MAX_RULES = 8 };
struct filter {
    uint32_t n_ops;
    struct filter_ops {
        uint8_t n;
        struct filter_rule rules[FILTER_MAX_RULES];
    } * ops; /* by operator number */
};
void filter_init(struct filter *out, struct arena *a, const struct language *lang);
kinds_t filter_leaf_kind(uint16_t op, const char *leaf);
/* Returns the kinds that only leaves have. */
kinds_t filter_leaf_kinds(void);

/* ---- the grammar: extract_grammar.c ---- */
struct grammar_node {
    uint16_t op;
    uint8_t arity, tokens; /* tokens: of the node without its children, 3 for a fraction */
    const char *text;      /* as printed in Expr.prefix */
    uint32_t child[2];     /* classes */
};

struct grammar_alt {
    uint32_t node;
    uint32_t slot[2];  /* GRAMMAR_NONE beyond the arity */
    uint32_t child[2]; /* classes of the children */
    kinds_t kind;
};

struct grammar {
    const struct language *lang;
    uint32_t max_tokens;
    uint32_t n_classes, root_class;
    const uint32_t *class_begin; /* by class: index of its first e-node */
    uint32_t n_nodes;
    struct grammar_node *nodes;
    /* By class, computed for the classes that occur in terms within the budget: */
    uint16_t *least;     /* a lower bound of the length of its terms; UINT16_MAX: it has no terms */
    uint16_t *budget;    /* the maximum useful length; 0: not used */
    uint32_t *alt_begin; /* n_classes + 1 */
    struct grammar_alt *alts;
    uint32_t n_alts;
    uint32_t n_used;
    uint32_t *used;     /* classes with a budget, ascending */
    size_t *alt_counts; /* by class: index of its table (length 1.., alternative) */
    count_t *counts;    /* number of terms, by class, length, alternative */
    /* Slots; those of one class form a linked list. */
    uint32_t n_slots;
    size_t cap_slots;
    struct grammar_slot {
        uint32_t class, next;
        kinds_t kinds;
        uint32_t without; /* the other class or GRAMMAR_NONE */
        uint64_t lengths; /* lengths of its terms, as bits; only those below 64 */
        uint16_t least;   /* length of its least term; UINT16_MAX: it has no terms */
    } * slots;
    uint32_t *first_slot; /* by class */
    uint32_t root;        /* slot */
    count_t *totals;      /* by slot * (max_tokens + 1) + length */
    bool saturated;       /* a count exceeded 2^128 - 1: counts are lower bounds */
};

/* Everything lives in the arena; *g keeps pointers into the message and the arena. `lang` is the
 * language of the seed; operators that it lacks are declared. Fails with ERR_CORRUPT if the arrays
 * of the message are inconsistent. */
enum err_code grammar_init(struct grammar *g, struct arena *a, const Eqloom__EGraph *message,
                           const struct language *lang, const struct grammar_options *options,
                           struct err *e);
/* extract_count.c; called by grammar_init. */
enum err_code grammar_count(struct grammar *g, struct arena *a, struct err *e);

static inline count_t grammar_total(const struct grammar *g, uint32_t slot, uint32_t length)
{
    return g->totals[(size_t)slot * (g->max_tokens + 1) + length];
}
static inline count_t grammar_alt_count(const struct grammar *g, uint32_t class, uint32_t length,
                                        uint32_t alt)
{
    uint32_t begin = g->alt_begin[class], n = g->alt_begin[class + 1] - begin;
    return g->counts[g->alt_counts[class] + (size_t)(length - 1) * n + (alt - begin)];
}
static inline bool grammar_alt_in_slot(const struct grammar_slot *s, const struct grammar_alt *alt)
{
    return (alt->kind & s->kinds) && (s->without == GRAMMAR_NONE ||
                                      (alt->child[0] != s->without && alt->child[1] != s->without));
}
/* Returns the number of terms of the root, of all lengths. */
count_t grammar_terms(const struct grammar *g);
/* Saturating arithmetic; sets *saturated on overflow and never clears it. */
static inline count_t count_add(count_t a, count_t b, bool *saturated)
{
    count_t sum = a + b;
    if (__builtin_expect(sum < a, 0)) {
        *saturated = true;
        return COUNT_MAX;
    }
    return sum;
}
static inline count_t count_mul(count_t a, count_t b, bool *saturated)
{
    if (__builtin_expect(((a | b) >> 64) == 0, 1))
        return (count_t)(uint64_t)a * (uint64_t)b;
    if (a && b > COUNT_MAX / a) {
        *saturated = true;
        return COUNT_MAX;
    }
    return a * b;
}
/* Writes a decimal number, with ">=" before a lower bound; `out` holds 48 bytes. */
char *count_text(char out[48], count_t n, bool saturated);

/* ---- terms: e-nodes in prefix order ---- */
struct term {
    uint32_t n, length; /* nodes, tokens */
    uint32_t nodes[EXTRACT_MAX_TOKENS];
};

/* Returns the term of this rank (below the total) of a slot at a length. */
void grammar_unrank(struct term *out, const struct grammar *g, uint32_t slot, uint32_t length,
                    count_t rank);
/* Returns prefix text as in Expr.prefix. */
char *grammar_term_text(struct arena *a, const struct grammar *g, const struct term *t);
