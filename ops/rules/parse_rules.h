/* What the readers of rule files share; rules_append is in rule.c. */
#pragma once

#include "base/map.h"
#include "ops/rules/rule.h"

/* names: "group/name" of every rule so far -> its index. With its reverse, "name~", if that is
 * asked for. ERR_INPUT, at `at`, if the name is taken. */
enum err_code rules_append(struct rules *rules, struct arena *a, struct name_map *names,
                           const struct rule *r, bool both_ways, const struct source_text *source,
                           size_t at, struct err *e);

/* Whether the file is one of Rust. */
bool egg_is(const struct source_text *source);
/* The rules that it gives to egg. */
enum err_code egg_parse(struct rules *rules, struct arena *a, struct name_map *names,
                        const struct source_text *source, struct err *e);
