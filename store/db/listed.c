/* Detects files of a database that have changed; see rocks_internal.h. RocksDB takes a truncated
 * list of files (MANIFEST) for that of an older database and removes the tables that are not in it;
 * it reads a table's footer unchecked, so that one flipped bit may crash the program.
 *
 * The file LISTED has a line for the MANIFEST and for each table: name, length, SHA-256 of that
 * many bytes, for a table of the last TAIL of them; and finally eight digits of the SHA-256 of all
 * these lines. A damaged LISTED is ignored. So is a line of a missing file, as the MANIFEST is
 * after each opening: RocksDB reports whether the database can do without it. */
#include "store/db/rocks_internal.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/digest.h"
#include "base/io/out_file.h"
#include "base/os.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TAIL = 4096, NOTE_MAX = 1 << 24, NAME = 64, SUM = 9 };

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

/* Returns the line of a file of this length, or of its current length (0); NULL if there is no such
 * file, "" if it has become shorter. */
static const char *line_of(struct arena *a, const char *db_path, const char *name, size_t length)
{
    char hex[DIGEST_HEX];
    struct stat st;
    struct digest d;
    const char *line = NULL;
    int fd = strchr(name, '/') ? -1
                               : open(arena_printf(a, "%s/%s", db_path, name),
                                      O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        length = length ? length : (size_t)st.st_size;
        size_t from = text_ends_in(name, ".sst") && length > TAIL ? length - TAIL : 0;
        line = length <= (size_t)st.st_size && sum_bytes(&d, fd, from, length)
                   ? arena_printf(a, "%s %zu %s\n", name, length, digest_hex(hex, &d))
                   : "";
    }
    if (fd >= 0)
        close(fd);
    return line;
}

static const char *sum_of(struct arena *a, struct span lines)
{
    char hex[DIGEST_HEX];
    struct digest d = digest_of(&lines, 1);
    return arena_printf(a, "%.8s\n", digest_hex(hex, &d));
}

/* Returns the newest MANIFEST, or NULL. While one replaces another there are two. */
static const char *find_manifest(struct arena *a, const char *db_path)
{
    const char *found = NULL;
    DIR *d = opendir(db_path);
    for (struct dirent *entry; d && (entry = readdir(d));)
        if (strncmp(entry->d_name, "MANIFEST-", 9) == 0 && strlen(entry->d_name) < NAME &&
            (!found || strcmp(entry->d_name, found) > 0))
            found = arena_strdup(a, entry->d_name);
    if (d)
        closedir(d);
    return found;
}

void listed_note(struct rocks *r)
{
    struct arena a = {0};
    struct buf note = {0};
    const rocksdb_livefiles_t *files = rocksdb_livefiles(r->db);
    const char *line, *manifest = find_manifest(&a, r->path);
    for (int i = 0; i < rocksdb_livefiles_count(files); i++)
        if ((line = line_of(&a, r->path, rocksdb_livefiles_name(files, i) + 1, 0)))
            buf_puts(&note, line);
    rocksdb_livefiles_destroy(files);
    if (manifest && (line = line_of(&a, r->path, manifest, 0))) {
        buf_puts(&note, line);
        buf_puts(&note, sum_of(&a, span_of(note.data, note.len)));
        out_file_write(arena_printf(&a, "%s/LISTED", r->path), note.data, note.len, NULL);
    }
    buf_free(&note);
    arena_free(&a);
}

bool listed_is_whole(char bad[64], const char *db_path, const char *only)
{
    struct arena a = {0};
    struct span note;
    bool whole = true;
    *bad = 0;
    if (os_read_file(&note, &a, arena_printf(&a, "%s/LISTED", db_path), NOTE_MAX, NULL) == OK &&
        note.len > SUM) {
        char *text = (char *)note.data, *sum = text + note.len - SUM, *end;
        if (memcmp(sum_of(&a, span_of(text, note.len - SUM)), sum, SUM) != 0)
            *text = 0;
        *sum = 0;
        for (; whole && (end = strchr(text, '\n')); text = end + 1) {
            size_t length;
            if (sscanf(text, "%63s %zu", bad, &length) != 2 || (only && strcmp(only, bad) != 0))
                continue;
            const char *line = line_of(&a, db_path, bad, length);
            whole = !line || strncmp(line, text, (size_t)(end + 1 - text)) == 0;
        }
    }
    arena_free(&a);
    return whole;
}
