/* The report's picture of vectors: a point for each expression, which tells what it is and what is
 * nearest. */
#pragma once

#include "ops/eval/report/page.h"

void page_write_picture(struct buf *out, struct arena *a, const struct page_input *in,
                        struct pool *pool);
/* An expression in prefix tokens as MathML; as it is if it is none. */
void page_write_math(struct buf *out, struct arena *a, const struct language *lang,
                     const char *prefix);
