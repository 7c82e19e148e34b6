/* Rules that normal forms prove once a variable is written as a function with all values that the
 * conditions admit: atan(?a) for |?a| < pi/2, (1 - ?a)/?b for ?a ?b < 1. */
#pragma once

#include "ops/expr/ball/ball.h"
#include "ops/rules/rule.h"

/* As rule_prove; `domains` are those of the rule's variables. */
bool lemma_prove(const char **way, struct arena *a, const struct rule *r,
                 const struct ball_domain *domains, size_t n);
