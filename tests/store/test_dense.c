/* Dense forms: any message of a kind comes back bit for bit, whatever its texts and numbers; a
 * record does not depend on those coded before it; damage gives an error or another payload, whose
 * digest tells, never more. Random tests print their seed. */
#include "tests/store/fixture.h"

#include "base/buf.h"
#include "cluster.pb-c.h"
#include "egraph.pb-c.h"
#include "rule.pb-c.h"
#include "store/dense/model.h"
#include "token.pb-c.h"

#include <sys/resource.h>

enum { ROUNDS = 60, SAMPLES = 12, DUMPED = 6 };

/* Words of expressions, with odd ones among them now and then. */
static char *random_text(struct arena *a, struct rng *r)
{
    static const char *const words[] = {
        "sin",     "cos", "+",  "*", "x", "2",        "pow",  "-1/3",
        "ln",      "and", "pi", "d", "",  "\xc3\xa9", "\x01", "123456789012345678901234567890",
        "(0,inf)", "=3/2"};
    struct buf text = {0};
    for (uint64_t n = rng_below(r, 14); n; n--) {
        uint64_t k = rng_below(r, rng_below(r, 8) ? 9 : 20);
        if (k < 18)
            buf_puts(&text, words[k]);
        else
            for (uint64_t i = rng_below(r, k == 18 ? 4 : 400); i; i--)
                buf_putc(&text, (char)(1 + rng_below(r, 127)));
        if (n > 1 || !rng_below(r, 10))
            buf_putc(&text, ' ');
    }
    char *copy = arena_strdup(a, text.data ? text.data : "");
    buf_free(&text);
    return copy;
}

static uint64_t random_number(struct rng *r)
{
    return rng_u64(r) >> (rng_below(r, 3) ? 50 + rng_below(r, 14) : rng_below(r, 64));
}

/* A message with random fields, by its descriptor. */
static ProtobufCMessage *random_message(struct arena *a, struct rng *r,
                                        const ProtobufCMessageDescriptor *type, int depth);

static void random_value(struct arena *a, struct rng *r, const ProtobufCFieldDescriptor *f,
                         char *at, int depth)
{
    uint64_t number = random_number(r);
    uint32_t half = (uint32_t)number;
    switch (f->type) {
    case PROTOBUF_C_TYPE_BOOL: *(protobuf_c_boolean *)at = number & 1; break;
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_ENUM: memcpy(at, &half, 4); break;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE: memcpy(at, &number, 8); break;
    case PROTOBUF_C_TYPE_STRING: *(char **)at = random_text(a, r); break;
    case PROTOBUF_C_TYPE_BYTES: {
        size_t n = rng_below(r, 4) ? 32 : rng_below(r, 70);
        uint8_t *data = arena_alloc(a, n + 1);
        for (size_t i = 0; i < n; i++)
            data[i] = (uint8_t)rng_u64(r);
        *(ProtobufCBinaryData *)at = (ProtobufCBinaryData){n, data};
        break;
    }
    case PROTOBUF_C_TYPE_MESSAGE:
        *(ProtobufCMessage **)at = random_message(a, r, f->descriptor, depth + 1);
        break;
    }
}

static size_t value_size(ProtobufCType type)
{
    return type == PROTOBUF_C_TYPE_STRING || type == PROTOBUF_C_TYPE_MESSAGE ? sizeof(void *)
           : type == PROTOBUF_C_TYPE_BYTES ? sizeof(ProtobufCBinaryData)
           : type == PROTOBUF_C_TYPE_UINT64 || type == PROTOBUF_C_TYPE_INT64 ||
                   type == PROTOBUF_C_TYPE_DOUBLE
               ? 8
               : 4;
}

static ProtobufCMessage *random_message(struct arena *a, struct rng *r,
                                        const ProtobufCMessageDescriptor *type, int depth)
{
    ProtobufCMessage *m = arena_zalloc(a, type->sizeof_message);
    protobuf_c_message_init(type, m);
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &type->fields[i];
        char *at = (char *)m + f->offset;
        if (!rng_below(r, 5) || depth > 4)
            continue;
        if (f->label != PROTOBUF_C_LABEL_REPEATED) {
            random_value(a, r, f, at, depth);
            continue;
        }
        size_t n = rng_below(r, rng_below(r, 3) ? 9 : 60), size = value_size(f->type);
        char *list = arena_zalloc(a, n * size + 1);
        for (size_t k = 0; k < n; k++)
            random_value(a, r, f, list + k * size, depth);
        *(size_t *)((char *)m + f->quantifier_offset) = n;
        *(char **)at = list;
    }
    return m;
}

