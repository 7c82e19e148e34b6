/* Transports of packs: files in folders of a place that several stores can reach. Names are
 * "FOLDER/NAME", made of letters, digits, '.', '_' and '-'. A file appears atomically and may be
 * replaced. Thread-safe. */
#pragma once

#include "base/map.h"
#include "engine/session/session.h"

struct transport {
    const struct transport_kind {
        /* Adds the names in a folder to the map, with the value 1; adds none if the folder does not
         * exist. */
        enum err_code (*list)(struct name_map *names, struct transport *t, const char *folder,
                              struct err *e);
        /* Returns in *out a file positioned at its beginning; the caller closes it. ERR_INPUT if
         * what stands there is no file: a good one may replace it. */
        enum err_code (*get)(FILE **out, struct transport *t, const char *name, struct err *e);
        /* `path` is a local file. */
        enum err_code (*put)(struct transport *t, const char *name, const char *path,
                             struct err *e);
    } * kind;
    void *state;
    const char *scratch; /* a folder for temporary files */
    struct session *session;
};

/* Everything is allocated in the arena. Fails with ERR_INPUT if the address is malformed. */
enum err_code transport_folder(struct transport *t, struct arena *a, const char *path,
                               struct err *e);
/* "[USER@]HOST[:PORT]/PATH", through the user's ssh. */
enum err_code transport_ssh(struct transport *t, struct arena *a, const char *address,
                            struct err *e);
/* "BUCKET[/PREFIX]", through curl; AWS's environment variables supply the rest. */
enum err_code transport_s3(struct transport *t, struct arena *a, const char *address,
                           struct err *e);

/* Runs a program and waits for it; `in` may be NULL. Its output is in *out, an unnamed file in the
 * scratch folder (out NULL: discarded). Fails with ERR_IO if the exit status is not 0, and with
 * ERR_NOTFOUND if there is no such program. */
enum err_code transport_run(FILE **out, struct transport *t, const char *const *argv, FILE *in,
                            struct err *e);
