/* Rational numbers as balls. */
#include "ops/expr/ball/ball_eval.h"

#include <flint/fmpq.h>

void ball_set_number(acb_struct *z, const char *text, slong precision)
{
    slong parts[2] = {0, 1};
    const char *s = text;
    int part = 0;
    for (s += *s == '-'; *s; s++) {
        if (*s == '/') {
            parts[part = 1] = 0;
        } else if (parts[part] > WORD_MAX / 10 - 10) {
            break;
        } else {
            parts[part] = parts[part] * 10 + (*s - '0');
        }
    }
    arb_zero(acb_imagref(z));
    if (*s) { /* too long for a word */
        fmpq_t q;
        fmpq_init(q);
        fmpq_set_str(q, text, 10);
        if (fmpz_is_one(fmpq_denref(q)))
            arb_set_fmpz(acb_realref(z), fmpq_numref(q)); /* exact at any precision */
        else
            arb_set_fmpq(acb_realref(z), q, precision);
        fmpq_clear(q);
        return;
    }
    arb_set_si(acb_realref(z), *text == '-' ? -parts[0] : parts[0]);
    if (part)
        arb_div_si(acb_realref(z), acb_realref(z), parts[1], precision);
}
