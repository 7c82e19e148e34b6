#include "ops/latex/papers/conditionals.h"

#include "ops/latex/papers/arguments.h"

#include <ctype.h>
#include <stdlib.h>

enum truth { UNDECIDED = -1, NO, YES };

static const char primitives[] =
    "\\if \\ifcat \\ifx \\ifcase \\ifnum \\ifdim \\ifodd \\ifvmode \\ifhmode \\ifmmode \\ifinner "
    "\\ifvoid \\ifhbox \\ifvbox \\ifeof \\iftrue \\iffalse \\ifdefined \\ifcsname \\iffontchar";

/* Macros, not conditionals: they choose between arguments. */
static const char choosing[] =
    "\\ifthenelse \\ifdef \\ifundef \\ifcsdef \\ifcsundef \\ifdefempty \\ifcsempty \\ifdefvoid "
    "\\ifcsvoid \\ifdefstring \\ifcsstring \\ifdefequal \\ifdefmacro \\ifcsmacro \\ifdefcounter "
    "\\ifstrequal \\ifstrempty \\ifblank \\notblank \\ifnumcomp \\ifnumequal \\ifnumgreater "
    "\\ifnumless \\ifnumodd \\ifdimcomp \\ifboolexpr \\ifboolexpe \\ifbool \\iftoggle \\ifinlist "
    "\\ifinlistcs \\ifdefltxprotect \\ifpatchable \\ifpackageloaded \\iff \\iflanguage "
    "\\ifentrytype \\iffieldundef \\ifoptionfinal \\ifoptiondraft";

static bool is_conditional(const struct macro_table *t, struct piece name)
{
    if (name.len < 3 || memcmp(name.s, "\\if", 3) || piece_in(name, choosing))
        return false;
    const struct macro *m = macro_find(t, name);
    return !m || m->m.let;
}

/* ---- skipping ---- */

/* Finds the end of a branch: moves behind the \fi or, at its level, \else. Returns NULL if there is
 * none in this text. */
static const char *find_end(struct reader *r, struct cursor *c)
{
    struct cursor look = *c;
    size_t depth = 0;
    while (!cursor_end(&look) && r->wasted < WASTED_MAX) {
        if (look.s[look.at] != '\\') {
            look.at++;
            continue;
        }
        struct piece word = scan_command(&look);
        bool fi = piece_is(word, "\\fi");
        if (depth == 0 && (fi || piece_is(word, "\\else"))) {
            *c = look;
            return fi ? "\\fi" : "\\else";
        }
        depth -= fi;
        depth += is_conditional(&r->macros, word);
    }
    r->wasted += 64 * (look.at - c->at); /* names are looked up */
    return NULL;
}

static void open_branch(struct reader *r, enum branch taken)
{
    if (r->n_ifs < CONDITIONALS_MAX)
        r->taken[r->n_ifs++] = taken;
}

static void count_skipped(struct reader *r, const char *from, size_t len)
{
    reader_untaken(r, "in a branch that is not taken",
                   macro_count_displays(&r->macros, (struct piece){from, len}));
}

static void skip_branch(struct reader *r, struct cursor *c)
{
    size_t from = c->at;
    const char *end = find_end(r, c);
    if (!end) { /* read it: the end is in another text, or missing */
        bundle_problem(&r->problems, r->a, reader_here(r), 0, "conditional without end", "%.60s",
                       c->s + from);
        open_branch(r, BRANCH_BOTH);
        return;
    }
    count_skipped(r, c->s + from, c->at - from);
    if (end[1] == 'e')
        open_branch(r, BRANCH_ONLY);
}

/* ---- conditions ---- */

static bool next_token(struct piece *out, struct cursor *c)
{
    if (cursor_end(c))
        return false;
    if (c->s[c->at] == '\\') {
        *out = scan_command(c);
        if (isalpha((unsigned char)out->s[1]))
            scan_blanks(c);
        return true;
    }
    *out = (struct piece){c->s + c->at, 1};
    c->at++;
    return true;
}

/* \ifx: whether two tokens mean the same. */
static enum truth same_meaning(const struct macro_table *t, struct piece x, struct piece y)
{
    const struct macro *a = macro_find(t, x), *b = macro_find(t, y);
    bool named = *x.s == '\\' || *y.s == '\\';
    if (x.len == y.len && !memcmp(x.s, y.s, x.len))
        return YES;
    if (a && b)
        return !a->m.let == !b->m.let && !strcmp(a->m.body, b->m.body) &&
                       !strcmp(a->m.spec, b->m.spec) && !strcmp(a->m.delimiters, b->m.delimiters)
                   ? YES
                   : NO;
    const struct macro *one = a ? a : b;
    struct piece other = a ? y : x;
    if (one && piece_in(other, "\\empty \\@empty"))
        return !one->m.let && !one->m.body[0] && !one->m.spec[0] ? YES : NO;
    if (one && (*other.s != '\\' || piece_in(other, "\\undefined \\@undefined \\relax")))
        return one->m.let && piece_is(other, one->m.body) ? YES : NO;
    return named ? UNDECIDED : NO;
}

