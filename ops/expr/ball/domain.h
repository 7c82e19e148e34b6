/* Domains of variables as users write them. */
#pragma once

#include "base/err.h"
#include "ops/expr/ball/ball.h"

/* "x:real" (positive, nonnegative, nonzero, integer, complex), "x>1", "x<=0", "-1<x<1". */
enum err_code domain_parse(struct ball_domain *out, struct arena *a, const char *text,
                           struct err *e);
/* Writes text that domain_parse reads back. */
struct buf;
void domain_write(struct buf *out, const struct ball_domain *d);
