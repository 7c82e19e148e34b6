/* Reports of several kinds become a table for each kind, in the report's record and on its page. */
#include "ops/eval/report/figures.h"
#include "ops/eval/report/page.h"
#include "tests/ops/eval/given.h"

/* Two models before the same questions, one before derivations and clusters. */
struct given {
    Eqloom__Report *list[4];
    struct results *results;
    size_t n;
};

static struct given given_to(struct arena *a)
{
    struct given g;
    give(a, g.list[0] = report(a, "good <one>"), "mistake_f1", 0.5);
    give(a, g.list[0], "threshold", 0.7654);
    for (int i = 1; i < 3; i++) {
        give(a, g.list[i] = report(a, i == 1 ? "good <one>" : "other"), "accuracy", 0.75 / i);
        give(a, g.list[i], "like_query", 0.125 * i);
        give(a, g.list[i], "random", 1 / 7.0);
        give(a, g.list[i], "questions", 1220);
    }
    give(a, g.list[3] = report(a, "good <one>"), "kmeans_accuracy", 0.9);
    assert_int_equal(results_sort(&g.results, &g.n, a, g.list, 4, NULL), OK);
    return g;
}

TEST_IN_ARENA(a_table_for_each_kind)
{
    struct given g = given_to(a);
    assert_int_equal(g.n, 3);
    assert_string_equal(g.results[0].kind->name, "");
    assert_string_equal(g.results[1].kind->name, "understanding");
    assert_string_equal(g.results[2].kind->name, "mistakes");
    const Eqloom__Table *t = results_table(a, &g.results[1], "Questions");
    const char *expected[3][5] = {{"", "right", "near the query", "by guessing", "questions"},
                                  {"good <one>", "75.0", "12.5", "14.3", "1220"},
                                  {"other", "37.5", "25.0", "14.3", "1220"}};
    assert_int_equal(t->n_columns, 5);
    assert_int_equal(t->n_rows, 2);
    for (int c = 0; c < 5; c++) {
        assert_string_equal(t->columns[c], expected[0][c]);
        for (int i = 0; i < 2; i++)
            assert_string_equal(t->rows[i]->cells[c], expected[1 + i][c]);
    }
}

/* Models have the same name in all kinds; values have not. */
TEST_IN_ARENA(names_of_values)
{
    static const char *const names[] = {
        "good <one>.kmeans_accuracy",          "understanding.good <one>.accuracy",
        "understanding.good <one>.like_query", "understanding.good <one>.random",
        "understanding.good <one>.questions",  "understanding.other.accuracy",
        "understanding.other.like_query",      "understanding.other.random",
        "understanding.other.questions",       "mistakes.good <one>.mistake_f1",
        "mistakes.good <one>.threshold"};
    enum { N = sizeof names / sizeof *names };
    struct given g = given_to(a);
    size_t n = 0;
    Eqloom__Value **values = arena_array(a, Eqloom__Value *, 4 * FIGURES_MOST);
    for (size_t i = 0; i < g.n; i++)
        results_values(values, &n, a, &g.results[i]);
    assert_int_equal(n, N);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(values[i]->name, names[i]);
    assert_true(values[N - 1]->value == 0.7654);
}

static Eqloom__Report *with_answers(struct arena *a, const char *title, const char *y2,
                                    const char *answer, const char *rank)
{
    static char *columns[] = {"x1", "y1", "x2", "y2", "answer", "right at"};
    Eqloom__Report *r = report(a, title);
    give(a, r, "analogies", 1);
    r->n_tables = 2;
    r->tables = arena_array(a, Eqloom__Table *, 2);
    r->tables[1] = table_of(a, "Analogies", columns, 6, 1);
    char *cells[] = {"x", "ln(x)", "sin(x)", (char *)y2, (char *)answer, (char *)rank};
    memcpy(table_row(a, r->tables[1]), cells, sizeof cells);
    return r;
}

