/* Corpora in the formats of others: what is written is read back as the same, what others write is
 * understood, what is malformed is refused with its place. */
#include "ops/corpus/format/corpus_format.h"
#include "tests/unit.h"

/* Text that no 0 ends, as a piece of a file. */
static enum err_code read_piece(struct corpus *c, struct arena *a, enum corpus_format format,
                                const char *text, size_t n, struct err *e)
{
    char *piece = malloc(n + !n);
    assert_non_null(piece);
    memcpy(piece, text, n);
    struct source_text source = {"corpus", piece, n};
    *c = (struct corpus){.a = a, .lang = &lang_calculus};
    enum err_code code = corpus_read(c, format, &source, e);
    corpus_finish(c);
    free(piece);
    return code;
}

static enum err_code read_text(struct corpus *c, struct arena *a, enum corpus_format format,
                               const char *text, struct err *e)
{
    return read_piece(c, a, format, text, strlen(text), e);
}

static struct corpus must_read_piece(struct arena *a, enum corpus_format format, const char *text,
                                     size_t n)
{
    struct corpus c;
    struct err e = {0};
    if (read_piece(&c, a, format, text, n, &e))
        fail_msg("%d:%d: %s", e.line, e.column, e.message);
    return c;
}

static struct corpus must_read(struct arena *a, enum corpus_format format, const char *text)
{
    return must_read_piece(a, format, text, strlen(text));
}

static char *written(struct arena *a, enum corpus_format format, const struct corpus *c,
                     uint32_t per_cluster)
{
    struct buf out = {0};
    struct corpus_write_options options = {per_cluster, 5};
    assert_int_equal(corpus_write(&out, format, c->clusters, c->n, &options, NULL), OK);
    char *text = arena_strndup(a, out.data ? out.data : "", out.len);
    buf_free(&out);
    return text;
}

/* Clusters as "seed = member = member; ..." */
static char *summary(struct arena *a, const struct corpus *c)
{
    struct buf out = {0};
    for (size_t i = 0; i < c->n; i++) {
        assert_string_equal(c->clusters[i]->seed->prefix, c->clusters[i]->members[0]->prefix);
        for (size_t k = 0; k < c->clusters[i]->n_members; k++)
            buf_printf(&out, "%s%s", k ? " = " : i ? "; " : "", c->clusters[i]->members[k]->prefix);
    }
    char *text = arena_strndup(a, out.data ? out.data : "", out.len);
    buf_free(&out);
    return text;
}

static const char *const sample =
    "* 2 x\n+ x x\n* x 2\n\npow x / 3 2\n* x sqrt x\n\n+ x -4\n- x 4\n";
static const char *const sample_clusters =
    "* 2 x = + x x = * x 2; pow x 3/2 = * x sqrt x; + x -4 = - x 4";

static void test_e_gen(void **state)
{
    struct arena a = {0};
    struct corpus c = must_read(&a, CORPUS_E_GEN, sample);
    assert_string_equal(summary(&a, &c), sample_clusters);
    assert_int_equal(c.clusters[1]->members[0]->tokens, 5);
    assert_string_equal(written(&a, CORPUS_E_GEN, &c, 0), sample);
    /* Digits, copies, line ends of another system, empty lines to spare. */
    c = must_read(&a, CORPUS_E_GEN, "\r\nINT- 1 2\r\n-12\r\n- 0 INT+ 1 2\r\n\r\n\r\nlog x\r\n");
    assert_string_equal(summary(&a, &c), "-12 = - 0 12; ln x");
    /* Not a reduced fraction: an operation. */
    c = must_read(&a, CORPUS_E_GEN, "/ 4 2\n/ 1 -2\n/ 3 1\n");
    assert_string_equal(summary(&a, &c), "/ 4 2 = / 1 -2 = / 3 1");
    arena_free(&a);
}

static void test_json(void **state)
{
    struct arena a = {0};
    struct corpus c = must_read(&a, CORPUS_E_GEN, sample);
    char *object = written(&a, CORPUS_SEMVEC, &c, 0);
    struct corpus again = must_read(&a, CORPUS_SEMVEC, object);
    assert_string_equal(summary(&a, &again), sample_clusters);
    c = must_read(&a, CORPUS_JSONL,
                  "{\"index\":0,\"seed\":{\"prefix\":\"x\",\"language\":\"\"},\"members\":[{"
                  "\"prefix\":\"x\",\"tokens\":1},{\"prefix\":\"+ x 0\"}]}\n");
    assert_string_equal(summary(&a, &c), "x = + x 0");
    arena_free(&a);
}

/* LaTeX is the same corpus. */
static void test_latex(void **state)
{
    struct arena a = {0};
    struct corpus c = must_read(&a, CORPUS_E_GEN,
                                "2 \\cdot x\n+ x x\nx \\cdot 2\n\nx^{\\frac{3}{2}}\n"
                                "x\\sqrt{x}\n\n+ x -4\n{x}-4\n");
    assert_string_equal(summary(&a, &c), sample_clusters);
    c = must_read(&a, CORPUS_PAIRS, "\\sin^{2} x\tpow sin x 2\n");
    assert_string_equal(summary(&a, &c), "pow sin x 2");
    arena_free(&a);
}

