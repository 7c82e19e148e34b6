/* The page: well-formed whatever the names in it, MathML that follows the tree, charts that show
 * their data; t-SNE that keeps clouds apart. EQLOOM_TEST_PAGE=FILE writes the page, to be looked
 * at. */
#include "base/io/out_file.h"
#include "base/text/chart.h"
#include "base/text/html.h"
#include "ops/eval/report/corpus_stats.h"
#include "ops/eval/report/page.h"
#include "ops/eval/report/plane.h"
#include "ops/expr/expr.h"
#include "tests/ops/corpus/cluster_of.h"
#include "tests/ops/eval/given.h"
#include "tests/ops/terms.h"

#include <ctype.h>

/* Elements nest, attributes are quoted, & begins an entity: the page is XML but for its first line.
 */
static void assert_well_formed(const char *text)
{
    char open[64][24];
    int depth = 0;
    text += strncmp(text, "<!DOCTYPE html>", 15) == 0 ? 15 : 0;
    while (*text) {
        if (*text == '&') {
            size_t len = strspn(text + 1, "#0123456789abcdefghijklmnopqrstuvwxyzABCDEFX");
            assert_true(len > 0 && text[1 + len] == ';');
        }
        if (*text++ != '<')
            continue;
        bool closing = *text == '/';
        text += closing;
        size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz123456789");
        assert_in_range(len, 1, 23);
        char name[24] = {0};
        memcpy(name, text, len);
        for (text += len; isspace((unsigned char)*text);) {
            text += strspn(text, " \n");
            if (*text == '/' || *text == '>')
                break;
            text += strcspn(text, "=<>\"");
            assert_int_equal(*text++, '=');
            assert_int_equal(*text++, '"');
            text += strcspn(text, "\"<");
            assert_int_equal(*text++, '"');
        }
        bool empty = *text == '/';
        text += empty;
        assert_int_equal(*text++, '>');
        if (!closing && !strcmp(name, "script"))
            assert_non_null(text = strstr(text, "</script>"));
        if (closing) {
            assert_true(depth > 0);
            assert_string_equal(open[--depth], name);
        } else if (!empty) {
            assert_true(depth < 64);
            strcpy(open[depth++], name);
        }
    }
    assert_int_equal(depth, 0);
}

static char *math(struct arena *a, const struct language *lang, const char *prefix)
{
    struct expr x = prefix_term(a, lang, prefix);
    struct buf out = {0};
    expr_write_mathml(&out, &x);
    assert_well_formed(out.data);
    char *text = arena_strdup(a, out.data);
    buf_free(&out);
    return text;
}

/* Text between tags only, for short expectations; in place. */
static char *without_tags(char *text)
{
    char *to = text;
    for (const char *at = text; *at; at++)
        if (*at == '<')
            at = strchr(at, '>');
        else
            *to++ = *at;
    *to = '\0';
    return text;
}

/* The text of each first is the second. */
static void check_math(const struct language *lang, const char *const cases[][2], size_t n)
{
    struct arena a = {0};
    for (size_t i = 0; i < n; i++)
        assert_string_equal(without_tags(math(&a, lang, cases[i][0])), cases[i][1]);
    arena_free(&a);
}

TEST_IN_ARENA(mathml_follows_the_tree)
{
    static const char *const cases[][2] = {
        {"+ x + y 1", "x+(y+1)"},
        {"+ + x y 1", "x+y+1"},
        {"* + x 1 x", "(x+1)&#x2062;x"},
        {"* x * y z", "x&#x2062;(y&#x2062;z)"},
        {"* x 2", "x&#x22C5;2"},
        {"* -1 x", "&#x2212;x"},
        {"* 2 x", "2&#x2062;x"},
        {"* x -2", "x&#x2062;(&#x2212;2)"},
        {"pow sin x 2", "sin2&#x2061;(x)"},
        {"asinh acot pi", "arsinh&#x2061;(arccot&#x2061;(&#x3C0;))"},
        {"d x abs sqrt x", "ddx(|x|)"},
    };
    check_math(&lang_calculus, cases, sizeof cases / sizeof *cases);
    assert_string_equal(math(a, &lang_calculus, "/ 1/2 x"),
                        "<math displaystyle=\"true\"><mrow><mfrac><mrow><mfrac><mrow><mn>1</mn>"
                        "</mrow><mrow><mn>2</mn></mrow></mfrac></mrow><mrow><mi>x</mi></mrow>"
                        "</mfrac></mrow></math>");
}

