/* How packs travel: files in folders of a place that several stores reach. Names are
 * "FOLDER/NAME", made of letters, digits, '.', '_' and '-'. A file appears whole or not at all, and
 * may be replaced. Thread-safe. */
#pragma once

#include "base/map.h"
#include "engine/session/session.h"

struct transport {
    const struct transport_kind {
        /* Puts the names in a folder into a map, with the value 1; none if there is no such folder.
         */
        enum err_code (*list)(struct name_map *names, struct transport *t, const char *folder,
                              struct err *e);
        /* *out is read from its beginning, and closed by the caller. */
        enum err_code (*get)(FILE **out, struct transport *t, const char *name, struct err *e);
        /* `path` is a file on this machine. */
        enum err_code (*put)(struct transport *t, const char *name, const char *path,
                             struct err *e);
    } * kind;
    void *state;
    const char *scratch; /* a folder for files that are deleted again */
    struct session *session;
};

/* Everything lives in the arena. ERR_INPUT: this is no such address. */
enum err_code transport_folder(struct transport *t, struct arena *a, const char *path,
                               struct err *e);
/* "[USER@]HOST[:PORT]/PATH", by the ssh of the user. */
enum err_code transport_ssh(struct transport *t, struct arena *a, const char *address,
                            struct err *e);
/* "BUCKET[/PREFIX]", by curl; the rest is told by AWS's environment variables. */
enum err_code transport_s3(struct transport *t, struct arena *a, const char *address,
                           struct err *e);

/* Runs a program to its end for a transport; `in` may be NULL. What it writes is in *out, a file of
 * the scratch folder without a name (NULL: nobody reads it). ERR_IO: it ended with another status
 * than 0; ERR_NOTFOUND: there is no such program. */
enum err_code transport_run(FILE **out, struct transport *t, const char *const *argv, FILE *in,
                            struct err *e);
