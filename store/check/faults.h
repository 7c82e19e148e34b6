/* The faults that fsck found, and the nodes that make their records again. */
#pragma once

#include "store/store.h"

struct faults {
    struct arena arena;
    struct fault {
        struct digest id;
        bool has_id; /* false: concerns no single record or action */
        const char *what, *maker;
    } * list;
    size_t n, cap;
    struct digest_map by_id; /* -> index of the first */
};

void faults_free(struct faults *f);
/* id NULL: concerns no single record. */
void faults_add(struct faults *f, const struct digest *id, const char *what);
/* Finds the makers of the records in actions and runs. */
void faults_find_makers(struct faults *f, struct store *s);
/* Reports the faults in the order in which they were found. */
void faults_report(const struct faults *f,
                   void (*visit)(void *arg, const struct digest *id, const char *what), void *arg);
