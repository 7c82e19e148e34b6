/* Characters that people type and paste: the signs, words and superscripts that parsers accept, and
 * hints for those that no syntax accepts. */
#include "ops/expr/syntax/lexical.h"

#include "base/text/words.h"
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

/* If a name has several code points, the first is used. LaTeX has all of them; letters that look
 * like Latin ones are not here. */
static const struct {
    const char *name;
    unsigned code;
} letters[] = {{"alpha", 0x3b1},    {"beta", 0x3b2},     {"gamma", 0x3b3},  {"delta", 0x3b4},
               {"epsilon", 0x3f5},  {"zeta", 0x3b6},     {"eta", 0x3b7},    {"theta", 0x3b8},
               {"iota", 0x3b9},     {"kappa", 0x3ba},    {"lambda", 0x3bb}, {"mu", 0x3bc},
               {"mu", 0xb5},        {"nu", 0x3bd},       {"xi", 0x3be},     {"pi", 0x3c0},
               {"rho", 0x3c1},      {"sigma", 0x3c3},    {"tau", 0x3c4},    {"upsilon", 0x3c5},
               {"phi", 0x3d5},      {"chi", 0x3c7},      {"psi", 0x3c8},    {"omega", 0x3c9},
               {"Gamma", 0x393},    {"Delta", 0x394},    {"Theta", 0x398},  {"Lambda", 0x39b},
               {"Xi", 0x39e},       {"Pi", 0x3a0},       {"Sigma", 0x3a3},  {"Upsilon", 0x3a5},
               {"Phi", 0x3a6},      {"Psi", 0x3a8},      {"Omega", 0x3a9},  {"varepsilon", 0x3b5},
               {"vartheta", 0x3d1}, {"varkappa", 0x3f0}, {"varpi", 0x3d6},  {"varrho", 0x3f1},
               {"varsigma", 0x3c2}, {"varphi", 0x3c6}};
enum { LETTERS = sizeof letters / sizeof *letters };

unsigned lexical_letter(const char *name, size_t n)
{
    for (size_t i = 0; i < LETTERS; i++)
        if (lexical_is(name, n, letters[i].name))
            return letters[i].code;
    return 0;
}

bool lexical_is_greek(const char *name, size_t n)
{
    return lexical_letter(name, n) ||
           word_in("omicron Alpha Beta Epsilon Zeta Eta Iota Kappa Mu Nu Omicron Rho Tau Chi", name,
                   n);
}

struct lexical_word lexical_word(const char *s, const char *end)
{
    size_t n = starts(s, end, "√"), cube = starts(s, end, "∛");
    if (n || cube || end - s < 2)
        return (struct lexical_word){n ? "sqrt" : cube ? "cbrt" : NULL, n + cube};
    unsigned code = ((uint8_t)s[0] & 0x1fu) << 6 | ((uint8_t)s[1] & 0x3fu);
    bool two = ((uint8_t)s[0] & 0xe0) == 0xc0 && ((uint8_t)s[1] & 0xc0) == 0x80;
    for (size_t i = 0; i < LETTERS && two; i++)
        if (letters[i].code == code)
            return (struct lexical_word){letters[i].name, 2};
    return (struct lexical_word){0};
}

/* The digit or '-' that a superscript denotes, or 0. */
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

/* The code point of the UTF-8 character at s. */
static unsigned code_point(const char *s, const char *end)
{
    size_t n = character_length(s, end);
    unsigned code = (uint8_t)*s;
    if (n > 1)
        code &= 0x7fu >> n;
    for (size_t i = 1; i < n; i++)
        code = code << 6 | ((uint8_t)s[i] & 0x3fu);
    return code;
}

/* What a letter or digit of another shape is: x for a mathematical italic or full-width x; or 0. */
static char plain_shape(unsigned code)
{
    if (code >= 0xff01 && code <= 0xff5e)
        return (char)(code - 0xff01 + '!');
    if (code >= 0x1d7ce && code <= 0x1d7ff)
        return (char)('0' + (code - 0x1d7ce) % 10);
    if (code < 0x1d400 || code > 0x1d6a3)
        return code == 0x210e ? 'h' : 0;
    unsigned k = (code - 0x1d400) % 52;
    return (char)(k < 26 ? 'A' + k : 'a' + k - 26);
}

static const char *hint_of(const char *s, const char *end)
{
    static const struct {
        const char *characters, *hint;
    } rows[] = {
        {"–—‐‑", "this is a dash; write -"},
        {"⁄∕", "write /"},
        {"∗•●", "write *"},
        {"∛", "write cbrt(...) or (...)^(1/3)"},
        {"⌊⌋", "write floor(...)"},
        {"⌈⌉", "write ceil(...)"},
        {"∜", "write (...)^(1/4)"},
        {"½", "write (1/2)"},
        {"⅓", "write (1/3)"},
        {"⅔", "write (2/3)"},
        {"¼", "write (1/4)"},
        {"¾", "write (3/4)"},
        {"⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞", "write a fraction as (3/8)"},
        {"|", "write abs(...) for an absolute value"},
        {"[]", "only round parentheses are read"},
        {"{}", "write parentheses; LaTeX has a \\ before its functions"},
        {"\\", "LaTeX is not read here"},
        {"!", "write a factorial as (x^2)! or factorial(x)"},
        {"%", "write 50/100 for 50 per cent, x - y*floor(x/y) for a remainder"},
        {"=", "this is one expression, not an equation"},
        {"<>≤≥≠≈≡", "this is one expression, not a comparison"},
        {".", "write 0.5, not .5"},
        {",", "write 0.5 with a point, 1000 without a separator"},
        {"'′″’", "write d(x, f) for the derivative of f by x"},
        {"∂∇", "write d(x, f) for the derivative of f by x"},
        {"∫∮∑∏", "integrals, sums and products are not in the language"},
        {"∞", "infinity is not a number here"},
        {"±∓", "write two expressions"},
        {"°", "write 30*pi/180 for 30 degrees"},
        {"∆", "write Delta"},
        {"Ω", "write Omega"},
        {"οΑΒΕΖΗΙΚΜΝΟΡΤΧ",
         "this Greek letter looks like a Latin one; write the Latin one, or its name"},
        {"₀₁₂₃₄₅₆₇₈₉ₐₑᵢⱼₖₘₙₓ", "write an index as x_1"},
        {"ⁿⁱ⁺⁻⁽⁾ˣʸᵃᵇᵏᵐᵗ⁰¹²³⁴⁵⁶⁷⁸⁹", "write a power as x^n"},
        {"“”„«»", "write a name in straight quotes"},
        {"✕✖", "write *"},
    };
    size_t n = character_length(s, end);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (const char *c = rows[i].characters, *stop = c + strlen(c); c < stop;
             c += character_length(c, stop))
            if (character_length(c, stop) == n && memcmp(c, s, n) == 0)
                return rows[i].hint;
    unsigned code = code_point(s, end);
    bool sign = (code >= 0xa1 && code <= 0xbf) || (code >= 0x2010 && code <= 0x2bff);
    return code < 0x80 ? NULL
           : sign      ? "this sign is not in the language"
                       : "letters are a to z and the Greek ones";
}

void lexical_hint(struct err *e, const char *s, const char *end)
{
    if (s == end)
        return;
    size_t n;
    char sign = lexical_sign(s, end, &n), plain = plain_shape(code_point(s, end));
    const char *hint = hint_of(s, end);
    if (sign || plain)
        err_hint(e, "write %c", sign ? sign : plain);
    else if (hint)
        err_hint(e, "%s", hint);
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
