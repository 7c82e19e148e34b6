/* The matching machine once more, counting for a profile; see rule_profile.h. */
#define MACHINE_PROFILED 1
#define machine_visit machine_visit_profiled
#include "ops/egraph/match/ematch.c"
