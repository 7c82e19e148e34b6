/* Packs: records and everything that they refer to in one file; docs/format.md, section 7. */
#pragma once

#include "store/store.h"

#include <stdio.h>

#define PACK_MAGIC "eqpack\n"
enum { PACK_MAGIC_SIZE = 8, PACK_FORMAT = 1 }; /* the format is the magic's last byte */
enum { PACK_END = 'E', PACK_RECORD = 'R', PACK_REF = 'N' };

struct pack_root {
    const char *name; /* a ref to include; NULL: none */
    struct digest id;
};
struct pack_result {
    uint64_t records, bytes; /* in the file */
    uint64_t added;          /* records that the store did not have */
    uint64_t actions;        /* taken from the pack */
    uint64_t refs, kept;     /* kept: refs that pointed elsewhere and were not changed */
};

struct pack_contents {
    const struct pack_root *roots; /* packed with everything that they refer to */
    size_t n_roots;
    const struct digest *base; /* the receiver has these and everything that they refer to */
    size_t n_base;
    const struct digest *actions, *traces; /* keys; those absent from the store are left out */
    size_t n_actions, n_traces;
    bool fast; /* for one transfer: compressed with EFFORT_FAST */
};

enum err_code store_pack(struct pack_result *out, struct store *s, FILE *to,
                         const struct pack_contents *what, struct err *e);
/* PACK_FOREIGN: what the pack says of actions is a claim, which is marked so. */
enum pack_trust { PACK_OWN, PACK_FOREIGN };
/* Verifies a pack entry by entry (the format, each record's identity and canonical form, the final
 * checksum). Stores nothing before it and what it refers to have been verified; so unpacking again
 * resumes an interrupted unpacking. Skips actions whose outputs are missing here, and those that the
 * store has with their outputs; likewise traces. `name` is for messages. */
enum err_code store_unpack(struct pack_result *out, struct store *s, FILE *from, const char *name,
                           enum pack_trust trust, struct err *e);
