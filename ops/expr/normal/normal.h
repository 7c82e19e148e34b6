/* Equality proved by normal forms: both terms become rational functions over the rationals in
 * variables, constants, exponentials, roots and logarithms, and their difference is shown to be
 * zero by cancellation, by the relations of roots, or because each coefficient is a constant that
 * is exactly zero. Functions become exponentials and logarithms by the formulas of docs/rules.md,
 * which hold at every point; derivatives use the chain rule. */
#pragma once

#include "ops/expr/ball/ball.h"

/* Whether x and y are proved equal wherever both are defined; *way is then "expansion",
 * "exponentials", "exact numbers" or "derivatives" (the difference is constant, and zero at a
 * point). Symbols without a domain are positive, pattern variables without one complex; in domains
 * their names include the '?'. */
bool normal_equal(const char **way, const struct expr *x, const struct expr *y,
                  const struct ball_domain *domains, size_t n_domains);
/* Whether x is shown to have a value everywhere in the domains, except on a nowhere dense set. */
bool normal_has_values(const struct expr *x, const struct ball_domain *domains, size_t n_domains);
/* Whether a term in one pattern variable is proved analytic where the real part of the variable is
 * positive, except on a closed countable set. */
bool normal_is_analytic(const struct expr *x);
/* The ways by number; NORMAL_WAYS for an unknown way. */
enum { NORMAL_WAYS = 4 };
extern const char *const normal_ways[NORMAL_WAYS];
uint32_t normal_way_number(const char *way);
