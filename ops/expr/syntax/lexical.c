/* Characters that people type and paste: signs, words and exponents that are read, and hints for
 * what no syntax reads. */
#include "ops/expr/syntax/lexical.h"

#include "ops/expr/expr.h"
#include "ops/expr/rational.h"

#include <stdint.h>
#include <string.h>

static size_t starts(const char *s, const char *end, const char *with)
{
    size_t n = strlen(with);
    return (size_t)(end - s) >= n && memcmp(s, with, n) == 0 ? n : 0;
}

size_t space_length(const char *s, const char *end)
{
    static const char *const spaces[] = {"\xc2\xa0", "\xe2\x80\x89", "\xe2\x80\xaf"};
    if (s < end && is_space(*s))
        return 1;
    for (size_t i = 0, n; i < sizeof spaces / sizeof *spaces; i++)
        if ((n = starts(s, end, spaces[i])))
            return n;
    return 0;
}

static size_t digits_length(const char *s, const char *end)
{
    size_t n = 0;
    while (s + n < end && is_digit(s[n]))
        n++;
    return n;
}

size_t number_length(const char *s, const char *end, size_t *exponent)
{
    size_t n = digits_length(s, end), part;
    if (s + n < end && s[n] == '.' && (part = digits_length(s + n + 1, end)))
        n += 1 + part;
    *exponent = 0;
    if (s + n < end && (s[n] == 'e' || s[n] == 'E')) {
        size_t sign = s + n + 1 < end && (s[n + 1] == '-' || s[n + 1] == '+');
        part = digits_length(s + n + 1 + sign, end);
        if (part) {
            *exponent = n;
            n += 1 + sign + part;
        }
    }
    return n;
}

char lexical_sign(const char *s, const char *end, size_t *n)
{
    static const struct {
        const char *bytes;
        char sign;
    } signs[] = {
        {"\xe2\x88\x92", '-'}, {"\xc3\x97", '*'},     {"\xc2\xb7", '*'},
        {"\xe2\x8b\x85", '*'}, {"\xe2\x88\x99", '*'}, {"\xc3\xb7", '/'},
    };
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if ((*n = starts(s, end, signs[i].bytes)))
            return signs[i].sign;
    return 0;
}

struct lexical_word lexical_word(const char *s, const char *end)
{
    static const char *const letters[] = {
        [0x93] = "Gamma",   [0x94] = "Delta", [0x98] = "Theta",   [0x9b] = "Lambda",
        [0x9e] = "Xi",      [0xa0] = "Pi",    [0xa3] = "Sigma",   [0xa6] = "Phi",
        [0xa8] = "Psi",     [0xa9] = "Omega", [0xb1] = "alpha",   [0xb2] = "beta",
        [0xb3] = "gamma",   [0xb4] = "delta", [0xb5] = "epsilon", [0xb6] = "zeta",
        [0xb7] = "eta",     [0xb8] = "theta", [0xb9] = "iota",    [0xba] = "kappa",
        [0xbb] = "lambda",  [0xbc] = "mu",    [0xbd] = "nu",      [0xbe] = "xi",
        [0xbf] = "omicron", [0xc0] = "pi",    [0xc1] = "rho",     [0xc2] = "varsigma",
        [0xc3] = "sigma",   [0xc4] = "tau",   [0xc5] = "upsilon", [0xc6] = "phi",
        [0xc7] = "chi",     [0xc8] = "psi",   [0xc9] = "omega"};
    size_t n = starts(s, end, "\xe2\x88\x9a");
    if (n || end - s < 2)
        return (struct lexical_word){n ? "sqrt" : NULL, n};
    /* U+0380 to U+03FF: CE 80 to CF BF, of which the last are no letters of ours */
    unsigned lead = (uint8_t)s[0], second = (uint8_t)s[1];
    size_t at = lead == 0xce ? second : lead == 0xcf && second < 0xa0 ? second + 0x40 : 0;
    const char *name = at < sizeof letters / sizeof *letters ? letters[at] : NULL;
    return (struct lexical_word){name, name ? 2 : 0};
}

/* A superscript's digit or '-', or 0. */
static char superscript(const char *s, const char *end, size_t *n)
{
    static const char *const digits[] = {
        "\xe2\x81\xb0", "\xc2\xb9",     "\xc2\xb2",     "\xc2\xb3",     "\xe2\x81\xb4",
        "\xe2\x81\xb5", "\xe2\x81\xb6", "\xe2\x81\xb7", "\xe2\x81\xb8", "\xe2\x81\xb9",
    };
    for (int i = 0; i < 10; i++)
        if ((*n = starts(s, end, digits[i])))
            return (char)('0' + i);
    return (*n = starts(s, end, "\xe2\x81\xbb")) ? '-' : 0;
}

const char *lexical_superscript(struct arena *a, const char *s, const char *end, size_t *n)
{
    char text[EXPR_MAX_DIGITS + 3];
    size_t length = 0, step;
    char c;
    *n = 0;
    while (length < sizeof text - 1 && (c = superscript(s + *n, end, &step)) &&
           (c != '-' || length == 0)) {
        text[length++] = c;
        *n += step;
    }
    text[length] = 0;
    return length > (text[0] == '-') ? number_read(a, text, length) : NULL;
}

void lexical_hint(struct err *e, const char *s, const char *end)
{
    static const struct {
        const char *bytes, *hint;
    } lookalikes[] = {
        {"\xe2\x80\x93", "this is a dash; write -"},
        {"\xe2\x80\x94", "this is a dash; write -"},
        {"\xe2\x88\x9b", "write (...)^(1/3)"},
        {"\xc2\xbd", "write 1/2"},
        {"|", "write abs(...) for an absolute value"},
        {"[", "only round parentheses are read"},
        {"]", "only round parentheses are read"},
        {"{", "only round parentheses are read"},
        {"}", "only round parentheses are read"},
        {"\\", "LaTeX is not read here"},
        {"!", "factorials are not in the language"},
        {"=", "this is one expression, not an equation"},
        {".", "write 0.5, not .5"},
    };
    size_t n;
    char sign = lexical_sign(s, end, &n);
    if (sign)
        err_hint(e, "write %c", sign);
    for (size_t i = 0; i < sizeof lookalikes / sizeof *lookalikes; i++)
        if (starts(s, end, lookalikes[i].bytes))
            err_hint(e, "%s", lookalikes[i].hint);
}

char *lexical_without_comments(struct arena *a, const struct source_text *source)
{
    char *text = arena_alloc(a, source->len + 1);
    bool comment = false;
    for (size_t i = 0; i < source->len; i++) {
        char c = source->text[i];
        comment = c == '#' || (comment && c != '\n');
        text[i] = comment || c == '\r' ? ' ' : c;
    }
    text[source->len] = 0;
    return text;
}
