#include "ops/latex/papers/macros.h"

#include "ops/latex/papers/arguments.h"
#include "ops/latex/source/displays.h"

#include <stdlib.h>

enum { NAME_MAX_LEN = 100, BODY_MAX = 16 << 10, TABLE_MAX = 64 << 20 };

struct macro *macro_find(const struct macro_table *t, struct piece name)
{
    char key[NAME_MAX_LEN + 1];
    if (name.len == 0 || name.len > NAME_MAX_LEN)
        return NULL;
    memcpy(key, name.s, name.len);
    key[name.len] = 0;
    const uint64_t *place = name_map_get(&t->index, key);
    return place && t->items[*place]->m.name ? t->items[*place] : NULL;
}

int macro_truth(const struct macro_table *t, struct piece name)
{
    const struct macro *m = macro_find(t, name);
    if (!m || !m->m.let)
        return -1;
    return !strcmp(m->m.body, "\\iftrue") ? 1 : !strcmp(m->m.body, "\\iffalse") ? 0 : -1;
}

/* ---- texts that the reader must see ---- */

/* Finds the next command of the text, or the name in \begin{name} or \end{name}. */
static bool next_name(struct piece *out, bool *environment, struct cursor *c)
{
    while (!cursor_end(c)) {
        if (c->s[c->at] != '\\') {
            c->at++;
            continue;
        }
        *out = scan_command(c);
        struct cursor look = *c;
        struct piece name;
        *environment = (piece_is(*out, "\\begin") || piece_is(*out, "\\end")) &&
                       scan_group(&name, &look) && name.len;
        if (*environment)
            *out = name;
        return true;
    }
    return false;
}

/* Sets what the body contains, directly or through other macros. */
static void classify(struct macro *x, const struct macro_table *t, struct piece body)
{
    static const char commands[] = "\\[ \\] \\input \\include \\subfile \\import \\subimport "
                                   "\\section \\chapter \\title \\InputIfFileExists";
    struct cursor c = cursor_of(body);
    struct piece name;
    bool environment;
    x->structural |= memmem(body.s, body.len, "$$", 2) != NULL;
    while (next_name(&name, &environment, &c)) {
        const struct macro *m = macro_find(t, name);
        x->structural |= environment ? display_is(name) : piece_in(name, commands);
        x->structural |= m && m->structural;
        x->defines |= (m && m->defines) || (!environment && t->begins_definition(name));
    }
}

static bool opens_display(const void *table, struct piece name, bool environment)
{
    const struct macro *m = macro_find(table, name);
    return m && m->structural && (!environment || !display_is(name));
}

unsigned macro_count_displays(const struct macro_table *t, struct piece text)
{
    return displays_count(text, opens_display, t);
}

/* ---- definitions ---- */

static char *copy(struct macro_table *t, struct piece p)
{
    return arena_strndup(t->a, p.s, p.len);
}

void macro_define(struct macro_table *t, Eqloom__Macro m, struct piece name, struct piece body,
                  struct piece end)
{
    bool added;
    if (name.len > NAME_MAX_LEN || body.len > BODY_MAX || end.len > BODY_MAX ||
        piece_in(name, "\\begin \\end \\\\") || t->bytes > TABLE_MAX) {
        t->refused++;
        macro_undefine(t, name);
        return;
    }
    m.name = copy(t, name);
    t->bytes += body.len + end.len + sizeof(struct macro);
    m.body = copy(t, body);
    m.end = copy(t, end);
    struct macro *x = arena_new(t->a, struct macro);
    x->m = m;
    x->known = arguments_known(&x->has_body, m.spec);
    if (!m.let) {
        classify(x, t, body);
        classify(x, t, end);
    }
    uint64_t *place = name_map_put(&t->index, m.name, t->n, &added);
    if (added) {
        t->items = arena_grow(t->a, t->items, t->n, &t->cap, sizeof *t->items);
        t->n++;
    }
    t->items[*place] = x;
}

void macro_undefine(struct macro_table *t, struct piece name)
{
    const struct macro *m = macro_find(t, name);
    if (m) /* earlier displays keep their definition */
        t->items[*name_map_get(&t->index, m->m.name)] = arena_new(t->a, struct macro);
}

/* ---- closure ---- */

struct closure {
    struct arena *a;
    struct macro_table *t;
    Eqloom__Macro **items;
    size_t n, cap;
};

static void collect_name(struct closure *x, struct piece name)
{
    struct macro *m = macro_find(x->t, name);
    if (!m || m->seen == x->t->closures)
        return;
    m->seen = x->t->closures;
    x->items = arena_grow(x->a, x->items, x->n, &x->cap, sizeof *x->items);
    x->items[x->n++] = &m->m;
}

static void collect(struct closure *x, struct piece text)
{
    static const char booleans[] = "\\boolean \\ifbool \\iftoggle";
    struct cursor c = cursor_of(text);
    struct piece name;
    bool environment;
    while (next_name(&name, &environment, &c)) {
        collect_name(x, name);
        if (piece_in(name, booleans) && scan_group(&name, &c))
            collect_name(x, piece_of(arena_printf(x->a, "\\if%.*s", (int)name.len, name.s)));
    }
}

static int by_name(const void *x, const void *y)
{
    const Eqloom__Macro *const *a = x, *const *b = y;
    return strcmp((*a)->name, (*b)->name);
}

size_t macro_closure(Eqloom__Macro ***out, struct arena *a, struct macro_table *t,
                     struct piece text)
{
    struct closure x = {.a = a, .t = t};
    t->closures++;
    collect(&x, text);
    for (size_t i = 0; i < x.n; i++) { /* x.n grows during the loop */
        const Eqloom__Macro *m = x.items[i];
        if (m->let)
            continue;
        collect(&x, piece_of(m->body));
        collect(&x, piece_of(m->end));
        collect(&x, piece_of(m->spec));
    }
    if (x.n)
        qsort(x.items, x.n, sizeof *x.items, by_name);
    *out = x.items;
    return x.n;
}
