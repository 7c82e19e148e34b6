/* The list of a program's tests; see unit.h. */
#include "tests/unit.h"

enum { MAX_TESTS = 256 };

static struct {
    struct CMUnitTest test;
    int line;
} listed[MAX_TESTS];
static size_t n_listed;
static CMFixtureFunction setup_all, teardown_all;

void unit_add(int line, const char *name, CMUnitTestFunction test, CMFixtureFunction setup,
              CMFixtureFunction teardown, void *state)
{
    size_t at = n_listed++;
    if (at == MAX_TESTS)
        abort();
    for (; at && listed[at - 1].line > line; at--)
        listed[at] = listed[at - 1];
    listed[at].test = (struct CMUnitTest){name, test, setup, teardown, state};
    listed[at].line = line;
}

void unit_around(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    setup_all = setup;
    teardown_all = teardown;
}

int unit_run(void)
{
    struct CMUnitTest tests[MAX_TESTS];
    for (size_t i = 0; i < n_listed; i++)
        tests[i] = listed[i].test;
    return _cmocka_run_group_tests("tests", tests, n_listed, setup_all, teardown_all);
}
