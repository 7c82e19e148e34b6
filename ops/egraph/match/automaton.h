/* The patterns of a rule set as one automaton: the programs of pattern.h that begin alike share
 * their beginnings, so that a node is tested for all rules at once. A tree of states; its roots are
 * the operators of the patterns' roots and the bare variable. Read-only, shared by threads. */
#ifndef OPS_EGRAPH_MATCH_AUTOMATON_H
#define OPS_EGRAPH_MATCH_AUTOMATON_H

#include "ops/egraph/match/pattern.h"

enum state_kind {
    STATE_ROOT,   /* nothing to test */
    STATE_SWITCH, /* of the operators that may stand in register a, one step for each */
    STATE_STEP,   /* of a switch: passed */
    STATE_LEAF,   /* as I_LEAF and so on */
    STATE_SAME,
    STATE_BIND,
    STATE_FIND,
    STATE_DONE, /* rule x matches */
};

/* What follows a state are the states `first` to `first + n` - 1, and what follows these comes
 * soon after: a search goes down the tree, through memory in one direction. Two states to a line of
 * the cache. */
struct state {
    uint8_t kind;
    uint8_t look;  /* how far below the root's arguments the rules of its subtree look: see below */
    uint8_t arity; /* STATE_BIND, STATE_FIND */
    bool whole;
    uint16_t a, out;
    uint32_t x;
    uint32_t first, n;
    uint16_t n_done; /* of what follows, so many at the beginning are STATE_DONE */
    uint8_t key;     /* STATE_BIND, as in struct instruction */
    union {
        /* STATE_SWITCH: follows a step for each bit; its place is steps[x + bit]. */
        uint64_t mask;
        /* STATE_BIND, STATE_FIND: what the arguments are known to be; of more than two, [0] is
         * where that begins in automaton.known. */
        uint32_t known[2];
    };
};
_Static_assert(sizeof(struct state) == 32, "two to a line of the cache");
/* A look is two levels: below the root's first argument, and below its others. */
static inline uint8_t look_of(const uint8_t *levels)
{
    return (uint8_t)(levels[0] | levels[1] << 3);
}

static inline unsigned look_level(uint8_t look, int i)
{
    return i ? look >> 3 : look & 7;
}

#define AUTOMATON_LEAF 0x80000000u /* known: the leaf, or else the register, x */

struct automaton {
    struct state *states; /* a state comes before what follows it */
    uint32_t *parent;     /* by state */
    uint32_t n;
    uint8_t *steps;
    uint32_t *known;
    uint32_t *root; /* by operator; NO_STATE: no pattern begins with it */
    uint32_t n_ops;
    uint32_t any;   /* the root of bare variables, or NO_STATE */
    uint32_t *done; /* by rule: its last state, or NO_STATE */
};
#define NO_STATE UINT32_MAX

struct automaton_rule {
    const struct pattern *pattern; /* NULL: takes no part */
    uint8_t levels[2];             /* below 8 */
};
/* In the arena. */
void automaton_build(struct automaton *out, struct arena *a, const struct automaton_rule *rules,
                     size_t n, uint32_t n_ops);

#endif
