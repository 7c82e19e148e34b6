/* Job files, and records as they are printed. */
#include "tests/fuzz/fuzz.h"

#include "engine/export/reflect.h"
#include "engine/job/job.h"
#include "schemas/canonical.h"

#include <stdlib.h>
#include <unistd.h>

/* The job file: whatever the bytes, a graph in topological order or one error. Uses the op table
 * of tests/engine/fake_ops.c. */
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

FUZZ(job)
{
    char path[] = "/tmp/fuzz-job-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0)
        return;
    bool written = write(fd, data, size) == (ssize_t)size;
    close(fd);
    struct err e = {0};
    struct job *job = NULL;
    if (written && !job_load(&job, a, path, NULL, &e))
        check(job);
    else if (written && !e.message[0])
        __builtin_trap();
    unlink(path);
}

/* Records of others as `show` and `query` print them: whatever a record holds, JSON that is read
 * back. The first byte chooses the kind. */
FUZZ(reflect)
{
    if (size < 2)
        return;
    const struct kind_info *kind = kind_info((enum record_kind)(1 + data[0] % (KIND_END - 1)));
    ProtobufCMessage *m;
    if (canonical_unpack(&m, a, kind->descriptor, span_of(data + 2, size - 2), NULL) == OK) {
        char *text = NULL;
        size_t n = 0;
        json_error_t unused;
        FILE *to = open_memstream(&text, &n);
        reflect_print(to, m, REFLECT_LATEX, data[1]);
        rewind(to);
        reflect_dump(to, reflect_json(m, REFLECT_LATEX));
        fclose(to);
        json_t *back = json_loads(text, JSON_DISABLE_EOF_CHECK, &unused);
        if (!back)
            __builtin_trap();
        json_decref(back);
        free(text);
    }
}
