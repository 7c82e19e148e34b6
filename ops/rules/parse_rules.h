/* Shared by the parsers of rule files; rules_append is in rule.c. */
#pragma once

#include "base/map.h"
#include "ops/rules/rule.h"

/* Appends r and, with `both_ways`, its reverse "name~". `names` maps "group/name" of every rule so
 * far to its index. Fails with ERR_INPUT, at `at`, if the name is taken. */
enum err_code rules_append(struct rules *rules, struct arena *a, struct name_map *names,
                           const struct rule *r, bool both_ways, const struct source_text *source,
                           size_t at, struct err *e);

/* Whether the file is Rust source. */
bool egg_is(const struct source_text *source);
/* Parses the egg rules in a Rust source file. */
enum err_code egg_parse(struct rules *rules, struct arena *a, struct name_map *names,
                        const struct source_text *source, struct err *e);
