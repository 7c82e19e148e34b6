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
};

enum codec {
    CODEC_RAW = 0,
    CODEC_ZSTD = 1,
    CODEC_ZSTD_DICTIONARY = 2,
    CODEC_ZSTD_SHUFFLE2 = 3,
    CODEC_ZSTD_SHUFFLE4 = 4,
};

/* Compression contexts and scratch memory, reused; one thread at a time. */
struct coder;
struct coder *coder_new(void);
void coder_free(struct coder *c);

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
/* envelope_read and the comparison. */
enum err_code envelope_verify(struct record *out, struct coder *c, const struct digest *id,
                              struct span bytes, struct arena *a, struct err *e);

#endif
