#include "ops/latex/papers/definitions.h"

#include "ops/latex/papers/arguments.h"

#include "base/buf.h"

#include <ctype.h>
#include <stdlib.h>

/* The name that a definition defines. */
static bool read_name(struct piece *out, struct macro_table *t, struct cursor *c)
{
    if (!scan_argument(out, c))
        return false;
    *out = piece_trim(*out);
    if (piece_is(*out, "\\csname")) {
        const char *end = memmem(c->s + c->at, c->len - c->at, "\\endcsname", 10);
        if (!end || end - (c->s + c->at) > 200)
            return false;
        struct piece name = piece_trim((struct piece){c->s + c->at, (size_t)(end - c->s) - c->at});
        *out = piece_of(arena_printf(t->a, "\\%.*s", (int)name.len, name.s));
        c->at = (size_t)(end - c->s) + 10;
    }
    return out->len > 0;
}

static Eqloom__Macro macro_of(char *spec)
{
    Eqloom__Macro m = EQLOOM__MACRO__INIT;
    m.spec = spec;
    return m;
}

/* [n][initial] */
static char *read_arguments(unsigned *count, struct macro_table *t, struct cursor *c)
{
    struct piece n, initial;
    *count = 0;
    if (!scan_optional(&n, c))
        return arguments_plain(t->a, 0, NULL);
    n = piece_trim(n);
    if (n.len == 1 && isdigit((unsigned char)*n.s))
        *count = (unsigned)(*n.s - '0');
    bool optional = *count && scan_optional(&initial, c);
    return arguments_plain(t->a, *count, optional ? &initial : NULL);
}

/* xargs: [n][2=x, 1=y] */
static char *read_positions(struct macro_table *t, struct cursor *c)
{
    struct piece n, list, initial[ARGUMENTS_MAX];
    bool optional[ARGUMENTS_MAX] = {false};
    struct buf b = {0};
    unsigned count = scan_optional(&n, c) ? (unsigned)strtoul(n.s, NULL, 10) : 0;
    if (scan_optional(&list, c))
        for (struct cursor items = cursor_of(list); scan_item(&n, &items);) {
            unsigned k = n.len > 1 && n.s[1] == '=' ? (unsigned)(n.s[0] - '1') : ARGUMENTS_MAX;
            if (k < ARGUMENTS_MAX) {
                optional[k] = true;
                initial[k] = (struct piece){n.s + 2, n.len - 2};
            }
        }
    for (unsigned k = 0; k < count && k < ARGUMENTS_MAX; k++)
        if (optional[k])
            buf_printf(&b, "O{%.*s}", (int)initial[k].len, initial[k].s);
        else
            buf_putc(&b, 'm');
    return buf_text(&b, t->a);
}

/* Replaces a command in the text. */
static struct piece replaced(struct macro_table *t, struct piece body, const char *command,
                             const char *by)
{
    struct buf b = {0};
    struct cursor c = cursor_of(body);
    while (!cursor_end(&c)) {
        if (c.s[c.at] != '\\') {
            buf_putc(&b, c.s[c.at++]);
            continue;
        }
        struct piece word = scan_command(&c);
        if (piece_is(word, command))
            word = piece_of(by);
        buf_add(&b, word.s, word.len);
    }
    size_t len = b.len;
    return (struct piece){buf_text(&b, t->a), len};
}

enum form { FORM_NEW, FORM_XPARSE, FORM_XARGS, FORM_ENVIRON };

/* \newcommand*{\x}[n][initial]{body}, \newenvironment{x}[n][initial]{begin}{end}, xparse's commands
 * with {spec} in place of the brackets, and \NewEnviron{x}[n][initial]{body with \BODY}[end].
 * `provide`: keeps an existing definition. */
static void read_new(struct macro_table *t, struct cursor *c, enum form form, bool environment,
                     bool provide)
{
    struct piece name, spec, body, end = piece_of("");
    unsigned n;
    scan_char(c, '*');
    if (!read_name(&name, t, c) || (form == FORM_XPARSE && !scan_group(&spec, c)))
        return;
    char *arguments = form == FORM_XPARSE  ? arena_strndup(t->a, spec.s, spec.len)
                      : form == FORM_XARGS ? read_positions(t, c)
                                           : read_arguments(&n, t, c);
    if (form == FORM_ENVIRON)
        arguments = arena_printf(t->a, "%sb", arguments);
    bool complete = scan_argument(&body, c);
    if (complete && form == FORM_ENVIRON) {
        body = replaced(t, body, "\\BODY", arena_printf(t->a, "#%u", n + 1));
        scan_optional(&end, c);
    } else if (complete && environment) {
        complete = scan_argument(&end, c);
    }
    if ((*name.s == '\\') == environment || (provide && macro_find(t, name)))
        return;
    if (complete)
        macro_define(t, macro_of(arguments), name, body, end);
    else
        macro_undefine(t, name);
}

