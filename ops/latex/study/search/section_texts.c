#include "ops/latex/study/search/section_texts.h"

#include "base/map.h"
#include "ops/latex/study/search/keywords.h"

struct wanted {
    struct name_map papers;
    struct map64 sections; /* paper << 32 | its section -> number */
};

static struct wanted index_sections(const struct equation_vectors *x)
{
    struct wanted w = {0};
    for (uint32_t i = 0; i < x->v.n; i++) {
        name_map_put(&w.papers, x->place[i]->paper, x->paper[i], NULL);
        map64_put(&w.sections, (uint64_t)x->paper[i] << 32 | x->place[i]->section, x->section[i],
                  NULL);
    }
    return w;
}

static void take(struct section_texts *out, struct arena *a, struct arena *work,
                 const struct wanted *w, const Eqloom__Paper *p)
{
    const uint64_t *paper = name_map_get(&w->papers, p->paper);
    for (size_t i = 0; paper && i < p->n_sections; i++) {
        const Eqloom__Section *s = p->sections[i];
        const uint64_t *number = map64_get(&w->sections, *paper << 32 | i);
        if (!number)
            continue;
        out->text[*number] = keywords_fold(a, arena_printf(work, "%s %s", s->title, s->text));
        out->title[*number] = arena_strdup(a, s->title);
    }
}

enum err_code section_texts_load(struct section_texts *out, struct op_ctx *ctx, const char *papers,
                                 const struct equation_vectors *x, struct err *e)
{
    struct arena *a = op_arena(ctx), work = {0};
    struct wanted w = index_sections(x);
    enum err_code code = OK;
    out->text = arena_array(a, const char *, x->n_sections + 1);
    out->title = arena_array(a, const char *, x->n_sections + 1);
    for (uint32_t s = 0; s < x->n_sections; s++)
        out->text[s] = out->title[s] = "";
    for (uint64_t i = 0, n = op_count(ctx, papers); i < n && !code; i++) {
        const Eqloom__Paper *m;
        arena_reset(&work);
        if (op_cancelled(ctx))
            code = err_fail(e, ERR_CANCELLED, "reading sections was interrupted");
        else if (!(code = op_get_in(&m, ctx, papers, i, &work, e)))
            take(out, a, &work, &w, m);
    }
    arena_free(&work);
    name_map_free(&w.papers);
    map64_free(&w.sections);
    return err_up(e, code);
}
