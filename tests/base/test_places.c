/* Files and folders that others may have a hand in: walking, removing, writing and reading. */
#include "base/io/in_file.h"
#include "base/io/out_file.h"
#include "base/os.h"
#include "base/process/scratch.h"

#include "tests/unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct err e;

static char *folder(struct arena *a)
{
    char *path = arena_strdup(a, "/tmp/eqloom-places-XXXXXX");
    assert_non_null(mkdtemp(path));
    return path;
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static const char *text_of(struct arena *a, const char *path)
{
    struct span bytes;
    assert_int_equal(os_read_file(&bytes, a, path, 1000, &e), OK);
    return (const char *)bytes.data;
}

/* Makes `depth` folders, one in the other, whose path no system call takes as a whole. */
static void dig(const char *top, int depth)
{
    int fd = open(top, O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < depth; i++) {
        assert_int_equal(mkdirat(fd, "deep", 0700), 0);
        int next = openat(fd, "deep", O_RDONLY | O_DIRECTORY);
        assert_true(next >= 0);
        close(fd);
        fd = next;
    }
    close(openat(fd, "bottom", O_WRONLY | O_CREAT, 0600));
    close(fd);
}

TEST_IN_ARENA(removed_whatever_it_holds)
{
    char *top = folder(a), *outside = folder(a), *file = os_join(a, outside, "kept");
    put(file, "kept");
    dig(top, 1200);
    for (int i = 0; i < 300; i++) {
        char *sub = arena_printf(a, "%s/%d/a", top, i);
        assert_int_equal(os_mkdirs(sub, &e), OK);
        put(os_join(a, sub, "1"), "");
        assert_int_equal(symlink(outside, os_join(a, sub, "2")), 0);
        assert_int_equal(mkfifo(os_join(a, sub, "3"), 0600), 0);
        chmod(sub, 0);
    }
    os_remove_tree(top);
    assert_int_equal(access(top, F_OK), -1);
    assert_int_equal(symlink(outside, top), 0);
    os_remove_tree(top); /* the link, not where it leads */
    assert_int_equal(access(file, F_OK), 0);
    os_remove_tree(outside);
    os_remove_tree(outside);
}

TEST_IN_ARENA(walked_whole_or_refused)
{
    char *top = folder(a), **paths;
    size_t n;
    put(os_join(a, top, "b.txt"), "");
    put(os_join(a, top, "a.tex"), "");
    put(os_join(a, top, ".hidden.txt"), "");
    assert_int_equal(symlink("b.txt", os_join(a, top, "link.txt")), 0);
    assert_int_equal(mkfifo(os_join(a, top, "pipe.txt"), 0600), 0);
    assert_int_equal(os_list_tree(&paths, &n, a, top, &e), OK);
    assert_int_equal(n, 4);
    assert_string_equal(paths[1], os_join(a, top, "b.txt"));
    assert_string_equal(paths[3], os_join(a, top, "pipe.txt"));

    assert_int_equal(os_list_tree(&paths, &n, a, os_join(a, top, "b.txt"), &e), ERR_IO);
    assert_non_null(strstr(e.message, "b.txt is not a folder"));
    assert_int_equal(os_list_tree(&paths, &n, a, os_join(a, top, "none"), &e), ERR_NOTFOUND);
    assert_non_null(strstr(e.message, "none: No such file"));
    char *closed = os_join(a, top, "closed");
    assert_int_equal(mkdir(closed, 0), 0);
    bool root = geteuid() == 0;
    if (root) {
        assert_int_equal(chmod(top, 0755), 0);
        assert_int_equal(seteuid(65534), 0);
    }
    assert_int_equal(os_list_tree(&paths, &n, a, top, &e), ERR_IO);
    assert_non_null(strstr(e.message, "closed: Permission denied"));
    assert_int_equal(root ? seteuid(0) : 0, 0);
    rmdir(closed);
    dig(top, 1200);
    assert_int_equal(os_list_tree(&paths, &n, a, top, &e), ERR_IO);
    assert_non_null(strstr(e.message, "deep...: File name too long"));
    os_remove_tree(top);
}

static enum err_code replace(struct arena *a, const char *top, const char *name, const char *text)
{
    struct out_file x = {0};
    int fd = open(top, O_RDONLY | O_DIRECTORY);
    enum err_code code = out_file_replace(&x, a, fd, name, name, name, &e);
    close(fd);
    if (!code)
        fputs(text, x.f);
    return out_file_close(&x, code, &e);
}

/* A temporary file of this name, not written to for so many hours. */
static char *left(struct arena *a, const char *top, const char *name, int hours)
{
    char *path = os_join(a, top, name);
    struct timespec times[] = {{time(NULL) - 3600 * hours, 0}, {time(NULL) - 3600 * hours, 0}};
    put(path, "half");
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    return path;
}

TEST_IN_ARENA(dead_temporary_files_are_removed)
{
    char *top = folder(a);
    static const char *const others[] = {"g.0123456789abcdef.tmp", "f.0123456789abcdef.tm",
                                         "f.0123456789abcde.tmp",  "f.0123456789abcdefg.tmp",
                                         "f.0123456789ABCDEF.tmp", "f-0123456789abcdef.tmp",
                                         ".0123456789abcdef.tmp"};
    char *dead = left(a, top, "f.0123456789abcdef.tmp", 25);
    char *alive = left(a, top, "f.1123456789abcdef.tmp", 23);
    char *same_ending = left(a, top, "ef.0123456789abcdef.tmp", 25), *kept[7], *link;
    for (size_t i = 0; i < 7; i++)
        kept[i] = left(a, top, others[i], 1000);
    link = os_join(a, top, "f.2123456789abcdef.tmp");
    assert_int_equal(symlink("f", link), 0);
    assert_int_equal(out_file_write(os_join(a, top, "f"), "new", 3, &e), OK);
    assert_int_equal(access(dead, F_OK), -1);
    assert_int_equal(access(same_ending, F_OK), -1);
    assert_int_equal(access(alive, F_OK), 0);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(access(kept[i], F_OK), 0);
    assert_int_equal(access(link, F_OK), 0);
    dead = left(a, top, "g.0123456789abcdef.tmp", 25);
    alive = left(a, top, "h.0123456789abcdef.tmp", 25);
    assert_int_equal(replace(a, top, "g", "new"), OK);
    assert_int_equal(access(dead, F_OK), -1);
    assert_int_equal(access(alive, F_OK), 0);
    os_remove_tree(top);
}

TEST_IN_ARENA(written_beside)
{
    char *top = folder(a), *path = os_join(a, top, "f"), *target = os_join(a, top, "target");
    char name[256] = "", **paths;
    size_t n;
    struct out_file x;
    struct stat st;
    assert_int_equal(out_file_write(path, "old", 3, &e), OK);
    assert_int_equal(out_file_open(&x, a, path, &e), OK);
    fputs("new", x.f);
    assert_string_equal(text_of(a, path), "old");
    assert_false(out_file_is_same(&x));
    assert_int_equal(out_file_close(&x, ERR_FAILED, &e), ERR_FAILED);
    assert_string_equal(text_of(a, path), "old");
    assert_int_equal(out_file_open(&x, a, path, &e), OK);
    fputs("old", x.f);
    assert_true(out_file_is_same(&x));
    assert_int_equal(out_file_close(&x, OK, &e), OK);
    memset(name, 'n', 255);
    assert_int_equal(out_file_write(os_join(a, top, name), "long", 4, &e), OK);
    unlink(os_join(a, top, name));

    /* The user's own way there is not changed by a link, and no pipe is waited for. */
    put(target, "mine");
    unlink(path);
    assert_int_equal(symlink("target", path), 0);
    assert_int_equal(out_file_write(path, "new", 3, &e), ERR_INPUT);
    assert_non_null(strstr(e.message, "it is a link"));
    assert_int_equal(replace(a, top, "f", "new"), OK);
    assert_string_equal(text_of(a, path), "new");
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISREG(st.st_mode));
    assert_string_equal(text_of(a, target), "mine");
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(out_file_write(path, "new", 3, &e), ERR_IO);
    assert_non_null(strstr(e.message, "nobody reads this pipe"));
    assert_int_equal(replace(a, top, "f", "new"), OK);
    assert_string_equal(text_of(a, path), "new");
    assert_int_equal(out_file_write("/dev/null", "new", 3, &e), OK);
    assert_int_equal(out_file_write(os_join(a, top, "none/f"), "new", 3, &e), ERR_IO);
    assert_int_equal(os_list_tree(&paths, &n, a, top, &e), OK);
    assert_int_equal(n, 2); /* and nothing temporary */
    os_remove_tree(top);
}

