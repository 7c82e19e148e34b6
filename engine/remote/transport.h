/* Transports of packs: files in folders of a place that several stores can reach. Names are
 * "FOLDER/NAME", made of letters, digits, '.', '_' and '-'. A file appears atomically and may be
 * replaced. Thread-safe.
 *
 * Who answers is not trusted: a transport that moves less than TRANSPORT_RATE for `patience_s`
 * seconds is ended, and so is one that sends more than is asked for or takes longer than it may. */
#pragma once

#include "base/map.h"
#include "engine/session/session.h"

enum {
    TRANSPORT_RATE = 4096, /* bytes per second, over patience_s */
    TRANSPORT_PACK_S = 3600,
    TRANSPORT_LIST_S = 300,          /* for one folder */
    TRANSPORT_LIST_BYTES = 64 << 20, /* of one answer */
    TRANSPORT_LIST_PAGES = 200,      /* answers */
    TRANSPORT_LIST_NAMES = 1 << 18,
};
#define TRANSPORT_PACK_BYTES ((uint64_t)5 << 30)

struct transport {
    const struct transport_kind {
        /* Adds the names of packs in a folder to the map, with the value 1; adds none if the folder
         * does not exist. */
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
    unsigned patience_s;
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

/* Adds the name to the map if it can be that of a pack. ERR_IO if there are too many. */
enum err_code transport_add_name(struct name_map *names, const char *name, struct err *e);

/* Returns when so many seconds from now are over. */
uint64_t transport_until(unsigned seconds);

struct transport_request {
    const char *const *argv;
    FILE *in;             /* may be NULL */
    uint64_t limit_bytes; /* of its output */
    const char *begin;    /* of its output, or it is ended; NULL: any */
    uint64_t until_ns;    /* transport_until */
    bool watches_itself;  /* it ends itself if nothing moves */
};
/* Runs a program and waits for it. Its output is in *out, an unnamed file in the scratch folder
 * (out NULL: discarded). Fails with ERR_IO if the exit status is not 0 or a bound is passed, and
 * with ERR_NOTFOUND if there is no such program. */
enum err_code transport_run(FILE **out, struct transport *t, const struct transport_request *q,
                            struct err *e);
