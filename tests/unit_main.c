/* The main of tests that need none of their own; see unit.h. */
#include "tests/unit.h"

int main(void)
{
    return unit_run();
}
