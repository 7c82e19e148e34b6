/* Job parameters: --set, and ${name} within values. */
#pragma once

#include "engine/job/job_draft.h"

/* Applies --set, resolves params, substitutes them everywhere. */
enum err_code draft_substitute(struct draft *d, struct err *e);