/* \if: whether two characters are the same; a macro without arguments stands for its text. */
static enum truth same_character(const struct macro_table *t, struct piece x, struct piece y)
{
    struct piece both[2] = {x, y};
    for (int i = 0; i < 2; i++) {
        const struct macro *m = macro_find(t, both[i]);
        if (m && !m->m.let && !m->m.spec[0] && !m->m.delimiters[0] && m->m.body[0] &&
            m->m.body[0] != '\\')
            both[i] = (struct piece){m->m.body, 1};
        if (*both[i].s == '\\')
            return UNDECIDED;
    }
    return *both[0].s == *both[1].s ? YES : NO;
}

static bool read_integer(long *out, struct cursor *c)
{
    char *end;
    scan_blanks(c);
    if (cursor_end(c) || (!isdigit((unsigned char)c->s[c->at]) && c->s[c->at] != '-'))
        return false;
    *out = strtol(c->s + c->at, &end, 10);
    bool read = end > c->s + c->at && end <= c->s + c->len;
    c->at = read ? (size_t)(end - c->s) : c->at;
    return read;
}

static enum truth compare(struct cursor *c)
{
    struct cursor look = *c;
    long x, y;
    if (!read_integer(&x, &look))
        return UNDECIDED;
    scan_blanks(&look);
    char sign = cursor_end(&look) ? 0 : look.s[look.at++];
    if (!sign || !strchr("<>=", sign) || !read_integer(&y, &look))
        return UNDECIDED;
    *c = look;
    return (sign == '<' ? x < y : sign == '>' ? x > y : x == y) ? YES : NO;
}

/* Reads the condition behind the name. */
static enum truth decide(struct reader *r, struct piece name, struct cursor *c)
{
    struct piece x, y;
    int truth = macro_truth(&r->macros, name);
    long n;
    if (truth >= 0)
        return truth ? YES : NO;
    scan_blanks(c);
    if (piece_in(name, "\\iftrue \\ifpdf \\ifPDFTeX \\ifpdftex"))
        return YES;
    if (piece_in(name, "\\iffalse \\ifxetex \\ifluatex \\ifXeTeX \\ifLuaTeX \\ifptex \\ifuptex"))
        return NO;
    if (piece_is(name, "\\ifmmode"))
        return r->environment ? YES : NO;
    if (piece_in(name, "\\ifx \\if"))
        return !next_token(&x, c) || !next_token(&y, c) ? UNDECIDED
               : name.len == 3                          ? same_character(&r->macros, x, y)
                                                        : same_meaning(&r->macros, x, y);
    if (piece_is(name, "\\ifnum"))
        return compare(c);
    if (piece_is(name, "\\ifodd"))
        return !read_integer(&n, c) ? UNDECIDED : n % 2 ? YES : NO;
    if (piece_is(name, "\\ifdefined"))
        return next_token(&x, c) && macro_find(&r->macros, x) ? YES : UNDECIDED;
    return UNDECIDED;
}

static void note_undecided(struct reader *r, struct piece name, const struct cursor *c)
{
    struct cursor look = *c;
    unsigned n = 0;
    const char *end;
    do {
        size_t from = look.at;
        end = find_end(r, &look);
        n += macro_count_displays(&r->macros, (struct piece){look.s + from, look.at - from});
    } while (end && end[1] == 'e');
    if (n && r->in_body)
        bundle_problem(&r->problems, r->a, reader_here(r), 0, "undecided condition",
                       "%.*s: both branches are read", (int)name.len, name.s);
}

/* ---- choices by argument ---- */

static enum truth negated(enum truth t)
{
    return t == UNDECIDED ? t : t == YES ? NO : YES;
}