/* What a split of members leaves of a cluster has a seed that stands in another part; and classes
 * that nobody merged begin alike. Nothing is written that is not a member, and no member is lost.
 */
static void test_json_is_of_members(void **state)
{
    struct arena a = {0};
    struct corpus c = must_read(&a, CORPUS_E_GEN, "x\n* x 1\n+ x 0\n\nx\n- x 0\n\nx\ny\n");
    c.clusters[0]->members++;
    c.clusters[0]->n_members--;
    struct corpus again = must_read(&a, CORPUS_SEMVEC, written(&a, CORPUS_SEMVEC, &c, 0));
    assert_string_equal(summary(&a, &again), "* x 1 = + x 0; x = - x 0; x = y");
    c.clusters[0]->n_members = 0;
    again = must_read(&a, CORPUS_SEMVEC, written(&a, CORPUS_SEMVEC, &c, 0));
    assert_string_equal(summary(&a, &again), "x = - x 0; x = y");
    arena_free(&a);
}

static void test_semvec_in_its_language(void **state)
{
    static const char text[] = "{\"a & b\":{\"Original\":{\"Tokens\":[\"a\",\"&\",\"b\"]},"
                               "\"Noise\":[{\"Tokens\":[\"b\",\"&\",\"a\"],\"Tree\":{}}]}}";
    struct arena a = {0};
    struct err e = {0};
    struct source_text source = {"corpus", text, strlen(text)};
    struct corpus c = {.a = &a, .lang = &lang_boolean};
    if (corpus_read(&c, CORPUS_SEMVEC, &source, &e))
        fail_msg("%s", e.message);
    corpus_finish(&c);
    assert_string_equal(summary(&a, &c), "and a b = and b a");
    assert_string_equal(c.clusters[0]->seed->language, "boolean");
    arena_free(&a);
}

/* Two files may say in two steps what is equal. */
static void test_pairs_of_several_files(void **state)
{
    static const char *const files[] = {"* 2 x\t+ x x\n- x 1\t+ x -1\n", "sin x\tcos x\n",
                                        "* x 2\t+ x x\n+ -1 x\t- x 1\n"};
    struct arena a = {0};
    struct err e = {0};
    struct corpus c = {.a = &a, .lang = &lang_calculus};
    for (int i = 0; i < 3; i++) {
        struct source_text source = {"corpus", files[i], strlen(files[i])};
        assert_int_equal(corpus_read(&c, CORPUS_PAIRS, &source, &e), OK);
    }
    assert_int_equal(c.n, 0);
    corpus_finish(&c);
    assert_string_equal(summary(&a, &c),
                        "* 2 x = + x x = * x 2; - x 1 = + x -1 = + -1 x; sin x = cos x");
    corpus_finish(&c); /* nothing is added twice */
    assert_int_equal(c.n, 3);
    arena_free(&a);
}

