/* The op parameter `domains`. */
#include "ops/expr/ball/domain.h"
#include "ops/expr/ball/domain_record.h"

#include <string.h>

enum err_code domains_read(struct domains *out, struct arena *a, struct op_ctx *ctx, struct err *e)
{
    const char *const *texts;
    size_t given = op_strings(&texts, ctx, "domains");
    struct ball_domain *all = arena_array(a, struct ball_domain, given);
    *out = (struct domains){.all = all};
    for (size_t i = 0; i < given; i++) {
        struct ball_domain d;
        enum err_code code = domain_parse(&d, a, texts[i], e);
        for (size_t k = 0; k < out->n && !code; k++)
            if (strcmp(out->all[k].name, d.name) == 0)
                code = err_fail(e, ERR_INPUT, "the variable %s has two domains", d.name);
        if (code)
            return err_up(e, code);
        all[out->n++] = d;
    }
    return OK;
}
