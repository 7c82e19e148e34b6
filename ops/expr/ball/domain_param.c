/* The op parameter `domains`. */
#include "ops/expr/ball/domain.h"
#include "ops/expr/ball/domain_record.h"

enum err_code domains_read(struct domains *out, struct arena *a, struct op_ctx *ctx, struct err *e)
{
    const char *const *texts;
    size_t given = op_strings(&texts, ctx, "domains");
    struct ball_domain *all = arena_array(a, struct ball_domain, given);
    *out = (struct domains){.all = all};
    for (size_t i = 0; i < given; i++) {
        struct ball_domain d;
        enum err_code code = domain_parse(&d, a, texts[i], e);
        if (code || (code = domain_add(all, &out->n, &d, e)))
            return err_up(e, code);
    }
    return OK;
}
