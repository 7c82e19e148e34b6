/* Which files a pattern names, and what it leaves out, in a folder of every kind of thing. */
#include "base/buf.h"
#include "base/io/file_pattern.h"
#include "base/io/out_file.h"
#include "base/os.h"
#include "tests/unit.h"

#include <sys/stat.h>
#include <unistd.h>

#define NFC "\xc3\xa9"   /* é */
#define NFD "e\xcc\x81" /* e with a combining accent */

static char folder[64];

static int make(void **state)
{
    static const char *const files[] = {
        "a.txt",     "b.txt",          "c.dat",       ".hidden.txt",       "sub/d.txt",
        "sub/e.gz",  "sub/deep/f.txt", "sub/g.txt.gz", "sub/.git/x.txt",   "caf" NFD ".txt",
        "none/x.md", "[odd]/x",        "Z.txt",       "sub/deep/deeper/h", "both/" NFC,
        "both/" NFD};
    struct arena a = {0};
    snprintf(folder, sizeof folder, "/tmp/eqloom-pattern-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *path = os_join(&a, folder, files[i]);
        if (os_mkdirs(os_dirname(&a, path), NULL) || out_file_write(path, "x", 1, NULL))
            return 1;
    }
    int failed = mkfifo(os_join(&a, folder, "sub/pipe.txt"), 0600) |
                 mkfifo(os_join(&a, folder, "pipe"), 0600) |
                 symlink("a.txt", os_join(&a, folder, "link.txt")) |
                 symlink("gone", os_join(&a, folder, "sub/broken.txt")) |
                 symlink("deep", os_join(&a, folder, "sub/again"));
    arena_free(&a);
    return failed;
}

static int drop(void **state)
{
    os_remove_tree(folder);
    return 0;
}

/* "a.txt b.txt; 1 hidden (.c)", or the message; names are relative to the folder. */
static char *matched(struct arena *a, const char *pattern, const char *const *suffixes)
{
    struct file_matches found;
    struct err e = {0};
    struct buf out = {0};
    size_t n = strlen(folder) + 1;
    if (file_pattern_match(&found, a, folder, pattern, suffixes, &e))
        return arena_strdup(a, e.message);
    for (size_t i = 0; i < found.n; i++)
        buf_printf(&out, "%s%s", i ? " " : "", found.paths[i] + n);
    if (found.left_out) {
        buf_puts(&out, "; ");
        for (const char *s = found.left_out, *at; *s; s = at) {
            at = strstr(s, folder);
            buf_add(&out, s, at ? (size_t)(at - s) : strlen(s));
            at = at ? at + n : s + strlen(s);
        }
    }
    return buf_text(&out, a);
}

