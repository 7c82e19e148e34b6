/* Identity, envelope and codec; see envelope.h and docs/format.md.
 *
 *     "eq" | format u8 | codec u8 | kind u16 | schema u16 | length u64 | body
 *
 * Invariant: envelope_read never trusts a length: what it allocates is bounded by
 * RECORD_MAX_PAYLOAD, and the frame must agree with the header about its size. */
#include "store/record/envelope.h"

#include "base/err.h"
#include "base/span.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

enum {
    RAW_BELOW = 100,       /* shorter payloads do not compress enough */
    SHUFFLE_FROM = 4096,   /* shorter tensors are not worth a trial */
    SHUFFLE_SAMPLE = 32768 /* bytes on which shuffles are tried */
};
static const int levels[EFFORTS] = {[EFFORT_FAST] = LEVEL_FAST, [EFFORT_HIGH] = LEVEL_HIGH};

struct coder {
    ZSTD_CCtx *compress;
    ZSTD_DCtx *decompress;
    struct buf scratch;
    struct coder_dictionaries dictionaries;
    int level;                     /* level set in `compress` */
    const ZSTD_CDict *compress_by; /* dictionary set in `compress` */
    const struct dictionary *last; /* last read with; usually the next one too */
};

static void *must(void *p)
{
    if (!p)
        out_of_memory(0);
    return p;
}

struct coder *coder_new(void)
{
    return must_calloc(1, sizeof(struct coder));
}

void coder_free(struct coder *c)
{
    if (!c)
        return;
    ZSTD_freeCCtx(c->compress);
    ZSTD_freeDCtx(c->decompress);
    buf_free(&c->scratch);
    free(c);
}

void coder_set_dictionaries(struct coder *c, struct coder_dictionaries dictionaries)
{
    c->dictionaries = dictionaries;
    c->last = NULL;
}

struct digest record_id(enum record_kind kind, struct span payload)
{
    const struct kind_info *info = kind_info(kind);
    char head[64];
    int n = snprintf(head, sizeof head - 8, "eqloom/1%c%s%c%u", 0, info->name, 0, info->schema);
    assert(n > 0 && (size_t)n + 1 <= sizeof head - 8);
    put_le(head + n + 1, payload.len, 8);
    struct span parts[] = {span_of(head, (size_t)n + 9), payload};
    return digest_of(parts, 2);
}

static size_t shuffle_width(enum codec codec)
{
    return codec == CODEC_ZSTD_SHUFFLE2 ? 2 : codec == CODEC_ZSTD_SHUFFLE4 ? 4 : 1;
}

/* Groups byte j of all numbers of `width` bytes before byte j + 1 of all; or the inverse. */
static void shuffle(uint8_t *out, const uint8_t *in, size_t n, size_t width, bool back)
{
    size_t m = n / width;
    for (size_t j = 0; j < width; j++)
        for (size_t i = 0; i < m; i++)
            if (back)
                out[i * width + j] = in[j * m + i];
            else
                out[j * m + i] = in[i * width + j];
    memcpy(out + m * width, in + m * width, n - m * width);
}

static bool holds_tensors(enum record_kind kind)
{
    return kind == KIND_CHUNK || kind == KIND_EMBEDDING_BATCH;
}

/* Returns the length of one zstd frame, or SIZE_MAX if it does not fit. */
static size_t compress(struct coder *c, void *out, size_t room, const void *in, size_t n, int level,
                       const ZSTD_CDict *dictionary)
{
    if (!c->compress) {
        c->compress = must(ZSTD_createCCtx());
        ZSTD_CCtx_setParameter(c->compress, ZSTD_c_dictIDFlag, 0); /* the envelope names it */
    }
    if (c->level != level || c->compress_by != dictionary) {
        /* after a frame that did not fit, zstd would reject the next input */
        ZSTD_CCtx_reset(c->compress, ZSTD_reset_session_only);
        ZSTD_CCtx_setParameter(c->compress, ZSTD_c_compressionLevel, c->level = level);
        ZSTD_CCtx_refCDict(c->compress, c->compress_by = dictionary);
    }
    size_t size = ZSTD_compress2(c->compress, out, room, in, n);
    return ZSTD_isError(size) ? SIZE_MAX : size;
}

