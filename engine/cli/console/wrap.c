/* Lines of text; see wrap.h. */
#include "engine/cli/console/wrap.h"

#include "base/os.h"

#include <string.h>

enum { NARROWEST = 40 };

int wrap_width(FILE *to)
{
    int fd = fileno(to);
    if (fd < 0 || !os_is_terminal(fd))
        return WRAP_NEVER;
    int width = os_terminal_width(fd);
    return width > NARROWEST ? width : NARROWEST;
}

static int columns(const char *text, size_t n)
{
    int wide = 0;
    for (size_t i = 0; i < n; i++)
        wide += ((unsigned char)text[i] & 0xc0) != 0x80;
    return wide;
}

int wrap_columns(const char *text)
{
    return columns(text, strlen(text));
}

void wrap_print(FILE *to, const char *text, int column, int indent, int width)
{
    /* A deep indentation would leave no room for text. */
    if (indent > width / 2)
        indent = width / 2;
    while (*text) {
        size_t blanks = strspn(text, " "), n = strcspn(text + blanks, " \n");
        int wide = columns(text + blanks, n);
        if (text[blanks] == '\n') {
            fprintf(to, "\n%*s", text[blanks + 1] == '\n' ? 0 : indent, "");
            column = indent;
            text += blanks + 1;
            continue;
        }
        if (n && column > indent && column + (int)blanks + wide > width) {
            fprintf(to, "\n%*s", indent, "");
            column = indent;
        } else if (n) {
            fprintf(to, "%*s", (int)blanks, "");
            column += (int)blanks;
        }
        fwrite(text + blanks, 1, n, to);
        column += wide;
        text += blanks + n;
    }
    fputc('\n', to);
}
