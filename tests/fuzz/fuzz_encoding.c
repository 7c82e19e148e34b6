/* Any text as prefix tokens into any vocabulary: refused or encoded within it. */
#include "ops/corpus/tokens/encoding.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const encodings[] = {"e-gen", "plain", "placed"};
    struct arena a = {0};
    char *text = arena_strndup(&a, (const char *)data, size);
    for (int i = 0; i < 3; i++) {
        Eqloom__Vocabulary v;
        struct encoder c;
        struct err e;
        uint32_t *ids;
        size_t n;
        if (vocabulary_make(&v, &a, encodings[i], NULL, 0, &e) != OK)
            continue;
        encoder_init(&c, &v);
        if (encode_prefix(&ids, &n, &a, &c, text, &e) == OK)
            for (size_t k = 0; k < n; k++)
                assert(ids[k] >= TOKEN_SPECIALS && ids[k] < v.n_tokens);
        encoder_free(&c);
    }
    arena_free(&a);
    return 0;
}
