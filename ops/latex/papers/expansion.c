#include "ops/latex/papers/expansion.h"

#include "ops/latex/papers/arguments.h"
#include "ops/latex/source/displays.h"

/* Counts displays in arguments that the body does not use. */
static void count_unused(struct reader *r, const struct macro *m, const struct piece *args,
                         size_t n)
{
    for (size_t k = 0; k < n; k++) {
        char parameter[3] = {'#', (char)('1' + k), 0};
        if (!strstr(m->m.body, parameter) && !strstr(m->m.end, parameter))
            reader_untaken(r, "in an argument that is not used",
                           macro_count_displays(&r->macros, args[k]));
    }
}

static void push_body(struct reader *r, const struct macro *m, const char *text,
                      const struct piece *args, size_t n)
{
    reader_push_text(r, arguments_substitute(r->a, text, args, n),
                     text == m->m.end ? m->m.end : m->m.body);
}

void expansion_push(struct reader *r, const struct macro *m)
{
    struct piece args[ARGUMENTS_MAX];
    size_t n = 0;
    if (!m->known) {
        reader_untaken(r, "in a macro whose arguments are unknown", 1);
        return;
    }
    if (!m->m.delimiters[0])
        n = arguments_take(args, m->m.spec, reader_rest(r));
    count_unused(r, m, args, n);
    push_body(r, m, m->m.body, args, n);
}

/* The body of an environment that takes it as an argument: up to its \end. */
bool expansion_body(struct piece *out, struct piece name, struct cursor *c)
{
    struct cursor look = *c;
    size_t depth = 0;
    while (!cursor_end(&look)) {
        if (look.s[look.at] != '\\') {
            look.at++;
            continue;
        }
        size_t at = look.at;
        struct piece word = scan_command(&look), other;
        bool begin = piece_is(word, "\\begin"), end = piece_is(word, "\\end");
        if ((!begin && !end) || !scan_group(&other, &look) || other.len != name.len ||
            memcmp(other.s, name.s, name.len))
            continue;
        if (end && depth-- == 0) {
            *out = piece_trim((struct piece){c->s + c->at, at - c->at});
            *c = look;
            return true;
        }
        depth += begin;
    }
    return false;
}

/* Expands \begin or \end of an environment that the paper has defined; returns false if it has
 * not. */
bool expansion_of_environment(struct reader *r, struct piece name, bool begin)
{
    const struct macro *m = macro_find(&r->macros, name);
    struct piece args[ARGUMENTS_MAX];
    if (!m || !m->structural || m->m.let)
        return false;
    if (!begin) {
        push_body(r, m, m->m.end, args, 0);
    } else if (m->known && m->has_body) {
        struct cursor *c = reader_rest(r);
        size_t n = arguments_take(args, m->m.spec, c);
        if (n == ARGUMENTS_MAX || !expansion_body(&args[n], name, c))
            return false;
        push_body(r, m, m->m.end, args, n + 1); /* behind the body */
        push_body(r, m, m->m.body, args, n + 1);
    } else {
        expansion_push(r, m);
    }
    return true;
}

/* Whether \let made this environment a display: \let\beq\equation. */
bool expansion_same_as_display(struct piece *out, struct reader *r, struct piece name)
{
    const struct macro *m =
        macro_find(&r->macros, piece_of(arena_printf(r->a, "\\%.*s", (int)name.len, name.s)));
    if (!m || !m->m.let)
        return false;
    *out = piece_of(m->m.body + 1);
    return display_is(*out);
}

/* Whether displays stand in the arguments of a macro, which then decides what becomes of them. */
static bool takes_displays(struct reader *r, const struct macro *m)
{
    struct piece args[ARGUMENTS_MAX];
    struct cursor look = *reader_rest(r);
    unsigned n = 0;
    if (!m->known || m->m.let || m->m.delimiters[0] || !m->m.spec[0])
        return false;
    for (size_t k = arguments_take(args, m->m.spec, &look); k-- > 0;)
        n += macro_count_displays(&r->macros, args[k]);
    return n > 0;
}

/* Expands a macro of the paper if the reader has to; returns false if not. */
bool expansion_of_command(struct reader *r, struct piece word)
{
    const struct macro *m = macro_find(&r->macros, word);
    if (!m || m->m.let || *m->m.name != '\\')
        return false;
    bool defines = !r->in_body && m->defines && r->defining < DEFINING_MAX;
    if (!m->sets && !defines && !(r->in_body && (m->structural || takes_displays(r, m))))
        return false;
    r->defining += defines;
    expansion_push(r, m);
    return true;
}
