/* Identity, envelope and codec; see record.h and docs/format.md.
 *
 *     "eq" | format u8 | codec u8 | kind u16 | schema u16 | length u64 | body
 *
 * Invariant: envelope_read never trusts a length: what it allocates is bounded by
 * RECORD_MAX_PAYLOAD, and the frame must agree with the header about its size. */
#include "store/record.h"

#include "base/os.h"
#include "store/dense/model.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

enum {
    LEVEL_PASSING = 1, /* of what compact makes dense later */
    LEVEL = 3,
    LEVEL_MUCH = 9,
    RAW_BELOW = 100,         /* shorter payloads do not shrink enough to pay */
    RAW_BELOW_LITTLE = 8192, /* zstd would take half of the time of a put */
    SHUFFLE_FROM = 4096,     /* tensors below this are not worth a trial */
    SHUFFLE_SAMPLE = 32768   /* bytes on which shuffles are tried */
};

struct coder {
    ZSTD_CCtx *compress;
    ZSTD_DCtx *decompress;
    struct buf scratch;
    struct coder_dictionaries dictionaries;
};

static void *must(void *p)
{
    if (!p)
        os_out_of_memory(0);
    return p;
}

struct coder *coder_new(void)
{
    return must(calloc(1, sizeof(struct coder)));
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
}

