/* The double of a card, as a library that a test loads in the place of the back end. */
#pragma once

#include "tests/cuda/double.h"
#include "tests/unit.h"

#include <dlfcn.h>

static struct double_control *control;

/* The double's library is the first argument, a filter of tests may be the second. */
static inline bool find_double(int argc, char **argv)
{
    if (argc == 3)
        cmocka_set_test_filter(argv[2]);
    void *library = argc >= 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library || !(control = dlsym(library, "eqloom_double"))) {
        fprintf(stderr, "usage: %s DOUBLE.so [TEST]: %s\n", argv[0], argc >= 2 ? dlerror() : "");
        return false;
    }
    setenv("EQLOOM_CUDA", argv[1], 1);
    return true;
}
