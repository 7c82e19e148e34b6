/* The list of a program's tests; see unit.h. */
#include "tests/unit.h"

enum { MAX_TESTS = 512 };

static struct {
    struct CMUnitTest test;
    const char *file;
    int line;
} listed[MAX_TESTS];
static size_t n_listed;

void unit_add(const char *file, int line, const char *name, CMUnitTestFunction test,
              CMFixtureFunction setup, CMFixtureFunction teardown, void *state)
{
    size_t at = n_listed++;
    if (at == MAX_TESTS)
        abort();
    for (; at && strcmp(listed[at - 1].file, file) == 0 && listed[at - 1].line > line; at--)
        listed[at] = listed[at - 1];
    listed[at].test = (struct CMUnitTest){name, test, setup, teardown, state};
    listed[at].file = file;
    listed[at].line = line;
}

static bool is_named(const char *file, const char *stem)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    size_t n = strlen(stem);
    return strncmp(name, "test_", 5) == 0 && strncmp(name + 5, stem, n) == 0 &&
           strcmp(name + 5 + n, ".c") == 0;
}

int unit_run(const char *stem)
{
    struct CMUnitTest tests[MAX_TESTS];
    int failed = 0;
    size_t ran = 0;
    for (size_t i = 0, n; i < n_listed; i += n) {
        struct CMUnitTest around = {0};
        size_t m = 0;
        for (n = 0; i + n < n_listed && strcmp(listed[i + n].file, listed[i].file) == 0; n++)
            if (listed[i + n].test.name)
                tests[m++] = listed[i + n].test;
            else
                around = listed[i + n].test;
        if (stem && !is_named(listed[i].file, stem))
            continue;
        failed += _cmocka_run_group_tests(listed[i].file, tests, m, around.setup_func,
                                          around.teardown_func);
        ran += m;
    }
    if (!ran)
        fprintf(stderr, "there are no tests of '%s'\n", stem ? stem : "");
    return ran ? failed : 2;
}
