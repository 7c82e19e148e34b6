/* zstd dictionaries of a store: one for each kind of small record, trained from its first records,
 * stored as a record itself and loaded when needed. Thread-safe. */
#ifndef STORE_DICTIONARY_H
#define STORE_DICTIONARY_H

#include "store/record.h"

#include <pthread.h>

struct dictionaries {
    struct store *store;
    pthread_mutex_t lock;
    struct dictionary *loaded[64]; /* few: a kind gets a second one only if the first is lost */
    size_t n;
    struct sampler {
        enum { KIND_UNKNOWN, KIND_SAMPLING, KIND_HAS_DICTIONARY, KIND_WITHOUT } state;
        const struct dictionary *dictionary;
        struct sample *samples;
        size_t n, cap, bytes;
    } kinds[KIND_END];
};

void dictionaries_init(struct dictionaries *d, struct store *s);
void dictionaries_free(struct dictionaries *d);
/* What coders ask. */
struct coder_dictionaries dictionaries_for_coder(struct dictionaries *d);
/* A record that has just been put; once there are enough of its kind, their dictionary is trained
 * and stored. That it cannot be is no failure: records are stored without. */
void dictionaries_sample(struct dictionaries *d, enum record_kind kind, const struct digest *id,
                         struct span payload);
/* Trains from what has been put so far, if that is worth it at all. */
void dictionaries_train_now(struct dictionaries *d, enum record_kind kind);
/* Whether records of this kind get one. */
bool dictionary_serves(enum record_kind kind);

#endif
