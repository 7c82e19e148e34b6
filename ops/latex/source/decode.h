/* Decodes the bytes of a TeX file to UTF-8 with \n at line ends. Valid UTF-8 is taken as UTF-8,
 * whatever the file declares; otherwise the encoding declared to inputenc is used, or
 * Windows-1252. */
#pragma once

#include "base/arena.h"
#include "base/span.h"

/* Returns NULL, or the reason why the bytes are not text. */
const char *decode_text(const char **out, size_t *len, struct arena *a, struct span bytes);
/* Returns a copy of a short text with '?' in place of invalid UTF-8 and control characters. */
char *decode_utf8(struct arena *a, const char *s, size_t n);
