/* Two expressions with a tab between them, and perhaps a domain after another: what normal forms
 * prove no point refutes, and both answers come soon. */
#include "ops/expr/ball/domain.h"
#include "ops/expr/normal/normal.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    char *save = NULL, *text = arena_strndup(&a, (const char *)data, size < 200 ? size : 200);
    const char *way, *left = strtok_r(text, "\t", &save), *right = strtok_r(NULL, "\t", &save),
                     *given = strtok_r(NULL, "\t", &save);
    struct source_text first = {"first", left, left ? strlen(left) : 0};
    struct source_text second = {"second", right, right ? strlen(right) : 0};
    struct ball_domain domain;
    struct ball_options options = {.points = 3, .domains = &domain};
    struct expr x, y;
    if (left && right &&
        !expr_parse_infix(&x, &a, &lang_calculus, &first, 0, first.len, false, NULL) &&
        !expr_parse_infix(&y, &a, &lang_calculus, &second, 0, second.len, false, NULL)) {
        options.n_domains = given && !domain_parse(&domain, &a, given, NULL);
        if (normal_equal(&way, &x, &y, &domain, options.n_domains)) {
            struct ball_compare c;
            ball_compare(&c, &x, &y, &options);
            if (c.verdict == BALL_DIFFERENT)
                __builtin_trap();
        }
    }
    arena_free(&a);
    ball_thread_cleanup();
    return 0;
}