/* An e-graph whose arrays are regular, with pairs that mirror each other. */
static void make_regular(struct arena *a, struct rng *r, Eqloom__EGraph *g)
{
    uint32_t classes = 1 + (uint32_t)rng_below(r, 20), nodes = 0, children = 0;
    g->class_begin = arena_array(a, uint32_t, classes + 1);
    g->node_op = arena_array(a, uint32_t, 8 * classes);
    g->child_begin = arena_array(a, uint32_t, 8 * classes + 1);
    g->child = arena_array(a, uint32_t, 16 * classes);
    g->facts = arena_array(a, char *, classes);
    for (uint32_t c = 0; c < classes; c++) {
        for (uint64_t n = rng_below(r, 9); n; n--) {
            uint32_t arity = (uint32_t)rng_below(r, 3);
            bool mirror = nodes && rng_below(r, 2) && children >= 2;
            g->node_op[nodes] = mirror ? g->node_op[nodes - 1] : (uint32_t)rng_below(r, 4);
            nodes++;
            for (uint32_t k = 0; k < (mirror ? 2 : arity); k++, children++)
                g->child[children] =
                    mirror ? g->child[children - 1 - 2 * k] : (uint32_t)rng_below(r, classes);
            g->child_begin[nodes] = children;
        }
        g->class_begin[c + 1] = nodes;
        g->facts[c] = random_text(a, r);
    }
    g->n_class_begin = classes + 1;
    g->n_node_op = nodes;
    g->n_child_begin = nodes + 1;
    g->n_child = children;
    g->n_facts = classes;
}

/* ERR_INPUT when the random message has no canonical form, such as a text that is no UTF-8. */
static struct span random_payload(struct arena *a, struct rng *r, enum record_kind kind)
{
    struct span payload;
    ProtobufCMessage *m;
    do {
        m = random_message(a, r, kind_info(kind)->descriptor, 0);
        if (kind == KIND_EGRAPH && rng_below(r, 2))
            make_regular(a, r, (Eqloom__EGraph *)m);
    } while (canonical_pack(&payload, a, m, NULL) != OK);
    return payload;
}

static struct dense_model *make_model(struct rng *r, enum record_kind kind, size_t n)
{
    struct err err = {0};
    struct arena a = {0};
    struct buf content = {0};
    struct span samples[SAMPLES];
    struct dense_model *m;
    for (size_t i = 0; i < n; i++)
        samples[i] = random_payload(&a, r, kind);
    dense_content(&content, kind, samples, n);
    assert_true(dense_is_model(span_of(content.data, content.len)));
    MUST(dense_model_new(&m, span_of(content.data, content.len), &err));
    assert_int_equal(dense_model_kind(m), kind);
    buf_free(&content);
    arena_free(&a);
    return m;
}

static const enum record_kind kinds[] = {KIND_EXPR, KIND_RULE, KIND_EGRAPH, KIND_CLUSTER,
                                         KIND_TOKEN_BATCH};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void test_any_message_comes_back(void **state)
{
    struct err err = {0};
    struct rng r = rng_new(test_seed(), 1);
    for (size_t k = 0; k < KINDS; k++)
        for (size_t n = 0; n <= SAMPLES; n += SAMPLES) {
            assert_true(dense_serves(kinds[k]));
            struct dense_model *m = make_model(&r, kinds[k], n);
            struct buf first = {0};
            struct arena keep = {0};
            struct span before = random_payload(&keep, &r, kinds[k]);
            MUST(dense_write(&first, m, before, &err));
            for (int i = 0; i < ROUNDS; i++) {
                struct arena a = {0};
                struct buf coded = {0};
                struct span back, payload = random_payload(&a, &r, kinds[k]);
                MUST(dense_write(&coded, m, payload, &err));
                MUST(dense_read(&back, m, span_of(coded.data, coded.len), payload.len, &a, &err));
                assert_true(span_equal(back, payload));
                buf_free(&coded);
                arena_free(&a);
            }
            /* What came between left nothing behind. */
            struct buf again = {0};
            MUST(dense_write(&again, m, before, &err));
            assert_true(span_equal(span_of(first.data, first.len), span_of(again.data, again.len)));
            buf_free(&first);
            buf_free(&again);
            arena_free(&keep);
            dense_model_free(m);
        }
}

