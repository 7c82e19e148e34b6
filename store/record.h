/* Records as bytes: identity and the envelope of docs/format.md, sections 2 and 3. Knows nothing of
 * where records are kept. */
#ifndef STORE_RECORD_H
#define STORE_RECORD_H

#include "base/buf.h"
#include "store/store.h"

enum {
    RECORD_MAX_PAYLOAD = 256 << 20,
    ENVELOPE_HEADER = 16,
    ENVELOPE_FORMAT = 1,
    MODEL_PREFIX = 8, /* bytes of its id that name a model */
};

enum codec {
    CODEC_RAW = 0,
    CODEC_ZSTD = 1,
    CODEC_ZSTD_DICTIONARY = 2, /* only read: stores of format 1 have it */
    CODEC_ZSTD_SHUFFLE2 = 3,
    CODEC_ZSTD_SHUFFLE4 = 4,
    CODEC_MODEL = 5,
};

/* What a record of kind `dictionary` holds: one of the two. */
struct dense_model;
struct dictionary {
    struct digest id; /* of its record */
    struct ZSTD_DDict_s *decompress;
    struct dense_model *model;
};
/* Where a coder gets them; *out is NULL if there is none. Errors are the store's: it cannot be
 * read. */
struct coder_dictionaries {
    enum err_code (*model_for_kind)(const struct dictionary **out, void *arg, enum record_kind kind,
                                    struct err *e);
    /* By the first n bytes of its id. */
    enum err_code (*by_id)(const struct dictionary **out, void *arg, const uint8_t *id, size_t n,
                           struct err *e);
    void *arg;
};

/* Compression contexts and scratch memory, reused; one thread at a time. */
struct coder;
struct coder *coder_new(void);
void coder_free(struct coder *c);
/* Without, nothing is compressed with a dictionary and what is cannot be read. */
void coder_set_dictionaries(struct coder *c, struct coder_dictionaries dictionaries);

enum effort {
    EFFORT_LITTLE, /* while a run waits: small payloads as they are, others by zstd's fastest level
                    */
    EFFORT_MUCH,   /* for good: under the model of their kind, or by a high level of zstd */
};
/* Appends the envelope of a payload to `out`. */
enum err_code envelope_write(struct buf *out, struct coder *c, enum effort effort,
                             enum record_kind kind, struct span payload, struct err *e);
/* Reads the payload into the arena. ERR_CORRUPT for anything but an envelope; the payload is only
 * decompressed: whoever knows the id compares it. */
enum err_code envelope_read(struct record *out, struct coder *c, struct span bytes, struct arena *a,
                            struct err *e);
/* Only the header: kind and payload length. */
enum err_code envelope_peek(enum record_kind *kind, uint64_t *length, struct span bytes,
                            struct err *e);
/* The first bytes of the id of the dictionary or model that an envelope needs; empty if none. */
struct span envelope_dictionary(struct span bytes);
/* envelope_read and the comparison. */
enum err_code envelope_verify(struct record *out, struct coder *c, const struct digest *id,
                              struct span bytes, struct arena *a, struct err *e);

#endif
