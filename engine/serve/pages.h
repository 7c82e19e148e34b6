/* The pages, each in a file; serve.c has their addresses. */
#pragma once

#include "engine/serve/serve_page.h"

typedef void page_writer(struct page *p);

page_writer page_home;                                   /* page_home.c: jobs, runs */
page_writer page_job, page_node;                         /* page_job.c: the graph, a node and why */
page_writer page_run, page_runs;                         /* page_run.c: a run, two runs compared */
page_writer page_names, page_record, page_lineage;       /* page_record.c */
void page_tool(struct page *p, const struct tool *tool); /* page_tool.c: a form and its answer */
