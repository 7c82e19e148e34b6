/* Bytes of a TeX file -> UTF-8 with \n at the ends of lines. UTF-8 that is valid is UTF-8, whatever
 * the file declares; else what inputenc declares counts, and Windows-1252 without that. */
#pragma once

#include "base/arena.h"
#include "base/span.h"

/* NULL, or the reason why the bytes are no text. */
const char *decode_text(const char **out, size_t *len, struct arena *a, struct span bytes);
/* A short text with '?' for all that is no UTF-8, and for control characters. */
char *decode_utf8(struct arena *a, const char *s, size_t n);
