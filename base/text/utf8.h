/* UTF-8, strictly: no overlong forms, no surrogates, nothing past U+10FFFF. */
#pragma once

#include "base/err.h"

#include <stdint.h>

/* The length of the character at s; 0 if there is none, UTF8_CUT if more bytes may make it one. */
enum { UTF8_CUT = 8 };
size_t utf8_character(const uint8_t *s, size_t n);
/* Of a character of this length at s: a control character other than a new line or a tab, or one
 * that is not seen and can make what is around it look like something else, by direction (U+202E)
 * or by no width (U+200B). Its number, or 0. */
uint32_t utf8_unseen(const uint8_t *s, size_t length);
/* How many bytes of whole characters s begins with. */
size_t utf8_prefix(const uint8_t *s, size_t n);
/* ERR_INPUT at the first byte that is no text: for whoever parses it, before all else. */
enum err_code utf8_check(const struct source_text *source, struct err *e);