/* Parentheses around every other connective; implies binds to the right. */
TEST(mathml_of_boolean_terms)
{
    static const char *const cases[][2] = {
        {"or and a b not c", "(a&#x2227;b)&#x2228;&#xAC;&#x2061;(c)"},
        {"and a or b true", "a&#x2227;(b&#x2228;&#x22A4;)"},
        {"and and a b c", "a&#x2227;b&#x2227;c"},
        {"and a and b c", "a&#x2227;(b&#x2227;c)"},
        {"implies a implies b c", "a&#x21D2;b&#x21D2;c"},
        {"implies implies a b false", "(a&#x21D2;b)&#x21D2;&#x22A5;"},
        {"not xor a not b", "&#xAC;&#x2061;(a&#x2295;&#xAC;&#x2061;(b))"},
    };
    check_math(&lang_boolean, cases, sizeof cases / sizeof *cases);
}

TEST(text_is_escaped)
{
    struct buf out = {0};
    html_text(&out, "<a href=\"x\">&</a>");
    assert_string_equal(out.data, "&lt;a href=&quot;x&quot;&gt;&amp;&lt;/a&gt;");
    buf_free(&out);
}

enum { CLUSTERS = 24, EACH = 20, DIM = 24, STEPS = 120 };
static const char *const seeds[CLUSTERS] = {
    "sin * 2 x", "cos x",       "pow + x 1 2", "ln * 3 x",  "tanh x",     "sqrt + x 4",
    "/ 1 + x 1", "pow e * 2 x", "sec x",       "d x sin x", "asin / x 9", "- pow x 2 5",
    "csc * 3 x", "cosh x",      "abs - x 3",   "acot x",    "ln + x 7",   "pow x 5",
    "* 4 + x 2", "sinh * 2 x",  "coth x",      "atan x",    "d x tan x",  "acsch x"};

static struct vectors given_vectors(struct arena *a)
{
    struct vectors v = clouds(a, CLUSTERS, EACH, false, DIM, 0.25);
    vectors_normalize(&v);
    for (uint32_t i = 0; i < v.n; i++) {
        const char *seed = seeds[i / EACH];
        v.text[i] = i % EACH ? arena_printf(a, "- + %s %d %d", seed, i % EACH, i % EACH) : seed;
    }
    return v;
}

/* To be freed. */
static struct corpus_stats given_corpus(struct arena *a)
{
    struct corpus_stats stats = {0};
    for (uint64_t c = 0; c < CLUSTERS; c++) {
        const char *const terms[] = {seeds[c], arena_printf(a, "sqrt pow %s 2", seeds[c]),
                                     arena_printf(a, "/ 1 pow %s -1", seeds[c])};
        Eqloom__Cluster *cluster = cluster_of(a, "", terms, 3);
        cluster->terms = "123456789012345";
        for (uint32_t i = 0; i < 3; i++) {
            cluster->members[i]->tokens = 3 + i + (uint32_t)(c % 9);
            cluster->members[i]->standing = EQLOOM__STANDING__AGREES;
        }
        corpus_stats_add(&stats, a, cluster, c, CLUSTERS);
    }
    return stats;
}

static Eqloom__Checkpoint *given_training(struct arena *a)
{
    static const char *const names[] = {"loss", "accuracy", "learning_rate", "gradient_norm"};
    Eqloom__Checkpoint *c = arena_new(a, Eqloom__Checkpoint);
    eqloom__checkpoint__init(c);
    c->step = STEPS * 10;
    c->architecture = "d_model=128\nlayers=2 <&>";
    c->numerics = "cpu-f32";
    c->metrics = arena_array(a, Eqloom__Metric *, STEPS * 4);
    for (int i = 0; i < STEPS; i++)
        for (int k = 0; k < 4; k++) {
            Eqloom__Metric *m = c->metrics[c->n_metrics++] = arena_new(a, Eqloom__Metric);
            eqloom__metric__init(m);
            m->step = (uint64_t)i * 10;
            m->name = (char *)names[k];
            m->value = k == 0   ? 5 * exp(-i / 30.0) + 0.1 * sin(i)
                       : k == 1 ? 1 - exp(-i / 25.0)
                       : k == 2 ? 1e-3 * (STEPS - i) / STEPS
                                : 1.5 + 0.4 * cos(i * 1.7);
        }
    return c;
}

