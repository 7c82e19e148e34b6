#include "ops/expr/syntax/variable_name.h"

#include "base/text/words.h"
#include "ops/expr/syntax/lexical.h"

#include <stdlib.h>
#include <string.h>

static size_t letters_at(const char *s, size_t n)
{
    size_t k = 0;
    while (k < n && is_letter(s[k]) && s[k] != '_')
        k++;
    return k;
}

static bool is_exp(const struct language *lang, const char *name, size_t n)
{
    return lexical_is(name, n, "exp") && lang_has(lang, X_POW);
}

/* Whether infix takes the name for an operator, also without a parenthesis after it. */
static bool is_operator(const struct language *lang, const char *name, size_t n)
{
    return is_exp(lang, name, n) || (lang_find(lang, name, n) >= 0 && !lexical_is_greek(name, n));
}

/* _12, _max, _i1, _1_2 or nothing; in _1y the y may be a factor. */
static bool is_index(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((i == 0 && *s != '_') || (s[i] == '_' && (i + 1 == n || s[i + 1] == '_')) ||
            (is_digit(s[i]) && i + 1 < n && is_letter(s[i + 1]) && s[i + 1] != '_'))
            return false;
    return true;
}

bool variable_is_plain(const struct language *lang, const char *name, size_t n)
{
    static const char fonts[] = "mathcal mathbb mathbf mathfrak mathscr mathsf mathtt boldsymbol";
    static const char constants[] = "i I Pi PI pi e"; /* as they are, or as people write them */
    size_t letters = letters_at(name, n), k = letters;
    if (is_operator(lang, name, n) ||
        (lang_has(lang, X_POW) && (word_in(constants, name, n) || lexical_is(name, n, "E"))))
        return false;
    if (!lang_has(lang, X_MUL))
        return true;
    while (k < n && is_digit(name[k]))
        k++;
    bool constant = lang_has(lang, X_POW) && word_in(constants, name, letters);
    if (!is_index(name + k, n - k) || (constant && k > letters)) /* pi2 */
        return false;
    return letters == 1 || lexical_is_greek(name, letters) ||
           (word_in(fonts, name, letters) && k == letters && k + 1 < n);
}

const char *variable_leaf(struct arena *a, const struct language *lang, const char *name, size_t n)
{
    bool token = is_exp(lang, name, n) || lang_find_token(lang, name, n) >= 0;
    return token ? arena_printf(a, "\"%.*s\"", (int)n, name) : arena_strndup(a, name, n);
}

const char *variable_of(size_t *n, const char *leaf)
{
    bool quoted = *leaf == '"';
    *n = strlen(leaf) - 2 * quoted;
    return leaf + quoted;
}

void variable_write_infix(struct buf *out, const struct language *lang, const char *leaf)
{
    size_t n;
    const char *name = variable_of(&n, leaf);
    bool plain =
        lang_is_constant(leaf) || lexical_is(name, n, "d") || variable_is_plain(lang, name, n);
    buf_printf(out, plain ? "%.*s" : "\"%.*s\"", (int)n, name);
}

const char *variable_infix(struct arena *a, const struct language *lang, const char *name)
{
    struct buf b = {0};
    variable_write_infix(&b, lang, name);
    return buf_text(&b, a);
}

bool variable_has_components(const char *letters, size_t n)
{
    return (n == 1 && *letters >= 'A' && *letters <= 'Z') ||
           word_in("delta epsilon varepsilon Gamma", letters, n);
}

bool variable_is_marked(const char *base, const char *exponent)
{
    size_t n = strlen(base), letters = strcspn(base, "_"), m = strlen(exponent);
    const char *index = base + letters + (letters < n);
    bool number = is_digit(*exponent), indexed = *index && letters_at(base, letters) == letters;
    bool named = indexed && !number && *exponent != '-' && !is_digit(*index);
    if (word_in("T H t", exponent, m))
        return n == 1 ? *base < 'a' || (*exponent == 'T' && *base != 'e')
                      : indexed && letters > 4 && index[0] < 'a';
    if (!strcmp(exponent, "-1") && word_in("f g h F G", base, letters))
        return true;
    if (lexical_is(base, letters, "C"))
        return named || (indexed && *exponent != '-' &&
                         (!number || !is_digit(*index) || atoi(index) >= atoi(exponent)));
    return named && variable_has_components(base, letters);
}
