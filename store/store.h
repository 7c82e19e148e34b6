/* The store: content-addressed records, actions, refs, source files and runs in one RocksDB
 * directory. Subfolders: db/ (RocksDB), record/ (identity, envelope, dictionaries), collection/,
 * check/ (fsck, gc, repair, compact, backup), pack/. All functions are thread-safe unless they
 * state otherwise; memory that they return lives in the given arena. */
#pragma once

#include "base/arena.h"
#include "base/digest.h"
#include "base/err.h"
#include "base/map.h"
#include "base/span.h"
#include "schemas/kinds.h"

struct store;

struct store_options {
    const char *path;    /* the .eqloom directory */
    bool read_only;      /* works beside a writer; sees what was committed before */
    bool create;         /* create it if it does not exist; else ERR_NOTFOUND */
    bool durable;        /* fsync every commit */
    double wait_s;       /* how long to wait for another writer; 0: fail at once with ERR_BUSY that
                            names it; < 0: for ever */
    const char *command; /* shown to other processes while we hold the lock */
};

enum err_code store_open(struct store **out, const struct store_options *options, struct err *e);
void store_close(struct store *s);
/* Returns one sentence on what was repaired when the store was opened, or NULL. */
const char *store_notice(const struct store *s);
/* For a reader: returns the first thing that could not be read since it opened the store, or NULL.
 * Answers may be wrong then, whatever the calls returned. NULL for a writer, which repairs. */
const char *store_trouble(struct store *s);
/* Returns whether any process, this one included, has the store open for writing. */
bool store_has_writer(const struct store *s);

struct record {
    enum record_kind kind;
    struct span payload; /* canonical wire form */
};

/* id = SHA-256("eqloom/1\0" kind "\0" schema "\0" length payload); see docs/format.md. */
struct digest record_id(enum record_kind kind, struct span payload);

/* Reads and decompresses a record and verifies its id. ERR_NOTFOUND; ERR_CORRUPT names the record
 * and quarantines it: store_has then returns false, so that it is made again. */
enum err_code store_get(struct record *out, struct store *s, const struct digest *id,
                        struct arena *a, struct err *e);
/* Like store_get, then checks the kind and decodes. `out` points to a pointer to the message. */
enum err_code store_get_message(void *out, struct store *s, const struct digest *id,
                                enum record_kind kind, struct arena *a, struct err *e);
bool store_has(struct store *s, const struct digest *id);

/* A batch of writes, which become visible and permanent together. Used by one thread at a time. */
struct store_batch;
struct store_batch *store_batch_new(struct store *s);
void store_batch_free(struct store_batch *b);
size_t store_batch_count(const struct store_batch *b);
size_t store_batch_bytes(const struct store_batch *b);
/* Puts a record unless the store has it; sets *id. */
enum err_code store_batch_put(struct digest *id, struct store_batch *b, enum record_kind kind,
                              struct span payload, struct err *e);
enum err_code store_batch_put_message(struct digest *id, struct store_batch *b,
                                      enum record_kind kind, const ProtobufCMessage *message,
                                      struct err *e);
/* Declares that records with these ids are stored, so that a put need not look them up. NULL:
 * none. */
void store_batch_expect(struct store_batch *b, const struct digest_map *stored);
/* Commits the batch and empties it. */
enum err_code store_batch_commit(struct store_batch *b, struct err *e);
/* Appends the contents of `from` to `to` and empties `from`. */
void store_batch_append(struct store_batch *to, struct store_batch *from);

/* Makes the records of the batch readable as if it had been committed, until the next call; NULL:
 * none. For a store that one thread uses: planning without writing. */
void store_overlay(struct store *s, const struct store_batch *b);

/* Actions: key -> Eqloom__Action (canonical bytes). */
struct digest action_key(struct span canonical_preimage);
enum err_code store_batch_action(struct store_batch *b, const struct digest *key,
                                 struct span action, struct err *e);
/* Removes an action, or a trace. */
void store_batch_forget(struct store_batch *b, const struct digest *key, bool trace);
/* ERR_NOTFOUND if there is no such action. Does not check that the outputs exist. */
enum err_code store_action(struct span *out, struct store *s, const struct digest *key,
                           struct arena *a, struct err *e);
/* In key order. */
typedef enum err_code store_visit_key(void *arg, const struct digest *key, struct span value,
                                      struct err *e);
enum err_code store_each_action(struct store *s, store_visit_key *visit, void *arg, struct err *e);

/* Traces: key -> Eqloom__Trace (canonical bytes); see engine/node/element_reuse.h. */
enum err_code store_batch_trace(struct store_batch *b, const struct digest *key, struct span trace,
                                struct err *e);
enum err_code store_trace(struct span *out, struct store *s, const struct digest *key,
                          struct arena *a, struct err *e);
/* In key order. */
enum err_code store_each_trace(struct store *s, store_visit_key *visit, void *arg, struct err *e);

/* Refs: name -> id. Names are paths of [A-Za-z0-9._@=,+-], separated by '/'. The engine keeps each
 * node's outputs as "job/NODE" ("job/NODE.ROLE" for roles after the first). */
enum err_code store_batch_ref(struct store_batch *b, const char *name, const struct digest *id,
                              struct err *e);
enum err_code store_ref(struct digest *id, struct store *s, const char *name, struct err *e);
enum err_code store_batch_ref_delete(struct store_batch *b, const char *name, struct err *e);
/* In name order; stops at a code that is not OK. */
typedef enum err_code store_visit_ref(void *arg, const char *name, const struct digest *id,
                                      struct err *e);
enum err_code store_each_ref(struct store *s, const char *prefix, store_visit_ref *visit, void *arg,
                             struct err *e);

/* Source files, by absolute path. Values are Eqloom__SourceFile bytes. */
enum err_code store_batch_source(struct store_batch *b, const char *path, struct span value,
                                 struct err *e);
enum err_code store_source(struct span *out, struct store *s, const char *path, struct arena *a,
                           struct err *e);
/* In path order. */
typedef enum err_code store_visit_named(void *arg, const char *name, struct span value,
                                        struct err *e);
enum err_code store_each_source(struct store *s, store_visit_named *visit, void *arg,
                                struct err *e);

/* Runs, by "JOB/NUMBER" in order of time; values are Eqloom__Run bytes. A record is rewritten while
 * its run lasts. */
enum err_code store_batch_run(struct store_batch *b, const char *run, struct span value,
                              struct err *e);
enum err_code store_run(struct span *out, struct store *s, const char *run, struct arena *a,
                        struct err *e);
/* Newest first. */
enum err_code store_each_run(struct store *s, const char *job, store_visit_named *visit, void *arg,
                             struct err *e);

/* Visits every record in id order; the visitor reads the payload on demand (store_get). */
typedef enum err_code store_visit_record(void *arg, const struct digest *id, enum record_kind kind,
                                         uint64_t stored_bytes, struct err *e);
enum err_code store_each_record(struct store *s, store_visit_record *visit, void *arg,
                                struct err *e);

/* Resolves a prefix of at least 4 hex digits. ERR_NOTFOUND; ERR_AMBIGUOUS with up to `max`
 * candidates in ids[0..*n-1] (also filled on OK: *n = 1). */
enum err_code store_resolve_prefix(struct digest *ids, size_t *n, size_t max, struct store *s,
                                   const char *hex_prefix, struct err *e);
