#include "ops/latex/papers/displays.h"

bool display_environment(struct piece name)
{
    static const char displays[] = "equation displaymath align gather multline flalign eqnarray "
                                   "alignat dmath IEEEeqnarray mathpar xalignat";
    if (name.len && name.s[name.len - 1] == '*')
        name.len--;
    return piece_in(name, displays);
}
