/* UTF-8, strictly: no overlong forms, no surrogates, nothing past U+10FFFF. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

/* Returns the length of the character at s; 0 if the bytes are invalid, UTF8_CUT if they are an
 * incomplete character. */
enum { UTF8_CUT = 8 };
size_t utf8_character(const uint8_t *s, size_t n);
/* Returns the code point of the character of this length at s if it is a control character other
 * than a line feed or a tab, or an invisible one that can disguise its neighbours by changing
 * direction (U+202E) or having no width (U+200B); else 0. */
uint32_t utf8_unseen(const uint8_t *s, size_t length);
/* Returns the number of bytes in the longest prefix of s that consists of complete characters. */
size_t utf8_prefix(const uint8_t *s, size_t n);
/* ERR_INPUT at a NUL, a carriage return within a line, or a byte that is not UTF-8. Parsers call it
 * first. */
enum err_code utf8_check(const struct source_text *source, struct err *e);
/* Returns the composed form (NFC) of a text, or a copy if it is not UTF-8. File systems and editors
 * write the same name as NFC or as NFD. */
char *utf8_nfc(struct arena *a, const char *s);
