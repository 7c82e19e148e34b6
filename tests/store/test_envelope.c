/* Identity and envelope: ids pinned, every damage found. */
#include "tests/store/fixture.h"

#include "store/record/envelope.h"

static struct span packed(struct arena *a, const ProtobufCMessage *m)
{
    struct span out;
    MUST(canonical_pack(&out, a, m, &err));
    return out;
}

/* These ids are in stores that people have. They never change. */
TEST_IN_ARENA(golden_ids)
{
    char hex[DIGEST_HEX];
    Eqloom__Expr expr = EQLOOM__EXPR__INIT;
    expr.prefix = "x";
    struct digest id = record_id(KIND_EXPR, packed(a, &expr.base));
    assert_string_equal(digest_hex(hex, &id),
                        "028f5d98ff5008a24506af181ba822887e70bfcfd55ec358c1afebca5d95c80e");
    id = record_id(KIND_CLUSTER, span_of("", 0));
    assert_string_equal(digest_hex(hex, &id),
                        "46f3d7664b1cf5b03924a44938378347cc4ae61c149b9c1ee3e69bc8c0bb5588");
    Eqloom__Chunk chunk = EQLOOM__CHUNK__INIT;
    chunk.data = (ProtobufCBinaryData){4, (uint8_t *)"\0\1\2\3"};
    id = record_id(KIND_CHUNK, packed(a, &chunk.base));
    assert_string_equal(digest_hex(hex, &id),
                        "2a89c67043f9f0845295f27fbef30b46aa7018d303b44bc61c9ff4aff3e21aeb");
    id = record_id(KIND_DICTIONARY, packed(a, &chunk.base));
    assert_string_equal(digest_hex(hex, &id),
                        "245209d2415fc30d9a59e418af895ddaff483769479be974a91a5f9dc6101b37");
    id = action_key(span_str("preimage"));
    assert_string_equal(digest_hex(hex, &id),
                        "fe3781e747547360a86cacb5bc206987b9af2851c9abf68089e258cf2d27cb27");
}

TEST_IN_ARENA(golden_envelope)
{
    struct buf out = {0};
    struct coder *c = coder_new();
    Eqloom__Expr expr = EQLOOM__EXPR__INIT;
    expr.prefix = "x";
    MUST(envelope_write(&out, c, EFFORT_HIGH, KIND_EXPR, packed(a, &expr.base), &err));
    assert_int_equal(out.len, 19);
    assert_memory_equal(out.data, "eq\1\0\1\0\1\0\3\0\0\0\0\0\0\0\x0a\1x", 19);
    coder_free(c);
    buf_free(&out);
}

/* A Chunk payload whose bytes follow a rule. */
static struct span chunk_payload(struct arena *a, size_t n, int rule)
{
    struct rng r = rng_new(7, (uint64_t)rule);
    uint8_t *data = arena_alloc(a, n + 8);
    for (size_t i = 0; i < n; i++)
        data[i] = rule == 0 ? (uint8_t)rng_u64(&r) : (uint8_t)(i / 7);
    if (rule == 2)
        for (size_t i = 0; i + 4 <= n; i += 4) {
            float f = (float)rng_normal(&r);
            memcpy(data + i, &f, 4);
        }
    Eqloom__Chunk chunk = EQLOOM__CHUNK__INIT;
    chunk.data = (ProtobufCBinaryData){n, data};
    return packed(a, &chunk.base);
}

TEST(roundtrip)
{
    static const size_t sizes[] = {0, 1, 90, 97, 98, 99, 5000, 5001, 5002, 5003, 70000, 1 << 20};
    struct coder *c = coder_new();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int rule = 0; rule < 3; rule++) {
            struct arena a = {0};
            struct buf out = {0};
            struct record r;
            struct span payload = chunk_payload(&a, sizes[i], rule);
            struct digest id = record_id(KIND_CHUNK, payload);
            MUST(envelope_write(&out, c, EFFORT_HIGH, KIND_CHUNK, payload, &err));
            assert_true(out.len <= payload.len + ENVELOPE_HEADER);
            if (rule == 2 && sizes[i] >= 70000) {
                assert_int_equal(out.data[3], CODEC_ZSTD_SHUFFLE4);
                assert_true(out.len < payload.len * 94 / 100);
            }
            MUST(envelope_verify(&r, c, &id, span_of(out.data, out.len), &a, &err));
            assert_int_equal(r.kind, KIND_CHUNK);
            assert_true(span_equal(r.payload, payload));
            buf_free(&out);
            arena_free(&a);
        }
    coder_free(c);
}

