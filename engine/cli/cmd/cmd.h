/* The commands. Where the table says so, c->store is open when they begin; cli_main closes it. */
#pragma once

#include "engine/cli/console/cli.h"

struct op;

enum err_code cli_run(int *status, struct cli *c, struct err *e);
enum err_code cli_work(int *status, struct cli *c, struct err *e);
enum err_code cli_plan(int *status, struct cli *c, struct err *e);
enum err_code cli_why(int *status, struct cli *c, struct err *e);
enum err_code cli_show(int *status, struct cli *c, struct err *e);
enum err_code cli_ls(int *status, struct cli *c, struct err *e);
enum err_code cli_export(int *status, struct cli *c, struct err *e);
enum err_code cli_log(int *status, struct cli *c, struct err *e);
enum err_code cli_gc(int *status, struct cli *c, struct err *e);
enum err_code cli_fsck(int *status, struct cli *c, struct err *e);
enum err_code cli_stats(int *status, struct cli *c, struct err *e);
enum err_code cli_pack(int *status, struct cli *c, struct err *e);
enum err_code cli_unpack(int *status, struct cli *c, struct err *e);
enum err_code cli_backup(int *status, struct cli *c, struct err *e);
enum err_code cli_compact(int *status, struct cli *c, struct err *e);
enum err_code cli_ops(int *status, struct cli *c, struct err *e);
enum err_code cli_init(int *status, struct cli *c, struct err *e);
enum err_code cli_serve(int *status, struct cli *c, struct err *e);
enum err_code cli_schema(int *status, struct cli *c, struct err *e);
/* ERR_INPUT: there is none of the name; did you mean ...? */
enum err_code find_op(const struct op **out, const char *name, struct err *e);
enum err_code cli_table(int *status, struct cli *c, struct err *e);
enum err_code cli_tag(int *status, struct cli *c, struct err *e);
enum err_code cli_untag(int *status, struct cli *c, struct err *e);
enum err_code cli_lineage(int *status, struct cli *c, struct err *e);
enum err_code cli_query(int *status, struct cli *c, struct err *e);
enum err_code cli_diff(int *status, struct cli *c, struct err *e);
enum err_code cli_tool(int *status, struct cli *c, struct err *e);