static void test_damage(void **state)
{
    struct err err = {0};
    struct rng r = rng_new(test_seed(), 2);
    unsigned refused = 0, tried = 0;
    for (size_t k = 0; k < KINDS; k++) {
        struct dense_model *m = make_model(&r, kinds[k], SAMPLES);
        for (int i = 0; i < ROUNDS; i++) {
            struct arena a = {0};
            struct buf coded = {0};
            struct span back, payload = random_payload(&a, &r, kinds[k]);
            MUST(dense_write(&coded, m, payload, &err));
            size_t n = coded.len;
            uint8_t *bytes = malloc(n + 1); /* so that ASan sees a step too far */
            memcpy(bytes, coded.data ? coded.data : "", n);
            if (n && rng_below(&r, 2))
                bytes[rng_below(&r, n)] ^= (uint8_t)(1u << rng_below(&r, 8));
            else if (n)
                n = rng_below(&r, n);
            size_t length = rng_below(&r, 3) ? payload.len : rng_below(&r, 2 * payload.len + 2);
            enum err_code code = dense_read(&back, m, span_of(bytes, n), length, &a, &err);
            tried++;
            if (code == OK)
                assert_int_equal(back.len, length);
            else
                assert_int_equal(code, ERR_CORRUPT), refused++;
            err_clear(&err);
            free(bytes);
            buf_free(&coded);
            arena_free(&a);
        }
        dense_model_free(m);
    }
    assert_true(refused * 2 > tried);
}

static void test_what_is_no_model(void **state)
{
    struct err err = {0};
    struct dense_model *m;
    struct rng r = rng_new(test_seed(), 3);
    struct arena a = {0};
    struct buf content = {0};
    struct span sample = random_payload(&a, &r, KIND_CLUSTER);
    dense_content(&content, KIND_CLUSTER, &sample, 1);
    for (size_t n = 0; n < content.len; n++) {
        bool whole = n == 10; /* no samples at all */
        enum err_code code = dense_model_new(&m, span_of(content.data, n), &err);
        assert_int_equal(code, whole ? OK : ERR_CORRUPT);
        if (whole)
            dense_model_free(m);
        err_clear(&err);
    }
    content.data[8] = KIND_CHUNK;
    assert_int_equal(dense_model_new(&m, span_of(content.data, content.len), &err), ERR_CORRUPT);
    buf_free(&content);
    arena_free(&a);
}

/* Whatever is read, even far past its end, what is coded next is the same. */
static void test_damage_leaves_nothing_behind(void **state)
{
    struct err err = {0};
    struct arena a = {0};
    struct buf content = {0}, first = {0}, again = {0};
    struct rng r = rng_new(3, 4);
    struct dense_model *m;
    struct span payload, back;
    uint8_t noise[200];
    Eqloom__Expr expr = EQLOOM__EXPR__INIT;
    expr.prefix = "d x acsc * 3 x";
    MUST(canonical_pack(&payload, &a, &expr.base, &err));
    dense_content(&content, KIND_EXPR, NULL, 0);
    MUST(dense_model_new(&m, span_of(content.data, content.len), &err));
    MUST(dense_write(&first, m, payload, &err));
    for (int i = 0; i < 200; i++) {
        size_t n = rng_below(&r, sizeof noise);
        for (size_t k = 0; k < n; k++)
            noise[k] = (uint8_t)rng_u64(&r);
        (void)dense_read(&back, m, span_of(noise, n), rng_below(&r, 4096), &a, NULL);
        buf_clear(&again);
        MUST(dense_write(&again, m, payload, &err));
        assert_true(span_equal(span_of(first.data, first.len), span_of(again.data, again.len)));
    }
    dense_model_free(m);
    buf_free(&content);
    buf_free(&first);
    buf_free(&again);
    arena_free(&a);
}

