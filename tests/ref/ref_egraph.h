/* A slow and obvious e-graph to compare with: terms are kept whole, classes are sets of terms in
 * one list, congruence is closed by trying all pairs. Of facts it knows the variables that a class
 * depends on, of conditions symbol and free_of. */
#pragma once

#include "ops/rules/rule.h"

struct ref_node {
    uint16_t op;
    const char *leaf;
    uint32_t arity, kid[4]; /* classes: indexes of nodes, to be followed through `class_of` */
};

struct ref_egraph {
    struct ref_node *nodes;
    uint32_t *class_of; /* by node: the least node of its class */
    uint32_t n;
    size_t cap;
};

void ref_free(struct ref_egraph *g);
uint32_t ref_add(struct ref_egraph *g, const struct expr *x);
/* Applies all rules everywhere until nothing changes, at most `rounds` times; true if it came to
 * an end within max_nodes. */
bool ref_saturate(struct ref_egraph *g, const struct rules *rules, unsigned rounds,
                  uint32_t max_nodes);
/* ref_check.c: every invariant of an e-graph (congruence closure, hash-cons, parents, facts). */
struct egraph;
enum err_code egraph_check(struct egraph *g, struct err *e);
/* Distinct nodes, and classes. */
void ref_count(uint32_t *nodes, uint32_t *classes, const struct ref_egraph *g);