/* Tries the shuffles on a part from the middle. Depends only on the bytes. */
static enum codec choose_shuffle(struct coder *c, struct span payload)
{
    static const enum codec candidates[] = {CODEC_ZSTD, CODEC_ZSTD_SHUFFLE2, CODEC_ZSTD_SHUFFLE4};
    size_t n = payload.len < SHUFFLE_SAMPLE ? payload.len : SHUFFLE_SAMPLE;
    const uint8_t *from = payload.data + (payload.len - n) / 2;
    size_t room = ZSTD_compressBound(n);
    buf_clear(&c->scratch);
    buf_reserve(&c->scratch, n + room);
    uint8_t *shuffled = (uint8_t *)c->scratch.data, *out = shuffled + n;
    enum codec best = CODEC_ZSTD;
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        shuffle(shuffled, from, n, shuffle_width(candidates[i]), false);
        size_t size = compress(c, out, room, shuffled, n, 1, NULL);
        if (size < least) {
            least = size;
            best = candidates[i];
        }
    }
    return best;
}

static void put_header(uint8_t *header, enum codec codec, const struct kind_info *info,
                       size_t length)
{
    memcpy(header, "eq", 2);
    header[2] = ENVELOPE_FORMAT;
    header[3] = (uint8_t)codec;
    put_le(header + 4, info->kind, 2);
    put_le(header + 6, info->schema, 2);
    put_le(header + 8, length, 8);
}

/* Returns the length of the body if it is shorter than the payload; else SIZE_MAX. */
static size_t write_body(uint8_t *body, struct coder *c, enum codec codec, struct span payload,
                         enum effort effort, const struct dictionary *d)
{
    const uint8_t *in = payload.data;
    size_t width = shuffle_width(codec), before = 0;
    if (width > 1) {
        buf_clear(&c->scratch);
        buf_reserve(&c->scratch, payload.len);
        shuffle((uint8_t *)c->scratch.data, payload.data, payload.len, width, false);
        in = (const uint8_t *)c->scratch.data;
    }
    if (d) {
        before = ENVELOPE_DICTIONARY;
        memcpy(body, d->id.bytes, before);
    }
    size_t size = compress(c, body + before, payload.len - before, in, payload.len, levels[effort],
                           d ? d->compress[effort] : NULL);
    return size == SIZE_MAX || before + size >= payload.len ? SIZE_MAX : before + size;
}

enum err_code envelope_write(struct buf *out, struct coder *c, enum effort effort,
                             enum record_kind kind, struct span payload, struct err *e)
{
    const struct kind_info *info = kind_info(kind);
    const struct dictionary *d = NULL;
    enum err_code code;
    if (payload.len > RECORD_MAX_PAYLOAD)
        return err_fail(e, ERR_LIMIT, "a record of kind %s of %zu bytes: at most %d are allowed",
                        info->name, payload.len, RECORD_MAX_PAYLOAD);
    enum codec codec = payload.len < RAW_BELOW ? CODEC_RAW : CODEC_ZSTD;
    if (codec == CODEC_ZSTD && holds_tensors(kind) && payload.len >= SHUFFLE_FROM)
        codec = choose_shuffle(c, payload);
    if (codec == CODEC_ZSTD && c->dictionaries.for_payload &&
        (code = c->dictionaries.for_payload(&d, c->dictionaries.arg, kind, effort, payload, e)))
        return err_up(e, code);
    if (d)
        codec = CODEC_ZSTD_DICTIONARY;
    buf_reserve(out, ENVELOPE_HEADER + payload.len);
    uint8_t *header = (uint8_t *)out->data + out->len, *body = header + ENVELOPE_HEADER;
    size_t size = SIZE_MAX;
    if (codec != CODEC_RAW)
        size = write_body(body, c, codec, payload, effort, d);
    if (size == SIZE_MAX) {
        codec = CODEC_RAW;
        size = payload.len;
        if (size)
            memcpy(body, payload.data, size);
    }
    put_header(header, codec, info, payload.len);
    out->len += ENVELOPE_HEADER + size;
    out->data[out->len] = 0;
    return OK;
}

enum err_code envelope_peek(enum record_kind *kind, uint64_t *length, struct span bytes,
                            struct err *e)
{
    if (bytes.len < ENVELOPE_HEADER || memcmp(bytes.data, "eq", 2) != 0)
        return err_fail(e, ERR_CORRUPT, "not an envelope");
    if (bytes.data[2] != ENVELOPE_FORMAT)
        return err_fail(e, ERR_CORRUPT, "envelope of unknown format %u", bytes.data[2]);
    const struct kind_info *info = kind_info((enum record_kind)get_le(bytes.data + 4, 2));
    if (!info)
        return err_fail(e, ERR_CORRUPT, "unknown kind %u", (unsigned)get_le(bytes.data + 4, 2));
    if (get_le(bytes.data + 6, 2) != info->schema)
        return err_fail(e, ERR_CORRUPT, "unknown schema %u of kind %s",
                        (unsigned)get_le(bytes.data + 6, 2), info->name);
    uint64_t n = get_le(bytes.data + 8, 8);
    if (n > RECORD_MAX_PAYLOAD)
        return err_fail(e, ERR_CORRUPT, "a length of %llu bytes", (unsigned long long)n);
    *kind = info->kind;
    *length = n;
    return OK;
}

