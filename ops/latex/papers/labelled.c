#include "ops/latex/papers/document.h"

#include "ops/latex/mathml/math_elements.h"
#include "ops/latex/papers/reader.h"
#include "ops/latex/read/latex.h"

#include <jansson.h>

enum { LINE_MAX_LEN = 1 << 20, EQUATION_MAX = 1 << 18 };

struct reading {
    struct arena *a;
    Eqloom__Paper *paper;
    Eqloom__Section *section;
    size_t equations_cap, listings_cap;
    struct problems problems;
};

static struct reading begin(struct arena *a, const char *name)
{
    struct reading r = {
        .a = a, .paper = arena_new(a, Eqloom__Paper), .section = arena_new(a, Eqloom__Section)};
    eqloom__paper__init(r.paper);
    eqloom__section__init(r.section);
    r.paper->paper = (char *)name;
    r.paper->sections = arena_memdup(a, &r.section, sizeof r.section);
    return r;
}

static Eqloom__Equation *add(struct reading *r)
{
    return equation_add(r->section, r->a, &r->equations_cap);
}

static Eqloom__Paper *finish(struct reading *r)
{
    Eqloom__Paper *p = r->paper;
    p->n_sections = r->section->n_equations || !p->n_listings; /* none if there is only metadata */
    p->problems = r->problems.items;
    p->n_problems = r->problems.n;
    return p;
}

static char *string_of(struct arena *a, const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s && strlen(s) <= EQUATION_MAX ? arena_strdup(a, s) : NULL;
}

/* Returns the LaTeX without blanks and delimiters around it: $...$, \(...\), $$...$$, \[...\]. */
static char *bare_latex(struct arena *a, const json_t *object)
{
    char *latex = string_of(a, object, "latex");
    if (!latex)
        return NULL;
    struct piece bare = piece_trim(piece_of(latex));
    size_t at = 0;
    latex_bare(bare.s, &at, &bare.len);
    return arena_strndup(a, bare.s + at, bare.len);
}

/* Returns the <math> element without what is around it, such as KaTeX's <span>; the text as it is
 * if there is not exactly one, which the op mathml will refuse. */
static char *bare_mathml(struct arena *a, const json_t *object)
{
    char *text = string_of(a, object, "mathml");
    struct span x, more;
    if (!text)
        return NULL;
    struct math_elements m = math_elements_of(text, strlen(text));
    bool one = math_elements_next(&x, &m) && !math_elements_next(&more, &m);
    return one ? arena_strndup(a, (const char *)x.data, x.len) : text;
}

/* A label may be a number. */
static char *label_of(struct arena *a, const json_t *object)
{
    const json_t *label = json_object_get(object, "label");
    return json_is_integer(label) ? arena_printf(a, "%lld", (long long)json_integer_value(label))
                                  : string_of(a, object, "label");
}

static void add_keywords(struct arena *a, Eqloom__Place *place, const json_t *list)
{
    size_t n = json_array_size(list);
    place->keywords = arena_array(a, char *, n + 1);
    for (size_t i = 0; i < n; i++) {
        const char *s = json_string_value(json_array_get(list, i));
        if (s && *s)
            place->keywords[place->n_keywords++] = arena_strdup(a, s);
    }
}

/* Adds a line of arXiv's metadata; returns false if the object is not one. */
static bool add_listing(struct reading *r, const json_t *object)
{
    char *id = string_of(r->a, object, "id");
    char *categories = string_of(r->a, object, "categories");
    if (!id || !categories)
        return false;
    Eqloom__Listing *x = arena_new(r->a, Eqloom__Listing);
    eqloom__listing__init(x);
    x->paper = id;
    x->categories = categories;
    Eqloom__Paper *p = r->paper;
    p->listings =
        arena_grow(r->a, p->listings, p->n_listings, &r->listings_cap, sizeof *p->listings);
    p->listings[p->n_listings++] = x;
    return true;
}

static void read_line(struct reading *r, const char *s, size_t n, unsigned line)
{
    json_error_t e;
    json_t *object = n <= LINE_MAX_LEN ? json_loadb(s, n, JSON_REJECT_DUPLICATES, &e) : NULL;
    char *latex = bare_latex(r->a, object), *mathml = bare_mathml(r->a, object);
    if (!latex && !mathml) {
        if (!add_listing(r, object))
            bundle_problem(
                &r->problems, r->a, r->paper->paper, line, "not an equation",
                "a line is {\"latex\": ...} or {\"mathml\": ...}, perhaps with \"label\" "
                "or \"keywords\", or {\"id\": ..., \"categories\": ...}");
    } else {
        Eqloom__Equation *q = add(r);
        char *label = label_of(r->a, object), *paper = string_of(r->a, object, "paper");
        q->latex = latex ? latex : q->latex;
        q->mathml = mathml ? mathml : q->mathml;
        q->place->label = label ? label : q->place->label;
        q->place->paper = paper ? paper : q->place->paper;
        add_keywords(r->a, q->place, json_object_get(object, "keywords"));
    }
    json_decref(object);
}

Eqloom__Paper *labelled_read(struct arena *a, const char *name, const char *text, size_t len)
{
    struct reading r = begin(a, name);
    unsigned line = 1;
    for (size_t at = 0; at < len; line++) {
        const char *end = memchr(text + at, '\n', len - at);
        size_t n = end ? (size_t)(end - text) - at : len - at, blanks = 0;
        while (blanks < n && strchr(" \t", text[at + blanks]))
            blanks++;
        if (blanks < n)
            read_line(&r, text + at, n, line);
        at += n + 1;
    }
    return finish(&r);
}

Eqloom__Paper *mathml_read(struct arena *a, const char *name, const char *text, size_t len)
{
    struct reading r = begin(a, name);
    struct math_elements m = math_elements_of(text, len);
    Eqloom__Untaken *u = arena_new(a, Eqloom__Untaken);
    struct span x;
    while (math_elements_next(&x, &m)) {
        if (x.len <= EQUATION_MAX)
            add(&r)->mathml = arena_strndup(a, (const char *)x.data, x.len);
        else
            bundle_problem(&r.problems, a, name, 0, "display too large", "%zu bytes", x.len);
    }
    if (!r.section->n_equations)
        bundle_problem(&r.problems, a, name, 0, "no equation", "%zu bytes without <math>", len);
    eqloom__untaken__init(u);
    u->reason = (char *)"in a comment or a script";
    u->count = m.hidden;
    r.paper->n_untaken = m.hidden > 0;
    r.paper->untaken = arena_memdup(a, &u, sizeof u);
    return finish(&r);
}
