/* Hostile texts and hostile archives: each is answered or refused with a reason, within a
 * second of processor time (without sanitizers) and 600 MiB in all. Prints its seed and the slowest
 * of each; EQLOOM_TEST_SEED sets it. */
#include "base/buf.h"
#include "base/io/unpack.h"
#include "base/os.h"
#include "base/rng.h"
#include "ops/latex/graphs/graph_features.h"
#include "ops/latex/katex/katex.h"
#include "ops/latex/papers/document.h"
#include "tests/unit.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/resource.h>

enum {
    TEXTS = CASES(450, 90),
    TRIED = CASES(240, 60),
    MEMORY_KB = 600 << 10,
    SECONDS = CASES(1, 60)
};

struct clock {
    double started, slowest;
    char of[60];
};

static double seconds(void)
{
    return 1e-9 * (double)os_thread_ns();
}

static void check_time(struct clock *c, const char *of, size_t n)
{
    double took = seconds() - c->started;
    if (took > c->slowest) {
        c->slowest = took;
        snprintf(c->of, sizeof c->of, "%.50s", of);
    }
    if (took > SECONDS)
        fail_msg("%.1f s for %zu bytes: %.200s", took, n, of);
}

static void report(const struct clock *c, const char *what)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    printf("%s: at most %.2f s (%s), %ld MiB\n", what, c->slowest, c->of, r.ru_maxrss >> 10);
    assert_true(SECONDS > 1 || r.ru_maxrss < MEMORY_KB);
}

/* ---- texts ---- */

static const char *const units[] = {
    "{",
    "x^{",
    "\\frac{",
    "\\left(",
    "\\begin{matrix}",
    "\\text{",
    "\\sqrt ",
    "\\xymatrix{",
    "\\def\\a#1{#1#1#1#1}\\a{\\a{\\a{\\a{",
    "$",
    "&",
    "\\\\",
    "~",
    "'",
    "}",
    "\\frac",
    "x^",
    "x_{",
    "\\sqrt[",
    "\\right)",
    "\\left(\\right.",
    "\\begin{array}{c}",
    "\\end{array}",
    "\\begin{",
    "\\text{$",
    "#",
    "\\def\\a{\\a\\a}\\a",
    "\\def\\a#1{\\a{#1#1}}\\a{x}",
    "\\let\\a\\b\\let\\b\\a\\a",
    "\\a",
    "\\b{",
    "\\newcommand\\a[9]{#1}\\a",
    "\\csname",
    "\\expandafter",
    "\\char\"110000 ",
    "\\kern",
    "\\over",
    "\\rule{9e9em}{9e9em}",
    "\\hspace{99999999em}",
    "\\xymatrix{\\ar",
    "\\ar[r]",
    "\\tag{",
    "\\gdef",
    "\\href{javascript:x}{y}",
    "\\verb|",
    "\u202e",
    "\U0001d54f",
    "\\'",
    "\\limits",
    "\\overbrace{",
    "\\genfrac(){1pt}",
    "\\mathchoice{x}",
    "\\raisebox{1em}{",
    "\\color{red}",
    "\\phantom{",
    "a&b\\\\",
};

/* A unit again and again, or any units in any order; with macros that grow. */
static char *make_text(struct arena *a, struct rng *rng, size_t i)
{
    static const size_t lengths[] = {1, 30, 400, 3000, 9900, 30000};
    enum { UNITS = sizeof units / sizeof *units };
    struct buf b = {0};
    do
        buf_puts(&b, units[i < 6 * UNITS ? i / 6 : rng_below(rng, UNITS)]);
    while (b.len < lengths[i % 6]);
    return buf_text(&b, a);
}

TEST(texts)
{
    static const char *const bodies[] = {"#1#1", "\\a{#1}\\a{#1}", "{#1}^{#1}",
                                         "\\b{\\frac{#1}{#1}}"};
    struct rng rng = rng_new(test_seed(1), 1);
    struct katex *k;
    struct clock clock = {0};
    size_t converted = 0;
    assert_int_equal(katex_new(&k, &katex_source.glue, NULL), OK);
    for (size_t i = 0; i < TEXTS; i++) {
        struct arena a = {0};
        struct katex_answer x;
        struct graph_nodes g;
        Eqloom__Macro one = EQLOOM__MACRO__INIT, two = EQLOOM__MACRO__INIT,
                      *macros[] = {&one, &two};
        Eqloom__Equation q = EQLOOM__EQUATION__INIT;
        one.name = (char *)"\\a", two.name = (char *)"\\b";
        one.body = (char *)bodies[i % 4], two.body = (char *)bodies[i / 4 % 4];
        one.spec = two.spec = (char *)"m";
        q.latex = make_text(&a, &rng, i);
        q.macros = macros;
        q.n_macros = i % 3 ? 2 : 0;
        clock.started = seconds();
        assert_int_equal(katex_mathml(&x, &a, k, &q, NULL), OK);
        assert_true(x.text || (*x.refused && !strchr(x.refused, '\n')));
        if (x.text)
            graph_nodes_of(&g, &a, x.text);
        check_time(&clock, q.latex, strlen(q.latex));
        converted += x.text != NULL;
        q.latex = (char *)"x"; /* is not refused after any of these */
        assert_int_equal(katex_mathml(&x, &a, k, &q, NULL), OK);
        assert_non_null(x.text);
        arena_free(&a);
    }
    assert_in_range(converted, TEXTS / 12, TEXTS * 7 / 12);
    katex_free(k);
    report(&clock, "texts");
}

