/* Values of ops' parameters as canonical text. */
#pragma once

#include "engine/job/job_draft.h"

/* The canonical text of a parameter's value. */
enum err_code job_param_text(const char **out, struct arena *a, const struct op_param *param,
                             const struct yaml_node *value, struct err *e);
/* Of its default; NULL if it has none. */
const char *job_param_initial(struct arena *a, const struct op_param *param);