/* Longer ones would take more memory than a record is worth. */
static void test_large_ones_are_refused(void **state)
{
    struct err err = {0};
    struct arena a = {0};
    struct buf content = {0}, out = {0};
    struct dense_model *m;
    struct span payload;
    Eqloom__Cluster cluster = EQLOOM__CLUSTER__INIT;
    Eqloom__Member member = EQLOOM__MEMBER__INIT;
    cluster.n_members = DENSE_MAX_WRITTEN / 2; /* an empty message takes two bytes */
    cluster.members = arena_array(&a, Eqloom__Member *, cluster.n_members);
    for (size_t i = 0; i < cluster.n_members; i++)
        cluster.members[i] = &member;
    MUST(canonical_pack(&payload, &a, &cluster.base, &err));
    assert_int_equal(payload.len, DENSE_MAX_WRITTEN);
    dense_content(&content, KIND_CLUSTER, NULL, 0);
    MUST(dense_model_new(&m, span_of(content.data, content.len), &err));
    struct rusage before, after;
    struct span back;
    struct arena of_back = {0};
    getrusage(RUSAGE_SELF, &before);
    MUST(dense_write(&out, m, payload, &err));
    MUST(dense_read(&back, m, span_of(out.data, out.len), payload.len, &of_back, &err));
    getrusage(RUSAGE_SELF, &after);
    assert_true(span_equal(back, payload));
    long grown = after.ru_maxrss - before.ru_maxrss;
    print_message("%ld KB\n", grown);
    assert_true(grown < 512 << 10);
    cluster.max_tokens = 1;
    MUST(canonical_pack(&payload, &a, &cluster.base, &err));
    assert_int_equal(dense_write(&out, m, payload, &err), ERR_LIMIT);
    dense_model_free(m);
    buf_free(&content);
    buf_free(&out);
    arena_free(&of_back);
    arena_free(&a);
}

/* The bytes of a dense form are part of the format. */
static void test_golden(void **state)
{
    struct err err = {0};
    struct arena a = {0};
    struct buf content = {0}, out = {0};
    struct dense_model *m;
    struct span payload;
    Eqloom__Cluster cluster = EQLOOM__CLUSTER__INIT;
    Eqloom__Member one = EQLOOM__MEMBER__INIT, two = EQLOOM__MEMBER__INIT;
    Eqloom__Member *members[] = {&one, &two};
    one.prefix = "+ pow sin x 2 pow cos x 2", one.tokens = 9,
    one.standing = EQLOOM__STANDING__AGREES;
    two.prefix = "1", two.tokens = 1, two.standing = EQLOOM__STANDING__AGREES;
    cluster.n_members = 2, cluster.members = members, cluster.max_tokens = 25;
    MUST(canonical_pack(&payload, &a, &cluster.base, &err));
    dense_content(&content, KIND_CLUSTER, &payload, 1);
    MUST(dense_model_new(&m, span_of(content.data, content.len), &err));
    MUST(dense_write(&out, m, payload, &err));
    struct digest found = digest_of(&(struct span){(const uint8_t *)out.data, out.len}, 1);
    char hex[DIGEST_HEX];
    print_message("%zu bytes for %zu\n", out.len, payload.len);
    assert_string_equal(digest_hex(hex, &found),
                        "12683c18843bed57c991a1e3ffa97e8557a35dac4093dc3df7640d28cc7333fb");
    dense_model_free(m);
    buf_free(&content);
    buf_free(&out);
    arena_free(&a);
}

static const char *type_name(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_BOOL: return "bool";
    case PROTOBUF_C_TYPE_INT32: return "int32";
    case PROTOBUF_C_TYPE_SINT32: return "sint32";
    case PROTOBUF_C_TYPE_UINT32: return "uint32";
    case PROTOBUF_C_TYPE_SFIXED32: return "sfixed32";
    case PROTOBUF_C_TYPE_FIXED32: return "fixed32";
    case PROTOBUF_C_TYPE_FLOAT: return "float";
    case PROTOBUF_C_TYPE_ENUM: return "enum";
    case PROTOBUF_C_TYPE_INT64: return "int64";
    case PROTOBUF_C_TYPE_SINT64: return "sint64";
    case PROTOBUF_C_TYPE_UINT64: return "uint64";
    case PROTOBUF_C_TYPE_SFIXED64: return "sfixed64";
    case PROTOBUF_C_TYPE_FIXED64: return "fixed64";
    case PROTOBUF_C_TYPE_DOUBLE: return "double";
    case PROTOBUF_C_TYPE_STRING: return "string";
    case PROTOBUF_C_TYPE_BYTES: return "bytes";
    case PROTOBUF_C_TYPE_MESSAGE: return "message";
    }
    return "";
}

static void list_fields(struct buf *out, const ProtobufCMessageDescriptor *type)
{
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &type->fields[i];
        buf_printf(out, "%s%u %s%s %s", i ? ", " : "", f->id,
                   f->label == PROTOBUF_C_LABEL_REPEATED ? "repeated " : "", type_name(f->type),
                   f->name);
        if (f->type == PROTOBUF_C_TYPE_MESSAGE) {
            buf_puts(out, " {");
            list_fields(out, f->descriptor);
            buf_puts(out, "}");
        }
    }
}

