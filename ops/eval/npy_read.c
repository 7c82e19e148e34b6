/* See npy_read.h. The header is a literal of Python: {'descr': '<f4', 'fortran_order': False,
 * 'shape': (3, 2), }, with the keys in any order. */
#include "ops/eval/npy_read.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { PREAMBLE = 8, AXES = 2 };

struct header {
    const char *at;   /* what has not been read, ended by NUL */
    const char *type; /* 'descr'; NULL: fields of several types, or not seen */
    size_t type_len, axes;
    bool has_type, has_order, has_shape, by_columns;
    unsigned long long shape[AXES];
};

static bool skip(struct header *h, const char *word)
{
    size_t n = strlen(word);
    h->at += strspn(h->at, " ");
    if (strncmp(h->at, word, n))
        return false;
    h->at += n;
    return true;
}

static bool read_type(struct header *h)
{
    if (h->has_type || !skip(h, "'"))
        return false;
    h->type = h->at;
    h->type_len = strcspn(h->at, "'");
    h->at += h->type_len;
    h->has_type = true;
    return skip(h, "'");
}

static bool read_order(struct header *h)
{
    if (h->has_order)
        return false;
    h->has_order = true;
    h->by_columns = skip(h, "True");
    return h->by_columns || skip(h, "False");
}

static bool read_shape(struct header *h)
{
    if (h->has_shape || !skip(h, "("))
        return false;
    for (h->has_shape = true; !skip(h, ")"); h->axes++) {
        char *end;
        errno = 0;
        unsigned long long n = strtoull(h->at, &end, 10);
        if (*h->at < '0' || *h->at > '9' || errno)
            return false;
        h->at = end;
        if (h->axes < AXES)
            h->shape[h->axes] = n;
        if (!skip(h, ",") && *h->at != ')')
            return false;
    }
    return true;
}

static bool read_header(struct header *h)
{
    bool good = skip(h, "{");
    while (good && !skip(h, "}")) {
        good = skip(h, "'descr':")           ? read_type(h)
               : skip(h, "'fortran_order':") ? read_order(h)
                                             : skip(h, "'shape':") && read_shape(h);
        h->at += strspn(h->at, " ");
        good = good && (skip(h, ",") || *h->at == '}');
    }
    return good && h->has_type && h->has_order && h->has_shape && h->at[strspn(h->at, " \n")] == 0;
}

/* What NumPy calls such values, or their code. */
static const char *type_name(struct arena *a, const struct header *h)
{
    static const char *const names[][2] = {
        {"<f8", "float64"}, {"<f2", "float16"},   {">f4", "float32 of the other byte order"},
        {"<i8", "int64"},   {"<c8", "complex64"}, {"|O", "Python objects"}};
    const char *code = arena_strndup(a, h->type, h->type_len);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(code, names[i][0]) == 0)
            return names[i][1];
    return code;
}

static enum err_code check(const struct header *h, struct arena *a, const char *name, struct err *e)
{
    if (h->type_len != 3 || memcmp(h->type, "<f4", 3))
        return err_fail(e, ERR_INPUT,
                        "%s: values are %.40s, not float32; save matrix.astype('float32')", name,
                        type_name(a, h));
    if (h->axes != AXES)
        return err_fail(e, ERR_INPUT, "%s: an array with %zu axes, not a matrix with rows", name,
                        h->axes);
    if (h->by_columns)
        return err_fail(e, ERR_INPUT,
                        "%s: stored by columns (fortran_order); save "
                        "numpy.ascontiguousarray(matrix)",
                        name);
    if (!h->shape[1] || h->shape[1] > NPY_DIM_MAX)
        return err_fail(e, ERR_INPUT, "%s: rows of %llu numbers; 1 to %d are possible", name,
                        h->shape[1], NPY_DIM_MAX);
    return OK;
}

enum err_code npy_read(struct npy_matrix *out, struct arena *a, const struct source_text *file,
                       struct err *e)
{
    const uint8_t *p = (const uint8_t *)file->text;
    if (file->len < 12 || memcmp(p, "\x93NUMPY", 6))
        return err_fail(e, ERR_INPUT, "%s: not a .npy file", file->name);
    if (p[6] < 1 || p[6] > 3 || p[7])
        return err_fail(e, ERR_INPUT, "%s: version %u.%u of .npy is unknown", file->name, p[6],
                        p[7]);
    size_t width = p[6] == 1 ? 2 : 4, start = PREAMBLE + width;
    uint64_t size = get_le(p + PREAMBLE, (int)width);
    if (size > file->len - start)
        return err_fail(e, ERR_INPUT, "%s: ends within its header", file->name);
    struct header h = {.at = arena_strndup(a, file->text + start, size)};
    const char *text = h.at;
    if (strlen(text) != size || !read_header(&h))
        return err_fail(e, ERR_INPUT, "%s: not the header of an array: %.80s", file->name, text);
    enum err_code code = check(&h, a, file->name, e);
    if (code)
        return err_up(e, code);
    size_t len = file->len - start - (size_t)size;
    if (h.shape[0] > len / sizeof(float) / h.shape[1] ||
        len != h.shape[0] * h.shape[1] * sizeof(float))
        return err_fail(e, ERR_INPUT, "%s: %zu bytes do not fit a matrix of %llu x %llu",
                        file->name, len, h.shape[0], h.shape[1]);
    *out = (struct npy_matrix){arena_memdup(a, file->text + start + size, len), h.shape[0],
                               (uint32_t)h.shape[1]};
    return OK;
}
