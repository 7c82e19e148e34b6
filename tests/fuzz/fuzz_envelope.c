/* The envelope: whatever the bytes, a payload or one error; a payload survives being stored. */
#include "store/record/envelope.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct err e = {0};
    struct coder *c = coder_new();
    struct record r, back;
    /* A frame may claim far more than a fuzzer's memory allows. */
    enum record_kind kind;
    uint64_t length;
    if (envelope_peek(&kind, &length, span_of(data, size), &e) == OK && length < 1 << 20) {
        if (envelope_read(&r, c, span_of(data, size), &a, &e) == OK) {
            struct buf out = {0};
            struct digest id = record_id(r.kind, r.payload);
            if (r.kind != kind || r.payload.len != length ||
                envelope_write(&out, c, EFFORT_HIGH, r.kind, r.payload, &e) != OK ||
                envelope_verify(&back, c, &id, span_of(out.data, out.len), &a, &e) != OK)
                __builtin_trap();
            buf_free(&out);
        }
    }
    coder_free(c);
    arena_free(&a);
    return 0;
}
