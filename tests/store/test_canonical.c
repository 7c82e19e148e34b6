/* The canonical wire form: golden bytes, random messages, and every other encoding refused. */
#include "tests/store/fixture.h"

#include "egraph.pb-c.h"
#include "report.pb-c.h"
#include "rule.pb-c.h"
#include "token.pb-c.h"

static enum err_code check_bytes(const ProtobufCMessageDescriptor *type, const void *bytes,
                                 size_t n)
{
    uint8_t *copy = malloc(n ? n : 1);
    memcpy(copy, bytes, n);
    err_clear(&err);
    enum err_code code = canonical_check(type, span_of(copy, n), &err);
    assert_int_equal(code == OK, err.message[0] == 0);
    free(copy);
    return code;
}

#define ACCEPTS(type, bytes)                                                                       \
    assert_int_equal(check_bytes(&eqloom__##type##__descriptor, bytes, sizeof bytes - 1), OK)
#define REFUSES(type, bytes)                                                                       \
    assert_int_equal(check_bytes(&eqloom__##type##__descriptor, bytes, sizeof bytes - 1),          \
                     ERR_CORRUPT)

TEST_IN_ARENA(golden_bytes)
{
    struct span out;
    Eqloom__Tensor tensor = EQLOOM__TENSOR__INIT;
    uint64_t shape[] = {0, 300};
    tensor.name = "w";
    tensor.dtype = "f32";
    tensor.n_shape = 2;
    tensor.shape = shape;
    MUST(canonical_pack(&out, a, &tensor.base, &err));
    assert_true(span_equal(out, span_of("\x0a\1w\x12\3f32\x1a\3\0\xac\2", 13)));

    Eqloom__Metric metric = EQLOOM__METRIC__INIT;
    metric.value = -0.0; /* absent, as zero is */
    metric.step = UINT64_MAX;
    MUST(canonical_pack(&out, a, &metric.base, &err));
    assert_true(span_equal(out, span_of("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 11)));
}

TEST(refusals)
{
    ACCEPTS(expr, "");
    ACCEPTS(expr, "\x0a\1x");
    ACCEPTS(expr, "\x0a\1x\x12\0\x12\0\x1a\1q"); /* empty messages count */
    REFUSES(expr, "\x0a\1x\x0a\1x");             /* twice */
    REFUSES(expr, "\x1a\1q\x0a\1x");             /* descending */
    REFUSES(expr, "\x0a\0");                     /* a default */
    REFUSES(expr, "\x8a\0\1x");                  /* long tag */
    REFUSES(expr, "\x0a\x81\0x");                /* long length */
    REFUSES(expr, "\x0a\2x");                    /* past the end */
    REFUSES(expr, "\x0a");                       /* cut off */
    REFUSES(expr, "\x08\1");                     /* wire type */
    REFUSES(expr, "\x0b");                       /* group */
    REFUSES(expr, "\x22\1x");                    /* unknown field 4 */
    REFUSES(expr, "\x02\1x");                    /* field 0 */
    REFUSES(expr, "\x0a\1x\0");                  /* trailing */
    REFUSES(expr, "\x0a\1\0");                   /* NUL */
    REFUSES(expr, "\x0a\1\x80");                 /* not UTF-8 ... */
    REFUSES(expr, "\x0a\2\xc0\x80");             /* overlong */
    REFUSES(expr, "\x0a\3\xe0\x80\x80");
    REFUSES(expr, "\x0a\3\xed\xa0\x80");     /* surrogate */
    REFUSES(expr, "\x0a\4\xf4\x90\x80\x80"); /* past U+10FFFF */
    REFUSES(expr, "\x0a\3\xe2\x82x");
    ACCEPTS(expr, "\x0a\4\xf4\x8f\xbf\xbf");
    ACCEPTS(expr, "\x0a\3\xe2\x82\xac");
    REFUSES(expr, "\x12\3\x0a\1\x80"); /* inside a message */
    ACCEPTS(certificate, "\x08\1\x40\1");
    REFUSES(certificate, "\x40\2"); /* bool 2 */
    REFUSES(certificate, "\x40\0");
    REFUSES(certificate, "\x10\x80\x80\x80\x80\x10"); /* uint32 2^32 */
    ACCEPTS(certificate, "\x10\xff\xff\xff\xff\x0f");
    ACCEPTS(certificate, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\1"); /* enum -1 */
    REFUSES(certificate, "\x08\xff\xff\xff\xff\x0f");                   /* enum -1 in 32 bits */
    REFUSES(certificate, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\2"); /* 65 bits */
    ACCEPTS(token_batch, "\x0a\3\0\1\0");
    REFUSES(token_batch, "\x0a\0");           /* empty list */
    REFUSES(token_batch, "\x08\1");           /* unpacked */
    REFUSES(token_batch, "\x0a\1\1\x0a\1\1"); /* in two pieces */
    REFUSES(token_batch, "\x0a\2\x80\0");
    REFUSES(token_batch, "\x0a\1\x80");
    ACCEPTS(token_batch, "\x22\0\x22\1x"); /* repeated strings may be empty */
    ACCEPTS(value, "\x11\0\0\0\0\0\0\xf0\x3f");
    REFUSES(value, "\x11\0\0\0\0\0\0\0\0");   /* 0.0 */
    REFUSES(value, "\x11\0\0\0\0\0\0\0\x80"); /* -0.0 */
    REFUSES(value, "\x11\0\0\0\0\0\0\xf0");
    ACCEPTS(series, "\x12\x08\0\0\0\0\0\0\0\x80"); /* -0.0 in a list */
    REFUSES(series, "\x12\x07\0\0\0\0\0\0\0");
}

TEST(deep_nesting)
{
    /* A type that contains itself, as none of ours does. */
    static ProtobufCMessageDescriptor type;
    static ProtobufCFieldDescriptor field = {.name = "inner",
                                             .id = 1,
                                             .label = PROTOBUF_C_LABEL_NONE,
                                             .type = PROTOBUF_C_TYPE_MESSAGE,
                                             .descriptor = &type};
    type.name = "nested";
    type.n_fields = 1;
    type.fields = &field;
    uint8_t bytes[128];
    size_t n = 0;
    for (int depth = 1; depth < 40; depth++) {
        assert_int_equal(canonical_check(&type, span_of(bytes + 128 - n, n), &err),
                         depth <= 32 ? OK : ERR_CORRUPT);
        bytes[128 - n - 1] = (uint8_t)n;
        bytes[128 - n - 2] = 0x0a;
        n += 2;
    }
}

/* ---- random messages by reflection ---- */

static void fill(ProtobufCMessage *m, struct rng *r, struct arena *a, int depth);

static uint64_t any_u64(struct rng *r)
{
    return rng_u64(r) >> rng_below(r, 64);
}

static void fill_one(const ProtobufCFieldDescriptor *f, void *at, struct rng *r, struct arena *a,
                     int depth)
{
    switch (f->type) {
    case PROTOBUF_C_TYPE_BOOL: *(protobuf_c_boolean *)at = (int)rng_below(r, 2); break;
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_ENUM: *(uint32_t *)at = (uint32_t)any_u64(r); break;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE: *(uint64_t *)at = any_u64(r); break;
    case PROTOBUF_C_TYPE_STRING: {
        static const char *const words[] = {"", "x", "sin x", "\xc3\xa9", "\xe2\x82\xac"};
        *(const char **)at = words[rng_below(r, 5)];
        break;
    }
    case PROTOBUF_C_TYPE_BYTES: {
        ProtobufCBinaryData *b = at;
        b->len = rng_below(r, 200);
        b->data = arena_alloc(a, b->len);
        for (size_t i = 0; i < b->len; i++)
            b->data[i] = (uint8_t)rng_u64(r);
        break;
    }
    case PROTOBUF_C_TYPE_MESSAGE: {
        const ProtobufCMessageDescriptor *type = f->descriptor;
        ProtobufCMessage *inner = arena_alloc(a, type->sizeof_message);
        type->message_init(inner);
        fill(inner, r, a, depth + 1);
        *(ProtobufCMessage **)at = inner;
        break;
    }
    }
}

static const size_t sizes[] = {
    [PROTOBUF_C_TYPE_BOOL] = sizeof(protobuf_c_boolean),
    [PROTOBUF_C_TYPE_INT32] = 4,
    [PROTOBUF_C_TYPE_SINT32] = 4,
    [PROTOBUF_C_TYPE_UINT32] = 4,
    [PROTOBUF_C_TYPE_SFIXED32] = 4,
    [PROTOBUF_C_TYPE_FIXED32] = 4,
    [PROTOBUF_C_TYPE_FLOAT] = 4,
    [PROTOBUF_C_TYPE_ENUM] = 4,
    [PROTOBUF_C_TYPE_INT64] = 8,
    [PROTOBUF_C_TYPE_SINT64] = 8,
    [PROTOBUF_C_TYPE_UINT64] = 8,
    [PROTOBUF_C_TYPE_SFIXED64] = 8,
    [PROTOBUF_C_TYPE_FIXED64] = 8,
    [PROTOBUF_C_TYPE_DOUBLE] = 8,
    [PROTOBUF_C_TYPE_STRING] = 8,
    [PROTOBUF_C_TYPE_MESSAGE] = 8,
    [PROTOBUF_C_TYPE_BYTES] = sizeof(ProtobufCBinaryData),
};

static void fill(ProtobufCMessage *m, struct rng *r, struct arena *a, int depth)
{
    for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &m->descriptor->fields[i];
        char *at = (char *)m + f->offset;
        if (rng_below(r, 3) == 0)
            continue;
        if (f->label != PROTOBUF_C_LABEL_REPEATED) {
            fill_one(f, at, r, a, depth);
            continue;
        }
        size_t n = rng_below(r, depth < 2 ? 5 : 2), step = sizes[f->type];
        char *array = arena_zalloc(a, n * step);
        for (size_t k = 0; k < n; k++)
            fill_one(f, array + k * step, r, a, depth);
        *(size_t *)((char *)m + f->quantifier_offset) = n;
        *(char **)at = array;
    }
}

TEST(random_messages)
{
    struct rng r = rng_new(test_seed(1), 1);
    for (int k = KIND_NONE + 1; k < KIND_END; k++) {
        const ProtobufCMessageDescriptor *type = kind_info((enum record_kind)k)->descriptor;
        for (int round = 0; round < 60; round++) {
            struct arena a = {0};
            ProtobufCMessage *m = arena_alloc(&a, type->sizeof_message), *back;
            type->message_init(m);
            fill(m, &r, &a, 0);
            struct span bytes, again;
            MUST(canonical_pack(&bytes, &a, m, &err));
            MUST(canonical_unpack(&back, &a, type, bytes, &err));
            MUST(canonical_pack(&again, &a, back, &err));
            assert_true(span_equal(bytes, again));
            /* Mutations: whatever is accepted is what its message packs to. */
            for (int i = 0; i < 40 && bytes.len; i++) {
                uint8_t *mutant = malloc(bytes.len + 1);
                memcpy(mutant, bytes.data, bytes.len);
                size_t n = bytes.len, at = rng_below(&r, n);
                switch (rng_below(&r, 3)) {
                case 0: mutant[at] ^= (uint8_t)(1 << rng_below(&r, 8)); break;
                case 1:
                    memmove(mutant + at, mutant + at + 1, n - at - 1);
                    n--;
                    break;
                case 2:
                    memmove(mutant + at + 1, mutant + at, n - at);
                    mutant[at] = (uint8_t)rng_u64(&r);
                    n++;
                    break;
                }
                struct err e = {0};
                if (canonical_unpack(&back, &a, type, span_of(mutant, n), &e) == OK) {
                    MUST(canonical_pack(&again, &a, back, &err));
                    assert_true(span_equal(span_of(mutant, n), again));
                } else {
                    assert_int_equal(e.code, ERR_CORRUPT);
                }
                free(mutant);
            }
            arena_free(&a);
        }
    }
}

TEST_IN_ARENA(pack_refuses_bad_strings)
{
    struct span out;
    Eqloom__Expr expr = EQLOOM__EXPR__INIT;
    expr.prefix = "\xff";
    assert_int_equal(canonical_pack(&out, a, &expr.base, &err), ERR_INPUT);
    assert_non_null(strstr(err.message, "prefix"));
}

static enum err_code count_id(void *arg, const struct digest *id, struct err *e)
{
    unsigned *sum = arg;
    *sum = *sum * 10 + id->bytes[0];
    return OK;
}

TEST(visit_ids)
{
    uint8_t ids[96] = {1}, one[32] = {4};
    ids[32] = 2;
    ids[64] = 3;
    Eqloom__Tensor tensor = EQLOOM__TENSOR__INIT, *tensors[] = {&tensor, &tensor};
    tensor.chunk_ids = (ProtobufCBinaryData){96, ids};
    Eqloom__Checkpoint c = EQLOOM__CHECKPOINT__INIT;
    c.n_tensors = 2;
    c.tensors = tensors;
    c.vocabulary_id = (ProtobufCBinaryData){32, one};
    c.rng = (ProtobufCBinaryData){5, one}; /* no id */
    unsigned sum = 0;
    MUST(message_visit_ids(&c.base, count_id, &sum, &err));
    assert_int_equal(sum, 1231234);
    c.vocabulary_id.len = 31;
    assert_int_equal(message_visit_ids(&c.base, count_id, &sum, &err), ERR_CORRUPT);
    assert_true(message_type_has_ids(&eqloom__checkpoint__descriptor));
    assert_false(message_type_has_ids(&eqloom__expr__descriptor));
}

/* What the canonical form rules out must not be in the schemas either. */
static void check_type(const ProtobufCMessageDescriptor *type, int depth)
{
    assert_true(depth < 32);
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &type->fields[i];
        assert_false(f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF);
        if (f->label == PROTOBUF_C_LABEL_OPTIONAL)
            assert_int_equal(f->type, PROTOBUF_C_TYPE_MESSAGE);
        if (f->label == PROTOBUF_C_LABEL_REPEATED && f->type != PROTOBUF_C_TYPE_MESSAGE &&
            f->type != PROTOBUF_C_TYPE_STRING && f->type != PROTOBUF_C_TYPE_BYTES)
            assert_true(f->flags & PROTOBUF_C_FIELD_FLAG_PACKED);
        if (f->type == PROTOBUF_C_TYPE_MESSAGE)
            check_type(f->descriptor, depth + 1);
    }
}

TEST(schemas)
{
    for (int k = KIND_NONE + 1; k < KIND_END; k++)
        check_type(kind_info((enum record_kind)k)->descriptor, 0);
}
