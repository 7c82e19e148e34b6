/* The matching machine once more, counting for a profile; see profile.h. */
#define MACHINE_PROFILED 1
#define machine_visit machine_visit_profiled
#include "ops/egraph/machine.c"
