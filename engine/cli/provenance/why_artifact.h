/* `eqloom why REF`: one record on one screen. */
#ifndef ENGINE_CLI_WHY_ARTIFACT_H
#define ENGINE_CLI_WHY_ARTIFACT_H

#include "engine/cli/console/cli.h"
#include "store/store.h"

/* Text in the cli's arena: what the record is, the op and parameters that made it, its inputs, the
 * run, and whether the job's last run still gives it. */
enum err_code why_artifact(char **out, struct cli *c, const char *ref, struct err *e);

#endif
