/* Text in HTML. */
#pragma once

#include "base/buf.h"

#include <stdint.h>

/* &, <, >, " are escaped; what is no text, and what is not seen, is shown as \x1b and \u202e. */
void html_text(struct buf *out, const char *s);
/* "1234567" as 1 234 567, with narrow spaces that do not break; what is no whole number as it is.
 */
void html_count(struct buf *out, const char *digits);
void html_number(struct buf *out, uint64_t n);
