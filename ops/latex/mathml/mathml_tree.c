/* See mathml_tree.h. Documents with a DTD are refused, so no custom entities are expanded. */
#include "ops/latex/mathml/mathml_tree.h"

#include "base/buf.h"
#include "ops/latex/mathml/entities.h"
#include "ops/latex/source/tex_scan.h"

#include <ctype.h>
#include <expat.h>
#include <stdlib.h>
#include <string.h>

struct parsing {
    struct arena *a;
    XML_Parser parser;
    struct mathml_tree tree;
    size_t cap;
    uint32_t stack[MATHML_MAX_DEPTH + 1];
    unsigned depth, skipped; /* nesting depth; the same within an annotation */
    struct buf text;
    const char *why;
};

static void stop(struct parsing *p, const char *why)
{
    p->why = why;
    XML_StopParser(p->parser, XML_FALSE);
}

static const char *local_name(const char *name)
{
    const char *colon = strrchr(name, ':');
    return colon ? colon + 1 : name;
}

static bool is_semantics(const char *name)
{
    return !strcmp(name, "semantics");
}

static int by_pair(const void *x, const void *y)
{
    return strcmp(((const char *const *)x)[0], ((const char *const *)y)[0]);
}

/* Escapes what a parser would change: it normalizes white space in attributes to blanks. */
static void escape(struct buf *b, const char *s, bool attribute)
{
    for (; *s; s++)
        switch (*s) {
        case '\n':
        case '\t':
            if (!attribute) {
                buf_putc(b, *s);
                break;
            }
            /* fall through */
        case '\r': buf_printf(b, "&#%d;", *s); break;
        case '<': buf_puts(b, "&lt;"); break;
        case '>': buf_puts(b, "&gt;"); break;
        case '&': buf_puts(b, "&amp;"); break;
        case '"': buf_puts(b, "&quot;"); break;
        default: buf_putc(b, *s);
        }
}

/* Names, addresses and styles do not affect the formula. */
static bool is_ignored(const char *name)
{
    static const char *const names[] = {"xmlns",   "id",   "class",  "style",
                                        "alttext", "href", "display"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]) || !strncmp(name, "xml", 3))
            return true;
    return strchr(name, ':') != NULL;
}

static const char *attributes_text(struct parsing *p, const char **pairs)
{
    struct buf b = {0};
    size_t n = 0;
    while (pairs[2 * n])
        n++;
    qsort(pairs, n, 2 * sizeof *pairs, by_pair);
    for (size_t i = 0; i < n; i++) {
        if (is_ignored(pairs[2 * i]))
            continue;
        buf_printf(&b, "%s%s=\"", b.len ? " " : "", pairs[2 * i]);
        escape(&b, pairs[2 * i + 1], true);
        buf_putc(&b, '"');
    }
    const char *text = b.len ? arena_strndup(p->a, b.data, b.len) : "";
    buf_free(&b);
    return text;
}

static void on_start(void *arg, const char *full, const char **pairs)
{
    struct parsing *p = arg;
    const char *name = local_name(full);
    if (p->why)
        return;
    if (p->skipped || !strcmp(name, "annotation") || !strcmp(name, "annotation-xml")) {
        p->skipped++;
        return;
    }
    if (p->tree.n == MATHML_MAX_NODES || p->depth == MATHML_MAX_DEPTH) {
        stop(p, "too large");
        return;
    }
    if (!isalpha((unsigned char)*name) || (p->depth == 0 && strcmp(name, "math"))) {
        stop(p, "not MathML");
        return;
    }
    buf_clear(&p->text);
    uint32_t parent = p->depth ? p->stack[p->depth - 1] : 0, me = p->tree.n;
    if (is_semantics(name)) { /* its children become those of its parent */
        p->stack[p->depth++] = parent;
        return;
    }
    p->tree.nodes = vec_grow(p->tree.nodes, &p->cap, me + 1, sizeof *p->tree.nodes);
    struct mathml_node *x = &p->tree.nodes[p->tree.n++];
    *x = (struct mathml_node){parent, 0, 0, arena_strdup(p->a, name), "", ""};
    if (me)
        x->position = p->tree.nodes[parent].children++;
    x->attributes = attributes_text(p, pairs);
    p->stack[p->depth++] = me;
}

static void on_end(void *arg, const char *full)
{
    struct parsing *p = arg;
    if (p->why)
        return;
    if (p->skipped) {
        p->skipped--;
        return;
    }
    struct mathml_node *x = &p->tree.nodes[p->stack[--p->depth]];
    if (x->children == 0 && !is_semantics(local_name(full))) {
        struct piece text = piece_trim((struct piece){p->text.data, p->text.len});
        x->text = text.len ? arena_strndup(p->a, text.s, text.len) : "";
    }
    buf_clear(&p->text);
}

static void on_text(void *arg, const char *s, int n)
{
    struct parsing *p = arg;
    if (!p->why && !p->skipped)
        buf_add(&p->text, s, (size_t)n);
}

static void on_doctype(void *arg, const char *name, const char *system, const char *public, int own)
{
    (void)name, (void)system, (void)public, (void)own;
    stop(arg, "has a DTD");
}

const char *mathml_tree_parse(struct mathml_tree *out, struct arena *a, const char *text,
                              size_t len)
{
    struct parsing p = {.a = a, .parser = XML_ParserCreate("UTF-8")};
    if (!p.parser)
        return "too large";
    XML_SetUserData(p.parser, &p);
    XML_SetElementHandler(p.parser, on_start, on_end);
    XML_SetCharacterDataHandler(p.parser, on_text);
    XML_SetStartDoctypeDeclHandler(p.parser, on_doctype);
    struct buf b = {0};
    entities_replace(&b, text, len);
    if (XML_Parse(p.parser, b.data ? b.data : "", (int)b.len, XML_TRUE) != XML_STATUS_OK && !p.why)
        p.why = arena_strdup(a, XML_ErrorString(XML_GetErrorCode(p.parser)));
    buf_free(&b);
    XML_ParserFree(p.parser);
    buf_free(&p.text);
    if (!p.why) {
        *out = p.tree;
        out->nodes = arena_memdup(a, p.tree.nodes, p.tree.n * sizeof *out->nodes);
    }
    free(p.tree.nodes);
    return p.why;
}

const char *mathml_tree_write(struct arena *a, const struct mathml_tree *t)
{
    struct buf b = {0};
    uint32_t open[MATHML_MAX_DEPTH + 2], depth = 0;
    for (uint32_t i = 0; i <= t->n; i++) {
        while (depth && (i == t->n || open[depth - 1] != t->nodes[i].parent))
            buf_printf(&b, "</%s>", t->nodes[open[--depth]].tag);
        if (i == t->n)
            break;
        const struct mathml_node *x = &t->nodes[i];
        buf_printf(&b, "<%s%s%s>", x->tag, *x->attributes ? " " : "", x->attributes);
        escape(&b, x->text, false);
        open[depth++] = i;
    }
    const char *text = arena_strndup(a, b.data ? b.data : "", b.len);
    buf_free(&b);
    return text;
}
