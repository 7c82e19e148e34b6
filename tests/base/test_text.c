/* Text as it comes in: what is read, what is refused and by which name; lines and tables, with
 * tables beside a reader that knows nothing of quotes and one that is written again and again. */
#include "base/io/columns.h"
#include "base/io/text_file.h"
#include "base/io/unpack.h"
#include "base/rng.h"
#include "base/text/utf8.h"
#include "tests/unit.h"

#include <archive.h>
#include <archive_entry.h>
#include <zlib.h>

static struct source_text source(const char *text, size_t n)
{
    return (struct source_text){"f", text, n};
}

/* As a parser would get it: "ok:TEXT" or the message, with its place if it has one. */
static char *seen(struct arena *a, const char *bytes, size_t n)
{
    struct source_text file = source(bytes, n), text;
    struct err e = {0};
    if (text_file_decode(&text, a, &file, 1 << 20, &e) || utf8_check(&text, &e))
        return e.line ? arena_printf(a, "%d:%d: %s", e.line, e.column, e.message)
                      : arena_printf(a, "%s", e.message);
    return arena_printf(a, "ok:%.*s", (int)text.len, text.text);
}

TEST_IN_ARENA(encodings)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *seen;
    } cases[] = {
        {"", 0, "ok:"},
        {"x\n", 2, "ok:x\n"},
        {"\xef\xbb\xbfx\n", 5, "ok:x\n"},
        {"\xef\xbb\xbf", 3, "ok:"},
        {"x\r\ny\r\n", 6, "ok:x\ny\n"},
        {"x\r", 2, "ok:x"},
        {"x\ry\n", 4, "1:2: a carriage return within a line: lines end in LF or CR LF"},
        {"x\ny\0z\n", 6, "2:2: a NUL byte, which no text has"},
        {"x\n\xe9t\xe9\n", 6, "2:1: a byte (0xe9) that is not UTF-8 text"},
        {"\xff\xfex\0\n\0", 6, "f: this is UTF-16, not UTF-8"},
        {"\xfe\xff\0x\0\n", 6, "f: this is UTF-16, not UTF-8"},
        {"x\0\n\0", 4, "f: this is UTF-16, not UTF-8"},
        {"\0x\0\n", 4, "f: this is UTF-16, not UTF-8"},
        {"\xff\xfe\0\0x\0\0\0", 8, "f: this is UTF-32, not UTF-8"},
        {"\0\0\xfe\xff\0\0\0x", 8, "f: this is UTF-32, not UTF-8"},
        {"x\0\0\0", 4, "f: this is UTF-32, not UTF-8"},
        {"π\n", 3, "ok:π\n"},
        {"\xef\xbb\xbf\xef\xbb\xbfx", 7, "ok:\xef\xbb\xbfx"}, /* of two marks one is text */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(seen(a, cases[i].bytes, cases[i].n), cases[i].seen);
}

/* ---- compression ---- */

struct bytes {
    uint8_t data[1 << 16];
    size_t n;
};

static void deflated(struct bytes *out, const char *text)
{
    z_stream z = {.next_in = (Bytef *)text, .avail_in = (uInt)strlen(text)};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_out = out->data + out->n;
    z.avail_out = (uInt)(sizeof out->data - out->n);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    out->n = sizeof out->data - z.avail_out;
    deflateEnd(&z);
}

/* Files of an archive, or, with a filter, of one compressed file. */
static void archived(struct bytes *out, int filter, bool zip, const char *const *texts)
{
    struct archive *w = archive_write_new();
    out->n = 0;
    filter ? archive_write_set_format_raw(w)
    : zip  ? archive_write_set_format_zip(w)
           : archive_write_set_format_ustar(w);
    archive_write_add_filter(w, filter);
    archive_write_set_bytes_in_last_block(w, 1);
    assert_int_equal(archive_write_open_memory(w, out->data, sizeof out->data, &out->n), ARCHIVE_OK);
    for (int i = 0; texts[i]; i++) {
        struct archive_entry *entry = archive_entry_new();
        char name[] = "a.txt";
        name[0] = (char)(name[0] + i);
        archive_entry_set_pathname(entry, name);
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_entry_set_size(entry, (la_int64_t)strlen(texts[i]));
        archive_entry_set_perm(entry, 0644);
        assert_int_equal(archive_write_header(w, entry), ARCHIVE_OK);
        archive_write_data(w, texts[i], strlen(texts[i]));
        archive_entry_free(entry);
    }
    assert_int_equal(archive_write_close(w), ARCHIVE_OK);
    archive_write_free(w);
}

