/* Proofs of rules by normal forms. */
#pragma once

#include "ops/rules/rule.h"

/* Whether the sides of a rule of the calculus are proved equal by normal_equal wherever its
 * conditions hold; *way is set by normal_equal. */
bool rule_prove(const char **way, struct arena *a, const struct rule *r);
