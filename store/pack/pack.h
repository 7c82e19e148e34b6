/* Artifacts in one file, with all that they refer to: docs/format.md, section 7. */
#pragma once

#include "store/store.h"

#include <stdio.h>

#define PACK_MAGIC "eqpack\n"
enum { PACK_MAGIC_SIZE = 8, PACK_FORMAT = 1 }; /* the format is the magic's last byte */
enum { PACK_END = 'E', PACK_RECORD = 'R', PACK_REF = 'N' };

struct pack_root {
    const char *name; /* of the ref to carry along; NULL: none */
    struct digest id;
};
struct pack_result {
    uint64_t records, bytes; /* in the file */
    uint64_t added;          /* records that the store had not */
    uint64_t refs, kept;     /* kept: refs that led elsewhere and still do */
};

struct pack_contents {
    const struct pack_root *roots; /* with all that they refer to */
    size_t n_roots;
    const struct digest *base; /* the receiver has these, and all that they refer to */
    size_t n_base;
    const struct digest *actions, *traces; /* keys; those that the store has come along */
    size_t n_actions, n_traces;
    bool fast; /* for one journey: compressed as while a run waits */
};

enum err_code store_pack(struct pack_result *out, struct store *s, FILE *to,
                         const struct pack_contents *what, struct err *e);
/* Verifies a pack entry by entry (the format, each record's identity and canonical form, the
 * checksum at the end). Nothing is stored before it has been verified, and nothing before what it
 * refers to; so unpacking again goes on after an unpacking that was cut off. Actions whose outputs
 * are not here stay behind. `name` is for messages. */
enum err_code store_unpack(struct pack_result *out, struct store *s, FILE *from, const char *name,
                           struct err *e);
