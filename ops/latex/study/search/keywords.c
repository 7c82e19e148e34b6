/* See keywords.h. Matches with one error by the bit-parallel automaton of Wu and Manber (1992),
 * which has a bit for each prefix of the keyword that ends at the current character of the text. */
#include "ops/latex/study/search/keywords.h"

#include <stdint.h>
#include <string.h>

/* Decodes valid UTF-8 and moves on. */
static uint32_t next_character(const char **at)
{
    const unsigned char *s = (const unsigned char *)*at;
    uint32_t c = *s++;
    if (c >= 0xc0)
        c &= c >= 0xf0 ? 7 : c >= 0xe0 ? 15 : 31;
    for (; (*s & 0xc0) == 0x80; s++)
        c = c << 6 | (*s & 63);
    *at = (const char *)s;
    return c;
}

/* In these alphabets upper and lower case take two bytes each. */
static uint32_t lower(uint32_t c)
{
    if ((c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7) ||
        (c >= 0x391 && c <= 0x3a9) || (c >= 0x410 && c <= 0x42f))
        return c + 32;
    return c >= 0x400 && c <= 0x40f ? c + 80 : c;
}

char *keywords_fold(struct arena *a, const char *text)
{
    char *out = arena_alloc(a, strlen(text) + 1);
    size_t n = 0;
    while (*text) {
        const char *from = text;
        uint32_t c = lower(next_character(&text));
        if (c <= ' ') {
            if (n && out[n - 1] != ' ')
                out[n++] = ' ';
        } else if (c < 0x80) {
            out[n++] = (char)c;
        } else if (c < 0x800) {
            out[n++] = (char)(0xc0 | c >> 6);
            out[n++] = (char)(0x80 | (c & 63));
        } else {
            memcpy(out + n, from, (size_t)(text - from));
            n += (size_t)(text - from);
        }
    }
    n -= n && out[n - 1] == ' ';
    out[n] = 0;
    return out;
}

size_t keyword_characters(const char *folded)
{
    size_t n = 0;
    for (; *folded; n++)
        next_character(&folded);
    return n;
}

/* The positions of each character in the keyword. */
struct masks {
    uint64_t ascii[128];
    uint32_t other[KEYWORD_MAX];
    uint64_t of_other[KEYWORD_MAX];
    size_t n_other;
};

static void add_mask(struct masks *m, uint32_t c, uint64_t bit)
{
    size_t i = 0;
    if (c < 128) {
        m->ascii[c] |= bit;
        return;
    }
    while (i < m->n_other && m->other[i] != c)
        i++;
    m->n_other += i == m->n_other;
    m->other[i] = c;
    m->of_other[i] |= bit;
}

static uint64_t mask_of(const struct masks *m, uint32_t c)
{
    if (c < 128)
        return m->ascii[c];
    for (size_t i = 0; i < m->n_other; i++)
        if (m->other[i] == c)
            return m->of_other[i];
    return 0;
}

static bool nearly_in(const char *text, const char *keyword, size_t n)
{
    struct masks m = {0};
    uint64_t exact = 0, one = 1, /* its first character may be left out */
        last = UINT64_C(1) << (n - 1), bit = 1;
    for (; *keyword; bit <<= 1)
        add_mask(&m, next_character(&keyword), bit);
    while (*text) {
        uint64_t here = mask_of(&m, next_character(&text)), before = exact;
        exact = (exact << 1 | 1) & here;
        /* a match; or an insertion, a change, or a deletion of the character before */
        one = ((one << 1 | 1) & here) | before | (before << 1 | 1) | (exact << 1 | 1);
        if ((exact | one) & last)
            return true;
    }
    return false;
}

/* With at most one error, one half of the keyword is intact. */
static bool half_in(const char *text, const char *keyword, size_t n)
{
    char first[4 * KEYWORD_MAX + 1] = "";
    const char *second = keyword;
    for (size_t i = 0; i < n / 2; i++)
        next_character(&second);
    memcpy(first, keyword, (size_t)(second - keyword));
    return strstr(text, second) || strstr(text, first);
}

bool keyword_in(const char *text, const char *keyword)
{
    size_t n = keyword_characters(keyword);
    if (n <= KEYWORD_EXACT)
        return strstr(text, keyword);
    return half_in(text, keyword, n) && nearly_in(text, keyword, n);
}
