/* Which model, which index: what the user names, else the one that offers itself. */
#ifndef OPS_SEARCH_CHOOSE_RECORD_H
#define OPS_SEARCH_CHOOSE_RECORD_H

#include "engine/tool.h"

struct choice {
    const char *option; /* "model": --model REF */
    enum record_kind kind;
    const char *tag;    /* taken when the store has it: "best" */
    const char *what;   /* for messages: "a trained model" */
    const char *remedy; /* what makes one: "'eqloom run jobs/quickstart.yaml' trains one" */
};

/* The option's, else the tag's, else the only one in the store. Where there is none, or several,
 * the error says what to do. */
enum err_code choose_record(struct tool_record *out, const struct tool_args *args,
                            const struct choice *c, struct err *e);

#endif
