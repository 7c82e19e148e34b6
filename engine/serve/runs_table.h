/* Runs, as `log --json` lists them, with a form to compare two. */
#pragma once

#include "engine/serve/serve_page.h"

void runs_table_write(struct page *p, const json_t *runs);