TEST_WITH(patterns, make, drop)
{
    static const char *const text[] = {".txt", NULL};
    static const struct {
        const char *pattern;
        bool text; /* folders stand for files in .txt */
        const char *matched;
    } cases[] = {
        {"a.txt", false, "a.txt"},
        {"*.txt", false, "Z.txt a.txt b.txt caf" NFD ".txt link.txt; 1 hidden (.hidden.txt)"},
        {"*.none", false, ""},
        {"[ab].txt", false, "a.txt b.txt"},
        {"?.dat", false, "c.dat"},
        {"sub/*.txt", false,
         "sub/d.txt; 1 link (sub/broken.txt), 1 that is no file (sub/pipe.txt)"},
        {"**/*.txt", false,
         "Z.txt a.txt b.txt caf" NFD ".txt link.txt sub/d.txt sub/deep/f.txt; 2 hidden "
         "(.hidden.txt, ...), 2 links (sub/broken.txt, ...), 1 that is no file (sub/pipe.txt)"},
        {"sub/**/f.txt", false, "sub/deep/f.txt; 1 hidden (sub/.git), 1 link (sub/again)"},
        {"sub/deep/**", false, "sub/deep/deeper/h sub/deep/f.txt"},
        {"sub/deep", false, "sub/deep/deeper/h sub/deep/f.txt"},
        {"sub/deep/**/h", false, "sub/deep/deeper/h"},
        {"sub", true,
         "sub/d.txt sub/deep/f.txt sub/g.txt.gz; 1 hidden (sub/.git), 2 links (sub/again, ...), "
         "1 that is no file (sub/pipe.txt), 2 with other endings (sub/deep/deeper/h, ...)"},
        {"none", true, "; 1 with another ending (none/x.md)"},
        {"caf" NFC ".txt", false, "caf" NFD ".txt"},
        {"caf" NFD ".txt", false, "caf" NFD ".txt"},
        {"caf?.txt", false, "caf" NFD ".txt"},
        {"caf[" NFC "].txt", false, "caf" NFD ".txt"},
        {"both/" NFC, false, "both/" NFC},
        {"both/" NFD, false, "both/" NFD},
        {"both/?", false, "both/" NFD " both/" NFC},
        {"\\[odd\\]/x", false, "[odd]/x"},
        {"./a.txt", false, "./a.txt"},
        {"sub/../a.txt", false, "sub/../a.txt"},
        {"sub/again", false, "sub/again/deeper/h sub/again/f.txt"}, /* a link that is named */
        {"*/../x", false, "'..' after a wildcard in the pattern '*/../x'"},
        {"**/a/**", false, "'**' twice in the pattern '**/a/**'"},
        {"**.txt", false, "'**' beside other characters in the pattern '**.txt'"},
        {"*/*/*/*/*/*/*/*/*", false,
         "more than 8 parts with wildcards in the pattern '*/*/*/*/*/*/*/*/*'"},
    };
    struct arena a = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(matched(&a, cases[i].pattern, cases[i].text ? text : NULL),
                            cases[i].matched);
    assert_non_null(strstr(matched(&a, "pipe", NULL), "is a FIFO, socket or device"));
    assert_string_equal(matched(&a, "pip?", NULL), "; 1 that is no file (pipe)");
    if (geteuid()) { /* root may read it */
        chmod(os_join(&a, folder, "none"), 0);
        assert_non_null(strstr(matched(&a, "**/*.md", NULL), "cannot list"));
        chmod(os_join(&a, folder, "none"), 0700);
    }
    arena_free(&a);
}

TEST(names_of_paths)
{
    static const struct {
        const char *pattern, *path;
        bool fits;
    } cases[] = {
        {"a.txt", "a.txt", true},        {"a.txt", "b/a.txt", false}, {"*.txt", "b/a.txt", false},
        {"*/*.txt", "b/a.txt", true},    {"b", "b/a.txt", true},      {"**/a.txt", "a.txt", true},
        {"**/a.txt", "b/c/a.txt", true}, {"**", "b/c/a.txt", true},   {"b/**", "b/c/a.txt", true},
        {"b/**", "c/a.txt", false},      {"caf" NFC, "caf" NFD, true}, {"caf?", "caf" NFC, true},
        {"*.txt", ".a.txt", false},      {"b/c", "b", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(file_pattern_fits(cases[i].pattern, cases[i].path), cases[i].fits);
}

/* What is no file is not opened, whoever names it. */
TEST_WITH(no_files, make, drop)
{
    struct arena a = {0};
    struct span bytes;
    struct err e = {0};
    assert_int_equal(os_read_file(&bytes, &a, os_join(&a, folder, "pipe"), 10, &e), ERR_INPUT);
    assert_non_null(strstr(e.message, "pipe is a FIFO"));
    assert_int_equal(os_read_file(&bytes, &a, "/dev/zero", 10, &e), ERR_INPUT);
    assert_non_null(strstr(e.message, "/dev/zero is a device"));
    int ends[2]; /* what a shell passes for <(command) */
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    close(ends[1]);
    assert_int_equal(os_read_file(&bytes, &a, arena_printf(&a, "/dev/fd/%d", ends[0]), 10, &e), OK);
    assert_int_equal(bytes.len, 1);
    close(ends[0]);
    arena_free(&a);
}
