#include "base/text/html.h"

#include "base/text/utf8.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Returns its length. */
static size_t put_character(struct buf *out, const uint8_t *s)
{
    size_t length = *s < 0x80 ? 1 : utf8_character(s, strnlen((const char *)s, 4));
    bool none = length == 0 || length == UTF8_CUT;
    uint32_t unseen = none ? *s : utf8_unseen(s, length);
    if (none)
        length = 1;
    if (unseen && unseen != '\r')
        buf_printf(out, unseen > 0xff ? "\\u%04" PRIx32 : "\\x%02" PRIx32, unseen);
    else
        buf_add(out, s, length);
    return length;
}

void html_text(struct buf *out, const char *s)
{
    for (; *s; s++)
        switch (*s) {
        case '&': buf_puts(out, "&amp;"); break;
        case '<': buf_puts(out, "&lt;"); break;
        case '>': buf_puts(out, "&gt;"); break;
        case '"': buf_puts(out, "&quot;"); break;
        default: s += put_character(out, (const uint8_t *)s) - 1;
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
