#include "tests/ops/latex/reading_table.h"

#include "base/os.h"
#include "tests/unit.h"

static size_t line_length(const char *s)
{
    size_t n = strcspn(s, "\n");
    return n + (s[n] == '\n');
}

static bool is_outcome(const char *s)
{
    return strncmp(s, "    ", 4) == 0;
}

/* The table as it should be, and the number of entries that differ, which are printed. */
static size_t rewrite(struct buf *out, struct arena *a, reading_write *write, const char *table,
                      const char *path)
{
    size_t wrong = 0;
    for (const char *s = table; *s;) {
        const char *begin = s, *below;
        if (*s == '#' || *s == '\n') {
            s += line_length(s);
            buf_add(out, begin, (size_t)(s - begin));
            continue;
        }
        while (*s && *s != '\n' && !is_outcome(s))
            s += line_length(s);
        for (below = s; is_outcome(s);)
            s += line_length(s);
        size_t n = (size_t)(below - begin), at = out->len + n;
        buf_add(out, begin, n);
        write(out, a, arena_strndup(a, begin, n - (begin[n - 1] == '\n')));
        if (out->len - at == (size_t)(s - below) && !memcmp(out->data + at, below, out->len - at))
            continue;
        print_error("%s: is now\n%s", path, out->data + at - n);
        wrong++;
    }
    return wrong;
}

void reading_table_check(const char *notation, reading_write *write)
{
    struct arena a = {0};
    struct buf now = {0};
    struct span table;
    const char *update = getenv("EQLOOM_UPDATE_GOLDEN");
    const char *path = arena_printf(&a, "%s/%s.txt", READING, notation);
    assert_int_equal(os_read_file(&table, &a, path, 1 << 20, NULL), OK);
    size_t wrong =
        rewrite(&now, &a, write, arena_strndup(&a, (const char *)table.data, table.len), path);
    if (update && *update) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fwrite(now.data, 1, now.len, f);
        assert_int_equal(fclose(f), 0);
        wrong = 0;
    }
    buf_free(&now);
    arena_free(&a);
    assert_int_equal(wrong, 0);
}
