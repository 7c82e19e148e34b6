/* Unpacks compressed files and archives: gz, bz2, xz, zst, zip, tar, tar.gz and bulk tars of these,
 * as arXiv distributes them. The only user of libarchive and zlib. Checksums and lengths are
 * checked. Nothing is written to disk. */
#pragma once

#include "base/buf.h"
#include "base/span.h"

/* Decides by the first bytes. */
bool unpack_is_archive(struct span bytes);

/* Called for each file of the archive; `name` and `bytes` are valid during the call. `reason` is
 * why the file is refused (`bytes` are empty), or NULL. A gz of a single file has the name passed
 * to unpack. */
typedef void unpack_file(void *arg, const char *name, struct span bytes, const char *reason);
/* Links, devices, absolute names and names with ".." are refused individually, as problems. Limits:
 * 64 MiB per file, 256 MiB and 20,000 files per archive, and 1,000 times the size of the archive;
 * beyond a limit the rest is not read, which is a problem too. */
void unpack(unpack_file *each, void *arg, const char *name, struct span bytes);

/* Unpacks the only file of an archive, to at most `most` bytes and 1,000 times its packed size.
 * Returns NULL, or the reason why *out is incomplete. */
const char *unpack_single(struct buf *out, struct span bytes, size_t most);
/* The length of a file name without the endings of compression, ".gz" and the like: "a.rules.gz"
 * is read as "a.rules". */
size_t unpack_name(const char *name);
