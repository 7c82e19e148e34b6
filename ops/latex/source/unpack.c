#include "ops/latex/source/unpack.h"

#include <archive.h>
#include <archive_entry.h>

enum { MEMBER_MAX = 64 << 20, TOTAL_MAX = 256 << 20, MEMBERS_MAX = 20000, RATIO_MAX = 1000 };

struct unpacking {
    unpack_file *each;
    void *arg;
    struct archive *archive;
    const char *name;
    size_t total, limit, members;
    struct buf bytes;
};

bool unpack_is_archive(struct span b)
{
    static const struct {
        const char *magic;
        size_t at, n;
    } kinds[] = {{"\x1f\x8b", 0, 2},    {"ustar", 257, 5},          {"BZh", 0, 3},
                 {"\xfd\x37zXZ", 0, 5}, {"\x28\xb5\x2f\xfd", 0, 4}, {"PK\3\4", 0, 4}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (b.len >= kinds[i].at + kinds[i].n &&
            !memcmp(b.data + kinds[i].at, kinds[i].magic, kinds[i].n))
            return true;
    return false;
}

static bool is_safe(const char *name)
{
    if (!*name || *name == '/' || strchr(name, '\\'))
        return false;
    for (const char *s = name; s; s = strchr(s, '/') ? strchr(s, '/') + 1 : NULL)
        if (!strncmp(s, "..", 2) && (s[2] == '/' || !s[2]))
            return false;
    return true;
}

static const char *refuse(struct archive_entry *entry, const char *name)
{
    if (archive_entry_hardlink(entry) || archive_entry_symlink(entry))
        return "link";
    if (archive_entry_filetype(entry) != AE_IFREG)
        return "not a file";
    if (archive_entry_is_encrypted(entry))
        return "encrypted";
    return is_safe(name) ? NULL : "unsafe name";
}

/* Reads the entry's data into u->bytes; returns a reason if it is incomplete. */
static const char *read_data(struct unpacking *u)
{
    char block[65536];
    buf_clear(&u->bytes);
    for (;;) {
        la_ssize_t n = archive_read_data(u->archive, block, sizeof block);
        if (n == 0)
            return NULL;
        if (n < 0)
            return "damaged archive";
        u->total += (size_t)n;
        if (u->total > u->limit)
            return "too large archive";
        if (u->bytes.len + (size_t)n > MEMBER_MAX)
            return "too large";
        buf_add(&u->bytes, block, (size_t)n);
    }
}

static bool read_entry(struct unpacking *u, struct archive_entry *entry)
{
    const char *name = archive_entry_pathname(entry);
    if (!name || !strcmp(name, "data")) /* a single compressed file */
        name = archive_format(u->archive) == ARCHIVE_FORMAT_RAW ? u->name : name ? name : "?";
    while (!strncmp(name, "./", 2))
        name += 2;
    if (archive_entry_filetype(entry) == AE_IFDIR)
        return true;
    if (++u->members > MEMBERS_MAX) {
        u->each(u->arg, name, (struct span){0}, "too large archive");
        return false;
    }
    const char *why = archive_format(u->archive) == ARCHIVE_FORMAT_RAW ? NULL : refuse(entry, name);
    if (why) {
        u->each(u->arg, name, (struct span){0}, why);
        return true;
    }
    why = read_data(u);
    struct span bytes = why ? (struct span){0} : span_of(u->bytes.data, u->bytes.len);
    u->each(u->arg, name, bytes, why);
    return !why || !strcmp(why, "too large");
}

/* Accepts all common compressions; returns NULL if there is no memory. */
static struct archive *reader(void)
{
    struct archive *x = archive_read_new();
    if (x) {
        archive_read_support_filter_gzip(x);
        archive_read_support_filter_bzip2(x);
        archive_read_support_filter_xz(x);
        archive_read_support_filter_zstd(x);
        archive_read_support_filter_compress(x);
        archive_read_support_format_raw(x);
    }
    return x;
}

const char *unpack_stream(struct buf *out, struct span bytes, size_t most)
{
    struct archive *x = reader();
    struct archive_entry *entry;
    char block[65536];
    la_ssize_t n = -1;
    if (bytes.len < most / RATIO_MAX)
        most = bytes.len * RATIO_MAX;
    if (x && archive_read_open_memory(x, bytes.data, bytes.len) == ARCHIVE_OK &&
        archive_read_next_header(x, &entry) == ARCHIVE_OK)
        while ((n = archive_read_data(x, block, sizeof block)) > 0 && out->len + (size_t)n <= most)
            buf_add(out, block, (size_t)n);
    archive_read_free(x);
    return n < 0 ? "damaged compressed file" : n > 0 ? "too large compressed file" : NULL;
}

void unpack(unpack_file *each, void *arg, const char *name, struct span bytes)
{
    struct unpacking u = {each, arg, reader(), name, 0, TOTAL_MAX, 0, {0}};
    struct archive_entry *entry;
    int status = ARCHIVE_FATAL;
    if (bytes.len < TOTAL_MAX / RATIO_MAX)
        u.limit = bytes.len * RATIO_MAX;
    if (u.archive) {
        archive_read_support_format_tar(u.archive);
        archive_read_support_format_zip(u.archive);
        status = archive_read_open_memory(u.archive, bytes.data, bytes.len);
    }
    while (status == ARCHIVE_OK || status == ARCHIVE_WARN) {
        status = archive_read_next_header(u.archive, &entry);
        if ((status == ARCHIVE_OK || status == ARCHIVE_WARN) && !read_entry(&u, entry))
            status = ARCHIVE_EOF;
    }
    if (status != ARCHIVE_EOF)
        each(arg, name, (struct span){0}, "damaged archive");
    archive_read_free(u.archive);
    buf_free(&u.bytes);
}
