/* Corpora in the formats of others: what is written is read back as the same, what others write is
 * understood, what is malformed is refused with its place. */
#include "ops/corpus/format/corpus_format.h"
#include "tests/ops/corpus/cluster_of.h"
#include "tests/unit.h"

/* As text that no 0 ends; `how` tells the language, if it is not the calculus, and the options. */
static enum err_code read_text(struct corpus *c, struct arena *a, struct corpus how,
                               enum corpus_format format, const char *text, struct err *e)
{
    size_t n = strlen(text);
    char *piece = malloc(n + !n);
    assert_non_null(piece);
    memcpy(piece, text, n);
    struct source_text source = {"corpus", piece, n};
    *c = (struct corpus){.a = a, .lang = how.lang ? how.lang : &lang_calculus, .notation = how.notation,
                         .columns = how.columns, .n_columns = how.n_columns, .skip = how.skip};
    enum err_code code = corpus_read(c, format, &source, e);
    corpus_finish(c);
    free(piece);
    return code;
}

static struct corpus must_read_as(struct arena *a, struct corpus how, enum corpus_format format,
                                  const char *text)
{
    struct corpus c;
    struct err e = {0};
    if (read_text(&c, a, how, format, text, &e))
        fail_msg("%d:%d: %s", e.line, e.column, e.message);
    return c;
}

static struct corpus must_read(struct arena *a, enum corpus_format format, const char *text)
{
    return must_read_as(a, (struct corpus){0}, format, text);
}

static char *written_as(struct arena *a, enum corpus_format format, const struct corpus *c,
                        struct corpus_write_options options)
{
    struct buf out = {0};
    options.seed = 5;
    assert_int_equal(corpus_write(&out, format, c->clusters, c->n, &options, NULL), OK);
    return buf_text(&out, a);
}

static char *written(struct arena *a, enum corpus_format format, const struct corpus *c,
                     uint32_t per_cluster)
{
    struct corpus_write_options options = {.per_cluster = per_cluster};
    return written_as(a, format, c, options);
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
    return buf_text(&out, a);
}

static const char *const sample =
    "* 2 x\n+ x x\n* x 2\n\npow x / 3 2\n* x sqrt x\n\n+ x -4\n- x 4\n";
static const char *const sample_clusters =
    "* 2 x = + x x = * x 2; pow x 3/2 = * x sqrt x; + x -4 = - x 4";

TEST_IN_ARENA(e_gen)
{
    struct corpus c = must_read(a, CORPUS_E_GEN, sample);
    assert_string_equal(summary(a, &c), sample_clusters);
    assert_int_equal(c.clusters[1]->members[0]->tokens, 5);
    assert_string_equal(written(a, CORPUS_E_GEN, &c, 0), sample);
    /* Digits, copies, line ends of another system, empty lines to spare. */
    c = must_read(a, CORPUS_E_GEN, "\r\nINT- 1 2\r\n-12\r\n- 0 INT+ 1 2\r\n\r\n\r\nlog x\r\n");
    assert_string_equal(summary(a, &c), "-12 = - 0 12; ln x");
    /* Not a reduced fraction: an operation. */
    c = must_read(a, CORPUS_E_GEN, "/ 4 2\n/ 1 -2\n/ 3 1\n");
    assert_string_equal(summary(a, &c), "/ 4 2 = / 1 -2 = / 3 1");
    c = must_read(a, CORPUS_E_GEN, "/ 12345678901234567891 2\n");
    assert_string_equal(summary(a, &c), "12345678901234567891/2");
}

TEST_IN_ARENA(json)
{
    struct corpus c = must_read(a, CORPUS_E_GEN, sample);
    char *object = written(a, CORPUS_SEMVEC, &c, 0);
    struct corpus again = must_read(a, CORPUS_SEMVEC, object);
    assert_string_equal(summary(a, &again), sample_clusters);
    c = must_read(a, CORPUS_JSONL,
                  "{\"index\":0,\"seed\":{\"prefix\":\"x\",\"language\":\"\"},\"members\":[{"
                  "\"prefix\":\"x\",\"tokens\":1},{\"prefix\":\"+ x 0\"}]}\n");
    assert_string_equal(summary(a, &c), "x = + x 0");
}

/* LaTeX is the same corpus. */
TEST_IN_ARENA(latex)
{
    struct corpus c = must_read(a, CORPUS_E_GEN,
                                "2 \\cdot x\n+ x x\nx \\cdot 2\n\nx^{\\frac{3}{2}}\n"
                                "x\\sqrt{x}\n\n+ x -4\n\\left(x\\right)-4\n");
    assert_string_equal(summary(a, &c), sample_clusters);
    c = must_read(a, CORPUS_PAIRS, "\\sin^{2} x\tpow sin x 2\n");
    assert_string_equal(summary(a, &c), "pow sin x 2");
}

