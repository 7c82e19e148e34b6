/* Unpacks archives as distributed by arXiv: tar, gz, tar.gz, and bulk tars of these. The only user
 * of libarchive. Nothing is written to disk. Links, devices, absolute names and names with ".." are
 * refused individually, as problems. Limits: 64 MiB per file, 256 MiB and 20,000 files per archive,
 * and 1,000 times the size of the archive; beyond a limit the rest is not read, which is a problem
 * too. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/span.h"

/* Decides by the first bytes: gz or tar (also bz2, xz, zstd and zip). */
bool unpack_is_archive(struct span bytes);

/* Called for each file of the archive; `name` and `bytes` are valid during the call. `reason` is
 * why the file is refused (`bytes` are empty), or NULL. A gz of a single file has the name passed
 * to unpack. */
typedef void unpack_file(void *arg, const char *name, struct span bytes, const char *reason);
void unpack(unpack_file *each, void *arg, const char *name, struct span bytes);

/* Decompresses a single file, to at most `most` bytes and 1,000 times its compressed size. Returns
 * NULL, or the reason why the output is incomplete. */
const char *unpack_stream(struct buf *out, struct span bytes, size_t most);
