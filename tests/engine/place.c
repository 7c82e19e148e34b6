/* See place.h. */
#include "place.h"
#include "base/io/out_file.h"
#include "base/os.h"
#include "store/internal.h"
#include "tests/unit.h"

#include <sys/stat.h>

void check(enum err_code code, const struct err *e)
{
    if (code)
        fail_msg("%s: %s", err_code_name(code), e->message);
}

struct store *place_open_store(const char *dir)
{
    struct err e = {0};
    struct arena a = {0};
    struct store *s;
    struct store_options options = {
        .path = os_join(&a, dir, ".eqloom"), .create = true, .wait_s = 10};
    check(store_open(&s, &options, &e), &e);
    arena_free(&a);
    return s;
}

void place_new(struct place *p)
{
    memset(p, 0, sizeof *p);
    strcpy(p->dir, "/tmp/eqloom-engine-XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    p->store = place_open_store(p->dir);
}

void place_free(struct place *p)
{
    if (p->store)
        store_close(p->store);
    os_remove_tree(p->dir);
    arena_free(&p->arena);
}

int place_setup(void **state)
{
    struct place *p = *state = calloc(1, sizeof *p);
    place_new(p);
    return 0;
}

int place_teardown(void **state)
{
    place_free(*state);
    free(*state);
    return 0;
}

void place_reopen(struct place *p)
{
    store_close(p->store);
    p->store = place_open_store(p->dir);
}

char *write_file(struct place *p, const char *name, const char *text)
{
    struct err e = {0};
    char *path = os_join(&p->arena, p->dir, name);
    check(out_file_write(path, text, strlen(text), &e), &e);
    return path;
}

struct run_result run_with(struct place *p, struct graph *g, struct run_options o)
{
    struct err e = {0};
    struct run_result r;
    if (!o.threads)
        o.threads = 2;
    check(job_run(&r, &p->arena, &g->job, p->store, &o, &e), &e);
    return r;
}

struct run_result run(struct place *p, struct graph *g)
{
    return run_with(p, g, (struct run_options){.keep_going = true});
}

struct run_result plan(struct place *p, struct graph *g)
{
    struct err e = {0};
    struct run_result r;
    struct run_options o = {0};
    check(job_plan(&r, &p->arena, &g->job, p->store, &o, &e), &e);
    return r;
}

void place_damage(struct place *p, const struct digest *id)
{
    struct rocks_value v;
    struct err e = {0};
    check(rocks_get(&v, p->store->rocks, ROCKS_OBJECTS, digest_span(id), &e), &e);
    uint8_t *copy = arena_memdup(&p->arena, v.bytes.data, v.bytes.len);
    struct rocks_write w = {
        .family = ROCKS_OBJECTS, .key = digest_span(id), .value = {copy, v.bytes.len}};
    copy[v.bytes.len - 1] ^= 0x10;
    rocks_value_free(&v);
    check(rocks_write(p->store->rocks, &w, 1, false, &e), &e);
}
