#include "ops/latex/papers/definitions.h"

static char *copy(struct arena *a, struct piece p)
{
    return arena_strndup(a, p.s, p.len);
}

/* {\name} or \name, or {name} of an environment. */
static bool read_name(struct piece *out, struct cursor *c)
{
    if (!scan_argument(out, c))
        return false;
    *out = piece_trim(*out);
    return out->len > 0;
}

static unsigned read_count(struct cursor *c)
{
    struct piece n;
    if (!scan_optional(&n, c))
        return 0;
    n = piece_trim(n);
    return n.len == 1 && n.s[0] >= '0' && n.s[0] <= '9' ? (unsigned)(n.s[0] - '0') : 0;
}

/* [n][initial] */
static void read_arguments(Eqloom__Macro *m, struct arena *a, struct cursor *c)
{
    struct piece initial;
    m->arguments = read_count(c);
    if (m->arguments && scan_optional(&initial, c)) {
        m->optional = true;
        m->initial = copy(a, initial);
    }
}

/* \newcommand*{\x}[n][initial]{body} */
static void read_newcommand(struct macro_table *t, struct cursor *c, bool provide)
{
    Eqloom__Macro m = EQLOOM__MACRO__INIT;
    struct piece name, body;
    scan_char(c, '*');
    if (!read_name(&name, c))
        return;
    read_arguments(&m, t->a, c);
    if (!scan_argument(&body, c) || *name.s != '\\' || (provide && macro_find(t, name)))
        return;
    m.name = copy(t->a, name);
    m.body = copy(t->a, body);
    macro_define(t, &m);
}

/* \newenvironment{name}[n][initial]{begin}{end} */
static void read_newenvironment(struct macro_table *t, struct cursor *c)
{
    Eqloom__Macro m = EQLOOM__MACRO__INIT;
    struct piece name, body, end;
    scan_char(c, '*');
    if (!read_name(&name, c))
        return;
    read_arguments(&m, t->a, c);
    if (!scan_group(&body, c) || !scan_group(&end, c) || *name.s == '\\')
        return;
    m.name = copy(t->a, name);
    m.body = copy(t->a, body);
    m.end = copy(t->a, end);
    macro_define(t, &m);
}

/* xparse: "m" and a first "o" or "O{initial}"; stars are read over. False for all else. */
static bool read_spec(Eqloom__Macro *m, struct arena *a, struct piece spec)
{
    struct cursor c = cursor_of(spec);
    struct piece initial;
    for (scan_blanks(&c); !cursor_end(&c); scan_blanks(&c)) {
        char kind = c.s[c.at++];
        if (kind == '+' || kind == '>')
            continue;
        if (kind != 'm' && !((kind == 'o' || kind == 'O') && m->arguments == 0))
            return false;
        if (kind != 'm')
            m->optional = true;
        if (kind == 'O' && scan_group(&initial, &c))
            m->initial = copy(a, initial);
        m->arguments++;
    }
    return m->arguments < 10;
}

static void read_xparse(struct macro_table *t, struct cursor *c, bool environment)
{
    Eqloom__Macro m = EQLOOM__MACRO__INIT;
    struct piece name, spec, body, end = {"", 0};
    if (!read_name(&name, c) || !scan_group(&spec, c) || !scan_argument(&body, c) ||
        (environment && !scan_group(&end, c)) || !read_spec(&m, t->a, spec))
        return;
    if ((*name.s == '\\') == environment)
        return;
    m.name = copy(t->a, name);
    m.body = copy(t->a, body);
    m.end = copy(t->a, end);
    macro_define(t, &m);
}

/* \def\x#1#2{body}, \def\x#1.#2;{body} */
static void read_def(struct macro_table *t, struct cursor *c)
{
    Eqloom__Macro m = EQLOOM__MACRO__INIT;
    struct piece name, body;
    scan_blanks(c);
    if (cursor_end(c) || c->s[c->at] != '\\')
        return;
    name = scan_command(c);
    size_t from = c->at;
    bool plain = true;
    while (!cursor_end(c) && c->s[c->at] != '{' && c->s[c->at] != '}') {
        if (c->s[c->at] == '#' && c->at + 1 < c->len && c->s[c->at + 1] == '1' + (char)m.arguments)
            m.arguments++, c->at++;
        else if (c->s[c->at] != ' ' && c->s[c->at] != '\n')
            plain = false;
        c->at++;
    }
    struct piece parameters = {c->s + from, c->at - from};
    if (!scan_group(&body, c) || m.arguments > 9)
        return;
    m.name = copy(t->a, name);
    m.body = copy(t->a, body);
    m.delimiters = plain ? (char *)"" : copy(t->a, parameters);
    macro_define(t, &m);
}

