/* The commands. c->store is open if cli_command.store requests it; cli_main closes it. */
#pragma once

#include "engine/cli/console/cli.h"

struct op;

cli_runner cli_run, cli_work, cli_plan, cli_why, cli_show, cli_ls, cli_export, cli_log, cli_gc,
    cli_fsck, cli_stats, cli_pack, cli_unpack, cli_backup, cli_compact, cli_ops, cli_init,
    cli_serve, cli_schema, cli_table, cli_tag, cli_untag, cli_lineage, cli_query, cli_diff,
    cli_tool;

/* ERR_INPUT, with a suggestion, if no op has the name. */
enum err_code find_op(const struct op **out, const char *name, struct err *e);
