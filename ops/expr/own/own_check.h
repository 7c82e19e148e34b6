/* Checks the derivatives and values that a file of operators states. */
#pragma once

#include "ops/expr/own/own.h"

/* Fails with ERR_INPUT at the statement if a derivative is provably false at some point, or a value
 * provably outside its stated domain; `derivative` and `values` are the offsets of the statements.
 */
enum err_code own_check(const struct language *lang, struct arena *a, uint16_t op,
                        const struct source_text *source, const size_t *derivative,
                        const size_t *values, struct err *e);
