/* Files of operators: whatever the bytes, operators or one error; what a record says of them reads
 * back as the same; terms with them are evaluated and compared within bounds. */
#include "ops/expr/normal/normal.h"
#include "ops/expr/own/own.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(struct arena *a, const struct language *lang, unsigned op)
{
    const struct ball_point point = {2, (const char *const[]){"x", "y"},
                                     (const double[]){0.75, 2.5}, NULL};
    const struct expr arguments[LANG_MAX_ARITY] = {expr_leaf(a, lang, X_SYM, "x"),
                                                   expr_leaf(a, lang, X_SYM, "y")};
    const struct expr x = expr_apply(a, lang, (uint16_t)op, arguments, lang->ops[op].arity);
    const struct expr by[2] = {arguments[0], x};
    const struct expr derivative = expr_apply(a, lang, X_D, by, 2);
    const char *way;
    double re, im;
    ball_value(&re, &im, &x, &point);
    ball_value(&re, &im, &derivative, &point);
    normal_equal(&way, &derivative, &x, NULL, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct source_text source = {"fuzz", (const char *)data, size};
    const struct language *lang = &lang_calculus, *back;
    struct err e = {0};
    if (own_parse(&lang, &a, &source, true, &e)) {
        if (!e.message[0] || lang != &lang_calculus)
            __builtin_trap();
        arena_free(&a);
        return 0;
    }
    bool *used = arena_array(&a, bool, lang->n_ops);
    memset(used, true, lang->n_ops * sizeof *used);
    char *text = language_text(&a, lang, used);
    if (language_read(&back, &a, text, NULL) || back->n_ops != lang->n_ops)
        __builtin_trap();
    used = arena_array(&a, bool, lang->n_ops);
    memset(used, true, lang->n_ops * sizeof *used);
    if (strcmp(text, language_text(&a, back, used)) != 0)
        __builtin_trap();
    for (unsigned op = X_DECLARED; op < lang->n_ops && op < X_DECLARED + 4u; op++)
        use(&a, lang, op);
    ball_thread_cleanup();
    arena_free(&a);
    return 0;
}
