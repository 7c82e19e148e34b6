#include "ops/latex/source/file_names.h"

#include "ops/latex/source/decode.h"

#include <string.h>

bool file_name_ends(const char *name, const char *suffix)
{
    size_t n = strlen(name), m = strlen(suffix);
    return n >= m && !strcasecmp(name + n - m, suffix);
}

char *file_name_short(struct arena *a, const char *path)
{
    static const char *const suffixes[] = {".gz",  ".tgz", ".tar", ".bz2", ".xz",
                                           ".zst", ".zip", ".tex", NULL};
    const char *slash = strrchr(path, '/');
    char *name = (char *)decode_utf8(a, slash ? slash + 1 : path, strlen(slash ? slash + 1 : path));
    for (size_t i = 0; suffixes[i]; i++)
        if (file_name_ends(name, suffixes[i]) && strlen(name) > strlen(suffixes[i])) {
            name[strlen(name) - strlen(suffixes[i])] = 0;
            i = (size_t)-1;
        }
    return name;
}

bool file_name_is_style(const char *name)
{
    static const char *const suffixes[] = {".sty", ".cls", ".bbl", ".bib", ".def", ".cfg", NULL};
    bool style = false;
    for (size_t i = 0; suffixes[i]; i++)
        style |= file_name_ends(name, suffixes[i]);
    return style;
}

enum file_form file_form_of(const char *name)
{
    static const struct {
        const char *suffix;
        enum file_form form;
    } forms[] = {{".gz", FORM_ARCHIVE},  {".tgz", FORM_ARCHIVE}, {".tar", FORM_ARCHIVE},
                 {".zip", FORM_ARCHIVE}, {".jsonl", FORM_JSONL}, {".json", FORM_JSONL},
                 {".mml", FORM_XML},     {".xml", FORM_XML},     {".html", FORM_XML}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (file_name_ends(name, forms[i].suffix))
            return forms[i].form;
    return FORM_LOOSE;
}
