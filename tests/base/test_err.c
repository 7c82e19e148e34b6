/* Errors: messages, positions, carets, suggestions. */
#include "base/err.h"
#include "tests/unit.h"

static enum err_code inner(struct err *e)
{
    return err_fail(e, ERR_CORRUPT, "record %d is bad", 7);
}

TEST(frames)
{
    struct err e = {0};
    enum err_code code = inner(&e);
    for (int i = 0; i < 20; i++)
        code = err_up(&e, code);
    assert_int_equal(code, ERR_CORRUPT);
    assert_int_equal(e.code, ERR_CORRUPT);
    assert_string_equal(e.message, "record 7 is bad");
    assert_int_equal(e.n_frames, ERR_FRAMES);
    assert_int_equal(err_up(&e, OK), OK);
    err_clear(&e);
    assert_int_equal(e.n_frames, 0);
    assert_int_equal(inner(NULL), ERR_CORRUPT); /* nobody listens */
    assert_int_equal(err_up(NULL, ERR_IO), ERR_IO);
}

TEST(positions)
{
    static const char text[] = "first\n  na\xc3\xafve\tx = (\nlast";
    struct source_text source = {"a.rules", text, sizeof text - 1};
    struct err e = {0};
    size_t at = (size_t)(strchr(text, '(') - text);
    assert_int_equal(err_fail_at(&e, &source, at, "unbalanced"), ERR_INPUT);
    assert_string_equal(e.input_file, "a.rules");
    assert_int_equal(e.line, 2);
    assert_int_equal(e.column, 13); /* in code points */
    assert_int_equal(e.caret, 12);
    assert_string_equal(e.input_line, "  na\xc3\xafve x = (");
    err_locate(&e, &source, 0); /* the first position stands */
    assert_int_equal(e.line, 2);
    err_fail_at(&e, &source, sizeof text - 1, "end");
    assert_int_equal(e.line, 3);
    assert_int_equal(e.column, 5);
    err_fail_at(&e, &source, 0, "start");
    assert_int_equal(e.line * 100 + e.column, 101);
}

TEST(long_lines)
{
    /* Two-byte code points all over: the window must not cut one in half. */
    char text[3000];
    for (size_t i = 0; i + 1 < sizeof text; i += 2)
        memcpy(text + i, "\xc3\xa9", 2);
    struct source_text source = {"x", text, sizeof text};
    for (size_t at = 0; at < sizeof text; at += 2) {
        struct err e = {0};
        err_fail_at(&e, &source, at, "here");
        size_t n = strlen(e.input_line);
        assert_true(n % 2 == 0 && n < sizeof e.input_line);
        assert_true((unsigned char)e.input_line[0] == 0xc3);
        assert_int_equal(e.column, at / 2 + 1);
        assert_true(e.caret >= 0 && (size_t)e.caret * 2 <= n);
    }
}

TEST(nearest)
{
    static const char *const names[] = {"saturate", "extract", "tokenize", "train"};
    assert_string_equal(err_nearest("satrate", names, 4), "saturate");
    assert_string_equal(err_nearest("trian", names, 4), "train"); /* a swap is one edit */
    assert_null(err_nearest("tarin n", names, 4));
    assert_string_equal(err_nearest("tokenise", names, 4), "tokenize");
    assert_null(err_nearest("zebra", names, 4));
    assert_null(err_nearest("x", names, 0));
}

TEST(names)
{
    for (int code = ERR_NOTFOUND; code <= ERR_FAILED; code++)
        assert_true(strlen(err_code_name((enum err_code)code)) > 3);
}
