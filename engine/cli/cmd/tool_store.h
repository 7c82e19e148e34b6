/* What commands of ops see of the store (engine/tool.h): opened at their first question. */
#ifndef ENGINE_CLI_TOOL_STORE_H
#define ENGINE_CLI_TOOL_STORE_H

#include "engine/cli/console/cli.h"
#include "store/store.h"

struct tool_store {
    struct cli *cli;
    struct store *store; /* NULL until it is asked for */
};
/* To read; does nothing when it is open. */
enum err_code tool_store_open(struct tool_store *t, struct err *e);
void tool_store_close(struct tool_store *t);

#endif