static struct results *given_results(size_t *n, struct arena *a)
{
    static const struct {
        const char *name;
        double of[2];
    } figures[GIVEN_VALUES] = {{"kmeans_accuracy", {.953, .412}},
                               {"kmeans_accuracy_greedy", {.951, .402}},
                               {"precision@1", {.992, .731}},
                               {"precision@5", {.981, .604}},
                               {"precision@10", {.961, .511}},
                               {"precision@20", {.944, .455}},
                               {"mrr", {.995, .81}},
                               {"clusters", {24, 24}},
                               {"sequences", {480, 480}},
                               {"dimensions", {128, 59}}};
    Eqloom__Report *list[] = {report(a, "trained encoder"), report(a, "tf-idf <b> & \"co\"")};
    struct results *results;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < GIVEN_VALUES; k++)
            give(a, list[i], figures[k].name, figures[k].of[i]);
    assert_int_equal(results_sort(&results, n, a, list, 2, NULL), OK);
    return results;
}

TEST_IN_ARENA(page_is_well_formed_and_complete)
{
    struct vectors v = given_vectors(a);
    struct corpus_stats stats = given_corpus(a);
    struct page_input in = {.title = "Equivalent <expressions>",
                            .part = "held-out clusters of <x>",
                            .checkpoint = given_training(a),
                            .corpus = &stats,
                            .vectors = &v};
    struct buf page = {0}, again = {0};
    struct pool *pool = pool_new(2);
    struct err e;
    in.results = given_results(&in.n_results, a);
    page_write(&page, a, &in, NULL);
    assert_well_formed(page.data);
    assert_int_equal(count_of(page.data, "<use "), CLUSTERS * EACH);
    assert_int_equal(count_of(page.data, "<polyline "), 4);
    /* Beyond ten clusters shapes differ too, and each point has its formula and what is near. */
    assert_int_equal(count_of(page.data, "href=\"#s0\""), 10 * EACH);
    assert_int_equal(count_of(page.data, "href=\"#s2\""), (CLUSTERS - 20) * EACH);
    assert_int_equal(count_of(page.data, "data-near=\""), CLUSTERS * EACH);
    assert_null(strstr(page.data, "data-near=\"\""));
    const char *formulas = strstr(page.data, "<template>");
    assert_int_equal(count_of(formulas, "<math") -
                         count_of(strstr(page.data, "</template>"), "<math"),
                     CLUSTERS * EACH);
    assert_int_equal(count_of(page.data, "<article>"), STATS_EXAMPLES);
    assert_int_equal(count_of(page.data, " members, drawn from "), STATS_EXAMPLES);
    assert_int_equal(count_of(page.data, "<tbody>"), 1);
    assert_non_null(strstr(page.data, "95.3"));
    assert_non_null(strstr(page.data, "Results on held-out clusters of &lt;x&gt;</h2>"));
    /* What all rows share stands below the table, once. */
    assert_int_equal(count_of(page.data, "480 expressions."), 1);
    assert_null(strstr(page.data, "<th>clusters"));
    assert_non_null(strstr(page.data, "<th>dimensions"));
    /* cos, sin, ... and e^(2x), which is exp. */
    assert_non_null(strstr(page.data, "<b>23 of 34</b>"));
    assert_non_null(strstr(page.data, "tf-idf &lt;b&gt; &amp; &quot;co&quot;"));
    assert_null(strstr(page.data, "://"));
    assert_null(strstr(page.data, "nan"));
    page_write(&again, a, &in, pool);
    assert_string_equal(page.data, again.data);
    if (getenv("EQLOOM_TEST_PAGE"))
        assert_int_equal(out_file_write(getenv("EQLOOM_TEST_PAGE"), page.data, page.len, &e), OK);
    pool_free(pool);
    buf_free(&page);
    buf_free(&again);
    corpus_stats_free(&stats);
}

