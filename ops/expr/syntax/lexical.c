/* Characters that people paste and no syntax reads; nothing is guessed, the error says what to
 * write instead. */
#include "ops/expr/syntax/lexical.h"

#include "base/err.h"

#include <string.h>

void lexical_hint(struct err *e, const char *s, const char *end)
{
    static const struct {
        const char *bytes, *hint;
    } lookalikes[] = {
        {"\xe2\x88\x92", "this is a typographic minus sign; write -"},
        {"\xe2\x80\x93", "this is a dash; write -"},
        {"\xe2\x80\x94", "this is a dash; write -"},
        {"\xc3\x97", "write * for a product"},
        {"\xc2\xb7", "write * for a product"},
        {"\xe2\x8b\x85", "write * for a product"},
        {"\xc3\xb7", "write / for a quotient"},
        {"\xc2\xb2", "write ^2"},
        {"\xc2\xb3", "write ^3"},
        {"\xcf\x80", "write pi"},
        {"\xe2\x88\x9a", "write sqrt(...)"},
        {"\xc2\xa0", "this is a no-break space"},
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
    for (size_t i = 0; i < sizeof lookalikes / sizeof *lookalikes; i++) {
        size_t n = strlen(lookalikes[i].bytes);
        if ((size_t)(end - s) >= n && memcmp(s, lookalikes[i].bytes, n) == 0)
            err_hint(e, "%s", lookalikes[i].hint);
    }
}