/* \def\x#1#2{body}, \def\x#1.#2;{body} */
static void read_def(struct macro_table *t, struct cursor *c, bool expands)
{
    struct piece name, body;
    scan_blanks(c);
    if (cursor_end(c) || c->s[c->at] != '\\' || !read_name(&name, t, c))
        return;
    size_t from = c->at;
    unsigned n = 0;
    bool plain = true;
    while (!cursor_end(c) && c->s[c->at] != '{' && c->s[c->at] != '}') {
        if (c->s[c->at] == '#' && c->at + 1 < c->len && c->s[c->at + 1] == '1' + (char)n)
            n++, c->at++;
        else if (c->s[c->at] != ' ' && c->s[c->at] != '\n')
            plain = false;
        c->at++;
    }
    struct piece parameters = {c->s + from, c->at - from};
    if (!scan_group(&body, c) || n > ARGUMENTS_MAX)
        return;
    Eqloom__Macro m = macro_of(arguments_plain(t->a, plain ? n : 0, NULL));
    if (!plain)
        m.delimiters = arena_strndup(t->a, parameters.s, parameters.len);
    macro_define(t, m, name, expands ? replaced(t, body, "\\noexpand", "") : body, piece_of(""));
}

/* Defines \name as what `value` means now. */
static void define_same(struct macro_table *t, struct piece name, struct piece value)
{
    const struct macro *same = macro_find(t, value);
    Eqloom__Macro m = EQLOOM__MACRO__INIT;
    if (same) {
        m = same->m;
        macro_define(t, m, name, piece_of(m.body), piece_of(m.end));
        return;
    }
    if (piece_in(value, "\\undefined \\@undefined")) {
        macro_undefine(t, name);
        return;
    }
    m.let = value.len > 1 && *value.s == '\\';
    macro_define(t, m, name, value, piece_of(""));
}

/* \let\x=\y */
static void read_let(struct macro_table *t, struct cursor *c)
{
    struct piece name, value;
    if (!read_name(&name, t, c) || *name.s != '\\')
        return;
    scan_char(c, '=');
    scan_blanks(c);
    if (!cursor_end(c) && strchr("{}", c->s[c->at])) {
        c->at++; /* a brace under a name */
        macro_undefine(t, name);
    } else if (read_name(&value, t, c)) {
        define_same(t, name, value);
    }
}

/* \newbool{x} and \setbool{x}{true} are \newif\ifx and \xtrue. */
static void read_boolean(struct macro_table *t, struct piece command, struct cursor *c)
{
    struct piece name, value = piece_of("false");
    if (!scan_group(&name, c))
        return;
    if (piece_in(command, "\\setbool \\setboolean \\settoggle") && !scan_group(&value, c))
        return;
    if (piece_in(command, "\\booltrue \\toggletrue"))
        value = piece_of("true");
    name = piece_of(arena_printf(t->a, "\\if%.*s", (int)name.len, name.s));
    define_same(t, name, piece_of(piece_is(value, "true") ? "\\iftrue" : "\\iffalse"));
}

/* \newif\ifx is \let\ifx\iffalse, and \xtrue and \xfalse are such definitions. */
static void read_newif(struct macro_table *t, struct cursor *c)
{
    struct piece name;
    if (!read_name(&name, t, c) || name.len < 4 || memcmp(name.s, "\\if", 3))
        return;
    define_same(t, name, piece_of("\\iffalse"));
    for (int truth = 0; truth < 2; truth++) {
        const char *word = truth ? "true" : "false";
        struct piece setter =
            piece_of(arena_printf(t->a, "\\%.*s%s", (int)name.len - 3, name.s + 3, word));
        struct piece body =
            piece_of(arena_printf(t->a, "\\let%.*s\\if%s ", (int)name.len, name.s, word));
        macro_define(t, (Eqloom__Macro)EQLOOM__MACRO__INIT, setter, body, piece_of(""));
        struct macro *m = macro_find(t, setter);
        if (m)
            m->sets = true;
    }
}

/* \DeclareMathOperator*{\x}{text} */
static void read_operator(struct macro_table *t, struct cursor *c)
{
    struct piece name, text;
    bool star = scan_char(c, '*');
    if (!read_name(&name, t, c) || !scan_argument(&text, c) || *name.s != '\\')
        return;
    const char *body =
        arena_printf(t->a, "\\operatorname%s{%.*s}", star ? "*" : "", (int)text.len, text.s);
    macro_define(t, (Eqloom__Macro)EQLOOM__MACRO__INIT, name, piece_of(body), piece_of(""));
}

