#include "ops/latex/papers/reader.h"

#include "ops/latex/papers/plain.h"

enum { DISPLAYS_MAX = 200000, TEXT_MAX = 8 << 20 };

/* ---- sections ---- */

static Eqloom__Section *reader_section(struct reader *r)
{
    return r->sections[r->paper->n_sections - 1];
}

char *reader_plain_of(struct reader *r, struct piece p)
{
    struct buf b = {0};
    plain_words(&b, p);
    char *text = arena_strndup(r->a, b.data ? b.data : "", b.len);
    buf_free(&b);
    return text;
}

void reader_end_section(struct reader *r)
{
    if (r->paper->n_sections)
        reader_section(r)->text = reader_plain_of(r, (struct piece){r->words.data, r->words.len});
    buf_clear(&r->words);
}

void reader_begin_section(struct reader *r, char *title)
{
    Eqloom__Section *s = arena_new(r->a, Eqloom__Section);
    reader_end_section(r);
    eqloom__section__init(s);
    s->title = title;
    r->sections =
        vec_grow(r->sections, &r->sections_cap, r->paper->n_sections + 1, sizeof *r->sections);
    r->sections[r->paper->n_sections++] = s;
    r->equations_cap = 0;
}

void reader_add_words(struct reader *r, const char *s, size_t n)
{
    struct buf *to = r->in_abstract ? &r->abstract : &r->words;
    if (r->in_body && to->len < TEXT_MAX)
        buf_add(to, s, n);
}

/* ---- displays ---- */

static const char *reader_here(struct reader *r)
{
    return r->frames.n ? frames_top(&r->frames)->file->name : "";
}

void reader_begin_display(struct reader *r, struct piece environment)
{
    r->environment = arena_strndup(r->a, environment.s, environment.len);
    r->nested = 0;
    buf_clear(&r->display);
    reader_add_words(r, "\n", 1);
}

void reader_end_display(struct reader *r)
{
    struct piece latex = piece_trim((struct piece){r->display.data, r->display.len});
    const char *environment = r->environment;
    r->environment = NULL;
    if (latex.len == 0)
        return;
    if (latex.len > DISPLAY_MAX || r->number == DISPLAYS_MAX) {
        bundle_problem(&r->problems, r->a, reader_here(r), 0,
                       latex.len > DISPLAY_MAX ? "display too large" : "too many displays",
                       "%zu bytes", latex.len);
        return;
    }
    Eqloom__Section *s = reader_section(r);
    Eqloom__Equation *q = arena_new(r->a, Eqloom__Equation);
    eqloom__equation__init(q);
    q->place = arena_new(r->a, Eqloom__Place);
    eqloom__place__init(q->place);
    q->place->section = (uint32_t)r->paper->n_sections - 1;
    q->place->number = r->number++;
    q->environment = (char *)environment;
    q->latex = arena_strndup(r->a, latex.s, latex.len);
    q->n_macros = macro_closure(&q->macros, r->a, &r->macros, latex);
    s->equations =
        arena_grow(r->a, s->equations, s->n_equations, &r->equations_cap, sizeof *s->equations);
    s->equations[s->n_equations++] = q;
}

void reader_abandon_display(struct reader *r)
{
    bundle_problem(&r->problems, r->a, reader_here(r), 0, "display without end", "%s %.60s",
                   r->environment, r->display.data ? r->display.data : "");
    r->environment = NULL;
}