/* ---- archives ---- */

static const char document[] =
    "\\documentclass{article}\\newcommand\\x{y}\\begin{document}\\section{A}\\[\\x\\]\\input{b}"
    "\\end{document}";

static void add_member(struct archive *w, const char *name, const char *text, size_t n)
{
    struct archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname(entry, name);
    archive_entry_set_size(entry, (la_int64_t)n);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_write_header(w, entry);
    archive_write_data(w, text, n);
    archive_entry_free(entry);
}

/* A good one: a tar, perhaps packed, of a document and a file of `n` bytes that it reads. */
static size_t make_archive(uint8_t *out, size_t room, int how, size_t n)
{
    struct archive *w = archive_write_new();
    size_t used = 0;
    char *filling = malloc(n);
    static const char part[] = "\\def\\y#1{\\y{#1}} $$ \\y x $$ \\input{a} ";
    for (size_t i = 0; i < n; i++)
        filling[i] = part[i % (sizeof part - 1)];
    how == 2 ? archive_write_set_format_zip(w) : archive_write_set_format_ustar(w);
    if (how == 1)
        archive_write_add_filter_gzip(w);
    archive_write_open_memory(w, out, room, &used);
    add_member(w, "a.tex", document, sizeof document - 1);
    add_member(w, "b.tex", filling, n);
    archive_write_close(w);
    archive_write_free(w);
    free(filling);
    return used;
}

static void take(void *arg, const char *name, struct span bytes, const char *reason)
{
    if (reason)
        assert_true(*reason && !strchr(reason, '\n'));
    else if (!unpack_is_archive(bytes))
        bundle_add(arg, name, bytes);
}

static size_t read_archive(struct span bytes)
{
    struct arena a = {0};
    struct bundle b = {.a = &a, .name = "f"};
    size_t sections = 0;
    unpack(take, &b, "f", bytes);
    bool *used = arena_array(&a, bool, b.n + 1), begins;
    for (size_t i = 0; i < b.n && i < 3; i++)
        sections += document_read(&a, &b, &b.files[i], 3, used, NULL, &begins)->n_sections;
    bundle_free(&b);
    arena_free(&a);
    return sections;
}

TEST(archives)
{
    enum { ROOM = 4 << 20 };
    static const size_t sizes[] = {40, 3000, 50000, 200000};
    struct rng rng = rng_new(test_seed(1), 2);
    struct clock clock = {0};
    uint8_t *bytes = malloc(ROOM);
    size_t sections = 0;
    for (size_t i = 0; i < TRIED; i++) {
        char what[60];
        size_t n = make_archive(bytes, ROOM, (int)(i % 3), sizes[i / 3 % 4]);
        unsigned changes = i < 12 ? 0 : (unsigned)rng_below(&rng, 30);
        for (unsigned k = 0; k < changes; k++) {
            size_t near = rng_below(&rng, 2) ? n : n < 2000 ? n : 2000;
            bytes[rng_below(&rng, near)] ^= (uint8_t)(1 << rng_below(&rng, 8));
        }
        if (i >= 12 && i % 4 == 0)
            n = rng_below(&rng, n);
        snprintf(what, sizeof what, "archive %zu of kind %zu, %u bits changed", i, i % 3, changes);
        clock.started = seconds();
        size_t found = read_archive(span_of(bytes, n));
        check_time(&clock, what, n);
        assert_true(i >= 12 || found > 0);
        sections += found;
    }
    assert_true(sections > TRIED / 8);
    free(bytes);
    report(&clock, "archives");
}

/* ---- documents ---- */

/* Ends that are looked for in vain, again and again; names of files in which macros double. */
TEST(documents)
{
    static const char *const texts[] = {"\\iffalse ",       "\\verb|",
                                        "\\verb|\n",        "\\( ",
                                        "\\input{\\a}",     "\\begin{thebibliography}",
                                        "\\bibliography{a}"};
    struct clock clock = {0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct arena a = {0};
        struct buf b = {0};
        struct bundle files = {.a = &a, .name = ""};
        bool used = false, begins;
        buf_puts(&b, "\\documentclass{a}");
        for (char c = 'a'; c < 'g'; c++) {
            buf_printf(&b, "\\def\\%c{", c);
            for (int k = 0; k < 1000; k++)
                buf_printf(&b, "\\%c", c + 1);
            buf_puts(&b, "}");
        }
        buf_puts(&b, "\\begin{document}");
        while (b.len < 1u << 20)
            buf_puts(&b, texts[i]);
        bundle_add(&files, "a", span_of(b.data, b.len));
        clock.started = seconds();
        assert_int_equal(
            document_read(&a, &files, files.files, 3, &used, NULL, &begins)->n_sections, 1);
        check_time(&clock, texts[i], b.len);
        bundle_free(&files);
        buf_free(&b);
        arena_free(&a);
    }
    report(&clock, "documents");
}
