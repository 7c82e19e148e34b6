#include "engine/run.h"
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    struct err e = {0};
    struct arena a = {0};
    struct job *j;
    struct store *s;
    struct job_options jo = {0};
    const char *sets[10];
    for (int i = 4; i < argc; i++)
        sets[jo.n_sets++] = argv[i];
    jo.sets = sets;
    if (job_load(&j, &a, argv[2], &jo, &e))
        goto bad;
    struct store_options so = {.path = argv[1], .create = true, .command = "x"};
    if (store_open(&s, &so, &e))
        goto bad;
    uint32_t *t = NULL;
    size_t nt = 0;
    if (strcmp(argv[3], "all") && job_find(&t, &nt, &a, j, argv[3], &e))
        goto bad;
    struct run_options o = {.keep_going = true, .events = stderr, .targets = t, .n_targets = nt};
    struct run_result r;
    if (job_run(&r, &a, j, s, &o, &e))
        goto bad;
    for (size_t i = 0; i < j->n_nodes; i++)
        if (r.nodes[i].failure)
            printf("%s: %s\n", j->nodes[i].name, r.nodes[i].failure);
    store_close(s);
    return 0;
bad:
    fprintf(stderr, "error: %s:%d:%d %s (%s)\n%s\n", e.input_file, e.line, e.column, e.message,
            e.hint, e.input_line);
    for (int i = 0; i < e.n_frames; i++)
        fprintf(stderr, "  %s:%d\n", e.frames[i].file, e.frames[i].line);
    return 1;
}
