/* The store: content-addressed records, actions, refs, source files and runs in one RocksDB
 * directory. Rooms inside: db/ (RocksDB), record/ (identity, envelope, dictionaries), collection/,
 * check/ (fsck, gc, repair, compact, backup), pack/. All functions are thread-safe unless they say
 * otherwise; memory that they return lives in the arena given. */
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
    bool read_only;      /* works while a writer runs; sees what was committed before */
    bool create;         /* make it if it is not there; else ERR_NOTFOUND */
    bool durable;        /* fsync every commit */
    double wait_s;       /* how long to wait for another writer; 0: fail at once with ERR_BUSY,
                            saying who holds it (pid, command, since when); < 0: for ever */
    const char *command; /* what to tell others while we hold it */
};

enum err_code store_open(struct store **out, const struct store_options *options, struct err *e);
void store_close(struct store *s);
/* What was wrong with the store when it was opened and has been put right, in one sentence; NULL if
 * nothing. */
const char *store_notice(const struct store *s);
/* Whether a process, this one or another, has the store open for writing now. */
bool store_has_writer(const struct store *s);

struct record {
    enum record_kind kind;
    struct span payload; /* canonical wire form */
};

/* id = SHA-256("eqloom/1\0" kind "\0" schema "\0" length payload); see docs/format.md. */
struct digest record_id(enum record_kind kind, struct span payload);

/* Reads, decompresses, verifies the id. ERR_NOTFOUND; ERR_CORRUPT names the record (quarantined:
 * later store_has says no, so that it is made again). */
enum err_code store_get(struct record *out, struct store *s, const struct digest *id,
                        struct arena *a, struct err *e);
/* store_get, the kind checked, decoded. `out` is where the pointer to the message goes. */
enum err_code store_get_message(void *out, struct store *s, const struct digest *id,
                                enum record_kind kind, struct arena *a, struct err *e);
bool store_has(struct store *s, const struct digest *id);

/* Writes go through batches: everything in a batch becomes visible and permanent at once. A batch
 * belongs to one thread at a time. */
struct store_batch;
struct store_batch *store_batch_new(struct store *s);
void store_batch_free(struct store_batch *b);
size_t store_batch_count(const struct store_batch *b);
size_t store_batch_bytes(const struct store_batch *b);
/* Puts a record unless the store has it; fills *id. */
enum err_code store_batch_put(struct digest *id, struct store_batch *b, enum record_kind kind,
                              struct span payload, struct err *e);
enum err_code store_batch_put_message(struct digest *id, struct store_batch *b,
                                      enum record_kind kind, const ProtobufCMessage *message,
                                      struct err *e);
/* Records with these ids are stored: putting one of them does not look for it. NULL: none. */
void store_batch_expect(struct store_batch *b, const struct digest_map *stored);
/* Empties the batch into the store. */
enum err_code store_batch_commit(struct store_batch *b, struct err *e);
/* Appends the contents of `from` to `to` and empties `from`. */
void store_batch_append(struct store_batch *to, struct store_batch *from);

/* From now on records of the batch can be read as if it had been committed, by a store that one
 * thread uses; NULL: no longer. For looking ahead without writing. */
void store_overlay(struct store *s, const struct store_batch *b);

/* Actions: key -> Eqloom__Action (canonical bytes). */
struct digest action_key(struct span canonical_preimage);
enum err_code store_batch_action(struct store_batch *b, const struct digest *key,
                                 struct span action, struct err *e);
/* ERR_NOTFOUND when there is none. Does not look whether the outputs exist. */
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

/* Refs: name -> id. Names are paths of [A-Za-z0-9._@=,+-], parts separated by '/'. The engine keeps
 * each node's outputs as "job/NODE" ("job/NODE.ROLE" for roles after the first). */
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

/* Runs, by "JOB/NUMBER" in order of time; values are Eqloom__Run bytes. Rewritten while running. */
enum err_code store_batch_run(struct store_batch *b, const char *run, struct span value,
                              struct err *e);
enum err_code store_run(struct span *out, struct store *s, const char *run, struct arena *a,
                        struct err *e);
/* Newest first. */
enum err_code store_each_run(struct store *s, const char *job, store_visit_named *visit, void *arg,
                             struct err *e);

/* Every record, in id order; the payload is read only on demand by the visitor (store_get). */
typedef enum err_code store_visit_record(void *arg, const struct digest *id, enum record_kind kind,
                                         uint64_t stored_bytes, struct err *e);
enum err_code store_each_record(struct store *s, store_visit_record *visit, void *arg,
                                struct err *e);

/* Resolves a prefix of at least 4 hex digits. ERR_NOTFOUND; ERR_AMBIGUOUS with up to `max`
 * candidates in ids[0..*n-1] (also filled on OK: *n = 1). */
enum err_code store_resolve_prefix(struct digest *ids, size_t *n, size_t max, struct store *s,
                                   const char *hex_prefix, struct err *e);
