/* See previous_order.h. */
#include "engine/node/previous_order.h"

#include "store/collection.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOW = 512, AHEAD = WINDOW / 2 };

struct expected {
    struct collection *reader;
    uint64_t count, at; /* the next position */
    uint64_t from, n;   /* what the window holds */
    unsigned missed;    /* in a row: after too many the lists do not run alike any more */
    struct digest window[WINDOW];
};

struct expected *expected_new(struct store *s, const struct digest *collection)
{
    struct collection *reader;
    if (collection_open(&reader, s, collection, NULL))
        return NULL;
    struct expected *x = calloc(1, sizeof *x);
    if (!x)
        abort(); /* as small allocations do */
    x->reader = reader;
    x->count = collection_count(reader);
    return x;
}

void expected_free(struct expected *x)
{
    if (!x)
        return;
    collection_close(x->reader);
    free(x);
}

/* The window from `at` on, as long as there is more. */
static bool fill(struct expected *x)
{
    uint64_t need = x->at + AHEAD < x->count ? x->at + AHEAD : x->count;
    if (x->at >= x->from && need <= x->from + x->n)
        return true;
    uint64_t n = x->count - x->at < WINDOW ? x->count - x->at : WINDOW;
    x->n = 0;
    if (collection_ids(x->window, x->reader, x->at, n, NULL))
        return false;
    x->from = x->at;
    x->n = n;
    return true;
}

bool expected_has(void *expected, const struct digest *id)
{
    struct expected *x = expected;
    if (x->at >= x->count || x->missed > WINDOW || !fill(x))
        return false;
    for (uint64_t k = x->at - x->from; k < x->n && k < x->at - x->from + AHEAD; k++)
        if (digest_equal(&x->window[k], id)) {
            x->at = x->from + k + 1;
            x->missed = 0;
            return true;
        }
    x->missed++;
    return false;
}

void expected_go_to(struct expected *x, uint64_t position)
{
    x->at = position;
    x->missed = 0;
}
