/* The one way in for text: files of jobs and commands, and standard input. What parsers get is text
 * without a byte order mark, with LF at the ends of lines, of a file that may be compressed (gz,
 * bz2, xz, zst, zip with one file). UTF-16 and UTF-32 are refused by name, other bytes that are not
 * text by utf8_check, which parsers call first, with their place. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

#define TEXT_FILE_MAX ((size_t)4 << 30) /* bytes of an unpacked file */
#define TEXT_FILE_INPUT "-"             /* names standard input */

/* Turns the bytes of a file into text of at most `limit` bytes, which is in the arena or is a part
 * of the bytes. */
enum err_code text_file_decode(struct source_text *out, struct arena *a,
                               const struct source_text *bytes, size_t limit, struct err *e);
/* Reads a file, or standard input. */
enum err_code text_file_read(struct source_text *out, struct arena *a, const char *path,
                             size_t limit, struct err *e);
