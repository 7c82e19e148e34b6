/* Errors for people; see error.h.
 *
 *     jobs/a.yaml:7:12: error: there is no op 'satrate'
 *         egraphs: {op: satrate}
 *                       ^
 *     did you mean 'saturate'? */
#include "engine/cli/console/error.h"

void cli_print_error(FILE *to, const struct err *e, bool color)
{
    const char *bold = color ? "\033[1m" : "", *red = color ? "\033[1;31m" : "";
    const char *off = color ? "\033[0m" : "";
    if (e->line)
        fprintf(to, "%s%s:%d:%d:%s ", bold, e->input_file, e->line, e->column, off);
    else
        fprintf(to, "%seqloom:%s ", bold, off);
    fprintf(to, "%serror:%s %s\n", red, off, e->message[0] ? e->message : err_code_name(e->code));
    if (e->line && *e->input_line)
        fprintf(to, "    %s\n    %*s%s^%s\n", e->input_line, e->caret, "", red, off);
    if (e->hint[0])
        fprintf(to, "%s\n", e->hint);
    if (e->detail[0])
        fprintf(to, "%s\n", e->detail);
}
