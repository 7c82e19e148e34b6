/* Domains of variables as users write them. */
#pragma once

#include "base/err.h"
#include "ops/expr/ball/ball.h"

/* "x:real" (positive, nonnegative, nonzero, integer, complex), "x>1", "x<=0", "-1<x<1". */
enum err_code domain_parse(struct ball_domain *out, struct arena *a, const char *text,
                           struct err *e);
/* Adds a domain to all[0..*n), whose names are all different, or intersects that of its variable with
 * it. Returns ERR_INPUT if they have no open interval in common, or one that cannot be said. */
enum err_code domain_add(struct ball_domain *all, size_t *n, const struct ball_domain *d,
                         struct err *e);
/* Writes text that domain_parse reads back. */
struct buf;
void domain_write(struct buf *out, const struct ball_domain *d);
