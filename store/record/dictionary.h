/* The zstd dictionaries of a store, one in use for each kind of small records. A dictionary is a
 * record itself. The first is trained once a run has put enough records of the kind; compact trains
 * fresh ones. Thread-safe. */
#pragma once

#include "store/record/envelope.h"

#include <pthread.h>

/* Key prefix in the family meta, before the id: a second copy of the record. */
#define DICTIONARY_COPY_PREFIX "dictionary-copy/"

/* Training payloads, concatenated. */
struct samples {
    struct buf bytes;
    size_t *sizes, n, cap;
};
void samples_add(struct samples *s, struct span payload);
void samples_free(struct samples *s);

struct dictionaries {
    struct store *store;
    bool trains; /* false for readers, which cannot store a dictionary */
    pthread_mutex_t lock;
    struct dictionary *loaded[64]; /* few: only compact makes another */
    size_t n;
    struct {
        bool searched; /* whether `current` has been looked for */
        bool full;     /* enough samples were collected */
        struct dictionary *current;
        struct samples samples;
    } kinds[KIND_END];
};

void dictionaries_init(struct dictionaries *d, struct store *s, bool trains);
void dictionaries_free(struct dictionaries *d);
/* Returns the callbacks for coders. */
struct coder_dictionaries dictionaries_for_coder(struct dictionaries *d);

/* Returns whether records of a kind are compressed under dictionaries. */
bool dictionary_serves(enum record_kind kind);
/* Trains a dictionary, stores it and makes it current for the kind. Trains none, without an error,
 * if the samples are too few or too similar. */
enum err_code dictionaries_train(struct dictionaries *d, enum record_kind kind,
                                 const struct samples *samples, struct err *e);
