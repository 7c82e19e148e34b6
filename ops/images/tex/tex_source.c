/* See tex_source.h. Definitions are local to the equation's group. The display is unnumbered: the
 * starred form of its environment. */
#include "ops/images/tex/tex_source.h"

#include "base/text/utf8.h"
#include "base/text/words.h"
#include "ops/latex/source/decode.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- definitions ---- */

/* Whether all arguments are plain ones, so that \def can take them. */
static bool is_plain(const Eqloom__Macro *m)
{
    return m->spec[strspn(m->spec, "m")] == 0;
}

static void put_macro(struct buf *b, const Eqloom__Macro *m)
{
    if (m->name[0] != '\\') {
        buf_printf(b, "\\DeclareDocumentEnvironment{%s}{%s}{%s}{%s}%%\n", m->name, m->spec, m->body,
                   m->end);
    } else if (m->let) {
        buf_printf(b, "\\let%s=%s%%\n", m->name, m->body);
    } else if (!is_plain(m)) {
        buf_printf(b, "\\DeclareDocumentCommand%s{%s}{%s}%%\n", m->name, m->spec, m->body);
    } else {
        buf_printf(b, "\\def%s%s", m->name, m->delimiters);
        for (size_t i = 1; i <= strlen(m->spec); i++)
            buf_printf(b, "#%zu", i);
        buf_printf(b, "{%s}%%\n", m->body);
    }
}

/* ---- the display ---- */

static const char *environment_of(struct arena *a, const char *given)
{
    static const char starred[] = "align gather multline flalign alignat xalignat eqnarray";
    size_t n = strlen(given);
    n -= n && given[n - 1] == '*';
    if (word_in(starred, given, n))
        return arena_printf(a, "%.*s*", (int)n, given);
    return word_in("mathpar", given, n)        ? "gather*"
           : word_in("IEEEeqnarray", given, n) ? "IEEEeqnarray"
                                               : "equation*";
}

void tex_source_write(struct buf *out, struct arena *a, const Eqloom__Equation *q)
{
    const char *environment = environment_of(a, q->environment);
    buf_puts(out, "\\makeatletter\n");
    /* first what TeX's own commands are saved as, before they are redefined */
    for (size_t i = 0; i < q->n_macros; i++)
        if (q->macros[i]->let)
            put_macro(out, q->macros[i]);
    for (size_t i = 0; i < q->n_macros; i++)
        if (!q->macros[i]->let)
            put_macro(out, q->macros[i]);
    buf_printf(out, "\\makeatother\n\\begin{%s}\n%s\n\\end{%s}\n", environment, q->latex,
               environment);
}

/* ---- global effects ---- */

static bool word_is_global(const char *word, size_t n)
{
    static const char words[] =
        "global globaldefs gdef xdef setcounter addtocounter stepcounter refstepcounter newcounter "
        "newlength newsavebox newcount newdimen newskip newmuskip newbox newtoks newread newwrite "
        "newtheorem csname special write openout openin input include read shipout output message "
        "errmessage typeout end stop bye dump batchmode nonstopmode scrollmode errorstopmode "
        "usepackage RequirePackage documentclass hyphenation patterns font fontdimen hyphenchar "
        "skewchar aftergroup AtBeginDocument AtEndDocument numberwithin newfont DeclareMathSymbol "
        "DeclareSymbolFont DeclareMathAlphabet SetSymbolFont DeclareRobustCommand vadjust insert "
        "mark interactionmode";
    return (n >= 3 && !strncmp(word, "pdf", 3)) || word_in(words, word, n);
}

static bool text_is_global(const char *text)
{
    for (const char *at = strchr(text, '\\'); at; at = strchr(at, '\\')) {
        const char *word = ++at;
        while (isalpha((unsigned char)*at))
            at++;
        if (at == word && *at)
            at++; /* \\ does not begin a name */
        /* \end{...} closes an environment; only TeX's \end is global */
        if (at - word == 3 && !strncmp(word, "end", 3) && *at == '{')
            continue;
        if (word_is_global(word, (size_t)(at - word)))
            return true;
    }
    return false;
}

bool tex_source_is_global(const Eqloom__Equation *q)
{
    bool found = text_is_global(q->latex);
    for (size_t i = 0; i < q->n_macros && !found; i++)
        found = text_is_global(q->macros[i]->body) || text_is_global(q->macros[i]->end) ||
                text_is_global(q->macros[i]->spec);
    return found;
}

/* ---- the preamble. Environments and commands that texlive-latex-base lacks, and that draw nothing
 * of their own, are mapped to those that it has ---- */

