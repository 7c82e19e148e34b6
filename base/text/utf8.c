/* See utf8.h. */
#include "base/text/utf8.h"

size_t utf8_character(const uint8_t *s, size_t n)
{
    uint8_t b = n ? s[0] : 0xff;
    size_t length = b < 0x80                 ? 1
                    : b >= 0xc2 && b <= 0xdf ? 2
                    : b >= 0xe0 && b <= 0xef ? 3
                    : b >= 0xf0 && b <= 0xf4 ? 4
                                             : 0;
    /* The second byte excludes overlong forms, surrogates and what lies past U+10FFFF. */
    uint8_t low = b == 0xe0 ? 0xa0 : b == 0xf0 ? 0x90 : 0x80;
    uint8_t high = b == 0xed ? 0x9f : b == 0xf4 ? 0x8f : 0xbf;
    if (length > 1 && n > 1 && (s[1] < low || s[1] > high))
        return 0;
    for (size_t k = 2; k < length && k < n; k++)
        if ((s[k] & 0xc0) != 0x80)
            return 0;
    return length > n ? UTF8_CUT : length;
}

size_t utf8_prefix(const uint8_t *s, size_t n)
{
    size_t i = 0;
    while (i < n) {
        size_t length = s[i] < 0x80 ? 1 : utf8_character(s + i, n - i);
        if (length == 0 || length == UTF8_CUT)
            break;
        i += length;
    }
    return i;
}

enum err_code utf8_check(const struct source_text *source, struct err *e)
{
    const uint8_t *s = (const uint8_t *)source->text;
    size_t n = utf8_prefix(s, source->len);
    return n == source->len
               ? OK
               : err_fail_at(e, source, n, "a byte (0x%02x) that is not UTF-8 text", s[n]);
}
