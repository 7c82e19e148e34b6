/* See html.h. */
#include "base/text/html.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void html_text(struct buf *out, const char *s)
{
    for (; *s; s++)
        switch (*s) {
        case '&': buf_puts(out, "&amp;"); break;
        case '<': buf_puts(out, "&lt;"); break;
        case '>': buf_puts(out, "&gt;"); break;
        case '"': buf_puts(out, "&quot;"); break;
        default: buf_putc(out, *s);
        }
}

void html_count(struct buf *out, const char *digits)
{
    size_t len = strspn(digits, "0123456789");
    if (digits[len]) {
        html_text(out, digits);
        return;
    }
    for (size_t i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            buf_puts(out, "&#x202F;");
        buf_putc(out, digits[i]);
    }
}

void html_number(struct buf *out, uint64_t n)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, n);
    html_count(out, digits);
}