/* \boolean{x}, \equal{a}{b}, \NOT, as in \ifthenelse. */
static enum truth condition(const struct reader *r, struct piece text)
{
    struct cursor c = cursor_of(piece_trim(text));
    struct piece word, x, y;
    if (cursor_end(&c) || c.s[c.at] != '\\')
        return UNDECIDED;
    word = scan_command(&c);
    enum truth truth = UNDECIDED;
    if (piece_in(word, "\\NOT \\not"))
        return negated(condition(r, (struct piece){c.s + c.at, c.len - c.at}));
    if (piece_is(word, "\\boolean") && scan_group(&x, &c))
        truth = macro_truth(&r->macros, piece_of(arena_printf(r->a, "\\if%.*s", (int)x.len, x.s)));
    if (piece_is(word, "\\equal") && scan_group(&x, &c) && scan_group(&y, &c) &&
        !memchr(x.s, '\\', x.len) && !memchr(y.s, '\\', y.len))
        truth = x.len == y.len && !memcmp(x.s, y.s, x.len) ? YES : NO;
    scan_blanks(&c);
    return cursor_end(&c) ? truth : UNDECIDED;
}

/* Reads the condition of a macro that chooses between two arguments. */
static bool read_choice(enum truth *out, struct reader *r, struct piece word, struct cursor *c)
{
    struct piece x;
    if (piece_in(word, "\\IfValueTF \\IfNoValueTF \\IfBooleanTF \\IfValueT \\IfValueF \\IfNoValueT "
                       "\\IfNoValueF \\IfBooleanT \\IfBooleanF")) {
        if (!scan_argument(&x, c))
            return false;
        x = piece_trim(x);
        *out = piece_is(x, word.s[3] == 'B' ? ARGUMENT_TRUE : ARGUMENT_ABSENT) ? YES : NO;
        if (word.s[3] == 'V')
            *out = negated(*out);
        return true;
    }
    if (!piece_in(word, "\\ifthenelse \\ifbool \\iftoggle \\ifstrempty \\ifblank"))
        return false;
    if (!scan_group(&x, c))
        return false;
    *out = piece_is(word, "\\ifthenelse") ? condition(r, x)
           : piece_in(word, "\\ifbool \\iftoggle")
               ? (enum truth)macro_truth(&r->macros,
                                         piece_of(arena_printf(r->a, "\\if%.*s", (int)x.len, x.s)))
           : piece_trim(x).len == 0 ? YES
                                    : NO;
    return true;
}

static bool choose(struct reader *r, struct piece word, struct cursor *c)
{
    struct cursor look = *c;
    struct piece yes = {"", 0}, no = {"", 0};
    enum truth truth;
    char last = word.s[word.len - 1];
    if (!read_choice(&truth, r, word, &look))
        return false;
    bool by_letter = word.s[1] == 'I';
    if ((!by_letter || last != 'F' || word.s[word.len - 2] == 'T') && !scan_argument(&yes, &look))
        return false;
    if ((!by_letter || last != 'T') && !scan_argument(&no, &look))
        return false;
    if (truth == UNDECIDED)
        return false;
    struct piece dropped = truth == YES ? no : yes;
    *c = look;
    if (!by_letter) /* xparse's choose between forms of one display */
        count_skipped(r, dropped.s, dropped.len);
    reader_push_text(r, truth == YES ? yes : no, truth == YES ? yes.s : no.s);
    return true;
}

bool conditional_read(struct reader *r, struct piece word, struct cursor *c)
{
    if (word.len < 3 || !strchr("iIefu", word.s[1]))
        return false;
    bool fi = piece_is(word, "\\fi");
    if (fi || piece_is(word, "\\else")) {
        enum branch taken = r->n_ifs ? r->taken[r->n_ifs - 1] : BRANCH_BOTH;
        if (r->n_ifs && (fi || taken == BRANCH_ONLY))
            r->n_ifs--;
        if (taken == BRANCH_LEFT)
            return !r->environment;
        if (!fi && taken == BRANCH_ONLY) {
            size_t from = c->at;
            const char *end = find_end(r, c);
            if (end)
                count_skipped(r, c->s + from, c->at - from);
        }
        return true;
    }
    if (choose(r, word, c))
        return true;
    struct cursor look = *c;
    bool unless = piece_is(word, "\\unless");
    if (unless) {
        scan_blanks(&look);
        if (cursor_end(&look) || look.s[look.at] != '\\')
            return false;
        word = scan_command(&look);
    }
    if (!is_conditional(&r->macros, word) && !piece_in(word, primitives))
        return false;
    enum truth truth = decide(r, word, &look);
    if (truth == UNDECIDED && r->environment) {
        open_branch(r, BRANCH_LEFT);
        return false;
    }
    *c = look;
    truth = unless ? negated(truth) : truth;
    if (truth == NO) {
        skip_branch(r, c);
        return true;
    }
    if (truth == UNDECIDED)
        note_undecided(r, word, c);
    open_branch(r, truth == YES ? BRANCH_ONLY : BRANCH_BOTH);
    return true;
}
