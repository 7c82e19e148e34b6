/* Whether RocksDB's list of files is as it was; see rocks_internal.h. The file LISTED has one line:
 * the name of the MANIFEST, how long it was, the SHA-256 of so many bytes, and eight digits of the
 * SHA-256 of what stands before. A note that is damaged itself counts for nothing; so does one of a
 * MANIFEST that has been replaced since, as each opening does. Whether the new one can be read,
 * RocksDB says. */
#include "store/db/rocks_internal.h"

#include "base/arena.h"
#include "base/digest.h"
#include "base/os.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

enum { MANIFEST_MAX = 1 << 30, NOTE_MAX = 300, NAME_MAX_BYTES = 64 };

/* The newest; NULL: none. While one replaces another there are two. */
static const char *find_manifest(struct arena *a, const char *db_path)
{
    const char *found = NULL;
    DIR *d = opendir(db_path);
    for (struct dirent *entry; d && (entry = readdir(d));)
        if (strncmp(entry->d_name, "MANIFEST-", 9) == 0 && strlen(entry->d_name) < NAME_MAX_BYTES &&
            (!found || strcmp(entry->d_name, found) > 0))
            found = arena_strdup(a, entry->d_name);
    if (d)
        closedir(d);
    return found;
}

static const char *note_of(struct arena *a, const char *name, struct span bytes)
{
    char hex[DIGEST_HEX];
    struct digest d = digest_of(&bytes, 1);
    const char *line = arena_printf(a, "%s %zu %s", name, bytes.len, digest_hex(hex, &d));
    d = digest_of(&(struct span){(const uint8_t *)line, strlen(line)}, 1);
    return arena_printf(a, "%s %.8s\n", line, digest_hex(hex, &d));
}

void manifest_note(const char *db_path)
{
    struct arena a = {0};
    struct span bytes;
    const char *name = find_manifest(&a, db_path);
    if (name && os_read_file(&bytes, &a, arena_printf(&a, "%s/%s", db_path, name), MANIFEST_MAX,
                             NULL) == OK) {
        const char *note = note_of(&a, name, bytes);
        os_write_file(arena_printf(&a, "%s/LISTED", db_path), note, strlen(note), NULL);
    }
    arena_free(&a);
}

/* Whether the note is what was written. */
static bool is_sound(struct arena *a, struct span note)
{
    char hex[DIGEST_HEX];
    if (note.len < 10)
        return false;
    struct span line = span_of(note.data, note.len - 10);
    struct digest d = digest_of(&line, 1);
    return memcmp(arena_printf(a, " %.8s\n", digest_hex(hex, &d)), note.data + line.len, 10) == 0;
}

bool manifest_is_whole(const char *db_path)
{
    struct arena a = {0};
    struct span note, bytes;
    char name[NAME_MAX_BYTES];
    size_t length;
    bool whole = true;
    if (os_read_file(&note, &a, arena_printf(&a, "%s/LISTED", db_path), NOTE_MAX, NULL) == OK &&
        is_sound(&a, note) && sscanf((const char *)note.data, "%63s %zu", name, &length) == 2 &&
        os_read_file(&bytes, &a, arena_printf(&a, "%s/%s", db_path, name), MANIFEST_MAX, NULL) ==
            OK)
        whole = bytes.len >= length &&
                span_equal(span_str(note_of(&a, name, span_of(bytes.data, length))), note);
    arena_free(&a);
    return whole;
}