/* Greek letters that papers exchange, as KaTeX also takes them. */
static const struct {
    const char *command, *character;
} letters[] = {{"\\epsilon", "ϵ"}, {"\\varepsilon", "ε"}, {"\\phi", "ϕ"}, {"\\varphi", "φ"},
               {"\\theta", "θ"},   {"\\vartheta", "ϑ"},   {"\\rho", "ρ"}, {"\\varrho", "ϱ"},
               {"\\le", "≤"},      {"\\leq", "≤"},        {"\\ge", "≥"},  {"\\geq", "≥"},
               {"\\emptyset", "∅"}};

/* \let\x=\y. If the paper has given \y a meaning, \x takes that, else \y itself. */
static void read_let(struct macro_table *t, struct cursor *c)
{
    struct piece name, value;
    if (!scan_argument(&name, c) || *name.s != '\\')
        return;
    scan_char(c, '=');
    if (!scan_argument(&value, c))
        return;
    const struct macro *same = macro_find(t, value);
    Eqloom__Macro m = EQLOOM__MACRO__INIT;
    if (same)
        m = same->m;
    m.name = copy(t->a, name);
    if (!same)
        m.body = copy(t->a, value);
    for (size_t i = 0; !same && i < sizeof letters / sizeof *letters; i++)
        if (piece_is(value, letters[i].command))
            m.body = (char *)letters[i].character;
    if (piece_is(value, "\\relax") || piece_is(value, "\\undefined") ||
        piece_is(value, "\\@undefined"))
        macro_forget(t, name);
    else
        macro_define(t, &m);
}

/* \DeclareMathOperator*{\x}{text} */
static void read_operator(struct macro_table *t, struct cursor *c)
{
    Eqloom__Macro m = EQLOOM__MACRO__INIT;
    struct piece name, text;
    bool star = scan_char(c, '*');
    if (!read_name(&name, c) || !scan_argument(&text, c) || *name.s != '\\')
        return;
    m.name = copy(t->a, name);
    m.body = arena_printf(t->a, "\\operatorname%s{%.*s}", star ? "*" : "", (int)text.len, text.s);
    macro_define(t, &m);
}

/* \DeclarePairedDelimiter{\x}{left}{right}: glue.js knows \eqloompaired. */
static void read_paired(struct macro_table *t, struct cursor *c)
{
    Eqloom__Macro m = EQLOOM__MACRO__INIT;
    struct piece name, left, right;
    if (!read_name(&name, c) || !scan_argument(&left, c) || !scan_argument(&right, c) ||
        *name.s != '\\')
        return;
    m.name = copy(t->a, name);
    m.body = arena_printf(t->a, "\\eqloompaired{%.*s}{%.*s}", (int)left.len, left.s, (int)right.len,
                          right.s);
    macro_define(t, &m);
}

bool definition_read(struct macro_table *t, struct piece command, struct cursor *c)
{
    static const char newcommands[] = "\\newcommand \\renewcommand \\DeclareRobustCommand";
    static const char defs[] = "\\def \\gdef \\edef \\xdef";
    static const char environments[] = "\\newenvironment \\renewenvironment";
    static const char xcommands[] = "\\NewDocumentCommand \\RenewDocumentCommand "
                                    "\\DeclareDocumentCommand \\ProvideDocumentCommand";
    static const char xenvironments[] =
        "\\NewDocumentEnvironment \\RenewDocumentEnvironment \\DeclareDocumentEnvironment";
    if (piece_in(command, newcommands))
        read_newcommand(t, c, false);
    else if (piece_is(command, "\\providecommand"))
        read_newcommand(t, c, true);
    else if (piece_in(command, defs))
        read_def(t, c);
    else if (piece_is(command, "\\let"))
        read_let(t, c);
    else if (piece_in(command, environments))
        read_newenvironment(t, c);
    else if (piece_in(command, xcommands))
        read_xparse(t, c, false);
    else if (piece_in(command, xenvironments))
        read_xparse(t, c, true);
    else if (piece_is(command, "\\DeclareMathOperator"))
        read_operator(t, c);
    else if (piece_is(command, "\\DeclarePairedDelimiter"))
        read_paired(t, c);
    else
        return false;
    return true;
}
