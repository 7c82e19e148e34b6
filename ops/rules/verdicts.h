/* Verdicts on many rules, for `check-rules`: those that the store knows, by the keys of the op
 * `certify`, and those of all others, checked on all processors and kept. */
#ifndef OPS_RULES_VERDICTS_H
#define OPS_RULES_VERDICTS_H

#include "engine/tool.h"
#include "ops/rules/rule.h"

struct verdicts {
    const Eqloom__Certificate **certificates; /* by rule */
    bool *known;                              /* by rule: not checked now */
    size_t n_known;
    char *not_kept; /* why the store does not have what was checked now; NULL: it does, or there is
                       none */
};

/* messages: the rules as records, without certificates. fresh: what the store knows is not asked
 * for. */
enum err_code verdicts_find(struct verdicts *out, const struct tool_args *args,
                            const Eqloom__Rule *messages, size_t n,
                            const struct rule_check_options *options, bool fresh, struct err *e);

#endif
