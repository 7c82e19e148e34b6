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
/* A test in a place of its own, *state. */
int place_setup(void **state);
int place_teardown(void **state);
#define PLACE_TEST(name) TEST_WITH(name, place_setup, place_teardown)
void place_reopen(struct place *p);
struct store *place_open_store(const char *dir);
/* Writes a file of the place; its path lives in the arena. */
char *write_file(struct place *p, const char *name, const char *text);
/* Flips a bit of a stored record, past the header. */
void place_damage(struct place *p, const struct digest *id);
struct run_result run_with(struct place *p, struct graph *g, struct run_options o);
struct run_result run(struct place *p, struct graph *g);
struct run_result plan(struct place *p, struct graph *g);
