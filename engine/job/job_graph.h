/* Variants of a draft -> the checked graph of nodes. */
#pragma once

#include "engine/job/job_draft.h"

enum err_code draft_wire(struct job **out, struct draft *d, struct err *e);
