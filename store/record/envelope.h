/* Records as bytes: identity and the envelope of docs/format.md, sections 2 and 3. Independent of
 * where records are stored. */
#pragma once

#include "base/buf.h"
#include "store/store.h"

enum {
    RECORD_MAX_PAYLOAD = 256 << 20,
    ENVELOPE_HEADER = 16,
    ENVELOPE_FORMAT = 1,
    ENVELOPE_DICTIONARY = 8, /* bytes of a dictionary's id that name it */
};

enum codec {
    CODEC_RAW,
    CODEC_ZSTD,
    CODEC_ZSTD_DICTIONARY,
    CODEC_ZSTD_SHUFFLE2,
    CODEC_ZSTD_SHUFFLE4,
    CODEC_END
};

enum effort {
    EFFORT_FAST, /* while a run waits */
    EFFORT_HIGH, /* compact, packs */
    EFFORTS
};
enum { LEVEL_FAST = 1, LEVEL_HIGH = 12 }; /* of zstd */

/* The content of a record of kind `dictionary`, prepared for zstd. */
struct dictionary {
    struct digest id; /* of its record */
    struct buf content;
    struct ZSTD_DDict_s *decompress;
    struct ZSTD_CDict_s *compress[EFFORTS]; /* created on demand */
};
/* The source of a coder's dictionaries; sets *out to NULL if there is none. Fails if the store
 * cannot be read now. */
struct coder_dictionaries {
    /* Returns the dictionary for a payload about to be compressed. */
    enum err_code (*for_payload)(const struct dictionary **out, void *arg, enum record_kind kind,
                                 enum effort effort, struct span payload, struct err *e);
    enum err_code (*by_prefix)(const struct dictionary **out, void *arg,
                               const uint8_t id[ENVELOPE_DICTIONARY], struct err *e);
    void *arg;
};

/* Compression contexts and scratch memory, reused; one thread at a time. */
struct coder;
struct coder *coder_new(void);
void coder_free(struct coder *c);
/* Without dictionaries, a coder uses none for writing and cannot read envelopes that need one. */
void coder_set_dictionaries(struct coder *c, struct coder_dictionaries dictionaries);

/* Appends a payload's envelope to `out`. */
enum err_code envelope_write(struct buf *out, struct coder *c, enum effort effort,
                             enum record_kind kind, struct span payload, struct err *e);
/* Reads the payload into the arena. ERR_CORRUPT if the bytes are not an envelope or their
 * dictionary is missing; other codes mean that the dictionary cannot be read now or memory ran out.
 * Does not verify the payload's id. */
enum err_code envelope_read(struct record *out, struct coder *c, struct span bytes, struct arena *a,
                            struct err *e);
/* Like envelope_read; also verifies the id. */
enum err_code envelope_verify(struct record *out, struct coder *c, const struct digest *id,
                              struct span bytes, struct arena *a, struct err *e);
/* Reads only the header: kind and payload length. */
enum err_code envelope_peek(enum record_kind *kind, uint64_t *length, struct span bytes,
                            struct err *e);
/* Returns the name of the dictionary that an envelope needs; empty if it needs none. */
struct span envelope_dictionary(struct span bytes);
