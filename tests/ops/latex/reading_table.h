/* The tables in tests/reading, a file for each notation. An entry is an input, of one line or more,
 * and below it, indented by four blanks, what is made of it. Entries are separated by blank lines;
 * a line with # is a comment. EQLOOM_UPDATE_GOLDEN=1 rewrites what stands below the inputs. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"

/* Writes what is made of an input: lines that are indented by four blanks. */
typedef void reading_write(struct buf *out, struct arena *a, const char *input);
/* Fails if an entry of tests/reading/NOTATION.txt differs, after printing it. */
void reading_table_check(const char *notation, reading_write *write);
