/* The conditions that a false rule seems to lack. */
#pragma once

#include "ops/rules/check/certify.h"

/* Conditions under which a refuted rule holds, as text ("positive(?a), real(?b)"): the weakest of
 * those that are tried; NULL if none helps. */
const char *guard_suggest(struct arena *a, const struct rule *r,
                          const struct rule_check_options *options);
