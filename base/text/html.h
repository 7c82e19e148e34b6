/* Text and numbers in HTML. */
#pragma once

#include "base/buf.h"

#include <stdint.h>

/* Escapes &, <, > and "; shows control characters, invisible characters and bytes that are not
 * UTF-8 as \x1b or \u202e. */
void html_text(struct buf *out, const char *s);
/* Writes "1234567" as 1 234 567, with narrow no-break spaces; writes anything but a whole number
 * unchanged. */
void html_count(struct buf *out, const char *digits);
void html_number(struct buf *out, uint64_t n);
