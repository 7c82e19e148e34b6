#include "ops/images/symbols.h"

#include "base/map.h"
#include "base/text/utf8.h"
#include "base/text/words.h"

#include <ctype.h>
#include <string.h>

/* Commands whose argument is a name. */
static const char naming[] = "\\begin \\end \\label \\ref \\eqref \\cite \\tag";
static const char arranging[] =
    "\\left \\right \\middle \\big \\Big \\bigg \\Bigg \\bigl \\bigr \\Bigl \\Bigr \\biggl \\biggr "
    "\\Biggl \\Biggr \\quad \\qquad \\displaystyle \\textstyle \\nonumber \\notag \\limits "
    "\\nolimits \\hspace \\vspace \\phantom \\scriptstyle \\hfill \\mbox \\text \\textrm \\mathrm "
    "\\rm \\hskip \\kern \\relax \\intertext \\hline";

/* The length of the group that begins here, 0 if none does. */
static size_t group_length(const char *s)
{
    const char *end = *s == '{' ? strchr(s, '}') : NULL;
    return end ? (size_t)(end - s) + 1 : 0;
}

size_t latex_symbols(const char ***out, struct arena *a, const char *latex)
{
    struct name_map seen = {0};
    size_t n = 0, len = strlen(latex);
    *out = arena_array(a, const char *, len + 1);
    for (size_t at = 0, size; at < len; at += size) {
        const char *s = latex + at;
        size = 1;
        bool counts = !isspace((unsigned char)*s) && !strchr("{}&^_~$#%", *s);
        if (*s == '\\' && isalpha((unsigned char)s[1])) {
            while (isalpha((unsigned char)s[size]))
                size++;
        } else if (*s == '\\') {
            size = s[1] ? 2 : 1;
            counts = s[1] && strchr("{}|#%&$_", s[1]);
        } else if (isdigit((unsigned char)*s)) {
            while (isdigit((unsigned char)s[size]))
                size++;
        } else if ((unsigned char)*s >= 0x80) {
            size = utf8_character((const uint8_t *)s, len - at);
            counts = size >= 1 && size <= 4;
            size = counts ? size : 1;
        }
        const char *symbol = arena_strndup(a, s, size);
        if (word_in(naming, symbol, strlen(symbol))) {
            size += group_length(s + size);
            counts = false;
        }
        bool added = false;
        if (counts && !word_in(arranging, symbol, strlen(symbol)))
            name_map_put(&seen, symbol, 0, &added);
        if (added)
            (*out)[n++] = symbol;
    }
    name_map_free(&seen);
    return n;
}