/* What a split of members leaves of a cluster has a seed that stands in another part; and classes
 * that nobody merged begin alike. Nothing is written that is not a member, and no member is lost.
 */
TEST_IN_ARENA(json_is_of_members)
{
    struct corpus c = must_read(a, CORPUS_E_GEN, "x\n* x 1\n+ x 0\n\nx\n- x 0\n\nx\ny\n");
    c.clusters[0]->members++;
    c.clusters[0]->n_members--;
    struct corpus again = must_read(a, CORPUS_SEMVEC, written(a, CORPUS_SEMVEC, &c, 0));
    assert_string_equal(summary(a, &again), "* x 1 = + x 0; x = - x 0; x = y");
    c.clusters[0]->n_members = 0;
    again = must_read(a, CORPUS_SEMVEC, written(a, CORPUS_SEMVEC, &c, 0));
    assert_string_equal(summary(a, &again), "x = - x 0; x = y");
}

TEST_IN_ARENA(semvec_in_its_language)
{
    static const char text[] = "{\"a & b\":{\"Original\":{\"Tokens\":[\"a\",\"&\",\"b\"]},"
                               "\"Noise\":[{\"Tokens\":[\"b\",\"&\",\"a\"],\"Tree\":{}}]}}";
    /* EqNet's tokens for negation and implication. */
    static const char signs[] =
        "{\"q\":{\"Original\":{\"Tokens\":[\"~\",\"(\",\"a\",\"&\",\"b\",\")\",\">>\",\"c\"]},"
        "\"Noise\":[{\"Tokens\":[\"~\",\"~\",\"a\",\"|\",\"b\"]}]}}";
    struct corpus boolean = {.lang = &lang_boolean};
    struct corpus c = must_read_as(a, boolean, CORPUS_SEMVEC, text);
    assert_string_equal(summary(a, &c), "and a b = and b a");
    assert_string_equal(c.clusters[0]->seed->language, "boolean");
    c = must_read_as(a, boolean, CORPUS_SEMVEC, signs);
    assert_string_equal(summary(a, &c), "implies not and a b c = or not not a b");
}

/* Two files may say in two steps what is equal. */
TEST_IN_ARENA(pairs_of_several_files)
{
    static const char *const files[] = {"* 2 x\t+ x x\n- x 1\t+ x -1\n", "sin x\tcos x\n",
                                        "* x 2\t+ x x\n+ -1 x\t- x 1\n"};
    struct err e = {0};
    struct corpus c = {.a = a, .lang = &lang_calculus};
    for (int i = 0; i < 3; i++) {
        struct source_text source = {"corpus", files[i], strlen(files[i])};
        assert_int_equal(corpus_read(&c, CORPUS_PAIRS, &source, &e), OK);
    }
    assert_int_equal(c.n, 0);
    corpus_finish(&c);
    assert_string_equal(summary(a, &c),
                        "* 2 x = + x x = * x 2; - x 1 = + x -1 = + -1 x; sin x = cos x");
    corpus_finish(&c); /* nothing is added twice */
    assert_int_equal(c.n, 3);
}

