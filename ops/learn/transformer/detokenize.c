/* See detokenize.h. */
#include "ops/learn/transformer/detokenize.h"

#include "base/buf.h"
#include "ops/corpus/tokens/encoding.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static bool is_digit(const char *name)
{
    return isdigit((unsigned char)name[0]) && !name[1];
}

/* Returns the length of the name without its position, which is not part of the expression. */
static size_t bare(const char *name)
{
    return strcspn(name, TOKEN_PLACE);
}

static bool is_sign(const char *name, const char *sign)
{
    return bare(name) == strlen(sign) && strncmp(name, sign, bare(name)) == 0;
}

char *detokenize(struct arena *a, const uint32_t *tokens, size_t n, char *const *names)
{
    struct buf b = {0};
    for (size_t i = 0; i < n; i++) {
        const char *name = names[tokens[i]];
        bool negative = is_sign(name, "INT-");
        if (i)
            buf_putc(&b, ' ');
        if (!(negative || is_sign(name, "INT+")) || i + 1 == n || !is_digit(names[tokens[i + 1]])) {
            buf_add(&b, name, bare(name));
            continue;
        }
        if (negative)
            buf_putc(&b, '-');
        while (i + 1 < n && is_digit(names[tokens[i + 1]]))
            buf_puts(&b, names[tokens[++i]]);
    }
    return buf_text(&b, a);
}
