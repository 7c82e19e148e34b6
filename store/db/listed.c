/* Detects files of a database that have changed; see rocks_internal.h. RocksDB takes a truncated
 * list of files (MANIFEST) for that of an older database and removes the tables that are not in it;
 * it reads a table's end unchecked, so that one flipped bit may crash the program; and it goes on
 * with the next log where one is gone or cut off.
 *
 * The file LISTED has a line for the MANIFEST, for each table, and for each log that is complete:
 * name, length, SHA-256 of that many bytes, for a table of the last TAIL of them, and its family;
 * for the families that no run makes again, also its last bytes (kept_of) in hexadecimal digits:
 * RocksDB has no other way to a table's entries than by the index there; and finally eight digits
 * of the SHA-256 of all these lines. A damaged LISTED is ignored. So is a line of a missing table
 * or MANIFEST: RocksDB reports whether the database can do without it. */
#include "store/db/rocks_internal.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/digest.h"
#include "base/io/out_file.h"
#include "base/os.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TAIL = 512, NOTE_MAX = 1 << 24, SUM = 9 };

/* How much of a table's end is kept: its properties and an index of small blocks. */
static size_t kept_of(size_t length)
{
    size_t n = 2048 + length / 8;
    return n < length ? n : length;
}

/* ---- the sum of a file ---- */

/* Hashes a file's bytes in [from, end); returns false if they cannot all be read. */
static bool sum_bytes(struct digest *out, int fd, size_t from, size_t end)
{
    uint8_t part[1 << 14];
    struct hasher *h = hasher_new();
    ssize_t n = 1;
    for (; from < end && n > 0; from += (size_t)n) {
        n = pread(fd, part, end - from < sizeof part ? end - from : sizeof part, (off_t)from);
        hasher_add(h, part, n > 0 ? (size_t)n : 0);
    }
    *out = hasher_finish(h);
    hasher_free(h);
    return n > 0;
}

/* Returns "NAME LENGTH SUM" of a file with this length, or with its current length (NULL); NULL if
 * there is no such file, "" if it has become shorter. */
static const char *sum_file(struct arena *a, const char *db_path, const char *name,
                            const size_t *length)
{
    char hex[DIGEST_HEX];
    struct stat st;
    struct digest d;
    const char *line = NULL;
    int fd = strchr(name, '/') ? -1
                               : open(arena_printf(a, "%s/%s", db_path, name),
                                      O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        size_t end = length ? *length : (size_t)st.st_size;
        size_t from = text_ends_in(name, ".sst") && end > TAIL ? end - TAIL : 0;
        line = end <= (size_t)st.st_size && sum_bytes(&d, fd, from, end)
                   ? arena_printf(a, "%s %zu %s", name, end, digest_hex(hex, &d))
                   : "";
    }
    if (fd >= 0)
        close(fd);
    return line;
}

static const char *sum_lines(struct arena *a, struct span lines)
{
    char hex[DIGEST_HEX];
    struct digest d = digest_of(&lines, 1);
    return arena_printf(a, "%.8s\n", digest_hex(hex, &d));
}

/* ---- writing ---- */

struct names {
    const char **list;
    size_t n, cap;
};

/* The newest MANIFEST (while one replaces another there are two) and the logs, in order. */
static void find_files(const char **manifest, struct names *logs, struct arena *a,
                       const char *db_path)
{
    DIR *d = opendir(db_path);
    *manifest = NULL;
    for (struct dirent *entry; d && (entry = readdir(d));) {
        const char *name = entry->d_name;
        if (strlen(name) >= LISTED_NAME)
            continue;
        if (strncmp(name, "MANIFEST-", 9) == 0 && (!*manifest || strcmp(name, *manifest) > 0))
            *manifest = arena_strdup(a, name);
        if (!text_ends_in(name, ".log"))
            continue;
        logs->list = arena_grow(a, logs->list, logs->n, &logs->cap, sizeof *logs->list);
        logs->list[logs->n++] = arena_strdup(a, name);
    }
    if (d)
        closedir(d);
    if (logs->n)
        qsort(logs->list, logs->n, sizeof *logs->list, text_compare);
}

static void add_line(struct buf *note, const char *sum, const char *more)
{
    if (sum && *sum)
        buf_printf(note, "%s%s\n", sum, more);
}

/* Reads the last bytes of a file of this length; none if that fails. */
static struct span read_tail(struct arena *a, const char *path, size_t length)
{
    struct stat st;
    size_t n = kept_of(length);
    uint8_t *tail = arena_alloc(a, n + !n);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) != 0 || (size_t)st.st_size != length ||
        pread(fd, tail, n, (off_t)(length - n)) != (ssize_t)n)
        n = 0;
    if (fd >= 0)
        close(fd);
    return span_of(tail, n);
}

/* " FAMILY", or " FAMILY TAIL". */
static const char *describe_table(struct arena *a, const char *path, size_t length,
                                  const char *family)
{
    static const char *const kept[] = {"refs", "runs", "files", "meta"};
    struct span tail = {0};
    struct buf text = {0};
    for (size_t i = 0; !tail.len && i < sizeof kept / sizeof *kept; i++)
        if (strcmp(family, kept[i]) == 0)
            tail = read_tail(a, path, length);
    buf_printf(&text, " %s%s", family, tail.len ? " " : "");
    for (size_t i = 0; i < tail.len; i++)
        buf_printf(&text, "%02x", tail.data[i]);
    return buf_text(&text, a);
}