static size_t lines_of(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void test_pairs(void **state)
{
    struct arena a = {0};
    struct corpus c = must_read(&a, CORPUS_E_GEN, sample);
    char *all = written(&a, CORPUS_PAIRS, &c, 0);
    assert_int_equal(lines_of(all), 6 + 2 + 2);
    assert_non_null(strstr(all, "* 2 x\t* x 2\n"));
    assert_non_null(strstr(all, "pow x / 3 2\t* x sqrt x\n"));
    struct corpus again = must_read(&a, CORPUS_PAIRS, all);
    assert_int_equal(again.n, 3);
    assert_string_equal(summary(&a, &again), sample_clusters);
    char *few = written(&a, CORPUS_PAIRS, &c, 2);
    assert_int_equal(lines_of(few), 6);
    assert_string_equal(few, written(&a, CORPUS_PAIRS, &c, 2));
    /* Joined through what they have in common, in the order of the first expressions. */
    c = must_read(&a, CORPUS_PAIRS, "x\t+ x 0\ny\t* y 1\n* 1 x\t+ x 0\ny\ty\n");
    assert_string_equal(summary(&a, &c), "x = + x 0 = * 1 x; y = * y 1");
    arena_free(&a);
}

static void test_triplets(void **state)
{
    struct arena a = {0};
    struct corpus c = must_read(&a, CORPUS_E_GEN, sample);
    char *all = written(&a, CORPUS_TRIPLETS, &c, 0);
    assert_int_equal(lines_of(all), 10);
    /* Negatives are never joined with what they stand beside. */
    struct corpus again = must_read(&a, CORPUS_TRIPLETS, all);
    assert_int_equal(again.n, 3);
    c = must_read(&a, CORPUS_TRIPLETS, "x\t+ x 0\ty\n");
    assert_string_equal(summary(&a, &c), "x = + x 0; y");
    arena_free(&a);
}

static void test_refusals(void **state)
{
    static const struct {
        enum corpus_format format;
        const char *text;
        int line, column; /* column 0: any */
        const char *what;
    } cases[] = {
        {CORPUS_E_GEN, "x\n+ x\n", 2, 0, ""},
        {CORPUS_E_GEN, "x\n\nsin x x\n", 3, 0, "after the end"},
        {CORPUS_PAIRS, "x\tx\nx\n", 2, 0, "2 expressions separated by tabs"},
        {CORPUS_PAIRS, "x\tx\tx\n", 1, 0, "2 expressions separated by tabs"},
        {CORPUS_TRIPLETS, "x\tx\n", 1, 0, "3 expressions separated by tabs"},
        {CORPUS_JSONL, "{\"seed\":\"x\",\"members\":[]}\n{\"seed\":1}\n", 2, 0, "expected"},
        {CORPUS_JSONL, "{\"seed\":\"x\"", 1, 0, "not JSON"},
        {CORPUS_JSONL, "{\"seed\":\"+ x\",\"members\":[]}", 1, 0, "'+ x' is not an expression"},
        {CORPUS_JSONL, "{\"seed\":\"x\",\"members\":[\"x\",\"+ x sin\"]}", 1, 33, ""},
        {CORPUS_JSONL, "\n{\"seed\":\"+\\u0020x\",\"members\":[]}", 2, 1, ""},
        /* The text is escaped in its place, but occurs as it is read at the end of the file. */
        {CORPUS_JSONL, "{\"seed\":\"\\u005d}\",\"members\":[\"x\"]}", 1, 0,
         "']}' is not an expression"},
        {CORPUS_SEMVEC, "[1]", 1, 0, "JSON object"},
        {CORPUS_SEMVEC, "{\"q\":{\"Original\":{\"Tokens\":[]}}}", 1, 0, "'q'"},
        {CORPUS_SEMVEC, "{\"q\":{\"Original\":{\"Tokens\":[\"x\"]}},\n \"r\":{\"Original\":{}}}", 2,
         3, ""},
        {CORPUS_SEMVEC,
         "{\"q\":{\"Original\":{\"Tokens\":[\"x\"]}},\n \"r\":{\"Original\":{\"Tokens\":"
         "[\"x\",\"+\"]}}}",
         2, 3, ""},
        {CORPUS_SEMVEC, "{\"q\":{\"Original\":{\"Tokens\":[\"x\"]},\"Noise\":{}}}", 1, 3, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = {0};
        struct corpus c;
        struct err e = {0};
        assert_int_not_equal(read_text(&c, &a, cases[i].format, cases[i].text, &e), OK);
        if (e.line != cases[i].line || (cases[i].column && e.column != cases[i].column) ||
            !strstr(e.message, cases[i].what))
            fail_msg("'%s': %d:%d: %s", cases[i].text, e.line, e.column, e.message);
        arena_free(&a);
    }
}

/* More pairs than 32 bits count: drawn all the same, different ones of different members. */
static void test_pairs_of_a_large_cluster(void **state)
{
    enum { MEMBERS = 70000, DRAWN = 500 };
    struct arena a = {0};
    Eqloom__Cluster cluster = EQLOOM__CLUSTER__INIT, *clusters[] = {&cluster};
    Eqloom__Expr seed = EQLOOM__EXPR__INIT;
    struct corpus c = {.a = &a, .clusters = clusters, .n = 1};
    cluster.seed = &seed;
    cluster.members = arena_array(&a, Eqloom__Member *, MEMBERS);
    for (int i = 0; i < MEMBERS; i++) {
        Eqloom__Member *m = cluster.members[cluster.n_members++] = arena_new(&a, Eqloom__Member);
        eqloom__member__init(m);
        m->prefix = arena_printf(&a, "%d", i);
    }
    seed.prefix = cluster.members[0]->prefix;
    char *text = written(&a, CORPUS_PAIRS, &c, DRAWN), *at = text;
    struct name_map seen = {0};
    int beyond = 0;
    for (int i = 0; i < DRAWN; i++, at = strchr(at, '\n') + 1) {
        bool added;
        int first, second;
        assert_int_equal(sscanf(at, "%d\t%d\n", &first, &second), 2);
        assert_int_not_equal(first, second);
        beyond += first > 65536;
        name_map_put(&seen, arena_strndup(&a, at, strcspn(at, "\n")), 0, &added);
        assert_true(added);
    }
    assert_string_equal(at, "");
    assert_in_range(beyond, 10, 80); /* of 500, 32 are expected */
    name_map_free(&seen);
    /* All 5 billion would be no file: said as soon as it is clear. */
    struct corpus_write_options most = {0, 5, 1 << 20};
    struct buf out = {0};
    struct err e = {0};
    assert_int_equal(corpus_write(&out, CORPUS_PAIRS, clusters, 1, &most, &e), ERR_LIMIT);
    assert_string_equal(e.message, "the file would be longer than 1 MB, with cluster 1 of 1: set "
                                   "'pairs' to fewer from each cluster");
    assert_in_range(out.len, 1 << 20, (1 << 20) + 20);
    buf_free(&out);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs_of_several_files),
        cmocka_unit_test(test_pairs_of_a_large_cluster),
        cmocka_unit_test(test_e_gen),
        cmocka_unit_test(test_latex),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_json_is_of_members),
        cmocka_unit_test(test_semvec_in_its_language),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_triplets),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("formats", tests, NULL, NULL);
}
