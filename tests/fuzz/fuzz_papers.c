/* Any bytes as a file of a paper, or as an archive: read or refused, within bounds. The first byte
 * chooses. */
#include "ops/latex/papers/document.h"
#include "ops/latex/source/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take(void *arg, const char *name, struct span bytes, const char *reason)
{
    if (!reason)
        bundle_add(arg, name, bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct bundle b = {.a = &a, .name = "f"};
    bool used[2] = {false};
    if (size > 1 && data[0] == 'a') {
        unpack(take, &b, "f", span_of(data + 1, size - 1));
    } else if (size > 1) {
        bundle_add(&b, "f", span_of(data + 1, size - 1));
        if (b.n)
            document_read(&a, &b, &b.files[0], 3, used, NULL);
    }
    bundle_free(&b);
    arena_free(&a);
    return 0;
}