static void add_tables(struct buf *note, struct arena *a, struct rocks *r)
{
    const rocksdb_livefiles_t *files = rocksdb_livefiles(r->db);
    for (int i = 0; i < rocksdb_livefiles_count(files); i++) {
        const char *name = rocksdb_livefiles_name(files, i) + 1;
        add_line(note, sum_file(a, r->path, name, NULL),
                 describe_table(a, arena_printf(a, "%s/%s", r->path, name),
                                rocksdb_livefiles_size(files, i),
                                rocksdb_livefiles_column_family_name(files, i)));
    }
    rocksdb_livefiles_destroy(files);
}

void listed_note(struct rocks *r, bool closing)
{
    struct arena a = {0};
    struct buf note = {0};
    struct names logs = {0};
    const char *manifest;
    find_files(&manifest, &logs, &a, r->path);
    add_tables(&note, &a, r);
    for (size_t i = 0; i + !closing < logs.n; i++)
        add_line(&note, sum_file(&a, r->path, logs.list[i], NULL), "");
    if (manifest) {
        add_line(&note, sum_file(&a, r->path, manifest, NULL), "");
        buf_puts(&note, sum_lines(&a, span_of(note.data, note.len)));
        out_file_write(arena_printf(&a, "%s/LISTED", r->path), note.data, note.len, NULL);
    }
    buf_free(&note);
    arena_free(&a);
}

/* ---- comparing ---- */

/* Returns the lines, to be cut up; "" if there are none or they are damaged. */
static char *read_lines(struct arena *a, const char *db_path)
{
    struct span note;
    if (os_read_file(&note, a, arena_printf(a, "%s/LISTED", db_path), NOTE_MAX, NULL) != OK ||
        note.len <= SUM)
        return arena_strdup(a, "");
    char *text = (char *)note.data, *sum = text + note.len - SUM;
    if (memcmp(sum_lines(a, span_of(text, note.len - SUM)), sum, SUM) != 0)
        return arena_strdup(a, "");
    *sum = 0;
    return text;
}

/* Takes the next line, which becomes a string of its own. */
static bool next_line(struct listed_file *out, const char **line, char **rest)
{
    char *end = strchr(*rest, '\n');
    *out = (struct listed_file){0};
    if (!end)
        return false;
    *end = 0;
    *line = *rest;
    *rest = end + 1;
    sscanf(*line, "%63s %zu %*s %15s", out->name, &out->length, out->family);
    return true;
}

bool listed_find(struct listed_file *out, const char *db_path, const char *name)
{
    struct arena a = {0};
    bool found = false;
    const char *line;
    for (char *rest = read_lines(&a, db_path); !found && next_line(out, &line, &rest);)
        found = strcmp(out->name, name) == 0;
    arena_free(&a);
    return found;
}

/* Returns whether the file is there and not as noted; a log also if it is missing. */
static bool has_changed(struct arena *a, const char *db_path, const char *line,
                        const struct listed_file *f)
{
    const char *now = sum_file(a, db_path, f->name, &f->length);
    return now ? !*now || strncmp(line, now, strlen(now)) != 0 : text_ends_in(f->name, ".log");
}

bool listed_find_changed(struct listed_file *out, const char *db_path, const char *only)
{
    struct arena a = {0};
    bool found = false;
    const char *line;
    for (char *rest = read_lines(&a, db_path); !found && next_line(out, &line, &rest);)
        if (only ? strcmp(only, out->name) == 0 : !text_ends_in(out->name, ".log"))
            found = has_changed(&a, db_path, line, out);
    arena_free(&a);
    return found;
}

bool listed_find_lost_log(struct listed_file *out, const char *db_path, uint64_t first)
{
    struct arena a = {0};
    bool found = false;
    const char *line;
    for (char *rest = read_lines(&a, db_path); !found && next_line(out, &line, &rest);)
        if (text_ends_in(out->name, ".log") && strtoull(out->name, NULL, 10) >= first)
            found = has_changed(&a, db_path, line, out);
    arena_free(&a);
    return found;
}

bool listed_can_restore(struct span *tail, struct arena *a, const char *db_path, const char *name)
{
    struct listed_file f;
    const char *line, *hex = NULL;
    for (char *rest = read_lines(a, db_path); !hex && next_line(&f, &line, &rest);)
        if (strcmp(f.name, name) == 0 && *f.family)
            hex = strrchr(line, ' ') + 1;
    size_t n = hex ? strlen(hex) / 2 : 0;
    if (!n || strcmp(hex, f.family) == 0 || n != kept_of(f.length))
        return false;
    uint8_t *kept = arena_alloc(a, n);
    for (size_t i = 0; i < n; i++)
        sscanf((char[]){hex[2 * i], hex[2 * i + 1], 0}, "%2hhx", &kept[i]);
    *tail = span_of(kept, n);
    struct span now = read_tail(a, arena_printf(a, "%s/%s", db_path, name), f.length);
    return now.len == n && memcmp(now.data, kept, n) != 0;
}