static size_t lines_of(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

TEST_IN_ARENA(pairs)
{
    struct corpus c = must_read(a, CORPUS_E_GEN, sample);
    char *all = written(a, CORPUS_PAIRS, &c, 0);
    assert_int_equal(lines_of(all), 6 + 2 + 2);
    assert_non_null(strstr(all, "* 2 x\t* x 2\n"));
    assert_non_null(strstr(all, "pow x / 3 2\t* x sqrt x\n"));
    struct corpus again = must_read(a, CORPUS_PAIRS, all);
    assert_int_equal(again.n, 3);
    assert_string_equal(summary(a, &again), sample_clusters);
    char *few = written(a, CORPUS_PAIRS, &c, 2);
    assert_int_equal(lines_of(few), 6);
    assert_string_equal(few, written(a, CORPUS_PAIRS, &c, 2));
    /* Joined through what they have in common, in the order of the first expressions. */
    c = must_read(a, CORPUS_PAIRS, "x\t+ x 0\ny\t* y 1\n* 1 x\t+ x 0\ny\ty\n");
    assert_string_equal(summary(a, &c), "x = + x 0 = * 1 x; y = * y 1");
}

TEST_IN_ARENA(triplets)
{
    struct corpus c = must_read(a, CORPUS_E_GEN, sample);
    char *all = written(a, CORPUS_TRIPLETS, &c, 0);
    assert_int_equal(lines_of(all), 10);
    /* Negatives are never joined with what they stand beside. */
    struct corpus again = must_read(a, CORPUS_TRIPLETS, all);
    assert_int_equal(again.n, 3);
    c = must_read(a, CORPUS_TRIPLETS, "x\t+ x 0\ty\n");
    assert_string_equal(summary(a, &c), "x = + x 0; y");
}

static struct corpus must_read_words(struct arena *a, enum corpus_format format, const char *text)
{
    return must_read_as(a, (struct corpus){.notation = CORPUS_WORDS}, format, text);
}

/* The words of Lample and Charton, whom EED and E-Gen's training follow. */
TEST(words)
{
    static const struct {
        const char *words, *prefix;
    } cases[] = {
        {"add x INT+ 1 2", "+ x 12"},
        {"mul INT- 3 sub x div x INT+ 2", "* -3 - x / x 2"},
        {"div INT- 3 INT+ 2", "-3/2"},
        {"inv cos x", "/ 1 cos x"},
        {"pow2 pow3 pow4 pow5 x", "pow pow pow pow x 5 4 3 2"},
        {"rac x INT+ 3", "pow x 1/3"},
        {"rac x add x INT+ 1", "pow x / 1 + x 1"},
        {"sign add x INT- 2", "/ + x -2 abs + x -2"},
        {"mul E exp x", "* e pow e x"},
        {"add pi I", "+ pi sqrt -1"},
        {"derivative ln x x", "d x ln x"},
        {"mul a9 asinh x", "* a9 asinh x"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = {0};
        struct corpus c = must_read_words(&a, CORPUS_EXPRESSIONS, cases[i].words), again;
        struct corpus_write_options words = {.words = true};
        assert_string_equal(summary(&a, &c), cases[i].prefix);
        again =
            must_read_words(&a, CORPUS_EXPRESSIONS, written_as(&a, CORPUS_EXPRESSIONS, &c, words));
        assert_string_equal(summary(&a, &again), cases[i].prefix);
        arena_free(&a);
    }
    struct arena a = {0};
    struct corpus c = must_read(&a, CORPUS_E_GEN, "* -2 pow e x\n-1/2\nd x sqrt -1\npow x 3/2\n");
    struct corpus_write_options words = {.words = true};
    assert_string_equal(written_as(&a, CORPUS_E_GEN, &c, words),
                        "mul INT- 2 exp x\ndiv INT- 1 INT+ 2\nderivative I x\npow x div INT+ 3 "
                        "INT+ 2\n");
    /* In tokens these words are variables' names, and an operand too many. */
    c = must_read(&a, CORPUS_EXPRESSIONS, "+ E I\n");
    assert_string_equal(summary(&a, &c), "+ E I");
    arena_free(&a);
}

/* EED's held-out parts and Lample and Charton's files: nothing is equal to anything. */
TEST_IN_ARENA(expressions)
{
    struct corpus c = must_read_words(a, CORPUS_EXPRESSIONS,
                                      "x\nadd x x\n\nx\n17|sub Y' cos x\tsin x\n"
                                      "2|sub Y' mul INT+ 2 x\tpow2 x\n");
    assert_string_equal(summary(a, &c), "x; + x x; cos x; sin x; * 2 x; pow x 2");
    assert_string_equal(written(a, CORPUS_EXPRESSIONS, &c, 0),
                        "x\n+ x x\ncos x\nsin x\n* 2 x\npow x 2\n");
}

static enum err_code take(void *arg, struct buf *out, struct err *e)
{
    struct buf *all = arg;
    buf_add(all, out->data, out->len);
    buf_clear(out);
    return OK;
}

/* Shards are the whole in another order, objects are the columns, pieces are the text. */
TEST_IN_ARENA(shards_and_lines)
{
    struct corpus c = must_read(a, CORPUS_E_GEN, sample);
    size_t lines = 0;
    for (size_t shard = 0; shard < 2; shard++) {
        struct corpus_write_options part = {.shard = shard, .shards = 2};
        lines += lines_of(written_as(a, CORPUS_TRIPLETS, &c, part));
        assert_int_equal(lines_of(written_as(a, CORPUS_E_GEN, &c, part)), shard ? 2 : 6);
    }
    assert_int_equal(lines, lines_of(written(a, CORPUS_TRIPLETS, &c, 0)));
    struct corpus_write_options json = {.per_cluster = 1, .json = true, .shards = 3, .shard = 1};
    char *one = written_as(a, CORPUS_PAIRS, &c, json);
    assert_true(!strcmp(one, "{\"input\": \"pow x / 3 2\", \"output\": \"* x sqrt x\"}\n") ||
                !strcmp(one, "{\"input\": \"* x sqrt x\", \"output\": \"pow x / 3 2\"}\n"));
    assert_non_null(strstr(written_as(a, CORPUS_TRIPLETS, &c, json), "\", \"negative\": \""));
    struct buf all = {0};
    struct corpus_write_options pieces = {.flush = take, .arg = &all};
    assert_string_equal(written_as(a, CORPUS_PAIRS, &c, pieces), "");
    assert_string_equal(arena_strndup(a, all.data, all.len), written(a, CORPUS_PAIRS, &c, 0));
    buf_free(&all);
}

TEST(refusals_in_words)
{
    static const struct {
        const char *text;
        int line, column;
        const char *what;
    } cases[] = {
        {"x\nadd x\n", 2, 1, "'add' takes 2 arguments, not 1"},
        {"x\n3|sub Y' rac x\n", 2, 10, "'rac' takes 2 arguments, not 1"},
        {"x\tpow2\n", 1, 3, "'pow2' takes 1 argument, not 0"},
        {"add f x INT+ 1\n", 1, 5, "f is an unknown function"},
        {"add x INT+\n", 1, 7, "needs digits"},
        {"derivative x INT+ 1\n", 1, 14, "d needs a variable"},
        {"E x\n", 1, 3, "after the end"},
        {"inv pow6 x\n", 1, 10, "after the end"},
    };
    char deep[5 * 40 + 2];
    for (int i = 0; i < 40; i++)
        memcpy(deep + 5 * i, "sign ", 5);
    memcpy(deep + 5 * 40, "x", 2);
    for (size_t i = 0; i <= sizeof cases / sizeof *cases; i++) {
        struct arena a = {0};
        struct corpus c;
        struct err e = {0};
        bool growth = i == sizeof cases / sizeof *cases;
        const char *text = growth ? deep : cases[i].text;
        assert_int_equal(
            read_text(&c, &a, (struct corpus){.notation = CORPUS_WORDS}, CORPUS_EXPRESSIONS, text, &e),
            ERR_INPUT);
        if (growth ? !strstr(e.message, "more than 65536 nodes")
                   : e.line != cases[i].line || e.column != cases[i].column ||
                         !strstr(e.message, cases[i].what))
            fail_msg("'%s': %d:%d: %s", text, e.line, e.column, e.message);
        arena_free(&a);
    }
}

TEST(refusals)
{
    static const struct {
        enum corpus_format format;
        const char *text;
        int line, column; /* column 0: any */
        const char *what;
    } cases[] = {
        {CORPUS_E_GEN, "x\n+ x\n", 2, 0, ""},
        {CORPUS_E_GEN, "x\n\nsin x x\n", 3, 0, "after the end"},
        {CORPUS_PAIRS, "x\tx\nx\n", 2, 0, "expected 2 columns with tabs"},
        {CORPUS_PAIRS, "x\tx\tx\n", 1, 0, "expected 2 columns with tabs"},
        {CORPUS_TRIPLETS, "x\tx\n", 1, 0, "expected 3 columns with tabs"},
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
        assert_int_not_equal(
            read_text(&c, &a, (struct corpus){0}, cases[i].format, cases[i].text, &e), OK);
        if (e.line != cases[i].line || (cases[i].column && e.column != cases[i].column) ||
            !strstr(e.message, cases[i].what))
            fail_msg("'%s': %d:%d: %s", cases[i].text, e.line, e.column, e.message);
        arena_free(&a);
    }
}

/* More pairs than 32 bits count: drawn all the same, different ones of different members. */
TEST_IN_ARENA(pairs_of_a_large_cluster)
{
    enum { MEMBERS = 70000, DRAWN = 500 };
    const char **members = arena_array(a, const char *, MEMBERS);
    for (int i = 0; i < MEMBERS; i++)
        members[i] = arena_printf(a, "%d", i);
    Eqloom__Cluster *cluster = cluster_of(a, "", members, MEMBERS);
    struct corpus c = {.a = a, .clusters = &cluster, .n = 1};
    char *text = written(a, CORPUS_PAIRS, &c, DRAWN), *at = text;
    struct name_map seen = {0};
    int beyond = 0;
    for (int i = 0; i < DRAWN; i++, at = strchr(at, '\n') + 1) {
        bool added;
        int first, second;
        assert_int_equal(sscanf(at, "%d\t%d\n", &first, &second), 2);
        assert_int_not_equal(first, second);
        beyond += first > 65536;
        name_map_put(&seen, arena_strndup(a, at, strcspn(at, "\n")), 0, &added);
        assert_true(added);
    }
    assert_string_equal(at, "");
    assert_in_range(beyond, 10, 80); /* of 500, 32 are expected */
    name_map_free(&seen);
}
