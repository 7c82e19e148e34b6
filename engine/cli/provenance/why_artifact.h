/* `eqloom why REF`: one artifact on one screen. */
#ifndef ENGINE_CLI_WHY_ARTIFACT_H
#define ENGINE_CLI_WHY_ARTIFACT_H

#include "engine/cli/console/cli.h"
#include "store/store.h"

/* Text for people, in the cli's arena: what the record is, the op and parameters that made it, from
 * what, in which run, and why it was or was not made again in the job's last one. */
enum err_code why_artifact(char **out, struct cli *c, const char *ref, struct err *e);

#endif
