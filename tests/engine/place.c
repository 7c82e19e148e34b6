/* See place.h. */
#include "place.h"
#include "base/buf.h"
#include "base/io/out_file.h"
#include "base/os.h"
#include "store/internal.h"
#include "store/maintain.h"
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

uint64_t place_gc(struct place *p)
{
    struct gc_result collected;
    struct err e = {0};
    check(store_gc(&collected, p->store, &(struct gc_options){.keep_runs = 1}, &e), &e);
    return collected.records_removed;
}

static void bad_record(void *arg, const struct digest *id, const char *what)
{
    char hex[DIGEST_HEX];
    print_message("%s: %s\n", digest_hex(hex, id), what);
}

void place_assert_sound(struct place *p)
{
    struct fsck_result r;
    struct err e = {0};
    check(store_fsck(&r, p->store, false, bad_record, NULL, &e), &e);
    assert_int_equal(r.bad_records + r.missing, 0);
}

struct graph *graph_new(struct place *p, const char *name)
{
    return graph_in(&p->arena, p->dir, name);
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

struct graph *graph_of(struct place *p, const char *name, const char *seeds)
{
    struct graph *g = graph_new(p, name);
    write_file(p, "seeds", seeds);
    graph_add(g, "seeds", "lines", "", "seeds");
    return g;
}

char *numbered(struct place *p, int n, const char *text)
{
    struct buf b = {0};
    buf_puts(&b, text);
    for (int i = 0; i < n; i++)
        buf_printf(&b, "%c%d\n", 'a' + i % 26, i);
    return buf_text(&b, &p->arena);
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
