/* jq programs as conditions: what they yield, and errors that are told once. */
#include "engine/cli/records/jq_filter.h"
#include "tests/unit.h"

TEST_IN_ARENA(jq_filter)
{
    struct err e = {0};
    struct jq_filter *f;
    const char *yielded;
    json_t *value = json_pack("{s:i, s:[s, s]}", "n", 3, "words", "x", "y");
    static const char *const cases[][2] = {
        {".n", "3"},          {".n > 3", NULL},
        {".missing", NULL},   {".words[] == \"y\"", "true"},
        {"empty", NULL},      {"false, null, 1", "1"},
        {"{n}", "{\"n\":3}"}, {".words | length", "2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(jq_filter_new(&f, cases[i][0], &e), OK);
        for (int again = 0; again < 2; again++) { /* one program, many values */
            assert_int_equal(jq_filter_run(&yielded, a, f, value, &e), OK);
            assert_string_equal(yielded ? yielded : "none", cases[i][1] ? cases[i][1] : "none");
        }
        jq_filter_free(f);
    }
    assert_int_equal(jq_filter_new(&f, ".n.x, 1", &e), OK);
    assert_int_equal(jq_filter_run(&yielded, a, f, value, &e), ERR_INPUT);
    assert_non_null(strstr(e.message, "jq: Cannot index number with"));
    jq_filter_free(f);
    assert_int_equal(jq_filter_new(&f, ".n >", &e), ERR_INPUT);
    assert_non_null(strstr(e.message, "jq cannot read the program: syntax error"));
    json_decref(value);
}
