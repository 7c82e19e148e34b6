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
    DICTIONARY_MAX_PAYLOAD = 128 << 10, /* longer ones learn enough from themselves */
};

enum codec {
    CODEC_RAW = 0,
    CODEC_ZSTD = 1,
    CODEC_ZSTD_DICTIONARY = 2,
    CODEC_ZSTD_SHUFFLE2 = 3,
    CODEC_ZSTD_SHUFFLE4 = 4,
};

struct dictionary {
    struct digest id; /* of its record */
    struct ZSTD_CDict_s *compress;
    struct ZSTD_DDict_s *decompress;
};
/* Where a coder gets them; both return NULL if there is none. */
struct coder_dictionaries {
    const struct dictionary *(*for_kind)(void *arg, enum record_kind kind);
    const struct dictionary *(*by_id)(void *arg, const struct digest *id);
    void *arg;
};

/* Compression contexts and scratch memory, reused; one thread at a time. */
struct coder;
struct coder *coder_new(void);
void coder_free(struct coder *c);
/* Without, nothing is compressed with a dictionary and what is cannot be read. */
void coder_set_dictionaries(struct coder *c, struct coder_dictionaries dictionaries);

/* Appends the envelope of a payload to `out`; the codec is chosen by what is smaller. */
enum err_code envelope_write(struct buf *out, struct coder *c, enum record_kind kind,
                             struct span payload, struct err *e);
/* Reads the payload into the arena. ERR_CORRUPT for anything but an envelope; the payload is only
 * decompressed: whoever knows the id compares it. */
enum err_code envelope_read(struct record *out, struct coder *c, struct span bytes, struct arena *a,
                            struct err *e);
/* Only the header: kind and payload length. */
enum err_code envelope_peek(enum record_kind *kind, uint64_t *length, struct span bytes,
                            struct err *e);
/* The id of the dictionary that an envelope needs; false if it needs none. */
bool envelope_dictionary(struct digest *id, struct span bytes);
/* envelope_read and the comparison. */
enum err_code envelope_verify(struct record *out, struct coder *c, const struct digest *id,
                              struct span bytes, struct arena *a, struct err *e);

#endif
