/* The files that a node names: of sources, and of programs (exec). */
#ifndef ENGINE_JOB_FILES_H
#define ENGINE_JOB_FILES_H

#include "engine/job/job_draft.h"

enum err_code draft_read_files(struct node *out, struct draft *d, const struct draft_node *node,
                               struct err *e);

#endif
