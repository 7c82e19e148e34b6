/* The shipped rules, jobs/rules, as they were when the program was built. */
#ifndef OPS_RULES_LIBRARY_H
#define OPS_RULES_LIBRARY_H

#include "ops/rules/rule.h"

/* The files, sorted by name; returns how many. */
size_t rules_library(const struct source_text **out);
/* Those of a language parsed and sorted, groups that are off included (see rules_select). */
enum err_code rules_parse_library_of(struct rules *out, struct arena *a,
                                     const struct language *lang, struct err *e);
/* The same of the calculus. */
enum err_code rules_parse_library(struct rules *out, struct arena *a, struct err *e);

#endif
