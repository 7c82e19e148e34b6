/* For tests that compute with balls: what FLINT keeps for the next computation is given back, so
 * that whatever is left is a leak. */
#pragma once

#include "ops/expr/compare/compare.h"

#include <flint/flint.h>

/* The teardown of a group. */
static int balls_clean(void **state)
{
    ball_thread_cleanup();
    flint_cleanup_master();
    return 0;
}
