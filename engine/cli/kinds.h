/* Names of record kinds on the command line. */
#ifndef ENGINE_CLI_KINDS_H
#define ENGINE_CLI_KINDS_H

#include "base/err.h"
#include "schemas/kinds.h"

/* ERR_INPUT with a 'did you mean'. */
enum err_code kind_parse(enum record_kind *out, const char *name, struct err *e);

#endif
