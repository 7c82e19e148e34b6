#include "ops/latex/source/displays.h"

bool display_is(struct piece environment)
{
    static const char displays[] =
        "equation displaymath align gather multline flalign eqnarray subeqnarray alignat dmath "
        "IEEEeqnarray "
        "mathpar xalignat xxalignat numcases subnumcases empheq dgroup dseries darray dmultline";
    if (environment.len && environment.s[environment.len - 1] == '*')
        environment.len--;
    return piece_in(environment, displays);
}

unsigned displays_count(struct piece text, display_opens *opens, const void *arg)
{
    struct cursor c = cursor_of(text);
    unsigned n = 0, dollars = 0;
    while (!cursor_end(&c)) {
        if (c.s[c.at] != '\\') {
            bool two = c.s[c.at] == '$' && c.at + 1 < c.len && c.s[c.at + 1] == '$';
            dollars += two;
            c.at += two ? 2 : 1;
            continue;
        }
        struct piece word = scan_command(&c), name;
        struct cursor look = c;
        bool environment = piece_is(word, "\\begin") && scan_group(&name, &look);
        if (!environment)
            name = word;
        n += environment ? display_is(name) : piece_is(word, "\\[");
        n += opens && opens(arg, name, environment);
    }
    return n + dollars / 2;
}
