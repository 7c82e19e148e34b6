#include "ops/latex/study/equation_place.h"

#include "graph.pb-c.h"
#include "image.pb-c.h"
#include "schemas/canonical.h"

enum err_code equation_place_summarize(struct span *out, struct arena *a, struct op_ctx *ctx,
                                       const ProtobufCMessage *element, struct err *e)
{
    static const Eqloom__Place none = EQLOOM__PLACE__INIT;
    if (element->descriptor == &eqloom__paper__descriptor) {
        const Eqloom__Paper *p = (const Eqloom__Paper *)element;
        Eqloom__Place whole = EQLOOM__PLACE__INIT;
        whole.paper = p->n_sections ? p->paper : whole.paper;
        return err_up(e, canonical_pack(out, a, &whole.base, e));
    }
    const Eqloom__Place *place = element->descriptor == &eqloom__graph__descriptor
                                     ? ((const Eqloom__Graph *)element)->place
                                 : element->descriptor == &eqloom__image__descriptor
                                     ? ((const Eqloom__Image *)element)->place
                                     : ((const Eqloom__MathML *)element)->place;
    return err_up(e, canonical_pack(out, a, place ? &place->base : &none.base, e));
}

enum err_code equation_place_get(const Eqloom__Place **out, struct op_ctx *ctx, const char *role,
                                 uint64_t i, struct arena *a, struct err *e)
{
    struct span s;
    const Eqloom__Place *m = NULL;
    enum err_code code = op_summary(&s, ctx, role, i, e);
    if (!code)
        code = canonical_unpack(&m, a, &eqloom__place__descriptor, s, e);
    *out = m;
    return err_up(e, code);
}

bool equation_place_same(const Eqloom__Place *x, const Eqloom__Place *y)
{
    return x->number == y->number && x->section == y->section && !strcmp(x->paper, y->paper);
}
