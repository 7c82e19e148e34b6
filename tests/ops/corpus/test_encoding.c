/* Vocabularies, the encodings of numbers, packing, and the stability of splits. */
#include "ops/corpus/split.h"
#include "ops/corpus/tokens/encoding.h"
#include "tests/ops/corpus/cluster_of.h"
#include "tests/unit.h"

/* To be freed. */
static struct encoder encoder_of(struct arena *a, const char *encoding)
{
    Eqloom__Vocabulary *v = arena_new(a, Eqloom__Vocabulary);
    struct encoder c;
    assert_int_equal(vocabulary_make(v, a, encoding, NULL, 0, NULL), OK);
    encoder_init(&c, v);
    return c;
}

/* The tokens of the ids, joined by blanks. */
static char *encode(struct arena *a, const char *encoding, const char *prefix)
{
    struct encoder c = encoder_of(a, encoding);
    uint32_t *ids;
    size_t n;
    char *text = "";
    assert_int_equal(encode_prefix(&ids, &n, a, &c, prefix, NULL), OK);
    for (size_t i = 0; i < n; i++)
        text = arena_printf(a, "%s%s%s", text, i ? " " : "", c.vocabulary->tokens[ids[i]]);
    encoder_free(&c);
    return text;
}

TEST_IN_ARENA(numbers)
{
    assert_string_equal(encode(a, "e-gen", "+ pow sin x 2 -14"), "+ pow sin x INT+ 2 INT- 1 4");
    assert_string_equal(encode(a, "e-gen", "* -3/20 pi"), "* / INT- 3 INT+ 2 0 pi");
    assert_string_equal(encode(a, "plain", "+ -14 3/20"), "+ -14 / 3 20");
    assert_string_equal(encode(a, "plain", "- 123 -99"), "- INT+ 1 2 3 -99");
    assert_string_equal(encode(a, "plain", "* -100 7"), "* INT- 1 0 0 7");
    assert_string_equal(encode(a, "trees", "- 128 -99"), "- + * 12 10 8 -99");
    assert_string_equal(encode(a, "trees", "* -100 -1234"),
                        "* + * -10 10 0 + * + * -12 10 -3 10 -4");
}

TEST_IN_ARENA(places)
{
    assert_string_equal(encode(a, "placed", "/ sin x cos x"), "/ sin@/1 x cos@/2 x");
    assert_string_equal(encode(a, "placed", "- * 2 x + pow x 3 y"),
                        "- *@-1 2@* x@* +@-2 pow@+ x@pow1 3@pow2 y@+");
    assert_string_equal(encode(a, "placed", "sin - x -104"), "sin - x@-1 INT-@-2 1 0 4");
    assert_string_equal(encode(a, "placed", "* d x sin x 3/200"),
                        "* d@* x sin x /@* 3@/1 INT+@/2 2 0 0");
    assert_string_equal(encode(a, "placed", "ln x"), "ln x");
}

TEST_IN_ARENA(vocabulary_of_the_paper)
{
    struct err e;
    Eqloom__Vocabulary v;
    assert_int_equal(vocabulary_make(&v, a, "e-gen", NULL, 0, &e), OK);
    assert_int_equal(v.n_tokens, 59);
    assert_string_equal(v.tokens[0], "<pad>");
    assert_string_equal(v.tokens[2], "<end>");
    const char *more[] = {"i", "w"};
    assert_int_equal(vocabulary_make(&v, a, "e-gen", more, 2, &e), OK);
    assert_string_equal(v.tokens[60], "w");
    more[1] = "sin";
    assert_int_equal(vocabulary_make(&v, a, "e-gen", more, 2, &e), ERR_INPUT);
    more[1] = "a b";
    assert_int_equal(vocabulary_make(&v, a, "e-gen", more, 2, &e), ERR_INPUT);
}

TEST_IN_ARENA(unknown_tokens_are_named)
{
    static const char *const bad[] = {"+ x foo", "+ x <pad>", "+  x y", "+ x 1e5", "+ x 1/"};
    struct encoder c = encoder_of(a, "e-gen");
    struct err e = {0};
    uint32_t *ids;
    size_t n;
    for (int i = 4; i >= 0; i--)
        assert_int_equal(encode_prefix(&ids, &n, a, &c, bad[i], &e), ERR_INPUT);
    assert_non_null(strstr(e.message, "'foo'"));
    encoder_free(&c);
}

TEST_IN_ARENA(batches_are_packed)
{
    static const char *const texts[] = {"+ x 1", "x", "sin x"};
    static const uint32_t offset[] = {0, 4, 5};
    struct encoder c = encoder_of(a, "e-gen");
    Eqloom__TokenBatch b;
    assert_int_equal(token_batch_make(&b, a, &c, cluster_of(a, "", texts, 3), 2, NULL), OK);
    assert_int_equal(b.n_offset, 3);
    assert_int_equal(b.n_tokens, 5);
    assert_memory_equal(b.offset, offset, sizeof offset);
    assert_int_equal(b.tokens[1], b.tokens[4]);
    assert_int_equal(b.n_text, 2);
    assert_int_equal(b.n_cluster, 2);
    encoder_free(&c);
}

TEST(splits_are_stable_and_fair)
{
    enum { N = 20000 };
    int counts[SPLIT_PARTS] = {0}, moved = 0, other_seed = 0;
    for (int i = 0; i < N; i++) {
        char text[32];
        snprintf(text, sizeof text, "+ x %d", i);
        enum split_part part = split_part(42, text, 0.05, 0.15);
        counts[part]++;
        other_seed += split_part(43, text, 0.05, 0.15) != part;
        /* More validation takes from training only. */
        enum split_part wider = split_part(42, text, 0.1, 0.15);
        moved += wider != part && !(part == SPLIT_TRAIN && wider == SPLIT_VALID);
    }
    assert_int_equal(moved, 0);
    assert_in_range(counts[SPLIT_VALID], N * 0.045, N * 0.055);
    assert_in_range(counts[SPLIT_TEST], N * 0.14, N * 0.16);
    assert_true(other_seed > N / 5);
    assert_int_equal(split_part(1, "x", 0, 1), SPLIT_TEST);
    assert_int_equal(split_part(1, "x", 1, 0), SPLIT_VALID);
    assert_int_equal(split_part(1, "x", 0, 0), SPLIT_TRAIN);
}
