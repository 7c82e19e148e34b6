/* Job files and the files that they include, read into a draft. */
#pragma once

#include "engine/job/job_draft.h"

enum err_code draft_read(struct draft *d, struct err *e);
/* ERR_INPUT unless the (existing) path lies in the job's directory or may lie outside. */
enum err_code draft_check_inside(const struct draft *d, const char *path,
                                 const struct yaml_node *at, struct err *e);
/* Letters, digits, '_', '-' and those of `also`; not empty, not too long. */
bool draft_is_name(const char *s, const char *also);
