/* References between nodes, and the expansion of nodes into variants. */
#pragma once

#include "engine/job/job_draft.h"

/* Finds ops, reads references, axes; makes the variants. */
enum err_code draft_expand(struct draft *d, struct err *e);
enum err_code draft_read_reference(struct draft_reference *out, struct draft *d,
                                   const struct yaml_node *at, struct err *e);
/* Variants of the referred node that agree with the reference and, for axes that it leaves open,
 * with `of` where that has them (of may be NULL). */
size_t draft_select(uint32_t *variants, size_t max, const struct draft *d,
                    const struct draft_reference *ref, const struct draft_variant *of);
/* The body of a variant: the axes' values in place. */
const struct yaml_node *draft_variant_value(const struct draft *d, const struct draft_variant *v,
                                            const char *key);
