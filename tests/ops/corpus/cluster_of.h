/* Clusters for tests. */
#pragma once

#include "base/arena.h"
#include "cluster.pb-c.h"

/* A cluster of n members, whose seed is the first. Texts are borrowed. */
static inline Eqloom__Cluster *cluster_of(struct arena *a, const char *language,
                                          const char *const *texts, size_t n)
{
    Eqloom__Cluster *c = arena_new(a, Eqloom__Cluster);
    eqloom__cluster__init(c);
    c->seed = arena_new(a, Eqloom__Expr);
    eqloom__expr__init(c->seed);
    c->seed->prefix = (char *)texts[0];
    c->seed->language = (char *)language;
    c->members = arena_array(a, Eqloom__Member *, n);
    for (; c->n_members < n; c->n_members++) {
        Eqloom__Member *m = c->members[c->n_members] = arena_new(a, Eqloom__Member);
        eqloom__member__init(m);
        m->prefix = (char *)texts[c->n_members];
    }
    return c;
}
