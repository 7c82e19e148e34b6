/* Functions that are not analytic: of the real and imaginary parts of an argument, and functions of
 * real arguments with steps. Where a ball contains a step, the result contains the values on both
 * sides. */
#pragma once

#include "ops/expr/ball/ball_eval.h"

/* z holds the arguments and receives the result in z[0]. Returns false if more precision cannot
 * help. */
typedef bool ball_part(acb_struct *z, slong precision);
ball_part ball_arg, ball_conj, ball_im, ball_re; /* no argument at 0 */
ball_part ball_atan2;                            /* of (y, x), real; not at (0, 0) */
ball_part ball_ceil, ball_floor, ball_sign;      /* of real numbers; the sign of 0 is 0 */

/* The series along a line on which only real variables move. Returns false if there is none. */
typedef bool ball_part_series(acb_poly_struct *f, slong order, slong precision);
ball_part_series ball_arg_series, ball_conj_series, ball_im_series, ball_re_series;
/* The series of a function with steps: a constant, but undefined at a step. */
bool ball_step_series(acb_poly_struct *f, ball_part *value, slong precision);
