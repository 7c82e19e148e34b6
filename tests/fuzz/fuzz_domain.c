/* What --domain says of a variable: refused, or a name with a domain that is not empty. */
#include "ops/expr/ball/domain.h"

#include "ops/expr/rational.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct ball_domain d;
    struct err e = {0};
    enum err_code code = domain_parse(&d, &a, arena_strndup(&a, (const char *)data, size), &e);
    if (code ? !e.message[0]
             : !d.name[d.name[0] == '?'] || !d.domain ||
                   (d.low && d.high && number_compare(d.low, d.high) >= 0))
        __builtin_trap();
    arena_free(&a);
    return 0;
}
