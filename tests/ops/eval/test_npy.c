/* Arrays of NumPy: a table of what is read and what is refused, with the word for it. */
#include "ops/eval/npy_read.h"

#include "tests/unit.h"

static struct err e;

/* Returns the code for a file of this header, of a version, with so many bytes of values. */
static enum err_code read(struct npy_matrix *out, struct arena *a, int version, const char *header,
                          size_t values)
{
    size_t n = strlen(header), start = version == 1 ? 10 : 12;
    char *text = arena_alloc(a, start + n + values);
    memcpy(text, "\x93NUMPY", 6);
    text[6] = (char)version;
    text[7] = 0;
    put_le(text + 8, n, version == 1 ? 2 : 4);
    memcpy(text + start, header, n);
    for (size_t i = 0; i < values / 4; i++)
        memcpy(text + start + n + 4 * i, &(float){(float)i}, 4);
    struct source_text file = {.name = "x.npy", .text = text, .len = start + n + values};
    return npy_read(out, a, &file, &e);
}

TEST_IN_ARENA(matrices)
{
    static const char *const headers[] = {
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }        \n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}",
        "{'shape':(2,3,),'fortran_order':False,'descr':'<f4'}\n",
        "  { 'fortran_order' :False}",
    };
    struct npy_matrix m;
    for (int version = 1; version <= 3; version++)
        for (size_t i = 0; i < 3; i++) {
            assert_int_equal(read(&m, a, version, headers[i], 24), OK);
            assert_int_equal(m.rows, 2);
            assert_int_equal(m.dim, 3);
            for (int k = 0; k < 6; k++)
                assert_float_equal(m.values[k], k, 0);
        }
    assert_int_equal(read(&m, a, 1, headers[3], 0), ERR_INPUT);
    assert_int_equal(read(&m, a, 4, headers[0], 24), ERR_INPUT);
    assert_string_equal(e.message, "x.npy: version 4.0 of .npy is unknown");
}

TEST_IN_ARENA(refused)
{
    static const struct {
        const char *type, *order, *shape, *word;
        size_t values;
    } cases[] = {
        {"'<f8'", "False", "(2, 3)", "values are float64, not float32; save matrix.astype", 48},
        {"'<f2'", "False", "(2, 3)", "values are float16, not float32", 12},
        {"'>f4'", "False", "(2, 3)", "float32 of the other byte order", 24},
        {"'<i8'", "False", "(2, 3)", "values are int64", 48},
        {"'|O'", "False", "(2, 3)", "values are Python objects", 48},
        {"'<f4<f4'", "False", "(2, 3)", "values are <f4<f4", 24},
        {"[('a', '<f4')]", "False", "(2, 3)", "not the header of an array", 24},
        {"'<f4'", "True", "(2, 3)", "stored by columns (fortran_order)", 24},
        {"'<f4'", "0", "(2, 3)", "not the header of an array", 24},
        {"'<f4'", "False", "(6,)", "an array with 1 axes, not a matrix", 24},
        {"'<f4'", "False", "()", "an array with 0 axes", 4},
        {"'<f4'", "False", "(1, 2, 3)", "an array with 3 axes", 24},
        {"'<f4'", "False", "(2, -3)", "not the header of an array", 24},
        {"'<f4'", "False", "(2 3)", "not the header of an array", 24},
        {"'<f4'", "False", "(2, 0)", "rows of 0 numbers", 0},
        {"'<f4'", "False", "(0, 2000000)", "rows of 2000000 numbers", 0},
        {"'<f4'", "False", "(2, 3)", "20 bytes do not fit a matrix of 2 x 3", 20},
        {"'<f4'", "False", "(2, 3)", "28 bytes do not fit a matrix of 2 x 3", 28},
        {"'<f4'", "False", "(4611686018427387904, 4)", "do not fit", 0},
        {"'<f4'", "False", "(99999999999999999999, 4)", "not the header of an array", 0},
        {"'<f4', 'descr': '<f8'", "False", "(2, 3)", "not the header of an array", 24},
        {"'<f4', 'more': 1", "False", "(2, 3)", "not the header of an array", 24},
        {"'<f4", "False", "(2, 3)", "not the header of an array", 24},
    };
    struct npy_matrix m;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *header = arena_printf(a, "{'descr': %s, 'fortran_order': %s, 'shape': %s, }\n",
                                          cases[i].type, cases[i].order, cases[i].shape);
        assert_int_equal(read(&m, a, 1, header, cases[i].values), ERR_INPUT);
        if (!strstr(e.message, cases[i].word))
            fail_msg("%s: %s", header, e.message);
    }
    struct source_text file = {.name = "x.npy", .text = "\x93NUMPY\x01\0\xff\0{'", .len = 12};
    assert_int_equal(npy_read(&m, a, &file, &e), ERR_INPUT);
    assert_string_equal(e.message, "x.npy: ends within its header");
    file.len = 11;
    assert_int_equal(npy_read(&m, a, &file, &e), ERR_INPUT);
}
