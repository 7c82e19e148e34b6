/* Internals of the store, shared by its subfolders. */
#pragma once

#include "base/buf.h"
#include "schemas/canonical.h"
#include "store/db/rocks.h"
#include "store/record/dictionary.h"
#include "store/record/envelope.h"
#include "store/store.h"

#include <pthread.h>

enum { STORE_FORMAT = 1 };
#define QUARANTINE_PREFIX "quarantine/"

struct store {
    struct rocks *rocks;
    char *path;  /* the .eqloom directory */
    int lock_fd; /* -1 for a reader */
    bool durable;
    struct buf notice; /* see store_notice */
    struct buf gone;   /* a line for each part that opening found to be lost */

    /* Commits hold it shared; quarantining holds it exclusively, so that it cannot remove a record
     * that has just been made anew. */
    pthread_rwlock_t commit_lock;

    pthread_mutex_t lock;     /* protects the fields below */
    struct coder *coders[16]; /* idle ones */
    size_t n_coders;
    struct digest_map bad; /* value 1: found corrupt and could not be removed */
    bool any_bad;
    struct err trouble; /* the first record found bad */

    struct dictionaries dictionaries;  /* has its own lock */
    const struct store_batch *overlay; /* see store_overlay */
};

struct coder *store_coder_take(struct store *s);
void store_coder_give(struct store *s, struct coder *c);

/* Moves the entry of an id into meta. Writer only; does not check that the record is bad. */
enum err_code store_remove_bad(struct store *s, const struct digest *id, struct err *e);

/* Adds any other write, copied into the batch. */
void store_batch_write(struct store_batch *b, enum rocks_family family, struct span key,
                       struct span value);
void store_batch_remove(struct store_batch *b, enum rocks_family family, struct span key);

enum err_code store_check_ref_name(const char *name, struct err *e);
/* Checks that an action decodes, belongs to its key, and that `has` returns OK for each output. */
enum err_code store_check_action(struct arena *a, const struct digest *key, struct span action,
                                 message_visit *has, void *arg, struct err *e);

static inline struct span digest_span(const struct digest *d)
{
    return span_of(d->bytes, DIGEST_SIZE);
}

/* Copies the first 32 bytes into a digest, zero-padded; returns false if there are not exactly
 * 32. */
static inline bool span_digest(struct digest *id, struct span bytes)
{
    *id = (struct digest){0};
    memcpy(id->bytes, bytes.data, bytes.len < DIGEST_SIZE ? bytes.len : DIGEST_SIZE);
    return bytes.len == DIGEST_SIZE;
}

/* Prefixes the message in e with "record 0123...: ". */
enum err_code err_name_record(struct err *e, enum err_code code, const struct digest *id);

/* Reads a value into the arena. */
enum err_code store_read(struct span *out, struct store *s, enum rocks_family family,
                         struct span key, struct arena *a, struct err *e);