const char tex_preamble[] =
    "\\documentclass{article}\n"
    "\\usepackage{amsmath,amssymb,bm}\n"
    "\\makeatletter\n"
    /* references */
    "\\let\\label\\@gobble\\let\\label@in@display\\@gobble\n"
    "\\def\\ref#1{1}\\def\\eqref#1{(1)}\\def\\pageref#1{1}\\def\\cite#1{[1]}\\let\\citep\\cite\n"
    "\\let\\citet\\cite\\def\\footnote#1{}\\let\\footnotemark\\relax\\def\\index#1{}\n"
    "\\newcommand\\hyperref[2][]{#2}\\def\\href#1#2{#2}\\def\\url#1{#1}\n"
    /* colours and boxes */
    "\\newcommand\\color[2][]{}\\newcommand\\textcolor[3][]{#3}\n"
    "\\newcommand\\colorbox[3][]{#3}\\def\\cancel#1{#1}\\def\\bcancel#1{#1}\\def\\xcancel#1{#1}\n"
    /* common commands of mathtools, physics, siunitx, amsthm */
    "\\def\\coloneqq{\\mathrel{:=}}\\def\\eqqcolon{\\mathrel{=:}}\\let\\coloneq\\coloneqq\n"
    "\\let\\vcentcolon:\\def\\mathclap#1{\\hbox to 0pt{\\hss$#1$\\hss}}\n"
    "\\let\\mathllap\\llap\\let\\mathrlap\\rlap\\newcommand\\shortintertext[1]{\\intertext{#1}}\n"
    "\\newenvironment{dcases}{\\begin{cases}}{\\end{cases}}\n"
    "\\newenvironment{rcases}{\\left.\\begin{array}{l}}{\\end{array}\\right\\}}\n"
    "\\newcommand\\qedhere{}\\newcommand\\qty[1]{#1}\n"
    "\\def\\mathscr{\\mathcal}\\def\\mathbbm{\\mathbb}\\def\\mathds{\\mathbb}\n"
    "\\def\\bra#1{\\langle#1|}\\def\\ket#1{|#1\\rangle}\\def\\braket#1{\\langle#1\\rangle}\n"
    "\\def\\slashed#1{\\not{#1}}\\def\\nicefrac#1#2{#1/#2}\n"
    "\\newenvironment{IEEEeqnarray}[2][]{\\begin{equation*}\\begin{array}{*{20}{c}}}\n"
    "{\\end{array}\\end{equation*}}\\let\\IEEEnonumber\\relax\\let\\IEEEyesnumber\\relax\n"
    "\\let\\IEEEeqnarraynumspace\\relax\\let\\IEEEeqnarraymulticol\\multicolumn\n"
    /* \DeclarePairedDelimiter: star, size, before, left, right, between, behind */
    "\\def\\delimsize{}\\newcommand\\eqloompaired[7]{#3\\begingroup\\IfBooleanTF{#1}%\n"
    "{\\def\\delimsize{\\middle}\\left#4#6\\right#5}{\\IfNoValueTF{#2}{#4#6#5}%\n"
    "{\\def\\delimsize{#2}\\mathopen{#2#4}#6\\mathclose{#2#5}}}\\endgroup#7}\n"
    /* draws one file as one page and checks that it leaves nothing open */
    "\\newbox\\eqloom@box\\newcount\\eqloom@level\n"
    "\\def\\eqloom@stop{\\errmessage{A group or environment is not closed}\\batchmode\n"
    "\\read-1 to\\eqloom@}\n"
    "\\def\\eqloomset#1{\\immediate\\write-1{[[eqloom #1]]}\\begingroup\\pdfsetrandomseed1\n"
    "\\eqloom@level=\\currentgrouplevel\\setcounter{equation}{0}\n"
    "\\setbox\\eqloom@box\\vbox\\bgroup\\hsize2000pt\\linewidth\\hsize\\columnwidth\\hsize\n"
    "\\parindent0pt\\hbadness10000\\vbadness10000\\hfuzz\\maxdimen\\vfuzz\\maxdimen\n"
    "\\@@input #1 \\par\n"
    "\\ifnum\\currentgrouplevel=\\numexpr\\eqloom@level+1\\relax\\else\\eqloom@stop\\fi\\egroup\n"
    "\\global\\count0=#1 \\shipout\\box\\eqloom@box\\endgroup\n"
    "\\immediate\\write-1{[[eqloom #1 done]]}}\n"
    "\\nofiles\\makeatother\\dump\n";

/* ---- the log. The preamble writes "[[eqloom 12]]" before and "[[eqloom 12 done]]" after file 12.
 * An error begins with "! ", and a following line "l.NUMBER ..." states its place ---- */

enum { ERROR_MAX = 300 };

/* Returns valid UTF-8 with blanks collapsed. */
static const char *clean(struct arena *a, const char *text)
{
    size_t n = 0;
    char *out = arena_strdup(a, text);
    for (; *text; text++) {
        char c = strchr(" \t\r", *text) ? ' ' : *text;
        if (c != ' ' || (n && out[n - 1] != ' '))
            out[n++] = c;
    }
    out = decode_utf8(a, out, n);
    out[utf8_prefix((const uint8_t *)out, n < ERROR_MAX ? n : ERROR_MAX)] = 0;
    return out;
}

void tex_log_read(struct tex_outcome *out, size_t n, struct arena *a, struct span log)
{
    const char *at = (const char *)log.data, *end = at + log.len, *next;
    const char *error = NULL; /* whose place has not been read yet */
    struct tex_outcome *now = NULL;
    for (; at < end; at = next) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        next = newline ? newline + 1 : end;
        const char *line = arena_strndup(a, at, (size_t)((newline ? newline : end) - at));
        unsigned long name = 0;
        int used = 0;
        if (sscanf(line, "[[eqloom %lu]]%n", &name, &used) == 1 && used && name - 1 < n) {
            now = &out[name - 1];
            error = NULL;
        } else if (sscanf(line, "[[eqloom %lu done]]%n", &name, &used) == 1 && used) {
            if (name - 1 < n && now == &out[name - 1])
                now->done = true;
            now = NULL;
        } else if (now && !now->error && !strncmp(line, "! ", 2)) {
            now->error = error = clean(a, line);
        } else if (now && error && !strncmp(line, "l.", 2) && line[2] >= '0' && line[2] <= '9') {
            now->error = clean(a, arena_printf(a, "%s %s", error, line));
            error = NULL;
        }
    }
}

const char *tex_log_reason(const char *error)
{
    static const char *const known[][2] = {
        {"Undefined control sequence", "unknown command"},
        {"LaTeX Error: Environment", "unknown environment"},
        {"LaTeX Error: Unicode character", "unknown character"},
        {"A group or environment is not closed", "not closed"},
        {"TeX capacity exceeded", "beyond TeX's capacity"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(error, known[i][0]))
            return known[i][1];
    return "error of TeX";
}
