/* See witness_counts.h. Ops return few distinct reasons, so a short array suffices. The text does
 * not depend on the order in which elements are counted. */
#include "engine/cache/witness_counts.h"

#include "base/buf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { REASONS_SHOWN = 3 };

const char *witness_reason(const char *action_note)
{
    size_t n = strlen(WITNESS_NOTE);
    return strncmp(action_note, WITNESS_NOTE, n) ? NULL : action_note + n;
}

void witness_counts_add(struct witness_counts *p, struct arena *a, const char *reason,
                        uint64_t elements)
{
    for (unsigned i = 0; i < p->n; i++)
        if (!strcmp(p->kinds[i].reason, reason)) {
            p->kinds[i].elements += elements;
            return;
        }
    if (p->n < WITNESS_KINDS) /* else it is counted as "otherwise" */
        p->kinds[p->n++] = (struct witness_count){arena_strdup(a, reason), elements};
}

/* Sorts by descending number of elements, then by reason. */
static int compare_counts(const void *a, const void *b)
{
    const struct witness_count *x = a, *y = b;
    int c = (x->elements < y->elements) - (x->elements > y->elements);
    return c ? c : strcmp(x->reason, y->reason);
}

char *witness_counts_text(struct arena *a, const struct witness_counts *p, const char *why,
                          uint64_t ran, uint64_t elements, uint64_t reused)
{
    struct buf b = {0};
    uint64_t rest = reused;
    buf_printf(&b, "%s; %" PRIu64 " of %" PRIu64 " %s affected, %" PRIu64 " unaffected",
               why ? why : "", ran, elements, p->noun ? p->noun : "elements", reused);
    struct witness_counts sorted = *p;
    qsort(sorted.kinds, sorted.n, sizeof *sorted.kinds, compare_counts);
    for (unsigned i = 0; i < sorted.n && i < REASONS_SHOWN; i++) {
        uint64_t n = sorted.kinds[i].elements;
        buf_puts(&b, i ? "; " : " (");
        if (n < reused)
            buf_printf(&b, "%" PRIu64 ": ", n);
        buf_puts(&b, sorted.kinds[i].reason);
        rest -= n < rest ? n : rest;
    }
    if (p->n && rest)
        buf_printf(&b, "; %" PRIu64 " otherwise", rest);
    buf_puts(&b, p->n ? ")" : "");
    return buf_text(&b, a);
}
