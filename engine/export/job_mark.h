/* What an exported page says of the job that wrote it. Records depend on what they read, not on
 * names or times: a page has an empty place, which is filled on its way to a file. */
#pragma once

#include "base/buf.h"
#include "engine/job/job.h"

/* In place of the first JOB_MARK: the job, its parameters, and the day on which the newest of the
 * files that the node's inputs were made from was written (UTC). A page without is copied. */
#define JOB_MARK "<p id=\"job\"></p>"
void job_mark(struct buf *out, struct arena *a, struct span page, const struct job *job,
              uint32_t node);