/* Answers of models that were asked the same stand in one table. */
TEST_IN_ARENA(side_by_side)
{
    struct results *r;
    size_t n;
    Eqloom__Report *list[] = {with_answers(a, "one", "ln(sin(x))", "ln(sin(x))", "1"),
                              with_answers(a, "alone", "sin(ln(x))", "x", ""),
                              with_answers(a, "other", "ln(sin(x))", "sin(ln(x))", "2")};
    assert_int_equal(results_sort(&r, &n, a, list, 3, NULL), OK);
    Eqloom__Table **tables = results_together(&n, a, r);
    assert_int_equal(n, 1);
    static const char *const expected[][6] = {
        {"x1", "y1", "x2", "y2", "one", "other"},
        {"x", "ln(x)", "sin(x)", "ln(sin(x))", "ln(sin(x))", "[sin(ln(x))]"}};
    assert_int_equal(tables[0]->n_columns, 6);
    assert_int_equal(tables[0]->n_rows, 1);
    for (int c = 0; c < 6; c++) {
        assert_string_equal(tables[0]->columns[c], expected[0][c]);
        assert_string_equal(tables[0]->rows[0]->cells[c], expected[1][c]);
    }
}

/* Of scores the greatest is the best, of losses the least. */
TEST_IN_ARENA(best_of_scores_and_losses)
{
    Eqloom__Report *list[2];
    struct results *r;
    struct buf page = {0};
    size_t n;
    for (int i = 0; i < 2; i++) {
        list[i] = report(a, i ? "second" : "first");
        give(a, list[i], "kmeans_accuracy", i ? 0.75 : 0.5);
        give(a, list[i], "ranking_error", i ? 0.25 : 0.125);
    }
    assert_int_equal(results_sort(&r, &n, a, list, 2, NULL), OK);
    assert_int_equal(n, 1);
    assert_int_equal(r[0].n, 2);
    page_write_results(&page, a, &r[0], "");
    assert_int_equal(count_of(page.data, "<td class=\"best\">"), 2);
    assert_non_null(strstr(page.data, "75.0</td>"));
    assert_non_null(strstr(page.data, "12.5</td>"));
    buf_free(&page);
}

TEST_IN_ARENA(what_is_no_evaluation_is_refused)
{
    struct err e = {0};
    struct results *results;
    size_t n;
    Eqloom__Report *page = report(a, "a page");
    give(a, page, "corpus.clusters", 3);
    assert_int_equal(results_sort(&results, &n, a, &page, 1, &e), ERR_INPUT);
    assert_non_null(strstr(e.message, "a page"));
    assert_int_equal(results_sort(&results, &n, a, &page, 0, &e), OK);
    assert_int_equal(n, 0);
}

/* Examples are the second table of an evaluation; the first ones are shown, whatever they hold. */
TEST_IN_ARENA(page)
{
    static char *columns[] = {"query", "answer"};
    struct given g = given_to(a);
    Eqloom__Table *tables[] = {NULL, table_of(a, "Questions", columns, 2, 30)};
    struct buf out = {0};
    for (int i = 0; i < 30; i++) {
        char **cells = table_row(a, tables[1]);
        cells[0] = "a < b";
        cells[1] = "1";
    }
    g.list[2]->tables = tables;
    g.list[2]->n_tables = 2;
    page_write_results(&out, a, &g.results[1], "nothing");
    assert_int_equal(count_of(out.data, "<section><h2>Semantic understanding</h2>"), 1);
    assert_int_equal(count_of(out.data, "<td class=\"best\">"), 1);
    assert_non_null(strstr(out.data, "75.0</td>"));
    assert_non_null(strstr(out.data, "bold. 14.3% by guessing. 1&#x202F;220 questions.</p>"));
    assert_int_equal(count_of(out.data, "<details>"), 1);
    assert_non_null(strstr(out.data, "<summary>Questions: other</summary>"));
    assert_int_equal(count_of(out.data, "<td>a &lt; b</td>"), 30);
    assert_int_equal(count_of(out.data, "<one>"), 0);
    buf_clear(&out);
    page_write_results(&out, a, &g.results[0], "new <x>");
    assert_non_null(strstr(out.data, "<h2>Results on new &lt;x&gt;</h2>"));
    assert_null(strstr(out.data, "bold")); /* of one row */
    Eqloom__Report *without[2];
    struct results *r;
    size_t n;
    for (int i = 0; i < 2; i++)
        give(a, without[i] = report(a, i ? "one" : "other"), "core_closer", 3);
    assert_int_equal(results_sort(&r, &n, a, without, 2, NULL), OK);
    assert_int_equal(n, 1);
    buf_clear(&out);
    page_write_results(&out, a, r, "");
    assert_non_null(strstr(out.data, "<tbody>"));
    assert_null(strstr(out.data, "bold")); /* without a figure that has a best one */
    buf_free(&out);
}
