/* Variants of a draft -> the checked graph of nodes. */
#pragma once

#include "engine/job/job_draft.h"

enum err_code draft_wire(struct job **out, struct draft *d, struct err *e);
/* ERR_INPUT "... names several variants" unless it stands for exactly one. */
enum err_code draft_select_one(uint32_t *variant, struct draft *d,
                               const struct draft_reference *ref, const struct draft_variant *of,
                               struct err *e);