/* What is told of a corpus is told in its language. */
TEST_IN_ARENA(corpus_of_another_language)
{
    static const char *const terms[] = {"and a b", "not not and a b", "or a or b true"};
    struct corpus_stats stats = {0};
    struct buf page = {0};
    corpus_stats_add(&stats, a, cluster_of(a, "boolean", terms, 3), 0, 1);
    assert_int_equal(stats.shapes.n, 3);
    assert_int_equal(stats.reducible, 2);
    struct page_input in = {.title = "terms", .part = "", .corpus = &stats};
    page_write(&page, a, &in, NULL);
    assert_well_formed(page.data);
    assert_non_null(strstr(page.data, "<b>3 of 5</b>"));
    assert_non_null(strstr(page.data, "compared exactly"));
    assert_non_null(strstr(page.data, "<mo>&#x2227;</mo>"));
    assert_null(strstr(page.data, "<code>and"));
    assert_non_null(strstr(page.data, " members</p>")); /* of how many terms is not known */
    corpus_stats_free(&stats);
    buf_free(&page);
}

static bool reducible(struct arena *a, const char *prefix)
{
    struct expr x = prefix_term(a, &lang_calculus, prefix);
    return corpus_term_is_reducible(&x);
}

TEST_IN_ARENA(trivial_rewrites)
{
    static const char *const yes[] = {
        "sin + x 0",   "* 1 x",        "pow x 1",       "- x 0",          "- 0 - 0 x",
        "* -1 * x -1", "/ 1 / 1 x",    "abs abs x",     "asin sin x",     "pow e ln x",
        "ln pow e x",  "sqrt pow x 2", "pow sqrt x 2",  "+ 3 cos acos x", "* x 0",
        "/ x 1",       "pow 1 x",      "- y * -1 sin x"};
    static const char *const no[] = {"x",       "+ x 1",     "* -1 x",     "- 0 x",
                                     "/ 1 x",   "sin cos x", "pow x -1",   "asin cos x",
                                     "pow e x", "pow x 2",   "ln pow x 2", "sqrt pow x 3",
                                     "d x x",   "pow 0 x",   "* 2 * -1 x", "/ 1 + 1 x"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (!reducible(a, yes[i]))
            fail_msg("%s is trivial", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (reducible(a, no[i]))
            fail_msg("%s is not trivial", no[i]);
}

TEST_IN_ARENA(page_without_inputs)
{
    struct corpus_stats none = {0};
    struct page_input in = {.title = "empty", .part = "nothing", .corpus = &none};
    struct buf page = {0};
    page_write(&page, a, &in, NULL);
    assert_well_formed(page.data);
    assert_null(strstr(page.data, "<section>"));
    buf_free(&page);
}

/* The nearest neighbour in the plane is of the same cloud. */
TEST_IN_ARENA(tsne_keeps_clouds_apart)
{
    struct vectors v = given_vectors(a);
    struct tsne_options options = {.perplexity = 15, .iterations = 400, .seed = 2};
    uint32_t good = 0;
    struct plane plane = tsne_plane(a, &v, &options, NULL);
    for (uint32_t i = 0; i < v.n; i++) {
        uint32_t nearest = i;
        float best = INFINITY;
        for (uint32_t j = 0; j < v.n; j++) {
            float dx = plane.x[i] - plane.x[j], dy = plane.y[i] - plane.y[j];
            if (j != i && dx * dx + dy * dy < best) {
                best = dx * dx + dy * dy;
                nearest = j;
            }
        }
        good += v.cluster[nearest] == v.cluster[i];
    }
    assert_true(good > v.n * 98 / 100);
}

/* A constant learning rate, as means of windows of different lengths. */
TEST(line_of_rounding_errors)
{
    const double x[] = {1, 2}, y[] = {0.001, nextafter(0.001, 1)};
    struct buf out = {0};
    chart_lines(&out, "flat", &(struct chart_curve){.x = x, .y = y, .n = 2}, 1);
    assert_in_range(out.len, 1, 4096);
    buf_free(&out);
}
