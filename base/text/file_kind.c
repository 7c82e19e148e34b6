#include "base/text/file_kind.h"

#include "base/span.h"

static const struct {
    const char *suffix, *line, *what;
} kinds[] = {
    [FILE_UNKNOWN] = {NULL, NULL, NULL},
    [FILE_JOB] = {NULL, "eqloom:", "a job, which 'eqloom run' and 'eqloom plan' read"},
    [FILE_RULES] =
        {".rules", "group ",
         "rules, which 'eqloom check-rules' tests, commands read by --rules, and a job by "
         "{op: rules, files: [...]}"},
    [FILE_OPERATORS] = {".operators", "operator ",
                        "operators, which commands read by --operators, and a job among the files "
                        "of its sources"},
    [FILE_TEMPLATES] = {NULL, "templates:",
                        "templates, which a job reads by {op: templates, files: [...]}"},
};

static bool has_line(const struct source_text *source, const char *begin)
{
    size_t n = strlen(begin), left = source->len;
    for (const char *at = source->text; left >= n; at++, left--) {
        if (memcmp(at, begin, n) == 0)
            return true;
        const char *newline = memchr(at, '\n', left);
        if (!newline)
            return false;
        left -= (size_t)(newline - at);
        at = newline;
    }
    return false;
}

static enum file_kind kind_of(const struct source_text *source)
{
    for (enum file_kind k = FILE_JOB; k <= FILE_TEMPLATES; k++)
        if (kinds[k].suffix && text_ends_in(source->name, kinds[k].suffix))
            return k;
    for (enum file_kind k = FILE_JOB; k <= FILE_TEMPLATES; k++)
        if (has_line(source, kinds[k].line))
            return k;
    return FILE_UNKNOWN;
}

enum err_code file_kind_hint(enum err_code code, enum file_kind wanted,
                             const struct source_text *source, struct err *e)
{
    enum file_kind kind = kind_of(source);
    if (kind != FILE_UNKNOWN && kind != wanted)
        err_hint(e, "this looks like %s", kinds[kind].what);
    else if (kind != wanted && wanted == FILE_JOB)
        err_hint(e, "a job begins with 'eqloom: 1'; 'eqloom init DIR' writes one");
    return code;
}
