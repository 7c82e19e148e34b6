/* libeqloom: stores, and the commands of eqloom, for other programs.
 *
 * A store is opened to read, also while a run writes it, and shows what was committed before. Names
 * are what `eqloom ls` prints ("quickstart/clusters", a tag) or at least four digits of an id.
 * Functions that return enum eql_status fill *e when they fail; e may be NULL. What they hand out
 * belongs to the caller, who frees it by eql_free. A handle may be used by several threads at once.
 */
#ifndef EQLOOM_H
#define EQLOOM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { EQL_ID_BYTES = 32 };

enum eql_status {
    EQL_OK,
    EQL_NOT_FOUND, /* there is no such store, name or record */
    EQL_BAD_INPUT, /* the arguments are wrong */
    EQL_DAMAGED,   /* stored bytes are not what their id says: eqloom fsck tells more */
    EQL_FAILED,    /* anything else; the message says what */
};

struct eql_error {
    char message[512];
};

struct eql_store;

enum eql_status eql_open(struct eql_store **out, const char *directory, struct eql_error *e);
void eql_close(struct eql_store *s);

/* EQL_BAD_INPUT: the digits fit several ids. */
enum eql_status eql_find(unsigned char id[EQL_ID_BYTES], struct eql_store *s, const char *name,
                         struct eql_error *e);
/* A record as it is stored: a protobuf message, described in the folder schemas/ of the sources.
 * *kind ("cluster", "checkpoint", ...) lives as long as the program. */
enum eql_status eql_record(const char **kind, unsigned char **payload, size_t *n,
                           struct eql_store *s, const unsigned char id[EQL_ID_BYTES],
                           struct eql_error *e);
/* A record as `eqloom show --json` prints it. */
enum eql_status eql_json(char **text, struct eql_store *s, const unsigned char id[EQL_ID_BYTES],
                         struct eql_error *e);
/* The ids of a collection, n * EQL_ID_BYTES bytes. EQL_BAD_INPUT: it is a record of another kind.
 */
enum eql_status eql_elements(unsigned char **ids, size_t *n, struct eql_store *s,
                             const unsigned char id[EQL_ID_BYTES], struct eql_error *e);
/* A record or collection as `eqloom export` writes it: "jsonl", "tsv", "npy" (vectors),
 * "safetensors" (models) or "raw". *index is the file that stands beside it: of npy JSON by line,
 * of safetensors one object, else NULL. */
enum eql_status eql_export(char **data, size_t *n, char **index, struct eql_store *s,
                           const unsigned char id[EQL_ID_BYTES], const char *format,
                           struct eql_error *e);

/* A command, such as {"explain", "--json", "sin(2*x)", "2*sin(x)*cos(x)"}, run in this process:
 * *out and *err are what it prints, *status its exit status. One at a time; others wait.
 * EQL_BAD_INPUT for commands that need a process of their own, as `run`. */
enum eql_status eql_command(int *status, char **out, char **err, int n, const char *const *words,
                            struct eql_error *e);

void eql_free(void *what);
const char *eql_version(void);

#ifdef __cplusplus
}
#endif
#endif
