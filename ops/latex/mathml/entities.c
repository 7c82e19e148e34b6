#include "ops/latex/mathml/entities.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_LEN = 40 };

static int by_name(const void *key, const void *entity)
{
    return strcmp(key, ((const struct entity *)entity)->name);
}

void entities_replace(struct buf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        const char *end = text[i] == '&' ? memchr(text + i, ';', len - i) : NULL;
        size_t n = end ? (size_t)(end - text) - i - 1 : 0;
        char name[NAME_MAX_LEN + 1];
        const struct entity *found = NULL;
        if (n && n <= NAME_MAX_LEN) {
            memcpy(name, text + i + 1, n);
            name[n] = 0;
            found = bsearch(name, entity_table, entity_count, sizeof *entity_table, by_name);
        }
        if (found) {
            buf_puts(out, found->text);
            i += n + 1;
        } else {
            buf_putc(out, text[i]);
        }
    }
}
