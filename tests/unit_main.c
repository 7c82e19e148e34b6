/* The main of tests that need none of their own; see unit.h. */
#include "tests/unit.h"

int main(int argc, char **argv)
{
    return unit_run(argc > 1 ? argv[1] : NULL);
}
