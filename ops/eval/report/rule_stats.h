/* What each rule did for a corpus: counts over e-graphs, for the report. */
#pragma once

#include "base/arena.h"
#include "base/map.h"
#include "egraph.pb-c.h"
#include "report.pb-c.h"

struct rule_stats {
    struct name_map index; /* name -> place below */
    struct rule_row {
        const char *name;
        uint64_t egraphs, matched, applied; /* that it changed; matches; those that changed any */
    } * rows;
    size_t n, cap;
    uint64_t egraphs;
};

/* Names are copied into the arena. */
void rule_stats_add(struct rule_stats *s, struct arena *a, const Eqloom__EGraph *g);
void rule_stats_free(struct rule_stats *s);
/* All rules that matched, those first that changed the most e-graphs. Lives in the arena. */
Eqloom__Table *rule_stats_table(struct arena *a, struct rule_stats *s);
