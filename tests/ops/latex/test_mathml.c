/* KaTeX with a paper's macros, MathML as a tree, and the nodes of graphs. */
#include "ops/latex/graphs/graph_features.h"
#include "ops/latex/katex/katex.h"
#include "tests/unit.h"

static struct katex *katex;

static const struct {
    const char *environment, *latex;
    Eqloom__Macro macro;
    const char *part; /* of the MathML, or "!reason" */
} cases[] = {
#define MACRO(...)                                                                                 \
    {                                                                                              \
        PROTOBUF_C_MESSAGE_INIT(&eqloom__macro__descriptor), __VA_ARGS__                           \
    }
#define NO MACRO("\\unused", "", "", "", "", false)
    {"", "x^2", NO, "<msup><mi>x</mi><mn>2</mn></msup>"},
    {"align", "a&=b\\label{q}\\tag{1}\\\\c&=d\\nonumber", NO, "<mtr>"},
    {"eqnarray*", "a&=&b", NO, "columnalign=\"right center left\""},
    {"multline", "a\\\\b", NO, "<mtable"},
    {"", "\\xymatrix{A\\ar[r]^f\\ar@{->}[d]&B\\\\C}", NO, "<mover>"},
    {"", "\\R", MACRO("\\R", "", "\\mathbb{R}", "", "", false), "double-struck"},
    {"", "\\f{y}", MACRO("\\f", "O{x}m", "#1+#2", "", "", false), "<mi>x</mi><mo>+</mo><mi>y</mi>"},
    {"", "\\f[z]{y}", MACRO("\\f", "O{x}m", "#1+#2", "", "", false),
     "<mi>z</mi><mo>+</mo><mi>y</mi>"},
    {"", "\\f a.b", MACRO("\\f", "", "(#1)", "", "#1.", false), "<mi>a</mi>"},
    {"", "\\begin{m}a\\end{m}", MACRO("m", "", "\\begin{matrix}", "\\end{matrix}", "", false),
     "<mtd>"},
    {"", "\\left(x\\right)", MACRO("\\left", "", "\\nothing", "", "", false), "<mo"},
    {"", "\\nothing", NO, "!unknown command"},
    {"", "\\begin{nothing}\\end{nothing}", NO, "!unknown environment"},
    {"", "\\a", MACRO("\\a", "", "\\a\\a", "", "", false), "!too many expansions"},
    {"", "x^", NO, "!LaTeX error"},
    {"", "\\href{javascript:alert(1)}{x}<script>", NO, "&lt;"},
};

TEST_IN_ARENA(katex)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct katex_answer x, again;
        Eqloom__Macro m = cases[i].macro, *macros[] = {&m};
        Eqloom__Equation q = EQLOOM__EQUATION__INIT;
        q.latex = (char *)cases[i].latex;
        q.environment = (char *)cases[i].environment;
        q.macros = macros;
        q.n_macros = 1;
        assert_int_equal(katex_mathml(&x, a, katex, &q, NULL), OK);
        assert_int_equal(katex_mathml(&again, a, katex, &q, NULL), OK);
        bool refused = *cases[i].part == '!';
        if (refused != !x.text ||
            (refused ? strcmp(x.refused, cases[i].part + 1) : !strstr(x.text, cases[i].part)))
            fail_msg("%s: %s", cases[i].latex, x.text ? x.text : x.refused);
        assert_true(refused || !strcmp(x.text, again.text));
    }
}

/* The tree as "tag(attributes)'text'" by depth, or why there is none. */
static char *shown(struct arena *a, const char *mathml)
{
    struct mathml_tree t;
    const char *why = mathml_tree_parse(&t, a, mathml, strlen(mathml));
    return arena_strdup(a, why ? why : mathml_tree_write(a, &t));
}

TEST_IN_ARENA(tree)
{
    static const char *const pairs[][2] = {
        {"<math><mi>x</mi></math>", "<math><mi>x</mi></math>"},
        {"<m:math xmlns:m='u'><m:mi id='1' b='2' a='1'> x </m:mi></m:math>",
         "<math><mi a=\"1\" b=\"2\">x</mi></math>"},
        {"<math><semantics><mrow><mi>x</mi><mn>1</mn></mrow><annotation>x<b/></annotation>"
         "</semantics></math>",
         "<math><mrow><mi>x</mi><mn>1</mn></mrow></math>"},
        {"<math><mo>&lt;&amp;</mo><!-- c --></math>", "<math><mo>&lt;&amp;</mo></math>"},
        {"<!DOCTYPE m [<!ENTITY a 'aaaa'>]><math>&a;</math>", "has a DTD"},
        {"<div/>", "not MathML"},
        {"<math><mi></math>", "mismatched tag"},
        {"", "no element found"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        assert_string_equal(shown(a, pairs[i][0]), pairs[i][1]);
    }
}

TEST_IN_ARENA(nodes)
{
    struct graph_nodes g;
    assert_null(graph_nodes_of(&g, a, "<math><mfrac><mn>12</mn><mi v='b'>β</mi></mfrac></math>"));
    static const struct graph_node expected[] = {{0, 0, "mfrac", "", ""},
                                                 {1, 0, "mn", "", ""},
                                                 {2, 0, "mn", "", "1"},
                                                 {2, 1, "mn", "", "2"},
                                                 {1, 1, "mi", "v=\"b\"", "β"}};
    assert_int_equal(g.n, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(g.nodes[i].parent, expected[i].parent);
        assert_int_equal(g.nodes[i].position, expected[i].position);
        assert_string_equal(g.nodes[i].tag, expected[i].tag);
        assert_string_equal(g.nodes[i].attributes, expected[i].attributes);
        assert_string_equal(g.nodes[i].character, expected[i].character);
    }
}

static int begin(void **state)
{
    return katex_new(&katex, &katex_source.glue, NULL);
}

static int end(void **state)
{
    katex_free(katex);
    return 0;
}

TESTS_AROUND(begin, end)
