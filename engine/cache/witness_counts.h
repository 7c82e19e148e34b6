/* By which proofs elements stand, counted: what the report of a run and `why` say of reuse. */
#ifndef ENGINE_PROOFS_H
#define ENGINE_PROOFS_H

#include <stdbool.h>
#include <stdint.h>

enum { PROOFS_KINDS = 16 };

struct proofs {
    struct {
        char *reason; /* heap */
        uint64_t elements;
    } kinds[PROOFS_KINDS];
    const char *noun; /* of an element; NULL: "elements" */
    unsigned n;       /* what more kinds than that would count is left out */
};

/* Begins the note of an action whose result stands by proof; the op's reason follows. */
#define PROOFS_NOTE "reused: "
/* That reason; NULL: the note is not of a proof. */
const char *proofs_reason(const char *note);

/* `reason` as the op gave it. */
void proofs_add(struct proofs *p, const char *reason, uint64_t elements);
void proofs_clear(struct proofs *p);
/* On the heap: "rules changed: 1 edited (g/r); 41 of 5000 elements affected, 4959 proved unaffected
 * (4950: ...; 9: ...)". NULL: no memory. */
char *proofs_tell(const struct proofs *p, const char *why, uint64_t ran, uint64_t elements,
                  uint64_t reused);

#endif
