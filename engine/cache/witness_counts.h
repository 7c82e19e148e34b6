/* Counts why elements were reused, for reports of runs and for `why`. */
#pragma once

#include "base/arena.h"

#include <stdint.h>

enum { WITNESS_KINDS = 16 };

struct witness_counts {
    struct witness_count {
        const char *reason;
        uint64_t elements;
    } kinds[WITNESS_KINDS];
    const char *noun; /* of an element; NULL: "elements" */
    unsigned n;       /* further reasons are not counted */
};

/* The prefix of the note of an action whose result was reused; the op's reason follows. */
#define WITNESS_NOTE "reused: "
/* Returns the reason in such a note, or NULL. */
const char *witness_reason(const char *action_note);

/* `reason` is the op's text; it is copied into the arena. */
void witness_counts_add(struct witness_counts *p, struct arena *a, const char *reason,
                        uint64_t elements);
/* "rules changed: 1 edited (g/r); 41 of 5000 elements affected, 4959 unaffected
 * (4950: ...; 9: ...)". */
char *witness_counts_text(struct arena *a, const struct witness_counts *p, const char *why,
                          uint64_t ran, uint64_t elements, uint64_t reused);