static void put_le(uint8_t *at, uint64_t value, int width)
{
    for (int i = 0; i < width; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get_le(const uint8_t *at, int width)
{
    uint64_t value = 0;
    for (int i = 0; i < width; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

struct digest record_id(enum record_kind kind, struct span payload)
{
    const struct kind_info *info = kind_info(kind);
    char head[64];
    int n = snprintf(head, sizeof head - 8, "eqloom/1%c%s%c%u", 0, info->name, 0, info->schema);
    assert(n > 0 && (size_t)n + 1 <= sizeof head - 8);
    put_le((uint8_t *)head + n + 1, payload.len, 8);
    struct span parts[] = {span_of(head, (size_t)n + 9), payload};
    return digest_of(parts, 2);
}

static int shuffle_width(enum codec codec)
{
    switch (codec) {
    case CODEC_RAW:
    case CODEC_ZSTD:
    case CODEC_ZSTD_DICTIONARY:
    case CODEC_MODEL: return 1;
    case CODEC_ZSTD_SHUFFLE2: return 2;
    case CODEC_ZSTD_SHUFFLE4: return 4;
    }
    return 1;
}

static void shuffle(uint8_t *out, const uint8_t *in, size_t n, size_t width)
{
    size_t m = n / width;
    for (size_t j = 0; j < width; j++)
        for (size_t i = 0; i < m; i++)
            out[j * m + i] = in[i * width + j];
    memcpy(out + m * width, in + m * width, n - m * width);
}

static void unshuffle(uint8_t *out, const uint8_t *in, size_t n, size_t width)
{
    size_t m = n / width;
    for (size_t j = 0; j < width; j++)
        for (size_t i = 0; i < m; i++)
            out[i * width + j] = in[j * m + i];
    memcpy(out + m * width, in + m * width, n - m * width);
}

static bool holds_tensors(enum record_kind kind)
{
    return kind == KIND_CHUNK || kind == KIND_EMBEDDING_BATCH;
}

static size_t compress(struct coder *c, void *out, size_t room, const void *in, size_t n, int level)
{
    if (!c->compress)
        c->compress = must(ZSTD_createCCtx());
    return ZSTD_compressCCtx(c->compress, out, room, in, n, level);
}

/* Tries the shuffles on a piece from the middle. Depends on nothing but the bytes. */
static enum codec choose_codec(struct coder *c, enum effort effort, enum record_kind kind,
                               struct span payload)
{
    static const enum codec candidates[] = {CODEC_ZSTD, CODEC_ZSTD_SHUFFLE2, CODEC_ZSTD_SHUFFLE4};
    if (payload.len < (effort == EFFORT_LITTLE ? RAW_BELOW_LITTLE : RAW_BELOW))
        return CODEC_RAW;
    if (!holds_tensors(kind) || payload.len < SHUFFLE_FROM)
        return CODEC_ZSTD;
    size_t n = payload.len < SHUFFLE_SAMPLE ? payload.len : SHUFFLE_SAMPLE;
    const uint8_t *from = payload.data + (payload.len - n) / 2;
    size_t room = ZSTD_compressBound(n);
    buf_clear(&c->scratch);
    buf_reserve(&c->scratch, n + room);
    uint8_t *shuffled = (uint8_t *)c->scratch.data, *out = shuffled + n;
    enum codec best = CODEC_ZSTD;
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        shuffle(shuffled, from, n, (size_t)shuffle_width(candidates[i]));
        size_t size = compress(c, out, room, shuffled, n, 1);
        if (!ZSTD_isError(size) && size < least) {
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

/* Appends the payload under the model of its kind; leaves `out` as it was if it does not help. */
static bool write_dense(struct buf *out, const struct dictionary *d, const struct kind_info *info,
                        struct span payload)
{
    if (payload.len > DENSE_MAX_WRITTEN)
        return false;
    size_t start = out->len;
    buf_reserve(out, ENVELOPE_HEADER + MODEL_PREFIX);
    put_header((uint8_t *)out->data + start, CODEC_MODEL, info, payload.len);
    memcpy(out->data + start + ENVELOPE_HEADER, d->id.bytes, MODEL_PREFIX);
    out->len += ENVELOPE_HEADER + MODEL_PREFIX;
    size_t body = out->len;
    bool good = dense_write(out, d->model, payload, NULL) == OK &&
                out->len - start < ENVELOPE_HEADER + payload.len;
    /* What replaces a good record has been read back. */
    struct arena a = {0};
    struct span back;
    good = good &&
           dense_read(&back, d->model, span_of(out->data + body, out->len - body), payload.len, &a,
                      NULL) == OK &&
           span_equal(back, payload);
    arena_free(&a);
    if (!good)
        out->len = start;
    return good;
}

/* The length of the body, or SIZE_MAX if it is no shorter than the payload. */
static size_t compress_body(uint8_t *body, size_t room, struct coder *c, enum codec codec,
                            struct span payload, int level)
{
    const uint8_t *in = payload.data;
    size_t width = (size_t)shuffle_width(codec);
    if (width > 1) {
        buf_clear(&c->scratch);
        buf_reserve(&c->scratch, payload.len);
        shuffle((uint8_t *)c->scratch.data, payload.data, payload.len, width);
        in = (const uint8_t *)c->scratch.data;
    }
    size_t size = compress(c, body, room, in, payload.len, level);
    return ZSTD_isError(size) || size >= payload.len ? SIZE_MAX : size;
}

enum err_code envelope_write(struct buf *out, struct coder *c, enum effort effort,
                             enum record_kind kind, struct span payload, struct err *e)
{
    const struct kind_info *info = kind_info(kind);
    if (payload.len > RECORD_MAX_PAYLOAD)
        return err_fail(e, ERR_LIMIT, "a record of kind %s of %zu bytes: at most %d are allowed",
                        info->name, payload.len, RECORD_MAX_PAYLOAD);
    const struct dictionary *model = NULL;
    enum err_code found = OK;
    if (effort == EFFORT_MUCH && c->dictionaries.model_for_kind)
        found = c->dictionaries.model_for_kind(&model, c->dictionaries.arg, kind, e);
    if (found != OK)
        return err_up(e, found);
    if (model && write_dense(out, model, info, payload))
        return OK;
    enum codec codec = choose_codec(c, effort, kind, payload);
    size_t room = codec == CODEC_RAW ? payload.len : ZSTD_compressBound(payload.len);
    buf_reserve(out, ENVELOPE_HEADER + room);
    uint8_t *header = (uint8_t *)out->data + out->len, *body = header + ENVELOPE_HEADER;
    size_t size = SIZE_MAX;
    if (codec != CODEC_RAW)
        size = compress_body(body, room, c, codec, payload,
                             effort == EFFORT_MUCH ? LEVEL_MUCH
                             : dense_serves(kind)  ? LEVEL_PASSING
                                                   : LEVEL);
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
    size_t n = bytes.len < ENVELOPE_HEADER              ? 0
               : bytes.data[3] == CODEC_ZSTD_DICTIONARY ? DIGEST_SIZE
               : bytes.data[3] == CODEC_MODEL           ? MODEL_PREFIX
                                                        : 0;
    return bytes.len < ENVELOPE_HEADER + n ? span_of("", 0)
                                           : span_of(bytes.data + ENVELOPE_HEADER, n);
}

static enum err_code decompress(uint8_t *out, size_t length, struct coder *c, struct span body,
                                const struct dictionary *d, struct err *e)
{
    if (ZSTD_getFrameContentSize(body.data, body.len) != length ||
        ZSTD_findFrameCompressedSize(body.data, body.len) != body.len)
        return err_fail(e, ERR_CORRUPT, "not one zstd frame of the length stated");
    if (!c->decompress)
        c->decompress = must(ZSTD_createDCtx());
    size_t n = d ? ZSTD_decompress_usingDDict(c->decompress, out, length, body.data, body.len,
                                              d->decompress)
                 : ZSTD_decompressDCtx(c->decompress, out, length, body.data, body.len);
    if (ZSTD_isError(n))
        return err_fail(e, ERR_CORRUPT, "zstd: %s", ZSTD_getErrorName(n));
    if (n != length)
        return err_fail(e, ERR_CORRUPT, "the zstd frame is too short");
    return OK;
}

/* The dictionary or model that the codec needs, and the body behind its id. */
static enum err_code find_dictionary(const struct dictionary **out, struct span *body,
                                     struct coder *c, enum codec codec, enum record_kind kind,
                                     struct span bytes, struct err *e)
{
    struct span id = envelope_dictionary(bytes);
    if (!id.len)
        return err_fail(e, ERR_CORRUPT, "too short for its codec");
    const struct dictionary *d = NULL;
    enum err_code code = OK;
    if (c->dictionaries.by_id)
        code = c->dictionaries.by_id(&d, c->dictionaries.arg, id.data, id.len, e);
    if (code != OK)
        return err_up(e, code);
    if (!d) {
        struct digest shown = {0};
        char hex[DIGEST_HEX];
        memcpy(shown.bytes, id.data, id.len);
        return err_fail(e, ERR_CORRUPT, "its dictionary %.16s is not there",
                        digest_hex(hex, &shown));
    }
    bool serves = codec == CODEC_MODEL ? d->model && dense_model_kind(d->model) == kind
                                       : d->decompress != NULL;
    if (!serves)
        return err_fail(e, ERR_CORRUPT, "its dictionary is for something else");
    *out = d;
    *body = span_of(body->data + id.len, body->len - id.len);
    return OK;
}

enum err_code envelope_read(struct record *out, struct coder *c, struct span bytes, struct arena *a,
                            struct err *e)
{
    enum record_kind kind;
    uint64_t length;
    if (err_up(e, envelope_peek(&kind, &length, bytes, e)))
        return ERR_CORRUPT;
    struct span body = {bytes.data + ENVELOPE_HEADER, bytes.len - ENVELOPE_HEADER};
    const struct dictionary *d = NULL;
    if (bytes.data[3] > CODEC_MODEL)
        return err_fail(e, ERR_CORRUPT, "unknown codec %u", bytes.data[3]);
    enum codec codec = (enum codec)bytes.data[3];
    if ((codec == CODEC_ZSTD_DICTIONARY || codec == CODEC_MODEL) &&
        err_up(e, find_dictionary(&d, &body, c, codec, kind, bytes, e)))
        return ERR_CORRUPT;
    *out = (struct record){.kind = kind};
    if (codec == CODEC_MODEL)
        return err_up(e, dense_read(&out->payload, d->model, body, length, a, e));
    if (codec == CODEC_RAW ? body.len != length
                           : ZSTD_getFrameContentSize(body.data, body.len) != length)
        return err_fail(e, ERR_CORRUPT, "the body has not the length stated");
    uint8_t *payload = arena_try_alloc(a, length, 1);
    if (!payload)
        return err_fail(e, ERR_NOMEM, "out of memory reading a record of %llu bytes",
                        (unsigned long long)length);
    size_t width = (size_t)shuffle_width(codec);
    if (codec == CODEC_RAW) {
        if (length)
            memcpy(payload, body.data, length);
    } else if (width == 1) {
        if (err_up(e, decompress(payload, length, c, body, d, e)))
            return ERR_CORRUPT;
    } else {
        buf_clear(&c->scratch);
        buf_reserve(&c->scratch, length);
        if (err_up(e, decompress((uint8_t *)c->scratch.data, length, c, body, NULL, e)))
            return ERR_CORRUPT;
        unshuffle(payload, (const uint8_t *)c->scratch.data, length, width);
    }
    out->payload = span_of(payload, length);
    return OK;
}

enum err_code envelope_verify(struct record *out, struct coder *c, const struct digest *id,
                              struct span bytes, struct arena *a, struct err *e)
{
    enum err_code code = envelope_read(out, c, bytes, a, e);
    if (code != OK)
        return err_up(e, code);
    struct digest found = record_id(out->kind, out->payload);
    if (!digest_equal(&found, id))
        return err_fail(e, ERR_CORRUPT, "digest differs");
    return OK;
}
