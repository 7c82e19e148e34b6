/* Facts: the e-class analysis. A fact holds at every point of the domain at which the term is
 * defined, except on a nowhere dense set. Equality of terms has the same exceptions, so facts
 * survive merging and congruence. See docs/facts.md.
 *
 * Facts are interned: equal facts have equal ids, a class stores 4 bytes, and the facts of
 * applications are cached by (operator, facts of the arguments). */
#pragma once

#include "ops/egraph/facts/constant.h"
#include "ops/egraph/facts/interval.h"
#include "ops/expr/lang.h"

enum {
    FACT_REAL = 1, /* the value is real; only then is the interval valid */
    FACT_LO_OPEN = 2,
    FACT_HI_OPEN = 4,
    FACT_NONZERO = 8, /* zero at most on a nowhere dense set */
    FACT_VARIES = 16, /* takes each value at most on a nowhere dense set */
    FACT_INTEGER = 32,
};
enum { FACT_NO_DEGREE = 0xffff, FACT_MAX_DEGREE = 1000, FACT_MAX_SYMBOLS = 64 };
enum { FACT_MEMO_BITS = 14 };

/* No padding, since facts are compared and hashed as bytes. */
struct fact {
    double lo, hi;     /* 0, 0 unless FACT_REAL */
    uint64_t vars;     /* the variables that the value may depend on, one bit each */
    uint32_t constant; /* the exact value, or NO_CONSTANT */
    uint16_t flags;
    uint16_t degree; /* total degree if the value is a nonzero polynomial, or FACT_NO_DEGREE if
                        unknown */
};

#define FACT_CONFLICT UINT32_MAX /* cached for two facts that contradict each other */

struct facts {
    const struct language *lang; /* holds the definitions of declared operators */
    struct constants constants;
    struct fact *items;
    size_t n, cap;
    struct map64 by_hash;
    uint32_t *answers; /* by fact: cached answers to conditions; 0: not computed yet */
    size_t answers_cap;
    /* A two-way cache of the facts of applications, and of the conjunction of two facts (op 0); the
     * younger entry comes first. It fits into the CPU caches: recomputing is faster than reading a
     * larger cache. */
    struct fact_memo {
        uint32_t a, b, op, value; /* all 0: empty */
    } * memo;
};

void facts_init(struct facts *t, const struct language *lang);
void facts_free(struct facts *t);
uint32_t facts_intern(struct facts *t, struct fact f);
/* A fact without information except that the value depends on no variables outside `vars`. */
uint32_t facts_unknown(struct facts *t, uint64_t vars);
uint32_t facts_constant(struct facts *t, uint32_t number);
/* The fact of a variable with this domain; a real one is within the interval. bit <
 * FACT_MAX_SYMBOLS. */
enum variable_domain {
    DOMAIN_POSITIVE, /* the default */
    DOMAIN_NONNEGATIVE,
    DOMAIN_REAL,
    DOMAIN_INTEGER,
    DOMAIN_COMPLEX,
};
uint32_t facts_variable(struct facts *t, enum variable_domain domain, struct interval within,
                        unsigned bit);
/* `name` is "pi" or "e". */
uint32_t facts_known_symbol(struct facts *t, const char *name);
/* Returns the first of the two cache entries for op over a and b. */
static inline struct fact_memo *facts_memo(const struct facts *t, uint32_t op, uint32_t a,
                                           uint32_t b)
{
    uint64_t h = a * 0x9e3779b97f4a7c15u + b * 0xbf58476d1ce4e5b9u + op * 0x94d049bb133111ebu;
    return &t->memo[h >> (64 - FACT_MEMO_BITS) << 1];
}

/* Tests both entries without a branch, which would be unpredictable. */
static inline bool facts_recall(uint32_t *value, const struct facts *t, uint32_t op, uint32_t a,
                                uint32_t b)
{
    const struct fact_memo *m = facts_memo(t, op, a, b);
    m += ((m->a ^ a) | (m->b ^ b) | (m->op ^ op)) != 0;
    *value = m->value;
    return !((m->a ^ a) | (m->b ^ b) | (m->op ^ op));
}

void facts_remember(struct facts *t, uint32_t op, uint32_t a, uint32_t b, uint32_t value);

/* Stores the conjunction of both facts. Returns false if they contradict each other. */
bool facts_meet_different(uint32_t *out, struct facts *t, uint32_t a, uint32_t b);
static inline bool facts_meet(uint32_t *out, struct facts *t, uint32_t a, uint32_t b)
{
    *out = a;
    if (a == b || (facts_recall(out, t, 0, a, b) && *out != FACT_CONFLICT))
        return true;
    return facts_meet_different(out, t, a, b);
}

/* Returns the fact of op applied to arguments with these facts. If `interpreted`, op is an enum
 * expr_op with its usual meaning; otherwise the language may define it, and if it does not, only
 * the variables are known. */
uint32_t facts_apply(struct facts *t, unsigned op, bool interpreted, const uint32_t *args,
                     size_t n);
/* Returns the interval of a real fact; infinite ends are already open. */
static inline struct interval fact_interval(const struct fact *f)
{
    return (struct interval){f->lo, f->hi, f->flags & FACT_LO_OPEN, f->flags & FACT_HI_OPEN};
}

/* Makes the value real and within the interval. */
static inline void fact_set_interval(struct fact *f, struct interval v)
{
    f->lo = v.lo + 0.0; /* unifies -0 and 0 */
    f->hi = v.hi + 0.0;
    f->flags &= (uint16_t) ~(FACT_LO_OPEN | FACT_HI_OPEN);
    f->flags |=
        (uint16_t)(FACT_REAL | (v.lo_open ? FACT_LO_OPEN : 0) | (v.hi_open ? FACT_HI_OPEN : 0));
}

/* fact_transfer.c: facts_apply without the cache; a and b are the arguments (b is NULL for unary
 * operators). */
struct fact fact_of_operation(struct facts *t, unsigned op, const struct fact *a,
                              const struct fact *b);

/* Returns the interval between the ends of a domain. */
struct ball_domain;
struct interval fact_interval_of(struct facts *t, const struct ball_domain *d);

/* Writes a readable fact: "=3/2", "(0,inf) integer", "nonzero", or "" for no information. */
struct buf;
void fact_write(struct buf *out, const struct facts *t, uint32_t fact);