TEST_IN_ARENA(compressed)
{
    static const int filters[] = {ARCHIVE_FILTER_BZIP2, ARCHIVE_FILTER_XZ, ARCHIVE_FILTER_ZSTD};
    static const char *const one[] = {"sin x\n", NULL}, *const two[] = {"x\n", "y\n", NULL};
    struct bytes b = {.n = 0};
    deflated(&b, "sin x\n");
    assert_string_equal(seen(a, (char *)b.data, b.n), "ok:sin x\n");
    deflated(&b, "cos x\n"); /* another member */
    assert_string_equal(seen(a, (char *)b.data, b.n), "ok:sin x\ncos x\n");
    b.n = 0;
    deflated(&b, "");
    assert_string_equal(seen(a, (char *)b.data, b.n), "ok:");
    for (size_t i = 0; i < 3; i++) {
        archived(&b, filters[i], false, one);
        assert_string_equal(seen(a, (char *)b.data, b.n), "ok:sin x\n");
    }
    for (int zip = 0; zip < 2; zip++) {
        archived(&b, 0, zip, one);
        assert_string_equal(seen(a, (char *)b.data, b.n), "ok:sin x\n");
        archived(&b, 0, zip, two);
        assert_string_equal(seen(a, (char *)b.data, b.n), "f: an archive of several files: unpack it");
    }
}

/* Each byte of a compressed file matters: cut anywhere, or with a flipped bit, it is refused, or
 * (where the byte says when or by whom it was packed) read as the same text. */
TEST_IN_ARENA(damage)
{
    static const char text[] = "sin x\ncos x\nsin x + cos x + sin x\n";
    static const char *const one[] = {text, NULL};
    struct bytes packed[5] = {{.n = 0}};
    size_t flips = 0, told = 0;
    deflated(&packed[0], text);
    archived(&packed[1], ARCHIVE_FILTER_BZIP2, false, one);
    archived(&packed[2], ARCHIVE_FILTER_XZ, false, one);
    archived(&packed[3], ARCHIVE_FILTER_ZSTD, false, one);
    archived(&packed[4], 0, true, one);
    char *wanted = arena_printf(a, "ok:%s", text);
    for (size_t k = 0; k < 5; k++) {
        struct bytes *b = &packed[k];
        assert_string_equal(seen(a, (char *)b->data, b->n), wanted);
        size_t end = k == 4 ? 60 : b->n; /* what follows the file in a zip lists it again */
        for (size_t n = 12; n < end; n++)
            if (!strncmp(seen(a, (char *)b->data, n), "ok:", 3))
                fail_msg("file %zu cut to %zu of %zu bytes is read", k, n, b->n);
        for (size_t i = 0; i < end; i++)
            for (int bit = 0; bit < 8 && k != 3; bit++) { /* zst has no checksum unless asked */
                b->data[i] ^= (uint8_t)(1 << bit);
                char *now = seen(a, (char *)b->data, b->n);
                told += strncmp(now, "ok:", 3) != 0;
                if (!strncmp(now, "ok:", 3) && strcmp(now, wanted))
                    fail_msg("file %zu with bit %d of byte %zu flipped: %s", k, bit, i, now);
                b->data[i] ^= (uint8_t)(1 << bit);
                flips++;
            }
    }
    print_message("%zu of %zu flips told\n", told, flips);
    assert_true(told * 10 > flips * 8);
    packed[0].data[packed[0].n] = 'x'; /* more than the file */
    assert_string_equal(seen(a, (char *)packed[0].data, packed[0].n + 1),
                        "f: damaged compressed file");
}

TEST_IN_ARENA(names)
{
    assert_int_equal(unpack_name("a.rules.gz"), 7);
    assert_int_equal(unpack_name("a.rules"), 7);
    assert_int_equal(unpack_name("A.JSONL.XZ"), 7);
    assert_int_equal(unpack_name(".gz"), 3);
    assert_string_equal(utf8_nfc(a, "e\xcc\x81"), "\xc3\xa9");
    assert_string_equal(utf8_nfc(a, "\xc3\xa9"), "\xc3\xa9");
    assert_string_equal(utf8_nfc(a, "\xff"), "\xff");
}

/* ---- lines ---- */

TEST_IN_ARENA(lines)
{
    struct source_text text = source("a\n \t\n\nb c \n\"d\ne\",f\nlast", 24);
    struct text_lines lines = text_lines_of(&text);
    static const struct {
        size_t number;
        const char *text;
    } wanted[] = {{1, "a"}, {2, ""}, {3, ""}, {4, "b c "}, {5, "\"d\ne\",f"}, {7, "last"}};
    struct text_line line;
    lines.separator = ',';
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(text_lines_next(&line, &lines, NULL), OK);
        assert_int_equal(line.number, wanted[i].number);
        assert_string_equal(arena_strndup(a, line.text.text, line.text.len), wanted[i].text);
    }
    assert_int_equal(text_lines_next(&line, &lines, NULL), ERR_NOTFOUND);
    struct err e = {0};
    text = source("a,b\nc,\"d\ne,f\n", 13);
    lines = text_lines_of(&text);
    lines.separator = ',';
    assert_int_equal(text_lines_next(&line, &lines, &e), OK);
    assert_int_equal(text_lines_next(&line, &lines, &e), ERR_INPUT);
    assert_true(e.line == 2 && e.column == 3);
}

