/* Which files a pattern names, in the order of their bytes.
 *
 *   *  ?  [...]   characters of one name, hidden names (.x) excepted
 *   **            alone between slashes, once in a pattern: any number of folders, or none
 *   a folder      the files below it, as `**` at the end of a pattern
 *
 * Links are followed where a name of the pattern is theirs, not where folders are searched. Names
 * match in their composed form (NFC). What a pattern leaves out is counted. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>

struct file_matches {
    char **paths; /* sorted */
    size_t n;
    char **named; /* the files, and the folders whose files are taken, that the pattern names */
    size_t n_named;
    char *left_out; /* "2 hidden (.a), 1 link (b)"; NULL: nothing */
};

/* Relative patterns are relative to `dir`. A folder stands for its files whose names end in one of
 * the suffixes (NULL-terminated, "" for names without a dot; suffixes NULL: all), with or without an
 * ending of compression. ERR_INPUT for a pattern that may visit the same folder repeatedly, for a
 * name of a FIFO, socket or device; ERR_IO for a folder that cannot be read. */
enum err_code file_pattern_match(struct file_matches *out, struct arena *a, const char *dir,
                                 const char *pattern, const char *const *suffixes, struct err *e);
/* Whether the pattern, which is valid, names the path or a folder above it. */
bool file_pattern_fits(const char *pattern, const char *path);
