/* Memory that runs out, for programs that are linked with scarce.c and --wrap=arena_try_alloc. */
#pragma once

#include <stdatomic.h>

/* When it comes to 1, a large allocation fails; 0: none does. */
extern atomic_long scarce_at;

/* Runs a call with the first, second, ... large allocation failing, until none does: it returns
 * ERR_NOMEM until then; *failures is how many there were. */
#define SCARCE_UNTIL_OK(failures, call)                                                            \
    do {                                                                                           \
        enum err_code scarce_code = ERR_NOMEM;                                                     \
        for (*(failures) = 0; scarce_code == ERR_NOMEM; ++*(failures)) {                           \
            atomic_store(&scarce_at, *(failures) + 1);                                             \
            scarce_code = (call);                                                                  \
        }                                                                                          \
        --*(failures);                                                                             \
        atomic_store(&scarce_at, 0);                                                               \
        assert_int_equal(scarce_code, OK);                                                         \
    } while (0)
