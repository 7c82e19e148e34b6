/* See witness_counts.h. Ops give few reasons, so a short list suffices. The text does not depend on
 * the order in which elements are counted. */
#include "engine/cache/witness_counts.h"

#include "base/buf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { REASONS_SHOWN = 3 };

const char *witness_reason(const char *note)
{
    size_t n = strlen(WITNESS_NOTE);
    return strncmp(note, WITNESS_NOTE, n) ? NULL : note + n;
}

void witness_counts_add(struct witness_counts *p, const char *reason, uint64_t elements)
{
    for (unsigned i = 0; i < p->n; i++)
        if (!strcmp(p->kinds[i].reason, reason)) {
            p->kinds[i].elements += elements;
            return;
        }
    char *copy = p->n < WITNESS_KINDS ? strdup(reason) : NULL;
    if (!copy)
        return; /* counted as "otherwise" */
    p->kinds[p->n].reason = copy;
    p->kinds[p->n++].elements = elements;
}

void witness_counts_clear(struct witness_counts *p)
{
    for (unsigned i = 0; i < p->n; i++)
        free(p->kinds[i].reason);
    *p = (struct witness_counts){0};
}

/* The next reason by falling number of elements, then by name. */
static int next_kind(const struct witness_counts *p, int before)
{
    int best = -1;
    for (unsigned i = 0; i < p->n; i++) {
        uint64_t n = p->kinds[i].elements;
        const char *reason = p->kinds[i].reason;
        bool after =
            before < 0 || n < p->kinds[before].elements ||
            (n == p->kinds[before].elements && strcmp(reason, p->kinds[before].reason) > 0);
        if (after && (best < 0 || n > p->kinds[best].elements ||
                      (n == p->kinds[best].elements && strcmp(reason, p->kinds[best].reason) < 0)))
            best = (int)i;
    }
    return best;
}

char *witness_counts_text(const struct witness_counts *p, const char *why, uint64_t ran,
                          uint64_t elements, uint64_t reused)
{
    struct buf b = {0};
    uint64_t rest = reused;
    buf_printf(&b, "%s; %" PRIu64 " of %" PRIu64 " %s affected, %" PRIu64 " unaffected",
               why ? why : "", ran, elements, p->noun ? p->noun : "elements", reused);
    int k = -1;
    for (int shown = 0; shown < REASONS_SHOWN && (k = next_kind(p, k)) >= 0; shown++) {
        uint64_t n = p->kinds[k].elements;
        buf_puts(&b, shown ? "; " : " (");
        if (n < reused)
            buf_printf(&b, "%" PRIu64 ": ", n);
        buf_puts(&b, p->kinds[k].reason);
        rest -= n < rest ? n : rest;
    }
    if (p->n && rest)
        buf_printf(&b, "; %" PRIu64 " otherwise", rest);
    buf_puts(&b, p->n ? ")" : "");
    char *text = strdup(b.data);
    buf_free(&b);
    return text;
}