TEST_IN_ARENA(read_if_plain)
{
    char *top = folder(a), *path = os_join(a, top, "f");
    FILE *f = NULL;
    assert_int_equal(in_file_open(&f, AT_FDCWD, path, "NAME", &e), ERR_NOTFOUND);
    put(path, "text");
    assert_int_equal(in_file_open(&f, AT_FDCWD, path, "NAME", &e), OK);
    assert_int_equal(fgetc(f), 't');
    fclose(f);
    const char *const others[] = {"link", "pipe", "loose", "zero"};
    assert_int_equal(symlink("f", os_join(a, top, "link")), 0);
    assert_int_equal(mkfifo(os_join(a, top, "pipe"), 0600), 0);
    assert_int_equal(symlink("none", os_join(a, top, "loose")), 0);
    assert_int_equal(symlink("/dev/zero", os_join(a, top, "zero")), 0);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(in_file_open(&f, AT_FDCWD, os_join(a, top, others[i]), "NAME", &e),
                         ERR_INPUT);
        assert_string_equal(e.message, "NAME is not a plain file");
    }
    assert_int_equal(in_file_open(&f, AT_FDCWD, top, "NAME", &e), ERR_INPUT);
    assert_int_equal(in_file_open(&f, AT_FDCWD, "/dev/null", "NAME", &e), ERR_INPUT);
    os_remove_tree(top);
}

