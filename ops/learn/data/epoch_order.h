/* The order of items in an epoch: by their keys, then by number. Only one epoch's is in memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct epoch_order {
    struct epoch_place {
        uint64_t key;
        uint32_t item;
    } * places; /* owned */
    size_t n, cap;
    uint64_t epoch;
    bool sorted;
    /* Items with equal keys would always be neighbours: all but the first get a key of their own.
     */
    bool scatter;
};

void epoch_order_free(struct epoch_order *o);
void epoch_order_add(struct epoch_order *o, uint32_t item);
/* Returns an item's key, from that of the epoch. */
typedef uint64_t epoch_key(const void *arg, uint64_t of_epoch, uint32_t item);
uint32_t epoch_order_item(struct epoch_order *o, uint64_t epoch, uint64_t of_epoch, uint64_t place,
                          epoch_key *key, const void *arg);
