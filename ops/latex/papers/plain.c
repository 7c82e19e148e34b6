#include "ops/latex/papers/plain.h"

#include <ctype.h>

/* Accents as people type them in TeX: \"a, \'e, \^o, \`a, \~n, \c c. */
static const char *accented(char accent, char letter)
{
    static const struct {
        char accent, letter;
        const char *text;
    } table[] = {{'"', 'a', "ä"},  {'"', 'o', "ö"},  {'"', 'u', "ü"},  {'"', 'A', "Ä"},
                 {'"', 'O', "Ö"},  {'"', 'U', "Ü"},  {'"', 'i', "ï"},  {'"', 'e', "ë"},
                 {'\'', 'a', "á"}, {'\'', 'e', "é"}, {'\'', 'i', "í"}, {'\'', 'o', "ó"},
                 {'\'', 'u', "ú"}, {'\'', 'E', "É"}, {'`', 'a', "à"},  {'`', 'e', "è"},
                 {'`', 'o', "ò"},  {'`', 'u', "ù"},  {'^', 'a', "â"},  {'^', 'e', "ê"},
                 {'^', 'i', "î"},  {'^', 'o', "ô"},  {'^', 'u', "û"},  {'~', 'n', "ñ"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].accent == accent && table[i].letter == letter)
            return table[i].text;
    return NULL;
}

static void blank(struct buf *out)
{
    if (out->len && out->data[out->len - 1] != ' ')
        buf_putc(out, ' ');
}

static void command(struct buf *out, struct cursor *c)
{
    struct piece word = scan_command(c);
    if (word.len == 2 && strchr("%&$#_{}", word.s[1])) {
        buf_putc(out, word.s[1]);
        return;
    }
    if (word.len == 2 && strchr("\"'`^~", word.s[1])) {
        struct cursor look = *c;
        struct piece letter;
        const char *text;
        if (scan_argument(&letter, &look) && letter.len == 1 &&
            (text = accented(word.s[1], *letter.s))) {
            buf_puts(out, text);
            *c = look;
        }
        return;
    }
    if (piece_is(word, "\\ss"))
        buf_puts(out, "ß");
    else if (word.len == 2 && !isalpha((unsigned char)word.s[1]) && word.s[1] != '-')
        blank(out);
    if (word.len > 2 || isalpha((unsigned char)word.s[1]))
        scan_blanks(c);
}

void plain_words(struct buf *out, struct piece latex)
{
    struct cursor c = cursor_of(latex);
    while (!cursor_end(&c)) {
        char ch = c.s[c.at];
        if (ch == '\\') {
            command(out, &c);
            continue;
        }
        c.at++;
        if (ch == '$') {
            const char *end = memchr(c.s + c.at, '$', c.len - c.at);
            c.at = end ? (size_t)(end - c.s) + 1 : c.at;
            blank(out);
        } else if (ch == '~' || ch == '&' || ch == '\n' || ch == '\t' || ch == ' ') {
            blank(out);
        } else if (ch != '{' && ch != '}' && ch != '[' && ch != ']') {
            buf_putc(out, ch);
        }
    }
    while (out->len && out->data[out->len - 1] == ' ')
        out->data[--out->len] = 0;
}
