/* A directory with a store and files, for tests that run jobs. */
#pragma once

#include "engine/run/run.h"
#include "graph_build.h"

struct place {
    char dir[64];
    struct store *store;
    struct arena arena; /* of results */
};

void check(enum err_code code, const struct err *e);
void place_new(struct place *p);
void place_free(struct place *p);
/* With `struct place *p`, of its own. */
#define PLACE_TEST(name)                                                                           \
    static void name##_in_place(struct place *p);                                                  \
    TEST(name)                                                                                     \
    {                                                                                              \
        struct place p;                                                                            \
        place_new(&p);                                                                             \
        name##_in_place(&p);                                                                       \
        place_free(&p);                                                                            \
    }                                                                                              \
    static void name##_in_place(struct place *p)
void place_reopen(struct place *p);
struct store *place_open_store(const char *dir);
/* Writes a file of the place; its path lives in the arena. */
char *write_file(struct place *p, const char *name, const char *text);
/* Flips a bit of a stored record, past the header. */
void place_damage(struct place *p, const struct digest *id);
/* Of a job's runs keeps the last; returns how many records went. */
uint64_t place_gc(struct place *p);
void place_assert_sound(struct place *p);
/* A job whose files are those of the place. */
struct graph *graph_new(struct place *p, const char *name);
/* One with a source `seeds` of this text. */
struct graph *graph_of(struct place *p, const char *name, const char *seeds);
/* The text and n lines, "a0", "b1", ... */
char *numbered(struct place *p, int n, const char *text);
struct run_result run_with(struct place *p, struct graph *g, struct run_options o);
struct run_result run(struct place *p, struct graph *g);
struct run_result plan(struct place *p, struct graph *g);
