/* What a model writes, as text that reads back as what was encoded. */
#include "ops/corpus/tokens/encoding.h"
#include "ops/learn/transformer/detokenize.h"
#include "tests/unit.h"

static uint32_t id_of(const Eqloom__Vocabulary *v, const char *name)
{
    for (size_t i = 0; i < v->n_tokens; i++)
        if (strcmp(v->tokens[i], name) == 0)
            return (uint32_t)i;
    fail_msg("no token %s", name);
    return 0;
}

TEST(round_trip)
{
    static const char *const texts[] = {
        "x", "+ x 12", "pow sin x -4", "* -10 * 205 x", "7", "- / x -1234 pow -100 y"};
    static const char *const encodings[] = {"e-gen", "plain", "placed"};
    for (size_t k = 0; k < 3; k++) {
        struct arena a = {0};
        struct encoder c;
        Eqloom__Vocabulary v;
        assert_int_equal(vocabulary_make(&v, &a, encodings[k], NULL, 0, NULL), OK);
        encoder_init(&c, &v);
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            uint32_t *ids;
            size_t n;
            assert_int_equal(encode_prefix(&ids, &n, &a, &c, texts[i], NULL), OK);
            assert_string_equal(detokenize(&a, ids, n, v.tokens), texts[i]);
        }
        encoder_free(&c);
        arena_free(&a);
    }
}

/* Nothing that a model may write is lost or made up. */
TEST_IN_ARENA(malformed)
{
    Eqloom__Vocabulary v;
    assert_int_equal(vocabulary_make(&v, a, "e-gen", NULL, 0, NULL), OK);
    uint32_t plus = id_of(&v, "+"), positive = id_of(&v, "INT+"), negative = id_of(&v, "INT-"),
             two = id_of(&v, "2");
    uint32_t tokens[] = {plus, positive, negative, two, two, positive};
    assert_string_equal(detokenize(a, tokens, 6, v.tokens), "+ INT+ -22 INT+");
    uint32_t digits[] = {two, two};
    assert_string_equal(detokenize(a, digits, 2, v.tokens), "2 2");
    assert_string_equal(detokenize(a, digits, 0, v.tokens), "");
}
