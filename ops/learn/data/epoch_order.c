#include "ops/learn/data/epoch_order.h"

#include "base/buf.h"
#include "base/rng.h"

#include <stdlib.h>

void epoch_order_free(struct epoch_order *o)
{
    free(o->places);
    *o = (struct epoch_order){0};
}

void epoch_order_add(struct epoch_order *o, uint32_t item)
{
    o->places = vec_grow(o->places, &o->cap, o->n + 1, sizeof *o->places);
    o->places[o->n++] = (struct epoch_place){0, item};
}

static int compare_places(const void *x, const void *y)
{
    const struct epoch_place *a = x, *b = y;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->item > b->item) - (a->item < b->item);
}

static void scatter_equals(struct epoch_order *o)
{
    struct epoch_place *places = o->places;
    uint64_t key = o->n ? places[0].key : 0, equal = 0;
    bool any = false;
    for (size_t i = 1; i < o->n; i++) {
        equal = places[i].key == key ? equal + 1 : 0;
        key = places[i].key;
        if (equal)
            places[i].key = rng_at(key, 1, equal);
        any = any || equal;
    }
    if (any)
        qsort(places, o->n, sizeof *places, compare_places);
}

uint32_t epoch_order_item(struct epoch_order *o, uint64_t epoch, uint64_t of_epoch, uint64_t place,
                          epoch_key *key, const void *arg)
{
    if (!o->sorted || o->epoch != epoch) {
        for (size_t i = 0; i < o->n; i++)
            o->places[i].key = key(arg, of_epoch, o->places[i].item);
        qsort(o->places, o->n, sizeof *o->places, compare_places);
        if (o->scatter)
            scatter_equals(o);
        o->epoch = epoch;
        o->sorted = true;
    }
    return o->places[place].item;
}
