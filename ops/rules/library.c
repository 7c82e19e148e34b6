/* The shipped rules as sets; their texts come from the generated library_text.c. */
#include "ops/rules/library.h"

enum err_code rules_parse_library_of(struct rules *out, struct arena *a,
                                     const struct language *lang, struct err *e)
{
    const struct source_text *files;
    size_t n = rules_library(&files);
    *out = (struct rules){.lang = lang};
    for (size_t i = 0; i < n; i++)
        if (rules_language(a, &files[i]) == lang && err_up(e, rules_parse(out, a, &files[i], e)))
            return ERR_INPUT;
    rules_sort(out);
    return OK;
}

enum err_code rules_parse_library(struct rules *out, struct arena *a, struct err *e)
{
    return err_up(e, rules_parse_library_of(out, a, &lang_calculus, e));
}
