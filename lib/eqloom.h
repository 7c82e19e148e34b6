/* libeqloom: the stores and commands of eqloom for other programs.
 *
 * A store is opened for reading, even while a run writes it, and shows what was committed before.
 * Names are those that `eqloom ls` prints ("quickstart/clusters", a tag) or at least four digits of
 * an id. Once something of a store could not be read, all answers about it are EQL_DAMAGED, except
 * records read by their ids, which are verified. Functions that return enum eql_status set *e on failure; e may be NULL. The caller owns
 * all returned memory and releases it by eql_free. Several threads may use a handle at once. */
#ifndef EQLOOM_H
#define EQLOOM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { EQL_ID_BYTES = 32 };

enum eql_status {
    EQL_OK,
    EQL_NOT_FOUND, /* no such store, name or record */
    EQL_BAD_INPUT, /* invalid arguments */
    EQL_DAMAGED,   /* something cannot be read, or does not match its id: see eqloom fsck */
    EQL_FAILED,    /* any other failure; see the message */
};

struct eql_error {
    char message[512];
};

struct eql_store;

enum eql_status eql_open(struct eql_store **out, const char *directory, struct eql_error *e);
void eql_close(struct eql_store *s);

/* EQL_BAD_INPUT if the digits match several ids. */
enum eql_status eql_find(unsigned char id[EQL_ID_BYTES], struct eql_store *s, const char *name,
                         struct eql_error *e);
/* Returns a record as stored: a protobuf message, described in the folder schemas/ of the sources.
 * *kind ("cluster", "checkpoint", ...) lives as long as the program. */
enum eql_status eql_record(const char **kind, unsigned char **payload, size_t *n,
                           struct eql_store *s, const unsigned char id[EQL_ID_BYTES],
                           struct eql_error *e);
/* Returns a record as `eqloom show --json` prints it. */
enum eql_status eql_json(char **text, struct eql_store *s, const unsigned char id[EQL_ID_BYTES],
                         struct eql_error *e);
/* Returns the ids of a collection, n * EQL_ID_BYTES bytes. EQL_BAD_INPUT if the record is of
 * another kind. */
enum eql_status eql_elements(unsigned char **ids, size_t *n, struct eql_store *s,
                             const unsigned char id[EQL_ID_BYTES], struct eql_error *e);
/* Returns a record or collection as `eqloom export` writes it: "jsonl", "tsv", "npy" (vectors),
 * "safetensors" (models) or "raw". *index is the accompanying file: JSON lines for npy, one JSON
 * object for safetensors, else NULL. */
enum eql_status eql_export(char **data, size_t *n, char **index, struct eql_store *s,
                           const unsigned char id[EQL_ID_BYTES], const char *format,
                           struct eql_error *e);

/* Runs a command in this process, such as {"explain", "--json", "sin(2*x)", "2*sin(x)*cos(x)"}:
 * *out and *err are its output, *status its exit status. Calls from several threads are serialised.
 * EQL_BAD_INPUT for commands that need a process of their own, such as `run`. */
enum eql_status eql_command(int *status, char **out, char **err, int n, const char *const *words,
                            struct eql_error *e);

void eql_free(void *what);
const char *eql_version(void);

#ifdef __cplusplus
}
#endif
#endif
