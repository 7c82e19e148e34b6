/* Tokens to text; see written.h. */
#include "ops/learn/written.h"

#include "base/buf.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static bool is_digit(const char *name)
{
    return isdigit((unsigned char)name[0]) && !name[1];
}

char *written_text(struct arena *a, const uint32_t *tokens, size_t n, char *const *names)
{
    struct buf b = {0};
    for (size_t i = 0; i < n; i++) {
        const char *name = names[tokens[i]];
        bool negative = strcmp(name, "INT-") == 0;
        if (i)
            buf_putc(&b, ' ');
        if (!(negative || strcmp(name, "INT+") == 0) || i + 1 == n ||
            !is_digit(names[tokens[i + 1]])) {
            buf_puts(&b, name);
            continue;
        }
        if (negative)
            buf_putc(&b, '-');
        while (i + 1 < n && is_digit(names[tokens[i + 1]]))
            buf_puts(&b, names[tokens[++i]]);
    }
    char *text = arena_strndup(a, b.data ? b.data : "", b.len);
    buf_free(&b);
    return text;
}
