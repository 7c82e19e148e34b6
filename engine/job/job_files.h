/* The files that a node names: of sources, and of programs (exec). */
#pragma once

#include "engine/job/job_draft.h"

enum err_code draft_read_files(struct node *out, struct draft *d, const struct draft_node *node,
                               struct err *e);