/* Damage is refused; or it does not matter, and the very payload comes out (zstd ignores a bit). */
static void check_damaged(struct coder *c, const struct digest *id, struct span payload,
                          struct span bytes, bool must_fail)
{
    struct arena a = {0};
    struct record r;
    enum err_code code = envelope_verify(&r, c, id, bytes, &a, &err);
    if (code == OK) {
        assert_false(must_fail);
        assert_true(span_equal(r.payload, payload));
    } else {
        assert_true(code == ERR_CORRUPT || code == ERR_UNSUPPORTED);
        assert_true(err.message[0] != 0);
    }
    arena_free(&a);
}

TEST(damage)
{
    struct coder *c = coder_new();
    static const size_t sizes[] = {20, 400, 6000}; /* raw, zstd, shuffled */
    static const int codecs[] = {CODEC_RAW, CODEC_ZSTD, CODEC_ZSTD_SHUFFLE4};
    for (size_t i = 0; i < 3; i++) {
        struct arena a = {0};
        struct buf out = {0};
        struct span payload = chunk_payload(&a, sizes[i], i == 2 ? 2 : 1);
        struct digest id = record_id(KIND_CHUNK, payload);
        MUST(envelope_write(&out, c, EFFORT_HIGH, KIND_CHUNK, payload, &err));
        assert_int_equal(out.data[3], codecs[i]);
        for (size_t n = 0; n < out.len; n++) {
            uint8_t *copy = malloc(n ? n : 1); /* so that ASan sees a step too far */
            memcpy(copy, out.data, n);
            check_damaged(c, &id, payload, span_of(copy, n), true);
            free(copy);
        }
        for (size_t bit = 0; bit < out.len * 8; bit++) {
            out.data[bit / 8] ^= (char)(1 << bit % 8);
            check_damaged(c, &id, payload, span_of(out.data, out.len), false);
            out.data[bit / 8] ^= (char)(1 << bit % 8);
        }
        buf_putc(&out, 0);
        check_damaged(c, &id, payload, span_of(out.data, out.len), true);
        buf_free(&out);
        arena_free(&a);
    }
    coder_free(c);
}

TEST_IN_ARENA(wrong_id)
{
    struct buf out = {0};
    struct record r;
    struct coder *c = coder_new();
    struct span payload = chunk_payload(a, 500, 1);
    struct digest id = record_id(KIND_DICTIONARY, payload); /* same payload, another kind */
    MUST(envelope_write(&out, c, EFFORT_HIGH, KIND_CHUNK, payload, &err));
    assert_int_equal(envelope_verify(&r, c, &id, span_of(out.data, out.len), a, &err), ERR_CORRUPT);
    coder_free(c);
    buf_free(&out);
}

static enum err_code no_dictionary(const struct dictionary **out, void *arg, enum record_kind kind,
                                   enum effort effort, struct span payload, struct err *e)
{
    return err_fail(e, ERR_IO, "%s", (const char *)arg);
}

/* A store that cannot read its dictionaries writes nothing; what needs none is written. */
TEST(failing_dictionaries)
{
    static const uint8_t payload[4096] = {1, 2, 3};
    struct coder *c = coder_new();
    struct buf out = {0};
    struct err e = {0};
    coder_set_dictionaries(
        c, (struct coder_dictionaries){.for_payload = no_dictionary, .arg = "it is gone"});
    assert_int_equal(
        envelope_write(&out, c, EFFORT_FAST, KIND_CLUSTER, span_of(payload, sizeof payload), &e),
        ERR_IO);
    assert_string_equal(e.message, "it is gone");
    assert_int_equal(out.len, 0);
    assert_int_equal(envelope_write(&out, c, EFFORT_FAST, KIND_CLUSTER, span_of(payload, 3), &e),
                     OK);
    assert_true(out.len > 0);
    buf_free(&out);
    coder_free(c);
}
