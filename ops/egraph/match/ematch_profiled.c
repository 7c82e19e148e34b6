/* The matching machine once more, counting for a profile; see rule_profile.h. */
#define EMATCH_PROFILED 1
#define ematch_search ematch_search_profiled
#include "ops/egraph/match/ematch.c"
