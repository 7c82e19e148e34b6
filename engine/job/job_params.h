/* Job parameters: --set, and ${name} within values. */
#ifndef ENGINE_JOB_PARAMS_H
#define ENGINE_JOB_PARAMS_H

#include "engine/job/job_draft.h"

/* Applies --set, resolves params, substitutes them everywhere. */
enum err_code draft_substitute(struct draft *d, struct err *e);

#endif
