#include "ops/expr/ball/domain_record.h"

#include <stdlib.h>
#include <string.h>

struct domains domains_of(struct arena *a, const Eqloom__Expr *of, const struct domains *given)
{
    size_t n = of ? of->n_variables : 0, n_given = given ? given->n : 0;
    struct ball_domain *all = arena_array(a, struct ball_domain, n + n_given + 1);
    struct domains out = {all, n_given};
    if (n_given)
        memcpy(all, given->all, n_given * sizeof *all);
    for (size_t i = 0; i < n; i++) {
        const Eqloom__VariableDomain *v = of->variables[i];
        bool known = false;
        for (size_t k = 0; k < n_given; k++)
            known = known || strcmp(all[k].name, v->name) == 0;
        if (!known)
            all[out.n++] = (struct ball_domain){v->name, v->domain, v->low[0] ? v->low : NULL,
                                                v->high[0] ? v->high : NULL};
    }
    return out;
}

static int by_name(const void *x, const void *y)
{
    return strcmp((*(Eqloom__VariableDomain *const *)x)->name,
                  (*(Eqloom__VariableDomain *const *)y)->name);
}

static char *copy(struct arena *a, const char *text)
{
    return arena_strdup(a, text ? text : "");
}

void domains_store(Eqloom__Expr *out, struct arena *a, const struct domains *domains)
{
    out->n_variables = 0;
    out->variables = arena_array(a, Eqloom__VariableDomain *, domains->n);
    for (size_t i = 0; i < domains->n; i++) {
        const struct ball_domain *d = &domains->all[i];
        if (strcmp(d->domain, "positive") == 0 && !d->low && !d->high)
            continue;
        Eqloom__VariableDomain *v = arena_new(a, Eqloom__VariableDomain);
        eqloom__variable_domain__init(v);
        v->name = copy(a, d->name);
        v->domain = copy(a, d->domain);
        v->low = copy(a, d->low);
        v->high = copy(a, d->high);
        out->variables[out->n_variables++] = v;
    }
    qsort(out->variables, out->n_variables, sizeof *out->variables, by_name);
}
