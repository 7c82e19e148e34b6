/* Ending the process for want of memory; see last_words.h. */
#include "base/last_words.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

void last_words(const char *line, size_t n)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&said))
        for (;;)
            pause();
    /* Buffers of stdio would need memory; other threads may hold its locks. */
    if (write(STDERR_FILENO, line, n) < 0)
        _exit(1);
}

void out_of_memory(size_t bytes)
{
    char line[200];
    int n =
        snprintf(line, sizeof line,
                 "eqloom: error: out of memory (%zu bytes wanted); what was committed is stored: "
                 "run again with fewer threads (-j 1) or with more memory\n",
                 bytes);
    last_words(line, (size_t)n);
    _exit(1);
}