/* Numbers the arguments from 3 on: 1 and 2 are the star and the size. */
static struct piece shifted(struct macro_table *t, struct piece body)
{
    struct buf b = {0};
    for (size_t i = 0; i < body.len; i++) {
        buf_putc(&b, body.s[i]);
        if (body.s[i] == '#' && i + 1 < body.len && body.s[i + 1] >= '1' && body.s[i + 1] <= '7')
            buf_putc(&b, (char)(body.s[++i] + 2));
    }
    size_t len = b.len;
    return (struct piece){buf_text(&b, t->a), len};
}

/* \DeclarePairedDelimiter{\x}{left}{right}; ...X{\x}[n]{left}{right}{body}; ...XPP{\x}[n]{before}
 * {left}{right}{behind}{body}: by \eqloompaired (ops/latex/katex/glue/commands.js). */
static void read_paired(struct macro_table *t, struct cursor *c, bool body_given, bool around)
{
    struct piece name, count, p[5] = {{0}}; /* before, left, right, behind, body */
    unsigned n = 1;
    if (!read_name(&name, t, c) || *name.s != '\\')
        return;
    if (body_given)
        n = scan_optional(&count, c) ? (unsigned)strtoul(count.s, NULL, 10) : 0;
    p[4] = piece_of("#1");
    bool complete = n <= 7 && (!around || scan_argument(&p[0], c));
    complete = complete && scan_argument(&p[1], c) && scan_argument(&p[2], c);
    complete = complete && (!around || scan_argument(&p[3], c));
    if (!complete || (body_given && !scan_argument(&p[4], c))) {
        macro_undefine(t, name);
        return;
    }
    struct buf b = {0};
    static const int order[] = {0, 1, 2, 4, 3};
    buf_puts(&b, "\\eqloompaired{#1}{#2}");
    for (size_t i = 0; i < 5; i++) {
        struct piece x = p[order[i]].s ? shifted(t, p[order[i]]) : piece_of("");
        buf_printf(&b, "{%.*s}", (int)x.len, x.s);
    }
    char *spec = arena_printf(t->a, "so%s", arguments_plain(t->a, n, NULL));
    macro_define(t, macro_of(spec), name, piece_of(buf_text(&b, t->a)), piece_of(""));
}

/* \mathchardef\x="2D: a character of the roman font. Those of other fonts have no name here. */
static void read_mathchar(struct macro_table *t, struct cursor *c)
{
    struct piece name;
    if (!read_name(&name, t, c))
        return;
    scan_char(c, '=');
    scan_blanks(c);
    bool hex = scan_char(c, '"');
    char *end;
    unsigned long code = strtoul(c->s + c->at, &end, hex ? 16 : 10);
    c->at = (size_t)(end - c->s) < c->len ? (size_t)(end - c->s) : c->len;
    char ch = (char)(code & 0xff);
    macro_undefine(t, name);
    if ((code & 0xf00) == 0 && isgraph((unsigned char)ch) && !strchr("\\{}#$%&_^~", ch))
        macro_define(t, (Eqloom__Macro)EQLOOM__MACRO__INIT, name, (struct piece){&ch, 1},
                     piece_of(""));
}

/* \DeclareSIUnit[options]{\x}{unit}, \@namedef{x}{body}, \csdef{x}{body} */
static void read_pair(struct macro_table *t, struct cursor *c, bool bare)
{
    struct piece name, body;
    scan_optional(&name, c);
    if (!read_name(&name, t, c) || !scan_argument(&body, c))
        return;
    if (bare)
        name = piece_of(arena_printf(t->a, "\\%.*s", (int)name.len, name.s));
    if (*name.s == '\\')
        macro_define(t, (Eqloom__Macro)EQLOOM__MACRO__INIT, name, body, piece_of(""));
}

/* ---- by command ---- */

enum definition {
    DEFINE_COMMAND,
    DEFINE_PROVIDE,
    DEFINE_XCOMMAND,
    DEFINE_XARGS,
    DEFINE_DEF,
    DEFINE_EDEF,
    DEFINE_LET,
    DEFINE_COPY,
    DEFINE_NEWIF,
    DEFINE_BOOLEAN,
    DEFINE_ENVIRONMENT,
    DEFINE_XENVIRONMENT,
    DEFINE_ENVIRON,
    DEFINE_OPERATOR,
    DEFINE_PAIRED,
    DEFINE_PAIRED_X,
    DEFINE_PAIRED_XPP,
    DEFINE_MATHCHAR,
    DEFINE_UNIT,
    DEFINE_NAMED,
    DEFINE_NONE
};

