/* `check-rules`: what it prints and how it ends. */
#include "engine/tool.h"
#include "tests/unit.h"

#include <jansson.h>

extern const struct tool tool_check_rules;

const char *tool_value(const struct tool_args *args, const char *option)
{
    const char *value = NULL;
    for (size_t i = 0; i < args->n_values; i++)
        if (strcmp(args->values[i].option, option) == 0)
            value = args->values[i].value;
    return value;
}

enum err_code tool_number(uint32_t *out, const struct tool_args *args, const char *option,
                          uint32_t initial, uint32_t min, uint32_t max, struct err *e)
{
    const char *text = tool_value(args, option);
    *out = text ? (uint32_t)atoi(text) : initial;
    return *out >= min ? OK : err_fail(e, ERR_INPUT, "--%s is no such number", option);
}

struct result {
    enum err_code code;
    int status;
    char *out; /* freed by the caller */
    struct err err;
};

static struct result run(const char *file, bool json, const char *points)
{
    struct result r = {.status = -1};
    struct arena a = {0};
    size_t size;
    FILE *out = open_memstream(&r.out, &size);
    struct tool_value value = {"points", points};
    struct tool_args args = {
        .positional = &file,
        .n_positional = file != NULL,
        .values = &value,
        .n_values = points != NULL,
        .json = json,
        .out = out,
        .narration = stderr,
        .arena = &a,
    };
    r.code = tool_check_rules.run(&r.status, &args, &r.err);
    fclose(out);
    arena_free(&a);
    return r;
}

static const char *write_rules(const char *text)
{
    static const char name[] = "check-rules-test.rules";
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return name;
}

/* Every one is certified by ball arithmetic and proved; none takes a value away or gives one to an
 * undefined term. */
TEST(shipped_rules_pass)
{
    struct result r = run(CASES(NULL, "builtin:logarithms"), true, "96");
    char *rest = r.out;
    size_t rules = 0;
    assert_int_equal(r.code, OK);
    assert_int_equal(r.status, 0);
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        json_t *object = json_loads(line, 0, NULL);
        const char *verdict = json_string_value(json_object_get(object, "verdict"));
        const char *file = json_string_value(json_object_get(object, "file"));
        if (verdict) {
            bool varies = strchr(json_string_value(json_object_get(object, "rule")), '?') &&
                          !strstr(file, "boolean") && !strstr(file, "polynomial");
            if (strcmp(verdict, "certified") != 0 || json_object_get(object, "remark") ||
                !json_object_get(object, "proof") ||
                json_integer_value(json_object_get(object, "points")) < (varies ? 16 : 1))
                fail_msg("%s", line);
            rules++;
        }
        json_decref(object);
    }
    assert_true(rules > CASES(1000, 30));
    free(r.out);
}

TEST(a_table_counts_by_family)
{
    struct result r = run("builtin:semvec/boolean", false, NULL);
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "\nboolean "));
    assert_null(strstr(r.out, "refuted:"));
    free(r.out);
}

TEST(refuted_rules_are_shown)
{
    struct result r =
        run(write_rules("group g\nok: ?a+0 -> ?a\nbad: sqrt(?a^2) -> ?a\n"), false, NULL);
    assert_int_equal(r.code, OK);
    assert_int_equal(r.status, 3);
    assert_non_null(strstr(r.out, "check-rules-test.rules:3:1: refuted: g/bad\n"
                                  "    sqrt(?a^2) -> ?a\n"
                                  "    ?a = -1: 1.0000000 against -1.0000000\n"
                                  "    holds if nonnegative(?a)\n"));
    assert_null(strstr(r.out, "g/ok"));
    free(r.out);
}

TEST(json_is_one_object_a_line)
{
    struct result r = run(write_rules("a: ?a+0 -> ?a\nb: ?a -> ?a+1\n"), true, "16");
    assert_int_equal(r.code, OK);
    assert_int_equal(r.status, 3);
    static const char *const verdicts[] = {"certified", "refuted", NULL};
    char *rest = r.out;
    for (int i = 0; i < 3; i++) {
        char *line = strsep(&rest, "\n");
        json_t *object = json_loads(line, 0, NULL);
        assert_non_null(object);
        if (i < 2)
            assert_string_equal(json_string_value(json_object_get(object, "verdict")), verdicts[i]);
        else
            assert_int_equal(json_integer_value(json_object_get(object, "refuted")), 1);
        json_decref(object);
    }
    assert_string_equal(rest, "");
    free(r.out);
}

TEST(bad_input_is_refused)
{
    struct result r = run(write_rules("a: ?a -> ?b\n"), false, NULL);
    assert_int_equal(r.code, ERR_INPUT);
    assert_int_equal(r.err.line, 1);
    free(r.out);
    r = run(NULL, false, "many");
    assert_int_equal(r.code, ERR_INPUT);
    free(r.out);
    r = run("no-such.rules", false, NULL);
    assert_int_not_equal(r.code, OK);
    free(r.out);
}
