#include "ops/latex/papers/macro_table.h"

#include "ops/latex/papers/displays.h"

#include <stdlib.h>

enum { NAME_MAX_LEN = 100, BODY_MAX = 4096, TEXT_MAX = 1 << 20, TABLE_MAX = 64 << 20 };

void macro_table_free(struct macro_table *t)
{
    name_map_free(&t->index);
    free(t->items);
    *t = (struct macro_table){0};
}

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

/* The next command of the text; of \begin{name} the name. */
static bool next_name(struct piece *out, struct cursor *c)
{
    while (!cursor_end(c)) {
        if (c->s[c->at] != '\\') {
            c->at++;
            continue;
        }
        *out = scan_command(c);
        struct cursor look = *c;
        struct piece name;
        if (piece_is(*out, "\\begin") && scan_group(&name, &look))
            *out = name;
        return true;
    }
    return false;
}

static bool names(const char *body, const char *name)
{
    struct cursor c = {body, 0, strlen(body)};
    struct piece found;
    while (next_name(&found, &c))
        if (piece_is(found, name))
            return true;
    return false;
}

/* Whether the body holds what the reader must see, itself or through other macros. */
static bool is_structural(const struct macro_table *t, const char *body)
{
    static const char commands[] = "\\[ \\] \\input \\include \\subfile \\import \\subimport "
                                   "\\section \\chapter \\title \\InputIfFileExists";
    struct cursor c = {body, 0, strlen(body)};
    struct piece name;
    if (strstr(body, "$$"))
        return true;
    while (next_name(&name, &c)) {
        const struct macro *m = macro_find(t, name);
        if (piece_in(name, commands) || display_environment(name) || (m && m->structural))
            return true;
        struct cursor look = c;
        if (piece_is(name, "\\end") && scan_group(&name, &look) &&
            (display_environment(name) || ((m = macro_find(t, name)) && m->structural)))
            return true;
    }
    return false;
}

static char *text_or_empty(struct arena *a, const char *s)
{
    return arena_strdup(a, s ? s : "");
}

void macro_define(struct macro_table *t, const Eqloom__Macro *m)
{
    struct arena *a = t->a;
    bool added;
    if (strlen(m->name) > NAME_MAX_LEN || strlen(m->body) > BODY_MAX || strlen(m->end) > BODY_MAX ||
        names(m->body, m->name) || piece_is((struct piece){m->name, strlen(m->name)}, "\\begin") ||
        t->bytes > TABLE_MAX)
        return;
    t->bytes += strlen(m->body) + strlen(m->end) + sizeof(struct macro);
    uint64_t *place = name_map_put(&t->index, m->name, t->n, &added);
    if (added) {
        t->items = vec_grow(t->items, &t->cap, t->n + 1, sizeof *t->items);
        t->n++;
    }
    struct macro *x = t->items[*place] = arena_new(a, struct macro);
    eqloom__macro__init(&x->m);
    x->m.name = text_or_empty(a, m->name);
    x->m.arguments = m->arguments;
    x->m.body = text_or_empty(a, m->body);
    x->m.optional = m->optional;
    x->m.initial = text_or_empty(a, m->initial);
    x->m.end = text_or_empty(a, m->end);
    x->m.delimiters = text_or_empty(a, m->delimiters);
    x->structural = is_structural(t, x->m.body) || is_structural(t, x->m.end);
}

void macro_forget(struct macro_table *t, struct piece name)
{
    const struct macro *m = macro_find(t, name);
    if (m) /* what earlier displays refer to stays */
        t->items[*name_map_get(&t->index, m->m.name)] = arena_new(t->a, struct macro);
}

/* ---- closure ---- */

struct closure {
    struct macro_table *t;
    Eqloom__Macro **items;
    size_t n, cap;
};

static void collect(struct closure *x, const char *s, size_t len)
{
    struct cursor c = {s, 0, len};
    struct piece name;
    while (next_name(&name, &c)) {
        struct macro *m = macro_find(x->t, name);
        if (!m || m->seen == x->t->closures)
            continue;
        m->seen = x->t->closures;
        x->items = vec_grow(x->items, &x->cap, x->n + 1, sizeof *x->items);
        x->items[x->n++] = &m->m;
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
    struct closure x = {.t = t};
    t->closures++;
    collect(&x, text.s, text.len);
    for (size_t i = 0; i < x.n; i++) { /* grows as it goes */
        const Eqloom__Macro *m = x.items[i];
        collect(&x, m->body, strlen(m->body));
        collect(&x, m->end, strlen(m->end));
        collect(&x, m->initial, strlen(m->initial));
    }
    if (x.n)
        qsort(x.items, x.n, sizeof *x.items, by_name);
    *out = arena_array(a, Eqloom__Macro *, x.n + 1);
    if (x.n)
        memcpy(*out, x.items, x.n * sizeof *x.items);
    free(x.items);
    return x.n;
}

struct piece macro_substitute(struct arena *a, const char *body, const struct piece *args, size_t n)
{
    struct buf b = {0};
    for (const char *s = body; *s; s++) {
        if (*s != '#' || s[1] < '1' || s[1] > '9') {
            buf_putc(&b, *s);
            continue;
        }
        size_t k = (size_t)(*++s - '1');
        if (k < n && b.len < TEXT_MAX)
            buf_add(&b, args[k].s, args[k].len);
    }
    struct piece out = {arena_strndup(a, b.data ? b.data : "", b.len), b.len};
    buf_free(&b);
    return out;
}