static const char *const commands[DEFINE_NONE] = {
    [DEFINE_COMMAND] = "\\newcommand \\renewcommand \\DeclareRobustCommand \\newrobustcmd "
                       "\\renewrobustcmd \\DeclareExpandableCommand",
    [DEFINE_PROVIDE] = "\\providecommand \\providerobustcmd",
    [DEFINE_XCOMMAND] = "\\NewDocumentCommand \\RenewDocumentCommand \\DeclareDocumentCommand "
                        "\\ProvideDocumentCommand \\NewExpandableDocumentCommand "
                        "\\RenewExpandableDocumentCommand \\DeclareExpandableDocumentCommand",
    [DEFINE_XARGS] = "\\newcommandx \\renewcommandx \\providecommandx \\DeclareRobustCommandx",
    [DEFINE_DEF] = "\\def \\gdef",
    [DEFINE_EDEF] = "\\edef \\xdef",
    [DEFINE_LET] = "\\let \\glet",
    [DEFINE_COPY] = "\\NewCommandCopy \\RenewCommandCopy \\DeclareCommandCopy",
    [DEFINE_NEWIF] = "\\newif",
    [DEFINE_BOOLEAN] =
        "\\newbool \\newboolean \\newtoggle \\providebool \\provideboolean \\setbool "
        "\\setboolean \\settoggle \\booltrue \\boolfalse \\toggletrue "
        "\\togglefalse",
    [DEFINE_ENVIRONMENT] = "\\newenvironment \\renewenvironment \\provideenvironment",
    [DEFINE_XENVIRONMENT] = "\\NewDocumentEnvironment \\RenewDocumentEnvironment "
                            "\\DeclareDocumentEnvironment \\ProvideDocumentEnvironment",
    [DEFINE_ENVIRON] = "\\NewEnviron \\RenewEnviron",
    [DEFINE_OPERATOR] = "\\DeclareMathOperator",
    [DEFINE_PAIRED] = "\\DeclarePairedDelimiter",
    [DEFINE_PAIRED_X] = "\\DeclarePairedDelimiterX",
    [DEFINE_PAIRED_XPP] = "\\DeclarePairedDelimiterXPP",
    [DEFINE_MATHCHAR] = "\\mathchardef \\chardef",
    [DEFINE_UNIT] = "\\DeclareSIUnit \\newunit",
    [DEFINE_NAMED] = "\\@namedef \\csdef \\csgdef",
};

static enum definition kind_of(struct piece command)
{
    enum definition k = 0;
    while (k < DEFINE_NONE && !piece_in(command, commands[k]))
        k++;
    return k;
}

bool definition_begins(struct piece command)
{
    return kind_of(command) < DEFINE_NONE;
}

bool definition_read(struct macro_table *t, struct piece command, struct cursor *c)
{
    struct piece name, value;
    switch (kind_of(command)) {
    case DEFINE_COMMAND: read_new(t, c, FORM_NEW, false, false); break;
    case DEFINE_PROVIDE: read_new(t, c, FORM_NEW, false, true); break;
    case DEFINE_XCOMMAND:
        read_new(t, c, FORM_XPARSE, false, piece_is(command, "\\ProvideDocumentCommand"));
        break;
    case DEFINE_XARGS: read_new(t, c, FORM_XARGS, false, false); break;
    case DEFINE_DEF: read_def(t, c, false); break;
    case DEFINE_EDEF: read_def(t, c, true); break;
    case DEFINE_LET: read_let(t, c); break;
    case DEFINE_COPY:
        if (read_name(&name, t, c) && read_name(&value, t, c))
            define_same(t, name, value);
        break;
    case DEFINE_NEWIF: read_newif(t, c); break;
    case DEFINE_BOOLEAN: read_boolean(t, command, c); break;
    case DEFINE_ENVIRONMENT: read_new(t, c, FORM_NEW, true, false); break;
    case DEFINE_XENVIRONMENT: read_new(t, c, FORM_XPARSE, true, false); break;
    case DEFINE_ENVIRON: read_new(t, c, FORM_ENVIRON, true, false); break;
    case DEFINE_OPERATOR: read_operator(t, c); break;
    case DEFINE_PAIRED: read_paired(t, c, false, false); break;
    case DEFINE_PAIRED_X: read_paired(t, c, true, false); break;
    case DEFINE_PAIRED_XPP: read_paired(t, c, true, true); break;
    case DEFINE_MATHCHAR: read_mathchar(t, c); break;
    case DEFINE_UNIT: read_pair(t, c, false); break;
    case DEFINE_NAMED: read_pair(t, c, true); break;
    case DEFINE_NONE: return false;
    }
    return true;
}
