#include "ops/latex/source/file_names.h"

#include "base/io/unpack.h"
#include "ops/latex/source/decode.h"

#include <string.h>

/* Returns the start of one of these blank-separated endings in the name, ignoring case, or NULL. */
static const char *ending_in(const char *name, const char *endings)
{
    size_t n = strlen(name);
    for (size_t len; *endings; endings += len + (endings[len] == ' ')) {
        len = strcspn(endings, " ");
        if (n >= len && !strncasecmp(name + n - len, endings, len))
            return name + n - len;
    }
    return NULL;
}

const char *file_name_last(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *file_name_short(struct arena *a, const char *path)
{
    const char *last = file_name_last(path), *end;
    char *name = decode_utf8(a, last, strlen(last));
    while ((end = ending_in(name, ".gz .tgz .tar .bz2 .xz .zst .zip .tex")) && end > name)
        name[end - name] = 0;
    return name;
}

bool file_name_is_style(const char *name)
{
    return ending_in(name, ".sty .cls .bbl .bib .def .cfg");
}

bool file_name_is_tex(const char *name)
{
    return !strchr(file_name_last(name), '.') || file_name_is_style(name) ||
           ending_in(name, ".tex .ltx .latex .txt .clo .fd");
}

enum file_form file_form_of(const char *name)
{
    struct arena a = {0};
    const char *plain = arena_strndup(&a, name, unpack_name(name));
    enum file_form form = ending_in(plain, ".jsonl .json")                      ? FORM_JSONL
                          : ending_in(plain, ".mml .xml .html")                 ? FORM_XML
                          : ending_in(name, ".gz .tgz .tar .bz2 .xz .zst .zip") ? FORM_ARCHIVE
                                                                                : FORM_LOOSE;
    arena_free(&a);
    return form;
}
