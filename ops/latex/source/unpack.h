/* Archives as arXiv gives them -> files: tar, gz, tar.gz, and bulk tars of these. The only user of
 * libarchive. Nothing is written anywhere; names are only names. Links, devices, absolute names and
 * names with ".." are refused one by one, as problems. Bounds: 64 MiB a file, 256 MiB and 20,000
 * files an archive, 1,000 times the size of the archive itself; past one of them the rest is not
 * read, which is a problem too. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/span.h"

/* By its first bytes: gz, tar (also bz2, xz, zstd and zip, which people have). */
bool unpack_is_archive(struct span bytes);

/* A file of the archive; `name` and `bytes` until it returns. reason: why it is refused (bytes
 * empty), NULL if it is not. A gz of a single file has the name given to unpack. */
typedef void unpack_file(void *arg, const char *name, struct span bytes, const char *reason);
void unpack(unpack_file *each, void *arg, const char *name, struct span bytes);

/* Of a file that is compressed alone: its bytes, at most `most` and 1,000 times what they were. Why
 * they are not all there, or NULL. */
const char *unpack_stream(struct buf *out, struct span bytes, size_t most);
