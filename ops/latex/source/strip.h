/* Takes out of a TeX file what TeX does not typeset: comments, \iffalse ... \fi, and the insides of
 * verbatim environments, which would be taken for mathematics. */
#pragma once

#include "ops/latex/source/tex_scan.h"

#include "base/arena.h"

struct piece strip(struct arena *a, const char *text, size_t len);