/* ---- tables ---- */

/* The wanted cells of all rows as "a|b/c|d", or the message of the first error. */
static char *table(struct arena *a, const char *text, const char *const *names, size_t n)
{
    struct source_text file = source(text, strlen(text));
    struct text_lines lines = text_lines_of(&file);
    struct text_line line;
    struct columns t;
    struct buf out = {0};
    struct err e = {0};
    enum err_code code = text_lines_next(&line, &lines, &e);
    if (!code)
        code = text_line_up(columns_header(&t, a, &line, names, n, &e), &line, &e);
    lines.separator = code ? 0 : t.separator;
    while (!code && !(code = text_lines_next(&line, &lines, &e))) {
        struct column_cell *cells;
        size_t found;
        code = text_line_up(columns_row(&cells, &found, a, &t, &line, &e), &line, &e);
        buf_puts(&out, out.len ? "/" : "");
        for (size_t i = 0; !code && i < found; i++)
            buf_printf(&out, "%s%.*s", i ? "|" : "", (int)cells[i].len,
                       line.text.text + cells[i].at);
    }
    char *all = buf_text(&out, a);
    return code == ERR_NOTFOUND ? all : arena_printf(a, "%d:%d: %s", e.line, e.column, e.message);
}

TEST_IN_ARENA(tables)
{
    static const char *const names[] = {"answer", "key"};
    static const struct {
        const char *text, *seen;
    } cases[] = {
        {"answer,key\nx,y\n", "x|y"},
        {"key;id;answer\ny;1;x\ny2;2;x2\n", "x|y/x2|y2"},
        {"id\tanswer\tkey\n1\tx\ty\n", "x|y"},
        {"\"answer\" , \"key\"\nx, \"log(2, y)\"\n", "x|log(2, y)"},
        {"answer,key,note\nx,y,\"two\nlines, \"\"quoted\"\"\"\nz,w,5\" pipe\n", "x|y/z|w"},
        {"answer;key\n\"a;b\";c,d\n", "a;b|c,d"},
        {"answer,key\n,\nx,y\n", "x|y"}, /* a row of empty cells is an empty line */
        {"answer,key\nx,y,z\n", "2:1: expected 2 columns as in the header, found 3"},
        {"answer,key\nx\n", "2:1: expected 2 columns as in the header, found 1"},
        {"answer,solution\nx,y\n", "1:1: the header has no column 'key'"},
        {"answer,key,answer\nx,y,z\n", "1:12: two columns are called 'answer'"},
        {"answer,key\n\"x\"y,z\n", "2:4: a character after the quote that ends a cell"},
        {"answer,key\nx,\"y\nz,w\n", "2:3: this quote is never closed"},
        {"answer key\nx y\n", "1:1: the header has no column 'answer'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(table(a, cases[i].text, names, 2), cases[i].seen);
    assert_string_equal(table(a, "answer\nd(x, y; z)\n", names, 1), "d(x, y; z)");
}

/* Random cells are read as they were written, quoted or not. */
TEST(written_tables)
{
    static const char *const contents[] = {"x",   "x, y", "a;b", "",      " x ", "two\nlines",
                                           "\ttab", "'x'",  "π",  "a\r\nb"};
    static const char *const names[] = {"c1", "c3"};
    struct rng rng = rng_new(test_seed(7), 1);
    for (int round = 0; round < CASES(2000, 200); round++) {
        struct arena a = {0};
        struct buf text = {0}, wanted = {0};
        char separator = "\t,;"[rng_below(&rng, 3)];
        buf_printf(&text, "c0%cc1%cc2%cc3\n", separator, separator, separator);
        size_t rows = rng_below(&rng, 5);
        for (size_t r = 0; r < rows; r++) {
            buf_puts(&wanted, r ? "/" : "");
            for (int k = 0; k < 4; k++) {
                const char *cell = k == 2 ? "2" : contents[rng_below(&rng, 10)];
                bool quoted = strpbrk(cell, "\t,;\n") || rng_below(&rng, 2);
                buf_printf(&text, "%s%s%s%c", quoted ? "\"" : "", cell, quoted ? "\"" : "",
                           k == 3 ? '\n' : separator);
                if (k % 2)
                    buf_printf(&wanted, "%s%s", k == 3 ? "|" : "", cell);
            }
        }
        assert_string_equal(table(&a, text.data, names, 2), wanted.len ? wanted.data : "");
        buf_free(&text);
        buf_free(&wanted);
        arena_free(&a);
    }
}
