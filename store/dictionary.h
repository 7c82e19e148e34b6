/* What records are compressed with: the models of a store, one for each kind that has a dense form,
 * and the zstd dictionaries of stores of format 1. Each is a record itself, loaded when needed.
 * Thread-safe. */
#ifndef STORE_DICTIONARY_H
#define STORE_DICTIONARY_H

#include "store/record.h"

#include <pthread.h>

/* In the family meta, before the id: a second copy of the record. */
#define DICTIONARY_COPY_PREFIX "dictionary-copy/"

struct dictionaries {
    struct store *store;
    pthread_mutex_t lock;
    struct dictionary *loaded[64]; /* few: a kind gets another model only when it has grown much */
    size_t n;
    struct {
        bool known; /* whether `model` has been looked for */
        const struct dictionary *model;
    } kinds[KIND_END];
};

void dictionaries_init(struct dictionaries *d, struct store *s);
void dictionaries_free(struct dictionaries *d);
/* What coders ask. */
struct coder_dictionaries dictionaries_for_coder(struct dictionaries *d);
/* Makes a model from samples, stores it, and lets new dense forms of the kind use it. */
enum err_code dictionaries_make_model(struct dictionaries *d, enum record_kind kind,
                                      const struct span *samples, size_t n, struct err *e);
/* The model that new dense forms of a kind are going to use; NULL: there is none, or none that is
 * whole. An error says that the store cannot be read. */
enum err_code dictionaries_model(const struct dictionary **out, struct dictionaries *d,
                                 enum record_kind kind, struct err *e);
/* The id of the dictionary that an envelope needs. ERR_NOTFOUND if it needs none or it is not
 * there; others as above. */
enum err_code dictionaries_needed(struct digest *id, struct dictionaries *d, struct span envelope,
                                  struct err *e);

#endif
