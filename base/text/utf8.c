#include "base/text/utf8.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <uninorm.h>

size_t utf8_character(const uint8_t *s, size_t n)
{
    uint8_t b = n ? s[0] : 0xff;
    size_t length = b < 0x80                 ? 1
                    : b >= 0xc2 && b <= 0xdf ? 2
                    : b >= 0xe0 && b <= 0xef ? 3
                    : b >= 0xf0 && b <= 0xf4 ? 4
                                             : 0;
    /* The range of the second byte excludes overlong forms, surrogates and code points past
     * U+10FFFF. */
    uint8_t low = b == 0xe0 ? 0xa0 : b == 0xf0 ? 0x90 : 0x80;
    uint8_t high = b == 0xed ? 0x9f : b == 0xf4 ? 0x8f : 0xbf;
    if (length > 1 && n > 1 && (s[1] < low || s[1] > high))
        return 0;
    for (size_t k = 2; k < length && k < n; k++)
        if ((s[k] & 0xc0) != 0x80)
            return 0;
    return length > n ? UTF8_CUT : length;
}

uint32_t utf8_unseen(const uint8_t *s, size_t length)
{
    static const struct {
        uint32_t from, to;
    } unseen[] = {
        {0x01, 0x08},     {0x0b, 0x1f},     {0x7f, 0x9f},       {0x61c, 0x61c},
        {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x2060},   {0x2066, 0x206f},
        {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
    };
    uint32_t c = length == 1 ? s[0] : s[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++)
        c = c << 6 | (s[i] & 0x3f);
    for (size_t i = 0; i < sizeof unseen / sizeof *unseen; i++)
        if (c >= unseen[i].from && c <= unseen[i].to)
            return c;
    return 0;
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
    const uint8_t *nul = n ? memchr(s, 0, n) : NULL, *cr = s;
    if (nul)
        return err_fail_at(e, source, (size_t)(nul - s), "a NUL byte, which no text has");
    for (; cr < s + n && (cr = memchr(cr, '\r', n - (size_t)(cr - s))); cr++)
        if (cr + 1 < s + n && cr[1] != '\n')
            return err_fail_at(e, source, (size_t)(cr - s),
                               "a carriage return within a line: lines end in LF or CR LF");
    if (n == source->len)
        return OK;
    enum err_code code =
        err_fail_at(e, source, n, "a byte (0x%02x) that is not UTF-8 text", s[n]);
    err_hint(e, "a file in Latin-1 is converted by 'iconv -f latin1 -t utf-8'");
    return code;
}

char *utf8_nfc(struct arena *a, const char *s)
{
    size_t n = strlen(s), len = 0;
    bool ascii = true;
    for (size_t i = 0; i < n && ascii; i++)
        ascii = (unsigned char)s[i] < 0x80;
    uint8_t *composed =
        ascii || utf8_prefix((const uint8_t *)s, n) < n
            ? NULL
            : u8_normalize(UNINORM_NFC, (const uint8_t *)s, n, NULL, &len);
    char *out = composed ? arena_strndup(a, (const char *)composed, len) : arena_strdup(a, s);
    free(composed);
    return out;
}
