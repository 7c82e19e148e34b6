/* Dense forms: whatever the bytes, a canonical payload or one error; and a payload that a kind's
 * messages can be comes back from its dense form. The first byte chooses the kind and which. */
#include "schemas/canonical.h"
#include "store/dense/model.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { KINDS = 5, LENGTHS = 4096 };

static const enum record_kind kinds[KINDS] = {KIND_EXPR, KIND_RULE, KIND_EGRAPH, KIND_CLUSTER,
                                              KIND_TOKEN_BATCH};

static struct dense_model *model_of(enum record_kind kind)
{
    struct err e = {0};
    struct buf content = {0};
    struct dense_model *m = NULL;
    dense_content(&content, kind, NULL, 0);
    if (dense_model_new(&m, span_of(content.data, content.len), &e) != OK)
        abort();
    buf_free(&content);
    return m;
}

static void check_payload(struct dense_model *m, struct span payload)
{
    struct arena a = {0};
    struct err e = {0};
    struct buf coded = {0};
    struct span back;
    if (dense_write(&coded, m, payload, &e) == OK &&
        (dense_read(&back, m, span_of(coded.data, coded.len), payload.len, &a, &e) != OK ||
         !span_equal(back, payload)))
        __builtin_trap();
    buf_free(&coded);
    arena_free(&a);
}

/* A stream of any length that it may claim; most claims are wrong. */
static void check_stream(struct dense_model *m, struct span bytes, size_t length)
{
    struct arena a = {0};
    struct err e = {0};
    struct span payload;
    if (dense_read(&payload, m, bytes, length, &a, &e) == OK) {
        if (payload.len != length)
            __builtin_trap();
        check_payload(m, payload);
    }
    arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct dense_model *models[KINDS]; /* for the whole process */
    if (size < 3)
        return 0;
    unsigned which = data[0] % KINDS;
    if (!models[which])
        models[which] = model_of(kinds[which]);
    struct span rest = span_of(data + 3, size - 3);
    if (data[0] / KINDS % 2)
        check_payload(models[which], rest);
    else
        check_stream(models[which], rest, (data[1] | data[2] << 8) % LENGTHS);
    return 0;
}
