/* Glyphs of a picture: its connected pieces of ink. TeX draws a letter of one font and size with
 * the same pixels wherever it stands, so equal glyphs are equal bytes: letters are read without
 * having learnt them, though a letter of two pieces is two glyphs and letters that touch are one.
 */
#pragma once

#include "base/arena.h"
#include "base/io/picture.h"

enum { GLYPH_TOKENS = 1024 };

/* One number below GLYPH_TOKENS for each glyph, from the top left, by hash of its shape: different
 * ones may share a number. Rules, of fractions and roots, are all alike however wide. Returns how
 * many. */
size_t glyphs_read(uint32_t **out, struct arena *a, const struct picture *p);
