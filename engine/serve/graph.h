/* The graph of a job as SVG: nodes from left to right, each a link. */
#pragma once

#include "engine/serve/serve_page.h"

/* Of what `status --json` or `plan --json` prints: inputs come before what reads them. `job` names
 * it in links. */
void graph_write(struct page *p, const json_t *nodes, const char *job);
