/* LaTeX as plain words, for people and for finding keywords. */
#pragma once

#include "ops/latex/source/tex_scan.h"

#include "base/buf.h"

/* Commands go, their arguments stay; formulas go; blanks are joined. */
void plain_words(struct buf *out, struct piece latex);
