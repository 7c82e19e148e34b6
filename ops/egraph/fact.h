/* What is known of a class: the e-class analysis. A fact holds at every point of the domain at
 * which the term is defined, except on a nowhere dense set; that is also what it means for two
 * terms to be equal, so facts survive merging and congruence. See docs/facts.md.
 *
 * Facts are interned: equal facts have equal ids, a class stores 4 bytes, and the facts of
 * applications are remembered by (operator, facts of the arguments), as many as there is room for.
 */
#ifndef OPS_EGRAPH_FACT_H
#define OPS_EGRAPH_FACT_H

#include "ops/egraph/interval.h"
#include "ops/egraph/number.h"
#include "ops/expr/lang.h"

enum {
    FACT_REAL = 1, /* real; the interval means something */
    FACT_LO_OPEN = 2,
    FACT_HI_OPEN = 4,
    FACT_NONZERO = 8, /* zero on a nowhere dense set at most */
    FACT_VARIES = 16, /* takes each value on a nowhere dense set at most */
    FACT_INTEGER = 32,
};
enum { FACT_NO_DEGREE = 0xffff, FACT_MAX_DEGREE = 1000, FACT_MAX_SYMBOLS = 64 };
enum { FACT_MEMO_BITS = 15, FACT_MEMOS = 1 << FACT_MEMO_BITS };

/* No padding: compared and hashed as bytes. */
struct fact {
    double lo, hi;     /* 0, 0 unless FACT_REAL */
    uint64_t vars;     /* it depends on these variables at most, a bit each */
    uint32_t constant; /* its exact value, or NO_NUMBER */
    uint16_t flags;
    uint16_t degree; /* it is a nonzero polynomial of this total degree; FACT_NO_DEGREE: unknown */
};

enum fact_conflict {
    FACT_AGREE,
    FACT_CONSTANTS_DIFFER,
    FACT_INTERVALS_DISJOINT,
    FACT_ZERO_AND_NONZERO,
    FACT_DEGREES_DIFFER,
    FACT_CONSTANT_AND_VARIES,
};

struct facts {
    struct numbers numbers;
    struct fact *items;
    size_t n, cap;
    struct fact_slot {
        uint32_t hash, id; /* id UINT32_MAX: empty */
    } * slots;
    size_t n_slots;
    struct fact_memo {
        struct fact_memo_slot {
            uint64_t key; /* 0: empty */
            uint32_t value;
        } * slots; /* FACT_MEMOS, or NULL */
    } applied,     /* (op, fact, fact) -> fact */
        met;       /* (fact, fact) -> fact, or a conflict */
};

void facts_init(struct facts *t);
void facts_free(struct facts *t);
uint32_t facts_intern(struct facts *t, struct fact f);
/* Nothing is known, but that it depends on no more than vars. */
uint32_t facts_unknown(struct facts *t, uint64_t vars);
uint32_t facts_constant(struct facts *t, uint32_t number);
/* A variable by its domain; bit < FACT_MAX_SYMBOLS. */
enum variable_domain {
    DOMAIN_POSITIVE, /* the default */
    DOMAIN_NONNEGATIVE,
    DOMAIN_REAL,
    DOMAIN_INTEGER,
    DOMAIN_COMPLEX,
};
uint32_t facts_variable(struct facts *t, enum variable_domain domain, unsigned bit);
/* "pi" or "e". */
uint32_t facts_known_symbol(struct facts *t, const char *name);
/* Both hold. */
enum fact_conflict facts_meet_different(uint32_t *out, struct facts *t, uint32_t a, uint32_t b);
static inline enum fact_conflict facts_meet(uint32_t *out, struct facts *t, uint32_t a, uint32_t b)
{
    *out = a;
    return a == b ? FACT_AGREE : facts_meet_different(out, t, a, b);
}

/* Of op applied to arguments with these facts. `interpreted`: op is an enum expr_op that means
 * what its name says; otherwise only the variables are known. */
uint32_t facts_apply(struct facts *t, unsigned op, bool interpreted, const uint32_t *args,
                     size_t n);
struct interval fact_interval(const struct fact *f); /* f is real */

/* The one place where this may be remembered, until something else takes it: more would leave the
 * caches, and be slower than to compute it again. */
static inline struct fact_memo_slot *fact_memo_find(const struct fact_memo *m, uint64_t key)
{
    return &m->slots[key * 0x9e3779b97f4a7c15u >>
                     (64 - FACT_MEMO_BITS)]; /* all of the key counts */
}

/* Facts and operators are few enough for a key of 64 bits, or else they are not remembered. */
static inline uint64_t fact_key(unsigned op, uint32_t a, uint32_t b)
{
    return (uint64_t)op << 56 | (uint64_t)a << 28 | b;
}

/* facts_apply for interpreted operators of one argument (b is 0) or two. */
static inline uint32_t facts_apply_known(struct facts *t, unsigned op, size_t n, uint32_t a,
                                         uint32_t b)
{
    uint64_t key = fact_key(op, a, b);
    if (t->applied.slots && t->n < 1u << 28) {
        const struct fact_memo_slot *s = fact_memo_find(&t->applied, key);
        if (s->key == key)
            return s->value;
    }
    return facts_apply(t, op, true, (uint32_t[]){a, b}, n);
}

/* transfer.c: the same without memory; a and b are the arguments (b NULL for unary operators). */
struct fact fact_of_operation(struct facts *t, unsigned op, const struct fact *a,
                              const struct fact *b);

#endif
