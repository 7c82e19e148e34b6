/* What fsck found, and which node makes it again. */
#pragma once

#include "store/store.h"

struct faults {
    struct arena arena;
    struct fault {
        struct digest id;
        bool has_id; /* it concerns one record or action */
        const char *what, *maker;
    } * list;
    size_t n, cap;
    struct digest_map by_id; /* -> index of the first */
};

void faults_free(struct faults *f);
/* id NULL: of no record in particular. */
void faults_add(struct faults *f, const struct digest *id, const char *what);
/* Looks in actions and runs for what made the records. */
void faults_find_makers(struct faults *f, struct store *s);
/* In the order in which they were found. */
void faults_report(const struct faults *f,
                   void (*visit)(void *arg, const struct digest *id, const char *what), void *arg);