struct span envelope_dictionary(struct span bytes)
{
    return bytes.len >= ENVELOPE_HEADER + ENVELOPE_DICTIONARY &&
                   bytes.data[3] == CODEC_ZSTD_DICTIONARY
               ? span_of(bytes.data + ENVELOPE_HEADER, ENVELOPE_DICTIONARY)
               : span_of("", 0);
}

static enum err_code decompress(uint8_t *out, size_t length, struct coder *c, struct span body,
                                const struct dictionary *d, struct err *e)
{
    if (ZSTD_findFrameCompressedSize(body.data, body.len) != body.len)
        return err_fail(e, ERR_CORRUPT, "not one zstd frame");
    if (!c->decompress)
        c->decompress = must(ZSTD_createDCtx());
    size_t n = d ? ZSTD_decompress_usingDDict(c->decompress, out, length, body.data, body.len,
                                              d->decompress)
                 : ZSTD_decompressDCtx(c->decompress, out, length, body.data, body.len);
    if (ZSTD_isError(n))
        return err_fail(e, ERR_CORRUPT, "zstd: %s", ZSTD_getErrorName(n));
    return n == length ? OK : err_fail(e, ERR_CORRUPT, "the zstd frame is too short");
}

/* Finds the dictionary that the envelope needs, and the frame after its name. */
static enum err_code find_dictionary(const struct dictionary **out, struct span *body,
                                     struct coder *c, struct span bytes, struct err *e)
{
    struct span name = envelope_dictionary(bytes);
    enum err_code code;
    if (!name.len)
        return err_fail(e, ERR_CORRUPT, "too short for its codec");
    *out = c->last && memcmp(c->last->id.bytes, name.data, name.len) == 0 ? c->last : NULL;
    if (!*out && c->dictionaries.by_prefix &&
        (code = c->dictionaries.by_prefix(out, c->dictionaries.arg, name.data, e)))
        return err_up(e, code);
    if (!*out) {
        struct digest shown = {0};
        char hex[DIGEST_HEX];
        memcpy(shown.bytes, name.data, name.len);
        return err_fail(e, ERR_CORRUPT, "its dictionary %.16s is missing", digest_hex(hex, &shown));
    }
    c->last = *out;
    *body = span_of(body->data + name.len, body->len - name.len);
    return OK;
}

enum err_code envelope_read(struct record *out, struct coder *c, struct span bytes, struct arena *a,
                            struct err *e)
{
    enum record_kind kind;
    uint64_t length;
    enum err_code code = envelope_peek(&kind, &length, bytes, e);
    if (code)
        return err_up(e, code);
    struct span body = {bytes.data + ENVELOPE_HEADER, bytes.len - ENVELOPE_HEADER};
    const struct dictionary *d = NULL;
    if (bytes.data[3] >= CODEC_END)
        return err_fail(e, ERR_CORRUPT, "unknown codec %u", bytes.data[3]);
    enum codec codec = (enum codec)bytes.data[3];
    if (codec == CODEC_ZSTD_DICTIONARY && (code = find_dictionary(&d, &body, c, bytes, e)))
        return err_up(e, code);
    if (codec == CODEC_RAW ? body.len != length
                           : ZSTD_getFrameContentSize(body.data, body.len) != length)
        return err_fail(e, ERR_CORRUPT, "the body does not have the length stated");
    uint8_t *payload = arena_try_alloc(a, length, 1);
    if (!payload)
        return err_fail(e, ERR_NOMEM, "out of memory reading a record of %llu bytes",
                        (unsigned long long)length);
    size_t width = shuffle_width(codec);
    if (codec == CODEC_RAW && length) {
        memcpy(payload, body.data, length);
    } else if (codec != CODEC_RAW && width == 1) {
        code = decompress(payload, length, c, body, d, e);
    } else if (width > 1) {
        buf_clear(&c->scratch);
        buf_reserve(&c->scratch, length);
        code = decompress((uint8_t *)c->scratch.data, length, c, body, NULL, e);
        if (!code)
            shuffle(payload, (const uint8_t *)c->scratch.data, length, width, true);
    }
    *out = (struct record){.kind = kind, .payload = span_of(payload, length)};
    return err_up(e, code);
}

enum err_code envelope_verify(struct record *out, struct coder *c, const struct digest *id,
                              struct span bytes, struct arena *a, struct err *e)
{
    enum err_code code = envelope_read(out, c, bytes, a, e);
    if (code)
        return err_up(e, code);
    struct digest found = record_id(out->kind, out->payload);
    if (!digest_equal(&found, id))
        return err_fail(e, ERR_CORRUPT, "digest differs");
    return OK;
}
