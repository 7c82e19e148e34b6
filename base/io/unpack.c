#include "base/io/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <zlib.h>

enum { MEMBER_MAX = 64 << 20, TOTAL_MAX = 256 << 20, MEMBERS_MAX = 20000, RATIO_MAX = 1000 };
enum { BLOCK = 65536, FRAMES = 32 << 20 /* of tar, around the files */ };

static const char damaged[] = "damaged compressed file", too_large[] = "too large compressed file";

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
                 {"\xfd\x37zXZ", 0, 5}, {"\x28\xb5\x2f\xfd", 0, 4}, {"PK\3\4", 0, 4}, {"PK\5\6", 0, 4}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (b.len >= kinds[i].at + kinds[i].n &&
            !memcmp(b.data + kinds[i].at, kinds[i].magic, kinds[i].n))
            return true;
    return false;
}

size_t unpack_name(const char *name)
{
    static const char *const endings[] = {".gz", ".bz2", ".xz", ".zst", ".zip"};
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t m = strlen(endings[i]);
        if (n > m && !strncasecmp(name + n - m, endings[i], m))
            return n - m;
    }
    return n;
}

/* ---- gzip: libarchive does not check its checksums and lengths ---- */

static bool is_gzip(struct span b)
{
    return b.len >= 2 && b.data[0] == 0x1f && b.data[1] == 0x8b;
}

/* Appends what all members of the file hold. */
static const char *gunzip(struct buf *out, struct span bytes, size_t most)
{
    enum { GZIP = 16 };
    z_stream z = {0};
    uint8_t block[BLOCK];
    int status = inflateInit2(&z, MAX_WBITS + GZIP);
    const uint8_t *end = bytes.data + bytes.len;
    z.next_in = (Bytef *)bytes.data;
    while (status == Z_OK) {
        size_t left = (size_t)(end - z.next_in);
        z.avail_in = left < BLOCK ? (uInt)left : BLOCK;
        z.next_out = block;
        z.avail_out = BLOCK;
        status = inflate(&z, Z_NO_FLUSH);
        size_t n = BLOCK - z.avail_out;
        if (out->len + n > most) {
            inflateEnd(&z);
            return too_large;
        }
        buf_add(out, (const char *)block, n);
        if (status == Z_STREAM_END && z.next_in < end)
            status = inflateReset(&z); /* what follows must be another member */
    }
    inflateEnd(&z);
    return status == Z_STREAM_END ? NULL : damaged;
}

/* ---- archives ---- */

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
static struct archive *reader(struct span bytes)
{
    struct archive *x = archive_read_new();
    if (!x)
        return NULL;
    if (bytes.len >= 4 && (!memcmp(bytes.data, "PK\3\4", 4) || !memcmp(bytes.data, "PK\5\6", 4))) {
        /* by its directory, which one that was cut does not have */
        archive_read_support_format_zip_seekable(x);
        archive_read_open_memory(x, bytes.data, bytes.len);
        return x;
    }
    archive_read_support_filter_gzip(x);
    archive_read_support_filter_bzip2(x);
    archive_read_support_filter_xz(x);
    archive_read_support_filter_zstd(x);
    archive_read_support_filter_compress(x);
    archive_read_support_format_raw(x);
    archive_read_support_format_empty(x);
    archive_read_support_format_tar(x);
    archive_read_open_memory(x, bytes.data, bytes.len); /* if it fails, so does what follows */
    return x;
}

void unpack(unpack_file *each, void *arg, const char *name, struct span bytes)
{
    struct unpacking u = {each, arg, NULL, name, 0, TOTAL_MAX, 0, {0}};
    struct buf plain = {0};
    const char *why = NULL;
    if (bytes.len < TOTAL_MAX / RATIO_MAX)
        u.limit = bytes.len * RATIO_MAX;
    if (is_gzip(bytes)) {
        why = gunzip(&plain, bytes, u.limit + FRAMES);
        bytes = why == damaged ? (struct span){0} : span_of(plain.data, plain.len);
    }
    u.archive = reader(bytes);
    struct archive_entry *entry;
    int status = u.archive ? ARCHIVE_OK : ARCHIVE_FATAL;
    while (status == ARCHIVE_OK || status == ARCHIVE_WARN) {
        status = archive_read_next_header(u.archive, &entry);
        if ((status == ARCHIVE_OK || status == ARCHIVE_WARN) && !read_entry(&u, entry))
            status = ARCHIVE_EOF;
    }
    if (status != ARCHIVE_EOF || why)
        each(arg, name, (struct span){0},
             why == too_large ? "too large archive" : "damaged archive");
    archive_read_free(u.archive);
    buf_free(&u.bytes);
    buf_free(&plain);
}

/* ---- a single file ---- */

static const char *read_single(struct buf *out, struct archive *x, size_t most)
{
    char block[BLOCK];
    la_ssize_t n;
    while ((n = archive_read_data(x, block, sizeof block)) > 0) {
        if (out->len + (size_t)n > most)
            return too_large;
        buf_add(out, block, (size_t)n);
    }
    return n < 0 ? damaged : NULL;
}

static const char *only_file(struct buf *out, struct span bytes, size_t most)
{
    struct archive *x = reader(bytes);
    struct archive_entry *entry;
    const char *why = NULL;
    size_t files = 0;
    int status = x ? archive_read_next_header(x, &entry) : ARCHIVE_FATAL;
    for (; !why && (status == ARCHIVE_OK || status == ARCHIVE_WARN);
         status = archive_read_next_header(x, &entry)) {
        bool raw = archive_format(x) == ARCHIVE_FORMAT_RAW;
        if (!raw && archive_entry_filetype(entry) == AE_IFDIR)
            continue;
        if (++files > 1)
            why = "an archive of several files: unpack it";
        else if (!raw && (archive_entry_is_encrypted(entry) ||
                          archive_entry_filetype(entry) != AE_IFREG))
            why = "an encrypted file, or a link";
        else
            why = read_single(out, x, most);
    }
    archive_read_free(x);
    return why || status == ARCHIVE_EOF ? why : damaged;
}

const char *unpack_single(struct buf *out, struct span bytes, size_t most)
{
    if (bytes.len < most / RATIO_MAX)
        most = bytes.len * RATIO_MAX;
    if (!is_gzip(bytes))
        return only_file(out, bytes, most);
    const char *why = gunzip(out, bytes, most);
    struct buf packed = *out;
    if (why || !unpack_is_archive(span_of(packed.data, packed.len)))
        return why;
    *out = (struct buf){0};
    why = is_gzip(span_of(packed.data, packed.len)) ? "compressed twice: decompress it"
                                                   : only_file(out, span_of(packed.data, packed.len), most);
    buf_free(&packed);
    return why;
}
