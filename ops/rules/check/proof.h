/* Rules that normal forms prove. */
#pragma once

#include "ops/rules/rule.h"

/* Whether the sides of a rule of the calculus are equal by normal_equal wherever its conditions
 * hold; *way is that of normal_equal. */
bool rule_prove(const char **way, struct arena *a, const struct rule *r);
