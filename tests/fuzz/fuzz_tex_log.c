/* Any bytes as TeX's log of three equations: outcomes whose texts are short and valid UTF-8. */
#include "ops/images/tex/tex_log.h"

#include "base/text/utf8.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct tex_outcome out[3] = {{0}};
    tex_log_read(out, 3, &a, span_of(data, size));
    for (size_t i = 0; i < 3; i++) {
        const char *error = out[i].error;
        assert(!out[i].done || out[i].begun);
        assert(!error || (!strncmp(error, "! ", 2) && *tex_log_reason(error)));
        assert(!error || utf8_prefix((const uint8_t *)error, strlen(error)) == strlen(error));
        assert(!error || strlen(error) <= 300);
    }
    arena_free(&a);
    return 0;
}