/* Dense records of before, in anybody's store, are read by these. */
static void test_the_fields_are_part_of_the_form(void **state)
{
#define EXPR                                                                                       \
    "1 string prefix, 2 repeated message variables {1 string name, 2 string domain}, "             \
    "3 string language"
    static const char *const wanted[KIND_END] = {
        [KIND_EXPR] = EXPR,
        [KIND_RULE] =
            "1 string group, 2 string name, 3 string lhs, 4 string rhs, 5 repeated message "
            "conditions {1 string predicate, 2 repeated string arguments}, 6 repeated "
            "message operators {1 string name, 2 uint32 arity}, 7 message certificate {1 "
            "enum verdict, 2 uint32 points, 3 string witness, 4 bool unsound, 5 string "
            "guard, 6 string remark}, 8 string language",
        [KIND_EGRAPH] = "1 repeated string operators, 2 repeated string leaves, 3 repeated uint32 "
                        "class_begin, 4 repeated uint32 node_op, 5 repeated uint32 child_begin, 6 "
                        "repeated uint32 child, 7 uint32 root, 8 message seed {" EXPR "}, 9 enum "
                        "stop, 10 uint32 iterations, 11 repeated message rules {1 string rule, 2 "
                        "uint64 matched, 3 uint64 applied}, 12 repeated string facts, 13 bool "
                        "unsound, 14 message proof {1 repeated string steps}",
        [KIND_CLUSTER] = "1 message seed {" EXPR "}, 2 bytes egraph_id, 3 repeated message members "
                         "{1 string prefix, 2 enum standing, 3 uint32 tokens}, 4 string terms, 5 "
                         "uint32 max_tokens, 6 bool unsound",
        [KIND_TOKEN_BATCH] =
            "1 repeated uint32 tokens, 2 repeated uint32 offset, 3 repeated uint32 "
            "cluster, 4 repeated string text, 5 bytes vocabulary_id, 6 bytes "
            "source_id",
    };
#undef EXPR
    for (int kind = KIND_NONE + 1; kind < KIND_END; kind++) {
        struct buf found = {0};
        if (!dense_serves((enum record_kind)kind))
            continue;
        list_fields(&found, kind_info((enum record_kind)kind)->descriptor);
        buf_putc(&found, 0);
        assert_string_equal(found.data, wanted[kind]);
        buf_free(&found);
    }
}

static void dump(FILE *f, const char *before, struct span bytes)
{
    fputs(before, f);
    for (size_t i = 0; i < bytes.len; i++)
        fprintf(f, "%02x", bytes.data[i]);
}

/* Models and records for dense_reader.py, which knows the format from its page alone. */
static void test_other_readers(void **state)
{
    struct err err = {0};
    const char *path = getenv("EQLOOM_DENSE_DUMP");
    FILE *f = path ? fopen(path, "w") : NULL;
    if (!f)
        skip();
    struct rng r = rng_new(test_seed(), 5);
    for (size_t k = 0; k < 2 * KINDS; k++) {
        enum record_kind kind = kinds[k / 2];
        struct arena a = {0};
        struct buf content = {0};
        struct span samples[SAMPLES];
        struct dense_model *m;
        size_t n = k % 2 ? SAMPLES : 0;
        for (size_t i = 0; i < n; i++)
            samples[i] = random_payload(&a, &r, kind);
        dense_content(&content, kind, samples, n);
        struct span whole = span_of(content.data, content.len);
        MUST(dense_model_new(&m, whole, &err));
        dump(f, "model ", whole);
        for (int i = 0; i < DUMPED; i++) {
            struct buf coded = {0};
            struct span payload = i   ? random_payload(&a, &r, kind)
                                  : n ? samples[0]
                                      : span_of("", 0);
            MUST(dense_write(&coded, m, payload, &err));
            dump(f, "\nrecord ", span_of(coded.data, coded.len));
            dump(f, " ", payload);
            buf_free(&coded);
        }
        fputs("\n", f);
        dense_model_free(m);
        buf_free(&content);
        arena_free(&a);
    }
    fclose(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_message_comes_back),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_what_is_no_model),
        cmocka_unit_test(test_damage_leaves_nothing_behind),
        cmocka_unit_test(test_large_ones_are_refused),
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_the_fields_are_part_of_the_form),
        cmocka_unit_test(test_other_readers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
