/* The job file: whatever the bytes, a graph in topological order or one error. Uses the op table
 * of tests/engine/fake_ops.c. */
#include "engine/job/job.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct job *job)
{
    for (size_t i = 0; i < job->n_nodes; i++) {
        const struct node *n = &job->nodes[i];
        for (size_t k = 0; n->op->inputs && n->op->inputs[k].role; k++)
            for (size_t s = 0; s < n->inputs[k].n_sources; s++)
                if (n->inputs[k].sources[s].node >= i)
                    __builtin_trap();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[] = "/tmp/fuzz-job-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0)
        return 0;
    bool written = write(fd, data, size) == (ssize_t)size;
    close(fd);
    struct arena a = {0};
    struct err e = {0};
    struct job *job = NULL;
    if (written && !job_load(&job, &a, path, NULL, &e))
        check(job);
    else if (written && !e.message[0])
        __builtin_trap();
    unlink(path);
    arena_free(&a);
    return 0;
}
