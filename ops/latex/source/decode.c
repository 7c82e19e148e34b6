#include "ops/latex/source/decode.h"

#include "base/text/utf8.h"

#include <iconv.h>

char *decode_utf8(struct arena *a, const char *s, size_t n)
{
    char *out = arena_strndup(a, s, n);
    for (size_t at = 0, len; at < n; at += len) {
        len = utf8_character((const uint8_t *)s + at, n - at);
        if (len == 0 || len == UTF8_CUT ||
            (len == 1 && ((unsigned char)s[at] < 32 || s[at] == 127))) {
            len = 1;
            out[at] = '?';
        }
    }
    return out;
}

/* Names of \usepackage[NAME]{inputenc} and iconv's names of these encodings. */
static const struct {
    const char *inputenc, *iconv;
} encodings[] = {
    {"latin1", "ISO-8859-1"},   {"latin2", "ISO-8859-2"}, {"latin3", "ISO-8859-3"},
    {"latin4", "ISO-8859-4"},   {"latin5", "ISO-8859-9"}, {"latin9", "ISO-8859-15"},
    {"latin10", "ISO-8859-16"}, {"ansinew", "CP1252"},    {"cp1252", "CP1252"},
    {"cp1250", "CP1250"},       {"cp1251", "CP1251"},     {"koi8-r", "KOI8-R"},
    {"koi8-u", "KOI8-U"},       {"cp866", "CP866"},       {"cp437", "CP437"},
    {"cp850", "CP850"},         {"cp852", "CP852"},       {"applemac", "MACINTOSH"},
    {"cp1257", "CP1257"},       {"gbk", "GBK"},           {"sjis", "SJIS"},
};

static const char *declared_encoding(struct span b)
{
    const char *end = memmem(b.data, b.len, "]{inputenc}", 11), *begin = end;
    while (begin && begin > (const char *)b.data && begin[-1] != '[' && end - begin < 20)
        begin--;
    for (size_t i = 0; begin && i < sizeof encodings / sizeof *encodings; i++)
        if (strlen(encodings[i].inputenc) == (size_t)(end - begin) &&
            !memcmp(encodings[i].inputenc, begin, (size_t)(end - begin)))
            return encodings[i].iconv;
    return "CP1252";
}

/* Bytes that are invalid in the encoding become '?'. */
static struct span convert(struct arena *a, struct span b, const char *from)
{
    iconv_t cd = iconv_open("UTF-8", from);
    char *in = (char *)b.data, *text = arena_alloc(a, 3 * b.len + 8), *out = text;
    size_t left = b.len, room = 3 * b.len + 8;
    while (left && (cd == (iconv_t)-1 || iconv(cd, &in, &left, &out, &room) == (size_t)-1)) {
        in++, left--;
        *out++ = '?', room--;
    }
    if (cd != (iconv_t)-1)
        iconv_close(cd);
    return span_of(text, (size_t)(out - text));
}

const char *decode_text(const char **out, size_t *len, struct arena *a, struct span b)
{
    if (b.len >= 3 && !memcmp(b.data, "\xef\xbb\xbf", 3))
        b = span_of(b.data + 3, b.len - 3);
    if (b.len >= 2 && (!memcmp(b.data, "\xff\xfe", 2) || !memcmp(b.data, "\xfe\xff", 2)))
        b = convert(a, b, "UTF-16");
    if (memchr(b.data, 0, b.len))
        return "binary";
    if (utf8_prefix(b.data, b.len) < b.len)
        b = convert(a, b, declared_encoding(b));
    char *text = arena_alloc(a, b.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < b.len; i++) {
        char c = (char)b.data[i];
        if (c == '\r' && i + 1 < b.len && b.data[i + 1] == '\n')
            continue;
        c = c == '\r' ? '\n' : c == '\f' || c == '\v' ? ' ' : c;
        if ((unsigned char)c >= 32 || c == '\n' || c == '\t')
            text[n++] = c;
    }
    text[n] = 0;
    *out = text;
    *len = n;
    return NULL;
}
