/* Sources of rules: files and built-in files. */
#include "base/io/text_file.h"
#include "engine/op.h"
#include "ops/rules/rule.h"

#include <string.h>

size_t rules_library(const struct source_text **out)
{
    size_t n = 0;
    *out = op_builtins;
    while (op_builtins[n].name && strstr(op_builtins[n].name, ".rules") &&
           !strstr(op_builtins[n].name, "/start/"))
        n++;
    return n;
}

static bool is_builtin(const struct source_text *s, const char *name)
{
    size_t stem = (size_t)(strrchr(s->name, '.') - s->name);
    return strcmp(s->name, name) == 0 || (strlen(name) == stem && !memcmp(s->name, name, stem));
}

enum err_code rules_source(struct source_text *out, struct arena *a, const char *name,
                           struct err *e)
{
    const struct source_text *library;
    if (strncmp(name, OP_BUILTIN, strlen(OP_BUILTIN)) != 0)
        return err_up(e, text_file_read(out, a, name, RULES_MAX_FILE, e));
    size_t n = rules_library(&library);
    const char **names = arena_array(a, const char *, n);
    for (size_t i = 0; i < n; i++) {
        names[i] = arena_strndup(a, library[i].name, strlen(library[i].name) - strlen(".rules"));
        if (is_builtin(&library[i], name)) {
            *out = library[i];
            return OK;
        }
    }
    enum err_code code = err_fail(e, ERR_INPUT, "no rule file is named '%.200s'", name);
    return err_suggest(code, name, names, n, e);
}

enum err_code rules_parse_library(struct rules *out, struct arena *a, const struct language *lang,
                                  struct err *e)
{
    const struct source_text *files;
    size_t n = rules_library(&files);
    enum err_code code = OK;
    *out = (struct rules){.lang = lang};
    for (size_t i = 0; !code && i < n; i++)
        if (lang_is(rules_language(a, &files[i]), lang))
            code = rules_parse(out, a, &files[i], e);
    rules_sort(out);
    return err_up(e, code);
}