TEST_IN_ARENA(left_by_the_dead)
{
    char *top = folder(a), **paths, *foreign = os_join(a, top, "eqloom-test-foreign");
    const char *was = getenv("TMPDIR");
    struct scratch x, y;
    size_t n;
    setenv("TMPDIR", top, 1);
    assert_int_equal(scratch_open(&x, "test", &e), OK);
    put(os_join(a, x.path, "x"), "");
    pid_t child = fork();
    if (child == 0) {
        if (scratch_open(&y, "test", &e) || os_mkdirs(os_join(a, y.path, "left"), &e))
            _exit(1);
        put(os_join(a, y.path, "left/file"), "");
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    put(os_join(a, top, "eqloom-test-file"), "");
    assert_int_equal(symlink(x.path, os_join(a, top, "eqloom-test-link")), 0);
    assert_int_equal(mkdir(foreign, 0700), 0);
    bool root = geteuid() == 0;
    if (root)
        assert_int_equal(chown(foreign, 65534, 65534), 0);
    assert_int_equal(os_list_tree(&paths, &n, a, top, &e), OK);
    assert_int_equal(n, 4);
    assert_int_equal(scratch_open(&y, "other", &e), OK); /* of another kind */
    scratch_close(&y);
    assert_int_equal(os_list_tree(&paths, &n, a, top, &e), OK);
    assert_int_equal(n, 4);
    assert_int_equal(scratch_open(&y, "test", &e), OK);
    assert_string_not_equal(x.path, y.path);
    assert_int_equal(os_list_tree(&paths, &n, a, top, &e), OK);
    assert_int_equal(n, 3); /* the file of x, and what is no folder */
    assert_int_equal(access(foreign, F_OK), root ? 0 : -1);
    scratch_close(&x);
    scratch_close(&y);
    scratch_close(&y);
    os_remove_tree(top);
    assert_int_equal(scratch_open(&x, "test", &e), ERR_IO);
    assert_non_null(strstr(e.message, "for temporary files (TMPDIR)"));
    was ? setenv("TMPDIR", was, 1) : unsetenv("TMPDIR");
}
