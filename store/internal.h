/* What the files of the store share: its insides. */
#ifndef STORE_INTERNAL_H
#define STORE_INTERNAL_H

#include "base/buf.h"
#include "base/map.h"
#include "schemas/canonical.h"
#include "store/dictionary.h"
#include "store/record.h"
#include "store/rocks.h"
#include "store/store.h"

#include <pthread.h>
#include <stdatomic.h>

enum { STORE_FORMAT = 2 }; /* 2: records under a model (codec 5) */
#define QUARANTINE_PREFIX "quarantine/"

/* What is made dense first, and last: an e-graph takes as long as fifty clusters and is read by
 * few. */
enum tidy_class { TIDY_CLUSTERS, TIDY_OTHERS, TIDY_EGRAPHS, TIDY_CLASSES };
static inline enum tidy_class tidy_class_of(enum record_kind kind)
{
    return kind == KIND_CLUSTER ? TIDY_CLUSTERS : kind == KIND_EGRAPH ? TIDY_EGRAPHS : TIDY_OTHERS;
}

struct store {
    struct rocks *rocks;
    char *path;           /* the .eqloom directory */
    char *secondary_path; /* a reader's own directory, removed on closing */
    int lock_fd;          /* -1 for a reader */
    bool durable;
    /* Bytes of payloads put that compact would make dense. */
    atomic_uint_fast64_t loose[TIDY_CLASSES];
    struct buf notice; /* what store_notice tells */

    /* Commits share it; quarantining has it alone, so that a record just made anew is not the one
     * that goes into quarantine. */
    pthread_rwlock_t commit_lock;

    pthread_mutex_t lock;     /* of what follows */
    struct coder *coders[16]; /* idle ones */
    size_t n_coders;
    struct digest_map condemned; /* value 1: found corrupt and could not be removed */
    bool any_condemned;

    struct dictionaries dictionaries;  /* has a lock of its own */
    const struct store_batch *overlay; /* see store_overlay */
};

struct coder *store_coder_take(struct store *s);
void store_coder_give(struct store *s, struct coder *c);

/* Moves what is under an id into meta; for the writer, without further questions. */
enum err_code store_remove_bad(struct store *s, const struct digest *id, struct err *e);
/* Takes a record out of the way if it really is bad; a reader only remembers it. */
void store_quarantine(struct store *s, const struct digest *id);
/* Records put again are bad no longer. */
void store_pardon(struct store *s, const struct digest *ids, size_t n);

/* Any other write, copied into the batch. */
void store_batch_write(struct store_batch *b, enum rocks_family family, struct span key,
                       struct span value);
void store_batch_remove(struct store_batch *b, enum rocks_family family, struct span key);
struct store *store_batch_store(const struct store_batch *b);
/* A record among the writes, as it will be stored. */
bool store_batch_find(struct span *envelope, const struct store_batch *b, const struct digest *id);

enum err_code store_check_ref_name(const char *name, struct err *e);

static inline struct span digest_span(const struct digest *d)
{
    return span_of(d->bytes, DIGEST_SIZE);
}

/* "record 0123...: ", put before the message that e holds. */
enum err_code err_name_record(struct err *e, enum err_code code, const struct digest *id);

/* A value copied into the arena. */
enum err_code store_read(struct span *out, struct store *s, enum rocks_family family,
                         struct span key, struct arena *a, struct err *e);

#endif
